"""The only scorer: what cards are worth in the show, and what a laid card pegs.

The general functions (`cribai.engine.parts`) take any number of cards of any multiplicity, jokers
among them. Five cards of ordinary ranks are looked up in a table that they fill once for each value
of `fifteen`.

Source of the scores: the rules of the American Cribbage Congress.
"""

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import DECK_SIZE, JACK, NO_CARD, NUM_RANKS
from cribai.engine.jit import inlined, kernel
from cribai.engine.parts import (
    FIFTEENS,
    MIN_FLUSH,
    NUM_PARTS,
    PAIRS,
    RUN_ORDER,
    RUNS,
    rank_parts,
    show_parts,
)
from cribai.engine.wild_kings import name_kings

NUM_PLAY_PARTS: Final = 4
PLAY_FIFTEEN, PLAY_THIRTY_ONE, PLAY_PAIRS, PLAY_RUN = range(NUM_PLAY_PARTS)
"""Places of the parts of what a laid card pegs."""

TABLE_CARDS: Final = 5
TABLE_BASE: Final = NUM_RANKS + 1
TABLE_BLANK: Final = NUM_RANKS
TABLE_SIZE: Final = TABLE_BASE**TABLE_CARDS
MAX_SERIES: Final = 15
_SERIES_MASK: Final = (1 << 4 * MAX_SERIES) - 1
_JACK: Final = JACK
_NO_CARD: Final = NO_CARD
_JOKERS: Final = DECK_SIZE


@kernel
def _fill_table(table: Any, fifteen: int) -> None:
    parts = np.zeros(NUM_PARTS, np.int64)
    cards = np.zeros(TABLE_CARDS, np.int64)
    for index in range(table.shape[0]):
        rest = index
        num_cards: Any = np.int64(0)  # no literal, which would be one more type
        for _ in range(TABLE_CARDS):
            rank = rest % TABLE_BASE
            rest //= TABLE_BASE
            if rank != TABLE_BLANK:
                cards[num_cards] = 4 * rank
                num_cards += 1
        rank_parts(cards, num_cards, fifteen, parts)
        table[index] = parts[FIFTEENS] + parts[PAIRS] + parts[RUNS]


@lru_cache(maxsize=8)
def rank_table(fifteen: int) -> NDArray[np.int8]:
    """Returns the points for fifteens, pairs and runs of up to five ordinary ranks.

    Args:
        fifteen: The total that scores two.

    Returns:
        Read-only int8 array (14**5,), indexed by the ranks as digits of a number in base 14, in any
        order, TABLE_BLANK for each card fewer than five. No five cards score more than 56: ten
        sets of them at most have one total (by Sperner's theorem), and they make ten pairs.
    """
    table = np.zeros(TABLE_SIZE, np.int8)
    _fill_table(table, fifteen)
    table.flags.writeable = False
    return table


@inlined
def table_index(first: int, second: int, third: int, fourth: int) -> int:
    """Returns the place in the table of four ranks, the fifth being rank 0; add the fifth to it."""
    return (((first * TABLE_BASE + second) * TABLE_BASE + third) * TABLE_BASE + fourth) * TABLE_BASE


@inlined
def _take_cards(
    hands: Any, row: int, num_hand: int, first_starter: int, second_starter: int, cards: Any
) -> int:
    # From here on all cards are an array of one type, compiled once.
    for i in range(num_hand):
        cards[i] = hands[row, i]
    num_cards: Any = np.int64(num_hand)  # no literal, which would be one more type
    if first_starter != _NO_CARD:
        cards[num_cards] = first_starter
        num_cards += 1
    if second_starter != _NO_CARD:
        cards[num_cards] = second_starter
        num_cards += 1
    return num_cards


@inlined
def _sum_parts(cards: Any, num_hand: int, num_cards: int, is_crib: bool, fifteen: int) -> int:
    parts = np.empty(NUM_PARTS, np.int64)
    show_parts(cards, num_hand, num_cards, is_crib, fifteen, parts)
    points = 0
    for part in range(NUM_PARTS):
        points += parts[part]
    return points


@kernel
def _points_by_parts(
    hands: Any,
    row: int,
    num_hand: int,
    first_starter: int,
    second_starter: int,
    is_crib: bool,
    fifteen: int,
) -> int:
    cards = np.empty(num_hand + 2, np.int64)
    hand_size: Any = np.int64(num_hand)
    num_cards = _take_cards(hands, row, num_hand, first_starter, second_starter, cards)
    return _sum_parts(cards, hand_size, num_cards, is_crib, fifteen)


