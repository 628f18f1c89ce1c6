"""`Tables`: games in lockstep in which a learner meets an opponent that answers within the batch.

The environments are thin shells around it; the single environment is one table.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, ask, make_agent
from cribai.engine.episodes import (
    EPISODE,
    NUM_PLACES,
    answer,
    begin_episodes,
    find_due,
    observe,
    take_actions,
)
from cribai.engine.simulate import first_illegal
from cribai.engine.state import (
    NO_PLAYER,
    OVER,
    compiled_rules,
    new_log,
    state_dtype,
    view_dtype,
)
from cribai.errors import AgentError, ConfigError, IllegalActionError, RulesError
from cribai.game_batch import checked_seed
from cribai.rules import Rules, get_rules
from cribai.views import ViewBatch

SEATS: Final[dict[str, tuple[int, ...]]] = {"alternate": (0, 1), "first": (0,), "second": (1,)}
"""The learner's seats, taken in turn."""

NO_LIMIT: Final = 2**31 - 1
NO_SCORES: Final = (-1, -1)
"""Games begin with the scores of the rules."""


class Tables:
    """A number of games between a learner and an opponent.

    Every row has a seed of its own. Its episodes are numbered from 0 after each seeding; with the
    seats `alternate`, episodes 2k and 2k + 1 are a mirrored pair: the same deals, seats swapped.
    Episode k with the learner in a fixed seat has the deals of `Game(seed=seed, pair=k)`.

    Args:
        size: How many games.
        rules: Rules of two players, or a preset's name.
        opponent: An agent or its spec.
        seats: Where the learner sits, a name of `SEATS`.
        last_deal: Episodes end after so many deals.

    Attributes:
        states: STATE array (size,).
        learners: int8 array (size,), the learner's seat.
        episodes: EPISODE array (size,), how the learner stood when last observed.
        before: EPISODE array (size,), how he stood the time before.
        num_ended: How many rows had no episode under way when last observed.
        illegal: bool array (size,), whether the last action was illegal.

    Raises:
        AgentError: The opponent cannot be made or does not play by the rules.
        ConfigError: The seats have no such name.
        RulesError: The rules are unknown or not of two players.
    """

    def __init__(
        self,
        size: int,
        rules: str | Rules = "standard",
        *,
        opponent: str | Agent = "random",
        seats: str = "alternate",
        last_deal: int = NO_LIMIT,
    ) -> None:
        self.rules = two_players(get_rules(rules))
        if seats not in SEATS:
            raise ConfigError(f"Unknown seats {seats!r}; choose one of {', '.join(SEATS)}.")
        self.opponent = checked_agent(opponent)
        self.opponent.check_rules(self.rules)
        self.last_deal = last_deal
        self.states = np.zeros(size, state_dtype(self.rules))
        # Before the first reset no decision is due.
        self.states["phase"] = OVER
        self.states["actor"] = NO_PLAYER
        self.learners = np.zeros(size, np.int8)
        self.before = np.zeros(size, EPISODE)
        self.episodes = np.zeros(size, EPISODE)
        self.num_ended = size
        self.illegal = np.zeros(size, np.bool_)
        # Most agents have no memory to be told of.
        self._listens = type(self.opponent).games_ended is not Agent.games_ended
        levels = [self.rules.skunk_level(score) for score in range(self.rules.target + 1)]
        self._skunk_levels = np.array(levels, np.int64)
        self._cycle = np.array(SEATS[seats], np.int8)
        self._seeds = np.zeros(size, np.uint64)
        self._numbers = np.full(size, -1, np.int64)
        # Numbers that no two episodes share, also when a row is seeded again.
        self._games = np.arange(size) - size
        self._views = np.zeros(size, view_dtype(self.rules))
        self._make_scratch()

    def _make_scratch(self) -> None:
        size = len(self.states)
        self._compiled = compiled_rules(self.rules)
        self._log = new_log(enabled=False)
        self._due = np.zeros(size, np.int64)
        self._due_views = np.zeros(size, view_dtype(self.rules))
        self._all_due = ViewBatch(self._due_views, self.rules)
        self._all_views = ViewBatch(self._views, self.rules)

    def __len__(self) -> int:
        return len(self.states)

    def __getstate__(self) -> dict[str, Any]:
        scratch = ("_compiled", "_log", "_due", "_due_views", "_all_due", "_all_views")
        return {key: value for key, value in self.__dict__.items() if key not in scratch}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._make_scratch()

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which rows have no episode under way, bool array (size,)."""
        return np.asarray(self.states["actor"] == NO_PLAYER)

    def seed(self, rows: NDArray[np.int64], seeds: list[int]) -> None:
        """Seeds rows; their next episodes are number 0.

        Raises:
            RulesError: A seed is not an integer from 0 to 2**64 - 1; then nothing is changed.
        """
        self._seeds[rows] = [checked_seed(seed) for seed in seeds]
        self._numbers[rows] = -1

    def reset(
        self,
        rows: NDArray[np.int64],
        *,
        scores: tuple[int, int] | None = None,
        learner_deals: bool | None = None,
    ) -> None:
        """Begins the next episode in rows and plays on to the learner's first decision.

        An episode that heels end at once, by a starter turned before the toss, is passed over.

        Args:
            rows: int64 array (m,), which rows.
            scores: The learner's and the opponent's, from which the games begin; None for those of
                the rules.
            learner_deals: Whether the learner deals first; None to cut for it.
        """
        while len(rows):
            self.begin(rows, scores=scores, learner_deals=learner_deals)
            self.answer(rows)
            rows = rows[self.states["actor"][rows] == NO_PLAYER]

    def begin(
        self,
        rows: NDArray[np.int64],
        *,
        scores: tuple[int, int] | None = None,
        learner_deals: bool | None = None,
    ) -> None:
        """Begins the next episode in rows; see `reset`."""
        if self._listens:
            self._tell_ended(rows[self.states["actor"][rows] != NO_PLAYER])
        size = len(self)
        self._numbers[rows] += 1
        self._games[rows] += size
        self.illegal[rows] = False
        self.episodes[rows] = np.zeros(1, EPISODE)
        begin_episodes(
            self.states,
            self._compiled,
            rows,
            self._seeds,
            self._numbers,
            self._cycle,
            np.full(size, NO_PLAYER if learner_deals is None else int(learner_deals)),
            np.broadcast_to(np.array(scores or NO_SCORES, np.int64), (size, NUM_PLACES)).copy(),
            self.learners,
        )

    def check(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Refuses illegal actions of the learner; nothing is changed.

        Raises:
            IllegalActionError: An action is illegal.
        """
        bad = first_illegal(self.states, self._compiled, rows, actions)
        if bad >= 0:
            row = int(rows[bad])
            legal = self._all_views[row].legal_actions
            raise IllegalActionError(
                f"Action {actions[bad]} is illegal in game {row}; the legal ones are {legal}."
            )

    def step(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Takes the learner's actions in rows and plays on to his next decisions.

        An illegal action loses the game.
        """
        num_due = self.act(rows, actions)
        self._let_act(num_due, self.opponent, self.learners, NO_LIMIT)
        if self._listens:
            self._tell_ended(rows[self.states["actor"][rows] == NO_PLAYER])

    def act(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> int:
        """Takes the learner's actions in rows; returns in how many the opponent is then to act."""
        return take_actions(
            self.states,
            self._compiled,
            self._log,
            rows,
            actions,
            self.last_deal,
            self.learners,
            self.illegal,
            self._games,
            self._due,
            self._due_views,
        )

    def answer(self, rows: NDArray[np.int64]) -> None:
        """Lets the opponent act in rows until the learner is to act or the episode ends.

        Raises:
            AgentError: The opponent broke the agent protocol or chose an illegal action.
        """
        self._let_act(self._find_due(rows, self.learners), self.opponent, self.learners, NO_LIMIT)

    def play_both(self, rows: NDArray[np.int64], agent: Agent, decisions: int = NO_LIMIT) -> None:
        """Lets an agent act for both sides in rows until the episode ends.

        Args:
            rows: int64 array (m,), which rows.
            agent: The agent.
            decisions: The most decisions to take in each row.

        Raises:
            AgentError: The agent broke the agent protocol or chose an illegal action.
        """
        nobody = np.full(len(self), NO_PLAYER, np.int8)
        self._let_act(self._find_due(rows, nobody), agent, nobody, decisions)
        if self._listens and agent is self.opponent:
            self._tell_ended(rows[self.states["actor"][rows] == NO_PLAYER])

    def _find_due(self, rows: NDArray[np.int64], learners: NDArray[np.int8]) -> int:
        return find_due(
            self.states,
            self._compiled,
            rows,
            learners,
            self._games,
            self._due,
            self._due_views,
        )

    def _let_act(
        self, number: int, agent: Agent, learners: NDArray[np.int8], decisions: int
    ) -> None:
        """Lets an agent act in the rows found due, so many, and on; see `play_both`."""
        due, views = self._due, self._due_views
        while number and decisions:
            full = number == len(views)
            batch = self._all_due if full else ViewBatch(views[:number], self.rules)
            actions = ask(agent, batch)
            number = answer(
                self.states,
                self._compiled,
                self._log,
                due,
                number,
                actions,
                self.last_deal,
                learners,
                self._games,
                due,
                views,
            )
            if number < 0:
                raise AgentError(
                    f"The agent {agent.name or type(agent).__name__!r} chose the illegal action"
                    f" {actions[-1 - number]}."
                )
            decisions -= 1

    def observe(self) -> ViewBatch:
        """Returns the learner's view of each row and brings `episodes` and `before` up to date.

        The views are overwritten at the next call.
        """
        self.before, self.episodes = self.episodes, self.before
        self.num_ended = observe(
            self.states,
            self._compiled,
            self.learners,
            self._games,
            self.before,
            self._views,
            self.episodes,
        )
        return self._all_views

    def results(self, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Returns what `info` says of games that have ended, by row of those given."""
        episodes = self.episodes[rows]
        scores = np.stack([episodes["own_score"], episodes["other_score"]], axis=1)
        result = episodes["result"].copy()
        # Who loses may have passed the target too, if the higher score wins.
        losers = np.minimum(np.where(result > 0, scores[:, 1], scores[:, 0]), self.rules.target)
        return {
            "result": result,
            "skunk": np.where(result == 0, 0, self._skunk_levels[losers]),
            "scores": scores,
            "illegal_action": self.illegal[rows],
        }

    def _tell_ended(self, rows: NDArray[np.int64]) -> None:
        if len(rows):
            scores = self.states["scores"][rows, :NUM_PLACES].astype(np.int64)
            self.opponent.games_ended(self._games[rows], scores)


def checked_agent(agent: str | Agent) -> Agent:
    """Returns an agent, made if it is a spec.

    Raises:
        AgentError: It is neither, or cannot be made.
    """
    if isinstance(agent, str):
        return make_agent(agent)
    if not isinstance(agent, Agent):
        raise AgentError(f"{agent!r} is no agent; give an agent or its spec.")
    return agent


def two_players(rules: Rules) -> Rules:
    """Returns the rules if two play by them.

    Raises:
        RulesError: More do.
    """
    if rules.num_players != 2:
        raise RulesError(
            f"The rules {rules.name!r} have {rules.num_players} players and this environment two;"
            " use cribai.envs.pettingzoo."
        )
    return rules
