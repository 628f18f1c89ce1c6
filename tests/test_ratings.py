"""Ratings: closed forms, the likelihood maximised directly, planted strengths, and what warns."""

from collections.abc import Sequence
from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import minimize
from scipy.special import expit

from cribai.engine.simulate import TIE
from cribai.errors import ConfigError
from cribai.tournament.ratings import (
    Ratings,
    effective_games,
    likelihood_of_superiority,
    rate,
)
from cribai.tournament.sprt import elo, win_rate
from cribai.tournament.stats import Stats
from test_sprt import chances
from test_stats import make_results, mirrored, of_pairs, tied_results

ELO_PER_LOGIT = 400 / log(10)
NORMAL = scipy_stats.norm.ppf(0.975)

Matches = list[tuple[int, int, Stats]]


def round_robin(strengths: Sequence[float], num_pairs: int, seed: int = 0) -> Matches:
    """Matches between entrants of these Elo strengths, 70% of even pairs being tied."""
    generator = np.random.default_rng(seed)
    matches = []
    for a, b in combinations(range(len(strengths)), 2):
        rate_of_a = win_rate(strengths[a] - strengths[b])
        truth = chances(rate_of_a, 1.4 * min(rate_of_a, 1 - rate_of_a))
        matches.append((a, b, of_pairs(*generator.multinomial(num_pairs, truth).tolist())))
    return matches


def by_label(ratings: Ratings) -> dict[str, float]:
    return {rating.label: rating.elo for rating in ratings.ratings}


def test_two_entrants_in_closed_form() -> None:
    stats = of_pairs(100, 600, 300)
    best, anchor = rate(["strong", "weak"], [(0, 1, stats)], anchor=1).ratings
    assert (best.label, anchor.label) == ("strong", "weak")
    assert best.elo == pytest.approx(elo(0.6))
    # A pair's variance is 0.09 over its outcomes 0, 1/2, 1.
    error = ELO_PER_LOGIT * sqrt(0.09 / 1000) / (0.6 * 0.4)
    assert best.standard_error == pytest.approx(error, rel=0.002)
    assert best.interval == pytest.approx(
        (best.elo - NORMAL * error, best.elo + NORMAL * error), 3e-3
    )
    assert (best.games, best.win_rate) == (2000, 0.6)
    assert (anchor.elo, anchor.standard_error, anchor.interval) == (0, 0, (0, 0))
    assert (anchor.games, anchor.win_rate) == (2000, 0.4)


def test_effective_games_by_hand() -> None:
    # Half a pair more of each makes 1, 5 and 3 of 9: mean 11/18, variance 17/36 - (11/18)^2 = 8/81.
    assert effective_games(of_pairs(0, 2, 1)) == pytest.approx(3 * (11 / 18 * 7 / 18) / (8 / 81))
    lone_games = of_pairs(2500, 5000, 2500)  # As if both games of a pair were independent.
    assert effective_games(lone_games) == pytest.approx(20_000, rel=1e-3)
    assert effective_games(of_pairs(0, 0, 1000)) == pytest.approx(1200, rel=1e-2)
    assert effective_games(of_pairs(0, 1000, 0)) == pytest.approx(1000**2, rel=1e-2)


def test_likelihood_is_greatest() -> None:
    strengths = 0, 30, -50, 120, 200
    matches = round_robin(strengths, 300)
    a, b, stats = zip(*matches, strict=True)
    games = np.array([effective_games(part) for part in stats])
    rates = np.array([part.win_rate for part in stats])

    def negative(leads: np.ndarray) -> float:
        leads = np.append(0, leads)
        odds = leads[list(a)] - leads[list(b)]
        return -float((games * (rates * odds - np.logaddexp(0, odds))).sum())

    found = minimize(negative, np.zeros(4), tol=1e-12)
    ratings = rate("abcde", matches)
    leads = [by_label(ratings)[label] for label in "bcde"]
    assert leads == pytest.approx(ELO_PER_LOGIT * found.x, abs=0.01)
    model = expit(
        [
            (by_label(ratings)["abcde"[i]] - by_label(ratings)["abcde"[j]]) / ELO_PER_LOGIT
            for i, j in zip(a, b, strict=True)
        ]
    )
    chi_square = (games * (rates - model) ** 2 / (model * (1 - model))).sum()
    p_value = scipy_stats.chi2.sf(chi_square, 6)
    assert ratings.fit == pytest.approx((chi_square, 6, p_value))


def test_planted_strengths_are_recovered() -> None:
    strengths = {"a": 0, "b": 30, "c": -50, "d": 120, "e": 400}
    ratings = rate(list(strengths), round_robin(list(strengths.values()), 4000))
    assert [rating.label for rating in ratings.ratings] == ["e", "d", "b", "a", "c"]
    for rating in ratings.ratings:
        assert rating.standard_error < 10
        assert abs(rating.elo - strengths[rating.label]) <= 3 * rating.standard_error
        assert rating.games == 4 * 8000
    assert not ratings.separated
    assert not ratings.cycles
    assert not ratings.fit.rejected


