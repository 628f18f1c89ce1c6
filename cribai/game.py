"""`Game`: one game of cribbage, a batch of one with a friendly face that also keeps events."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from cribai.cards import NO_CARD, cards_text
from cribai.deal import Deal
from cribai.engine import state as engine
from cribai.engine.simulate import deal_due, redeal, step_batch
from cribai.errors import IllegalActionError, RulesError
from cribai.events import Event, first_events, read_events
from cribai.game_batch import MAX_NUMBER, GameBatch, checked_integer, checked_seed
from cribai.match_points import MatchPoints, get_match_points
from cribai.rules import Rules, get_rules
from cribai.views import View


class Skunk(IntEnum):
    """How badly a side lost."""

    NONE = 0
    SINGLE = 1
    DOUBLE = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended.

    Attributes:
        winner: The side that won; None for a tie.
        scores: The final scores by side.
        skunks: How badly each side lost; NONE for the winner, and for all in a tie.
    """

    winner: int | None
    scores: tuple[int, ...]
    skunks: tuple[Skunk, ...]

    def match_points(self, table: str | MatchPoints = "plain") -> int:
        """Returns what the win is worth in a match, by the worst-placed loser; 0 for a tie."""
        points = get_match_points(table)
        return 0 if self.winner is None else points.worth(max(self.skunks))

    def __str__(self) -> str:
        """Returns who won, such as "side 0 wins", or "a tie"."""
        return "a tie" if self.winner is None else f"side {self.winner} wins"


