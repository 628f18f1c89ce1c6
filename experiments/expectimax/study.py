"""What each part of expectimax is worth: matches of mirrored pairs, kept in results.json.

    python experiments/expectimax/study.py ablations --pairs 4000
    python experiments/expectimax/study.py targets --pairs 20000
    python experiments/expectimax/study.py curve --pairs 4000
    python experiments/expectimax/study.py plot

A match that is in results.json already is not played again.
"""

import argparse
import json
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from cribai.agent import Agent, make_agent
from cribai.engine.state import DISCARD
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats
from cribai.views import ViewBatch

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
SEED = 20_261_130

# The rough recipe that the agent is measured against: exact tosses for hand and crib alone, ten
# hands alike, the opponent sees all.
ROUGH = (
    "expectimax:objective=points,samples=10,doubt=1000000,greed=0,replies=sees_all,"
    "knowledge={without_pegging}"
)
ABLATIONS = {
    "tosses of greedy": "tosses greedy, plays expectimax",
    "plays of greedy: no look-ahead": "tosses expectimax, plays greedy",
    "crib from the table": "expectimax:exact_cribs=false",
    "crib tables blind to suits": "expectimax:knowledge={without_suits}",
    "tosses blind to pegging": "expectimax:knowledge={without_pegging}",
    "no belief: all hands alike": "expectimax:doubt=1000000,greed=0",
    "belief blind to lays": "expectimax:greed=0",
    "belief blind to keeping": "expectimax:doubt=1000000",
    "opponent sees all": "expectimax:replies=sees_all",
    "opponent is greedy": "expectimax:replies=greedy",
    "for points": "expectimax:objective=points",
    "ten samples": "expectimax:samples=10",
}
TARGETS = (
    ("expectimax", "random"),
    ("expectimax", "greedy"),
    ("expectimax", ROUGH),
    ("expectimax", "expectimax"),
)
CURVE = (
    "expectimax:preset=fast",
    "expectimax:samples=4",
    "expectimax:samples=16",
    "expectimax",
    "expectimax:samples=160",
    "expectimax:preset=deep",
)


class TwoAgents(Agent):
    """Tosses as one agent and plays as another."""

    def __init__(self, tosser: Agent, player: Agent) -> None:
        self.tosser = tosser
        self.player = player

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        tosses = views.array["phase"] == DISCARD
        actions = np.empty(len(views), np.int64)
        for agent, rows in ((self.tosser, tosses), (self.player, ~tosses)):
            if rows.any():
                actions[rows] = agent.act(ViewBatch(views.array[rows], views.rules))
        return actions


def build(spec: str) -> Agent:
    if spec.startswith("tosses "):
        tosser, player = spec.removeprefix("tosses ").split(", plays ")
        return TwoAgents(make_agent(tosser), make_agent(player))
    return make_agent(spec.format(**variants()))


def variants() -> dict[str, Path]:
    """Writes the shipped tables with a part blanked out, and returns their paths."""
    paths = {name: FOLDER / f"{name}.npz" for name in ("without_pegging", "without_suits")}
    if not all(path.exists() for path in paths.values()):
        with (files("cribai.analysis") / "knowledge.npz").open("rb") as file, np.load(file) as data:
            tables = dict(data)
        np.savez_compressed(paths["without_pegging"], **tables | {"pegged": 0 * tables["pegged"]})
        blind = {}
        for name in ("toss_chance", "crib_mean"):
            mean = tables[name] @ np.array([0.75, 0.25])
            blind[name] = np.repeat(mean[..., np.newaxis], 2, axis=-1)
        np.savez_compressed(paths["without_suits"], **tables | blind)
    return paths


def play(a: str, b: str, pairs: int) -> dict[str, Any]:
    """Plays a match unless its result is kept; returns and keeps the result."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    key = f"{a} v {b}, {pairs} pairs, seed {SEED}"
    if key in kept:
        return dict(kept[key])
    one, other = build(a), build(b)
    play_pairs(one, other, seed=SEED + 1, num_pairs=1)  # compiles
    start = time.process_time()
    with tqdm(total=2 * pairs, desc=f"{a} v {b}", disable=None, unit="game") as bar:
        results = play_pairs(one, other, seed=SEED, num_pairs=pairs, progress=bar.update)
    seconds = time.process_time() - start
    stats = Stats.from_results(results)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept[key] = {
        "win_rate": stats.win_rate,
        "win_rate_interval": stats.win_rate_interval,
        "margin": stats.margin_per_game,
        "margin_interval": stats.margin_interval,
        "games_per_second": 2 * pairs / seconds,
        "first_dealer_win_rate": stats.first_dealer_win_rate,
        "deals_per_game": stats.deals_per_game,
        "points_per_deal": stats.points_per_deal(),
    }
    unfinished = RESULTS.with_suffix(".tmp")
    unfinished.write_text(json.dumps(kept, indent=1) + "\n")
    unfinished.replace(RESULTS)
    return dict(kept[key])


def show(label: str, result: dict[str, Any]) -> None:
    low, high = result["win_rate_interval"]
    print(
        f"| {label} | {100 * result['win_rate']:.2f}% | {100 * low:.2f} to {100 * high:.2f} |"
        f" {result['margin']:+.2f} | {result['games_per_second']:.0f} |",
        flush=True,
    )


def plot(pairs: int) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for spec in CURVE:
        strength = play(spec, ROUGH, pairs)
        low, high = strength["win_rate_interval"]
        speed = play(spec, spec, pairs // 20)["games_per_second"]
        center = 100 * strength["win_rate"]
        error = [[center - 100 * low], [100 * high - center]]
        axes.errorbar(speed, center, yerr=error, fmt="o", capsize=3)
        label = spec.removeprefix("expectimax:") if ":" in spec else "standard"
        axes.annotate(label, (speed, center), xytext=(6, 6), textcoords="offset points")
    axes.set_xscale("log")
    axes.set_xlabel("games a second against itself, one core")
    axes.set_ylabel("games won against the rough recipe, %")
    axes.set_title(f"expectimax: strength and speed ({pairs} pairs, intervals at 95%)")
    axes.grid(alpha=0.3)
    figure.savefig(FOLDER / "curve.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("ablations", "targets", "curve", "plot"))
    parser.add_argument("--pairs", type=int, default=4000)
    options = parser.parse_args()
    if options.part == "ablations":
        for label, spec in ABLATIONS.items():
            show(label, play(spec, "expectimax", options.pairs))
    elif options.part == "targets":
        for a, b in TARGETS:
            show(f"{a} v {b}", play(a, b, options.pairs))
    elif options.part == "curve":
        for spec in CURVE:
            show(f"{spec} v the rough recipe", play(spec, ROUGH, options.pairs))
            show(f"{spec} v itself", play(spec, spec, options.pairs // 20))
    else:
        plot(options.pairs)


if __name__ == "__main__":
    main()
