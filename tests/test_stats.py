"""Statistics: tables worked by hand, sums that add and flip, intervals that cover."""

import json
from collections.abc import Callable
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from cribai import MATCH_POINTS
from cribai.engine.simulate import NO_FORFEIT, RESULT, TIE
from cribai.engine.state import DEALER_CRIB, DEALER_HAND, DEALER_HEELS, DEALER_PEGGING, PONE_HAND
from cribai.tournament.luck import luck_adjusted
from cribai.tournament.stats import SOURCES, Stats


def make_results(*games: tuple[int, int]) -> NDArray[np.void]:
    """Results with these scores, pair by pair; b deals first in every game."""
    results = np.zeros(len(games), RESULT)
    results["pair"] = np.arange(len(games)) // 2
    results["game"] = np.arange(len(games)) % 2
    results["scores"] = np.reshape(games, (-1, 2))
    results["winner"] = results["scores"].argmax(axis=1)
    lowest = results["scores"].min(axis=1)
    results["skunk"] = (lowest <= 90) * 1 + (lowest <= 60)
    results["first_dealer"] = 1
    results["first_dealer_won"] = results["winner"] == 1
    results["num_deals"] = 9
    results["forfeit"] = NO_FORFEIT
    return results


def random_results(num_pairs: int, seed: int) -> NDArray[np.void]:
    generator = np.random.default_rng(seed)
    scores = np.full((2 * num_pairs, 2), 121)
    loser = generator.integers(2, size=len(scores))
    scores[np.arange(len(scores)), loser] = generator.integers(40, 121, len(scores))
    results = make_results(*map(tuple, scores.tolist()))
    results["first_dealer_won"] = generator.integers(2, size=len(scores))
    for name in ("points", "times"):
        results[name] = generator.integers(0, 100, results[name].shape)
    return results


def tied_results(num_pairs: int, seed: int) -> NDArray[np.void]:
    """Random results of which a third ended level."""
    results = random_results(num_pairs, seed)
    tied = np.random.default_rng(seed + 1000).random(len(results)) < 1 / 3
    results["winner"][tied] = TIE
    results["scores"][tied] = 121
    for name in ("skunk", "first_dealer_won"):
        results[name][tied] = 0
    return results


def half_wins(winners: NDArray[Any]) -> NDArray[np.float64]:
    """What each game is worth to `a`: a win 1, a tie 1/2."""
    return np.choose(winners + 1, [0.5, 1.0, 0.0])


def mirrored(results: NDArray[np.void]) -> NDArray[np.void]:
    """The same games with the agents' names swapped."""
    swapped = results.copy()
    for name in ("scores", "points", "times"):
        swapped[name] = results[name][:, ::-1]
    for name in ("winner", "forfeit"):
        swapped[name] = np.where(results[name] < 0, results[name], 1 - results[name])
    return swapped


def random_luck(results: NDArray[np.void], seed: int) -> NDArray[np.int64]:
    """Luck in millionths that goes with winning, as it does."""
    noise = np.random.default_rng(seed).normal(0, 0.4, len(results))
    won = results["winner"] == 0
    luck: NDArray[np.int64] = np.rint(1e6 * (0.3 * (won - 0.5) + noise)).astype(np.int64)
    return luck


def of_pairs(none: int, one: int, both: int) -> Stats:
    """Statistics of pairs of plain wins by 10, by the number of games won."""
    won, lost = (121, 111), (111, 121)
    return Stats.from_results(
        make_results(*([lost, lost] * none + [won, lost] * one + [won, won] * both))
    )


def of_wins(none: int, one: int, both: int) -> Stats:
    """Statistics of pairs of which only the number of games won is known."""
    return Stats.from_half_wins((none, 0, one, 0, both))


def by_pair(values: NDArray[Any]) -> NDArray[Any]:
    """Mean of each pair's two games."""
    means: NDArray[Any] = values.reshape(-1, 2).mean(axis=1)
    return means


