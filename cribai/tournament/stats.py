"""What the results of a match say: rates and margins with their intervals over pairs.

`Stats` keeps sums that add up, so that parts of a match can be played anywhere. Games of a pair
share their deals and are not independent; pairs are, so that intervals are taken over pairs.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from cribai.engine.simulate import GAMES_PER_PAIR
from cribai.engine.state import (
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_HEELS,
    DEALER_PEGGING,
    PONE_HAND,
    PONE_PEGGING,
)
from cribai.rules import MatchPoints

CONFIDENCE: Final = 0.95

SOURCES: Final = {
    "dealer": {
        "pegging": DEALER_PEGGING,
        "hand": DEALER_HAND,
        "crib": DEALER_CRIB,
        "heels": DEALER_HEELS,
    },
    "pone": {"pegging": PONE_PEGGING, "hand": PONE_HAND},
}
"""Places in the tallies by role and source."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Stats:
    """Sums over the pairs of a match, as seen by agent `a`; `+` joins parts of a match.

    Rates and means need at least one pair.

    Attributes:
        pairs_by_wins: Pairs in which `a` won 0, 1 and 2 games.
        wins: Games that `a` won, by the loser's skunk level 0, 1, 2.
        losses: Games that `b` won, likewise.
        margin: Sum of `a`'s score minus `b`'s.
        margin_squares: Sum over the pairs of the square of their games' summed margin.
        first_dealer_wins: Games that the side of the first dealer won.
        deals: Deals begun.
        points: Points of `a` and `b`, each by source as in `cribai.engine.state.NUM_TALLIES`.
        times: How often each source was counted, likewise.
    """

    pairs_by_wins: tuple[int, int, int]
    wins: tuple[int, int, int]
    losses: tuple[int, int, int]
    margin: int
    margin_squares: int
    first_dealer_wins: int
    deals: int
    points: tuple[tuple[int, ...], tuple[int, ...]]
    times: tuple[tuple[int, ...], tuple[int, ...]]

    @classmethod
    def from_results(cls, results: NDArray[Any]) -> "Stats":
        """Returns the sums of results.

        Args:
            results: RESULT array (n,) of whole pairs, a pair's games side by side.

        Raises:
            ValueError: A pair lacks a game.
        """
        if len(results) % GAMES_PER_PAIR or (results["pair"][::2] != results["pair"][1::2]).any():
            raise ValueError("The results must hold both games of each pair, side by side.")
        won = results["winner"] == 0
        margins = results["scores"][:, 0].astype(np.int64) - results["scores"][:, 1]
        pair_margins = margins.reshape(-1, GAMES_PER_PAIR).sum(axis=1)
        return cls(
            pairs_by_wins=_count(won.reshape(-1, GAMES_PER_PAIR).sum(axis=1)),
            wins=_count(results["skunk"][won]),
            losses=_count(results["skunk"][~won]),
            margin=int(margins.sum()),
            margin_squares=int((pair_margins**2).sum()),
            first_dealer_wins=int(results["first_dealer_won"].sum()),
            deals=int(results["num_deals"].sum()),
            points=_tallies(results["points"]),
            times=_tallies(results["times"]),
        )

    def __add__(self, other: "Stats") -> "Stats":
        return Stats(
            pairs_by_wins=_sum(self.pairs_by_wins, other.pairs_by_wins),
            wins=_sum(self.wins, other.wins),
            losses=_sum(self.losses, other.losses),
            margin=self.margin + other.margin,
            margin_squares=self.margin_squares + other.margin_squares,
            first_dealer_wins=self.first_dealer_wins + other.first_dealer_wins,
            deals=self.deals + other.deals,
            points=_sum_tallies(self.points, other.points),
            times=_sum_tallies(self.times, other.times),
        )

    def flipped(self) -> "Stats":
        """Returns the same match as seen by `b`."""
        none, one, both = self.pairs_by_wins
        return Stats(
            pairs_by_wins=(both, one, none),
            wins=self.losses,
            losses=self.wins,
            margin=-self.margin,
            margin_squares=self.margin_squares,
            first_dealer_wins=self.first_dealer_wins,
            deals=self.deals,
            points=(self.points[1], self.points[0]),
            times=(self.times[1], self.times[0]),
        )

    @property
    def pairs(self) -> int:
        """Pairs played."""
        return sum(self.pairs_by_wins)

    @property
    def games(self) -> int:
        """Games played."""
        return GAMES_PER_PAIR * self.pairs

    @property
    def win_rate(self) -> float:
        """Share of the games that `a` won."""
        return sum(self.wins) / self.games

    @property
    def win_rate_interval(self) -> Interval:
        """The win rate's interval: Student's over the pairs' means, within 0 and 1.

        When all pairs came out alike, their variance says nothing, and the interval is Wilson's
        with pairs as trials, which is wider than need be and never of no width (E. B. Wilson,
        "Probable inference, the law of succession, and statistical inference", JASA 22, 1927).
        """
        _, one, both = self.pairs_by_wins
        if self.pairs in self.pairs_by_wins:
            return _wilson_interval(self.win_rate, self.pairs)
        low, high = _student_interval(self.pairs, one + 2 * both, one + 4 * both)
        return Interval(max(low, 0.0), min(high, 1.0))

    @property
    def margin_per_game(self) -> float:
        """Mean of `a`'s score minus `b`'s."""
        return self.margin / self.games

    @property
    def margin_interval(self) -> Interval:
        """The interval of the margin per game: Student's over the pairs; unbounded for one pair."""
        return _student_interval(self.pairs, self.margin, self.margin_squares)

    @property
    def skunk_rate(self) -> float:
        """Share of the games that `a` won by a skunk or more."""
        return sum(self.wins[1:]) / self.games

    @property
    def skunked_rate(self) -> float:
        """Share of the games that `a` lost by a skunk or more."""
        return sum(self.losses[1:]) / self.games

    @property
    def double_skunk_rate(self) -> float:
        """Share of the games that `a` won by a double skunk."""
        return self.wins[2] / self.games

    @property
    def double_skunked_rate(self) -> float:
        """Share of the games that `a` lost by a double skunk."""
        return self.losses[2] / self.games

    @property
    def first_dealer_win_rate(self) -> float:
        """Share of the games that the first dealer's side won, whoever it was."""
        return self.first_dealer_wins / self.games

    @property
    def deals_per_game(self) -> float:
        """Mean number of deals begun in a game."""
        return self.deals / self.games

    def match_points(self, table: MatchPoints) -> tuple[int, int]:
        """Returns what the games won by `a` and by `b` are worth together."""
        a, b = (
            sum(number * table.worth(level) for level, number in enumerate(games))
            for games in (self.wins, self.losses)
        )
        return a, b

    def points_per_deal(self, agent: int = 0) -> dict[str, dict[str, float]]:
        """Returns an agent's mean points by role and source, `total` being the sum of the parts.

        Each is a mean over the deals in which the source was counted, which the last deal of a game
        may not reach; 0 where none was.

        Args:
            agent: 0 for `a`, 1 for `b`.
        """
        table = {}
        for role, sources in SOURCES.items():
            parts = {
                name: self.points[agent][source] / max(self.times[agent][source], 1)
                for name, source in sources.items()
            }
            table[role] = parts | {"total": sum(parts.values())}
        return table


