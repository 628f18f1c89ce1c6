"""The sequential test: ratios worked by hand and maximised numerically, and its error rates."""

from collections.abc import Sequence
from math import inf, log, nan

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize, minimize_scalar
from scipy.special import xlogy

from cribai.errors import ConfigError
from cribai.tournament.sprt import (
    Bounds,
    Hypothesis,
    Sprt,
    elo,
    log_likelihood_ratio,
    win_rate,
)
from cribai.tournament.stats import Stats
from test_stats import of_pairs, tied_results


def chances(rate: float, ties: float) -> tuple[float, float, float]:
    """Chances of a pair's outcomes with this mean, and tied so often where the mean allows it."""
    ties = min(ties, 2 * min(rate, 1 - rate))
    return 1 - rate - ties / 2, ties, rate - ties / 2


def play(
    sprt: Sprt, truth: Sequence[float], tests: int, batch: int = 1
) -> tuple[float, float, float]:
    """Shares of tests that accepted h0 and h1, and the mean number of pairs."""
    generator = np.random.default_rng(7)
    counts = np.zeros((tests, len(truth)), np.int64)
    ratios = np.zeros(tests)
    low, high = sprt.bounds
    for _ in range(20_000):
        going = np.flatnonzero((low < ratios) & (ratios < high))
        if not len(going):
            break
        counts[going] += generator.multinomial(batch, truth, len(going))
        ratios[going] = log_likelihood_ratio(counts[going], sprt.h0, sprt.h1)
    assert not len(going)
    return float((ratios <= low).mean()), float((ratios >= high).mean()), counts.sum() / tests


def most_likely(counts: tuple[int, int, int], rate: float) -> float:
    """The greatest log-likelihood of counts at a rate, by search over the chance of no win."""
    excess = 2 * rate - 1

    def negative(none: float) -> float:
        truth = none, 1 - excess - 2 * none, none + excess
        return -float(xlogy(counts, truth).sum())

    ends = max(0.0, -excess), (1 - excess) / 2
    found = minimize_scalar(negative, bounds=ends, method="bounded", options={"xatol": 1e-12})
    return -min(found.fun, *map(negative, ends))


def test_elo() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.640065) == pytest.approx(100, abs=1e-3)
    assert (elo(0), elo(1)) == (-inf, inf)
    assert win_rate(0) == 0.5
    assert win_rate(-400) == pytest.approx(1 / 11)
    assert (win_rate(-inf), win_rate(inf), win_rate(1e9)) == (0, 1, 1)
    for lead in (-700.0, -3.0, 250.0):
        assert elo(win_rate(lead)) == pytest.approx(lead)
    for rate in (-0.1, 1.1, nan):
        with pytest.raises(ConfigError, match="from 0 to 1"):
            elo(rate)


def test_bounds() -> None:
    assert Sprt(0.5, 0.51).bounds == pytest.approx(Bounds(-2.944, 2.944), abs=5e-4)
    bounds = Sprt(0.5, 0.51, alpha=0.01, beta=0.1).bounds
    assert bounds == pytest.approx((log(0.1 / 0.99), log(0.9 / 0.01)))


def test_from_elo() -> None:
    sprt = Sprt.from_elo(-400, 400, alpha=0.01, beta=0.02)
    assert (sprt.h0, sprt.h1) == pytest.approx((1 / 11, 10 / 11))
    assert (sprt.alpha, sprt.beta) == (0.01, 0.02)


def test_ratio_by_hand() -> None:
    # At 1/2 the 40 decided pairs are shared out evenly: 0.2, 0.6, 0.2. The mean seen is 0.6.
    counts = 10, 60, 30
    ratio = 10 * log(0.1 / 0.2) + 30 * log(0.3 / 0.2)
    assert Sprt(0.5, 0.6).log_likelihood_ratio(counts) == pytest.approx(ratio)
    # At 0.55 the chance q of no win solves 200 q^2 - 22 q - 0.9 = 0.
    q = (22 + (22**2 + 4 * 200 * 0.9) ** 0.5) / 400
    ratio = 10 * log(q / 0.2) + 60 * log((0.9 - 2 * q) / 0.6) + 30 * log((q + 0.1) / 0.2)
    assert Sprt(0.5, 0.55).log_likelihood_ratio(counts) == pytest.approx(ratio)
    assert Sprt(0.5, 0.55).log_likelihood_ratio(of_pairs(*counts)) == pytest.approx(ratio)


