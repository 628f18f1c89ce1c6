"""Perfect information as an array, for critics that may see everything; never an observation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.cards import NO_CARD
from cribai.engine.state import ANNOUNCE, CLAIM, NUM_PHASES, compiled_rules, state_dtype
from cribai.envs.bounds import most_score
from cribai.envs.variant_fields import num_cards, num_ranks
from cribai.rules import MAX_BID, Rules

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the vector.

    Attributes:
        is_in: Tells whether the rules need it.
        high: Returns its greatest value; the least is 0.
        read: Returns it, of any shape, of a STATE record.
    """

    is_in: Callable[[Rules], bool]
    high: Callable[[Rules], int]
    read: Callable[[Any, Rules], Any]


def _card_set(cards: Iterable[int], rules: Rules) -> Array:
    """Returns how many of each card there are."""
    found = np.zeros(num_cards(rules), np.int16)
    for card in cards:
        if card != NO_CARD:
            found[card] += 1
    return found


def _by_seat(cards: Array, rules: Rules) -> list[Array]:
    return [_card_set(row, rules) for row in cards[: rules.num_players].tolist()]


def _held(state: Any, rules: Rules) -> list[Array]:
    return [
        _card_set(
            (card for slot, card in enumerate(hand) if not int(played) >> slot & 1),
            rules,
        )
        for hand, played in zip(state["hands"].tolist(), state["played"], strict=True)
    ][: rules.num_players]


def _places(cards: Iterable[int], places: Iterable[int], rules: Rules) -> Array:
    """Returns the place of each card, 0 of others, with a row for each of several equal cards."""
    found = np.zeros((rules.num_decks, num_cards(rules)), np.int16)
    for card, place in zip(cards, places, strict=True):
        found[np.count_nonzero(found[:, card]), card] = place
    return found


def _laid(state: Any, rules: Rules) -> list[Array]:
    cards = state["play_cards"][: state["num_plays"]]
    players = state["play_players"][: state["num_plays"]]
    rows = [np.flatnonzero(players == seat) for seat in range(rules.num_players)]
    return [_places(cards[row].tolist(), (row + 1).tolist(), rules) for row in rows]


def _from_deck(state: Any, rules: Rules) -> Array:
    first = rules.num_players * rules.cards_dealt
    cards = state["deck"][first : first + rules.num_cribs * rules.crib_from_deck]
    return _card_set(cards.tolist(), rules)


def _turned(state: Any, rules: Rules) -> list[Array]:
    first = rules.cards_needed - rules.num_stock - rules.num_turned
    cards = state["deck"][first : first + rules.num_turned].tolist()
    return [_card_set([card], rules) for card in cards]


def _num_turned(state: Any, rules: Rules) -> int:
    if rules.num_starters > 1:
        return int(np.count_nonzero(state["starters"][0] != NO_CARD))
    return int(state["starter"] != NO_CARD)


def _stock(state: Any, rules: Rules) -> Array:
    first = rules.cards_needed - rules.num_stock + int(state["num_thrown"].sum())
    cards = state["deck"][first : rules.cards_needed].tolist()
    return _places(cards, range(1, len(cards) + 1), rules)


def _scores(state: Any, rules: Rules) -> Array:
    scores: Array = state["scores"][[rules.side_of(seat) for seat in range(rules.num_players)]]
    return scores


def _count_due(state: Any, _: Rules) -> int:
    return int(state["show_step"]) + 1 if state["phase"] in (ANNOUNCE, CLAIM) else 0


def _place(number: Any, size: int) -> Array:
    return np.asarray(np.arange(size) == number)


def _num_plays(rules: Rules) -> int:
    return rules.num_players * rules.cards_kept


def _num_counts(rules: Rules) -> int:
    return rules.num_players + rules.num_cribs


def _always(_: Rules) -> bool:
    return True


def _one(_: Rules) -> int:
    return 1


def _num_decks(rules: Rules) -> int:
    return rules.num_decks


