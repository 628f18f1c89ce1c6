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


def share_interval(pairs: int, total: int, squares: int) -> Interval:
    """Returns the interval of a share of the games; Wilson's when all pairs came out alike."""
    if pairs * squares == total**2:
        return wilson_interval(total / (GAMES_PER_PAIR * pairs), pairs)
    low, high = student_interval(pairs, total, squares)
    return Interval(max(low, 0.0), min(high, 1.0))


def wilson_interval(rate: float, trials: int) -> Interval:
    """Returns Wilson's interval of a rate seen in so many trials."""
    square = float(ndtri((1 + CONFIDENCE) / 2)) ** 2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    half_width = sqrt(square * (rate * (1 - rate) / trials + square / (4 * trials**2)))
    half_width /= 1 + square / trials
    return Interval(max(centre - half_width, 0.0), min(centre + half_width, 1.0))
