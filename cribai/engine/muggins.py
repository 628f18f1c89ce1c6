"""Muggins: each count of the show as two decisions, an announcement and a claim.

The owner of a hand or crib announces points, his opponent claims what was missed. An announcement
above the truth is corrected; a claim of more than was missed gets nothing.
"""

from typing import Any

from cribai.engine.awards import award, left_of, write_event
from cribai.engine.jit import varied
from cribai.engine.state import (
    ANNOUNCE,
    ANNOUNCE_POINTS,
    CLAIM,
    CLAIM_POINTS,
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_PEGGING,
    PONE_HAND,
    PONE_PEGGING,
    SHOW_CRIB,
    SHOW_HAND,
)
from cribai.engine.worths import counted_crib, counting_player, put_shown


@varied(absent=False)
def ask_next_count(state: Any, rules: Any) -> bool:
    """Makes the next announcement due; returns whether all is counted instead.

    Args:
        state: STATE record in the show. Modified in place.
        rules: RULES record.
    """
    state["playable"] = 0
    state["announced"] = 0
    state["show_step"] += 1
    if state["show_step"] == rules["num_players"] + rules["num_cribs"]:
        return True
    put_shown(state, rules)
    state["phase"] = ANNOUNCE
    state["actor"] = counting_player(state, rules)
    return False


@varied(absent=False)
def announce(state: Any, rules: Any, log: Any, number: int) -> bool:
    """Scores what the actor announces, at most the truth, and asks his opponent for a claim.

    Nobody is asked after a correction, when nothing can be missed.

    Args:
        state: STATE record in phase ANNOUNCE. Modified in place.
        rules: RULES record.
        log: LOG record.
        number: The points announced.

    Returns:
        Whether the count is done and the game goes on.
    """
    player = int(state["actor"])
    is_crib = counted_crib(state, rules) >= 0
    points = min(number, int(state["worths"][state["show_step"]]))
    source = DEALER_HAND if player == state["dealer"] else PONE_HAND
    if is_crib:
        source = DEALER_CRIB
    state["announced"] = points
    state["points"][player, source] += points
    state["times"][player, source] += 1
    write_event(log, ANNOUNCE_POINTS, player, 0, number)
    kind = SHOW_CRIB if is_crib else SHOW_HAND
    write_event(log, kind, player, points, int(state["starter"]))
    if award(state, rules, log, player, points):
        return False
    if number > points or points == rules["most_shown"]:
        return True
    state["phase"] = CLAIM
    state["actor"] = left_of(player, rules)
    return False


@varied(absent=False)
def claim(state: Any, rules: Any, log: Any, number: int) -> bool:
    """Scores what the actor claims if so much was missed.

    Args:
        state: STATE record in phase CLAIM. Modified in place.
        rules: RULES record.
        log: LOG record.
        number: The points claimed.

    Returns:
        Whether the game goes on.
    """
    player = int(state["actor"])
    missed = int(state["worths"][state["show_step"]] - state["announced"])
    points = number if number <= missed else 0
    # With the pegging: the points are not those of a hand, whose average would rise.
    source = DEALER_PEGGING if player == state["dealer"] else PONE_PEGGING
    state["points"][player, source] += points
    write_event(log, CLAIM_POINTS, player, points, number)
    return not award(state, rules, log, player, points)
