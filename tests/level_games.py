"""A rule by which games are tied: those that end in an even number of deals, as they stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai.engine.simulate import award_game
from cribai.engine.state import NO_PLAYER, OVER

STEPS = (
    "cribai.game.step_batch",
    "cribai.game_batch.step_batch",
    "cribai.tournament.match.step_legal",
    "cribai.envs.tables.take_actions",
    "cribai.envs.tables.answer",
)
"""Where the kernels are called that can end a game."""


def end_level(states: NDArray[Any]) -> None:
    """Makes ties of the games among states that have ended in an even number of deals."""
    level = (states["phase"] == OVER) & (states["winner"] >= 0) & (states["num_deals"] % 2 == 0)
    for place in np.flatnonzero(level).tolist():
        award_game(states, place, NO_PLAYER)


def make_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plays by this rule from here on, in every part of cribai."""
    for name in STEPS:
        module, _, kernel = name.rpartition(".")
        step = getattr(__import__(module, fromlist=[kernel]), kernel)
        monkeypatch.setattr(name, _levelling(step))


def _levelling(step: Callable[..., Any]) -> Callable[..., Any]:
    def run(states: NDArray[Any], *arguments: Any) -> Any:
        result = step(states, *arguments)
        end_level(states)
        return result

    return run
