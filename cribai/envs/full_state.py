"""Perfect information as an array, for critics that may see everything; never an observation."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.cards import NO_CARD
from cribai.rules import Rules


class StateEncoding:
    """One int16 vector of a game's state.

    With p players and d cards in the deck, in order, by seat:

    - p * d: 1 for each card held: those dealt, then those kept and not yet laid.
    - p * d: for each card laid in this deal, its place in the order of laying, from 1.
    - p * d: 1 for each card tossed.
    - d: 1 for each card dealt from the deck to the crib.
    - d: 1 for the starter, also before it is turned.
    - 1: whether it is turned; 1: the count; 1: cards of the present series.
    - p each: scores; who deals; who is to act.

    Attributes:
        space: The space of the vector.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        players, deck = rules.num_players, rules.deck_size
        sizes_and_highs = (
            (players * deck, 1),
            (players * deck, players * rules.cards_kept),
            (players * deck, 1),
            (2 * deck + 1, 1),
            (1, rules.thirty_one),
            (1, players * rules.cards_kept),
            (players, rules.target),
            (2 * players, 1),
        )
        high = np.concatenate([np.full(size, high) for size, high in sizes_and_highs])
        self.space = spaces.Box(
            np.zeros_like(high, np.int16), high.astype(np.int16), dtype=np.int16
        )

    def encode(self, state: Any) -> NDArray[np.int16]:
        """Returns a STATE record as a new vector."""
        rules = self.rules
        players, deck = rules.num_players, rules.deck_size
        held = np.zeros((players, deck), np.int16)
        laid = np.zeros((players, deck), np.int16)
        tossed = np.zeros((players, deck), np.int16)
        from_deck = np.zeros(deck, np.int16)
        starter = np.zeros(deck, np.int16)
        for seat in range(players):
            for slot, card in enumerate(state["hands"][seat].tolist()):
                if card != NO_CARD and not int(state["played"][seat]) >> slot & 1:
                    held[seat, card] = 1
            for card in state["tosses"][seat].tolist():
                if card != NO_CARD:
                    tossed[seat, card] = 1
        for place in range(int(state["num_plays"])):
            laid[state["play_players"][place], state["play_cards"][place]] = place + 1
        dealt = players * rules.cards_dealt
        from_deck[state["deck"][dealt : dealt + rules.crib_from_deck]] = 1
        starter[state["deck"][dealt + rules.crib_from_deck]] = 1
        numbers = [state["starter"] != NO_CARD, state["count"], state["series_length"]]
        sides = [rules.side_of(seat) for seat in range(players)]
        seats = np.arange(players)
        return np.concatenate(
            [
                held.ravel(),
                laid.ravel(),
                tossed.ravel(),
                from_deck,
                starter,
                numbers,
                state["scores"][sides],
                seats == state["dealer"],
                seats == state["actor"],
            ],
            dtype=np.int16,
            casting="unsafe",
        )
