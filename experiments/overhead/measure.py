"""What the framework's own time is, as a share of the agents', in a round robin.

python experiments/overhead/measure.py

Prints one JSON object: CPU seconds of each match, those of them within the agents, and the share.
"""

import argparse
import json
import time
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, make_agent
from cribai.tournament.match import play_pairs
from cribai.views import ViewBatch


class Timed(Agent):
    """Adds up the time in which an agent thinks."""

    def __init__(self, spec: str) -> None:
        self.agent = make_agent(spec)
        self.name = spec
        self.seconds = 0.0

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        start = time.process_time()
        actions = self.agent.act(views)
        self.seconds += time.process_time() - start
        return actions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="*", default=["random", "greedy", "expectimax"])
    parser.add_argument("--pairs", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    matches: dict[str, Any] = {}
    total = within = 0.0
    for a, b in combinations(options.agents, 2):
        play_pairs(make_agent(a), make_agent(b), seed=options.seed, num_pairs=1)  # compiles
        agents = Timed(a), Timed(b)
        start = time.process_time()
        play_pairs(
            *agents, seed=options.seed, num_pairs=options.pairs, batch_size=2 * options.pairs
        )
        seconds = time.process_time() - start
        thinking = sum(agent.seconds for agent in agents)
        matches[f"{a} v {b}"] = {"seconds": seconds, "within_agents": thinking}
        total += seconds
        within += thinking
    print(json.dumps({"matches": matches, "share": (total - within) / within}, indent=1))


if __name__ == "__main__":
    main()
