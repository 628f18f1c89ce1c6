"""Statistics: tables worked by hand, sums that add and flip, intervals that cover."""

from math import inf, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from cribai import MATCH_POINTS
from cribai.engine.simulate import RESULT
from cribai.engine.state import DEALER_CRIB, DEALER_HAND, DEALER_HEELS, DEALER_PEGGING, PONE_HAND
from cribai.tournament.stats import Stats

NO_TALLIES = ((0,) * 6, (0,) * 6)


def make_results(*games: tuple[int, int]) -> NDArray[np.void]:
    """Results with these scores, pair by pair; b deals first in every game."""
    results = np.zeros(len(games), RESULT)
    results["pair"] = np.arange(len(games)) // 2
    results["game"] = np.arange(len(games)) % 2
    results["scores"] = games
    results["winner"] = results["scores"].argmax(axis=1)
    lowest = results["scores"].min(axis=1)
    results["skunk"] = (lowest <= 90) * 1 + (lowest <= 60)
    results["first_dealer"] = 1
    results["first_dealer_won"] = results["winner"] == 1
    results["num_deals"] = 9
    return results


def random_results(num_pairs: int, seed: int) -> NDArray[np.void]:
    generator = np.random.default_rng(seed)
    scores = np.full((2 * num_pairs, 2), 121)
    loser = generator.integers(2, size=len(scores))
    scores[np.arange(len(scores)), loser] = generator.integers(40, 121, len(scores))
    results = make_results(*map(tuple, scores.tolist()))
    for name in ("points", "times"):
        results[name] = generator.integers(0, 100, results[name].shape)
    return results


def of_pairs(none: int, one: int, both: int) -> Stats:
    """Statistics of pairs of plain wins by 10, by the number of games won."""
    wins, losses = one + 2 * both, one + 2 * none
    return Stats(
        pairs_by_wins=(none, one, both),
        wins=(wins, 0, 0),
        losses=(losses, 0, 0),
        margin=10 * (wins - losses),
        margin_squares=400 * (none + both),
        first_dealer_wins=0,
        deals=0,
        points=NO_TALLIES,
        times=NO_TALLIES,
    )


def test_by_hand() -> None:
    # A plain win and a plain loss; a skunk and a double skunk; a loss by a skunk and a plain win.
    games = (121, 110), (100, 121), (121, 90), (121, 60), (61, 121), (121, 91)
    stats = Stats.from_results(make_results(*games))
    assert stats.pairs == 3
    assert stats.games == 6
    assert stats.pairs_by_wins == (0, 2, 1)
    assert stats.wins == (2, 1, 1)
    assert stats.losses == (1, 1, 0)
    assert stats.win_rate == 4 / 6
    assert stats.margin_per_game == (11 - 21 + 31 + 61 - 60 + 30) / 6
    assert stats.margin_squares == 10**2 + 92**2 + 30**2
    assert stats.skunk_rate == 2 / 6
    assert stats.skunked_rate == 1 / 6
    assert stats.double_skunk_rate == 1 / 6
    assert stats.double_skunked_rate == 0
    assert stats.first_dealer_win_rate == 2 / 6
    assert stats.deals_per_game == 9
    assert stats.match_points(MATCH_POINTS["plain"]) == (2 + 2 + 3, 1 + 2)
    assert stats.match_points(MATCH_POINTS["quadruple"]) == (2 + 2 + 4, 1 + 2)
    assert stats.match_points(MATCH_POINTS["acc"]) == (4 + 3 + 3, 2 + 3)
    # Pairs' mean margins -5, 46, -15, at Student's 4.302653 for two degrees of freedom.
    half_width = 4.302653 * sqrt((5**2 + 46**2 + 15**2 - 26**2 / 3) / 2 / 3)
    assert stats.margin_interval == pytest.approx((26 / 3 - half_width, 26 / 3 + half_width))
    # Outcomes 1/2, 1, 1/2 of so few pairs leave any rate possible.
    assert stats.win_rate_interval == (0, 1)


