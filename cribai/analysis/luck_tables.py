"""The tables under luck: what six ranks are worth, and chances by score in the midst of a deal.

The first was made by `experiments/analysis/make_luck.py` from the best toss of every hand; the
others follow from `cribai.analysis.knowledge`.
"""

from functools import lru_cache
from importlib.resources import files
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import DEALER, PONE, TARGET, WIN, load_knowledge
from cribai.cards import NUM_RANKS
from cribai.engine.jit import inlined
from cribai.engine.starters import HEELS_POINTS

NUM_DEALT: Final = 18_564
"""Multisets of six ranks: C(18, 6). The 169 of them with five or more of a rank are no hands."""

NUM_HAND_PARTS: Final = 3
HAND_PART, CRIB_PART, PEGGING_PART = range(NUM_HAND_PARTS)
"""What the best toss of six cards is worth: the kept hand, the crib, points pegged net."""

STEPS: Final = 4
"""The table of six ranks counts in quarters of a point."""

_MAX_SHOW: Final = 30
_MAX_IMPOSSIBLE: Final = 41
"""Fives of one rank are valued too, and count for nothing: five 5s would show 40."""

_PONE_TOTALS: Final = TARGET + _MAX_IMPOSSIBLE
_DEALER_TOTALS: Final = TARGET + HEELS_POINTS + _MAX_IMPOSSIBLE + _MAX_SHOW
_PLACES: Final = np.array(
    [[comb(rank + i, i + 1) for rank in range(NUM_RANKS)] for i in range(6)], np.int64
)

LUCK_TABLES: Final = np.dtype(
    [
        # Parts of the best toss of six ranks, by `dealt_index` and role, in steps, and their
        # averages over all hands.
        ("dealt", np.int8, (NUM_DEALT, 2, NUM_HAND_PARTS)),
        ("dealt_means", np.float64, (2, NUM_HAND_PARTS)),
        # By the dealer's and the pone's score before a deal: what a step of each part of each
        # role's hand adds to the dealer's chance to win.
        ("weights", np.float32, (TARGET, TARGET, 2, NUM_HAND_PARTS)),
        # By their scores once heels are counted: the chances that no one pegs out, and that the
        # dealer does, or has with heels.
        ("no_one_out", np.float32, (TARGET + HEELS_POINTS, TARGET)),
        ("dealer_out", np.float32, (TARGET + HEELS_POINTS, TARGET)),
        # The dealer's chance by the pone's score with his hand and the dealer's with hand and crib.
        ("chance", np.float32, (_PONE_TOTALS, _DEALER_TOTALS)),
    ],
    align=True,
)


@inlined
def dealt_index(hands: Any, row: int) -> int:
    """Returns the place of a hand of six sorted cards among the 18,564 multisets of six ranks.

    Args:
        hands: int array (n, >= 6), the hands.
        row: Which of them.
    """
    place = 0
    for i in range(6):
        place += _PLACES[i, hands[row, i] >> 2]
    return place


def dealt_ways() -> NDArray[np.int64]:
    """Returns how many hands of six cards have each multiset of ranks, an int64 array (18564,)."""
    ways = np.zeros(NUM_DEALT, np.int64)
    for ranks in combinations_with_replacement(range(NUM_RANKS), 6):
        place = sum(comb(rank + i, i + 1) for i, rank in enumerate(ranks))
        ways[place] = prod(comb(4, ranks.count(rank)) for rank in set(ranks))
    return ways


@lru_cache(maxsize=1)
def load_luck_tables() -> NDArray[Any]:
    """Returns the tables, a read-only array (1,) of dtype LUCK_TABLES."""
    tables = np.zeros(1, LUCK_TABLES)
    record = tables[0]
    with (files("cribai.analysis") / "luck.npz").open("rb") as file, np.load(file) as data:
        record["dealt"] = data["dealt"]
    ways = dealt_ways()
    totals = np.tensordot(ways, record["dealt"].astype(np.int64), 1)
    record["dealt_means"] = totals / ways.sum()
    knowledge = load_knowledge()[0]
    no_one_out, dealer_out = _peg_out_chances(knowledge)
    chance = _show_chances(knowledge)
    record["no_one_out"][:TARGET] = no_one_out
    record["dealer_out"][:TARGET] = dealer_out
    record["dealer_out"][TARGET:] = 1.0
    record["chance"] = chance
    record["weights"] = _point_weights(knowledge, chance, no_one_out) / STEPS
    tables.flags.writeable = False
    return tables


