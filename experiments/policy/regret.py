"""Points that agents' tosses give away by the exact analysis, kept in regret.json.

    python experiments/policy/regret.py policy expectimax greedy --deals 20000

Each agent tosses for both roles of the same deals at 0-0, where points are nearly what there is to
play for. A toss' regret is what the best by points would bring more: hand, crib averaged exactly
and pegging.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from cribai.agent import Agent, make_agent
from cribai.analysis.tosses import toss_values
from cribai.game_batch import GameBatch
from cribai.tournament.intervals import around

RESULTS = Path(__file__).parent / "regret.json"
ROLES = ("pone", "dealer")


def regrets(agent: Agent, batch: GameBatch) -> NDArray[np.float64]:
    """Tosses in new games and returns the regrets, float64 array (2, games), the pone's first."""
    found = np.empty((2, len(batch)))
    for _ in ROLES:
        views = batch.views()
        actions = agent.act(views)
        for place, view in enumerate(tqdm(views, leave=False, disable=None)):
            points, _ = toss_values(view.hand, is_dealer=view.is_dealer)
            found[int(view.is_dealer), view.game] = points.max() - points[actions[place]]
        batch.step(actions)
    return found


def summary(found: NDArray[np.float64]) -> dict[str, Any]:
    """Returns the mean with its interval over deals, by role, and how often the best was tossed."""
    by_deal = found.mean(axis=0)
    deals = len(by_deal)
    error = by_deal.std(ddof=1) / deals**0.5
    return {
        "regret": by_deal.mean(),
        "interval": around(by_deal.mean(), error, deals),
        "by_role": dict(zip(ROLES, found.mean(axis=1).tolist(), strict=True)),
        "best": (found < 1e-9).mean(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20_261_130)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for spec in options.agents:
        batch = GameBatch.start(options.deals, seed=options.seed)
        key = f"{spec}, {options.deals} deals, seed {options.seed}"
        found = kept[key] = summary(regrets(make_agent(spec), batch))
        low, high = found["interval"]
        pone, dealer = (found["by_role"][role] for role in ROLES)
        print(
            f"| {spec} | {found['regret']:.4f} | {low:.4f} to {high:.4f} | {pone:.4f} |"
            f" {dealer:.4f} | {100 * found['best']:.1f}% |"
        )
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
