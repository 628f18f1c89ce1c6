"""The fields that the variants add to an observation: when each exists, and how it is filled.

The table `VARIANT_FIELDS` has them in order. Each is written from an array of views and read back
into a view's record; the fields of every game are in `named`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import DECK_SIZE, NO_CARD, NUM_RANKS, NUM_SUITS
from cribai.engine.state import NUM_PHASES
from cribai.rules import MAX_BID, Rules

Array = NDArray[Any]


def num_cards(rules: Rules) -> int:
    """Returns how many different cards there are, jokers among them."""
    return DECK_SIZE + rules.num_jokers


def num_ranks(rules: Rules) -> int:
    """Returns how many ranks there are, the jokers' among them if there are jokers."""
    return NUM_RANKS + (rules.num_jokers > 0)


def _num_plays(rules: Rules) -> int:
    return rules.num_players * rules.cards_kept


def _most_thrown(rules: Rules) -> int:
    return rules.num_stock // rules.num_players


def _most_cards_shown(rules: Rules) -> int:
    return max(rules.cards_kept, rules.crib_size)


def _card_row(rules: Rules) -> tuple[int, ...]:
    return (num_ranks(rules) + NUM_SUITS,)


def _num_starters(rules: Rules) -> int:
    return rules.num_players if rules.chosen_starter else rules.num_starters


def cards_of_set(numbers: Array) -> list[int]:
    """Returns the cards, sorted, of which there are so many each."""
    cards: list[int] = np.repeat(np.arange(len(numbers)), np.asarray(numbers, np.int64)).tolist()
    return cards


def _card_rows(cards: Array, rules: Rules) -> Array:
    """Returns a row a card, its rank and its suit one of each 1; rows of NO_CARD are 0."""
    ranks = num_ranks(rules)
    found = np.zeros((*cards.shape, ranks + NUM_SUITS), np.int8)
    rows, places = np.nonzero(cards != NO_CARD)
    chosen = cards[rows, places]
    found[rows, places, chosen >> 2] = 1
    found[rows, places, ranks + (chosen & 3)] = 1
    return found


def _cards_of_rows(rows: Array) -> list[int]:
    used = [row for row in rows if row.any()]
    return [int(4 * row[:-NUM_SUITS].argmax() + row[-NUM_SUITS:].argmax()) for row in used]


def _one_hot(places: Array, size: int) -> Array:
    """Returns rows with a 1 in a place each; those of places below zero are 0."""
    return np.asarray(places[:, None] == np.arange(size), np.int8)


def _place_of(row: Array) -> int:
    """Returns the place of the 1, or -1 if there is none."""
    return int(row.argmax()) if row.any() else -1


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an observation.

    Attributes:
        name: Its name.
        is_in: Tells whether the rules need it.
        shape: Returns its shape under the rules.
        high: Returns its greatest value; the least is 0.
        write: Returns it, (n, *shape), of a VIEW array (n,).
        kept_in: The field of a VIEW record that it is read back into.
        read: Returns what that begins with.
        dtype: Its type.
    """

    name: str
    is_in: Callable[[Rules], bool]
    shape: Callable[[Rules], tuple[int, ...]]
    high: Callable[[Rules], int]
    write: Callable[[Array, Rules], Array]
    kept_in: str
    read: Callable[[Array, Rules], Any]
    dtype: type = np.int8

    def put(self, record: Any, values: Array, rules: Rules) -> None:
        """Puts the field's values into a VIEW record, which is modified in place."""
        found = self.read(values, rules)
        if np.ndim(found):
            record[self.kept_in][: len(found)] = found
        else:
            record[self.kept_in] = found


def _write_starters(views: Array, rules: Rules) -> Array:
    starters = views["starters"]
    # Turned starters are everybody's, given ones each player's own.
    rows = starters[:, : rules.num_players, 0] if rules.chosen_starter else starters[:, 0]
    return np.stack(
        [_one_hot(row, num_cards(rules)) for row in rows[:, : _num_starters(rules)].T], 1
    )


def _read_starters(field: Array, rules: Rules) -> list[list[int]]:
    cards = [_place_of(row) for row in field]
    if rules.chosen_starter:
        return [[card, NO_CARD] for card in cards]
    return [cards] * rules.num_players


def _write_ranks(views: Array, rules: Rules) -> Array:
    ranks = views["play_ranks"][:, : _num_plays(rules)]
    return np.stack([_one_hot(row, num_ranks(rules)) for row in ranks.T], 1)


