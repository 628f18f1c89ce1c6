"""Exact values of tosses: what the kept hand and the crib are worth on average.

The hand is averaged over the 46 starters that the six cards leave. The crib is averaged over the
opponent's toss from those 46, each pair as likely as the tables say, and over the 44 starters then
left; flushes, nobs and the six known cards are taken into account exactly.
"""

from typing import Any, Final

import numpy as np

from cribai.cards import DECK_SIZE, JACK, NUM_RANKS, NUM_SUITS
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import starter_points, table_index

NUM_TOSSES: Final = 15
MAX_SHOW: Final = 30
_JACK: Final = JACK

FIRST_SLOT: Final = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4], np.int64)
SECOND_SLOT: Final = np.array([1, 2, 3, 4, 5, 2, 3, 4, 5, 3, 4, 5, 4, 5, 5], np.int64)
"""The places in the sorted six cards that each toss takes, in the order of the actions."""


@inlined
def split(cards: Any, toss: int, kept: Any) -> None:
    """Writes the four cards that a toss keeps.

    Args:
        cards: int array (6,), sorted.
        toss: Number of the toss.
        kept: int64 array (4,). Modified in place.
    """
    place = 0
    for slot in range(6):
        if slot != FIRST_SLOT[toss] and slot != SECOND_SLOT[toss]:
            kept[place] = cards[slot]
            place += 1


@kernel
def hand_distributions(cards: Any, table: Any, distributions: Any) -> None:
    """Counts what each kept hand scores over the 46 starters.

    Args:
        cards: int array (6,), sorted.
        table: `rank_table(15)`.
        distributions: float64 array (15, 30). Modified in place: chances by toss and score.
    """
    points = np.empty(DECK_SIZE, np.int64)
    kept = np.empty(4, np.int64)
    unseen = np.ones(DECK_SIZE, np.bool_)
    for i in range(6):
        unseen[cards[i]] = False
    distributions[:] = 0.0
    for toss in range(NUM_TOSSES):
        split(cards, toss, kept)
        starter_points(kept, False, table, points)
        for starter in range(DECK_SIZE):
            if unseen[starter]:
                distributions[toss, points[starter]] += 1.0 / 46.0


CRIB: Final = np.dtype(
    [
        # How likely the opponent tosses two ranks (the lower first), and that with each rank as the
        # starter; weights that add up to `total`, and to `total` times the number of starters left.
        ("total", np.float64),
        ("num_starters", np.float64),
        ("pairs", np.float64, (NUM_RANKS, NUM_RANKS)),
        ("triples", np.float64, (NUM_RANKS, NUM_RANKS, NUM_RANKS)),
        # What suits add to the triples: by suit, that toss and starter are all of it, that the
        # starter is; and that the starter is of the suit of a jack that the opponent tosses.
        ("flush", np.float64, NUM_SUITS),
        ("starter_suit", np.float64, NUM_SUITS),
        ("nobs", np.float64),
    ],
    align=True,
)


