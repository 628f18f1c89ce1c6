"""A match of mirrored pairs between two agents, played in lockstep.

A pair is two games on the same deals with the seats swapped. As many games as the batch holds are
alive at once, and when one ends the next takes its place; the results do not depend on the batch.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from cribai.agent import FORFEIT, Agent, ask
from cribai.engine.simulate import (
    GAMES_PER_PAIR,
    NO_FORFEIT,
    NUM_AGENTS,
    RESULT,
    TIE,
    award_game,
    begin_games,
    step_legal,
    take_due,
    take_ended,
)
from cribai.engine.state import compiled_rules, new_log, state_dtype, view_dtype
from cribai.errors import AgentError, IllegalActionError
from cribai.game_batch import MAX_NUMBER, checked_integer, checked_seed
from cribai.rules import MAX_PLAYERS, Rules, get_rules
from cribai.views import View, ViewBatch

DEFAULT_BATCH_SIZE: Final = 2048
_MAX_PAIR: Final = MAX_NUMBER // GAMES_PER_PAIR


def play_pairs(
    a: Agent,
    b: Agent,
    rules: str | Rules = "standard",
    *,
    seed: int,
    num_pairs: int,
    first_pair: int = 0,
    batch_size: int = DEFAULT_BATCH_SIZE,
    progress: Callable[[int], object] | None = None,
    watchers: Sequence["Watcher"] = (),
) -> NDArray[Any]:
    """Plays pairs of games between two agents.

    With two sides, `a` has the even seats in the first game of a pair and the odd ones in the
    second. With more, one seat of each pair, its number modulo the sides, plays against the others:
    `a` has it in the first game and `b` in the second. So equal agents win half of the games.

    Args:
        a: One agent, number 0 in the results.
        b: The other, number 1.
        rules: Rules or a preset's name.
        seed: Seed of the match, 0 to 2**64 - 1.
        num_pairs: How many pairs.
        first_pair: Number of the first; a match may be played in parts and the results joined.
        batch_size: Games alive at once.
        progress: Called with the number of games that have ended since the last call.
        watchers: Told of all that happens.

    Returns:
        RESULT array (2 * num_pairs,), see `cribai.engine.simulate.RESULT`, by pair and game.

    Raises:
        AgentError: An agent does not play by the rules, broke the agent protocol or chose an
            illegal action.
        RulesError: The rules are unknown, or a number is out of range.
    """
    rules = get_rules(rules)
    for agent in (a, b):
        agent.check_rules(rules)
    checked_integer("first_pair", first_pair, 0, _MAX_PAIR)
    checked_integer("num_pairs", num_pairs, 0, _MAX_PAIR - first_pair)
    checked_integer("batch_size", batch_size, 1, MAX_NUMBER)
    first = GAMES_PER_PAIR * first_pair
    end = first + GAMES_PER_PAIR * num_pairs
    results = np.zeros(end - first, RESULT)
    size = min(batch_size, len(results))
    results["forfeit"] = NO_FORFEIT
    tables = _Tables((a, b), rules, seed, size, watchers)
    tables.begin(np.arange(size), np.arange(first, first + size))
    begun = first + size
    num_left = len(results)
    while num_left:
        for number in range(NUM_AGENTS):
            tables.decide(number, first, results)
        places = tables.take_ended(first, results)
        if len(places) == 0:
            continue
        following = np.arange(begun, min(begun + len(places), end))
        tables.begin(places[: len(following)], following)
        begun += len(following)
        num_left -= len(places)
        if progress is not None:
            progress(len(places))
    # What each score of a loser is worth.
    most = results["scores"].max(initial=rules.target)
    levels = np.array([rules.skunk_level(score) for score in range(most + 1)], np.int8)
    results["skunk"] = levels[results["scores"].min(axis=1)]
    results["skunk"][(results["forfeit"] != NO_FORFEIT) | (results["winner"] == TIE)] = 0
    return results


def seatings(rules: Rules) -> NDArray[np.int8]:
    """Returns who sits where, int8 array (k, 2, MAX_PLAYERS): pair p's games take row p % k."""
    sides = np.arange(MAX_PLAYERS) % rules.num_sides
    lone_sides = np.arange(rules.num_sides if rules.num_sides > NUM_AGENTS else 1)
    first_games = sides != lone_sides[:, np.newaxis]
    return np.stack([first_games, ~first_games], axis=1).astype(np.int8)


