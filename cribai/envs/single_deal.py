"""`cribai/Discard-v0` and `cribai/Pegging-v0`: cribbage's two skills alone, for quick study.

Both have the observations and actions of whole games, so that a learner can be moved between them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.analysis.knowledge import TARGET, covers
from cribai.analysis.tosses import toss_values
from cribai.engine.state import DISCARD
from cribai.envs.rewards import PointsReward
from cribai.envs.table_env import ROW, TableEnv
from cribai.envs.tables import Tables, checked_agent
from cribai.errors import ConfigError
from cribai.match_points import get_match_points
from cribai.rules import Rules, get_rules
from cribai.views import PREPARATIONS


class DiscardEnv(TableEnv):
    """One toss. The opponent then plays the deal out for both sides, so that the end can be seen.

    What is to decide before the toss, bids or cards to throw away, he decides for both too.

    The reward is what the toss is worth by the exact analysis: `points`, the average of hand, crib
    and pegging; or `win_probability`, the chance to win the game from the scores of the reset. Or
    it is the result of the deal, `deal`: the learner's points less the opponent's, in lowball the
    other way. An illegal toss is paid the target in points less than zero, or no chance to win.
    With the analysis, `info` has at the end "values", what each toss is worth, and "regret", how
    much less the one chosen is worth than the best.

    Args:
        rules: Rules of two players with one crib, or a preset's name.
        opponent: An agent or its spec; it plays the rest of the deal for both.
        seats: See `CribbageEnv`.
        reward: `points`, `win_probability` or `deal`; None for `points` where the analysis holds
            and `deal` elsewhere.
        observation: See `CribbageEnv`.
        illegal_action: See `CribbageEnv`.
        render_mode: See `CribbageEnv`.

    Raises:
        CribaiError: An argument is unknown or does not fit the rules.
    """

    def __init__(
        self,
        rules: str | Rules = "standard",
        opponent: str | Agent = "greedy",
        *,
        seats: str = "alternate",
        reward: str | None = None,
        observation: str = "dict",
        illegal_action: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        rules = get_rules(rules)
        if rules.two_cribs:
            raise ConfigError(
                f"Discard-v0 is about one toss, and the rules {rules.name!r} have two, one to each"
                " crib; use Cribbage-v0."
            )
        super().__init__(
            Tables(1, rules, opponent=opponent, seats=seats, last_deal=1),
            observation=observation,
            illegal_action=illegal_action,
            render_mode=render_mode,
        )
        is_known = covers(self.rules) and self.rules.target <= TARGET
        self.reward = reward or ("points" if is_known else "deal")
        self._points = PointsReward(self.rules, get_match_points("plain"))
        if self.reward not in ("points", "win_probability", "deal"):
            raise ConfigError(f"Unknown reward {reward!r}; choose points, win_probability or deal.")
        if self.reward != "deal" and not is_known:
            raise ConfigError(
                f"The reward {reward!r} is not known for the rules {self.rules.name!r}, only for"
                f" the standard deal of two players and a target of {TARGET} or less;"
                " choose 'deal'."
            )

    def _begin(self, options: dict[str, Any]) -> None:
        super()._begin(options)
        tables = self.tables
        while (
            tables.states["phase"][0] != DISCARD or tables.states["actor"][0] != tables.learners[0]
        ):
            tables.play_both(ROW, tables.opponent, 1)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes a toss and ends the episode.

        Returns:
            Observation, reward, True, False, and `info`.

        Raises:
            IllegalActionError: The episode has ended, or the action is illegal and that raises.
        """
        tables = self.tables
        actions = self._checked_actions(action)
        values = self._values() if self.reward != "deal" else None
        tables.act(ROW, actions)
        tables.play_both(ROW, tables.opponent)
        observation, info = self._observe()
        illegal = bool(tables.illegal[0])
        if values is not None:
            info["values"] = values
        if illegal:
            reward = 0.0 if self.reward == "win_probability" else -float(self.rules.target)
        elif values is not None:
            reward = float(values[actions[0]])
            info["regret"] = float(values.max() - reward)
        else:
            before, after = tables.before, tables.episodes
            reward = float(self._points.pay(before, after, tables.illegal)[0])
        info["illegal_action"] = illegal
        return observation, reward, True, False, info

    def _values(self) -> NDArray[np.float64]:
        view = self.view()
        head_start = TARGET - self.rules.target
        score, opponent_score = (number + head_start for number in view.scores)
        points, chances = toss_values(
            view.kept, is_dealer=view.is_dealer, score=score, opponent_score=opponent_score
        )
        return chances if self.reward == "win_probability" else points


class PeggingEnv(TableEnv):
    """The play of one deal, after one agent tossed for both and decided what else precedes it.

    The reward is the learner's pegging less the opponent's, as it is pegged, in lowball the other
    way; an illegal lay is paid the target less than zero and ends the episode. At the end `info`
    has "pegged", both sides' points.

    Args:
        rules: Rules of two players, or a preset's name.
        opponent: An agent or its spec.
        tosser: The agent that decides for both before the play, or its spec.
        seats: See `CribbageEnv`.
        observation: See `CribbageEnv`.
        illegal_action: See `CribbageEnv`.
        render_mode: See `CribbageEnv`.

    Raises:
        CribaiError: An argument is unknown or does not fit the rules.
    """

    def __init__(
        self,
        rules: str | Rules = "standard",
        opponent: str | Agent = "greedy",
        tosser: str | Agent = "greedy",
        *,
        seats: str = "alternate",
        observation: str = "dict",
        illegal_action: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        rules = get_rules(rules)
        if rules.muggins:
            raise ConfigError(
                f"Pegging-v0 ends before the show, which the rules {rules.name!r} are about; use"
                " Cribbage-v0."
            )
        super().__init__(
            Tables(1, rules, opponent=opponent, seats=seats, last_deal=1),
            observation=observation,
            illegal_action=illegal_action,
            render_mode=render_mode,
        )
        self.tosser = checked_agent(tosser)
        self.tosser.check_rules(self.rules)

    def _begin(self, options: dict[str, Any]) -> None:
        tables = self.tables
        while True:
            tables.begin(ROW, **options)
            while tables.states["phase"][0] in PREPARATIONS:
                tables.play_both(ROW, self.tosser, 1)
            if not tables.ended[0]:  # Heels can end a game that began near the target.
                break
        tables.answer(ROW)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Lays a card and plays on to the learner's next, or to the end of the deal.

        Returns:
            Observation, reward, whether the play has ended, False, and `info`.

        Raises:
            IllegalActionError: The episode has ended, or the action is illegal and that raises.
        """
        tables = self.tables
        tables.step(ROW, self._checked_actions(action))
        observation, info = self._observe()
        before, after = tables.before[0], tables.episodes[0]
        own, other = int(after["own_pegged"]), int(after["other_pegged"])
        illegal = bool(tables.illegal[0])
        gained = own - int(before["own_pegged"]) - (other - int(before["other_pegged"]))
        if self.rules.lowball:
            gained = -gained
        reward = -float(self.rules.target) if illegal else float(gained)
        ended = bool(after["ended"])
        if ended:
            info |= {"pegged": np.array([own, other]), "illegal_action": illegal}
        return observation, reward, ended, False, info
