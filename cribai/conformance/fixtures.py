"""The fixtures, read from the data files beside this one.

Each is a fact of cribbage that engines may get wrong. What happens in a deal is told by role, the
pone first, so that every deal can be played with either seat as the dealer.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from cribai.conformance.adapter import DealtCards

Role = Literal["pone", "dealer"]

_GAMES: Final = ("play.json", "deals.json", "endings.json")


@dataclass(frozen=True, slots=True)
class ShowFixture:
    """A hand or a crib and its points at the show.

    Attributes:
        name: What reports call the fixture.
        rule: The rule in a sentence.
        hand: The four cards.
        starter: The starter.
        is_crib: Whether they are counted as a crib.
        points: What they are worth.
    """

    name: str
    rule: str
    hand: tuple[str, ...]
    starter: str
    is_crib: bool
    points: int


@dataclass(frozen=True, slots=True)
class PeggingFixture:
    """A series and what each of its cards pegs, goes and the last card apart.

    Attributes:
        name: What reports call the fixture.
        rule: The rule in a sentence.
        series: The cards in the order laid.
        points: The points of each card when it was the last.
    """

    name: str
    rule: str
    series: tuple[str, ...]
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Lay:
    """A card laid, and how the game stands after it.

    Attributes:
        by: Whose turn it is.
        card: The card.
        scores: The scores afterwards, the pone's first; those of the show too after the last card.
        legal: The cards that may be laid instead, it among them; None where it does not matter.
    """

    by: Role
    card: str
    scores: tuple[int, int]
    legal: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class ScriptedDeal:
    """A deal with the tosses and the cards laid, as far as they matter.

    Attributes:
        kept: What the pone and the dealer keep.
        tossed: What they toss.
        starter: The starter.
        turned: The scores once it is turned, the pone's first.
        lays: The cards laid.
    """

    kept: tuple[tuple[str, ...], tuple[str, ...]]
    tossed: tuple[tuple[str, ...], tuple[str, ...]]
    starter: str
    turned: tuple[int, int]
    lays: tuple[Lay, ...]

    def dealt(self, dealer: int) -> DealtCards:
        """Returns the cards by seat."""
        pone, deals = (kept + tossed for kept, tossed in zip(self.kept, self.tossed, strict=True))
        return DealtCards((pone, deals) if dealer == 1 else (deals, pone), self.starter)


@dataclass(frozen=True, slots=True)
class GameFixture:
    """A game, or a part of one, on given cards.

    Attributes:
        name: What reports call the fixture.
        rule: The rule in a sentence.
        scores: The scores to start from, the pone's of the first deal first; None where they do not
            matter, and then all scores told are on top of those.
        deals: The deals; the roles change with each.
        winner: Who has won at the end of the last deal, by his role in it.
        is_plain: Whether the deal may lead up to another fixture: complete, and with little in it
            that engines dispute.
    """

    name: str
    rule: str
    scores: tuple[int, int] | None
    deals: tuple[ScriptedDeal, ...]
    winner: Role | None
    is_plain: bool


Fixture = ShowFixture | PeggingFixture | GameFixture


@cache
def load_fixtures() -> tuple[Fixture, ...]:
    """Returns all fixtures: of the show, of pegging, of games."""
    return (
        *(_show(entry) for entry in _read("show.json")),
        *(_pegging(entry) for entry in _read("pegging.json")),
        *(_game(entry) for name in _GAMES for entry in _read(name)),
    )


@cache
def plain_deals() -> tuple[ScriptedDeal, ...]:
    """Returns the deals that may lead up to a fixture."""
    games = [fixture for fixture in load_fixtures() if isinstance(fixture, GameFixture)]
    return tuple(game.deals[0] for game in games if game.is_plain)


def _read(name: str) -> list[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = json.loads(text)["fixtures"]
    return entries


def _show(entry: dict[str, Any]) -> ShowFixture:
    hand = tuple(entry["hand"].split())
    return ShowFixture(
        entry["name"], entry["rule"], hand, entry["starter"], entry["is_crib"], entry["points"]
    )


def _pegging(entry: dict[str, Any]) -> PeggingFixture:
    series = tuple(entry["series"].split())
    return PeggingFixture(entry["name"], entry["rule"], series, tuple(entry["points"]))


def _game(entry: dict[str, Any]) -> GameFixture:
    return GameFixture(
        name=entry["name"],
        rule=entry["rule"],
        scores=_pair(entry["scores"]) if "scores" in entry else None,
        deals=tuple(map(_deal, entry["deals"])),
        winner=entry.get("winner"),
        is_plain=entry.get("is_plain", False),
    )


def _deal(entry: dict[str, Any]) -> ScriptedDeal:
    pone, dealer = entry["pone"], entry["dealer"]
    return ScriptedDeal(
        kept=(tuple(pone["keeps"].split()), tuple(dealer["keeps"].split())),
        tossed=(tuple(pone["tosses"].split()), tuple(dealer["tosses"].split())),
        starter=entry["starter"],
        turned=_pair(entry["turned"]),
        lays=tuple(map(_lay, entry["lays"])),
    )


def _lay(entry: dict[str, Any]) -> Lay:
    legal = tuple(entry["legal"].split()) if "legal" in entry else None
    return Lay(entry["by"], entry["card"], _pair(entry["scores"]), legal)


def _pair(scores: list[int]) -> tuple[int, int]:
    pone, dealer = scores
    return pone, dealer
