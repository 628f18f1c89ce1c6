"""What happened in a game, in words: the engine's event log read with the cards on the table."""

from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations
from typing import Any

from cribai.cards import cards_text, value_of
from cribai.counting import count_play, count_show, number_word
from cribai.engine import state as engine
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


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a game.

    Attributes:
        kind: What it was.
        deal: Number of the deal, from 0.
        player: The seat it concerns.
        points: Points it was worth; the score may have risen by less at the end of the game.
        cards: The cards tossed, laid, turned or shown.
        call: What a player would say, such as "fifteen for two"; empty when nothing is said.
    """

    kind: EventKind
    deal: int
    player: int
    points: int
    cards: tuple[int, ...]
    call: str

    def __str__(self) -> str:
        words = [
            f"player {self.player}",
            self.kind.name.lower().replace("_", " "),
            cards_text(self.cards),
        ]
        return " ".join(word for word in words if word) + (f": {self.call}" if self.call else "")


def read_events(before: Any, log: Any, rules: Rules) -> list[Event]:
    """Returns what happened in one step.

    Args:
        before: STATE record before the step.
        log: LOG record of the step.
        rules: The rules.
    """
    deal = int(before["num_deals"]) - 1
    length = int(before["series_length"])
    laid = int(before["num_plays"])
    series = [int(card) for card in before["play_cards"][laid - length : laid]]
    count = int(before["count"])
    starter = int(before["starter"])
    events = []
    for kind, player, points, detail in log["events"][: log["num_events"]].tolist():
        cards: tuple[int, ...] = ()
        call = ""
        if kind == engine.TOSS:
            hand = before["hands"][player][: rules.cards_dealt].tolist()
            cards = tuple(combinations(hand, rules.cards_tossed))[detail]
        elif kind == engine.TURN_STARTER:
            cards = (detail,)
        elif kind == engine.HEELS:
            call = f"heels for {number_word(points)}"
        elif kind == engine.LAY:
            cards = (detail,)
            series.append(detail)
            count += value_of(detail)
            call = number_word(count)
            if points:
                call = f"{count_play(series, count, rules)[1]} for {number_word(points)}"
        elif kind == engine.GO:
            call = "go"
        elif kind == engine.GO_POINT:
            call = "go for one"
        elif kind == engine.LAST_CARD:
            call = "last card for one"
        elif kind == engine.SHOW_HAND:
            cards = tuple(before["hands"][player][: rules.cards_kept].tolist())
            call = count_show(cards, starter, rules=rules).call
        elif kind == engine.SHOW_CRIB:
            cards = tuple(before["crib"][0][: rules.crib_size].tolist())
            call = count_show(cards, starter, is_crib=True, rules=rules).call
        events.append(Event(EventKind(kind), deal, player, points, cards, call))
    return events
