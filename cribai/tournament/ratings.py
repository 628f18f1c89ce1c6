"""Ratings of a whole tournament on one scale: the Bradley-Terry model, fitted to all matches.

Each entrant has a strength; of two, the one with the lead of x Elo wins at the rate
1 / (1 + 10^(-x / 400)), a tie being half a win. The strengths are those of the greatest likelihood.
Games of a pair are not independent, so that each match counts for the number of independent games
that would leave its win rate as uncertain as its pairs do. Matches are taken as independent of each
other. On the same deals they are not quite: if pairs of one entrant with two others correlate by c,
errors among k entrants are too small by a factor of up to sqrt(1 + (k - 2) c); of the shipped
agents that was 1.1.

Sources: R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I. The method of
paired comparisons", Biometrika 39, 1952; L. R. Ford, "Solution of a ranking problem from binary
comparisons", American Mathematical Monthly 64, 1957.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import sqrt
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, ndtr, ndtri

from cribai.errors import ConfigError
from cribai.tournament.intervals import CONFIDENCE, Interval
from cribai.tournament.sprt import ELO_PER_LOGIT
from cribai.tournament.stats import HALVES, MOST_HALF_WINS, Stats

_PRIOR: Final = 0.5
"""Wins and losses added to matches between groups that the results do not hold together."""

_Matches: TypeAlias = dict[tuple[int, int], Stats]
"""Statistics by places, the lower first, all matches of two entrants joined."""


@dataclass(frozen=True, slots=True)
class Rating:
    """How strong an entrant is.

    Attributes:
        label: The entrant.
        elo: Its rating.
        standard_error: That of its lead over the anchor; 0 for the anchor.
        interval: The rating's interval, by the normal approximation.
        games: Games that it played.
        win_rate: Share of them that it won, a tie being half a win.
    """

    label: str
    elo: float
    standard_error: float
    interval: Interval
    games: int
    win_rate: float


class Fit(NamedTuple):
    """Pearson's test of the model: whether one number an entrant explains all win rates.

    Attributes:
        chi_square: Sum over the matches of (p - m)^2 n / (m (1 - m)), p being the win rate, m the
            model's and n the effective games.
        degrees: Degrees of freedom: matches less free ratings.
        p_value: Chance of a chi-square so great under the model; 1 without degrees of freedom.
    """

    chi_square: float
    degrees: int
    p_value: float

    @property
    def rejected(self) -> bool:
        """Whether the results contradict the model."""
        return self.p_value < 1 - CONFIDENCE


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of a tournament, and what speaks against them.

    Attributes:
        ratings: The entrants' ratings, the best first.
        separated: Groups of entrants, the best first, between any two of which one won all games;
            empty when all entrants are one group. The results set no upper limit to the distances
            between groups, and those given depend on the prior.
        cycles: Entrants of which the first beats the second, the second the third and the third the
            first, each significantly. No ratings explain it.
        fit: The test of the model.
    """

    ratings: tuple[Rating, ...]
    separated: tuple[tuple[str, ...], ...]
    cycles: tuple[tuple[str, str, str], ...]
    fit: Fit


def rate(
    labels: Sequence[str],
    matches: Iterable[tuple[int, int, Stats]],
    anchor: int = 0,
    anchor_elo: float = 0.0,
) -> Ratings:
    """Returns the entrants' ratings.

    The likelihood has a maximum only if the entrants cannot be split into two groups of which one
    won every game against the other. If they can, half a game won and half a game lost are added to
    each match between such groups.

    Args:
        labels: The entrants.
        matches: Places of `a` and `b` among the entrants, and statistics as seen by `a`; two
            entrants may have met more than once.
        anchor: Place of the entrant whose rating is given, and from which errors are reckoned.
        anchor_elo: Its rating.

    Raises:
        ConfigError: There are fewer than two entrants, a place is not among them, an entrant met
            itself, or no chain of matches joins two of them.
    """
    joined = _join(len(labels), matches, anchor)
    won = _games_won(len(labels), joined)
    _check_connected(labels, won)
    groups = connected_components(won > 0, connection="strong")[1]
    model = _fit(len(labels), joined, groups, anchor)
    ratings = [
        _rating(label, anchor_elo + lead, error, wins, games)
        for label, lead, error, wins, games in zip(
            labels,
            model.leads,
            model.errors,
            won.sum(axis=1),
            (won + won.T).sum(axis=1),
            strict=True,
        )
    ]
    order = sorted(range(len(labels)), key=lambda place: -ratings[place].elo)
    return Ratings(
        ratings=tuple(ratings[place] for place in order),
        separated=_separated(labels, groups, order),
        cycles=_cycles(labels, joined),
        fit=model.fit,
    )


def effective_games(stats: Stats) -> float:
    """Returns the number of independent games that would leave the win rate as uncertain.

    It is p (1 - p) / e^2, p being the win rate and e its standard error over pairs. Both are taken
    with half a pair added to each of the outcomes 0, 1/2 and 1, so that pairs all alike are no
    certainty: N even pairs count for about N^2 games, N won pairs for about 1.2 N.
    """
    mean, variance = _smoothed(stats)
    return stats.pairs * mean * (1 - mean) / variance


def likelihood_of_superiority(stats: Stats) -> float:
    """Returns the chance that `a` is the better, by the normal approximation over pairs.

    It is the normal distribution at (p - 1/2) / e, with win rate and error as in `effective_games`:
    1/2 when the results are even, or there are none.
    """
    mean, variance = _smoothed(stats)
    return float(ndtr((mean - 0.5) * sqrt(stats.pairs / variance)))


