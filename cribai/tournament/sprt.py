"""The sequential probability ratio test: play pairs until it is plain which of two rates is right.

A fixed number of pairs is either too many or too few. This test looks after every pair, or after
every batch of pairs, and stops as soon as the evidence suffices; where one of the two is right, no
test of the same error rates needs fewer pairs on average. It stops when the results look extreme,
so that the win rate seen by then is biased: take the decision from it, and a rate from a match of
fixed length.

Sources: A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics
16, 1945; X. Li, J. Liu and Z. Ying, "Generalized sequential probability ratio test for separate
families of hypotheses", Sequential Analysis 33, 2014; M. Van den Bergh, "A practical introduction
to the GSPRT", https://www.cantate.be/Fishtest/GSPRT_approximation.pdf.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, log
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, xlogy

from cribai.errors import ConfigError
from cribai.tournament.stats import Stats

ELO_PER_LOGIT: Final = 400 / log(10)
"""Elo's scale: a lead of 400 wins ten games for each one lost."""

PairsByWins: TypeAlias = Sequence[int]
"""Pairs in which `a` won 0, 1 and 2 games, or 0, 1/2, 1, 3/2 and 2, a tie being half a win."""

_MOST_STEPS: Final = 100
_CLOSE: Final = 1e-13
_MOST_OF_THE_WAY: Final = 15 / 16
_TINY: Final = float(np.finfo(np.float64).tiny)


class Hypothesis(StrEnum):
    """What a test has accepted."""

    H0 = "h0"
    H1 = "h1"


class Bounds(NamedTuple):
    """Where a test stops: at `low` or below it accepts `h0`, at `high` or above it `h1`."""

    low: float
    high: float


def elo(win_rate: float) -> float:
    """Returns the lead in Elo that wins at a rate: 400 log10(p / (1 - p)), infinite at 0 and 1.

    Raises:
        ConfigError: The rate is not between 0 and 1.
    """
    if not 0 <= win_rate <= 1:
        raise ConfigError(f"The win rate {win_rate} is no share of games; give one from 0 to 1.")
    return ELO_PER_LOGIT * float(logit(win_rate))


def win_rate(elo: float) -> float:
    """Returns the win rate of a lead in Elo: 1 / (1 + 10^(-elo / 400))."""
    return float(expit(elo / ELO_PER_LOGIT))


@dataclass(frozen=True, slots=True)
class Sprt:
    """A generalised sequential probability ratio test of two win rates over mirrored pairs.

    A pair's outcome is the mean of its games: 0, 1/2 or 1, and with tied games also 1/4 and 3/4.
    Each hypothesis fixes its mean alone; how often pairs come out even, and with it their variance,
    is estimated from the counts. See `log_likelihood_ratio`.

    Attributes:
        h0: The lower win rate.
        h1: The higher win rate.
        alpha: Chance to accept `h1` though `h0` is right.
        beta: Chance to accept `h0` though `h1` is right.
    """

    h0: float
    h1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name, rate in (("h0", self.h0), ("h1", self.h1)):
            if not 0 < rate < 1:
                raise ConfigError(f"The win rate {name} is {rate}; choose one above 0 and below 1.")
        if self.h0 >= self.h1:
            raise ConfigError(
                f"The win rate h0 is {self.h0} and h1 is {self.h1}; choose h0 below h1."
            )
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise ConfigError(
                    f"The error rate {name} is {chance}; choose one above 0 and below 0.5."
                )

    @classmethod
    def from_elo(cls, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05) -> "Sprt":
        """Returns the test of two leads in Elo.

        Args:
            elo0: Lead of `a` under `h0`.
            elo1: Lead of `a` under `h1`.
            alpha: Chance to accept `h1` though `h0` is right.
            beta: Chance to accept `h0` though `h1` is right.

        Raises:
            ConfigError: A number does not fit.
        """
        for name, lead in (("elo0", elo0), ("elo1", elo1)):
            if not isfinite(lead):
                raise ConfigError(f"The Elo lead {name} is {lead}; choose a finite number.")
        return cls(win_rate(elo0), win_rate(elo1), alpha, beta)

    @property
    def bounds(self) -> Bounds:
        """Wald's bounds: log(beta / (1 - alpha)) and log((1 - beta) / alpha)."""
        return Bounds(log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha))

    def log_likelihood_ratio(self, pairs: Stats | PairsByWins) -> float:
        """Returns the evidence for `h1` over `h0`, 0 for none; see the function of this name."""
        counts = pairs.pairs_by_half_wins if isinstance(pairs, Stats) else pairs
        return float(log_likelihood_ratio(counts, self.h0, self.h1))

    def decision(self, pairs: Stats | PairsByWins) -> Hypothesis | None:
        """Returns the hypothesis to accept after these pairs; None while more must be played.

        There need not ever be one: pairs that all are even between rates equally far from a half
        speak for neither. So bound the number of pairs.
        """
        ratio = self.log_likelihood_ratio(pairs)
        low, high = self.bounds
        if ratio <= low:
            return Hypothesis.H0
        return Hypothesis.H1 if ratio >= high else None


