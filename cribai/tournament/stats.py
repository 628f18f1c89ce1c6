"""What the results of a match say: rates and margins with their intervals over pairs.

`Stats` keeps exact sums that add up, so that parts of a match can be played anywhere. Games of a
pair share their deals and are not independent; pairs are, so that intervals are taken over pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.engine.simulate import GAMES_PER_PAIR, NO_FORFEIT, TIE
from cribai.engine.state import (
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_HEELS,
    DEALER_PEGGING,
    NUM_TALLIES,
    PONE_HAND,
    PONE_PEGGING,
)
from cribai.match_points import MatchPoints
from cribai.tournament.intervals import (
    Interval,
    ratio_interval,
    share_interval,
    student_interval,
)

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

HALVES: Final = 2
"""Half-wins of a game won; a tie is one for each side."""

MOST_HALF_WINS: Final = HALVES * GAMES_PER_PAIR
"""Half-wins of a pair won."""

NUM_LEVELS: Final = 3
"""Ways to lose: plainly, by a skunk, by a double skunk."""

Tallies = tuple[tuple[int, ...], tuple[int, ...]]
"""Of agents `a` and `b`, each by source as in `cribai.engine.state.NUM_TALLIES`."""

_NOTHING: Final[Tallies] = ((0,) * NUM_TALLIES, (0,) * NUM_TALLIES)


@dataclass(frozen=True, slots=True)
class Stats:
    """Sums over the pairs of a match, as seen by agent `a`; `+` joins parts of a match.

    A win is two half-wins and a tie one. Rates and means need at least one pair. Squares and
    products are of sums over the two games of a pair, added over the pairs.

    Attributes:
        pairs_by_half_wins: Pairs in which `a` has 0, 1, 2, 3 and 4 half-wins.
        ends: Games by how they ended: won by `a` with the loser at skunk level 0, 1, 2, then lost
            likewise; the others were ties.
        end_products: Products of the numbers of games of a pair by how they ended, 6 by 6.
        margin: `a`'s score minus `b`'s; below zero for the better in lowball.
        margin_squares: Its squares.
        first_dealer_half_wins: Half-wins of the first dealer's side.
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
        luck_half_wins: Products of luck and half-wins.
        forfeits: Games forfeited by `a` and by `b`.
    """

    pairs_by_half_wins: tuple[int, ...]
    ends: tuple[int, ...]
    end_products: tuple[tuple[int, ...], ...]
    margin: int = 0
    margin_squares: int = 0
    first_dealer_half_wins: int = 0
    first_dealer_squares: int = 0
    deals: int = 0
    points: Tallies = _NOTHING
    times: Tallies = _NOTHING
    point_squares: Tallies = _NOTHING
    point_times: Tallies = _NOTHING
    time_squares: Tallies = _NOTHING
    lucky_pairs: int = 0
    luck: int = 0
    luck_squares: int = 0
    luck_half_wins: int = 0
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
        won, tied = results["winner"] == 0, results["winner"] == TIE
        half_wins = half_wins_by_pair(results["winner"])
        ends = np.where(tied, -1, results["skunk"] + np.where(won, 0, NUM_LEVELS))
        counts = _by_pair(ends[:, np.newaxis] == np.arange(2 * NUM_LEVELS))
        margins = _by_pair(results["scores"][:, 0].astype(np.int64) - results["scores"][:, 1])
        first = _by_pair(np.where(tied, 1, HALVES * results["first_dealer_won"]))
        points, times = _by_pair(results["points"]), _by_pair(results["times"])
        lucks = np.zeros(0, np.int64) if luck is None else _by_pair(luck)
        forfeits = results["forfeit"][results["forfeit"] != NO_FORFEIT]
        return cls(
            pairs_by_half_wins=tuple(np.bincount(half_wins, minlength=MOST_HALF_WINS + 1).tolist()),
            ends=tuple(counts.sum(axis=0).tolist()),
            end_products=_tuples(counts.T @ counts),
            margin=int(margins.sum()),
            margin_squares=int((margins**2).sum()),
            first_dealer_half_wins=int(first.sum()),
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
            luck_half_wins=int((lucks * half_wins[: len(lucks)]).sum()),
            forfeits=tuple(np.bincount(forfeits, minlength=2).tolist()),
        )

    @classmethod
    def from_half_wins(cls, pairs: Sequence[int]) -> "Stats":
        """Returns the sums of pairs of which only the half-wins are known.

        Wins are taken for plain ones, of no margin, and ties for as few as there can be.

        Args:
            pairs: Pairs in which `a` has 0, 1, 2, 3 and 4 half-wins.
        """
        none, one, two, three, four = pairs
        products = np.zeros((2 * NUM_LEVELS, 2 * NUM_LEVELS), np.int64)
        products[0, 0] = two + three + 4 * four
        products[NUM_LEVELS, NUM_LEVELS] = two + one + 4 * none
        products[0, NUM_LEVELS] = products[NUM_LEVELS, 0] = two
        return cls(
            pairs_by_half_wins=tuple(pairs),
            ends=(two + three + 2 * four, 0, 0, two + one + 2 * none, 0, 0),
            end_products=_tuples(products),
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
            "pairs_by_half_wins": self.pairs_by_half_wins[::-1],
            "ends": tuple(self.ends[end] for end in order),
            "end_products": tuple(
                tuple(self.end_products[row][end] for end in order) for row in order
            ),
            "margin": -self.margin,
            "luck": -self.luck,
            # b has the half-wins that a does not.
            "luck_half_wins": self.luck_half_wins - MOST_HALF_WINS * self.luck,
            "forfeits": self.forfeits[::-1],
        }
        for name in ("points", "times", "point_squares", "point_times", "time_squares"):
            values[name] = values[name][::-1]
        return Stats(**values)

    @property
    def pairs(self) -> int:
        """Pairs played."""
        return sum(self.pairs_by_half_wins)

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
    def ties(self) -> int:
        """Games that nobody won."""
        return self.games - sum(self.ends)

    @property
    def tie_rate(self) -> float:
        """Share of the games that nobody won."""
        return self.ties / self.games

    @property
    def tie_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        decided, squares = self._weigh((1, 1, 1, 1, 1, 1))
        squares += GAMES_PER_PAIR**2 * self.pairs - 2 * GAMES_PER_PAIR * decided
        return share_interval(self.pairs, self.ties, squares)

    @property
    def half_wins(self) -> int:
        """Half-wins of `a`: two for each win and one for each tie."""
        return sum(number * pairs for number, pairs in enumerate(self.pairs_by_half_wins))

    @property
    def half_win_squares(self) -> int:
        """Its squares."""
        return sum(number**2 * pairs for number, pairs in enumerate(self.pairs_by_half_wins))

    @property
    def win_rate(self) -> float:
        """Share of the games that `a` won, a tie being half a win."""
        return self.half_wins / (HALVES * self.games)

    @property
    def win_rate_interval(self) -> Interval:
        """The win rate's interval: Student's over the pairs' means, within 0 and 1.

        When all pairs came out alike, their variance says nothing, and the interval is Wilson's
        with pairs as trials, which is wider than need be and never of no width (E. B. Wilson,
        "Probable inference, the law of succession, and statistical inference", JASA 22, 1927).
        """
        return share_interval(self.pairs, self.half_wins, self.half_win_squares, HALVES)

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
        """Share of the games that the first dealer's side won, a tie being half a win."""
        return self.first_dealer_half_wins / (HALVES * self.games)

    @property
    def first_dealer_win_rate_interval(self) -> Interval:
        """Its interval, of the kind of the win rate's."""
        halves, squares = self.first_dealer_half_wins, self.first_dealer_squares
        return share_interval(self.pairs, halves, squares, HALVES)

    @property
    def deals_per_game(self) -> float:
        """Mean number of deals begun in a game."""
        return self.deals / self.games

    def match_points(self, table: MatchPoints) -> tuple[int, int]:
        """Returns what the games won by `a` and by `b` are worth together; ties are worth none."""
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
        """Returns the intervals of `points_per_deal`, but for the totals."""
        return {
            role: {name: self._ratio_interval(agent, source) for name, source in sources.items()}
            for role, sources in SOURCES.items()
        }

    def _ratio_interval(self, agent: int, source: int) -> Interval:
        sums = self.points, self.times, self.point_squares, self.point_times, self.time_squares
        return ratio_interval(self.pairs, *(tallies[agent][source] for tallies in sums))

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


def half_wins_by_pair(winners: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the half-wins of `a` by pair, int64 array (n,).

    Args:
        winners: Integer array (2 * n,) of 0, 1 or TIE, a pair's games side by side.
    """
    return _by_pair(np.where(winners == TIE, 1, HALVES * (winners == 0)))


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