def _smoothed(stats: Stats) -> tuple[float, float]:
    """Returns a pair's mean and variance, half a pair being added to 0, one and two wins."""
    pairs = stats.pairs + 1.5
    added = (0, HALVES, MOST_HALF_WINS)
    total = stats.half_wins + sum(added) / 2
    squares = stats.half_win_squares + sum(number**2 for number in added) / 2
    mean = total / MOST_HALF_WINS / pairs
    return mean, squares / MOST_HALF_WINS**2 / pairs - mean**2


def _join(num_entrants: int, matches: Iterable[tuple[int, int, Stats]], anchor: int) -> _Matches:
    """Returns the matches that were played, joined by entrants."""
    if num_entrants < 2:
        raise ConfigError(f"Ratings need at least two entrants, not {num_entrants}; name more.")
    _check_place(anchor, num_entrants)
    joined: _Matches = {}
    for a, b, stats in matches:
        _check_place(a, num_entrants)
        _check_place(b, num_entrants)
        if a == b:
            raise ConfigError(f"Entrant {a} met itself; rate matches of two entrants.")
        if stats.pairs:
            key, seen = ((a, b), stats) if a < b else ((b, a), stats.flipped())
            joined[key] = joined[key] + seen if key in joined else seen
    return joined


def _check_place(place: int, num_entrants: int) -> None:
    if not 0 <= place < num_entrants:
        raise ConfigError(f"There is no entrant {place}; choose from 0 to {num_entrants - 1}.")


def _games_won(num_entrants: int, matches: _Matches) -> NDArray[np.float64]:
    """Returns the games that each entrant (row) won against each other (column), ties by half."""
    won = np.zeros((num_entrants, num_entrants))
    for (a, b), stats in matches.items():
        won[a, b] = stats.half_wins / HALVES
        won[b, a] = stats.games - won[a, b]
    return won


def _check_connected(labels: Sequence[str], won: NDArray[np.float64]) -> None:
    groups = connected_components(won + won.T > 0, directed=False)[1]
    apart = np.flatnonzero(groups != groups[0])
    if len(apart):
        raise ConfigError(
            f"No chain of matches joins {labels[0]!r} and {labels[apart[0]]!r}; let them meet, or"
            " rate their groups apart."
        )


class _Model(NamedTuple):
    """The fitted model: leads over the anchor and their errors, in Elo and by place."""

    leads: NDArray[np.float64]
    errors: NDArray[np.float64]
    fit: Fit


def _fit(num_entrants: int, matches: _Matches, groups: NDArray[Any], anchor: int) -> _Model:
    """Fits the model: a binomial regression of win rates on who met whom, the anchor left out."""
    # Slow to load.
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

    signs = np.zeros((len(matches), num_entrants))
    a, b = np.array(list(matches)).T
    signs[range(len(a)), a] = 1
    signs[range(len(b)), b] = -1
    free = np.delete(np.arange(num_entrants), anchor)
    prior = np.where(groups[a] != groups[b], _PRIOR, 0.0)
    games = np.array([effective_games(stats) for stats in matches.values()])
    rates = np.array([stats.win_rate for stats in matches.values()])
    rates = (rates * games + prior) / (games + 2 * prior)
    games += 2 * prior
    model = GLM(rates, signs[:, free], family=Binomial(), var_weights=games)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        # Both come of as many ratings as matches, which explain every rate.
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        fitted = model.fit()
    leads, errors = np.zeros((2, num_entrants))
    leads[free] = ELO_PER_LOGIT * fitted.params
    errors[free] = ELO_PER_LOGIT * fitted.bse
    degrees = len(matches) - len(free)
    chi_square = float(fitted.pearson_chi2)
    return _Model(leads, errors, Fit(chi_square, degrees, _p_value(chi_square, degrees)))


def _p_value(chi_square: float, degrees: int) -> float:
    return float(chdtrc(degrees, chi_square)) if degrees else 1.0


def _rating(label: str, elo: float, error: float, wins: float, games: float) -> Rating:
    half_width = float(ndtri((1 + CONFIDENCE) / 2)) * error
    return Rating(
        label=label,
        elo=float(elo),
        standard_error=float(error),
        interval=Interval(float(elo - half_width), float(elo + half_width)),
        games=int(games),
        win_rate=float(wins / games),
    )


def _separated(
    labels: Sequence[str], groups: NDArray[Any], order: Sequence[int]
) -> tuple[tuple[str, ...], ...]:
    members: defaultdict[int, list[str]] = defaultdict(list)
    for place in order:
        members[groups[place]].append(labels[place])
    return tuple(map(tuple, members.values())) if len(members) > 1 else ()


def _cycles(labels: Sequence[str], matches: _Matches) -> tuple[tuple[str, str, str], ...]:
    """Returns each cycle of three once, from its entrant of the lowest place."""
    beats = set()
    for (a, b), stats in matches.items():
        low, high = stats.win_rate_interval
        if low > 0.5:
            beats.add((a, b))
        elif high < 0.5:
            beats.add((b, a))
    return tuple(
        (labels[a], labels[b], labels[c])
        for a, b, c in permutations(range(len(labels)), 3)
        if a < min(b, c) and (a, b) in beats and (b, c) in beats and (c, a) in beats
    )
