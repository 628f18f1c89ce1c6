"""Confidence intervals over pairs, at 95%."""

from math import inf, sqrt
from typing import Final, NamedTuple

from scipy.special import ndtri, stdtrit

from cribai.engine.simulate import GAMES_PER_PAIR

CONFIDENCE: Final = 0.95


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def around(mean: float, error: float, pairs: int) -> Interval:
    """Returns Student's interval around a mean with a standard error taken from so many pairs."""
    half_width = float(stdtrit(pairs - 1, (1 + CONFIDENCE) / 2)) * error
    return Interval(mean - half_width, mean + half_width)


def student_interval(pairs: int, total: int, squares: int) -> Interval:
    """Returns Student's interval of the mean per game from exact sums over pairs."""
    if pairs < 2:
        return Interval(-inf, inf)
    variance = (pairs * squares - total**2) / (pairs * (pairs - 1))
    mean = total / (GAMES_PER_PAIR * pairs)
    return around(mean, sqrt(variance / pairs) / GAMES_PER_PAIR, pairs)


def share_interval(pairs: int, total: int, squares: int, most: int = 1) -> Interval:
    """Returns the interval of a share of the games; Wilson's when all pairs came out alike.

    Args:
        pairs: How many pairs.
        total: Sum over the pairs.
        squares: Sum of squares over the pairs.
        most: What a game adds at most: 1, or 2 when half-wins are counted.
    """
    if pairs * squares == total**2:
        return wilson_interval(total / (GAMES_PER_PAIR * most * pairs), pairs)
    low, high = student_interval(pairs, total, squares)
    return Interval(max(low / most, 0.0), min(high / most, 1.0))


def ratio_interval(
    pairs: int, total: int, times: int, squares: int, products: int, time_squares: int
) -> Interval:
    """Returns the interval of a ratio of sums over pairs, such as points a deal.

    Its variance is the delta method's, n / (n - 1) sum (p - r t)^2 / (sum t)^2 for points p and
    times t of n pairs and their ratio r (W. G. Cochran, "Sampling Techniques", 1977, chapter 6).

    Args:
        pairs: How many pairs.
        total: Sum of the points.
        times: Sum of the times.
        squares: Sum of the squares of the points.
        products: Sum of the products of points and times.
        time_squares: Sum of the squares of the times.
    """
    if pairs < 2 or times == 0:
        return Interval(-inf, inf)
    ratio = total / times
    residuals = squares - 2 * ratio * products + ratio**2 * time_squares
    error = sqrt(max(residuals, 0.0) * pairs / (pairs - 1)) / times
    return around(ratio, error, pairs)


def wilson_interval(rate: float, trials: int) -> Interval:
    """Returns Wilson's interval of a rate seen in so many trials."""
    square = float(ndtri((1 + CONFIDENCE) / 2)) ** 2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    half_width = sqrt(square * (rate * (1 - rate) / trials + square / (4 * trials**2)))
    half_width /= 1 + square / trials
    return Interval(max(centre - half_width, 0.0), min(centre + half_width, 1.0))
