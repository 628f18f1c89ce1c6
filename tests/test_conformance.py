"""The conformance fixtures: cribai passes them all, and each catches an engine with a fault."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from conformance_faults import FAULTS
from cribai import CardError
from cribai.cards import parse_cards
from cribai.conformance import CribaiAdapter, EngineAdapter, RulesReport, load_fixtures
from cribai.conformance.fixtures import GameFixture
from cribai.conformance.lead_in import lead_in
from cribai.testing import check_rules
from faulty_engines import OracleAdapter

NAMES = [fixture.name for fixture in load_fixtures()]
GAMES = [fixture for fixture in load_fixtures() if isinstance(fixture, GameFixture)]
DOCUMENT = Path(__file__).parents[1] / "docs" / "conformance.md"


@cache
def failures_of(fault: str) -> set[str]:
    with FAULTS[fault].engine() as engine:
        return failed(check_rules(engine))


def failed(report: RulesReport) -> set[str]:
    return {finding.name for finding in report.failures}


def assert_all_passed(adapter: EngineAdapter) -> None:
    report = check_rules(adapter)
    assert [finding.name for finding in report.passed] == NAMES, report
    assert report.ok
    assert str(report) == f"{len(NAMES)} passed, 0 failed, 0 skipped"


def test_cribai_passes_everything() -> None:
    assert_all_passed(CribaiAdapter())


def test_the_oracle_passes_everything() -> None:
    assert_all_passed(OracleAdapter())


def test_an_engine_that_starts_from_nothing_is_led_up_to_every_fixture() -> None:
    assert_all_passed(OracleAdapter(limited=True))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_named_fixtures_catch_a_fault(fault: str) -> None:
    assert set(FAULTS[fault].caught_by) <= failures_of(fault)


def test_every_fixture_is_named_to_catch_a_fault() -> None:
    assert {name for fault in FAULTS.values() for name in fault.caught_by} == set(NAMES)


def test_faults_of_a_limited_engine_are_caught_or_keep_it_from_the_fixture() -> None:
    for fault in FAULTS.values():
        with fault.engine(limited=True) as engine:
            report = check_rules(engine)
        assert not report.ok
        passed = {finding.name for finding in report.passed}
        assert not passed & set(fault.caught_by), report


def test_what_cannot_be_led_up_to_is_skipped_with_the_reason() -> None:
    with FAULTS["hands empty at the show"].engine(limited=True) as engine:
        report = check_rules(engine)
    reasons = {finding.name: finding.got for finding in report.skipped}
    assert reasons["heels win"].startswith("the plain deals that lead up to it come out wrong")
    assert "a second whole deal" in failed(report)


def test_an_engine_that_can_do_nothing_is_skipped() -> None:
    report = check_rules(EngineAdapter())
    assert report.ok
    assert [finding.name for finding in report.skipped] == NAMES
    assert str(report).endswith(f"0 passed, 0 failed, {len(NAMES)} skipped")


def test_an_engine_with_a_scorer_only_is_skipped_elsewhere() -> None:
    class Scorer(EngineAdapter):
        def show_points(self, hand: Sequence[str], starter: str, is_crib: bool) -> int:
            return CribaiAdapter().show_points(hand, starter, is_crib)

    report = check_rules(Scorer())
    assert report.ok
    assert {finding.got for finding in report.skipped} == {
        "The adapter has no play_points.",
        "The adapter has no start.",
    }


def test_an_exception_of_the_engine_fails_the_fixture() -> None:
    class Broken(CribaiAdapter):
        def lay(self, card: str) -> None:
            raise CardError(f"What is {card}?")

    (finding,) = [f for f in check_rules(Broken()).failures if f.name == "the pone leads"]
    assert str(finding) == (
        "FAILED   the pone leads\n"
        "         The pone lays first, and then the dealer.\n"
        "         dealer 0, after pone's KC: expected an answer, got CardError: What is KC?"
    )


def test_names_are_unique_and_rules_are_sentences() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(fixture.rule[0].isupper() and fixture.rule[-1] == "." for fixture in load_fixtures())


@pytest.mark.parametrize("game", GAMES, ids=[game.name for game in GAMES])
def test_deals_are_deals(game: GameFixture) -> None:
    for deal in game.deals:
        cards = " ".join(" ".join(part) for part in (*deal.kept, *deal.tossed))
        assert len(parse_cards(f"{cards} {deal.starter}")) == 13  # refuses a card named twice
        assert [len(cards) for cards in (*deal.kept, *deal.tossed)] == [4, 4, 2, 2]
        for lay in deal.lays:
            assert lay.card in deal.kept[lay.by == "dealer"]
    if game.is_plain:
        assert len(game.deals[0].lays) == 8


def test_the_way_to_a_score_is_whole_deals_with_alternate_dealers() -> None:
    for dealer, scores in ((1, (119, 118)), (0, (120, 120)), (1, None), (0, None)):
        total, dealing = [0, 0], 0
        for deal in lead_in(dealer, scores):
            pone, deals = deal.lays[-1].scores
            total[dealing] += deals
            total[1 - dealing] += pone
            dealing = 1 - dealing
        assert dealing == dealer
        assert scores in (None, tuple(total))


def test_openspiel_has_the_faults_that_are_told_and_no_other() -> None:
    pytest.importorskip("pyspiel")
    from openspiel_adapter import OpenSpielAdapter

    report = check_rules(OpenSpielAdapter())
    assert failed(report) == {
        "a crib of four alike",  # pays a flush that the starter does not follow
        "the last card wins before the count",  # counts all hands before it looks who has won
        "the pone counts first",  # and then names the first seat past the target
    }
    assert {finding.got for finding in report.skipped} == {
        "The adapter has no show_points.",
        "The adapter has no play_points.",
    }
    assert f"```\n{report}\n```" in DOCUMENT.read_text()
