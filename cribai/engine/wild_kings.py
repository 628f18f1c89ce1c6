"""Wild kings: in the show each king counts as the card that makes the hand score most.

A king may count as any of the 52 cards, of any suit and held elsewhere or not, and as itself. So in
the hand it can be of a flush or nobs, and as a starter it can follow a flush or give a jack nobs.
"""

from typing import Any, Final

import numpy as np

from cribai.cards import JACK, NUM_RANKS, NUM_SUITS
from cribai.engine.jit import inlined, kernel
from cribai.engine.parts import (
    FIFTEENS,
    NUM_PARTS,
    PAIRS,
    RUNS,
    flush_points,
    nobs_points,
    rank_parts,
)

_HAND_CHOICES: Final = 1 + NUM_SUITS
_KING: Final = NUM_RANKS - 1
_JACK: Final = JACK
_RANKS: Final = np.array([12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10], np.int64)
"""The ranks in the order in which they are tried: a king first, which wins ties, the jack last."""


@inlined
def _name_suits(
    cards: Any, named: Any, places: Any, num_kings: int, num_hand: int, choice: int
) -> None:
    # Of five choices the first leaves the hand's suits alone; two bits change each starter's.
    hand_choice = choice % _HAND_CHOICES
    choice //= _HAND_CHOICES
    for i in range(num_kings):
        place = places[i]
        suit = cards[place] & 3
        if place >= num_hand:
            suit ^= choice & 3
            choice >>= 2
        elif hand_choice > 0:
            suit = hand_choice - 1
        named[place] = (cards[place] & ~3) | suit


@kernel
def _best_suits(
    cards: Any, places: Any, num_kings: int, num_hand: int, num_cards: int, is_crib: bool
) -> int:
    """Gives wild cards the suits that make most of flush and nobs, and returns those points.

    Those in the hand keep their suits or all take one: only that makes a flush, and without one all
    jacks want the suit of most starters.

    Args:
        cards: int64 array (>= num_cards,), the hand or crib, then the starters. Modified in place:
            the suits of wild cards.
        places: int64 array (>= num_kings,), where the wild cards stand, in order.
        num_kings: How many there are.
        num_hand: Cards in the hand.
        num_cards: Cards in all.
        is_crib: Whether it is the crib.
    """
    num_choices = _HAND_CHOICES
    for i in range(num_kings):
        if places[i] >= num_hand:
            num_choices *= NUM_SUITS
    named = np.empty(num_cards, np.int64)
    for i in range(num_cards):
        named[i] = cards[i]
    best = -1
    best_choice = 0
    for choice in range(num_choices):
        _name_suits(cards, named, places, num_kings, num_hand, choice)
        points = flush_points(named, num_hand, num_cards, is_crib)
        points += nobs_points(named, num_hand, num_cards)
        if points > best:
            best = points
            best_choice = choice
    _name_suits(cards, named, places, num_kings, num_hand, best_choice)
    for i in range(num_cards):
        cards[i] = named[i]
    return best


@kernel
def name_kings(cards: Any, num_hand: int, num_cards: int, is_crib: bool, fifteen: int) -> None:
    """Puts in the place of each king the card that it counts as, together the best ones.

    Ranks are tried as multisets, 13 for one king and 1820 for four. Which of the kings have them
    matters only for jacks, which the hand's kings take first; how many of these are jacks is all
    that flush and nobs know of the ranks.

    Args:
        cards: int64 array (>= num_cards,), the hand or crib, then the starters. Modified in place:
            the kings.
        num_hand: Cards in the hand.
        num_cards: Cards in all.
        is_crib: Whether it is the crib.
        fifteen: The total that scores two.
    """
    places = np.empty(num_cards, np.int64)
    num_kings: Any = np.int64(0)  # no literal, which would be one more type
    num_in_hand = 0
    for i in range(num_cards):
        if (cards[i] >> 2) == _KING:
            places[num_kings] = i
            num_kings += 1
            num_in_hand += i < num_hand
    if num_kings == 0:
        return
    named = np.empty(num_cards, np.int64)
    suit_points = np.empty(num_in_hand + 1, np.int64)
    for num_jacks in range(num_in_hand + 1):
        for i in range(num_cards):
            named[i] = cards[i]
        for i in range(num_jacks):
            named[places[i]] = 4 * _JACK + (cards[places[i]] & 3)
        suit_points[num_jacks] = _best_suits(named, places, num_kings, num_hand, num_cards, is_crib)
    choices = np.zeros(num_kings, np.int64)
    best_choices = np.zeros(num_kings, np.int64)
    parts = np.empty(NUM_PARTS, np.int64)
    best = -1
    while True:
        for i in range(num_kings):
            named[places[i]] = 4 * _RANKS[choices[i]]
        rank_parts(named, num_cards, fifteen, parts)
        num_jacks = 0
        while num_jacks < num_in_hand and _RANKS[choices[num_jacks]] == _JACK:
            num_jacks += 1
        points = parts[FIFTEENS] + parts[PAIRS] + parts[RUNS] + suit_points[num_jacks]
        if points > best:
            best = points
            for i in range(num_kings):
                best_choices[i] = choices[i]
        # The next sequence that never rises, so that each multiset comes once.
        last = num_kings - 1
        while last > 0 and choices[last] == choices[last - 1]:
            choices[last] = 0
            last -= 1
        if last == 0 and choices[0] == NUM_RANKS - 1:
            break
        choices[last] += 1
    for i in range(num_kings):
        cards[places[i]] = 4 * _RANKS[best_choices[i]] + (cards[places[i]] & 3)
    _best_suits(cards, places, num_kings, num_hand, num_cards, is_crib)