def test_ratio_is_the_likeliest() -> None:
    generator = np.random.default_rng(1)
    samples = generator.integers(0, 40, (300, 3)) * generator.integers(0, 2, (300, 3))
    for counts in map(tuple, samples.tolist()):
        h0, h1 = sorted(generator.uniform(0.02, 0.98, 2).tolist())
        expected = most_likely(counts, h1) - most_likely(counts, h0)
        assert Sprt(h0, h1).log_likelihood_ratio(counts) == pytest.approx(expected, abs=1e-8)


def likelihood(counts: np.ndarray, rate: float) -> float:
    """The greatest log-likelihood of counts of any number of outcomes at a rate, by search."""
    outcomes = np.linspace(0, 1, len(counts))

    conditions = np.array([np.ones(len(counts)), outcomes])
    found = minimize(
        lambda chances: -float(xlogy(counts, chances).sum()),
        # A binomial distribution of this mean.
        stats.binom.pmf(np.arange(len(counts)), len(counts) - 1, rate),
        method="SLSQP",
        jac=lambda chances: -counts / chances,
        bounds=[(1e-9, 1)] * len(counts),
        constraints={
            "type": "eq",
            "fun": lambda chances: conditions @ chances - (1, rate),
            "jac": lambda _: conditions,
        },
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert found.success
    return -float(found.fun)


def test_ratio_with_ties_is_the_likeliest() -> None:
    generator = np.random.default_rng(2)
    for counts in generator.integers(1, 40, (60, 5)):
        h0, h1 = sorted(generator.uniform(0.2, 0.8, 2).tolist())
        expected = likelihood(counts, h1) - likelihood(counts, h0)
        ratio = Sprt(h0, h1).log_likelihood_ratio(counts.tolist())
        assert ratio == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_no_ties_are_ties_that_do_not_come() -> None:
    generator = np.random.default_rng(3)
    samples = generator.integers(0, 40, (200, 3)) * generator.integers(0, 2, (200, 3))
    with_ties = np.zeros((200, 5), np.int64)
    with_ties[:, ::2] = samples
    for h0, h1 in ((0.5, 0.51), (0.1, 0.3), (0.7, 0.9)):
        assert log_likelihood_ratio(with_ties, h0, h1) == pytest.approx(
            log_likelihood_ratio(samples, h0, h1)
        )


def test_ties_by_hand() -> None:
    sprt = Sprt(0.5, 0.6)
    # Pairs of two ties are pairs of a win and a loss; of a win and a tie each the mean is 3/4.
    assert sprt.log_likelihood_ratio((0, 0, 100, 0, 0)) == pytest.approx(100 * log(0.8))
    # At 0.6, 0.5 the chance of 3/4 is at most 0.8, 2/3, the rest being pairs lost.
    expected = 100 * log(0.8 / (2 / 3))
    assert sprt.log_likelihood_ratio((0, 0, 0, 100, 0)) == pytest.approx(expected)
    seen_by_b = Sprt(0.4, 0.5).log_likelihood_ratio((2, 30, 25, 40, 5)[::-1])
    assert sprt.log_likelihood_ratio((2, 30, 25, 40, 5)) == pytest.approx(-seen_by_b)
    results = tied_results(200, seed=3)
    sums = Stats.from_results(results)
    assert sprt.log_likelihood_ratio(sums) == sprt.log_likelihood_ratio(sums.pairs_by_half_wins)
    assert Sprt(0.3, 0.7).decision((0, 0, 0, 30, 0)) is Hypothesis.H1


@pytest.mark.parametrize("truth", [(0.1, 0.2, 0.4, 0.2, 0.1), (0.02, 0.46, 0.04, 0.46, 0.02)])
def test_errors_with_ties_are_as_rare_as_stated(truth: tuple[float, ...]) -> None:
    tests = 2000
    _, wrong, _ = play(Sprt(0.5, 0.54), truth, tests, batch=5)
    assert wrong < 0.05 + 3 * (0.05 * 0.95 / tests) ** 0.5
    wrong, _, _ = play(Sprt(0.46, 0.5), truth, tests, batch=5)
    assert wrong < 0.05 + 3 * (0.05 * 0.95 / tests) ** 0.5


@pytest.mark.parametrize("counts", [(1500, 7000, 1500), (1000, 8000, 1200), (3000, 4000, 3300)])
def test_ratio_of_many_pairs_is_nearly_normal(counts: tuple[int, int, int]) -> None:
    outcomes = np.repeat([0, 0.5, 1], counts)
    h0, h1 = 0.5, 0.51
    nearly = len(outcomes) * (h1 - h0) * (2 * outcomes.mean() - h0 - h1) / (2 * outcomes.var())
    assert Sprt(h0, h1).log_likelihood_ratio(counts) == pytest.approx(nearly, rel=0.005)


def test_sides_are_alike() -> None:
    for counts in ((3, 20, 9), (0, 5, 0), (0, 4, 2), (7, 0, 0)):
        seen_by_b = Sprt(0.3, 0.45).log_likelihood_ratio(counts[::-1])
        assert Sprt(0.55, 0.7).log_likelihood_ratio(counts) == pytest.approx(-seen_by_b)


def test_pairs_all_alike() -> None:
    sprt = Sprt(0.5, 0.51)
    assert sprt.log_likelihood_ratio((0, 100, 0)) == pytest.approx(100 * log(0.98))
    assert sprt.log_likelihood_ratio((0, 0, 100)) == pytest.approx(100 * log(0.51 / 0.5))
    assert sprt.log_likelihood_ratio((100, 0, 0)) == pytest.approx(100 * log(0.49 / 0.5))
    assert sprt.decision((0, 145, 0)) is None
    assert sprt.decision((0, 146, 0)) is Hypothesis.H0
    assert sprt.decision(of_pairs(0, 0, 149)) is Hypothesis.H1
    assert sprt.decision(of_pairs(146, 0, 0)) is Hypothesis.H0
    assert Sprt(0.45, 0.49).decision((0, 1000, 0)) is Hypothesis.H1
    assert Sprt(0.49, 0.51).decision((0, 10**6, 0)) is None


def test_few_pairs_decide_nothing() -> None:
    for sprt in (Sprt(0.5, 0.51), Sprt(0.45, 0.55)):
        assert sprt.log_likelihood_ratio((0, 0, 0)) == 0
        for counts in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 8, 2), (2, 8, 0)):
            assert sprt.decision(counts) is None


