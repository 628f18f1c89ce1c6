"""What an agent sees: `ViewBatch` for a batch of decisions, `View` for one, readably.

A view holds what the player to act may know and nothing else; it has perfect recall within the
deal. Fields by player are in turn order from the viewer: place 0 is his own, 1 his left's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.cards import NO_CARD, card_text, cards_text, value_of
from cribai.engine.scoring import extend_series, play_points
from cribai.engine.state import DISCARD, NO_GO, OVER, compiled_rules
from cribai.engine.viewing import write_masks
from cribai.errors import IllegalActionError
from cribai.rules import Rules


@dataclass(frozen=True, slots=True)
class ViewBatch:
    """The views of a batch of decisions, one row each.

    Attributes:
        array: Structured array (n,) of dtype `cribai.engine.state.VIEW`; the fields are described
            there.
        rules: The rules that all the games are played by.
    """

    array: NDArray[Any]
    rules: Rules

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: int) -> "View":
        return View(self.array[index].copy(), self.rules)

    def __iter__(self) -> Iterator["View"]:
        return (self[index] for index in range(len(self)))

    def action_masks(self) -> NDArray[np.int8]:
        """Returns the legal actions, int8 array (n, num_actions), 1 for legal."""
        masks = np.zeros((len(self), self.rules.num_actions), np.int8)
        write_masks(self.array, compiled_rules(self.rules), masks)
        return masks


class View:
    """One decision as its player sees it.

    Properties give cards as integers (see `cribai.cards`); `str(view)` shows them as text.

    Args:
        record: One record of dtype `cribai.engine.state.VIEW`.
        rules: The rules of the game.
    """

    def __init__(self, record: Any, rules: Rules) -> None:
        self.record = record
        self.rules = rules

    @property
    def game(self) -> int:
        """The caller's number of the game."""
        return int(self.record["game"])

    @property
    def deal(self) -> int:
        """Number of the deal in the game, from 0."""
        return int(self.record["deal"])

    @property
    def decision(self) -> int:
        """Decisions taken in the game before this one."""
        return int(self.record["decision"])

    @property
    def key(self) -> int:
        """The decision's random key, 64 bits; chance drawn from it ignores the batch's size."""
        return int(self.record["key"])

    @property
    def player(self) -> int:
        """The viewer's seat."""
        return int(self.record["player"])

    @property
    def is_due(self) -> bool:
        """Whether the viewer's decision is due; environments also show views when none is."""
        return int(self.record["num_legal"]) > 0

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return int(self.record["phase"]) == OVER

    @property
    def is_discard(self) -> bool:
        """Whether the deal's tosses are being made; else its cards are laid."""
        return int(self.record["phase"]) == DISCARD

    @property
    def is_dealer(self) -> bool:
        """Whether the viewer deals, and so owns the crib."""
        return int(self.record["dealer"]) == 0

    @property
    def dealer(self) -> int:
        """The dealer, in turn order from the viewer."""
        return int(self.record["dealer"])

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of each player's side, in turn order from the viewer."""
        return tuple(int(score) for score in self.record["scores"][: self.rules.num_players])

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The viewer's cards, sorted: those dealt before the toss, then all those kept."""
        return tuple(int(card) for card in self.record["hand"] if card != NO_CARD)

    @property
    def hand(self) -> tuple[int, ...]:
        """The cards in the viewer's hand, sorted: those dealt, then those kept and not yet laid."""
        played = int(self.record["played"])
        if self.is_discard:
            return self.kept
        return tuple(card for slot, card in enumerate(self.kept) if not played >> slot & 1)

    @property
    def tossed(self) -> tuple[int, ...]:
        """What the viewer tossed in this deal; empty before."""
        return tuple(int(card) for card in self.record["tossed"] if card != NO_CARD)

    @property
    def starter(self) -> int | None:
        """The starter, or None before it is turned."""
        starter = int(self.record["starter"])
        return None if starter == NO_CARD else starter

    @property
    def count(self) -> int:
        """The running total of the series, 0 to 31."""
        return int(self.record["count"])

    @cached_property
    def plays(self) -> tuple[tuple[int, int], ...]:
        """The cards laid in this deal in order, as (player in turn order from the viewer, card)."""
        num_plays = int(self.record["num_plays"])
        players = self.record["play_players"][:num_plays]
        cards = self.record["play_cards"][:num_plays]
        return tuple((int(player), int(card)) for player, card in zip(players, cards, strict=True))

    @property
    def series(self) -> tuple[int, ...]:
        """The cards laid since the count was last reset."""
        length = int(self.record["series_length"])
        return tuple(card for _, card in self.plays[len(self.plays) - length :])

    @property
    def num_left(self) -> tuple[int, ...]:
        """How many cards each player has yet to lay, in turn order from the viewer."""
        return tuple(int(number) for number in self.record["num_left"][: self.rules.num_players])

    @property
    def go_counts(self) -> tuple[int | None, ...]:
        """The lowest count at which each player had to say go in this deal, or None.

        A go at count c means that the player holds no card of value 31 - c or less from then on.
        """
        counts = self.record["go_counts"][: self.rules.num_players]
        return tuple(None if count == NO_GO else int(count) for count in counts)

    @cached_property
    def action_mask(self) -> NDArray[np.int8]:
        """The legal actions, int8 array (num_actions,), 1 for legal."""
        array = np.array([self.record], self.record.dtype)
        mask: NDArray[np.int8] = ViewBatch(array, self.rules).action_masks()[0]
        return mask

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions, ascending."""
        return [int(action) for action in np.flatnonzero(self.action_mask)]

    @property
    def tosses(self) -> list[tuple[int, ...]]:
        """The tosses to choose from, by action; empty when a card is to be laid."""
        if not (self.is_discard and self.is_due):
            return []
        return list(combinations(self.kept, self.rules.cards_tossed))

    @property
    def legal_cards(self) -> list[int]:
        """The cards that may be laid now, sorted; empty when a toss is due."""
        playable = int(self.record["playable"])
        return (
            []
            if self.is_discard
            else [card for slot, card in enumerate(self.kept) if playable >> slot & 1]
        )

    def action_of(self, *cards: int) -> int:
        """Returns the action that tosses these cards, or lays this one.

        Raises:
            IllegalActionError: The rules do not allow it here.
        """
        chosen = tuple(sorted(cards))
        if self.is_discard and chosen in self.tosses:
            return self.tosses.index(chosen)
        if not self.is_discard and len(chosen) == 1 and chosen[0] in self.legal_cards:
            return self.rules.num_tosses + self.kept.index(chosen[0])
        if self.is_discard:
            raise IllegalActionError(
                f"Cannot toss {cards_text(cards) or 'nothing'} from {cards_text(self.kept)};"
                f" toss {self.rules.cards_tossed} of these cards."
            )
        raise IllegalActionError(
            f"Cannot lay {cards_text(cards) or 'nothing'} at count {self.count};"
            f" the legal cards are {cards_text(self.legal_cards)}."
        )

    def cards_of(self, action: int) -> tuple[int, ...]:
        """Returns the cards that an action tosses or lays."""
        if action < self.rules.num_tosses:
            return tuple(combinations(self.kept, self.rules.cards_tossed))[action]
        return (self.kept[action - self.rules.num_tosses],)

    def play_points(self, card: int) -> int:
        """Returns what laying a card now would peg, a go or last card apart."""
        series = extend_series(int(self.record["series"]), card)
        count = self.count + value_of(card)
        return int(
            play_points(
                series, len(self.series) + 1, count, self.rules.fifteen, self.rules.thirty_one
            )
        )

    def __str__(self) -> str:
        role = "dealer" if self.is_dealer else "pone"
        scores = "-".join(str(score) for score in self.scores)
        parts = [f"{role} at {scores}", f"hand {cards_text(self.hand)}"]
        if not self.is_discard:
            parts.append(f"tossed {cards_text(self.tossed)}")
            parts.append(
                f"starter {card_text(self.starter)}" if self.starter is not None else "no starter"
            )
            laid = " ".join(f"{player}:{card_text(card)}" for player, card in self.plays)
            parts.append(f"laid {laid or 'nothing'}, count {self.count}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"<View {self}>"
