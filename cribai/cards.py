"""Cards as small integers, and their text form.

A card is `4 * rank + suit`: ranks 0 (ace) to 12 (king), suits in the order clubs, diamonds, hearts,
spades. Cards 52 to 55 are jokers, of rank 13. Text ("5H", "TD") exists at the edges only; the
engine sees integers.
"""

from collections.abc import Iterable
from typing import Final

from cribai.errors import CardError

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
NUM_RANKS: Final = 13
NUM_SUITS: Final = 4
DECK_SIZE: Final = NUM_RANKS * NUM_SUITS
JACK: Final = 10
KING: Final = 12
JOKER_RANK: Final = 13
MAX_JOKERS: Final = 4
NO_CARD: Final = -1
"""Fills the unused places of fixed-size card arrays."""

RANK_NAMES: Final = (
    "ace", "two", "three", "four", "five", "six", "seven",
    "eight", "nine", "ten", "jack", "queen", "king", "joker",
)  # fmt: skip
SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")

_CARDS: Final = {
    f"{rank}{suit}": 4 * r + s for r, rank in enumerate(RANKS) for s, suit in enumerate(SUITS)
} | {f"J{number}": DECK_SIZE + number - 1 for number in range(1, MAX_JOKERS + 1)}
_TEXTS: Final = {card: text for text, card in _CARDS.items()}


def rank_of(card: int) -> int:
    """Returns the rank of a card: 0 (ace) to 12 (king), 13 for a joker."""
    return card >> 2


def suit_of(card: int) -> int:
    """Returns the suit of a card: 0 to 3 for clubs, diamonds, hearts, spades."""
    return card & 3


def value_of(card: int) -> int:
    """Returns what a card counts: 1 for an ace, its pips, 10 for a court card, 0 for a joker."""
    rank = rank_of(card)
    return 0 if rank == JOKER_RANK else min(rank + 1, 10)


def parse_card(text: str) -> int:
    """Returns the card that a text names, such as "5H", "TD" or "10d"; jokers are "J1" to "J4".

    Raises:
        CardError: The text names no card.
    """
    normal = text.strip().upper()
    if normal.startswith("10"):
        normal = "T" + normal[2:]
    try:
        return _CARDS[normal]
    except KeyError:
        raise CardError(
            f"{text!r} is not a card; write a rank of {RANKS} and a suit of {SUITS},"
            " such as 5H or TD."
        ) from None


def parse_cards(text: str, num_decks: int = 1) -> tuple[int, ...]:
    """Returns the cards named in a text, separated by blanks or commas, in the order written.

    Raises:
        CardError: A word names no card, or a card is named more often than the decks hold it.
    """
    cards = tuple(parse_card(word) for word in text.replace(",", " ").split())
    for card in cards:
        if cards.count(card) > num_decks:
            often = "twice" if cards.count(card) == 2 else f"{cards.count(card)} times"
            most = "once" if num_decks == 1 else f"{num_decks} times at most"
            raise CardError(
                f"The card {card_text(card)} is named {often} in {text!r}; name each card {most}."
            )
    return cards


def card_text(card: int) -> str:
    """Returns the text of a card, such as "5H".

    Raises:
        CardError: The number is no card.
    """
    try:
        return _TEXTS[int(card)]
    except KeyError:
        raise CardError(
            f"{card} is not a card; cards are the numbers 0 to {DECK_SIZE + MAX_JOKERS - 1}."
        ) from None


def cards_text(cards: Iterable[int]) -> str:
    """Returns the texts of cards, separated by blanks."""
    return " ".join(card_text(card) for card in cards)