@kernel
def _points_with_kings(
    hands: Any,
    row: int,
    num_hand: int,
    first_starter: int,
    second_starter: int,
    is_crib: bool,
    fifteen: int,
) -> int:
    # Apart, so that games without wild kings do not compile their search.
    cards = np.empty(num_hand + 2, np.int64)
    hand_size: Any = np.int64(num_hand)
    num_cards = _take_cards(hands, row, num_hand, first_starter, second_starter, cards)
    name_kings(cards, hand_size, num_cards, is_crib, fifteen)
    return _sum_parts(cards, hand_size, num_cards, is_crib, fifteen)


@inlined
def show_points(
    hands: Any, row: int, num_hand: int, starter: int, is_crib: bool, rules: Any
) -> int:
    """Returns what a hand or crib scores in the show, from the table where it applies.

    Kings are kings; with two starters or wild kings see `show_with_starters`.

    Args:
        hands: int array (n, >= num_hand), hands or cribs without the starter.
        row: Which of them; a row rather than a slice, which would be counted as a reference.
        num_hand: Cards in it.
        starter: The starter, or NO_CARD.
        is_crib: Whether it is the crib.
        rules: RULES record.
    """
    if num_hand >= TABLE_CARDS:
        return _points_by_parts(hands, row, num_hand, starter, _NO_CARD, is_crib, rules["fifteen"])
    suit = starter & 3
    nobs = 4 * _JACK + suit
    index = 0
    highest = starter
    suits = 0
    num_nobs = 0
    for i in range(TABLE_CARDS - 1):
        rank = TABLE_BLANK
        if i < num_hand:
            card = int(hands[row, i])
            highest = max(highest, card)
            rank = card >> 2
            suits |= 1 << (card & 3)
            num_nobs += card == nobs
        index = index * TABLE_BASE + rank
    if highest >= _JOKERS:
        return _points_by_parts(hands, row, num_hand, starter, _NO_CARD, is_crib, rules["fifteen"])
    if starter == _NO_CARD:
        points = int(rules["table"][index * TABLE_BASE + TABLE_BLANK])
        suit = -1
    else:
        points = int(rules["table"][index * TABLE_BASE + (starter >> 2)]) + num_nobs
    if suits & (suits - 1) == 0 and num_hand >= MIN_FLUSH:
        if suit >= 0 and suits == 1 << suit:
            points += num_hand + 1
        elif not is_crib:
            points += num_hand
    return points


@inlined
def show_with_starters(
    hands: Any,
    row: int,
    num_hand: int,
    starters: Any,
    place: int,
    num_starters: int,
    is_crib: bool,
    rules: Any,
) -> int:
    """Returns what a hand or crib scores in the show with any starters, kings wild or not.

    Args:
        hands: int array (n, >= num_hand), hands or cribs without the starters.
        row: Which of them.
        num_hand: Cards in it.
        starters: int array (m, >= num_starters).
        place: Which row of it.
        num_starters: How many of the row count: 0, 1 or 2.
        is_crib: Whether it is the crib.
        rules: RULES record.
    """
    first = int(starters[place, 0]) if num_starters > 0 else _NO_CARD
    second = int(starters[place, 1]) if num_starters > 1 else _NO_CARD
    if rules["wild_kings"]:
        return _points_with_kings(hands, row, num_hand, first, second, is_crib, rules["fifteen"])
    if second == _NO_CARD:
        return show_points(hands, row, num_hand, first, is_crib, rules)
    return _points_by_parts(hands, row, num_hand, first, second, is_crib, rules["fifteen"])


@kernel
def starter_points(hand: Any, is_crib: bool, table: Any, out: Any) -> None:
    """Scores one four-card hand with each card of the deck as the starter.

    Args:
        hand: int array (4,), cards below 52.
        is_crib: Whether it is the crib.
        table: The `rank_table`.
        out: int64 array (52,). Modified in place: the points by starter; entries of cards that the
            hand holds mean nothing.
    """
    first = int(hand[0])
    second = int(hand[1])
    third = int(hand[2])
    fourth = int(hand[3])
    base = table_index(first >> 2, second >> 2, third >> 2, fourth >> 2)
    short_flush = 0
    long_flush = 0
    if (((first ^ second) | (first ^ third) | (first ^ fourth)) & 3) == 0:
        long_flush = 5
        short_flush = 0 if is_crib else 4
    for suit in range(4):
        extra = long_flush if suit == (first & 3) else short_flush
        nobs = 4 * _JACK + suit
        if first == nobs or second == nobs or third == nobs or fourth == nobs:
            extra += 1
        for rank in range(NUM_RANKS):
            out[4 * rank + suit] = table[base + rank] + extra


