"""What happened in a game, in words: the engine's event log read with the cards on the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations
from typing import Any

from cribai.cards import JACK, NO_CARD, RANK_NAMES, cards_text, rank_of, value_of
from cribai.counting import count_play, count_show, number_word
from cribai.engine import state as engine
from cribai.engine.starters import HEELS_POINTS
from cribai.rules import Rules


class EventKind(IntEnum):
    """What happened; the values are the engine's."""

    TOSS = engine.TOSS
    STARTER = engine.TURN_STARTER
    HEELS = engine.HEELS
    LAY = engine.LAY
    GO = engine.GO
    GO_POINT = engine.GO_POINT
    LAST_CARD = engine.LAST_CARD
    SHOW_HAND = engine.SHOW_HAND
    SHOW_CRIB = engine.SHOW_CRIB
    WIN = engine.WIN
    THROW = engine.THROW
    GIVE = engine.GIVE_CARD
    BID = engine.MAKE_BID
    MISSED_BID = engine.MISS_BID
    ANNOUNCE = engine.ANNOUNCE_POINTS
    CLAIM = engine.CLAIM_POINTS
    TIE = engine.TIE


DECISIONS = (
    EventKind.TOSS,
    EventKind.LAY,
    EventKind.THROW,
    EventKind.GIVE,
    EventKind.BID,
    EventKind.ANNOUNCE,
    EventKind.CLAIM,
)
"""What players decide: there is one such event for each action."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a game.

    Attributes:
        kind: What it was.
        deal: Number of the deal, from 0.
        player: The seat it concerns; -1 for a tie.
        points: Points it was worth; the score may have risen by less at the end of the game. Below
            zero only for a missed bid.
        cards: The cards tossed, laid, turned, shown, thrown away or given.
        call: What a player would say, such as "fifteen for two"; empty when nothing is said.
        rank: The rank that a wild king was laid as, or None.
    """

    kind: EventKind
    deal: int
    player: int
    points: int
    cards: tuple[int, ...]
    call: str
    rank: int | None = None

    def __str__(self) -> str:
        words = [
            f"player {self.player}" if self.player >= 0 else "",
            self.kind.name.lower().replace("_", " "),
            cards_text(self.cards),
            f"as {RANK_NAMES[self.rank]}" if self.rank is not None else "",
        ]
        return " ".join(word for word in words if word) + (f": {self.call}" if self.call else "")


def first_events(state: Any, rules: Rules) -> list[Event]:
    """Returns what happened as a deal began: the first of two starters, and its heels.

    Args:
        state: STATE record at the beginning of a deal.
        rules: The rules.
    """
    if rules.num_turned < 2:
        return []
    deal = int(state["num_deals"]) - 1
    dealer = int(state["dealer"])
    starter = int(state["starter"])
    events = [Event(EventKind.STARTER, deal, dealer, 0, (starter,), "")]
    if rank_of(starter) == JACK:
        call = f"heels for {number_word(HEELS_POINTS)}"
        events.append(Event(EventKind.HEELS, deal, dealer, HEELS_POINTS, (), call))
    if state["phase"] == engine.OVER:
        winner = (dealer + 1) % rules.num_players if rules.lowball else dealer
        events.append(Event(EventKind.WIN, deal, winner, 0, (), ""))
    return events


def read_events(before: Any, log: Any, rules: Rules) -> list[Event]:
    """Returns what happened in one step.

    Args:
        before: STATE record before the step.
        log: LOG record of the step.
        rules: The rules.
    """
    reader = _Reader(before, rules)
    return [
        reader.read(EventKind(kind), player, points, detail)
        for kind, player, points, detail in log["events"][: log["num_events"]].tolist()
    ]


class _Reader:
    """Reads the events of one step in order, keeping the series in mind."""

    def __init__(self, before: Any, rules: Rules) -> None:
        self.before = before
        self.rules = rules
        self.deal = int(before["num_deals"]) - 1
        length = int(before["series_length"])
        laid = int(before["num_plays"])
        field = "play_ranks" if rules.wild_kings else "play_cards"
        scale = 4 if rules.wild_kings else 1
        self.series = [scale * int(item) for item in before[field][laid - length : laid]]
        self.count = int(before["count"])

    def read(self, kind: EventKind, player: int, points: int, detail: int) -> Event:
        cards: tuple[int, ...] = ()
        call = ""
        rank = None
        if kind == EventKind.TOSS:
            hand = self.before["hands"][player][: self.rules.cards_dealt].tolist()
            cards = tuple(combinations(hand, self.rules.cards_tossed))[detail]
        elif kind in (EventKind.STARTER, EventKind.GIVE):
            cards = (detail,)
        elif kind == EventKind.HEELS:
            call = f"heels for {number_word(points)}"
        elif kind == EventKind.LAY:
            cards = (detail % engine.NAMED,)
            if detail >= engine.NAMED:
                rank = detail // engine.NAMED - 1
            call = self._lay(cards[0] if rank is None else 4 * rank, points)
        elif kind == EventKind.GO:
            call = "go"
        elif kind == EventKind.GO_POINT:
            call = "go for one" if points else "go for none in the stinkhole"
        elif kind == EventKind.LAST_CARD:
            call = "last card for one" if points else "last card for none in the stinkhole"
        elif kind in (EventKind.SHOW_HAND, EventKind.SHOW_CRIB):
            cards, call = self._show(kind, player, points)
        elif kind == EventKind.THROW:
            hand = self.before["hands"][player].tolist()
            cards = tuple(card for slot, card in enumerate(hand) if detail >> slot & 1)
            call = "" if cards else "none"
        elif kind == EventKind.BID:
            call = number_word(detail) if detail else "pass"
        elif kind == EventKind.MISSED_BID:
            call = f"a bid of {number_word(detail)} is missed"
        elif kind == EventKind.ANNOUNCE:
            call = number_word(detail)
        elif kind == EventKind.CLAIM:
            call = f"muggins for {number_word(detail)}" if detail else "none missed"
            call += ", which gets nothing" if detail > points else ""
        return Event(kind, self.deal, player, points, cards, call, rank)

    def _lay(self, laid: int, points: int) -> str:
        self.series.append(laid)
        self.count += value_of(laid)
        if not points:
            return number_word(self.count)
        return f"{count_play(self.series, self.count, self.rules)[1]} for {number_word(points)}"

    def _show(self, kind: EventKind, player: int, points: int) -> tuple[tuple[int, ...], str]:
        before, rules = self.before, self.rules
        is_crib = kind == EventKind.SHOW_CRIB
        place = player
        if is_crib:
            row = player if rules.two_cribs else 0
            place = player if rules.two_cribs else int(before["dealer"])
            cards = tuple(before["crib"][row][: rules.crib_size].tolist())
        else:
            cards = tuple(before["hands"][player][: rules.cards_kept].tolist())
        shown = count_show(cards, *self._starters(place), is_crib=is_crib, rules=rules)
        if shown.points == points:
            return cards, shown.call
        if rules.muggins:
            return cards, f"counted for {number_word(points)}"
        verb = "scores" if points >= 0 else "loses"
        return cards, f"{shown.call}; the bid {verb} {number_word(abs(points))}"

    def _starters(self, player: int) -> Sequence[int]:
        if not self.rules.is_varied:
            return [int(self.before["starter"])]
        return [card for card in self.before["starters"][player].tolist() if card != NO_CARD]
