"""`check_rules`: puts an engine to every fixture."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from cribai.conformance.adapter import EngineAdapter
from cribai.conformance.fixtures import (
    Fixture,
    GameFixture,
    PeggingFixture,
    Role,
    ScriptedDeal,
    ShowFixture,
    load_fixtures,
)
from cribai.conformance.lead_in import lead_in
from cribai.conformance.report import Finding, RulesReport, Status
from cribai.rules import STANDARD

_Answer = TypeVar("_Answer")
_Item = TypeVar("_Item")


class _DifferenceError(Exception):
    """The engine departs from a fixture."""

    def __init__(self, where: str, expected: object, got: object) -> None:
        super().__init__(where)
        self.where = where
        self.expected = str(expected)
        self.got = str(got)


class _NotReachedError(Exception):
    """The engine does not get to where the fixture begins."""


def check_rules(adapter: EngineAdapter) -> RulesReport:
    """Puts an engine to every fixture; games are played with either seat as the dealer.

    A fixture is skipped when a method that it needs raises `NotImplementedError`, and when the
    plain deals that lead up to it come out wrong. Any other exception fails it.

    Args:
        adapter: The engine to check.

    Returns:
        What became of each fixture; `assert report.ok, report` suits a test.
    """
    return RulesReport(tuple(_check(adapter, fixture) for fixture in load_fixtures()))


def _check(adapter: EngineAdapter, fixture: Fixture) -> Finding:
    name, rule = fixture.name, fixture.rule
    try:
        if isinstance(fixture, ShowFixture):
            _check_show(adapter, fixture)
        elif isinstance(fixture, PeggingFixture):
            _check_pegging(adapter, fixture)
        else:
            for dealer in (0, 1):
                _GameCheck(adapter, fixture, dealer).run()
    except _DifferenceError as difference:
        where, expected, got = difference.where, difference.expected, difference.got
        return Finding(name, rule, Status.FAILED, where, expected, got)
    except (NotImplementedError, _NotReachedError) as reason:
        return Finding(name, rule, Status.SKIPPED, got=str(reason) or "not implemented")
    return Finding(name, rule, Status.PASSED)


def _check_show(adapter: EngineAdapter, fixture: ShowFixture) -> None:
    points = _ask("", lambda: adapter.show_points(fixture.hand, fixture.starter, fixture.is_crib))
    _compare("", fixture.points, points)


def _check_pegging(adapter: EngineAdapter, fixture: PeggingFixture) -> None:
    for length, points in enumerate(fixture.points, 1):
        series = fixture.series[:length]
        where = f"series {' '.join(series)}"
        _compare(where, points, _ask(where, partial(adapter.play_points, series)))


class _GameCheck:
    """One game of one fixture.

    Args:
        adapter: The engine.
        fixture: What to play.
        dealer: The seat that deals first.
    """

    def __init__(self, adapter: EngineAdapter, fixture: GameFixture, dealer: int) -> None:
        self.adapter = adapter
        self.fixture = fixture
        self.first_dealer = dealer
        self.dealer = dealer
        self.base = (0, 0)  # what the scores told are on top of, by seat
        self.where = ""

    def run(self) -> None:
        """Plays the fixture's deals."""
        self._start()
        for number, deal in enumerate(self.fixture.deals):
            is_last = number == len(self.fixture.deals) - 1
            self._play(deal, self.fixture.winner if is_last else None)

    def _start(self) -> None:
        """Starts at the fixture's scores and dealer, or plays up to them."""
        fixture, dealer = self.fixture, self.first_dealer
        deals = [deal.dealt((dealer + n) % 2) for n, deal in enumerate(fixture.deals)]
        scores = fixture.scores and _by_seat(fixture.scores, dealer)
        self.where = "start"
        try:
            self._ask(lambda: self.adapter.start(deals, dealer, scores or (0, 0)))
        except NotImplementedError:
            before = lead_in(dealer, scores)
            deals = [deal.dealt(n % 2) for n, deal in enumerate(before)] + deals
            self._ask(lambda: self.adapter.start(deals, 0, (0, 0)))
            self._lead_in(before)

    def _lead_in(self, deals: list[ScriptedDeal]) -> None:
        told = self.fixture.scores
        self.dealer = 0
        try:
            for deal in deals:
                self._play(deal, None)
                last = _by_seat(deal.lays[-1].scores, 1 - self.dealer)
                self.base = (self.base[0] + last[0], self.base[1] + last[1])
        except _DifferenceError as difference:
            raise _NotReachedError(
                "the plain deals that lead up to it come out wrong"
                f" (expected {difference.expected}, got {difference.got})"
            ) from difference
        if told is not None:
            self.base = (0, 0)

    def _play(self, deal: ScriptedDeal, winner: Role | None) -> None:
        dealer = self.dealer
        self.where = f"dealer {dealer}, starter {deal.starter}"
        self._ask(lambda: self.adapter.toss(_by_seat(deal.tossed, dealer)))
        self._expect(deal.turned, winner if not deal.lays else None)
        for number, lay in enumerate(deal.lays):
            self.where = f"dealer {dealer}, before {lay.by}'s {lay.card}"
            _compare(
                self.where,
                f"{lay.by} to act",
                f"{self._role(self._ask(self.adapter.actor))} to act",
            )
            if lay.legal is not None:
                moves = self._ask(self.adapter.legal_moves)
                _compare(self.where, " ".join(sorted(lay.legal)), " ".join(sorted(moves)))
            self.where = f"dealer {dealer}, after {lay.by}'s {lay.card}"
            self._ask(partial(self.adapter.lay, lay.card))
            is_last = number == len(deal.lays) - 1
            self._expect(lay.scores, winner if is_last else None)
        self.dealer = 1 - dealer

    def _expect(self, scores: tuple[int, int], winner: Role | None) -> None:
        """Compares the scores, the winner's up to the target, and the winner."""
        by_seat = _by_seat(scores, self.dealer)
        expected = [base + score for base, score in zip(self.base, by_seat, strict=True)]
        got = [min(score, STANDARD.target) for score in self._ask(self.adapter.scores)]
        won = self._role(self._ask(self.adapter.winner))
        _compare(self.where, self._standing(expected, winner), self._standing(got, won))

    def _standing(self, scores: list[int], winner: Role | None) -> str:
        pone, dealer = scores[1 - self.dealer], scores[self.dealer]
        ending = f", {winner} wins" if winner else ""
        return f"pone {pone} dealer {dealer}{ending}"

    def _role(self, seat: int | None) -> Role | None:
        if seat is None:
            return None
        return "dealer" if seat == self.dealer else "pone"

    def _ask(self, question: Callable[[], _Answer]) -> _Answer:
        return _ask(self.where, question)


def _ask(where: str, question: Callable[[], _Answer]) -> _Answer:
    """Returns the engine's answer; an exception in it is a difference like another."""
    try:
        return question()
    except NotImplementedError:
        raise
    except Exception as error:
        raise _DifferenceError(where, "an answer", f"{type(error).__name__}: {error}") from error


def _compare(where: str, expected: object, got: object) -> None:
    if expected != got:
        raise _DifferenceError(where, expected, got)


def _by_seat(by_role: tuple[_Item, _Item], dealer: int) -> tuple[_Item, _Item]:
    """Returns the pone's and the dealer's in the order of the seats."""
    pone, deals = by_role
    return (pone, deals) if dealer == 1 else (deals, pone)
