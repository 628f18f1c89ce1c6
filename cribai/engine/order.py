"""The order of a deal's phases, as the rules' fields make it.

A deal goes through DRAW, BID, DISCARD, DRAW again, GIVE and PLAY, those left out that the rules do
not have; the standard game through DISCARD and PLAY.
"""

from typing import Any

from cribai.engine.jit import inlined
from cribai.engine.state import BID, DEAL, DISCARD, DRAW, GIVE, PLAY


@inlined
def next_phase(phase: int, is_tossed: bool, rules: Any) -> int:
    """Returns the phase after one that all players have passed through.

    Args:
        phase: The phase, DEAL before the first.
        is_tossed: Whether the tosses are made.
        rules: RULES record.
    """
    if not is_tossed:
        if phase == DEAL and rules["draw_before_toss"]:
            return DRAW
        if phase != BID and rules["bid"]:
            return BID
        return DISCARD
    if phase == DISCARD and rules["draw_after_toss"]:
        return DRAW
    if phase != GIVE and rules["chosen_starter"]:
        return GIVE
    return PLAY