class Game:
    """One game of cribbage, from the first deal to the target.

    Args:
        rules: Rules or a preset's name.
        seed: Seed of the deals, 0 to 2**64 - 1; None for a fresh one.
        pair: Number of the pair; with the seed it decides the deals.
        game: Number of the game in its pair; with the pair it decides the agents' random keys.
        first_dealer: The seat that deals first; None to cut for it.
        deals: The first deals, in order; later ones come from the seed.
        scores: Scores to start from, by side; None for those of the rules, mostly zero.

    Attributes:
        start_scores: The scores that the game started from, by side.
        dealt: The cards of each deal so far, hidden ones too.
        actions: The actions taken so far.
        events: What has happened so far.

    Raises:
        RulesError: The rules, seed, dealer, deals or scores do not make a game.
    """

    def __init__(
        self,
        rules: str | Rules = "standard",
        *,
        seed: int | None = None,
        pair: int = 0,
        game: int = 0,
        first_dealer: int | None = None,
        deals: Sequence[Deal] = (),
        scores: Sequence[int] | None = None,
    ) -> None:
        self.rules = get_rules(rules)
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.seed = int(checked_seed(seed))
        self.pair = checked_integer("pair", pair, 0, MAX_NUMBER)
        self.game = checked_integer("game", game, 0, MAX_NUMBER)
        self.deals = tuple(deals)
        self.dealt: list[Deal] = []
        self.actions: list[int] = []
        self.events: list[Event] = []
        self._scripted = [deal.cards(self.rules) for deal in self.deals]
        self._batch = GameBatch.start(
            1,
            self.rules,
            seed=self.seed,
            pairs=[self.pair],
            games=self.game,
            first_dealer=first_dealer,
        )
        self._state = self._batch.states[0]
        self._compiled = engine.compiled_rules(self.rules)
        self.start_scores = self._checked_scores(scores)
        self._begin_game()

    def _checked_scores(self, scores: Sequence[int] | None) -> tuple[int, ...]:
        if scores is None:
            return self.rules.start_scores(self.first_dealer)
        if len(scores) != self.rules.num_sides:
            raise RulesError(
                f"The scores {tuple(scores)} must be {self.rules.num_sides}, one for each side."
            )
        most = self.rules.target - 1
        return tuple(checked_integer("score", score, 0, most) for score in scores)

    def _begin_game(self) -> None:
        # The batch has dealt already, and a first starter may have scored: take that back.
        cards = self._scripted[0] if self._scripted else self.deal().cards(self.rules)
        self._state["scores"][: self.rules.num_sides] = self.start_scores
        self._state["points"] = 0
        self._state["times"] = 0
        self._state["winner"] = engine.NO_PLAYER
        redeal(self._batch.states, self._compiled, 0, cards)
        self._note_deal()

    def _begin_deal(self) -> None:
        number = self.deal_number + 1
        if number < len(self._scripted):
            self._state["num_deals"] += 1
            redeal(self._batch.states, self._compiled, 0, self._scripted[number])
        else:
            deal_due(self._batch.states, self._compiled, np.zeros(1, np.int64))
        self._note_deal()

    def _note_deal(self) -> None:
        self.dealt.append(self.deal())
        self.events.extend(first_events(self._state, self.rules))

    @property
    def is_over(self) -> bool:
        """Whether a side has reached the target."""
        return int(self._state["phase"]) == engine.OVER

    @property
    def is_discard(self) -> bool:
        """Whether a toss is due."""
        return int(self._state["phase"]) == engine.DISCARD

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores by side."""
        return tuple(int(score) for score in self._state["scores"][: self.rules.num_sides])

    @property
    def actor(self) -> int | None:
        """The seat whose decision is due, or None once the game is over."""
        return None if self.is_over else int(self._state["actor"])

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return int(self._state["dealer"])

    @property
    def first_dealer(self) -> int:
        """The seat that dealt first."""
        return int(self._state["first_dealer"])

    @property
    def deal_number(self) -> int:
        """Number of the present deal, from 0."""
        return int(self._state["num_deals"]) - 1

    @property
    def count(self) -> int:
        """The running total of the series."""
        return int(self._state["count"])

    @property
    def starter(self) -> int | None:
        """The starter, or None before it is turned."""
        starter = int(self._state["starter"])
        return None if starter == NO_CARD else starter

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """Every seat's cards, sorted: as dealt before its toss, then as kept."""
        hands = self._state["hands"][: self.rules.num_players]
        return tuple(tuple(int(card) for card in hand if card != NO_CARD) for hand in hands)

    @property
    def starters(self) -> tuple[int, ...]:
        """The starters turned so far, in order; those given by opponents by seat."""
        if not self.rules.is_varied:
            return () if self.starter is None else (self.starter,)
        rows = self._state["starters"][: self.rules.num_players if self.rules.num_given else 1]
        return tuple(card for row in rows.tolist() for card in row if card != NO_CARD)

    @property
    def crib(self) -> tuple[int, ...]:
        """The cards that lie in the crib, the dealer's own of two, in the order they came."""
        return self.cribs[self.dealer if self.rules.two_cribs else 0]

    @property
    def cribs(self) -> tuple[tuple[int, ...], ...]:
        """The cards that lie in each crib, in the order they came; two cribs by seat."""
        return tuple(
            tuple(self._state["crib"][row, : self._state["num_crib"][row]].tolist())
            for row in range(self.rules.num_cribs)
        )

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none once the game is over."""
        return [] if self.is_over else self.view().legal_actions

    def deal(self) -> Deal:
        """Returns the cards of the present deal, hidden ones too."""
        return Deal.of_state(self._state, self.rules)

    def view(self) -> View:
        """Returns what the player to act may know.

        Raises:
            IllegalActionError: The game is over.
        """
        if self.is_over:
            raise IllegalActionError("The game is over; no decision is due. Start a new game.")
        return self._batch.views()[0]

    def push(self, action: int) -> list[Event]:
        """Takes an action and returns what happened.

        Raises:
            IllegalActionError: The action is illegal here, or the game is over; nothing is changed.
        """
        if self.is_over:
            raise IllegalActionError("The game is over; no action can be taken. Start a new game.")
        if action not in self.legal_actions:
            raise IllegalActionError(
                f"Action {action!r} is illegal; the legal ones are {self.legal_actions}"
                f" ({self.view()})."
            )
        actions = np.array([action], np.int64)
        indices = np.zeros(1, np.int64)
        log = engine.new_log(enabled=True)
        before = self._batch.states.copy()[0]
        step_batch(self._batch.states, self._compiled, log, indices, actions)
        known = len(self.events)
        self.events.extend(read_events(before, log[0], self.rules))
        self.actions.append(int(action))
        if self._state["phase"] == engine.DEAL:
            self._begin_deal()
        return self.events[known:]

    def push_cards(self, *cards: int, rank: int | None = None) -> list[Event]:
        """Tosses, lays, throws away or gives cards, by the cards; see `push`.

        Args:
            cards: The cards.
            rank: The rank that a wild king is laid as.
        """
        return self.push(self.view().action_of(*cards, rank=rank))

    def push_number(self, number: int) -> list[Event]:
        """Bids, announces or claims a number of points; see `push`."""
        return self.push(self.view().action_of_number(number))

    def outcome(self) -> Outcome | None:
        """Returns how the game ended, or None while it goes on."""
        if not self.is_over:
            return None
        winner = int(self._state["winner"])
        if winner == engine.NO_PLAYER:
            return Outcome(None, self.scores, (Skunk.NONE,) * self.rules.num_sides)
        skunks = tuple(
            Skunk.NONE if side == winner else Skunk(self.rules.skunk_level(score))
            for side, score in enumerate(self.scores)
        )
        return Outcome(winner, self.scores, skunks)

    def copy(self) -> "Game":
        """Returns an independent copy that continues identically, random keys included."""
        twin = Game.__new__(Game)
        twin.__setstate__(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        kept = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("_state", "_compiled", "_batch")
        }
        return kept | {
            "dealt": list(self.dealt),
            "actions": list(self.actions),
            "events": list(self.events),
            "states": self._batch.states.copy(),
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        states = kept.pop("states")
        self.__dict__.update(kept)
        self._batch = GameBatch(states, self.rules)
        self._state = states[0]
        self._compiled = engine.compiled_rules(self.rules)

    def __str__(self) -> str:
        """Returns the table as text: scores, hands face up, crib, starter, series and count."""
        rules = self.rules
        scores = "-".join(map(str, self.scores))
        lines = [f"{rules.name}, deal {self.deal_number + 1}, {scores} of {rules.target}"]
        played = self._state["played"]
        for seat, hand in enumerate(self.hands):
            role = "dealer" if seat == self.dealer else "pone" if rules.num_players == 2 else ""
            mark = ">" if seat == self.actor else " "
            held = [card for slot, card in enumerate(hand) if not played[seat] >> slot & 1]
            laid = [card for slot, card in enumerate(hand) if played[seat] >> slot & 1]
            line = f"{mark} player {seat} {role:<6} {cards_text(held)}"
            lines.append(line + (f"  laid {cards_text(laid)}" if laid else ""))
        if self.starter is not None:
            length = int(self._state["series_length"])
            num_plays = int(self._state["num_plays"])
            series = self._state["play_cards"][num_plays - length : num_plays].tolist()
            line = f"  starter {cards_text(self.starters)}  count {self.count}"
            lines.append(f"{line}  series {cards_text(series)}".rstrip())
        lines.extend(f"  crib {cards_text(crib)}".rstrip() for crib in self.cribs)
        outcome = self.outcome()
        if outcome is not None:
            lines.append(f"  {outcome}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Game({self.rules.name!r}, seed={self.seed}, pair={self.pair}, game={self.game},"
            f" first_dealer={self.first_dealer})  # after {len(self.actions)} actions"
        )