def _student_interval(pairs: int, total: int, squares: int) -> Interval:
    """Returns Student's interval of the mean per game from exact sums over pairs."""
    if pairs < 2:
        return Interval(-inf, inf)
    variance = (pairs * squares - total**2) / (pairs * (pairs - 1))
    quantile = float(stdtrit(pairs - 1, (1 + CONFIDENCE) / 2))
    mean = total / (GAMES_PER_PAIR * pairs)
    half_width = quantile * sqrt(variance / pairs) / GAMES_PER_PAIR
    return Interval(mean - half_width, mean + half_width)


def _wilson_interval(rate: float, trials: int) -> Interval:
    square = float(ndtri((1 + CONFIDENCE) / 2)) ** 2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    half_width = sqrt(square * (rate * (1 - rate) / trials + square / (4 * trials**2)))
    half_width /= 1 + square / trials
    return Interval(max(centre - half_width, 0.0), min(centre + half_width, 1.0))


def _count(values: NDArray[Any]) -> tuple[int, int, int]:
    none, one, two = np.bincount(values, minlength=3).tolist()
    return none, one, two


def _tallies(values: NDArray[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    a, b = values.sum(axis=0, dtype=np.int64).tolist()
    return tuple(a), tuple(b)


def _sum(left: tuple[int, int, int], right: tuple[int, int, int]) -> tuple[int, int, int]:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _sum_tallies(
    left: tuple[tuple[int, ...], tuple[int, ...]], right: tuple[tuple[int, ...], tuple[int, ...]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    a, b = (
        tuple(x + y for x, y in zip(of_left, of_right, strict=True))
        for of_left, of_right in zip(left, right, strict=True)
    )
    return a, b
