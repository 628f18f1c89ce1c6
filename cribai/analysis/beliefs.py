"""What the opponent may hold, from a view alone, and how likely each hand is.

The cards that the opponent has yet to lay are enumerated exactly by rank: at most 1,820 hands. Each
is weighted by the number of ways the unseen cards make it, by how often a sensible player keeps it
with the cards already laid, and by how well it explains those: a player seldom passes up points.
Hands that a go rules out are left out. Two players with four cards each are assumed.
"""

from typing import Any, Final

import numpy as np

from cribai.analysis.knowledge import DEALER, NUM_KEPT, PONE, kept_index
from cribai.cards import NO_CARD, NUM_RANKS
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import play_points
from cribai.engine.state import NO_GO

FIFTEEN: Final = 15
THIRTY_ONE: Final = 31
KEPT: Final = 4
MAX_PEG: Final = 32
_NO_CARD: Final = NO_CARD
_SERIES_MASK: Final = (1 << 60) - 1

BELIEF: Final = np.dtype(
    [
        ("num_hands", np.int64),
        ("total", np.float64),  # sum of the weights
        ("hands", np.int64, NUM_KEPT),  # packed by run order, see `pegging`
        ("weights", np.float64, NUM_KEPT),
        # Scratch: unseen cards by rank, ranks laid by the opponent, and for each of his lays what
        # every rank would have pegged, -1 where it did not fit.
        ("unseen", np.int64, NUM_RANKS),
        ("laid", np.int64, KEPT),
        ("pegs", np.int64, (KEPT, NUM_RANKS)),
        ("most", np.int64, KEPT),  # of which the best among the cards known to have been held
        ("fade", np.float64, MAX_PEG),  # how likely it is to pass up so many points
    ],
    align=True,
)


@inlined
def _count_unseen(view: Any, belief: Any) -> int:
    """Counts the unseen cards by rank and lists the opponent's lays; returns their number."""
    unseen = belief["unseen"]
    for rank in range(NUM_RANKS):
        unseen[rank] = 4
    for i in range(view["hand"].shape[0]):
        if view["hand"][i] != _NO_CARD:
            unseen[view["hand"][i] >> 2] -= 1
        if view["tossed"][i] != _NO_CARD:
            unseen[view["tossed"][i] >> 2] -= 1
    if view["starter"] != _NO_CARD:
        unseen[view["starter"] >> 2] -= 1
    series = 0
    length = 0
    count = 0
    laid = 0
    num_plays = int(view["num_plays"])
    for i in range(num_plays):
        rank = int(view["play_cards"][i]) >> 2
        # Whoever lays next held his card when the series ended, so it did not fit then.
        if count + min(rank + 1, 10) > THIRTY_ONE:
            series = 0
            length = 0
            count = 0
        if view["play_players"][i] == 1:
            unseen[rank] -= 1
            belief["laid"][laid] = rank
            for other in range(NUM_RANKS):
                reached = count + min(other + 1, 10)
                belief["pegs"][laid, other] = -1
                if reached <= THIRTY_ONE:
                    extended = ((series << 4) | (other + 1)) & _SERIES_MASK
                    belief["pegs"][laid, other] = play_points(
                        extended, length + 1, reached, FIFTEEN, THIRTY_ONE
                    )
            laid += 1
        series = ((series << 4) | (rank + 1)) & _SERIES_MASK
        length += 1
        count += min(rank + 1, 10)
    return laid


@inlined
def _add(unseen: Any, weight: float, rank: int, before: int) -> float:
    """Returns the weight of some ranks with one more, the same rank having come `before` times."""
    return weight * (unseen[rank] - before) / (before + 1.0)


@inlined
def _play_chance(belief: Any, laid: int, size: int, r0: int, r1: int, r2: int, r3: int) -> float:
    """Returns how well holding some ranks, `size` of them, explains the opponent's lays."""
    chance = 1.0
    for i in range(laid):
        most = max(belief["most"][i], belief["pegs"][i, r0])
        if size > 1:
            most = max(most, belief["pegs"][i, r1])
        if size > 2:
            most = max(most, belief["pegs"][i, r2])
        if size > 3:
            most = max(most, belief["pegs"][i, r3])
        chance *= belief["fade"][most - belief["pegs"][i, belief["laid"][i]]]
    return chance