@kernel
def weigh_cribs(cards: Any, num_known: int, chances: Any, crib: Any) -> None:
    """Weighs what the opponent may toss and what the starter may be, given some known cards.

    Args:
        cards: int array (>= num_known,), the known cards.
        num_known: How many there are.
        chances: float64 array (13, 13, 2), the opponent's `toss_chance`.
        crib: CRIB record. Modified in place.
    """
    unseen = np.ones((NUM_RANKS, NUM_SUITS), np.int64)
    for i in range(num_known):
        unseen[cards[i] >> 2, cards[i] & 3] = 0
    left = np.zeros(NUM_RANKS, np.int64)
    in_suit = np.zeros(NUM_SUITS, np.int64)
    for rank in range(NUM_RANKS):
        for suit in range(NUM_SUITS):
            left[rank] += unseen[rank, suit]
            in_suit[suit] += unseen[rank, suit]
    tossed_in = np.zeros(NUM_SUITS, np.float64)
    crib["flush"][:] = 0.0
    total = 0.0
    for low in range(NUM_RANKS):
        for high in range(low, NUM_RANKS):
            apart = chances[low, high, 0]
            alike = chances[low, high, 1]
            if low == high:
                weight = apart * (left[low] * (left[low] - 1) // 2)
                for suit in range(NUM_SUITS):
                    tossed_in[suit] += unseen[low, suit] * apart * (left[low] - 1)
            else:
                together = 0
                for suit in range(NUM_SUITS):
                    both = unseen[low, suit] * unseen[high, suit]
                    one = unseen[low, suit] * left[high] + unseen[high, suit] * left[low] - 2 * both
                    tossed_in[suit] += 2.0 * alike * both + apart * one
                    crib["flush"][suit] += alike * both * (in_suit[suit] - 2)
                    together += both
                weight = apart * (left[low] * left[high] - together) + alike * together
            total += weight
            crib["pairs"][low, high] = weight
            for starter in range(NUM_RANKS):
                there = left[starter] - (starter == low) - (starter == high)
                crib["triples"][low, high, starter] = weight * max(there, 0)
    nobs = 0.0
    for suit in range(NUM_SUITS):
        crib["starter_suit"][suit] = total * in_suit[suit] - tossed_in[suit]
        if unseen[_JACK, suit]:
            for rank in range(NUM_RANKS):
                for other in range(NUM_SUITS):
                    if unseen[rank, other] and not (rank == _JACK and other == suit):
                        same = 1 if other == suit else 0
                        chance = chances[min(rank, _JACK), max(rank, _JACK), same]
                        nobs += chance * (in_suit[suit] - 1 - same)
    crib["nobs"] = nobs
    crib["total"] = total
    crib["num_starters"] = DECK_SIZE - num_known - 2


@inlined
def _distinct_ranks(cards: Any, bases: Any, numbers: Any) -> int:
    """Tells the tosses' ranks apart: those of equal ranks make the same cribs but for suits.

    Args:
        cards: int array (6,), sorted.
        bases: uint64 array (15,). Modified in place: `table_index` of each pair of ranks and zeros;
            unsigned, because a place that may be negative takes longer to look up.
        numbers: int64 array (15,). Modified in place: by toss, which of the pairs it is.

    Returns:
        How many pairs of ranks there are.
    """
    found = 0
    for toss in range(NUM_TOSSES):
        first = int(cards[FIRST_SLOT[toss]]) >> 2
        base = np.uint64(table_index(first, int(cards[SECOND_SLOT[toss]]) >> 2, 0, 0))
        number = 0
        while number < found and bases[number] != base:
            number += 1
        bases[number] = base
        numbers[toss] = number
        found = max(found, number + 1)
    return found


@inlined
def crib_means(crib: Any, cards: Any, table: Any, means: Any) -> None:
    """Writes what the crib scores on average with each toss in it.

    Args:
        crib: CRIB record of the six cards.
        cards: int array (6,), sorted.
        table: `rank_table(15)`.
        means: float64 array (15,). Modified in place.
    """
    bases = np.empty(NUM_TOSSES, np.uint64)
    numbers = np.empty(NUM_TOSSES, np.int64)
    sums = np.empty(NUM_TOSSES, np.float64)
    num_pairs = _distinct_ranks(cards, bases, numbers)
    sums[:] = crib["nobs"]
    # One sum has to wait for each of its additions; several at a time do not wait for each other.
    for low in range(NUM_RANKS):
        for high in range(low, NUM_RANKS):
            offset = np.uint64(table_index(0, 0, low, high))
            for number in range(num_pairs):
                base = bases[number] + offset
                points = sums[number]
                for starter in range(NUM_RANKS):
                    points += crib["triples"][low, high, starter] * table[base + np.uint64(starter)]
                sums[number] = points
    scale = crib["total"] * crib["num_starters"]
    for toss in range(NUM_TOSSES):
        first = cards[FIRST_SLOT[toss]]
        second = cards[SECOND_SLOT[toss]]
        points = sums[numbers[toss]]
        if (first & 3) == (second & 3):
            points += 5.0 * crib["flush"][first & 3]
        if (first >> 2) == _JACK:
            points += crib["starter_suit"][first & 3]
        if (second >> 2) == _JACK:
            points += crib["starter_suit"][second & 3]
        means[toss] = points / scale


@inlined
def crib_distributions(crib: Any, cards: Any, table: Any, distributions: Any) -> None:
    """Writes how likely the crib scores what with each toss, by ranks: no flushes and no nobs.

    Args:
        crib: CRIB record of the six cards.
        cards: int array (6,), sorted.
        table: `rank_table(15)`.
        distributions: float64 array (15, 30). Modified in place: chances by toss and score.
    """
    bases = np.empty(NUM_TOSSES, np.uint64)
    numbers = np.empty(NUM_TOSSES, np.int64)
    num_pairs = _distinct_ranks(cards, bases, numbers)
    chances = np.zeros((NUM_TOSSES, MAX_SHOW), np.float64)
    scale = crib["total"] * crib["num_starters"]
    for low in range(NUM_RANKS):
        for high in range(low, NUM_RANKS):
            offset = np.uint64(table_index(0, 0, low, high))
            for starter in range(NUM_RANKS):
                # Of impossible cribs, such as five 5s, the table has points beyond any real one's.
                if crib["triples"][low, high, starter] > 0.0:
                    chance = crib["triples"][low, high, starter] / scale
                    place = offset + np.uint64(starter)
                    for number in range(num_pairs):
                        chances[number, np.uint64(table[bases[number] + place])] += chance
    for toss in range(NUM_TOSSES):
        for points in range(MAX_SHOW):
            distributions[toss, points] = chances[numbers[toss], points]


@inlined
def crib_chances(
    crib: Any, first: int, second: int, starter: int, table: Any, chances: Any
) -> None:
    """Writes how likely the crib scores what once the starter is turned, by ranks.

    Flushes and nobs are left out.

    Args:
        crib: CRIB record of the known cards, these three among them.
        first: A tossed card.
        second: The other.
        starter: The starter.
        table: `rank_table(15)`.
        chances: float64 array (30,). Modified in place.
    """
    for points in range(MAX_SHOW):
        chances[points] = 0.0
    for low in range(NUM_RANKS):
        for high in range(low, NUM_RANKS):
            # Of impossible cribs, such as five 5s, the table has points beyond any real one's.
            if crib["pairs"][low, high] > 0.0:
                place = table_index(first >> 2, second >> 2, low, high) + (starter >> 2)
                chances[table[place]] += crib["pairs"][low, high] / crib["total"]