def test_ratios_of_an_array() -> None:
    counts = np.array([[[1, 2, 3], [0, 4, 0]], [[10, 60, 30], [0, 0, 0]]])
    ratios = log_likelihood_ratio(counts, 0.5, 0.6)
    assert ratios.shape == (2, 2)
    assert ratios[1, 0] == Sprt(0.5, 0.6).log_likelihood_ratio((10, 60, 30))


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((0.5, 0.5), "h0 is 0.5 and h1 is 0.5"),
        ((0.6, 0.5), "choose h0 below h1"),
        ((0.0, 0.5), "h0 is 0.0"),
        ((0.5, 1.0), "h1 is 1.0"),
        ((nan, 0.5), "h0 is nan"),
        ((0.5, 0.6, 0.0), "alpha is 0.0"),
        ((0.5, 0.6, 0.05, 0.5), "beta is 0.5"),
    ],
)
def test_bad_tests_are_refused(values: tuple[float, ...], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Sprt(*values)


def test_bad_leads_are_refused() -> None:
    for lead in (inf, -inf, nan):
        with pytest.raises(ConfigError, match=r"elo1 is .*; choose a finite number"):
            Sprt.from_elo(0, lead)
    with pytest.raises(ConfigError, match=r"h1 is 1\.0"):
        Sprt.from_elo(0, 1e6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("h0", "h1", "batch"), [(0.5, 0.54, 1), (0.5, 0.51, 20), (0.9, 0.95, 1), (0.3, 0.7, 1)]
)
@pytest.mark.parametrize("ties", [0.3, 0.7, 0.96])
def test_errors_are_as_rare_as_stated(h0: float, h1: float, batch: int, ties: float) -> None:
    sprt = Sprt(h0, h1)
    tests = 4000
    _, wrong, _ = play(sprt, chances(h0, ties), tests, batch)
    assert wrong < 0.05 + 3 * (0.05 * 0.95 / tests) ** 0.5
    wrong, _, _ = play(sprt, chances(h1, ties), tests, batch)
    assert wrong < 0.05 + 3 * (0.05 * 0.95 / tests) ** 0.5


def test_pairs_needed() -> None:
    # Wald: the mean ratio at the end over that of a pair. Pairs here cut the variance 2.4 times.
    truth = chances(0.51, 0.79)
    variance = truth[1] / 4 + truth[2] - 0.51**2
    wald = (0.95 * log(19) - 0.05 * log(19)) / (0.01**2 / (2 * variance))
    _, right, pairs = play(Sprt(0.5, 0.51), truth, tests=4000, batch=10)
    assert right == pytest.approx(0.95, abs=0.01)
    assert pairs == pytest.approx(wald, rel=0.05)
    assert 2 * pairs == pytest.approx(5600, rel=0.05)