@inlined
def _kept_place(belief: Any, laid: int, size: int, r0: int, r1: int, r2: int, r3: int) -> int:
    """Returns the `kept_index` of some ranks, `size` of them, with those laid."""
    if size < 4:
        r3 = belief["laid"][0]
    if size < 3:
        r2 = belief["laid"][1]
    if size < 2:
        r1 = belief["laid"][2]
    if laid > 0:
        low = min(r0, r1)
        high = max(r0, r1)
        low_too = min(r2, r3)
        high_too = max(r2, r3)
        r0 = min(low, low_too)
        r3 = max(high, high_too)
        middle = max(low, low_too)
        middle_too = min(high, high_too)
        r1 = min(middle, middle_too)
        r2 = max(middle, middle_too)
    return kept_index(r0, r1, r2, r3)


@kernel
def believe(view: Any, tables: Any, options: Any, belief: Any) -> None:
    """Enumerates the hands that the opponent may hold.

    Args:
        view: VIEW record of a two-player game with a card to be laid.
        tables: KNOWLEDGE record.
        options: record with `doubt`, added to the chance of keeping any hand, and `greed`, how much
            less likely each point passed up makes a lay (its logarithm).
        belief: BELIEF record. Modified in place.
    """
    laid = _count_unseen(view, belief)
    size = int(view["num_left"][1])
    if size == 0:
        belief["num_hands"] = 1
        belief["total"] = 1.0
        belief["hands"][0] = 0
        belief["weights"][0] = 1.0
        return
    role = PONE if view["dealer"] == 0 else DEALER
    for i in range(laid):
        # What the lay could have been, of the cards laid then or later.
        belief["most"][i] = -1
        for j in range(i, laid):
            belief["most"][i] = max(belief["most"][i], belief["pegs"][i, belief["laid"][j]])
    for points in range(MAX_PEG):
        belief["fade"][points] = np.exp(-options["greed"] * points)
    lowest = 0
    if view["go_counts"][1] != NO_GO:
        # Nothing of value 31 - count or less; ranks above ten count ten.
        lowest = THIRTY_ONE - int(view["go_counts"][1])
        if lowest >= 10:
            lowest = NUM_RANKS
    unseen = belief["unseen"]
    doubt = options["doubt"]
    number = 0
    total = 0.0
    for r0 in range(lowest, NUM_RANKS):
        weight0 = _add(unseen, 1.0, r0, 0)
        if weight0 <= 0.0:
            continue
        for r1 in range(r0, NUM_RANKS if size > 1 else r0 + 1):
            same1 = 1 if r1 == r0 else 0
            weight1 = weight0
            if size > 1:
                weight1 = _add(unseen, weight0, r1, same1)
            if weight1 <= 0.0:
                continue
            for r2 in range(r1, NUM_RANKS if size > 2 else r1 + 1):
                same2 = same1 + 1 if r2 == r1 else 0
                weight2 = weight1
                if size > 2:
                    weight2 = _add(unseen, weight1, r2, same2)
                if weight2 <= 0.0:
                    continue
                for r3 in range(r2, NUM_RANKS if size > 3 else r2 + 1):
                    weight3 = weight2
                    if size > 3:
                        weight3 = _add(unseen, weight2, r3, same2 + 1 if r3 == r2 else 0)
                    if weight3 <= 0.0:
                        continue
                    place = _kept_place(belief, laid, size, r0, r1, r2, r3)
                    weight3 *= tables["keep_chance"][role, place] + doubt
                    weight3 *= _play_chance(belief, laid, size, r0, r1, r2, r3)
                    packed = r0 + 1
                    if size > 1:
                        packed |= (r1 + 1) << 4
                    if size > 2:
                        packed |= (r2 + 1) << 8
                    if size > 3:
                        packed |= (r3 + 1) << 12
                    belief["hands"][number] = packed
                    belief["weights"][number] = weight3
                    total += weight3
                    number += 1
    if total <= 0.0:
        # Certain that he would not have kept or laid so, one who did leaves all hands alike.
        total = float(number)
        for place in range(number):
            belief["weights"][place] = 1.0
    belief["num_hands"] = number
    belief["total"] = total
