"""How strong a network is: mirrored pairs against other agents."""

from dataclasses import asdict, dataclass
from typing import Any

from cribai.agent import make_agent
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats
from cribai.training.checkpoint import Weights
from cribai.training.gating import policy_agent


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A match of a network against an opponent.

    Attributes:
        opponent: The opponent's spec.
        pairs: Mirrored pairs played.
        seed: Seed of their deals.
        win_rate: Share of the games that the network won.
        low: Lower end of its interval at 95%.
        high: Upper end.
        margin: Points ahead a game.
        points: Its points a deal by role and source.
    """

    opponent: str
    pairs: int
    seed: int
    win_rate: float
    low: float
    high: float
    margin: float
    points: dict[str, dict[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return asdict(self)


def evaluate(weights: Weights, opponent: str, pairs: int, seed: int) -> Evaluation:
    """Plays the policy agent with some weights against an opponent.

    Args:
        weights: The weights.
        opponent: The opponent's spec.
        pairs: Mirrored pairs to play.
        seed: Seed of their deals.
    """
    policy = policy_agent(weights)
    stats = Stats.from_results(play_pairs(policy, make_agent(opponent), seed=seed, num_pairs=pairs))
    low, high = stats.win_rate_interval
    return Evaluation(
        opponent=opponent,
        pairs=pairs,
        seed=seed,
        win_rate=stats.win_rate,
        low=low,
        high=high,
        margin=stats.margin_per_game,
        points=stats.points_per_deal(),
    )
