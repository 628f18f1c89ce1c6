"""The luck of a match: measured game by game, and taken out of the win rate."""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.luck import LUCK, UNITS, begin_luck, luck_units, note_luck
from cribai.analysis.luck_tables import load_luck_tables
from cribai.engine.simulate import GAMES_PER_PAIR
from cribai.engine.state import compiled_rules
from cribai.rules import Rules
from cribai.tournament.intervals import Interval, around
from cribai.tournament.stats import HALVES, MOST_HALF_WINS, Stats


class LuckWatcher:
    """A watcher that measures the first agent's luck.

    Args:
        rules: The rules of the match, which `cribai.analysis.luck.covers_luck`.
        first_pair: Number of its first pair.
        num_pairs: How many pairs.

    Attributes:
        values: int64 array (2 * num_pairs,), the luck in millionths of a win, by pair and game.
    """

    def __init__(self, rules: Rules, first_pair: int, num_pairs: int) -> None:
        self.values = np.zeros(GAMES_PER_PAIR * num_pairs, np.int64)
        self._first = GAMES_PER_PAIR * first_pair
        self._rules = compiled_rules(rules)
        self._tables = load_luck_tables()
        self._luck = np.zeros(0, LUCK)

    def begun(
        self, states: NDArray[Any], seat_agents: NDArray[np.int8], places: NDArray[np.int64]
    ) -> None:
        """Notes the first deals; see `Watcher.begun`."""
        if len(self._luck) < len(states):
            self._luck = np.zeros(len(states), LUCK)
        begin_luck(states, self._rules, seat_agents, places, self._tables, self._luck)

    def decided(
        self,
        states: NDArray[Any],
        seat_agents: NDArray[np.int8],
        places: NDArray[np.int64],
        actions: NDArray[np.int64],  # noqa: ARG002
    ) -> None:
        """Notes new deals and starters; see `Watcher.decided`."""
        note_luck(states, self._rules, seat_agents, places, self._tables, self._luck)

    def ended(
        self,
        states: NDArray[Any],  # noqa: ARG002
        places: NDArray[np.int64],
        numbers: NDArray[np.int64],
    ) -> None:
        """Keeps the luck of the games; see `Watcher.ended`."""
        self.values[numbers - self._first] = luck_units(self._luck["luck"][places])


class LuckAdjusted(NamedTuple):
    """A win rate with luck as a control variate.

    Attributes:
        win_rate: Estimate of the same win rate.
        interval: Its interval.
        luck: `a`'s mean luck, in games won more than expected, a game.
        variance_reduction: How many times smaller the variance is than without.
    """

    win_rate: float
    interval: Interval
    luck: float
    variance_reduction: float


def luck_adjusted(stats: Stats) -> LuckAdjusted | None:
    """Returns the win rate with luck as a control variate; None when too little is known.

    The luck has the mean zero whatever the agents do, so that the win rate less a multiple of
    the mean luck has the same expectation. The multiple is the regression coefficient of a
    pair's half-wins on its luck, which leaves the least variance.
    """
    pairs = stats.lucky_pairs
    if pairs < 3 or pairs != stats.pairs:
        return None
    wins = stats.half_wins
    win_variance = pairs * stats.half_win_squares - wins**2
    luck_variance = pairs * stats.luck_squares - stats.luck**2
    covariance = pairs * stats.luck_half_wins - stats.luck * wins
    if win_variance == 0 or luck_variance == 0:
        return None
    slope = covariance / luck_variance
    left = win_variance - slope * covariance
    rate = (wins - slope * stats.luck) / (HALVES * stats.games)
    # Of the regression at no luck, which the mean luck is a little away from.
    error = sqrt(max(left, 0.0) / (pairs - 2)) / pairs / MOST_HALF_WINS
    error *= sqrt(1 + stats.luck**2 / luck_variance)
    low, high = around(rate, error, pairs - 1)
    return LuckAdjusted(
        win_rate=min(max(rate, 0.0), 1.0),
        interval=Interval(min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)),
        luck=stats.luck / UNITS / stats.games,
        variance_reduction=win_variance / left if left > 0 else inf,
    )
