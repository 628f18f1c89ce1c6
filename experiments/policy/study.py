"""Matches of the policy agents over mirrored pairs, kept in results.json.

    python experiments/policy/study.py policy expectimax --pairs 50000 --seed 20261130

The seeds of matches and of training are of different domains: no deal of a match is one trained on.
A match that is in results.json already is not played again.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from tqdm import tqdm

from cribai.agent import make_agent
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20_261_130)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    key = f"{options.a} v {options.b}, {options.pairs} pairs, seed {options.seed}"
    if key not in kept:
        a, b = make_agent(options.a), make_agent(options.b)
        play_pairs(a, b, seed=options.seed + 1, num_pairs=1)  # compiles
        start = time.process_time()
        with tqdm(total=2 * options.pairs, disable=None, unit="game") as bar:
            results = play_pairs(
                a, b, seed=options.seed, num_pairs=options.pairs, progress=bar.update
            )
        seconds = time.process_time() - start
        stats = Stats.from_results(results)
        kept[key] = {
            "win_rate": stats.win_rate,
            "win_rate_interval": stats.win_rate_interval,
            "margin": stats.margin_per_game,
            "margin_interval": stats.margin_interval,
            "games_per_second": 2 * options.pairs / seconds,
            "points_per_deal": stats.points_per_deal(),
            "opponents_points_per_deal": stats.points_per_deal(1),
        }
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    found = kept[key]
    low, high = found["win_rate_interval"]
    print(
        f"| {options.a} v {options.b} | {100 * found['win_rate']:.2f}% |"
        f" {100 * low:.2f} to {100 * high:.2f} | {found['margin']:+.2f} | {options.pairs} |"
        f" {found['games_per_second']:.0f} |"
    )


if __name__ == "__main__":
    main()
