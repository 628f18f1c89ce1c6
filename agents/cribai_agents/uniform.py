"""The agent named `random`: every legal action is equally likely."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.engine.jit import kernel
from cribai.engine.simulate import random_action
from cribai.engine.state import compiled_rules
from cribai.views import ViewBatch


class UniformAgent(Agent):
    """Chooses evenly among the legal actions, by the view's random key."""

    name = "random"

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view; see `Agent.act`."""
        actions = np.empty(len(views), np.int64)
        _act(views.array, compiled_rules(views.rules), actions)
        return actions


@kernel
def _act(views: Any, rules: Any, actions: Any) -> None:
    for place in range(views.shape[0]):
        actions[place] = random_action(views[place], views[place]["key"], rules[0])