def test_by_hand() -> None:
    # A plain win and a plain loss; a skunk and a double skunk; a loss by a skunk and a plain win.
    games = (121, 110), (100, 121), (121, 90), (121, 60), (61, 121), (121, 91)
    stats = Stats.from_results(make_results(*games))
    assert stats.pairs == 3
    assert stats.games == 6
    assert stats.pairs_by_half_wins == (0, 0, 2, 0, 1)
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
    assert stats.forfeits == (0, 0)
    assert stats.match_points(MATCH_POINTS["plain"]) == (2 + 2 + 3, 1 + 2)
    assert stats.match_points(MATCH_POINTS["quadruple"]) == (2 + 2 + 4, 1 + 2)
    assert stats.match_points(MATCH_POINTS["acc"]) == (4 + 3 + 3, 2 + 3)
    # Pairs' mean margins -5, 46, -15, at Student's 4.302653 for two degrees of freedom.
    half_width = 4.302653 * sqrt((5**2 + 46**2 + 15**2 - 26**2 / 3) / 2 / 3)
    assert stats.margin_interval == pytest.approx((26 / 3 - half_width, 26 / 3 + half_width))
    # Outcomes 1/2, 1, 1/2 of so few pairs leave any rate possible.
    assert stats.win_rate_interval == (0, 1)
    # Plain points ahead of the pairs: 1 - 1, 2 + 3, 1 - 2, a game half of that.
    ahead, interval = stats.match_points_ahead(MATCH_POINTS["plain"])
    assert ahead == 4 / 6
    half_width = 4.302653 * sqrt((0 + 2.5**2 + 0.5**2 - 2**2 / 3) / 2 / 3)
    assert interval == pytest.approx((2 / 3 - half_width, 2 / 3 + half_width))


def test_ties_by_hand() -> None:
    # A win and a tie; two ties; a loss by a skunk and a tie; a loss and a win; two wins.
    winners = 0, TIE, TIE, TIE, 1, TIE, 1, 0, 0, 0
    results = make_results(*[(121, 121)] * 10)
    results["winner"] = winners
    results["skunk"] = 0
    results["skunk"][4] = 1
    results["first_dealer_won"] = results["winner"] == 1
    stats = Stats.from_results(results)
    assert stats.pairs_by_half_wins == (0, 1, 2, 1, 1)
    assert (stats.wins, stats.losses, stats.ties) == ((4, 0, 0), (1, 1, 0), 4)
    assert stats.win_rate == (4 + 4 / 2) / 10
    assert stats.flipped().win_rate == (2 + 4 / 2) / 10
    assert stats.tie_rate == stats.flipped().tie_rate == 4 / 10
    assert stats.skunked_rate == 1 / 10
    # b dealt first in every game.
    assert stats.first_dealer_win_rate == (2 + 4 / 2) / 10
    assert stats.match_points(MATCH_POINTS["plain"]) == (4, 1 + 2)
    assert stats.match_points_ahead(MATCH_POINTS["plain"])[0] == (4 - 3) / 10
    # Outcomes 3/4, 1/2, 1/4, 1/2, 1, at Student's 2.776445 for four degrees of freedom.
    half_width = 2.776445 * sqrt((0.15**2 + 0.1**2 + 0.35**2 + 0.1**2 + 0.4**2) / 4 / 5)
    assert stats.win_rate_interval == pytest.approx((0.6 - half_width, 0.6 + half_width))


def test_games_are_won_lost_or_tied() -> None:
    for seed in range(20):
        results = tied_results(30, seed)
        stats = Stats.from_results(results)
        assert sum(stats.wins) + sum(stats.losses) + stats.ties == stats.games == 60
        assert stats.ties == (results["winner"] == TIE).sum() > 0
        twin = Stats.from_results(mirrored(results))
        assert twin.win_rate == pytest.approx(1 - stats.win_rate)
        low, high = stats.win_rate_interval
        assert twin.win_rate_interval == pytest.approx((1 - high, 1 - low))
        assert (twin.ties, twin.tie_rate) == (stats.ties, stats.tie_rate)
        assert twin.tie_rate_interval == stats.tie_rate_interval
        assert twin.first_dealer_win_rate == stats.first_dealer_win_rate


def test_all_games_tied() -> None:
    results = make_results(*[(121, 121)] * 20)
    results["winner"], results["first_dealer_won"] = TIE, 0
    stats = Stats.from_results(results)
    assert (stats.win_rate, stats.tie_rate, stats.first_dealer_win_rate) == (0.5, 1, 0.5)
    assert stats.ends == (0,) * 6
    # As of pairs of a win and a loss each, which are alike too.
    assert stats.win_rate_interval == of_pairs(0, 10, 0).win_rate_interval
    assert of_pairs(0, 10, 0).tie_rate_interval == of_pairs(10, 0, 0).win_rate_interval


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


@pytest.mark.parametrize("with_luck", [False, True])
def test_parts_add_up(with_luck: bool) -> None:
    results = tied_results(50, seed=1)
    luck = random_luck(results, seed=1)
    results["forfeit"][[3, 40, 41]] = 0, 1, 1
    ends = [22, 60]

    def stats(results: NDArray[np.void], luck: NDArray[np.int64]) -> Stats:
        return Stats.from_results(results, luck if with_luck else None)

    parts = list(map(stats, np.split(results, ends), np.split(luck, ends)))
    assert parts[0] + parts[1] + parts[2] == stats(results, luck)
    nothing = stats(results[:0], luck[:0])
    assert nothing + parts[0] == parts[0]
    assert (parts[0] + parts[1] + parts[2]).forfeits == (1, 2)


