"""`cribai/Cribbage-v0`: whole games of two players, the opponent inside."""

from typing import Any

from cribai.agent import Agent
from cribai.envs.rewards import make_reward
from cribai.envs.table_env import ROW, TableEnv
from cribai.envs.tables import Tables
from cribai.rules import Rules


class CribbageEnv(TableEnv):
    """A game of cribbage against an opponent.

    An action is a number, see `docs/architecture.md`: the tosses come first, then the kept cards,
    then what variants add. When an episode ends, `info` also has "result" (1 won, -1 lost, 0 tied),
    "skunk" (what the loser suffers: 0, 1 or 2), "scores" (the learner's and the opponent's) and
    "illegal_action" (whether it ended by one). Episodes are never truncated.

    Args:
        rules: Rules of two players, or a preset's name.
        opponent: An agent or its spec, see `cribai.make_agent`.
        seats: Where the learner sits: `alternate` makes every two episodes a mirrored pair, `first`
            and `second` stay.
        reward: `win`, `points`, `match_points` or `win_probability`, see `cribai.envs.rewards`.
        match_points: The table of `match_points`.
        observation: `dict`, `flat` or `compact`, see `cribai.envs.encoding`.
        illegal_action: `lose` ends the game as a loss; `raise` raises `IllegalActionError`.
        render_mode: `ansi`, `human`, `rgb_array` or None.

    Raises:
        CribaiError: An argument is unknown or does not fit the rules.
    """

    def __init__(
        self,
        rules: str | Rules = "standard",
        opponent: str | Agent = "random",
        *,
        seats: str = "alternate",
        reward: str = "win",
        match_points: str = "plain",
        observation: str = "dict",
        illegal_action: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            Tables(1, rules, opponent=opponent, seats=seats),
            observation=observation,
            illegal_action=illegal_action,
            render_mode=render_mode,
        )
        self.reward = make_reward(reward, self.rules, match_points)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes an action and plays on to the learner's next decision, or to the end.

        Returns:
            Observation, reward, whether the game has ended, False, and `info`.

        Raises:
            IllegalActionError: The episode has ended, or the action is illegal and that raises.
        """
        tables = self.tables
        tables.step(ROW, self._checked_actions(action))
        observation, info = self._observe()
        reward = float(self.reward.pay(tables.before, tables.episodes, tables.illegal)[0])
        ended = self._ended
        if ended:
            info |= {name: values[0] for name, values in tables.results(ROW).items()}
            # Gymnasium's vector environments know Python's bool and not NumPy's.
            info["illegal_action"] = bool(info["illegal_action"])
        return observation, reward, ended, False, info
