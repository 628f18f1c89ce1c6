"""Plans: what is played follows from the results alone, and stops where enough is known."""

from collections.abc import Iterator
from itertools import cycle, repeat
from typing import Any

import numpy as np
import pytest

from cribai import ConfigError
from cribai.tournament.chunks import Failure, Played
from cribai.tournament.plans import ROUND, FocusPlan, Plan, SprtPlan, UntilPlan, make_plan
from cribai.tournament.sprt import Hypothesis, Sprt
from cribai.tournament.stats import Stats
from tournaments import decided, make_config, outcome

THREE = ["random", "greedy", "random"]


def spent(played: list[Played]) -> list[int]:
    return [match.num_pairs for match in played]


def by_chance(chances: tuple[float, float, float], seed: int = 1) -> Iterator[int]:
    generator = np.random.default_rng(seed)
    while True:
        yield from generator.choice(3, 100, p=chances).tolist()


def counted(plan: Plan, match: Played) -> int:
    """Pairs of a match that count."""
    return sum(chunk.num_pairs for chunk in match.chunks[: plan.num_counted(match)])


def test_fixed_pairs_in_chunks() -> None:
    plan = make_plan(make_config(agents=THREE, pairs=10, chunk=4))
    assert plan.most_games() == 60
    played = [Played() for _ in plan.pairings]
    chunks = plan.next_chunks(played)
    assert [(chunk.match, chunk.first_pair, chunk.num_pairs) for chunk in chunks] == [
        (match, *part) for match in range(3) for part in ((0, 4), (4, 4), (8, 2))
    ]
    assert [(chunk.a, chunk.b) for chunk in chunks[::3]] == [
        ("random", "greedy"),
        ("random", "random"),
        ("greedy", "random"),
    ]
    played = decided(plan, repeat(1))
    assert spent(played) == [10, 10, 10]
    assert [plan.num_counted(match) for match in played] == [3, 3, 3]


def test_a_gauntlet_is_of_the_first() -> None:
    plan = make_plan(make_config(agents=[*THREE, "greedy"], format="gauntlet"))
    assert plan.pairings == [(0, 1), (0, 2), (0, 3)]
    assert plan.most_games() == 3 * 40


@pytest.mark.parametrize(
    "changes",
    [
        {"pairs": 50},
        {"pairs": 5000, "until": 0.02},
        {"pairs": 5000, "format": "sprt", "agents": ["random", "greedy"]},
        {"pairs": 300, "focus": True},
        {"format": "acc"},
    ],
    ids=["fixed", "until", "sprt", "focus", "acc"],
)
def test_the_same_results_give_the_same_chunks(changes: dict[str, Any]) -> None:
    config = make_config(**{"agents": THREE, "chunk": 8} | changes)
    first, second = (
        decided(make_plan(config), by_chance((0.2, 0.5, 0.3), seed=3)) for _ in range(2)
    )
    assert [match.chunks for match in first] == [match.chunks for match in second]
    # Asked in the middle, and asked again, a plan says what it said.
    plan = make_plan(config)
    played = [Played() for _ in plan.pairings]
    wins = by_chance((0.2, 0.5, 0.3), seed=3)
    for _ in range(3):
        chunks = plan.next_chunks(played)
        assert plan.next_chunks(played) == chunks
        assert len(set(chunks)) == len(chunks)
        played += [Played() for _ in range(len(plan.pairings) - len(played))]
        for chunk in chunks:
            played[chunk.match].add(chunk, outcome([next(wins) for _ in range(chunk.num_pairs)]))