def test_intervals_cover_and_fits_hold() -> None:
    strengths = {"a": 0, "b": 30, "c": -50, "d": 120, "e": 200}
    covered, rejected = [], []
    for seed in range(200):
        matches = round_robin(list(strengths.values()), 200, seed)
        ratings = rate(list(strengths), matches)
        rejected.append(ratings.fit.rejected)
        for rating in ratings.ratings:
            low, high = rating.interval
            if rating.label != "a":
                covered.append(low <= strengths[rating.label] <= high)
    assert len(covered) == 800
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)
    assert np.mean(rejected) == pytest.approx(0.05, abs=0.04)


def test_anchor() -> None:
    matches = round_robin((0, 100, 50), 500)
    plain = rate("abc", matches)
    moved = rate("abc", matches, anchor=2, anchor_elo=1500)
    shift = 1500 - by_label(plain)["c"]
    for label, rating in by_label(plain).items():
        assert by_label(moved)[label] == pytest.approx(rating + shift)
    errors = {rating.label: rating.standard_error for rating in moved.ratings}
    assert errors["c"] == 0
    assert errors["a"] == pytest.approx(
        next(rating.standard_error for rating in plain.ratings if rating.label == "c")
    )
    assert moved.fit == pytest.approx(plain.fit)


def test_matches_of_two_join() -> None:
    (_, _, first), (_, _, second), (_, _, third) = round_robin((0, 100, 50), 100)
    apart = [(0, 1, first), (1, 0, second), (2, 1, third), (0, 2, of_pairs(0, 0, 0))]
    joined = [(0, 1, first + second.flipped()), (1, 2, third.flipped())]
    assert rate("abc", apart) == rate("abc", joined)


def test_all_tied() -> None:
    for size in (2, 5):
        labels = [str(place) for place in range(size)]
        matches = [(a, b, of_pairs(0, 1000, 0)) for a, b in combinations(range(size), 2)]
        ratings = rate(labels, matches)
        assert [rating.label for rating in ratings.ratings] == labels
        for rating in ratings.ratings:
            assert rating.elo == pytest.approx(0, abs=1e-9)
            assert rating.standard_error < 1
        assert not ratings.separated
        assert not ratings.fit.rejected


def test_a_tie_is_half_a_win() -> None:
    # Pairs of two ties leave what pairs of a win and a loss leave.
    results = make_results(*[(121, 121)] * 400)
    results["winner"] = TIE
    ties, even = Stats.from_results(results), of_pairs(0, 200, 0)
    assert ties.ties == 400
    assert rate("ab", [(0, 1, ties)]) == rate("ab", [(0, 1, even)])
    assert effective_games(ties) == effective_games(even)
    assert likelihood_of_superiority(ties) == 0.5
    # A pair in 200 of a win and a tie; half a pair more of no, one and two wins.
    stats = Stats.from_half_wins((0, 0, 199, 1, 0))
    mean = (0.5 * 199.5 + 0.75 + 0.5) / 201.5
    variance = (0.25 * 199.5 + 0.5625 + 0.5) / 201.5 - mean**2
    assert effective_games(stats) == pytest.approx(200 * mean * (1 - mean) / variance)
    best, other = rate("ab", [(0, 1, stats)]).ratings
    assert (best.label, best.games, best.win_rate) == ("a", 400, 200.5 / 400)
    assert best.elo - other.elo == pytest.approx(elo(200.5 / 400))


def test_ties_hold_entrants_together() -> None:
    # Nobody lost a game to the last, but one was tied.
    stats = Stats.from_half_wins((0, 0, 0, 1, 199))
    assert not rate("ab", [(0, 1, stats)]).separated
    assert rate("ab", [(0, 1, of_pairs(0, 0, 200))]).separated


def test_names_swapped_mirror_the_ratings() -> None:
    for seed in range(5):
        stats = Stats.from_results(tied_results(100, seed))
        twin = Stats.from_results(mirrored(tied_results(100, seed)))
        ratings = by_label(rate("ab", [(0, 1, stats)]))
        swapped = by_label(rate("ab", [(0, 1, twin)]))
        assert swapped["b"] == pytest.approx(-ratings["b"])
        assert effective_games(twin) == pytest.approx(effective_games(stats))
        assert likelihood_of_superiority(twin) == pytest.approx(
            1 - likelihood_of_superiority(stats)
        )


def test_twenty_entrants() -> None:
    strengths = np.linspace(-300, 300, 20).tolist()
    labels = [f"agent{place}" for place in range(20)]
    ratings = rate(labels, round_robin(strengths, 1000), anchor=10, anchor_elo=strengths[10])
    planted = dict(zip(labels, strengths, strict=True))
    scores = [
        (rating.elo - planted[rating.label]) / rating.standard_error
        for rating in ratings.ratings
        if rating.standard_error
    ]
    assert len(scores) == 19
    assert np.abs(scores).max() < 4
    assert ratings.fit.degrees == 190 - 19


