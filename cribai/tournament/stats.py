"""What the results of a match say: rates and margins with their intervals over pairs.

`Stats` keeps exact sums that add up, so that parts of a match can be played anywhere. Games of a
pair share their deals and are not independent; pairs are, so that intervals are taken over pairs.
"""

from dataclasses import dataclass, fields
from math import inf, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.engine.simulate import GAMES_PER_PAIR, NO_FORFEIT
from cribai.engine.state import (
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_HEELS,
    DEALER_PEGGING,
    NUM_TALLIES,
    PONE_HAND,
    PONE_PEGGING,
)
from cribai.rules import MatchPoints
from cribai.tournament.intervals import Interval, around, share_interval, student_interval

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

NUM_LEVELS: Final = 3
"""Ways to lose: plainly, by a skunk, by a double skunk."""

Tallies = tuple[tuple[int, ...], tuple[int, ...]]
"""Of agents `a` and `b`, each by source as in `cribai.engine.state.NUM_TALLIES`."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Sums over the pairs of a match, as seen by agent `a`; `+` joins parts of a match.

    Rates and means need at least one pair. Squares and products are of sums over the two games of a
    pair, added over the pairs.

    Attributes:
        pairs_by_wins: Pairs in which `a` won 0, 1 and 2 games.
        ends: Games by how they ended: won by `a` with the loser at skunk level 0, 1, 2, then lost
            likewise.
        end_products: Products of the numbers of games of a pair by how they ended, 6 by 6.
        margin: `a`'s score minus `b`'s.
        margin_squares: Its squares.
        first_dealer_wins: Games that the side of the first dealer won.
        first_dealer_squares: Its squares.
        deals: Deals begun.
        points: Points by source.
        times: How often each source was counted.
        point_squares: Squares of the points.
        point_times: Products of points and times.
        time_squares: Squares of the times.
        lucky_pairs: Pairs of which the luck is known.
        luck: `a`'s luck, see `cribai.analysis.luck`, in millionths of a game.
        luck_squares: Its squares.
        luck_wins: Products of luck and games won.
        forfeits: Games forfeited by `a` and by `b`.
    """

    pairs_by_wins: tuple[int, ...]
    ends: tuple[int, ...]
    end_products: tuple[tuple[int, ...], ...]
    margin: int
    margin_squares: int
    first_dealer_wins: int
    first_dealer_squares: int
    deals: int
    points: Tallies
    times: Tallies
    point_squares: Tallies
    point_times: Tallies
    time_squares: Tallies
    lucky_pairs: int = 0
    luck: int = 0
    luck_squares: int = 0
    luck_wins: int = 0
    forfeits: tuple[int, ...] = (0, 0)

    @classmethod
    def from_results(cls, results: NDArray[Any], luck: NDArray[np.int64] | None = None) -> "Stats":
        """Returns the sums of results.

        Args:
            results: RESULT array (n,) of whole pairs, a pair's games side by side.
            luck: int64 array (n,), `a`'s luck in millionths of a game; None when it is not known.

        Raises:
            ValueError: A pair lacks a game.
        """
        if len(results) % GAMES_PER_PAIR or (results["pair"][::2] != results["pair"][1::2]).any():
            raise ValueError("The results must hold both games of each pair, side by side.")
        won = results["winner"] == 0
        wins = _by_pair(won)
        ends = results["skunk"] + np.where(won, 0, NUM_LEVELS)
        counts = _by_pair(ends[:, np.newaxis] == np.arange(2 * NUM_LEVELS))
        margins = _by_pair(results["scores"][:, 0].astype(np.int64) - results["scores"][:, 1])
        first = _by_pair(results["first_dealer_won"])
        points, times = _by_pair(results["points"]), _by_pair(results["times"])
        lucks = np.zeros(0, np.int64) if luck is None else _by_pair(luck)
        forfeits = results["forfeit"][results["forfeit"] != NO_FORFEIT]
        return cls(
            pairs_by_wins=tuple(np.bincount(wins, minlength=3).tolist()),
            ends=tuple(counts.sum(axis=0).tolist()),
            end_products=_tuples(counts.T @ counts),
            margin=int(margins.sum()),
            margin_squares=int((margins**2).sum()),
            first_dealer_wins=int(first.sum()),
            first_dealer_squares=int((first**2).sum()),
            deals=int(results["num_deals"].sum()),
            points=_tallies(points),
            times=_tallies(times),
            point_squares=_tallies(points**2),
            point_times=_tallies(points * times),
            time_squares=_tallies(times**2),
            lucky_pairs=len(lucks),
            luck=int(lucks.sum()),
            luck_squares=int((lucks**2).sum()),
            luck_wins=int((lucks * wins[: len(lucks)]).sum()),
            forfeits=tuple(np.bincount(forfeits, minlength=2).tolist()),
        )

    @classmethod
    def from_wins(cls, none: int, one: int, both: int) -> "Stats":
        """Returns the sums of pairs of which only the wins are known: plain ones, of no margin.

        Args:
            none: Pairs of which `a` won no game.
            one: Pairs of which it won one.
            both: Pairs of which it won both.
        """
        wins, losses = one + 2 * both, one + 2 * none
        products = np.zeros((2 * NUM_LEVELS, 2 * NUM_LEVELS), np.int64)
        products[0, 0] = one + 4 * both
        products[NUM_LEVELS, NUM_LEVELS] = one + 4 * none
        products[0, NUM_LEVELS] = products[NUM_LEVELS, 0] = one
        nothing: Tallies = ((0,) * NUM_TALLIES, (0,) * NUM_TALLIES)
        return cls(
            pairs_by_wins=(none, one, both),
            ends=(wins, 0, 0, losses, 0, 0),
            end_products=_tuples(products),
            margin=0,
            margin_squares=0,
            first_dealer_wins=0,
            first_dealer_squares=0,
            deals=0,
            points=nothing,
            times=nothing,
            point_squares=nothing,
            point_times=nothing,
            time_squares=nothing,
        )

    def __add__(self, other: "Stats") -> "Stats":
        return Stats(
            **{
                field.name: _sum(getattr(self, field.name), getattr(other, field.name))
                for field in fields(self)
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the sums by name, as JSON has them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Stats":
        """Returns the sums of `to_dict`, also after JSON made lists of its tuples.

        Raises:
            TypeError: The names are not those of the sums.
        """
        return cls(**{name: _frozen(value) for name, value in values.items()})

    def flipped(self) -> "Stats":
        """Returns the same match as seen by `b`."""
        order = [*range(NUM_LEVELS, 2 * NUM_LEVELS), *range(NUM_LEVELS)]
        values = self.to_dict() | {
            "pairs_by_wins": self.pairs_by_wins[::-1],
            "ends": tuple(self.ends[end] for end in order),
            "end_products": tuple(
                tuple(self.end_products[row][end] for end in order) for row in order
            ),
            "margin": -self.margin,
            "luck": -self.luck,
            # b wins the games that a does not.
            "luck_wins": self.luck_wins - GAMES_PER_PAIR * self.luck,
            "forfeits": self.forfeits[::-1],
        }
        for name in ("points", "times", "point_squares", "point_times", "time_squares"):
            values[name] = values[name][::-1]
        return Stats(**values)

    @property
    def pairs(self) -> int:
        """Pairs played."""
        return sum(self.pairs_by_wins)

    @property
    def games(self) -> int:
        """Games played."""
        return GAMES_PER_PAIR * self.pairs

    @property
    def wins(self) -> tuple[int, ...]:
        """Games that `a` won, by the loser's skunk level 0, 1, 2."""
        return self.ends[:NUM_LEVELS]

    @property
    def losses(self) -> tuple[int, ...]:
        """Games that `b` won, likewise."""
        return self.ends[NUM_LEVELS:]

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
        return self._share_interval((1, 1, 1, 0, 0, 0))

    @property
    def margin_per_game(self) -> float:
        """Mean of `a`'s score minus `b`'s."""
        return self.margin / self.games

    @property
    def margin_interval(self) -> Interval:
        """The interval of the margin per game: Student's over the pairs; unbounded for one pair."""
        return student_interval(self.pairs, self.margin, self.margin_squares)

    @property
    def skunk_rate(self) -> float:
        """Share of the games that `a` won by a skunk or more."""
        return sum(self.wins[1:]) / self.games

    @property
    def skunk_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        return self._share_interval((0, 1, 1, 0, 0, 0))

    @property
    def skunked_rate(self) -> float:
        """Share of the games that `a` lost by a skunk or more."""
        return sum(self.losses[1:]) / self.games

    @property
    def skunked_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        return self._share_interval((0, 0, 0, 0, 1, 1))

    @property
    def double_skunk_rate(self) -> float:
        """Share of the games that `a` won by a double skunk."""
        return self.wins[2] / self.games

    @property
    def double_skunk_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        return self._share_interval((0, 0, 1, 0, 0, 0))

    @property
    def double_skunked_rate(self) -> float:
        """Share of the games that `a` lost by a double skunk."""
        return self.losses[2] / self.games

    @property
    def double_skunked_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        return self._share_interval((0, 0, 0, 0, 0, 1))

    @property
    def first_dealer_win_rate(self) -> float:
        """Share of the games that the first dealer's side won, whoever it was."""
        return self.first_dealer_wins / self.games

    @property
    def first_dealer_win_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        return share_interval(self.pairs, self.first_dealer_wins, self.first_dealer_squares)

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

    def match_points_ahead(self, table: MatchPoints) -> tuple[float, Interval]:
        """Returns how many match points a game `a` won more than `b`, and the interval."""
        worths = [table.worth(level) for level in range(NUM_LEVELS)]
        total, squares = self._weigh((*worths, *(-worth for worth in worths)))
        return total / self.games, student_interval(self.pairs, total, squares)

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

    def points_per_deal_intervals(self, agent: int = 0) -> dict[str, dict[str, Interval]]:
        """Returns the intervals of `points_per_deal`, but for the totals.

        A mean over deals is a ratio of sums over pairs; its variance is the delta method's,
        n / (n - 1) sum (p - r t)^2 / (sum t)^2 for points p and times t of n pairs and their ratio
        r (W. G. Cochran, "Sampling Techniques", 1977, chapter 6).
        """
        return {
            role: {name: self._ratio_interval(agent, source) for name, source in sources.items()}
            for role, sources in SOURCES.items()
        }

    def _ratio_interval(self, agent: int, source: int) -> Interval:
        pairs, times = self.pairs, self.times[agent][source]
        if pairs < 2 or times == 0:
            return Interval(-inf, inf)
        ratio = self.points[agent][source] / times
        residuals = (
            self.point_squares[agent][source]
            - 2 * ratio * self.point_times[agent][source]
            + ratio**2 * self.time_squares[agent][source]
        )
        error = sqrt(max(residuals, 0.0) * pairs / (pairs - 1)) / times
        return around(ratio, error, pairs)

    def _weigh(self, weights: tuple[int, ...]) -> tuple[int, int]:
        """Returns the sum over pairs of the weighted number of ends, and of its squares."""
        total = sum(weight * number for weight, number in zip(weights, self.ends, strict=True))
        squares = sum(
            left * right * product
            for left, row in zip(weights, self.end_products, strict=True)
            for right, product in zip(weights, row, strict=True)
        )
        return total, squares

    def _share_interval(self, weights: tuple[int, ...]) -> Interval:
        return share_interval(self.pairs, *self._weigh(weights))


def _by_pair(values: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the sums over the two games of each pair."""
    shape = (-1, GAMES_PER_PAIR, *values.shape[1:])
    sums: NDArray[np.int64] = values.reshape(shape).sum(axis=1, dtype=np.int64)
    return sums


def _tallies(values: NDArray[np.int64]) -> Tallies:
    a, b = values.sum(axis=0).tolist()
    return tuple(a), tuple(b)


def _tuples(rows: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows.tolist())


def _sum(left: Any, right: Any) -> Any:
    if isinstance(left, tuple):
        return tuple(_sum(x, y) for x, y in zip(left, right, strict=True))
    return left + right


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
