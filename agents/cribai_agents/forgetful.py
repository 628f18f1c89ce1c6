"""The agent named `forgetful`: `greedy` that now and then misses points when hands are counted.

Without muggins nobody counts but the engine, and it plays as `greedy` does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.engine.dealing import below, combine
from cribai.engine.jit import kernel
from cribai.engine.state import ANNOUNCE, CLAIM, compiled_rules
from cribai.errors import AgentError
from cribai.views import ViewBatch
from cribai_agents.greedy import GreedyAgent

_CHANCES = 1 << 30


class ForgetfulAgent(GreedyAgent):
    """Announces fewer points than there are, or claims none, at a rate.

    Args:
        rate: The chance to miss points in an announcement or a claim, 0 to 1.

    Raises:
        AgentError: The rate is out of range.
    """

    name = "forgetful"

    def __init__(self, rate: float = 0.1) -> None:
        if isinstance(rate, bool) or not 0 <= rate <= 1:
            raise AgentError(f"rate is {rate!r}; it must be a number from 0 to 1.")
        self.rate = float(rate)

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view; see `Agent.act`."""
        actions = super().act(views)
        if views.rules.muggins:
            chances = round(self.rate * _CHANCES)
            _forget(views.array, compiled_rules(views.rules), chances, actions)
        return actions


@kernel
def _forget(views: Any, rules: Any, chances: int, actions: Any) -> None:
    for place in range(views.shape[0]):
        view = views[place]
        if below(combine(view["key"], 0), _CHANCES) >= chances:
            continue
        if view["phase"] == ANNOUNCE:
            start = rules[0]["announcements_start"]
            actions[place] = start + below(combine(view["key"], 1), actions[place] - start)
        elif view["phase"] == CLAIM:
            actions[place] = rules[0]["claims_start"]