@pytest.mark.parametrize("make", [random_results, tied_results])
def test_flipped(make: Callable[[int, int], NDArray[np.void]]) -> None:
    results = make(40, 2)
    results["forfeit"][[3, 40, 41]] = 0, 1, 1
    luck = random_luck(results, seed=2)
    stats = Stats.from_results(results, luck)
    assert stats.flipped() == Stats.from_results(mirrored(results), -luck)
    assert stats.flipped().flipped() == stats
    low, high = stats.win_rate_interval
    assert stats.flipped().win_rate_interval == pytest.approx((1 - high, 1 - low))
    low, high = stats.margin_interval
    assert stats.flipped().margin_interval == pytest.approx((-high, -low))
    seen_by_a, seen_by_b = luck_adjusted(stats), luck_adjusted(stats.flipped())
    assert seen_by_a is not None
    assert seen_by_b is not None
    assert seen_by_b.win_rate == pytest.approx(1 - seen_by_a.win_rate)
    assert seen_by_b.luck == -seen_by_a.luck


def test_json_keeps_the_sums() -> None:
    results = tied_results(20, seed=9)
    stats = Stats.from_results(results, random_luck(results, seed=9))
    values = stats.to_dict()
    assert Stats.from_dict(json.loads(json.dumps(values))) == stats
    with pytest.raises(TypeError):
        Stats.from_dict(values | {"odd": 1})
    del values["ends"]
    with pytest.raises(TypeError):
        Stats.from_dict(values)


def test_wins_alone() -> None:
    for counts in ((3, 7, 2), (0, 5, 0), (0, 0, 4), (1, 0, 0)):
        known, full = of_wins(*counts), of_pairs(*counts)
        for name in ("pairs_by_half_wins", "ends", "end_products", "win_rate", "win_rate_interval"):
            assert getattr(known, name) == getattr(full, name)
        assert known.margin == 0
        assert known + known == of_wins(*(2 * count for count in counts))
        assert known.flipped() == of_wins(*counts[::-1])


def test_half_wins_alone() -> None:
    results = tied_results(60, seed=10)
    full = Stats.from_results(results)
    known = Stats.from_half_wins(full.pairs_by_half_wins)
    for name in ("pairs_by_half_wins", "half_wins", "win_rate", "win_rate_interval"):
        assert getattr(known, name) == getattr(full, name)
    assert 0 < known.ties < full.ties
    assert sum(known.wins) - sum(known.losses) == sum(full.wins) - sum(full.losses)
    # The fewest ties that there can be: one in each pair of an odd number of half-wins.
    _, one, _, three, _ = full.pairs_by_half_wins
    assert known.ties == one + three
    # Games decided: two in a pair or, with a tie, one; their squares likewise.
    assert np.array(known.end_products).sum() == 4 * (60 - known.ties) + known.ties


def test_half_pairs_are_refused() -> None:
    results = random_results(3, seed=3)
    for wrong in (results[:5], results[1:5]):
        with pytest.raises(ValueError, match="both games of each pair"):
            Stats.from_results(wrong)


SHARES: dict[str, Callable[[NDArray[np.void]], NDArray[Any]]] = {
    "win_rate": lambda r: half_wins(r["winner"]),
    "tie_rate": lambda r: r["winner"] == TIE,
    "skunk_rate": lambda r: (r["winner"] == 0) & (r["skunk"] >= 1),
    "skunked_rate": lambda r: (r["winner"] == 1) & (r["skunk"] >= 1),
    "double_skunk_rate": lambda r: (r["winner"] == 0) & (r["skunk"] == 2),
    "double_skunked_rate": lambda r: (r["winner"] == 1) & (r["skunk"] == 2),
    "first_dealer_win_rate": lambda r: np.where(r["winner"] == TIE, 0.5, r["first_dealer_won"]),
}


@pytest.mark.parametrize("num_pairs", [5, 30, 400])
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("make", [random_results, tied_results])
def test_intervals_of_shares_are_students(
    make: Callable[[int, int], NDArray[np.void]], name: str, num_pairs: int
) -> None:
    results = make(num_pairs, 4)
    stats = Stats.from_results(results)
    values = by_pair(SHARES[name](results))
    assert getattr(stats, name) == pytest.approx(values.mean())
    interval = getattr(stats, f"{name}_interval")
    if values.std() == 0:
        assert interval.high - interval.low > 2 / num_pairs
        return
    error = scipy_stats.sem(values)
    low, high = scipy_stats.t.interval(0.95, num_pairs - 1, values.mean(), error)
    assert interval == pytest.approx((max(low, 0), min(high, 1)))