@inlined
def extend_series(series: int, card: int) -> int:
    """Returns a packed series with one more card.

    A series is packed as the run orders of its last 15 cards, four bits each, the latest lowest.
    No run reaches back further, with at most fourteen cards, the joker to the king, and no pair but
    one: two decks hold eight cards of a rank, and where kings are wild all eight of them could be
    laid after those; the sixteenth like rank then counts as the fifteenth.
    """
    return ((series << 4) | RUN_ORDER[card >> 2]) & _SERIES_MASK


@inlined
def pair_points(series: int, length: int) -> int:
    """Returns the points for the like ranks at the end of a packed series: 2, 6, 12 and so on."""
    last = series & 15
    same = 1
    rest = series >> 4
    while same < length and (rest & 15) == last:
        same += 1
        rest >>= 4
    return same * (same - 1)


@inlined
def run_points(series: int, length: int) -> int:
    """Returns the length of the longest run that the last cards of a series form, or zero."""
    seen = 0
    run = 0
    distinct = True
    for i in range(min(length, MAX_SERIES)):
        bit = 1 << (series & 15)
        series >>= 4
        distinct &= (seen & bit) == 0
        seen |= bit
        # Neighbouring bits plus their lowest carry out of the group and leave nothing in common.
        if distinct & (i >= 2) & ((seen & (seen + (seen & -seen))) == 0):
            run = i + 1
    return run


@inlined
def play_points(series: int, length: int, count: int, fifteen: int, thirty_one: int) -> int:
    """Returns what the last card of a series pegs, go and last card apart.

    Args:
        series: The packed series with the card.
        length: Cards in the series.
        count: The count with the card.
        fifteen: The count that scores two.
        thirty_one: The count that scores two and ends the series.
    """
    points = 2 * ((count == fifteen) | (count == thirty_one))
    if length < 2:
        return points
    if (series & 15) == ((series >> 4) & 15):
        return points + pair_points(series, length)
    if length < 3:
        return points
    return points + run_points(series, length)


@kernel
def play_parts(
    series: int, length: int, count: int, fifteen: int, thirty_one: int, parts: Any
) -> None:
    """Scores the last card of a series by parts; see `play_points`.

    Args:
        series: The packed series with the card.
        length: Cards in the series.
        count: The count with the card.
        fifteen: The count that scores two.
        thirty_one: The count that scores two and ends the series.
        parts: int64 array (4,). Modified in place: the points of each part.
    """
    parts[PLAY_FIFTEEN] = 2 if count == fifteen else 0
    parts[PLAY_THIRTY_ONE] = 2 if count == thirty_one else 0
    parts[PLAY_PAIRS] = pair_points(series, length)
    parts[PLAY_RUN] = 0 if parts[PLAY_PAIRS] else run_points(series, length)


@kernel
def show_points_batch(hands: Any, starters: Any, is_crib: bool, rules: Any, out: Any) -> None:
    """Scores many hands of one size.

    Args:
        hands: int array (n, k), the hands without starters.
        starters: int array (n,).
        is_crib: Whether they are cribs.
        rules: RULES array (1,).
        out: int64 array (n,). Modified in place: the points.
    """
    for i in range(hands.shape[0]):
        out[i] = show_points(hands, i, hands.shape[1], int(starters[i]), is_crib, rules[0])


@kernel
def show_histogram(is_crib: bool, table: Any, histogram: Any) -> None:
    """Counts the scores of every four-card hand with every starter of a 52-card deck.

    Args:
        is_crib: Whether they are cribs.
        table: The `rank_table`.
        histogram: int64 array (30,) or longer. Modified in place: counts are added by score.
    """
    hand = np.empty(TABLE_CARDS - 1, np.int64)
    points = np.empty(DECK_SIZE, np.int64)
    # Starters that the hand holds are counted and taken back, five of a kind with up to 41 points.
    counts = np.zeros(64, np.int64)
    for first in range(DECK_SIZE):
        hand[0] = first
        for second in range(first + 1, DECK_SIZE):
            hand[1] = second
            for third in range(second + 1, DECK_SIZE):
                hand[2] = third
                for fourth in range(third + 1, DECK_SIZE):
                    hand[3] = fourth
                    starter_points(hand, is_crib, table, points)
                    for starter in range(DECK_SIZE):
                        counts[points[starter]] += 1
                    for card in hand:
                        counts[points[card]] -= 1
    for score in range(30):
        histogram[score] += counts[score]