def _by_player(rules: Rules) -> tuple[int, ...]:
    return (rules.num_players,)


def _by_card(rules: Rules) -> tuple[int, ...]:
    return (num_cards(rules),)


def _alone(_: Rules) -> tuple[int, ...]:
    return (1,)


def _one(_: Rules) -> int:
    return 1


def _has_stock(rules: Rules) -> bool:
    return rules.num_stock > 0


def _has_bids(rules: Rules) -> bool:
    return rules.bid


def _has_claims(rules: Rules) -> bool:
    return rules.muggins


VARIANT_FIELDS: Final = (
    Field(
        "slots_laid",
        lambda rules: rules.num_decks > 1,
        lambda rules: (rules.cards_kept,),
        _one,
        lambda views, rules: views["played"][:, None] >> np.arange(rules.cards_kept) & 1,
        "played",
        lambda field, _: sum(1 << slot for slot in np.flatnonzero(field).tolist()),
    ),
    Field(
        "phase",
        lambda rules: rules.is_varied,
        lambda _: (NUM_PHASES,),
        _one,
        lambda views, _: _one_hot(views["phase"], NUM_PHASES),
        "phase",
        lambda field, _: _place_of(field),
    ),
    Field(
        "starters",
        lambda rules: rules.num_starters > 1 or rules.chosen_starter,
        lambda rules: (_num_starters(rules), num_cards(rules)),
        _one,
        _write_starters,
        "starters",
        _read_starters,
    ),
    Field(
        "given",
        lambda rules: rules.chosen_starter,
        _by_card,
        _one,
        lambda views, rules: _one_hot(views["given"], num_cards(rules)),
        "given",
        lambda field, _: _place_of(field),
    ),
    Field(
        "num_thrown",
        _has_stock,
        _by_player,
        _most_thrown,
        lambda views, rules: views["num_thrown"][:, : rules.num_players],
        "num_thrown",
        lambda field, _: field,
    ),
    Field(
        "thrown",
        _has_stock,
        lambda rules: (_most_thrown(rules), *_card_row(rules)),
        _one,
        lambda views, rules: _card_rows(views["thrown"][:, : _most_thrown(rules)], rules),
        "thrown",
        lambda field, _: _cards_of_rows(field),
    ),
    Field(
        "tosses",
        lambda rules: rules.two_cribs,
        lambda rules: (2 * rules.cards_tossed, *_card_row(rules)),
        _one,
        lambda views, rules: _card_rows(views["tossed"][:, : 2 * rules.cards_tossed], rules),
        "tossed",
        lambda field, _: _cards_of_rows(field),
    ),
    Field(
        "bids",
        _has_bids,
        _by_player,
        lambda _: MAX_BID + 1,
        lambda views, rules: views["bids"][:, : rules.num_players] + 1,
        "bids",
        lambda field, _: field - 1,
    ),
    Field(
        "crib_owner",
        _has_bids,
        _by_player,
        _one,
        lambda views, rules: _one_hot(views["crib_owner"], rules.num_players),
        "crib_owner",
        lambda field, _: _place_of(field),
    ),
    Field(
        "play_ranks",
        lambda rules: rules.wild_kings,
        lambda rules: (_num_plays(rules), num_ranks(rules)),
        _one,
        _write_ranks,
        "play_ranks",
        lambda field, _: [_place_of(row) for row in field],
    ),
    Field(
        "announced",
        _has_claims,
        _alone,
        lambda rules: rules.most_shown,
        lambda views, _: views["announced"][:, None],
        "announced",
        lambda field, _: field[0],
        np.int16,
    ),
    Field(
        "shown",
        _has_claims,
        lambda rules: (_most_cards_shown(rules), *_card_row(rules)),
        _one,
        lambda views, rules: _card_rows(views["shown"][:, : _most_cards_shown(rules)], rules),
        "shown",
        lambda field, _: _cards_of_rows(field),
    ),
    Field(
        "shown_player",
        _has_claims,
        _by_player,
        _one,
        lambda views, rules: _one_hot(views["shown_player"], rules.num_players),
        "shown_player",
        lambda field, _: _place_of(field),
    ),
    Field(
        "shown_is_crib",
        _has_claims,
        _alone,
        _one,
        lambda views, _: views["shown_is_crib"][:, None],
        "shown_is_crib",
        lambda field, _: field[0],
    ),
)
"""In the order in which observations have them, after the fields of every game."""
