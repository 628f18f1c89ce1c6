"""The agent named `greedy`: the most points in sight, and no thought of what follows.

It tosses for the best own kept cards, plus what the tossed cards score by themselves when the crib
is its own, minus that when it is not; it lays the card that pegs most now, the highest of equals.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.cards import NO_CARD
from cribai.engine.jit import inlined, kernel
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points, show_points
from cribai.engine.state import DISCARD, compiled_rules
from cribai.rules import MAX_DEALT
from cribai.views import ViewBatch

_NO_CARD: Final = NO_CARD


class GreedyAgent(Agent):
    """Takes the most points in sight."""

    name = "greedy"

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view; see `Agent.act`."""
        actions = np.empty(len(views), np.int64)
        scratch = np.empty((2, MAX_DEALT), np.int64)
        _act(views.array, compiled_rules(views.rules), scratch, actions)
        return actions


@kernel
def _act(views: Any, rules: Any, scratch: Any, actions: Any) -> None:
    for place in range(views.shape[0]):
        if views[place]["phase"] == DISCARD:
            actions[place] = _best_toss(views[place], rules[0], scratch)
        else:
            actions[place] = rules[0]["num_tosses"] + _best_slot(views[place], rules[0])


@inlined
def _best_toss(view: Any, rules: Any, scratch: Any) -> int:
    """Returns the first of the tosses that leave most; rows 0 and 1 of scratch are overwritten."""
    sign = 1 if view["dealer"] == 0 else -1
    num_tossed = rules["cards_tossed"]
    best = 0
    most = -1000
    for action in range(rules["num_tosses"]):
        kept = 0
        tossed = 0
        for i in range(rules["cards_dealt"]):
            if tossed < num_tossed and rules["toss_slots"][action, tossed] == i:
                scratch[1, tossed] = view["hand"][i]
                tossed += 1
            else:
                scratch[0, kept] = view["hand"][i]
                kept += 1
        points = show_points(scratch, 0, kept, _NO_CARD, False, rules)
        points += sign * show_points(scratch, 1, tossed, _NO_CARD, True, rules)
        if points > most:
            most = points
            best = action
    return best


@inlined
def _best_slot(view: Any, rules: Any) -> int:
    """Returns the highest of the kept cards that peg most now."""
    best = 0
    most = -1
    for slot in range(rules["cards_kept"]):
        if (view["playable"] >> slot) & 1:
            card = int(view["hand"][slot])
            points = play_points(
                extend_series(view["series"], card),
                view["series_length"] + 1,
                view["count"] + VALUES[card >> 2],
                rules["fifteen"],
                rules["thirty_one"],
            )
            if points >= most:
                most = points
                best = slot
    return best
