"""Ways to learn the lays, each given the same processor time; kept in comparison.json.

    python experiments/policy/compare.py --seconds 240 --pairs 3000

The number of waves of a run is what the time allows, by the time of its first waves, so that the
learning rate falls to zero within it. Making the library of deals and the matches are not counted.
A run that is in comparison.json already is not run again.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from cribai.config import load_config
from cribai.training.checkpoint import Weights, load_weights
from cribai.training.config import TrainConfig
from cribai.training.evaluation import evaluate
from cribai.training.run import WEIGHTS, Run

RESULTS = Path(__file__).parent / "comparison.json"
SEED = 20_261_130
TRIAL = 6

COMMON: dict[str, Any] = {"seed": 31, "library": 60_000, "pairs": 1, "low_precision": True}
DISTILLED: dict[str, Any] = {"method": "expectation", "root_share": 1.0, "passes": 2}
BRANCHING: dict[str, Any] = {"method": "branching"}
MONTE_CARLO: dict[str, Any] = {"method": "monte_carlo", "root_share": 1.0}
GRADIENT: dict[str, Any] = {
    "method": "branching",
    "loss": "policy",
    "temperature": 0.5,
    "entropy_weight": 0.02,
}
AFTER: dict[str, Any] = {"learning_rate": 5e-4}
NEAR_TEACHER: dict[str, Any] = {"teacher_weight": 0.05}

STAGES: dict[str, list[dict[str, Any]]] = {
    "deep Monte Carlo": [MONTE_CARLO],
    "branching": [BRANCHING],
    "policy gradient": [GRADIENT],
    "distillation": [DISTILLED],
    "distillation, then deep Monte Carlo": [DISTILLED, MONTE_CARLO | AFTER],
    "distillation, then branching": [DISTILLED, BRANCHING | AFTER],
    "distillation, then branching near the teacher": [DISTILLED, BRANCHING | AFTER | NEAR_TEACHER],
    "distillation, then policy gradient": [DISTILLED, GRADIENT | AFTER],
    "distillation, then policy gradient near the teacher": [
        DISTILLED,
        GRADIENT | AFTER | NEAR_TEACHER,
    ],
}


def train(settings: dict[str, Any], seconds: float, folder: Path) -> tuple[Path, int, float]:
    """Trains for so many seconds; returns the weights' path, the waves and the time it took."""
    trial = Run(load_config(TrainConfig, None, settings | {"waves": 1000}), folder / "trial")
    times: list[float] = []
    trial.train(lambda *_: times.append(time.process_time()), until=TRIAL)
    # The first wave compiles and makes the library.
    wave = (times[-1] - times[0]) / (TRIAL - 1)
    waves = round(seconds / wave)
    run = Run(load_config(TrainConfig, None, settings | {"waves": waves}), folder / "run")
    times.clear()
    run.train(lambda *_: times.append(time.process_time()))
    return folder / "run" / WEIGHTS, waves, times[-1] - times[0] + wave


def measured(weights: Weights, pairs: int) -> dict[str, Any]:
    """Returns the matches of weights."""
    found = {}
    for opponent in ("expectimax", "greedy"):
        match = evaluate(weights, opponent, pairs, SEED)
        found[opponent] = {
            "win_rate": match.win_rate,
            "low": match.low,
            "high": match.high,
            "margin": match.margin,
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--pairs", type=int, default=3000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as work:
        distilled: dict[float, tuple[Path, int, float]] = {}
        for name, stages in STAGES.items():
            key = f"{name}, {options.seconds:.0f} s"
            if key in kept:
                continue
            share = options.seconds / len(stages)
            path = Path()
            spent = []
            for number, stage in enumerate(stages):
                settings = COMMON | stage
                if number > 0:
                    settings["start"] = str(path)
                if stage is DISTILLED and share in distilled:
                    path, waves, seconds = distilled[share]
                else:
                    path, waves, seconds = train(settings, share, Path(work) / f"{name} {number}")
                if stage is DISTILLED:
                    distilled[share] = path, waves, seconds
                spent.append({"settings": stage, "waves": waves, "seconds": round(seconds, 1)})
            kept[key] = {"stages": spent} | measured(load_weights(path), options.pairs)
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
            match = kept[key]["expectimax"]
            print(
                f"| {name} | {100 * match['win_rate']:.2f}% | {100 * match['low']:.2f} to"
                f" {100 * match['high']:.2f} | {match['margin']:+.2f} |"
                f" {100 * kept[key]['greedy']['win_rate']:.1f}% |",
                flush=True,
            )


if __name__ == "__main__":
    main()