def _peg_out_chances(knowledge: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the chances that no one pegs out and that the dealer does, by both scores.

    float64 arrays (TARGET, TARGET) by the dealer's and the pone's score, over the library's deals.
    """
    needed = TARGET - np.arange(TARGET)
    # When each role has pegged what it needs: how many events come before.
    when = []
    for role in (DEALER, PONE):
        pegged = np.where(knowledge["peg_roles"] == role, knowledge["peg_points"], 0).cumsum(axis=1)
        when.append((pegged[:, :, np.newaxis] < needed).sum(axis=1)[:, :, np.newaxis])
    dealer_when, pone_when = when[0], when[1].transpose(0, 2, 1)
    never = knowledge["peg_roles"].shape[1]
    no_one = (dealer_when == never) & (pone_when == never)
    return no_one.mean(axis=0), (dealer_when < pone_when).mean(axis=0)


def _show_chances(knowledge: Any) -> NDArray[np.float64]:
    """Returns the dealer's chance by scores with the show, the library's pegging then added.

    float64 array (_PONE_TOTALS, _DEALER_TOTALS).
    """
    pegged = np.stack(
        [
            np.where(knowledge["peg_roles"] == role, knowledge["peg_points"], 0).sum(axis=1)
            for role in (PONE, DEALER)
        ],
        axis=1,
    )
    most = pegged.max(axis=0)
    final = np.ones((_PONE_TOTALS + most[0], _DEALER_TOTALS + most[1]))
    final[:TARGET, :TARGET] = (1 - knowledge["worth"][WIN]) / 2
    final[TARGET:] = 0.0
    chance = np.zeros((_PONE_TOTALS, _DEALER_TOTALS))
    for pone, dealer in pegged.tolist():
        chance += final[pone : pone + _PONE_TOTALS, dealer : dealer + _DEALER_TOTALS]
    return chance / len(pegged)


def _point_weights(
    knowledge: Any, chance: NDArray[np.float64], no_one_out: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns what a point of each part of a role's hand adds to the dealer's chance to win.

    float64 array (TARGET, TARGET, 2, NUM_HAND_PARTS) by the dealer's and the pone's score. Of a
    hand or the crib it is the slope of the regression of the chance on its points, all three as
    they are in the library's deals and independent; of pegging, the slope of the chance before the
    deal.
    """
    pone, dealer = (_frequencies(knowledge["hands"][:, role]) for role in (PONE, DEALER))
    crib = _frequencies(knowledge["cribs"])
    past_hand = _correlate(chance, dealer, 1)
    past_crib = _correlate(chance, crib, 1)
    of_pone = _correlate(_correlate(past_hand, crib, 1), _slope(pone), 0)
    of_dealer = _correlate(_correlate(past_crib, pone, 0), _slope(dealer), 1)
    of_crib = _correlate(_correlate(past_hand, pone, 0), _slope(crib), 1)
    before = (knowledge["worth"][WIN] + 1) / 2
    by_dealer, by_pone = np.gradient(before)
    weights = np.empty((TARGET, TARGET, 2, NUM_HAND_PARTS))
    for role, sign, of_hand in ((PONE, -1, of_pone), (DEALER, 1, of_dealer)):
        for part, slope in ((HAND_PART, of_hand), (CRIB_PART, of_crib)):
            weights[:, :, role, part] = no_one_out * slope[:TARGET, :TARGET].T
        weights[:, :, role, PEGGING_PART] = sign * (by_dealer - by_pone) / 2
    return weights


def _frequencies(points: NDArray[np.int8]) -> NDArray[np.float64]:
    return np.bincount(points, minlength=_MAX_SHOW) / len(points)


def _slope(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the factors whose product with values by points adds up to the regression's slope."""
    points = np.arange(len(chances))
    above = points - (chances * points).sum()
    return chances * above / (chances * above**2).sum()


def _correlate(
    values: NDArray[np.float64], factors: NDArray[np.float64], axis: int
) -> NDArray[np.float64]:
    """Returns values shifted down an axis by 0, 1, 2 and so on, added up with factors; shorter."""
    length = values.shape[axis] - len(factors) + 1
    total = np.zeros_like(np.take(values, np.arange(length), axis))
    # Not by a product of matrices, whose last bits differ between machines.
    for i, factor in enumerate(factors.tolist()):
        total += factor * np.take(values, np.arange(i, i + length), axis)
    return total