def log_likelihood_ratio(
    pairs_by_wins: ArrayLike, h0: float, h1: float
) -> NDArray[np.float64] | np.float64:
    """Returns log(L(h1) / L(h0)), L(h) being the counts' greatest likelihood at the win rate h.

    With counts n_i of pairs of the outcomes x_i, evenly spaced from 0 to 1, L(h) is the maximum of
    the product of p_i^n_i over all chances p_i of the mean h. For many pairs N with mean m and
    variance v the result is, nearly,

        N (h1 - h0) (2 m - h0 - h1) / (2 v).

    The approximation fails for few pairs, of which v is not yet known, and for pairs all alike, of
    which it is 0. The maximum needs neither v nor a prior; an outcome not seen yet is a count of 0
    like any other. N pairs won make it N log(h1 / h0), and N pairs of one win each make it
    N log((1 - |2 h1 - 1|) / (1 - |2 h0 - 1|)), which favours the rate nearer to a half.

    Args:
        pairs_by_wins: Pairs by outcome, see `PairsByWins`, the last axis of any array.
        h0: The lower win rate.
        h1: The higher win rate.
    """
    counts = np.asarray(pairs_by_wins, np.float64)
    return np.asarray(_shortfall(counts, h0) - _shortfall(counts, h1))[()]


def _shortfall(counts: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Returns by how much the counts' log-likelihood is greater at their own mean than at a rate.

    The likeliest chances are p_i = n_i / (N (1 + t (x_i - h))), and the shortfall is the sum of
    n_i log(1 + t (x_i - h)), greatest at this t between -1 / (1 - h) and 1 / h, where no chance is
    negative. At an end the extreme outcome, not seen, has what is left to 1 (M. Van den Bergh,
    "Maximum likelihood estimation of a multinomial distribution with a given expectation").
    """
    # By outcome first: NumPy adds up whole rows faster.
    outcomes = np.linspace(0, 1, counts.shape[-1]).reshape(-1, *[1] * (counts.ndim - 1))
    counts = np.ascontiguousarray(np.moveaxis(counts, -1, 0))
    distances = np.where(counts > 0, outcomes - rate, 0.0)
    low = np.full(counts.shape[1:], -1 / (1 - rate))
    high = np.full_like(low, 1 / rate)
    found = np.zeros_like(low)
    for _ in range(_MOST_STEPS):
        parts = distances / (1 + found * distances)
        slopes = counts * parts
        slope, curvature = slopes.sum(axis=0), (slopes * parts).sum(axis=0)
        low = np.where(slope >= 0, found, low)
        high = np.where(slope <= 0, found, high)
        # Newton's step; one that leads too far goes most of the way, as the maximum may be there.
        step = slope / np.maximum(curvature, _TINY)
        step = np.clip(step, _MOST_OF_THE_WAY * (low - found), _MOST_OF_THE_WAY * (high - found))
        found = found + step
        if not (np.abs(step) > _CLOSE).any():
            break
    result: NDArray[np.float64] = xlogy(counts, 1 + found * distances).sum(axis=0)
    return result