PARTS: Final = (
    Part(_always, _num_decks, _held),
    Part(_always, _num_plays, _laid),
    Part(_always, _num_decks, lambda state, rules: _by_seat(state["tosses"], rules)),
    Part(_always, _num_decks, _from_deck),
    Part(lambda rules: not rules.chosen_starter, _one, _turned),
    Part(_always, lambda rules: rules.num_starters, _num_turned),
    Part(_always, lambda rules: rules.thirty_one, lambda state, _: state["count"]),
    Part(_always, _num_plays, lambda state, _: state["series_length"]),
    Part(_always, most_score, _scores),
    Part(_always, _one, lambda state, rules: _place(state["dealer"], rules.num_players)),
    Part(_always, _one, lambda state, rules: _place(state["actor"], rules.num_players)),
    Part(
        lambda rules: rules.is_varied,
        _one,
        lambda state, _: _place(state["phase"], NUM_PHASES),
    ),
    Part(
        lambda rules: rules.chosen_starter,
        _one,
        lambda state, rules: _by_seat(state["given"][:, None], rules),
    ),
    Part(
        lambda rules: rules.num_stock > 0,
        _num_decks,
        lambda state, rules: _by_seat(state["thrown"], rules),
    ),
    Part(lambda rules: rules.num_stock > 0, lambda rules: rules.num_stock, _stock),
    Part(
        lambda rules: rules.two_cribs,
        _num_decks,
        lambda state, rules: [
            _card_set(row[:number], rules)
            for row, number in zip(state["crib"].tolist(), state["num_crib"], strict=True)
        ],
    ),
    Part(
        lambda rules: rules.bid,
        lambda _: MAX_BID + 1,
        lambda state, rules: state["bids"][: rules.num_players] + 1,
    ),
    Part(
        lambda rules: rules.bid,
        _one,
        lambda state, rules: _place(state["crib_owner"], rules.num_players),
    ),
    Part(
        lambda rules: rules.wild_kings,
        num_ranks,
        lambda state, rules: np.where(
            np.arange(_num_plays(rules)) < state["num_plays"],
            state["play_ranks"][: _num_plays(rules)] + 1,
            0,
        ),
    ),
    Part(
        lambda rules: rules.muggins,
        lambda rules: rules.most_shown,
        lambda state, _: state["announced"],
    ),
    Part(lambda rules: rules.muggins, _num_counts, _count_due),
)
"""The parts in order."""


class StateEncoding:
    """One int16 vector of a game's state.

    With p players, k cards kept by each, d different cards and n decks, in order, by seat:

    - p * d: cards held, how many of each: those dealt, then those kept and not yet laid.
    - p * n * d: for each card laid in this deal, its place in the order of laying, from 1.
    - p * d: cards tossed.
    - d: cards dealt from the deck to the crib.
    - d for each starter from the deck: 1 for it, also before it is turned.
    - 1: how many starters are turned; 1: the count; 1: cards of the present series.
    - p each: scores; who deals; who is to act.

    Variants add those of these that their rules need:

    - 9: the phase, as `cribai.engine.state` numbers them.
    - p * d: cards given.
    - p * d: cards thrown away.
    - n * d: for each card that can still be drawn, its place in that order, from 1.
    - 2 * d: the cards in each player's crib.
    - p each: one more than the bids, 0 before; whose the crib is.
    - p * k: for each card laid, one more than the rank under which it was.
    - 1: the points announced; 1: which of the counts of the show is due, from 1, or 0.

    Attributes:
        space: The space of the vector.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._parts = [part for part in PARTS if part.is_in(rules)]
        blank = np.zeros(1, state_dtype(rules))[0]
        blank["deck"] = compiled_rules(rules)[0]["deck"][: len(blank["deck"])]
        high = np.concatenate(
            [
                np.full(np.size(part.read(blank, rules)), part.high(rules), np.int16)
                for part in self._parts
            ]
        )
        self.space = spaces.Box(np.zeros_like(high), high, dtype=np.int16)

    def __reduce__(self) -> tuple[Any, ...]:
        # All of it follows from the rules; the functions of the parts cannot be pickled.
        return StateEncoding, (self.rules,)

    def encode(self, state: Any) -> NDArray[np.int16]:
        """Returns a STATE record as a new vector."""
        values = [np.ravel(part.read(state, self.rules)) for part in self._parts]
        return np.concatenate(values, dtype=np.int16, casting="unsafe")
