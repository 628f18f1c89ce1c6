"""`GameBatch`: many games that advance in lockstep on the engine's kernels."""

from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cribai.engine import state as engine
from cribai.engine.simulate import award_game, deal_due, first_illegal, start_batch, step_batch
from cribai.engine.viewing import write_seat_views, write_views
from cribai.errors import IllegalActionError, RulesError
from cribai.rules import Rules, get_rules
from cribai.views import ViewBatch

MAX_SEED: Final = 2**64 - 1
MAX_NUMBER: Final = 2**62


class GameBatch:
    """N games that advance in lockstep.

    Args:
        states: STATE array (n,), taken as it is and modified in place by `step`.
        rules: The rules of all the games.
        games: int array (n,), the caller's numbers of the games as views show them; 0 to n - 1 by
            default.
    """

    def __init__(self, states: NDArray[Any], rules: Rules, games: ArrayLike | None = None) -> None:
        self.states = states
        self.rules = rules
        self.games = np.arange(len(states)) if games is None else np.asarray(games, np.int64)
        self._compiled = engine.compiled_rules(rules)
        self._log = engine.new_log(enabled=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leaves out the compiled rules, which are large and not to be copied."""
        return type(self), (self.states, self.rules, self.games)

    @classmethod
    def start(
        cls,
        size: int,
        rules: str | Rules = "standard",
        *,
        seed: int,
        pairs: ArrayLike | None = None,
        games: ArrayLike = 0,
        first_dealer: int | None = None,
    ) -> Self:
        """Returns new games.

        Args:
            size: How many.
            rules: Rules or a preset's name.
            seed: Seed of the match, 0 to 2**64 - 1.
            pairs: int array (size,), the number of each game's pair; games of a pair have the same
                deals. 0 to size - 1 by default.
            games: int array (size,) or one number, the number of each game in its pair.
            first_dealer: The seat that deals first in all games; None to cut for it.

        Raises:
            RulesError: The rules are unknown or the seed or dealer out of range.
        """
        rules = get_rules(rules)
        states = np.zeros(size, engine.state_dtype(rules))
        dealer = (
            engine.NO_PLAYER
            if first_dealer is None
            else checked_integer("first dealer", first_dealer, 0, rules.num_players - 1)
        )
        start_batch(
            states,
            engine.compiled_rules(rules),
            checked_seed(seed),
            np.arange(size) if pairs is None else np.asarray(pairs, np.int64),
            np.ascontiguousarray(np.broadcast_to(np.asarray(games, np.int64), size)),
            np.full(size, dealer, np.int64),
        )
        return cls(states, rules)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which games have ended, bool array (n,)."""
        return np.asarray(self.states["phase"] == engine.OVER)

    @property
    def scores(self) -> NDArray[np.int64]:
        """The scores by side, int64 array (n, sides)."""
        return self.states["scores"][:, : self.rules.num_sides].astype(np.int64)

    @property
    def winners(self) -> NDArray[np.int64]:
        """The sides that won, int64 array (n,); -1 where the game goes on or ended in a tie."""
        return self.states["winner"].astype(np.int64)

    def views(self, indices: ArrayLike | None = None) -> ViewBatch:
        """Returns the views of the games with a decision due, or of those at given indices.

        Raises:
            IllegalActionError: An index is out of range, named twice, or its game is over.
        """
        chosen = self._due(indices)
        array = np.zeros(len(chosen), engine.view_dtype(self.rules))
        write_views(self.states, self._compiled, self.games, chosen, array)
        return ViewBatch(array, self.rules)

    def seat_views(self, seats: ArrayLike) -> ViewBatch:
        """Returns one seat's view of each game, whether it is to act or not.

        Args:
            seats: int array (n,) or one number, whose view.
        """
        chosen = np.broadcast_to(np.asarray(seats, np.int8), len(self)).copy()
        array = np.zeros(len(self), engine.view_dtype(self.rules))
        write_seat_views(self.states, self._compiled, chosen, self.games, array)
        return ViewBatch(array, self.rules)

    def forfeit(self, index: int, player: int) -> None:
        """Ends a game that a player forfeits: the best placed of the other sides wins.

        Of equals, the side that follows him first in turn order wins.

        Raises:
            IllegalActionError: The game is over.
        """
        self._due([index])
        rules, scores = self.rules, self.scores[index]
        seats = [(player + place) % rules.num_players for place in range(1, rules.num_players)]
        others = [side for side in map(rules.side_of, seats) if side != rules.side_of(player)]
        award_game(self.states, index, max(others, key=lambda side: scores[side]))

    def step(self, actions: ArrayLike, indices: ArrayLike | None = None) -> None:
        """Takes an action in each game with a decision due, or in those at given indices.

        Raises:
            IllegalActionError: An action is illegal, or an index is out of range, named twice, or
                of a game that is over; then nothing is changed in any game.
        """
        chosen = self._due(indices)
        taken = _integers("actions", actions)
        if taken.shape != chosen.shape:
            raise IllegalActionError(
                f"{len(chosen)} games are due and {len(taken)} actions came; give one for each."
            )
        bad = first_illegal(self.states, self._compiled, chosen, taken)
        if bad >= 0:
            raise IllegalActionError(
                f"Action {taken[bad]} is illegal in game {self.games[chosen[bad]]}."
            )
        step_batch(self.states, self._compiled, self._log, chosen, taken)
        deal_due(self.states, self._compiled, chosen)

    def _due(self, indices: ArrayLike | None) -> NDArray[np.int64]:
        if indices is None:
            return np.flatnonzero(~self.over)
        chosen = _integers("indices", indices)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self)):
            raise IllegalActionError(f"The indices must be 0 to {len(self) - 1}, not {indices!r}.")
        if len(np.unique(chosen)) < len(chosen):
            raise IllegalActionError(f"The indices {indices!r} name a game twice; name each once.")
        over = chosen[self.over[chosen]]
        if over.size:
            raise IllegalActionError(
                f"Game {self.games[over[0]]} is over; no decision is due there."
            )
        return chosen

    def copy(self) -> "GameBatch":
        """Returns an independent copy."""
        return GameBatch(self.states.copy(), self.rules, self.games.copy())


def checked_integer(name: str, value: object, low: int, high: int) -> int:
    """Returns an integer within bounds.

    Raises:
        RulesError: It is not an integer, or out of bounds.
    """
    if (
        isinstance(value, (int, np.integer))
        and not isinstance(value, bool)
        and low <= value <= high
    ):
        return int(value)
    raise RulesError(f"The {name} is {value!r}; it must be an integer from {low} to {high}.")


def checked_seed(seed: object) -> np.uint64:
    """Returns a seed as the engine takes it.

    Raises:
        RulesError: It is not an integer from 0 to 2**64 - 1.
    """
    return np.uint64(checked_integer("seed", seed, 0, MAX_SEED))


def _integers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise IllegalActionError(f"The {name} must be integers in one dimension, not {values!r}.")
    return array.astype(np.int64)
