"""`LuckWatcher`: measures the luck of every game of a match."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.luck import LUCK, begin_luck, luck_units, note_luck
from cribai.analysis.luck_tables import load_luck_tables
from cribai.engine.simulate import GAMES_PER_PAIR
from cribai.engine.state import compiled_rules
from cribai.rules import Rules


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
