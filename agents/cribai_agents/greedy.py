"""The agent named `greedy`: the most points in sight, and no thought of what follows.

It tosses for the best own kept cards, plus what the tossed cards score by themselves when the crib
is its own, minus that when it is not; it lays the card that pegs most now, the highest of equals.
Where the target loses it wants few points. What it decides in variants is in `greedy_variants`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.cards import NUM_RANKS
from cribai.engine.jit import inlined, is_varied, kernel, varied
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points
from cribai.engine.state import PLAY, compiled_rules
from cribai.rules import MAX_CRIB
from cribai.views import ViewBatch
from cribai_agents.greedy_variants import best_toss, decide_otherwise


class GreedyAgent(Agent):
    """Takes the most points in sight."""

    name = "greedy"

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view; see `Agent.act`."""
        actions = np.empty(len(views), np.int64)
        scratch = np.empty((2, MAX_CRIB), np.int64)
        _act(views.array, compiled_rules(views.rules), scratch, actions)
        return actions


@kernel
def _act(views: Any, rules: Any, scratch: Any, actions: Any) -> None:
    for place in range(views.shape[0]):
        view = views[place]
        if view["phase"] == PLAY:
            actions[place] = _best_lay(view, rules[0])
        elif is_varied(rules[0]):
            actions[place] = decide_otherwise(view, rules[0], scratch)
        else:
            sign = 1 if view["dealer"] == 0 else -1
            actions[place] = best_toss(view, rules[0], scratch, rules[0]["cards_dealt"], sign)


@inlined
def _best_lay(view: Any, rules: Any) -> int:
    """Returns the lay of the highest of the kept cards that peg most now."""
    aim = -1 if rules["lowball"] else 1
    best = 0
    most = -1000
    for slot in range(rules["cards_kept"]):
        if (view["playable"] >> slot) & 1:
            card = int(view["hand"][slot])
            rank = int(_best_rank(view, rules, slot))
            if rank >= 0:
                points = aim * _pegged(view, rules, 4 * rank)
                action = int(rules["kings_start"] + NUM_RANKS * slot + rank)
            else:
                points = aim * _pegged(view, rules, card)
                action = int(rules["num_tosses"] + slot)
            if points >= most:
                most = points
                best = action
    return best


@varied(absent=-1)
def _best_rank(view: Any, rules: Any, slot: int) -> int:
    """Returns the highest of the ranks that a king in a slot pegs most as, -1 for other cards."""
    if (view["kings"] >> slot) & 1 == 0:
        return -1
    aim = -1 if rules["lowball"] else 1
    best = 0
    most = -1000
    for rank in range(NUM_RANKS):
        if VALUES[rank] <= rules["thirty_one"] - view["count"]:
            points = aim * _pegged(view, rules, 4 * rank)
            if points >= most:
                most = points
                best = rank
    return best


@inlined
def _pegged(view: Any, rules: Any, card: int) -> int:
    return play_points(
        extend_series(view["series"], card),
        view["series_length"] + 1,
        view["count"] + VALUES[card >> 2],
        rules["fifteen"],
        rules["thirty_one"],
    )