@pytest.mark.parametrize("num_pairs", [5, 30, 400])
@pytest.mark.parametrize("name", [None, *MATCH_POINTS])
@pytest.mark.parametrize("make", [random_results, tied_results])
def test_intervals_of_means_are_students(
    make: Callable[[int, int], NDArray[np.void]], name: str | None, num_pairs: int
) -> None:
    results = make(num_pairs, 4)
    stats = Stats.from_results(results)
    if name is None:
        mean, interval = stats.margin_per_game, stats.margin_interval
        values = by_pair(results["scores"][:, 0] - results["scores"][:, 1])
    else:
        mean, interval = stats.match_points_ahead(MATCH_POINTS[name])
        worth = [MATCH_POINTS[name].worth(level) for level in results["skunk"].tolist()]
        values = by_pair(np.choose(results["winner"] + 1, [0, worth, np.negative(worth)]))
    error = scipy_stats.sem(values)
    assert mean == pytest.approx(values.mean())
    assert interval == pytest.approx(
        scipy_stats.t.interval(0.95, num_pairs - 1, values.mean(), error)
    )


@pytest.mark.parametrize("agent", [0, 1])
def test_intervals_of_points_are_of_ratios(agent: int) -> None:
    results = random_results(80, seed=5)
    stats = Stats.from_results(results)
    intervals = stats.points_per_deal_intervals(agent)
    assert {role: list(parts) for role, parts in intervals.items()} == {
        role: list(parts) for role, parts in SOURCES.items()
    }
    for role, sources in SOURCES.items():
        for name, source in sources.items():
            points, times = (
                2 * by_pair(results[of][:, agent, source]) for of in ("points", "times")
            )
            ratio = points.sum() / times.sum()
            # The delta method: the error of the mean of the residuals, over the mean of the times.
            error = scipy_stats.sem(points - ratio * times) / times.mean()
            expected = scipy_stats.t.interval(0.95, 79, ratio, error)
            assert stats.points_per_deal(agent)[role][name] == pytest.approx(ratio)
            assert intervals[role][name] == pytest.approx(expected)


def test_intervals_of_points_agree_with_a_bootstrap() -> None:
    results = random_results(300, seed=6)
    points, times = (
        2 * by_pair(results[of][:, 0, DEALER_HAND]).astype(float) for of in ("points", "times")
    )
    chosen = np.random.default_rng(6).integers(0, 300, (4000, 300))
    ratios = points[chosen].sum(axis=1) / times[chosen].sum(axis=1)
    low, high = Stats.from_results(results).points_per_deal_intervals()["dealer"]["hand"]
    assert (high - low) == pytest.approx(2 * 1.968 * ratios.std(), rel=0.05)
    assert (low + high) / 2 == pytest.approx(ratios.mean(), rel=0.01)


def test_points_never_counted_have_no_bounds() -> None:
    stats = of_pairs(1, 2, 1)
    assert stats.points_per_deal_intervals()["dealer"]["crib"] == (-inf, inf)
    assert stats.points_per_deal()["dealer"]["crib"] == 0


@pytest.mark.parametrize("num_pairs", [4, 50, 400])
@pytest.mark.parametrize("make", [random_results, tied_results])
def test_luck_is_taken_out_by_regression(
    make: Callable[[int, int], NDArray[np.void]], num_pairs: int
) -> None:
    results = make(num_pairs, 7)
    luck = random_luck(results, seed=7)
    adjusted = luck_adjusted(Stats.from_results(results, luck))
    assert adjusted is not None
    won, lucks = by_pair(half_wins(results["winner"])), by_pair(luck) / 1e6
    fitted = sm.OLS(won, sm.add_constant(lucks)).fit()
    assert adjusted.win_rate == pytest.approx(fitted.params[0])
    assert adjusted.interval == pytest.approx(tuple(fitted.conf_int()[0].clip(0, 1)))
    assert adjusted.luck == pytest.approx(lucks.mean())
    assert adjusted.variance_reduction == pytest.approx(1 / (1 - fitted.rsquared))