class Watcher(Protocol):
    """Someone who is told what happens in a match, all games alive at once.

    The arrays are the match's own; what is to be kept has to be copied.
    """

    def begun(
        self, states: NDArray[Any], seat_agents: NDArray[np.int8], places: NDArray[np.int64]
    ) -> None:
        """Told that games have begun in places."""

    def decided(
        self,
        states: NDArray[Any],
        seat_agents: NDArray[np.int8],
        places: NDArray[np.int64],
        actions: NDArray[np.int64],
    ) -> None:
        """Told that these actions have been taken in places."""

    def ended(
        self, states: NDArray[Any], places: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> None:
        """Told that the games of these numbers have ended in places."""


class _Tables:
    """The games alive of one match, each in a place that the next game takes when it has ended."""

    def __init__(
        self,
        agents: tuple[Agent, Agent],
        rules: Rules,
        seed: int,
        size: int,
        watchers: Sequence["Watcher"],
    ) -> None:
        self.agents = agents
        self.watchers = watchers
        self.rules = rules
        self.seed = checked_seed(seed)
        self.seatings = seatings(rules)
        self.seat_sides = [rules.side_of(player) for player in range(rules.num_players)]
        self.compiled = compiled_rules(rules)
        self.log = new_log(enabled=False)
        self.states = np.zeros(size, state_dtype(rules))
        self.games = np.zeros(size, np.int64)
        self.seat_agents = np.zeros((size, MAX_PLAYERS), np.int8)
        self.views = np.zeros(size, view_dtype(rules))
        self.places = np.zeros(size, np.int64)
        self.numbers = np.zeros(size, np.int64)

    def begin(self, places: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Begins the numbered games in the places, both int64 arrays (n,)."""
        begin_games(
            self.states,
            self.compiled,
            self.seed,
            self.seatings,
            places,
            numbers,
            self.games,
            self.seat_agents,
        )
        for watcher in self.watchers:
            watcher.begun(self.states, self.seat_agents, places)

    def decide(self, number: int, first: int, results: NDArray[Any]) -> None:
        """Takes one decision in every game where one of an agent, 0 or 1, is due.

        Args:
            number: The agent.
            first: Number of the first result's game.
            results: RESULT array. Modified in place: `forfeit` of games that the agent gives up.
        """
        num_due = take_due(
            self.states,
            self.compiled,
            self.seat_agents,
            number,
            self.games,
            self.places,
            self.views,
        )
        if num_due == 0:
            return
        agent = self.agents[number]
        places = self.places[:num_due]
        views = ViewBatch(self.views[:num_due], self.rules)
        try:
            actions = np.ascontiguousarray(ask(agent, views))
        except IllegalActionError as error:
            self._blame(agent, _culprit(agent, views), str(error))
        if agent.may_forfeit:
            given_up = actions == FORFEIT
            for place in places[given_up].tolist():
                results["forfeit"][self.games[place] - first] = number
                self._forfeit(place, number)
            places, actions = places[~given_up], actions[~given_up]
            views = ViewBatch(views.array[~given_up], self.rules)
        bad = step_legal(self.states, self.compiled, self.log, places, actions)
        if bad >= 0:
            view = views[bad]
            self._blame(agent, view, f"{actions[bad]} is not one of {view.legal_actions}")
        for watcher in self.watchers:
            watcher.decided(self.states, self.seat_agents, places, actions)

    def _forfeit(self, place: int, number: int) -> None:
        """Ends a game that an agent gives up: the best placed of the other's sides wins."""
        agents = self.seat_agents[place, : self.rules.num_players]
        others = [side for seat, side in enumerate(self.seat_sides) if agents[seat] != number]
        scores = self.states["scores"][place]
        award_game(self.states, place, max(others, key=lambda side: int(scores[side])))

    def take_ended(self, first: int, results: NDArray[Any]) -> NDArray[np.int64]:
        """Writes the results of the games that have ended and tells the agents.

        Args:
            first: Number of the first result's game.
            results: RESULT array. Modified in place.

        Returns:
            int64 array (n,), the games' places.
        """
        num_ended = take_ended(
            self.states,
            self.compiled,
            self.seat_agents,
            first,
            self.games,
            self.places,
            self.numbers,
            results,
        )
        places = self.places[:num_ended]
        if num_ended:
            scores = self.states["scores"][places][:, self.seat_sides].astype(np.int64)
            for watcher in self.watchers:
                watcher.ended(self.states, places, self.numbers[:num_ended])
            for agent in self.agents[: 1 if self.agents[0] is self.agents[1] else 2]:
                agent.games_ended(self.numbers[:num_ended].copy(), scores.copy())
        return places

    def _blame(self, agent: Agent, view: View | None, what: str) -> NoReturn:
        message = f"The agent {agent.name or type(agent).__name__!r} chose an illegal action"
        if view is None:
            raise AgentError(f"{message}: {what}")
        pair, game = divmod(view.game, GAMES_PER_PAIR)
        call = f"play_pairs(a, b, rules, seed={self.seed}, first_pair={pair}, num_pairs=1)"
        raise AgentError(
            f"{message} at seed {self.seed}, pair {pair}, game {game} ({view}): {what.rstrip('.')};"
            f" {call} repeats it."
        )


def _culprit(agent: Agent, views: ViewBatch) -> View | None:
    """Returns the view at which an agent raises IllegalActionError when asked about it alone."""
    for index in range(len(views)):
        try:
            ask(agent, ViewBatch(views.array[index : index + 1], views.rules))
        except IllegalActionError:
            return views[index]
    return None
