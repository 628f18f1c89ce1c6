"""The table as a PettingZoo environment: two, three or four learners, by turns.

`env()` is the environment with PettingZoo's usual wrappers, `raw_env` the one without, and
`parallel_env()` the same by PettingZoo's parallel interface: of the actions, only that of the
player to act is taken. Needs the extra `pettingzoo`.
"""

import copy
from typing import Any, ClassVar, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from cribai.engine.state import OVER
from cribai.envs.encoding import ACTION_MASK, make_encoding
from cribai.envs.full_state import StateEncoding
from cribai.envs.rendering import Window, draw_table, render_text
from cribai.envs.table_env import checked_action, checked_illegal_action
from cribai.errors import ConfigError
from cribai.game_batch import GameBatch, checked_seed
from cribai.match_points import get_match_points
from cribai.rules import Rules, get_rules
from cribai.views import View

REWARDS = ("win", "points", "match_points")


def env(**kwargs: Any) -> Any:
    """Returns the environment with PettingZoo's usual wrappers; the arguments are `raw_env`'s."""
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(raw_env(**kwargs)))


def parallel_env(**kwargs: Any) -> Any:
    """Returns the environment by the parallel interface; the arguments are `raw_env`'s."""
    return turn_based_aec_to_parallel(env(**kwargs))


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 -- PettingZoo's convention
    """A game of cribbage by PettingZoo's agent environment cycle.

    The agents are "player_0" and so on, by seat. An observation is a dict of "observation", the
    player's view encoded, and "action_mask", all zero when another is to act. Each `reset` goes on
    to the next game of the seed, whose first dealer is cut for.

    Rewards add up to zero over the table: `win` pays the winning side 1 each and the others share
    the loss; `points` pays what a side scores less the average of the others, in lowball the other
    way; `match_points` is `win` times what the win is worth. A tie pays nobody but by `points`.

    Args:
        rules: Rules or a preset's name, of any number of players.
        reward: `win`, `points` or `match_points`.
        match_points: The table of `match_points`.
        observation: `flat`, `compact` or `dict`, see `cribai.envs.encoding`.
        illegal_action: `lose` ends the game as a loss of the player; `raise` raises
            `IllegalActionError`.
        render_mode: `ansi`, `human`, `rgb_array` or None.
        viewer: The seat from which the table is rendered.

    Raises:
        CribaiError: An argument is unknown or does not fit the rules.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cribbage_v0",
        "render_modes": ["ansi", "human", "rgb_array"],
        "render_fps": 2,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        rules: str | Rules = "standard",
        *,
        reward: str = "win",
        match_points: str = "plain",
        observation: str = "flat",
        illegal_action: str = "lose",
        render_mode: str | None = None,
        viewer: int = 0,
    ) -> None:
        super().__init__()
        self.rules = get_rules(rules)
        for name, value, choices in (
            ("reward", reward, REWARDS),
            ("render_mode", render_mode, (None, *self.metadata["render_modes"])),
            ("viewer", viewer, range(self.rules.num_players)),
        ):
            if value not in choices:
                known = ", ".join(map(str, choices))
                raise ConfigError(f"Unknown {name} {value!r}; choose one of {known}.")
        self.reward = reward
        self.raises = checked_illegal_action(illegal_action) == "raise"
        self.render_mode = render_mode
        self.viewer = viewer
        self._match_points = get_match_points(match_points)
        self._encoding = make_encoding(observation, self.rules)
        self._state_encoding = StateEncoding(self.rules)
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self._sides = np.array([self.rules.side_of(seat) for seat in range(self.rules.num_players)])
        mask = spaces.Box(0, 1, (self.rules.num_actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": self._encoding.space, ACTION_MASK: mask})
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(self.rules.num_actions) for agent in self.possible_agents
        }
        self.state_space = self._state_encoding.space
        self._seed: int | None = None
        self._game = -1
        self._window: Window | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 -- the interface has it
    ) -> None:
        """Begins a game.

        Args:
            seed: Games from here on follow from it; None goes on with the next game of the last
                seed, a random one at first.
            options: Not used.

        Raises:
            RulesError: The seed is not an integer from 0 to 2**64 - 1.
        """
        if seed is None and self._seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if seed is not None:
            self._seed = int(checked_seed(seed))
            self._game = -1
        self._begin_game()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def _begin_game(self) -> None:
        """Begins the next game; one that heels end at once is passed over."""
        assert self._seed is not None
        while True:
            self._game += 1
            self._batch = GameBatch.start(1, self.rules, seed=self._seed, pairs=[self._game])
            if not self._batch.over[0]:
                break

    def _select(self) -> None:
        actor = int(self._batch.states["actor"][0])
        if actor >= 0:
            self.agent_selection = self.possible_agents[actor]
        self._tell()

    def _tell(self) -> None:
        for agent in self.agents:
            self.infos[agent] = {ACTION_MASK: self._view_batch(agent).action_masks()[0]}

    def _view_batch(self, agent: str) -> Any:
        return self._batch.seat_views(self.possible_agents.index(agent))

    def view(self, agent: str) -> View:
        """Returns what an agent sees."""
        view: View = self._view_batch(agent)[0]
        return view

    def observe(self, agent: str) -> dict[str, Any]:
        """Returns an agent's observation, new arrays."""
        views = self._view_batch(agent)
        observation = self._encoding.encode_one(views)
        return {"observation": observation, ACTION_MASK: views.action_masks()[0]}

    def step(self, action: Any) -> None:
        """Takes the action of the agent selected, None when he has been told of the end.

        Raises:
            IllegalActionError: The action is illegal, and that raises.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        seat = self.possible_agents.index(agent)
        before = self._batch.scores[0]
        number = checked_action(action)
        illegal = not self._is_legal(agent, number)
        if illegal and not self.raises:
            self._batch.forfeit(0, seat)
        else:
            self._batch.step([number])
        self._cumulative_rewards[agent] = 0.0
        is_over = int(self._batch.states["phase"][0]) == OVER
        for name, reward in zip(
            self.possible_agents, self._rewards(before, seat if illegal else None), strict=True
        ):
            self.rewards[name] = float(reward)
        if is_over:
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._accumulate_rewards()
        if is_over:
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _is_legal(self, agent: str, action: int) -> bool:
        mask = self._view_batch(agent).action_masks()[0]
        return 0 <= action < len(mask) and mask[action] == 1

    def _rewards(self, before: NDArray[np.int64], forfeiter: int | None) -> NDArray[np.float64]:
        """Returns each seat's reward of a step; they add up to zero over the seats."""
        rules, batch = self.rules, self._batch
        winner = int(batch.winners[0])
        if self.reward == "points":
            scores = batch.scores[0]
            if forfeiter is not None:
                # As if the winner, or in lowball the loser, had reached the target at once.
                side = self._sides[forfeiter] if rules.lowball else winner
                scores[side] = max(scores[side], rules.target)
            gains = (scores - before).astype(np.float64)
            gains -= (gains.sum() - gains) / (rules.num_sides - 1)
            by_seat: NDArray[np.float64] = (-gains if rules.lowball else gains)[self._sides]
            return by_seat
        if winner < 0:
            return np.zeros(rules.num_players)
        if forfeiter is None:
            won = self._sides == winner
            losers = batch.scores[0][np.arange(rules.num_sides) != winner]
        else:
            won = self._sides != self._sides[forfeiter]
            losers = batch.scores[0][self._sides[forfeiter : forfeiter + 1]]
        worth = 1.0
        if self.reward == "match_points":
            worth = float(self._match_points.worth(rules.skunk_level(int(losers.min()))))
        # Both parties share the same sum; the smaller one's players have all of `worth` each.
        rewards: NDArray[np.float64] = np.where(won, 1 / won.sum(), -1 / (~won).sum())
        rewards *= worth / np.abs(rewards).max()
        return rewards

    def state(self) -> NDArray[np.int16]:
        """Returns all there is to know, hidden cards too, for critics; see `state_space`."""
        return self._state_encoding.encode(self._batch.states[0])

    def clone(self) -> Self:
        """Returns an independent copy that continues identically."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}

    def render(self) -> Any:
        """Returns the table as the viewer sees it: text, a picture, or None."""
        view = self.view(self.possible_agents[self.viewer])
        if self.render_mode == "ansi":
            return render_text(view)
        if self.render_mode == "rgb_array":
            return draw_table(view)
        if self.render_mode == "human":
            if self._window is None:
                self._window = Window()
            self._window.show(draw_table(view))
        return None

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