def test_luck_does_not_lead_beyond_certainty() -> None:
    # Nearly always won, and never lucky but in the one pair that was not.
    results = make_results(*[(121, 100)] * 38, (100, 121), (121, 100))
    luck = np.full(40, -100_000)
    luck[38:] = 900_000
    adjusted = luck_adjusted(Stats.from_results(results, luck))
    assert adjusted is not None
    assert 0 <= adjusted.interval.low <= adjusted.win_rate <= adjusted.interval.high <= 1
    flipped = luck_adjusted(Stats.from_results(results, luck).flipped())
    assert flipped is not None
    assert flipped.win_rate == pytest.approx(1 - adjusted.win_rate)
    assert flipped.interval == pytest.approx(
        (1 - adjusted.interval.high, 1 - adjusted.interval.low)
    )


def test_unknown_luck_is_not_taken_out() -> None:
    results = random_results(10, seed=8)
    luck = random_luck(results, seed=8)
    known, unknown = Stats.from_results(results, luck), Stats.from_results(results)
    assert luck_adjusted(unknown) is None
    assert luck_adjusted(known + unknown) is None
    assert luck_adjusted(Stats.from_results(results[:4], luck[:4])) is None
    assert luck_adjusted(Stats.from_results(results, luck * 0)) is None
    assert luck_adjusted(known) is not None


def test_alike_pairs_leave_doubt() -> None:
    square = scipy_stats.norm.ppf(0.975) ** 2
    assert of_pairs(0, 0, 10).win_rate_interval == pytest.approx((10 / (10 + square), 1))
    assert of_pairs(10, 0, 0).win_rate_interval == pytest.approx((0, square / (10 + square)))
    low, high = of_pairs(0, 100, 0).win_rate_interval
    assert (low, high) == pytest.approx((0.40383, 0.59617), abs=1e-5)  # tabulated for 50 of 100
    assert of_pairs(0, 100, 0).margin_interval == (0, 0)
    assert of_pairs(0, 3, 10).skunk_rate_interval == pytest.approx((0, square / (13 + square)))


def test_one_pair_says_little() -> None:
    for stats in (of_pairs(1, 0, 0), of_pairs(0, 1, 0), of_pairs(0, 0, 1)):
        low, high = stats.win_rate_interval
        assert 0 <= low <= stats.win_rate <= high <= 1
        assert high - low > 0.7
        assert stats.margin_interval == (-inf, inf)
        assert stats.match_points_ahead(MATCH_POINTS["plain"])[1] == (-inf, inf)


@pytest.mark.parametrize("chances", [(0.2, 0.6, 0.2), (0.05, 0.45, 0.5), (0.3, 0.2, 0.5)])
def test_coverage(chances: tuple[float, float, float]) -> None:
    generator = np.random.default_rng(5)
    truth = chances[1] / 2 + chances[2]
    samples = generator.multinomial(150, chances, 4000).tolist()
    intervals = [of_wins(*sample).win_rate_interval for sample in samples]
    covered = np.mean([low <= truth <= high for low, high in intervals])
    assert abs(covered - 0.95) < 0.015


def test_coverage_with_ties() -> None:
    chances = np.array([0.1, 0.25, 0.3, 0.2, 0.15])
    truth = float(chances @ np.linspace(0, 1, 5))
    samples = np.random.default_rng(5).multinomial(150, chances, 4000).tolist()
    intervals = [Stats.from_half_wins(sample).win_rate_interval for sample in samples]
    covered = np.mean([low <= truth <= high for low, high in intervals])
    assert abs(covered - 0.95) < 0.015


def test_coverage_of_other_intervals() -> None:
    covered = np.zeros(4)
    repeats = 1500
    for seed in range(repeats):
        results = random_results(60, seed)
        stats = Stats.from_results(results, random_luck(results, seed))
        adjusted = luck_adjusted(stats)
        assert adjusted is not None
        # In `random_results` each side wins half, by 121 less the mean of 40 to 120.
        for place, (truth, interval) in enumerate(
            [
                (0.0, stats.margin_interval),
                (0.5 * 51 / 81, stats.skunk_rate_interval),
                (1.0, stats.points_per_deal_intervals()["pone"]["hand"]),
                (0.5, adjusted.interval),
            ]
        ):
            covered[place] += interval.low <= truth <= interval.high
    assert np.abs(covered / repeats - 0.95).max() < 0.02


def test_alike_pairs_cover() -> None:
    # Of pairs that are always won in 98% of cases, 20 alike are common; the interval allows for it.
    generator = np.random.default_rng(6)
    samples = generator.multinomial(20, (0.0, 0.02, 0.98), 4000).tolist()
    alike = [sample for sample in samples if 20 in sample]
    assert len(alike) > 1000
    assert all(of_wins(*sample).win_rate_interval.low <= 0.99 for sample in alike)
