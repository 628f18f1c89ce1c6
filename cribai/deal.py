"""`Deal`: the cards of one deal, as games are scripted and recorded by."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.cards import DECK_SIZE, cards_text
from cribai.errors import RulesError
from cribai.rules import Rules


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of one deal.

    Attributes:
        hands: The cards dealt to each seat.
        starter: The card that will be turned, the first of two; None where players give starters.
        to_crib: The cards dealt from the deck to the crib, of two cribs to both in order of seats.
        second_starter: The second starter, where two are turned.
        stock: The cards that can be drawn, in order.
    """

    hands: tuple[tuple[int, ...], ...]
    starter: int | None
    to_crib: tuple[int, ...] = ()
    second_starter: int | None = None
    stock: tuple[int, ...] = ()

    @classmethod
    def of_state(cls, state: Any, rules: Rules) -> "Deal":
        """Returns the cards of the present deal of a STATE record."""
        cards = iter(state["deck"].tolist())

        def take(number: int) -> tuple[int, ...]:
            return tuple(next(cards) for _ in range(number))

        hands = tuple(take(rules.cards_dealt) for _ in range(rules.num_players))
        to_crib = take(rules.num_cribs * rules.crib_from_deck)
        starter, second = (*take(rules.num_turned), None, None)[:2]
        return cls(hands, starter, to_crib, second, take(rules.num_stock))

    def cards(self, rules: Rules) -> NDArray[np.int64]:
        """Returns the cards in the engine's order, checked against the rules.

        Raises:
            RulesError: The hands have the wrong number or size, or a card is dealt too often.
        """
        dealt = [card for hand in self.hands for card in hand]
        turned = [card for card in (self.starter, self.second_starter) if card is not None]
        cards = [*dealt, *self.to_crib, *turned, *self.stock]
        if (len(self.hands), {len(hand) for hand in self.hands}) != (
            rules.num_players,
            {rules.cards_dealt},
        ) or len(self.to_crib) != rules.num_cribs * rules.crib_from_deck:
            raise RulesError(
                f"A deal of {rules.name} has {rules.num_players} hands of {rules.cards_dealt} and"
                f" {rules.num_cribs * rules.crib_from_deck} cards to the crib from the deck, unlike"
                f" the deal {cards_text(cards)}."
            )
        if (len(turned), len(self.stock)) != (rules.num_turned, rules.num_stock):
            raise RulesError(
                f"A deal of {rules.name} turns {rules.num_turned} starters and has"
                f" {rules.num_stock} cards to draw, not {len(turned)} and {len(self.stock)};"
                " name them all."
            )
        if not _is_within(cards, rules):
            often = "twice" if rules.num_decks == 1 else "too often"
            raise RulesError(
                f"The deal {cards_text(cards)} has a card {often} or one that the deck lacks."
            )
        return np.array(cards, np.int64)


def _is_within(cards: Sequence[int], rules: Rules) -> bool:
    for card, number in Counter(cards).items():
        is_joker = DECK_SIZE <= card < DECK_SIZE + rules.num_jokers
        if number > (int(is_joker) if not 0 <= card < DECK_SIZE else rules.num_decks):
            return False
    return True
