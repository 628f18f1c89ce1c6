"""What an agent sees: `ViewBatch` for a batch of decisions, `View` for one, readably.

A view holds what the player to act may know and nothing else; it has perfect recall within the
deal. What it shows is in `Sight`; here is what can be done about it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import KING, NUM_RANKS, RANK_NAMES, cards_text, rank_of, value_of
from cribai.engine.scoring import extend_series, play_points
from cribai.engine.state import ANNOUNCE, BID, DISCARD, DRAW, GIVE, compiled_rules
from cribai.engine.viewing import write_masks
from cribai.errors import IllegalActionError
from cribai.rules import Rules
from cribai.sight import Sight

PREPARATIONS: Final = (DISCARD, DRAW, BID, GIVE)
"""The phases before the starter is turned and the play begins."""


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


class View(Sight):
    """One decision as its player sees it.

    Properties give cards as integers (see `cribai.cards`); `str(view)` shows them as text.

    Args:
        record: One record of dtype `cribai.engine.state.VIEW`.
        rules: The rules of the game.
    """

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
        """The tosses to choose from, by legal action; empty when none is due."""
        if not (self.is_discard and self.is_due):
            return []
        return list(combinations(self.kept, self.rules.cards_tossed))

    @property
    def legal_cards(self) -> list[int]:
        """The cards that may be laid now, sorted; empty when none is due."""
        playable = int(self.record["playable"]) if self.is_play else 0
        return [card for slot, card in enumerate(self.kept) if playable >> slot & 1]

    @property
    def throws(self) -> list[tuple[int, ...]]:
        """The sets of cards that may be thrown away, by legal action; empty when none may."""
        return self._options(DRAW)

    @property
    def gifts(self) -> list[int]:
        """The cards that may be given to the opponent, by legal action; empty when none may."""
        return [card for (card,) in self._options(GIVE)]

    def _options(self, phase: int) -> list[tuple[int, ...]]:
        if int(self.record["phase"]) != phase or not self.is_due:
            return []
        return [self.cards_of(action) for action in self.legal_actions]

    @property
    def bids(self) -> list[int]:
        """The bids that may be made, 0 to pass; empty when none is due."""
        return self._numbers() if self.is_bid else []

    @property
    def announcements(self) -> list[int]:
        """The points that may be announced; empty when none are due."""
        return self._numbers() if self.is_announcement else []

    @property
    def claims(self) -> list[int]:
        """The points that may be claimed; empty when none are due."""
        return self._numbers() if self.is_claim else []

    def _numbers(self) -> list[int]:
        start = self._start
        return [action - start for action in self.legal_actions]

    @property
    def _start(self) -> int:
        """The first action of the numbers that the phase asks for."""
        rules = self.rules
        starts = {BID: rules.bids_start, ANNOUNCE: rules.announcements_start}
        return starts.get(int(self.record["phase"]), rules.claims_start)

    def action_of(self, *cards: int, rank: int | None = None) -> int:
        """Returns the action that tosses, lays, throws away or gives these cards.

        Args:
            cards: The cards.
            rank: The rank that a wild king is laid as; the highest that may be laid by default.

        Raises:
            IllegalActionError: The rules do not allow it here.
        """
        action = self._find_action(tuple(sorted(cards)), rank)
        if action is None or (rank is not None and self.rank_of(action) != rank):
            raise IllegalActionError(self._refusal(cards, rank))
        return action

    def _find_action(self, chosen: tuple[int, ...], rank: int | None) -> int | None:
        if self.is_discard and chosen in self.tosses:
            index = self.tosses.index(chosen)
            return self.legal_actions[index] if self.rules.two_cribs else index
        if self.is_play and len(chosen) == 1 and chosen[0] in self.legal_cards:
            action = self._lay(chosen[0], rank)
            if not self.rules.wild_kings or action in self.legal_actions:
                return action
        if (self.is_draw or self.is_gift) and self.is_due:
            for action in self.legal_actions:
                if self.cards_of(action) == chosen:
                    return action
        return None

    def _takes_rank(self, cards: tuple[int, ...], rank: int) -> bool:
        is_king = self.rules.wild_kings and len(cards) == 1 and rank_of(cards[0]) == KING
        return self.is_play and is_king and 0 <= rank < NUM_RANKS

    def _lay(self, card: int, rank: int | None) -> int:
        rules = self.rules
        playable = int(self.record["playable"])
        slots = [slot for slot, kept in enumerate(self.kept) if kept == card]
        slot = next(slot for slot in slots if playable >> slot & 1)
        if rules.wild_kings and int(self.record["kings"]) >> slot & 1:
            room = rules.thirty_one - self.count
            named = min(NUM_RANKS, room) - 1 if rank is None and room < value_of(card) else rank
            named = rank_of(card) if named is None else named
            return rules.kings_start + NUM_RANKS * slot + named
        return rules.num_tosses + slot

    def _refusal(self, cards: tuple[int, ...], rank: int | None) -> str:
        words = cards_text(cards) or "nothing"
        if rank is not None and not self._takes_rank(cards, rank):
            return (
                f"Cannot lay {words} as rank {rank}; a rank, 0 to {NUM_RANKS - 1}, is only for a"
                " king that is wild."
            )
        if self.is_discard:
            return (
                f"Cannot toss {words} from {cards_text(self.kept)};"
                f" toss {self.rules.cards_tossed} of these cards."
            )
        if self.is_play or self.is_over:
            named = "" if rank is None else f" as rank {rank}"
            return (
                f"Cannot lay {words}{named} at count {self.count};"
                f" the legal cards are {cards_text(self.legal_cards)}."
            )
        if self.is_draw:
            return f"Cannot throw away {words} of {cards_text(self.kept)}; keep one card or more."
        if self.is_gift:
            return f"Cannot give {words}; give one card of {cards_text(self.kept)}."
        return f"Cannot answer with {words}; a number of points is due."

    def action_of_number(self, number: int) -> int:
        """Returns the action that bids, announces or claims a number of points.

        Raises:
            IllegalActionError: The rules do not allow it here.
        """
        numbers = [*self.bids, *self.announcements, *self.claims]
        if number not in numbers:
            what = f"choose one of {numbers}" if numbers else "none is due"
            raise IllegalActionError(f"The number {number} is illegal here; {what}.")
        return self._start + number

    def number_of(self, action: int) -> int:
        """Returns the number that an action bids, announces or claims."""
        return action - self._start

    def cards_of(self, action: int) -> tuple[int, ...]:
        """Returns the cards that an action tosses, lays, throws away or gives."""
        rules = self.rules
        if action < rules.num_tosses:
            slots = next(
                islice(combinations(range(rules.cards_dealt), rules.cards_tossed), action, None)
            )
            return tuple(self.kept[slot] for slot in slots)
        if action < rules.kings_start:
            return (self.kept[action - rules.num_tosses],)
        if action < rules.throws_start:
            return (self.kept[(action - rules.kings_start) // NUM_RANKS],)
        if action < rules.gifts_start:
            bits = action - rules.throws_start
            return tuple(card for slot, card in enumerate(self.kept) if bits >> slot & 1)
        if action < rules.bids_start:
            return (self.kept[action - rules.gifts_start],)
        return ()

    def rank_of(self, action: int) -> int | None:
        """Returns the rank that an action lays a wild king as; None for other actions."""
        place = action - self.rules.kings_start
        is_king = 0 <= place < self.rules.throws_start - self.rules.kings_start
        return place % NUM_RANKS if is_king else None

    def action_text(self, action: int) -> str:
        """Returns an action in words, such as "toss 5H 6D" or "bid 4"."""
        rules = self.rules
        if action >= rules.bids_start:
            names = ((rules.claims_start, "claim"), (rules.announcements_start, "announce"))
            for start, name in (*names, (rules.bids_start, "bid")):
                if action >= start:
                    return f"{name} {action - start}"
        cards = cards_text(self.cards_of(action)) or "nothing"
        rank = self.rank_of(action)
        if rank is not None:
            return f"lay {cards} as {RANK_NAMES[rank]}"
        starts = ((rules.gifts_start, "give"), (rules.kings_start, "throw away"))
        for start, name in (*starts, (rules.num_tosses, "lay"), (0, "toss")):
            if action >= start:
                return f"{name} {cards}"
        raise IllegalActionError(f"The action {action} is none of 0 to {rules.num_actions - 1}.")

    def play_points(self, card: int, rank: int | None = None) -> int:
        """Returns what laying a card now would peg, a go or last card apart.

        Args:
            card: The card.
            rank: The rank that a wild king is laid as.
        """
        laid = card if rank is None else 4 * rank
        series = extend_series(int(self.record["series"]), laid)
        count = self.count + value_of(laid)
        return int(
            play_points(
                series, len(self.series) + 1, count, self.rules.fifteen, self.rules.thirty_one
            )
        )

    def __str__(self) -> str:
        role = "dealer" if self.is_dealer else "pone"
        scores = "-".join(str(score) for score in self.scores)
        parts = [f"{role} at {scores}", f"hand {cards_text(self.hand)}"]
        if self.rules.is_varied:
            parts.extend(self._variant_texts())
        if int(self.record["phase"]) not in PREPARATIONS:
            parts.append(f"tossed {cards_text(self.tossed)}")
            parts.append(f"starter {cards_text(self.starters)}" if self.starters else "no starter")
            laid = " ".join(
                f"{player}:{cards_text((card,))}"
                + ("" if rank == rank_of(card) else f" as {RANK_NAMES[rank]}")
                for (player, card), rank in zip(self.plays, self.play_ranks, strict=True)
            )
            parts.append(f"laid {laid or 'nothing'}, count {self.count}")
        return "; ".join(parts)

    def _variant_texts(self) -> list[str]:
        parts = []
        if self.starters and int(self.record["phase"]) in PREPARATIONS:
            parts.append(f"starter {cards_text(self.starters)}")
        if self.thrown:
            parts.append(f"threw away {cards_text(self.thrown)}")
        if self.given is not None:
            parts.append(f"gave {cards_text((self.given,))}")
        made = {player: bid for player, bid in enumerate(self.bids_made) if bid is not None}
        if made:
            parts.append("bids " + " ".join(f"{player}:{bid}" for player, bid in made.items()))
        if self.shown:
            what = "crib" if self.shown_is_crib else "hand"
            parts.append(f"{what} of {self.shown_player} shown {cards_text(self.shown)}")
        if self.is_claim:
            parts.append(f"announced {self.announced}")
        return parts

    def __repr__(self) -> str:
        return f"<View {self}>"
