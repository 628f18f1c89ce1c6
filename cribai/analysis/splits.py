"""The best split of dealt cards into hands of four that share a starter, found exactly.

The best points of each set of cards follow from those of the sets without one hand. The lowest card
of a set is in one of its hands, so that only hands with it are tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from cribai.cards import DECK_SIZE, MAX_JOKERS
from cribai.engine.jit import kernel
from cribai.engine.scoring import show_with_starters
from cribai.engine.state import compiled_rules
from cribai.errors import CardError
from cribai.rules import STANDARD, Rules

HAND_SIZE: Final = 4
MAX_HANDS: Final = 5
"""Each hand more makes sixteen times as many sets of cards."""


@dataclass(frozen=True, slots=True)
class Split:
    """Cards split into hands.

    Attributes:
        points: What the hands score together.
        hands: The hands, each of four cards in order.
    """

    points: int
    hands: tuple[tuple[int, ...], ...]


def best_split(cards: Sequence[int], starter: int, rules: Rules = STANDARD) -> Split:
    """Returns the split of cards into hands of four that scores most with a common starter.

    Each hand is scored as an ordinary one, never as a crib, and a jack as the starter is no heels.

    Args:
        cards: 4, 8, 12, 16 or 20 cards.
        starter: The starter.
        rules: Rules of the show.

    Raises:
        CardError: The number of cards is another one, or a number is no card.
    """
    num_cards = len(cards)
    if num_cards % HAND_SIZE or not 0 < num_cards <= MAX_HANDS * HAND_SIZE:
        raise CardError(
            f"There are {num_cards} cards to split; give {HAND_SIZE} for each of 1 to {MAX_HANDS}"
            " hands."
        )
    for card in (*cards, starter):
        if not 0 <= card < DECK_SIZE + MAX_JOKERS:
            raise CardError(
                f"{card} is not a card; cards are the numbers 0 to {DECK_SIZE + MAX_JOKERS - 1}."
            )
    ordered = np.sort(np.array(cards, np.int64))
    points = np.zeros(1 << num_cards, np.int16)
    last_hands = np.zeros(1 << num_cards, np.int32)
    _split(ordered, np.array([[starter]]), compiled_rules(rules), points, last_hands)
    hands = []
    left = (1 << num_cards) - 1
    while left:
        hand = int(last_hands[left])
        hands.append(tuple(int(ordered[i]) for i in range(num_cards) if hand >> i & 1))
        left ^= hand
    return Split(int(points[-1]), tuple(hands))


@kernel
def _split(cards: Any, starters: Any, rules: Any, points: Any, last_hands: Any) -> None:
    """Finds the best points of each set of cards that fills hands.

    Args:
        cards: int64 array (n,).
        starters: int64 array (1, 1).
        rules: RULES array (1,).
        points: int16 array (2**n,), zero. Modified in place: by set of cards, a bit for each, what
            its best split scores.
        last_hands: int32 array (2**n,), zero. Modified in place: by set, the hand in its best split
            that holds the lowest card.
    """
    num_cards = cards.shape[0]
    hands = np.empty((1, HAND_SIZE), np.int64)
    held = np.empty(num_cards, np.int64)
    hand_points = np.zeros(points.shape[0], np.int16)
    for chosen in range(1, points.shape[0]):
        num_held = 0
        for i in range(num_cards):
            if (chosen >> i) & 1:
                held[num_held] = i
                num_held += 1
        if num_held % HAND_SIZE:
            continue
        if num_held == HAND_SIZE:
            for i in range(HAND_SIZE):
                hands[0, i] = cards[held[i]]
            hand_points[chosen] = show_with_starters(
                hands, 0, HAND_SIZE, starters, 0, 1, False, rules[0]
            )
        best = -1
        for second in range(1, num_held):
            for third in range(second + 1, num_held):
                for fourth in range(third + 1, num_held):
                    hand = 1 << held[0] | 1 << held[second] | 1 << held[third] | 1 << held[fourth]
                    found = hand_points[hand] + points[chosen ^ hand]
                    if found > best:
                        best = found
                        last_hands[chosen] = hand
        points[chosen] = best
