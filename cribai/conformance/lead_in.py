"""Plain deals that lead from 0-0 to the scores and the dealer that a fixture starts from.

Few engines can be started anywhere else, so the fixtures of the end of a game are reached by play.
"""

from functools import cache

from cribai.conformance.fixtures import ScriptedDeal, plain_deals
from cribai.rules import STANDARD

_Place = tuple[int, int, int]
"""The scores by seat and the dealer."""


def lead_in(dealer: int, scores: tuple[int, int] | None) -> list[ScriptedDeal]:
    """Returns the fewest plain deals that lead to a dealer and to scores by seat.

    Args:
        dealer: The seat that is to deal next; seat 0 deals first.
        scores: The scores to reach; None for any.
    """
    came = _ways()
    place = next(
        place for place in came if place[2] == dealer and (scores is None or place[:2] == scores)
    )
    deals = []
    while (step := came[place]) is not None:
        place, deal = step
        deals.append(deal)
    return deals[::-1]


@cache
def _ways() -> dict[_Place, tuple[_Place, ScriptedDeal] | None]:
    """Returns every place that plain deals reach, nearest first, and the last deal to it."""
    start = (0, 0, 0)
    came: dict[_Place, tuple[_Place, ScriptedDeal] | None] = {start: None}
    reached = [start]
    for place in reached:  # grows as it is read
        for deal in plain_deals():
            points = deal.lays[-1].scores
            dealer = place[2]
            by_seat = points if dealer == 1 else points[::-1]
            then = (place[0] + by_seat[0], place[1] + by_seat[1], 1 - dealer)
            if max(then[:2]) < STANDARD.target and then not in came:
                came[then] = (place, deal)
                reached.append(then)
    return came
