"""`cribai/Cribbage-v0` as a vector environment: thousands of games in lockstep on the batch engine.

Row i is the single environment reset with seed + i, in every field that either returns.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.envs.encoding import ACTION_MASK, make_encoding
from cribai.envs.rendering import draw_table, render_text
from cribai.envs.rewards import make_reward
from cribai.envs.table_env import checked_illegal_action, checked_options
from cribai.envs.tables import Tables
from cribai.errors import ConfigError, IllegalActionError
from cribai.game_batch import checked_integer, checked_seed
from cribai.rules import Rules
from cribai.views import ViewBatch

_MAX_ENVS = 2**31 - 1


class CribbageVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Games of cribbage in lockstep, each against the opponent, which answers for all at once.

    `infos` has "action_mask", int8 array (num_envs, actions); of games that end also what
    `CribbageEnv` says, with masks of the rows, as Gymnasium's vector environments have it.

    Args:
        num_envs: How many games.
        autoreset_mode: When an ended game gives way to the next: `NEXT_STEP`, `SAME_STEP` (then
            `infos` has "final_obs" and "final_info") or `DISABLED` (then reset with the option
            "reset_mask").
        rules: See `CribbageEnv`, as for all that follow.
        opponent: See there.
        seats: See there.
        reward: See there.
        match_points: See there.
        observation: See there.
        illegal_action: See there.
        render_mode: `ansi`, `rgb_array` or None.

    Raises:
        CribaiError: An argument is unknown or does not fit the rules.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 -- the base class declares it so
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        rules: str | Rules = "standard",
        opponent: str | Agent = "random",
        seats: str = "alternate",
        reward: str = "win",
        match_points: str = "plain",
        observation: str = "dict",
        illegal_action: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        num_envs = checked_integer("num_envs", num_envs, 1, _MAX_ENVS)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ConfigError(
                f"Unknown render_mode {render_mode!r}; choose one of"
                f" {', '.join(self.metadata['render_modes'])}."
            )
        self.num_envs = num_envs
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            raise ConfigError(
                f"Unknown autoreset_mode {autoreset_mode!r}; choose one of"
                f" {', '.join(mode.value for mode in AutoresetMode)}."
            ) from None
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.tables = Tables(num_envs, rules, opponent=opponent, seats=seats)
        self.rules = self.tables.rules
        self.encoding = make_encoding(observation, self.rules)
        self.reward = make_reward(reward, self.rules, match_points)
        self.raises = checked_illegal_action(illegal_action) == "raise"
        self.single_observation_space = self.encoding.space
        self.single_action_space = spaces.Discrete(self.rules.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rows = np.arange(num_envs)
        self._views = self.tables.observe()
        self._ended = np.ones(num_envs, np.bool_)
        self._seeded = np.zeros(num_envs, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in every row, or in those of the option "reset_mask".

        Args:
            seed: Row i follows from seed + i, or from the i-th of a sequence; None goes on with the
                next episode of the row's last seed, a random one at first.
            options: As for `CribbageEnv.reset`, and "reset_mask", a bool array (num_envs,).

        Returns:
            The observations and masks of all rows; "_action_mask" tells which of them began.

        Raises:
            ConfigError: An option is unknown or out of range, or the seeds are not one a row.
            RulesError: A seed is not an integer from 0 to 2**64 - 1.
        """
        options = dict(options or {})
        mask = self._checked_mask(options.pop("reset_mask", None))
        wanted = checked_options(options, self.rules.target)
        seeds = self._checked_seeds(seed)
        super().reset(seed=int(seed) if isinstance(seed, (int, np.integer)) else None)
        rows = np.flatnonzero(mask)
        self._seed(rows, seeds)
        self.tables.reset(rows, **wanted)
        self._ended[rows] = False
        observation, masks = self._observe()
        return observation, _infos(masks, mask)

    def _checked_mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        array = np.asarray(mask)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_ or not array.any():
            raise ConfigError(
                f"The option reset_mask must be a bool array of shape ({self.num_envs},) with at"
                f" least one True, not {mask!r}."
            )
        return array

    def _checked_seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if np.ndim(seed) == 0:  # type: ignore[arg-type]
            first = int(checked_seed(seed))
            seeds: list[int | None] = [first + row for row in range(self.num_envs)]
        else:
            seeds = list(seed)  # type: ignore[arg-type]
        if len(seeds) != self.num_envs:
            raise ConfigError(
                f"{len(seeds)} seeds came for {self.num_envs} rows; give one for each."
            )
        return [None if each is None else int(checked_seed(each)) for each in seeds]

    def _seed(self, rows: NDArray[np.int64], seeds: list[int | None]) -> None:
        for row in rows.tolist():
            if seeds[row] is None and not self._seeded[row]:
                seeds[row] = int(self.np_random.integers(2**63))
        given = [row for row in rows.tolist() if seeds[row] is not None]
        if given:
            self.tables.seed(np.array(given, np.int64), [seeds[row] for row in given])
            self._seeded[given] = True

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Takes an action in each row; in `NEXT_STEP` mode, ended rows begin anew instead.

        Returns:
            Observations, rewards, whether games have ended, whether they were truncated (never),
            and `infos`.

        Raises:
            IllegalActionError: The actions are not one integer a row, or one is illegal and that
                raises, or a game has ended in the `DISABLED` mode or never began.
        """
        chosen = self._checked_actions(actions)
        if not self._seeded.all():
            raise IllegalActionError(
                f"Game {int(self._seeded.argmin())} has not begun; call reset() first."
            )
        renewed = self._ended
        live = self._rows
        if renewed.any():
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise IllegalActionError(
                    f"Game {int(renewed.argmax())} has ended; reset it with the option reset_mask."
                )
            live = np.flatnonzero(~renewed)
            chosen = chosen[live]
        if self.raises:
            self.tables.check(live, chosen)
        if len(live) < self.num_envs:
            self.tables.reset(np.flatnonzero(renewed))
        self.tables.step(live, chosen)
        observation, masks = self._observe()
        tables = self.tables
        rewards = self.reward.pay(tables.before, tables.episodes, tables.illegal)
        rewards[renewed] = 0.0
        ended = tables.episodes["ended"] == 1
        infos = _infos(masks, np.ones(self.num_envs, np.bool_))
        if ended.any():
            rows = np.flatnonzero(ended)
            last = {name: self._spread(rows, v) for name, v in self.tables.results(rows).items()}
            last |= {f"_{name}": ended.copy() for name in last}
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos["final_obs"] = np.full(self.num_envs, None, dtype=object)
                for row in rows.tolist():
                    infos["final_obs"][row] = _row(observation, row)
                infos["final_info"] = _infos(self._spread(rows, masks[rows]), ended) | last
                infos["_final_obs"] = ended.copy()
                infos["_final_info"] = ended.copy()
                self.tables.reset(rows)
                observation, masks = self._observe()
                infos[ACTION_MASK] = masks
            else:
                infos |= last
        self._ended = self.tables.ended
        return observation, rewards, ended, np.zeros(self.num_envs, np.bool_), infos

    def _checked_actions(self, actions: Any) -> NDArray[np.int64]:
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or not np.issubdtype(array.dtype, np.integer):
            raise IllegalActionError(
                f"The actions must be integers of shape ({self.num_envs},), not {array.dtype} of"
                f" shape {array.shape}."
            )
        return array.astype(np.int64)

    def _observe(self) -> tuple[Any, NDArray[np.int8]]:
        """Returns the observations and the masks, of all rows."""
        self._views = self.tables.observe()
        found = self.encoding.encode(self._views)
        if isinstance(found, dict):
            return found, found[ACTION_MASK].copy()
        return found, self._views.action_masks()

    def _spread(self, rows: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
        """Returns an array of all rows with values in some and zeros elsewhere."""
        array = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
        array[rows] = values
        return array

    @property
    def views(self) -> ViewBatch:
        """What the learner sees, by row."""
        return ViewBatch(self._views.array.copy(), self.rules)

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, bool array (num_envs, actions)."""
        return self._views.action_masks().astype(np.bool_)

    def render(self) -> Any:
        """Returns each row as the learner sees it, by `render_mode`: texts, pictures, or None."""
        if self.render_mode == "ansi":
            return tuple(render_text(view) for view in self._views)
        if self.render_mode == "rgb_array":
            return tuple(draw_table(view) for view in self._views)
        return None


def _infos(masks: NDArray[np.int8], rows: NDArray[np.bool_]) -> dict[str, Any]:
    return {ACTION_MASK: masks, f"_{ACTION_MASK}": rows.copy()}


def _row(observation: Any, row: int) -> Any:
    if isinstance(observation, dict):
        return {name: field[row].copy() for name, field in observation.items()}
    return observation[row].copy()
