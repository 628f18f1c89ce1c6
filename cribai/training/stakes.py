"""What points pegged are worth when the own hand is known, and the other's and the crib are not.

A table over scores, roles and the own hand, averaged over the hands and cribs of the library of
deals, all counted in order. Far from the end a point is worth the same to both sides; near it the
table tells who is about to go out, and so what the pegging is about.
"""

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import LIBRARY_SIZE, TARGET, WIN, load_knowledge
from cribai.analysis.positions import MAX_SHOW, after_crib
from cribai.engine.jit import inlined, kernel

STAKES: Final = np.dtype(
    [
        # The worth after the pegging, by the player's role, the scores and what his hand will show.
        ("worth", np.float32, (2, TARGET, TARGET, MAX_SHOW)),
        # Scratch: chances of the hands by role and of the crib; the worth before the crib counts.
        ("hands", np.float64, (2, MAX_SHOW)),
        ("cribs", np.float64, MAX_SHOW),
        ("before_crib", np.float64, (2, TARGET, TARGET)),
    ],
    align=True,
)

MAX_PEGGED: Final = 8
"""Points pegged by a side up to which their worth is looked at."""

LEAST_UNIT: Final = 0.02
"""What a point is taken to be worth at least, of a game worth 1 or -1."""


@inlined
def pegged_worth(stakes: Any, role: int, own: int, other: int, hand: int) -> float:
    """Returns the worth after the pegging.

    Args:
        stakes: STAKES record.
        role: The player's.
        own: His score, which may have reached the target.
        other: The opponent's, which may have if the player's has not.
        hand: What his hand will show.
    """
    if own >= TARGET:
        return 1.0
    if other >= TARGET:
        return -1.0
    return float(stakes["worth"][role, own, other, hand])


@inlined
def point_unit(stakes: Any, role: int, own: int, other: int, hand: int) -> float:
    """Returns what a point pegged is worth: the most that each of one to eight is to both sides."""
    unit = LEAST_UNIT
    for points in range(1, MAX_PEGGED + 1):
        up = pegged_worth(stakes, role, own + points, other, hand)
        down = pegged_worth(stakes, role, own, other + points, hand)
        unit = max(unit, (up - down) / (2 * points))
    return unit


@kernel
def _fill(tables: Any, stakes: Any) -> None:
    record = stakes[0]
    table = tables[0]
    for deal in range(LIBRARY_SIZE):
        for role in range(2):
            record["hands"][role, table["hands"][deal, role]] += 1.0 / LIBRARY_SIZE
        record["cribs"][table["cribs"][deal]] += 1.0 / LIBRARY_SIZE
    for role in range(2):
        for own in range(TARGET):
            for other in range(TARGET):
                worth = 0.0
                for crib in range(MAX_SHOW):
                    if record["cribs"][crib] > 0.0:
                        value = after_crib(table, WIN, own, other, role, crib)
                        worth += record["cribs"][crib] * value
                record["before_crib"][role, own, other] = worth
    for role in range(2):
        for own in range(TARGET):
            for other in range(TARGET):
                for hand in range(MAX_SHOW):
                    worth = 0.0
                    for shown in range(MAX_SHOW):
                        chance = record["hands"][1 - role, shown]
                        if chance == 0.0:
                            continue
                        own_after = own + hand
                        other_after = other + shown
                        # The pone, whose role is 0, counts first.
                        if own_after >= TARGET and (role == 0 or other_after < TARGET):
                            worth += chance
                        elif other_after >= TARGET:
                            worth -= chance
                        else:
                            worth += chance * record["before_crib"][role, own_after, other_after]
                    record["worth"][role, own, other, hand] = worth


@lru_cache(maxsize=1)
def load_stakes() -> NDArray[Any]:
    """Returns the table, a read-only array (1,) of dtype STAKES."""
    stakes = np.zeros(1, STAKES)
    _fill(load_knowledge(), stakes)
    stakes.flags.writeable = False
    return stakes
