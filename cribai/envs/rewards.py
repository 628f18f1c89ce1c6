"""What a learner is paid: the win, points, match points, or the chance to win.

A tied game is worth what lies between a win and a loss: nothing, or half a win as a chance.

A reward reads how the learner stands before and after a step and holds no state of its own. An
illegal action is paid as if the opponent had reached the target at once, or in lowball the learner.
"""

from abc import ABC, abstractmethod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import TARGET, WIN, covers, load_knowledge
from cribai.errors import ConfigError
from cribai.match_points import MatchPoints, get_match_points
from cribai.rules import Rules


class Reward(ABC):
    """What steps are worth to the learner.

    Args:
        rules: The rules of the games, of two players.
        match_points: The table of what wins are worth.
    """

    def __init__(self, rules: Rules, match_points: MatchPoints) -> None:
        self.rules = rules
        self.match_points = match_points

    @abstractmethod
    def pay(
        self, before: NDArray[Any], after: NDArray[Any], illegal: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Returns the rewards of a step.

        Args:
            before: EPISODE array (n,), how each row stood before.
            after: EPISODE array (n,), how it stands now.
            illegal: bool array (n,), whether the game was lost by an illegal action.
        """


class WinReward(Reward):
    """1 for a win, -1 for a loss and 0 for a tie, when the game ends."""

    def pay(
        self,
        before: NDArray[Any],  # noqa: ARG002
        after: NDArray[Any],
        illegal: NDArray[np.bool_],  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Returns the rewards of a step; see `Reward.pay`."""
        rewards: NDArray[np.float64] = after["result"].astype(np.float64)
        return rewards


class PointsReward(Reward):
    """The learner's points less the opponent's, as they are scored; in lowball the other way."""

    def pay(
        self, before: NDArray[Any], after: NDArray[Any], illegal: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Returns the rewards of a step; see `Reward.pay`."""
        good, bad = "own_score", "other_score"
        if self.rules.lowball:
            good, bad = bad, good
        reached = np.where(illegal, np.maximum(after[bad], self.rules.target), after[bad])
        gains = after[good] - before[good] - (reached - before[bad])
        rewards: NDArray[np.float64] = gains.astype(np.float64)
        return rewards


class MatchPointsReward(Reward):
    """What the win is worth in a match, less than zero for a loss, when the game ends."""

    def __init__(self, rules: Rules, match_points: MatchPoints) -> None:
        super().__init__(rules, match_points)
        self._worths = np.array(
            [match_points.worth(rules.skunk_level(score)) for score in range(rules.target + 1)],
            np.float64,
        )

    def pay(
        self,
        before: NDArray[Any],  # noqa: ARG002
        after: NDArray[Any],
        illegal: NDArray[np.bool_],  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Returns the rewards of a step; see `Reward.pay`."""
        result = after["result"]
        losers = np.where(result > 0, after["other_score"], after["own_score"])
        # Who loses may have passed the target too, if the higher score wins.
        worths = self._worths[np.minimum(losers, self.rules.target)]
        rewards: NDArray[np.float64] = result * worths
        return rewards


class WinProbabilityReward(Reward):
    """The change of the chance to win, told by board position at each new deal, and at the end.

    The rewards of a game add up to 1, 0 or 1/2, for a win, a loss or a tie, less the chance at its
    start. What happens within a deal is paid when the next one begins.

    Raises:
        ConfigError: Board position is not known for the rules.
    """

    def __init__(self, rules: Rules, match_points: MatchPoints) -> None:
        super().__init__(rules, match_points)
        if not covers(rules) or rules.target > TARGET:
            raise ConfigError(
                f"The reward 'win_probability' is not known for the rules {rules.name!r}, only for"
                f" the standard deal of two players and a target of {TARGET} or less;"
                " choose 'points'."
            )
        self._worth = load_knowledge()[0]["worth"][WIN]

    def pay(
        self,
        before: NDArray[Any],
        after: NDArray[Any],
        illegal: NDArray[np.bool_],  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Returns the rewards of a step; see `Reward.pay`."""
        rewards = np.zeros(len(after))
        moved = (after["num_deals"] != before["num_deals"]) | (after["ended"] == 1)
        rows = np.flatnonzero(moved)
        if rows.size:
            rewards[rows] = self.chance(after[rows]) - self.chance(before[rows])
        return rewards

    def chance(self, episodes: NDArray[Any]) -> NDArray[np.float64]:
        """Returns the chance to win as the present deal began; once the game has ended 1, 0 or 1/2.

        Args:
            episodes: EPISODE array (n,).
        """
        head_start = TARGET - self.rules.target
        own = episodes["own_start"] + head_start
        other = episodes["other_start"] + head_start
        deals = episodes["own_deals"] == 1
        worth = np.where(deals, self._worth[own, other], -self._worth[other, own])
        worth = np.where(episodes["ended"] == 1, episodes["result"], worth)
        chances: NDArray[np.float64] = (worth + 1) / 2
        return chances


REWARDS: Final[dict[str, type[Reward]]] = {
    "win": WinReward,
    "points": PointsReward,
    "match_points": MatchPointsReward,
    "win_probability": WinProbabilityReward,
}


def make_reward(name: str, rules: Rules, match_points: str = "plain") -> Reward:
    """Returns a reward by name.

    Raises:
        ConfigError: No reward has the name, or it is not known for the rules.
        RulesError: No table of match points has the name.
    """
    if name not in REWARDS:
        raise ConfigError(f"Unknown reward {name!r}; choose one of {', '.join(REWARDS)}.")
    return REWARDS[name](rules, get_match_points(match_points))
