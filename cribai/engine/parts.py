"""The parts of a show: fifteens, pairs, runs, flush and nobs, among any number of any cards.

A show's cards stand in one array, the hand or crib first and its starters behind it. A joker has
the value zero and no suit, and ranks below the ace.
"""

from typing import Any, Final

import numpy as np

from cribai.cards import JACK, JOKER_RANK, NUM_RANKS
from cribai.engine.jit import inlined, kernel

VALUES: Final = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 0], np.int64)
"""What a rank counts; the last entry is the joker's."""

RUN_ORDER: Final = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0], np.int64)
"""Where a rank stands in runs: the joker below the ace."""

NUM_PARTS: Final = 5
FIFTEENS, PAIRS, RUNS, FLUSH, NOBS = range(NUM_PARTS)
"""Places of the parts of a show score."""

MIN_FLUSH: Final = 3
_JACK: Final = JACK
_JOKER: Final = JOKER_RANK


@kernel
def rank_parts(cards: Any, num_cards: int, fifteen: int, parts: Any) -> None:
    """Scores the fifteens, pairs and runs among cards; exact for any multiset in int64.

    Args:
        cards: int array (>= num_cards,), the cards.
        num_cards: How many of them count.
        fifteen: The total that scores two.
        parts: int64 array (5,). Modified in place: FIFTEENS, PAIRS and RUNS.
    """
    ways = np.zeros(fifteen + 1, np.int64)
    ways[0] = 1
    counts = np.zeros(NUM_RANKS + 1, np.int64)
    for i in range(num_cards):
        rank = cards[i] >> 2
        counts[RUN_ORDER[rank]] += 1
        value = VALUES[rank]
        for total in range(fifteen, value - 1, -1):
            ways[total] += ways[total - value]
    parts[FIFTEENS] = 2 * ways[fifteen]
    pairs = 0
    runs = 0
    length = 0
    product = 1
    for order in range(NUM_RANKS + 1):
        count = counts[order]
        pairs += count * (count - 1)
        if count > 0:
            length += 1
            product *= count
        if count == 0 or order == NUM_RANKS:
            if length >= 3:
                runs += length * product
            length = 0
            product = 1
    parts[PAIRS] = pairs
    parts[RUNS] = runs


@inlined
def flush_points(cards: Any, num_hand: int, num_cards: int, is_crib: bool) -> int:
    """Returns the points for a flush: one for each card of a hand of one suit and starter of it.

    In the crib all starters must be of the suit, and there must be one.

    Args:
        cards: int array (>= num_cards,), the hand or crib, then the starters.
        num_hand: Cards in the hand; fewer than three make no flush.
        num_cards: Cards in all.
        is_crib: Whether it is the crib.
    """
    if num_hand < MIN_FLUSH:
        return 0
    suit = cards[0] & 3
    for i in range(num_hand):
        if (cards[i] & 3) != suit or (cards[i] >> 2) == _JOKER:
            return 0
    points = num_hand
    for i in range(num_hand, num_cards):
        points += (cards[i] & 3) == suit and (cards[i] >> 2) != _JOKER
    if is_crib and (points < num_cards or num_cards == num_hand):
        return 0
    return points


@inlined
def nobs_points(cards: Any, num_hand: int, num_cards: int) -> int:
    """Returns one for each jack in the hand and each starter of its suit.

    Args:
        cards: int array (>= num_cards,), the hand or crib, then the starters.
        num_hand: Cards in the hand.
        num_cards: Cards in all.
    """
    points = 0
    for place in range(num_hand, num_cards):
        if (cards[place] >> 2) != _JOKER:
            nobs = 4 * _JACK + (cards[place] & 3)
            for i in range(num_hand):
                points += cards[i] == nobs
    return points


@kernel
def show_parts(
    cards: Any, num_hand: int, num_cards: int, is_crib: bool, fifteen: int, parts: Any
) -> None:
    """Scores a hand or crib by parts, without a table.

    Args:
        cards: int array (>= num_cards,), the hand or crib, then the starters.
        num_hand: Cards in the hand.
        num_cards: Cards in all.
        is_crib: Whether it is the crib.
        fifteen: The total that scores two.
        parts: int64 array (5,). Modified in place: the points of each part.
    """
    rank_parts(cards, num_cards, fifteen, parts)
    parts[FLUSH] = flush_points(cards, num_hand, num_cards, is_crib)
    parts[NOBS] = nobs_points(cards, num_hand, num_cards)