def test_points_per_deal() -> None:
    results = make_results((121, 110), (100, 121))
    results["points"][:, 0, DEALER_HAND] = 30, 34
    results["times"][:, 0, DEALER_HAND] = 3, 5
    results["points"][:, 0, DEALER_PEGGING] = 3, 6
    results["times"][:, 0, DEALER_PEGGING] = 4, 5
    results["points"][:, 0, DEALER_CRIB] = 7, 0
    results["times"][:, 0, DEALER_CRIB] = 2, 0
    results["times"][:, 0, DEALER_HEELS] = 5
    results["points"][:, 1, PONE_HAND] = 16
    results["times"][:, 1, PONE_HAND] = 2
    stats = Stats.from_results(results)
    dealer = {"pegging": 1.0, "hand": 8.0, "crib": 3.5, "heels": 0.0, "total": 12.5}
    nothing = {"pegging": 0.0, "hand": 0.0, "total": 0.0}
    assert stats.points_per_deal() == {"dealer": dealer, "pone": nothing}
    assert stats.points_per_deal(1)["pone"] == nothing | {"hand": 8.0, "total": 8.0}
    assert stats.flipped().points_per_deal() == stats.points_per_deal(1)


def test_parts_add_up() -> None:
    results = random_results(50, seed=1)
    parts = [Stats.from_results(part) for part in np.split(results, [22, 60])]
    assert parts[0] + parts[1] + parts[2] == Stats.from_results(results)
    nothing = Stats.from_results(results[:0])
    assert nothing + parts[0] == parts[0]


def test_flipped() -> None:
    results = random_results(40, seed=2)
    stats = Stats.from_results(results)
    swapped = results.copy()
    for name in ("scores", "points", "times"):
        swapped[name] = results[name][:, ::-1]
    swapped["winner"] = 1 - results["winner"]
    assert stats.flipped() == Stats.from_results(swapped)
    assert stats.flipped().flipped() == stats
    low, high = stats.win_rate_interval
    assert stats.flipped().win_rate_interval == pytest.approx((1 - high, 1 - low))
    low, high = stats.margin_interval
    assert stats.flipped().margin_interval == pytest.approx((-high, -low))


def test_half_pairs_are_refused() -> None:
    results = random_results(3, seed=3)
    for wrong in (results[:5], results[1:5]):
        with pytest.raises(ValueError, match="both games of each pair"):
            Stats.from_results(wrong)


@pytest.mark.parametrize("num_pairs", [5, 10, 400])
def test_intervals_are_students(num_pairs: int) -> None:
    results = random_results(num_pairs, seed=4)
    stats = Stats.from_results(results)
    won = (results["winner"] == 0).reshape(-1, 2).mean(axis=1)
    margins = (results["scores"][:, 0] - results["scores"][:, 1]).reshape(-1, 2).mean(axis=1)
    for interval, values in (
        (stats.win_rate_interval, won),
        (stats.margin_interval, margins),
    ):
        error = scipy_stats.sem(values)
        low, high = scipy_stats.t.interval(0.95, num_pairs - 1, values.mean(), error)
        if values is won:
            low, high = max(low, 0), min(high, 1)
        assert interval == pytest.approx((low, high))


def test_alike_pairs_leave_doubt() -> None:
    square = scipy_stats.norm.ppf(0.975) ** 2
    assert of_pairs(0, 0, 10).win_rate_interval == pytest.approx((10 / (10 + square), 1))
    assert of_pairs(10, 0, 0).win_rate_interval == pytest.approx((0, square / (10 + square)))
    low, high = of_pairs(0, 100, 0).win_rate_interval
    assert (low, high) == pytest.approx((0.40383, 0.59617), abs=1e-5)  # tabulated for 50 of 100
    assert of_pairs(0, 100, 0).margin_interval == (0, 0)


def test_one_pair_says_little() -> None:
    for stats in (of_pairs(1, 0, 0), of_pairs(0, 1, 0), of_pairs(0, 0, 1)):
        low, high = stats.win_rate_interval
        assert 0 <= low <= stats.win_rate <= high <= 1
        assert high - low > 0.7
        assert stats.margin_interval == (-inf, inf)


@pytest.mark.parametrize("chances", [(0.2, 0.6, 0.2), (0.05, 0.45, 0.5), (0.3, 0.2, 0.5)])
def test_coverage(chances: tuple[float, float, float]) -> None:
    generator = np.random.default_rng(5)
    truth = chances[1] / 2 + chances[2]
    samples = generator.multinomial(150, chances, 4000).tolist()
    intervals = [of_pairs(*sample).win_rate_interval for sample in samples]
    covered = np.mean([low <= truth <= high for low, high in intervals])
    assert abs(covered - 0.95) < 0.015


def test_alike_pairs_cover() -> None:
    # Of pairs that are always won in 98% of cases, 20 alike are common; the interval allows for it.
    generator = np.random.default_rng(6)
    samples = generator.multinomial(20, (0.0, 0.02, 0.98), 4000).tolist()
    alike = [of_pairs(*sample) for sample in samples if 20 in sample]
    assert len(alike) > 1000
    assert all(stats.win_rate_interval.low <= 0.99 for stats in alike)