def test_until_ends_at_the_first_look_that_is_narrow_enough() -> None:
    plan = make_plan(make_config(agents=THREE, pairs=2000, chunk=10, until=0.03))
    assert isinstance(plan, UntilPlan)
    played = decided(plan, by_chance((0.2, 0.5, 0.3)))
    for match in played:
        end = plan.num_counted(match)
        widths = [
            (lambda interval: interval.high - interval.low)(total.win_rate_interval)
            for number in range(1, len(match.chunks) + 1)
            if (total := match.total(number)) is not None
        ]
        assert min(widths[: end - 1]) > 0.06 >= widths[end - 1]
        # It was looked at in rounds, so that some chunks come too late.
        assert len(match.chunks) == -(-end // ROUND) * ROUND
    assert any(plan.num_counted(match) < len(match.chunks) for match in played)


def test_until_ends_with_the_pairs() -> None:
    plan = make_plan(make_config(pairs=45, chunk=10, until=0.0001))
    (match,) = decided(plan, by_chance((0.2, 0.5, 0.3)))
    assert [chunk.num_pairs for chunk in match.chunks] == [10, 10, 10, 10, 5]
    assert counted(plan, match) == 45


def test_one_pair_is_never_enough() -> None:
    plan = make_plan(make_config(pairs=3, chunk=1, until=0.49))
    (match,) = decided(plan, repeat(1))
    assert counted(plan, match) == 2


def test_failed_chunks_do_not_count_and_are_not_played_for_ever() -> None:
    plan = make_plan(make_config(pairs=40, chunk=10, until=0.3))
    played = [Played()]
    for chunk in plan.next_chunks(played):
        played[0].add(chunk, Failure(0, "no"))
    assert plan.next_chunks(played) == []
    assert played[0].total() is None
    assert plan.num_counted(played[0]) == 4


@pytest.mark.parametrize(
    ("wins", "decision"),
    [(cycle([2, 1]), Hypothesis.H1), (cycle([0, 1]), Hypothesis.H0)],
)
def test_the_sequential_test_ends_at_the_first_look_that_decides(
    wins: Iterator[int], decision: Hypothesis
) -> None:
    plan = make_plan(make_config(format="sprt", pairs=5000, chunk=6))
    assert isinstance(plan, SprtPlan)
    (match,) = decided(plan, wins)
    end = plan.num_counted(match)
    test = Sprt(0.5, 0.51)
    totals = [match.total(number) for number in range(1, len(match.chunks) + 1)]
    decisions = [total and test.decision(total) for total in totals]
    assert decisions[: end - 1] == [None] * (end - 1)
    assert decisions[end - 1] == decision
    assert end > 3
    assert len(match.chunks) % ROUND == 0
    assert "LLR" in plan.status([match])


def test_an_undecided_test_ends_with_the_pairs() -> None:
    plan = make_plan(make_config(format="sprt", pairs=30, chunk=7))
    (match,) = decided(plan, repeat(1))
    assert match.num_pairs == counted(plan, match) == 30


def test_focus_spends_all_where_least_is_known() -> None:
    plan = make_plan(make_config(agents=THREE, pairs=400, chunk=20, focus=True))
    assert isinstance(plan, FocusPlan)
    # Pairs of one match are always tied, those of the others by chance.
    chance = by_chance((0.3, 0.4, 0.3))
    played = [Played() for _ in range(3)]
    while chunks := plan.next_chunks(played):
        for chunk in chunks:
            wins = [1 if chunk.match == 0 else next(chance) for _ in range(chunk.num_pairs)]
            played[chunk.match].add(chunk, outcome(wins))
    pairs = spent(played)
    assert sum(pairs) == 3 * 400
    assert min(pairs) >= 100
    assert pairs[0] < min(pairs[1:])
    for match in played:
        ends = [chunk.first_pair + chunk.num_pairs for chunk in match.chunks]
        assert [0, *ends[:-1]] == [chunk.first_pair for chunk in match.chunks]


@pytest.mark.parametrize("pairs", [1, 3, 7, 41])
def test_focus_spends_exactly_the_pairs(pairs: int) -> None:
    plan = make_plan(make_config(agents=[*THREE, "greedy"], pairs=pairs, chunk=4, focus=True))
    assert sum(spent(decided(plan, by_chance((0.3, 0.4, 0.3))))) == 6 * pairs
    assert plan.most_games() == 2 * 6 * pairs


def test_focus_outlives_failures() -> None:
    plan = make_plan(make_config(agents=THREE, pairs=12, chunk=4, focus=True))
    played = [Played() for _ in range(3)]
    while chunks := plan.next_chunks(played):
        for chunk in chunks:
            # What the last entrant plays fails, so that nothing joins it to the others.
            failed = chunk.match != 0
            played[chunk.match].add(chunk, Failure(0, "no") if failed else outcome([1] * 3))
    assert sum(spent(played)) == 36


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "sprt", "agents": THREE}, "between two agents, and 3 are named"),
        ({"format": "sprt", "agents": ["random"]}, "between two agents, and 1 are named"),
        ({"focus": True, "until": 0.01}, "focus is for round robins without until"),
        ({"focus": True, "format": "gauntlet"}, "focus is for round robins"),
        ({"until": 0.01, "format": "sprt"}, "until is for round robins and gauntlets"),
        ({"until": 0.01, "format": "acc"}, "until is for round robins and gauntlets"),
        ({"agents": ["random"]}, "at least two agents"),
        ({"agents": ["random"], "format": "acc"}, "at least two agents"),
        ({"format": "acc", "acc.qualifiers": 4}, "acc.qualifiers is 4 and there are 2"),
    ],
)
def test_what_makes_no_plan_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make_plan(make_config(**changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sprt.h0": 0.6, "sprt.h1": 0.6}, "h0 is 0.6 and h1 is 0.6"),
        ({"sprt.h0": 0.6}, "h0 is 0.6 and h1 is 0.51"),
        ({"sprt.elo0": 0.0}, "give h0 and h1, or elo0 and elo1"),
        ({"sprt.h0": 0.5, "sprt.elo0": 0.0, "sprt.elo1": 5.0}, "and not both kinds"),
        ({"sprt.elo0": 5.0, "sprt.elo1": 0.0}, "choose h0 below h1"),
        ({"sprt.alpha": 0.7}, "alpha is 0.7"),
        ({"until": 0.5}, "less than 0.5"),
        ({"until": 0.0}, "greater than 0"),
        ({"chunk": 0}, "chunk is 0"),
        ({"acc.best_of": 4}, "best_of is 4; it must be odd"),
        ({"acc.best_of": 65}, "less than or equal to 63"),
        ({"acc.games": 21}, "multiple of 2"),
        ({"acc.qualifiers": 3}, "it must be a power of two"),
        ({"acc.qualifiers": 1}, "it must be a power of two"),
    ],
)
def test_numbers_out_of_range_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make_config(**changes)


def test_leads_in_elo() -> None:
    plan = make_plan(make_config(format="sprt", **{"sprt.elo0": -400, "sprt.elo1": 400}))
    assert isinstance(plan, SprtPlan)
    assert (plan.test.h0, plan.test.h1) == pytest.approx((1 / 11, 10 / 11))
    assert plan.decision(Stats.from_half_wins((0, 0, 0, 0, 30))) is Hypothesis.H1
