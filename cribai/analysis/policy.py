"""The best toss of every hand, and how often a player who tosses so tosses and keeps what.

Hands that differ only by the names of the suits are one: 962,988 classes for 20,358,520 hands.
"""

from typing import Any, Final

import numpy as np

from cribai.analysis.knowledge import DEALER, kept_index
from cribai.analysis.tossing import (
    CRIB,
    FIRST_SLOT,
    MAX_SHOW,
    NUM_TOSSES,
    SECOND_SLOT,
    crib_means,
    hand_distributions,
    split,
    weigh_cribs,
)
from cribai.cards import DECK_SIZE
from cribai.engine.jit import inlined, kernel

NUM_HANDS: Final = 20_358_520
NUM_CLASSES: Final = 962_988


@inlined
def class_size(cards: Any) -> int:
    """Returns how many hands a class stands for, or 0 if the cards are not its representative.

    A hand represents its class when its suits' rank sets, read as numbers, do not rise from clubs
    to spades.
    """
    masks = np.zeros(4, np.int64)
    for i in range(6):
        masks[cards[i] & 3] |= 1 << (cards[i] >> 2)
    if masks[0] < masks[1] or masks[1] < masks[2] or masks[2] < masks[3]:
        return 0
    size = 24
    same = 1
    for suit in range(1, 4):
        same = same + 1 if masks[suit] == masks[suit - 1] else 1
        size //= same
    return size


NUM_TOSS_PARTS: Final = 5
VALUE, HAND, CRIB_MEAN, OWN_PEGS, OTHER_PEGS = range(NUM_TOSS_PARTS)
"""Columns of toss values."""

SLACK: Final = 0.15
"""Points by which a toss is worse for it to count a factor e less in the average cribs."""


@kernel
def toss_parts(
    cards: Any,
    role: int,
    exact_cribs: bool,
    tables: Any,
    rule_table: Any,
    crib: Any,
    hands: Any,
    parts: Any,
) -> None:
    """Values the fifteen tosses of a hand by parts.

    Args:
        cards: int64 array (6,), sorted.
        role: PONE or DEALER.
        exact_cribs: Whether the crib is averaged anew, given the six cards, or read from the table.
        tables: KNOWLEDGE record.
        rule_table: `rank_table(15)`.
        crib: CRIB record. Modified in place: `weigh_cribs` of the six cards, if exact.
        hands: float64 array (15, 30). Modified in place: `hand_distributions`.
        parts: float64 array (15, 5). Modified in place: by toss the average hand, the average crib,
            and the points that the player and his opponent peg; VALUE is their sum in points.
    """
    hand_distributions(cards, rule_table, hands)
    means = np.empty(NUM_TOSSES, np.float64)
    if exact_cribs:
        weigh_cribs(cards, 6, tables["toss_chance"][1 - role], crib)
        crib_means(crib, cards, rule_table, means)
    kept = np.empty(4, np.int64)
    for toss in range(NUM_TOSSES):
        hand = 0.0
        for points in range(MAX_SHOW):
            hand += points * hands[toss, points]
        first = cards[FIRST_SLOT[toss]]
        second = cards[SECOND_SLOT[toss]]
        if not exact_cribs:
            suited = 1 if (first & 3) == (second & 3) else 0
            means[toss] = tables["crib_mean"][role, first >> 2, second >> 2, suited]
        mean = means[toss]
        split(cards, toss, kept)
        index = kept_index(kept[0] >> 2, kept[1] >> 2, kept[2] >> 2, kept[3] >> 2)
        own = tables["pegged"][role, index, 0]
        other = tables["pegged"][role, index, 1]
        parts[toss, HAND] = hand
        parts[toss, CRIB_MEAN] = mean
        parts[toss, OWN_PEGS] = own
        parts[toss, OTHER_PEGS] = other
        parts[toss, VALUE] = hand + (mean if role == DEALER else -mean) + own - other


@kernel
def count_tosses(
    first: int,
    second: int,
    role: int,
    knowledge: Any,
    rule_table: Any,
    tossed: Any,
    kept_counts: Any,
    cribs: Any,
) -> int:
    """Tosses best from every hand whose two lowest cards are given.

    Args:
        first: The lowest card.
        second: The next.
        role: PONE or DEALER.
        knowledge: KNOWLEDGE array (1,).
        rule_table: `rank_table(15)`.
        tossed: float64 array (13, 13, 2). Modified in place: hands are added by the lower and
            higher rank tossed and whether they are of one suit.
        kept_counts: float64 array (1820,). Modified in place: hands are added by what is kept.
        cribs: float64 array (2, 13, 13, 2). Modified in place: of every toss, the better the more
            often, the weights are added in the first part and the average cribs in the second.

    Returns:
        How many hands there are.
    """
    cards = np.empty(6, np.int64)
    kept = np.empty(4, np.int64)
    values = np.empty((NUM_TOSSES, NUM_TOSS_PARTS), np.float64)
    crib = np.zeros(1, CRIB)
    hand_chances = np.empty((NUM_TOSSES, MAX_SHOW), np.float64)
    hands = 0
    cards[0] = first
    cards[1] = second
    for third in range(second + 1, DECK_SIZE):
        cards[2] = third
        for fourth in range(third + 1, DECK_SIZE):
            cards[3] = fourth
            for fifth in range(fourth + 1, DECK_SIZE):
                cards[4] = fifth
                for sixth in range(fifth + 1, DECK_SIZE):
                    cards[5] = sixth
                    size = class_size(cards)
                    if size == 0:
                        continue
                    hands += size
                    toss_parts(
                        cards, role, True, knowledge[0], rule_table, crib[0], hand_chances, values
                    )
                    best = best_toss(values)
                    split(cards, best, kept)
                    kept_counts[
                        kept_index(kept[0] >> 2, kept[1] >> 2, kept[2] >> 2, kept[3] >> 2)
                    ] += size
                    for toss in range(NUM_TOSSES):
                        low = cards[FIRST_SLOT[toss]]
                        high = cards[SECOND_SLOT[toss]]
                        suited = 1 if (low & 3) == (high & 3) else 0
                        if toss == best:
                            tossed[low >> 2, high >> 2, suited] += size
                        weight = size * np.exp((values[toss, VALUE] - values[best, VALUE]) / SLACK)
                        cribs[0, low >> 2, high >> 2, suited] += weight
                        cribs[1, low >> 2, high >> 2, suited] += weight * values[toss, CRIB_MEAN]
    return hands


@inlined
def best_toss(values: Any) -> int:
    """Returns the first of the tosses of greatest value; the values' column is VALUE."""
    best = 0
    for toss in range(1, NUM_TOSSES):
        if values[toss, VALUE] > values[best, VALUE]:
            best = toss
    return best
