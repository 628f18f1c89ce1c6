"""What limits the policy: parts of the game that it plays for expectimax, kept in limits.json.

    python experiments/policy/limits.py --pairs 20000

In each match one part of the decisions is the policy's and all others are expectimax', against
expectimax alone over mirrored pairs. Less than half is won where the policy is the worse one.
A match that is in limits.json already is not played again; --policy names another agent to measure.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from cribai.agent import Agent, make_agent
from cribai.engine.state import DISCARD
from cribai.rules import Rules
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats
from cribai.views import ViewBatch

RESULTS = Path(__file__).parent / "limits.json"

Chooses = Callable[[ViewBatch], NDArray[np.bool_]]
"""Tells which of the views, bool array (n,)."""


class Divided(Agent):
    """Two agents that share the decisions.

    Args:
        one: The agent of the chosen decisions.
        other: The agent of all others.
        chooses: Which decisions are chosen.
    """

    name = "divided"

    def __init__(self, one: Agent, other: Agent, chooses: Chooses) -> None:
        self.one = one
        self.other = other
        self.chooses = chooses

    def check_rules(self, rules: Rules) -> None:
        self.one.check_rules(rules)
        self.other.check_rules(rules)

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        actions = np.empty(len(views), np.int64)
        chosen = self.chooses(views)
        for agent, places in ((self.one, chosen), (self.other, ~chosen)):
            if places.any():
                actions[places] = agent.act(ViewBatch(views.array[places], views.rules))
        return actions


def is_toss(views: ViewBatch) -> NDArray[np.bool_]:
    return np.asarray(views.array["phase"] == DISCARD)


def is_near(views: ViewBatch, near: int) -> NDArray[np.bool_]:
    """Tells where a side is within `near` points of the target."""
    leader = views.array["scores"][:, :2].max(axis=1)
    return np.asarray(views.rules.target - leader <= near)


def parts(near: int) -> dict[str, Chooses]:
    return {
        "tosses": is_toss,
        "lays": lambda views: ~is_toss(views),
        f"lays within {near}": lambda views: ~is_toss(views) & is_near(views, near),
        f"lays beyond {near}": lambda views: ~is_toss(views) & ~is_near(views, near),
        "all": lambda views: np.ones(len(views), np.bool_),
    }


def played(agent: Agent, opponent: Agent, seed: int, num_pairs: int) -> dict[str, Any]:
    with tqdm(total=2 * num_pairs, disable=None, unit="game") as bar:
        results = play_pairs(agent, opponent, seed=seed, num_pairs=num_pairs, progress=bar.update)
    stats = Stats.from_results(results)
    return {
        "win_rate": stats.win_rate,
        "win_rate_interval": stats.win_rate_interval,
        "margin": stats.margin_per_game,
        "margin_interval": stats.margin_interval,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default="policy")
    parser.add_argument("--near", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20_261_130)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    policy, expectimax = make_agent(options.policy), make_agent("expectimax")
    for part, chooses in parts(options.near).items():
        key = f"{options.policy}, {part}, {options.pairs} pairs, seed {options.seed}"
        if key not in kept:
            agent = Divided(policy, expectimax, chooses)
            kept[key] = played(agent, expectimax, options.seed, options.pairs)
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        found = kept[key]
        low, high = (100 * bound for bound in found["win_rate_interval"])
        print(
            f"| {part} | {100 * found['win_rate']:.2f}% | {low:.2f} to {high:.2f} |"
            f" {found['margin']:+.2f} |"
        )


if __name__ == "__main__":
    main()
