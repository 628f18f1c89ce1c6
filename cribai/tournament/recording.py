"""`Recorder`: keeps every action of a match, and writes each game as a record."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.deal import Deal
from cribai.engine.simulate import GAMES_PER_PAIR
from cribai.engine.state import NO_PLAYER
from cribai.game_batch import GameBatch
from cribai.records import DealRecord, GameRecord, to_json
from cribai.rules import Rules

_ROOM: Final = 256
"""Decisions of a game that there is room for at first; most games have fewer than 120."""


class Recorder:
    """A watcher that keeps the actions of every game.

    Args:
        agents: The agents' specs.
        rules: The rules of the match.
        seed: Its seed.
    """

    def __init__(self, agents: tuple[str, str], rules: Rules, seed: int) -> None:
        self._agents = agents
        self._rules = rules
        self._seed = seed
        self._actions = np.zeros((0, _ROOM), np.int16)
        self._lengths = np.zeros(0, np.int64)
        self._seats = np.zeros((0, rules.num_players), np.int8)
        self._ended: dict[int, tuple[NDArray[np.int16], NDArray[np.int8], NDArray[Any]]] = {}

    def begun(
        self, states: NDArray[Any], seat_agents: NDArray[np.int8], places: NDArray[np.int64]
    ) -> None:
        """Makes room; see `Watcher.begun`."""
        if len(self._lengths) < len(states):
            self._actions = np.zeros((len(states), _ROOM), np.int16)
            self._lengths = np.zeros(len(states), np.int64)
            self._seats = np.zeros((len(states), self._rules.num_players), np.int8)
        self._lengths[places] = 0
        self._seats[places] = seat_agents[places, : self._rules.num_players]

    def decided(
        self,
        states: NDArray[Any],  # noqa: ARG002
        seat_agents: NDArray[np.int8],  # noqa: ARG002
        places: NDArray[np.int64],
        actions: NDArray[np.int64],
    ) -> None:
        """Keeps the actions; see `Watcher.decided`."""
        lengths = self._lengths[places]
        if len(lengths) and lengths.max() >= self._actions.shape[1]:
            self._actions = np.concatenate([self._actions, np.zeros_like(self._actions)], axis=1)
        self._actions[places, lengths] = actions
        self._lengths[places] += 1

    def ended(
        self, states: NDArray[Any], places: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> None:
        """Sets the games' actions aside; see `Watcher.ended`."""
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
            actions = self._actions[place, : self._lengths[place]].copy()
            self._ended[number] = actions, self._seats[place].copy(), states[place].copy()

    def lines(self) -> tuple[str, ...]:
        """Returns the games' records in order, each a line of JSON.

        The games are played once more, in lockstep, for the cards of their deals. A forfeited game
        has no record: it has not been played to its end.
        """
        numbers = sorted(self._ended)
        if not numbers:
            return ()
        pairs, games = np.divmod(np.array(numbers), GAMES_PER_PAIR)
        batch = GameBatch.start(
            len(numbers), self._rules, seed=self._seed, pairs=pairs, games=games
        )
        deals: list[list[tuple[Deal, list[int]]]] = [[] for _ in numbers]
        first_dealers = batch.states["first_dealer"].copy()
        begun = np.zeros(len(numbers), np.int64)
        lengths = np.array([len(self._ended[number][0]) for number in numbers])
        for step in range(int(lengths.max()) + 1):
            new = batch.states["num_deals"] > begun
            for row in np.flatnonzero(new).tolist():
                deals[row].append((Deal.of_state(batch.states[row], self._rules), []))
            begun = batch.states["num_deals"].copy()
            rows = np.flatnonzero(lengths > step)
            actions = np.array([self._ended[numbers[row]][0][step] for row in rows], np.int64)
            for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
                deals[row][-1][1].append(action)
            if len(rows):
                batch.step(actions, rows)
        return tuple(
            to_json(self._record(number, batch.states[row], int(first_dealers[row]), deals[row]))
            for row, number in enumerate(numbers)
            if batch.over[row]
        )

    def _record(
        self, number: int, state: Any, first_dealer: int, deals: list[tuple[Deal, list[int]]]
    ) -> GameRecord:
        seats = self._ended[number][1].tolist()
        sides = self._rules.num_sides
        return GameRecord(
            rules=self._rules,
            seats=tuple(self._agents[agent] for agent in seats),
            seed=self._seed,
            pair=number // GAMES_PER_PAIR,
            game=number % GAMES_PER_PAIR,
            first_dealer=first_dealer,
            start_scores=self._rules.start_scores(first_dealer),
            deals=tuple(DealRecord(cards, tuple(actions)) for cards, actions in deals),
            scores=tuple(state["scores"][:sides].tolist()),
            winner=None if state["winner"] == NO_PLAYER else int(state["winner"]),
        )