def test_separated_entrant() -> None:
    matches = [*round_robin((0, 50), 500), (0, 2, of_pairs(0, 0, 500)), (1, 2, of_pairs(0, 0, 500))]
    ratings = rate("abc", matches)
    assert ratings.separated == (("b", "a"), ("c",))
    worst = ratings.ratings[-1]
    assert worst.label == "c"
    assert -2000 < worst.elo < -800
    assert np.isfinite(worst.standard_error)
    # Those who lost games to each other are rated as without the third.
    lead = elo(matches[0][2].flipped().win_rate)
    assert by_label(ratings)["b"] == pytest.approx(lead, abs=1)


def test_separated_two() -> None:
    ratings = rate("ab", [(0, 1, of_pairs(10, 0, 0))])
    assert ratings.separated == (("b",), ("a",))
    games = effective_games(of_pairs(10, 0, 0))
    assert by_label(ratings)["b"] == pytest.approx(elo((games + 0.5) / (games + 1)))


def test_separated_groups() -> None:
    rout = of_pairs(0, 0, 100)
    strong, weak = of_pairs(20, 60, 20), of_pairs(30, 40, 30)
    ratings = rate("wxyz", [(0, 1, weak), (2, 3, strong), (2, 0, rout), (3, 1, rout)])
    assert [set(group) for group in ratings.separated] == [{"y", "z"}, {"w", "x"}]
    # A single game lost joins them.
    joined = [(0, 1, weak), (2, 3, strong), (2, 0, rout), (3, 1, of_pairs(0, 1, 99))]
    assert not rate("wxyz", joined).separated


def test_cycles() -> None:
    wins = of_pairs(100, 600, 300)
    ratings = rate("abcd", [(0, 1, wins), (1, 2, wins), (2, 0, wins), (0, 3, wins)], anchor=3)
    assert ratings.cycles == (("a", "b", "c"),)
    assert ratings.fit.rejected
    assert ratings.fit.degrees == 1
    back = rate("abc", [(1, 0, wins), (2, 1, wins), (0, 2, wins)])
    assert back.cycles == (("a", "c", "b"),)
    assert list(by_label(back).values()) == pytest.approx([0, 0, 0], abs=1e-6)
    few = of_pairs(1, 6, 3)
    doubtful = rate("abc", [(0, 1, few), (1, 2, few), (2, 0, few)])
    assert not doubtful.cycles
    assert not doubtful.fit.rejected
    # A ring of routs is one group: the likelihood has its maximum where all are equal.
    rout = of_pairs(0, 0, 50)
    ring = rate("abc", [(0, 1, rout), (1, 2, rout), (2, 0, rout)])
    assert not ring.separated
    assert list(by_label(ring).values()) == pytest.approx([0, 0, 0], abs=1e-6)


def test_misfit_without_a_cycle() -> None:
    # By the first two matches c should win 80% against a, and it wins 60%.
    wins = of_pairs(100, 600, 300)
    ratings = rate("abc", [(1, 0, of_pairs(0, 600, 400)), (2, 1, wins), (2, 0, wins)])
    assert not ratings.cycles
    assert ratings.fit.rejected
    assert ratings.fit.p_value < 1e-6


def test_what_cannot_be_rated_is_refused() -> None:
    stats = of_pairs(10, 20, 10)
    for matches in ([(0, 1, stats), (2, 3, stats)], [(0, 1, stats), (0, 2, of_pairs(0, 0, 0))]):
        with pytest.raises(
            ConfigError, match="No chain of matches joins 'a' and 'c'; let them meet"
        ):
            rate("abcd"[: len(matches) + 2], matches)
    for place in (-1, 2):
        with pytest.raises(ConfigError, match=f"no entrant {place}; choose from 0 to 1"):
            rate("ab", [(0, place, stats)])
        with pytest.raises(ConfigError, match=f"no entrant {place}"):
            rate("ab", [(0, 1, stats)], anchor=place)
    with pytest.raises(ConfigError, match="met itself"):
        rate("ab", [(1, 1, stats)])
    with pytest.raises(ConfigError, match="at least two entrants, not 1"):
        rate("a", [])
    with pytest.raises(ConfigError, match="No chain of matches"):
        rate("ab", [])


def test_likelihood_of_superiority() -> None:
    stats = of_pairs(1000, 7900, 1100)
    deviation = sqrt(2100 / 10_000 / 4 - 0.005**2)
    assert likelihood_of_superiority(stats) == pytest.approx(
        scipy_stats.norm.cdf(0.005 * 100 / deviation), abs=1e-3
    )
    assert likelihood_of_superiority(stats.flipped()) == pytest.approx(
        1 - likelihood_of_superiority(stats)
    )
    for even in (of_pairs(0, 1000, 0), of_pairs(0, 1, 0), of_pairs(7, 3, 7), of_pairs(0, 0, 0)):
        assert likelihood_of_superiority(even) == pytest.approx(0.5)
    assert 0.6 < likelihood_of_superiority(of_pairs(0, 0, 1)) < 0.9
    assert likelihood_of_superiority(of_pairs(0, 0, 100)) > 0.9999
    assert likelihood_of_superiority(of_pairs(100, 0, 0)) < 0.0001
