"""Makes the tables that the analysis ships: tosses, cribs, kept hands, pegging, board position.

python experiments/analysis/make_knowledge.py --out cribai/analysis/knowledge.npz
"""

import argparse
import itertools
import time
from concurrent.futures import ProcessPoolExecutor
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from deals import play_deals
from positions import solve_positions
from tqdm import tqdm

from cribai.analysis.knowledge import (
    KNOWLEDGE,
    LIBRARY_SIZE,
    MAX_PEGS,
    NUM_KEPT,
    NUM_STAKES,
    TARGET,
    empty_knowledge,
    kept_index,
)
from cribai.analysis.policy import NUM_HANDS, count_tosses
from cribai.cards import NUM_RANKS
from cribai.engine.scoring import rank_table
from cribai.match_points import MATCH_POINTS, MatchPoints
from cribai.rules import STANDARD

KEPT = list(itertools.combinations_with_replacement(range(NUM_RANKS), 4))
KEPT_WAYS = np.zeros(NUM_KEPT)
for ranks in KEPT:
    ways = [comb(4, ranks.count(rank)) for rank in set(ranks)]
    KEPT_WAYS[kept_index(*ranks)] = np.prod(ways)
STAKES = [MatchPoints("win", 1, 1, 1), *MATCH_POINTS.values()]


def count_from(job: tuple[int, int, Any]) -> tuple[int, Any, Any, Any]:
    first, role, knowledge = job
    tossed = np.zeros((NUM_RANKS, NUM_RANKS, 2))
    kept = np.zeros(NUM_KEPT)
    cribs = np.zeros((2, NUM_RANKS, NUM_RANKS, 2))
    table = rank_table(STANDARD.fifteen)
    hands = sum(
        count_tosses(first, second, role, knowledge, table, tossed, kept, cribs)
        for second in range(first + 1, 48)
    )
    return hands, tossed, kept, cribs


def respond(knowledge: Any, step: float, pool: ProcessPoolExecutor) -> None:
    """Moves both roles' tosses towards the best response to each other's."""
    answers = []
    for role in range(2):
        jobs = [(first, role, knowledge) for first in range(47)]
        parts = list(tqdm(pool.map(count_from, jobs), total=47, desc=f"role {role}", disable=None))
        assert sum(part[0] for part in parts) == NUM_HANDS
        answers.append([sum(part[i] for part in parts) for i in (1, 2, 3)])
    for role, (tossed, kept, cribs) in enumerate(answers):
        chance = np.zeros((NUM_RANKS, NUM_RANKS, 2))
        mean = np.zeros((NUM_RANKS, NUM_RANKS, 2))
        for low in range(NUM_RANKS):
            for high in range(low, NUM_RANKS):
                for suited in range(2):
                    # A pair of one rank is never of one suit; its entry repeats the other.
                    row = (low, high, 0 if low == high else suited)
                    pairs = 6 if low == high else 4 if suited else 12
                    for place in ((low, high, suited), (high, low, suited)):
                        chance[place] = tossed[row] / (pairs * comb(50, 4))
                        mean[place] = cribs[1][row] / cribs[0][row]
        keep = kept / (KEPT_WAYS * comb(48, 2))
        for name, new in (("toss_chance", chance), ("keep_chance", keep)):
            knowledge[name][0, role] += step * (new - knowledge[name][0, role])
        knowledge["crib_mean"][0, role] = mean


def fit_pegging(deals: dict[str, Any]) -> Any:
    """Averages what kept hands peg, by role: a regression on ranks and pairs of ranks, to which
    each hand's own average is added as far as its number of deals bears it out."""
    pair_place = {
        pair: place
        for place, pair in enumerate(itertools.combinations_with_replacement(range(NUM_RANKS), 2))
    }
    features = np.zeros((NUM_KEPT, 1 + NUM_RANKS + len(pair_place)))
    for ranks in KEPT:
        row = features[kept_index(*ranks)]
        row[0] = 1
        for rank in ranks:
            row[1 + rank] += 1
        for pair in itertools.combinations(ranks, 2):
            row[1 + NUM_RANKS + pair_place[pair]] += 1
    pegged = np.zeros((2, NUM_KEPT, 2))
    for role in range(2):
        ranks = np.sort(deals["kept"][:, role].astype(np.int64), axis=1)
        places = np.array([kept_index(*row) for row in ranks.tolist()])
        number = np.bincount(places, minlength=NUM_KEPT)
        for player in range(2):
            of_role = role if player == 0 else 1 - role
            points = (deals["points"] * (deals["roles"] == of_role)).sum(axis=1).astype(float)
            total = np.bincount(places, weights=points, minlength=NUM_KEPT)
            ridge = 30.0 * np.eye(features.shape[1])
            ridge[0, 0] = 0.0
            normal = (features * number[:, None]).T @ features + ridge
            fitted = features @ np.linalg.solve(normal, features.T @ total)
            pegged[role, :, player] = fitted + (total - number * fitted) / (number + 100)
    return pegged


def choose_library(deals: dict[str, Any], rng: np.random.Generator) -> Any:
    """Returns the sample of deals, of 3,000, whose means and spreads are most like all deals'."""
    rows = [(deals["points"] * (deals["roles"] == role)).sum(axis=1) for role in range(2)]
    rows += [deals["heels"], *deals["hands"].T, deals["cribs"]]
    table = np.stack(rows, axis=1).astype(float)
    mean, spread = table.mean(axis=0), table.std(axis=0)
    short = np.flatnonzero(deals["roles"][:, MAX_PEGS] < 0)
    samples = [rng.choice(short, LIBRARY_SIZE, replace=False) for _ in range(3000)]

    def distance(sample: Any) -> float:
        off = (table[sample].mean(axis=0) - mean) / spread
        wide = table[sample].std(axis=0) / spread - 1
        return float((off**2).sum() + (wide**2).sum())

    return min(samples, key=distance)


def save(knowledge: Any, path: Path) -> None:
    small = {"worth": np.float32, "pegged": np.float32, "keep_chance": np.float32}
    arrays = {name: knowledge[name][0] for name in KNOWLEDGE.names}
    arrays = {name: array.astype(small.get(name, array.dtype)) for name, array in arrays.items()}
    unfinished = path.with_suffix(".tmp.npz")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(path)


def find_tosses(options: argparse.Namespace) -> None:
    """Iterates best responses, first blind to pegging, then with what their hands pegged."""
    path = options.work / "tosses.npz"
    if path.exists():
        return
    blind = options.work / "blind.npz"
    knowledge = empty_knowledge()
    with ProcessPoolExecutor(options.workers) as pool:
        for step in (1.0, 0.7, 0.5, 0.4):
            respond(knowledge, step, pool)
        save(knowledge, blind)
        cribs = knowledge["crib_mean"].copy()
        deals = play_deals(blind, options.deals // 4, options.seed, options.workers)
        knowledge["pegged"][0] = fit_pegging(deals)
        for step in (0.7, 0.7, 0.5, 0.5):
            respond(knowledge, step, pool)
    # The table of average cribs is what other tables are: of tosses for hand and crib alone.
    knowledge["crib_mean"] = cribs
    save(knowledge, path)


def find_deals(options: argparse.Namespace) -> dict[str, Any]:
    """Plays deals of the agent that tosses so against itself."""
    path = options.work / "deals.npz"
    if not path.exists():
        tosses = options.work / "tosses.npz"
        deals = play_deals(tosses, options.deals, options.seed + 1, options.workers)
        unfinished = path.with_suffix(".tmp.npz")
        np.savez_compressed(unfinished, **deals)
        unfinished.replace(path)
    with np.load(path) as data:
        return dict(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work")
    parser.add_argument("--deals", type=int, default=400_000)
    parser.add_argument("--position-deals", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(exist_ok=True)
    start = time.time()
    find_tosses(options)
    print(f"tosses: {time.time() - start:.0f} s", flush=True)
    deals = find_deals(options)
    print(f"deals: {time.time() - start:.0f} s", flush=True)
    with np.load(options.work / "tosses.npz") as data:
        knowledge = empty_knowledge()
        for name in data.files:
            knowledge[name][0] = data[name]
    knowledge["pegged"][0] = fit_pegging(deals)
    for role, name in enumerate(("pone", "dealer")):
        pegs = (deals["points"] * (deals["roles"] == role)).sum(axis=1).mean()
        print(f"{name}: hand {deals['hands'][:, role].mean():.3f}, pegging {pegs:.3f}")
    print(f"crib {deals['cribs'].mean():.3f}, {len(deals['cribs'])} deals", flush=True)
    losers = np.arange(TARGET)
    levels = np.array([STANDARD.skunk_level(score) for score in losers])
    for stake in range(NUM_STAKES):
        prize = np.array([STAKES[stake].worth(level) for level in levels], float)
        knowledge["prize"][0, stake] = prize
        knowledge["worth"][0, stake] = solve_positions(deals, prize, options.position_deals)
    win = (knowledge["worth"][0, 0] + 1) / 2
    for scores in ((0, 0), (115, 115), (120, 120)):
        print(f"dealer at {scores[0]}-{scores[1]} wins {win[scores]:.4f}")
    library = choose_library(deals, np.random.default_rng(options.seed))
    knowledge["peg_roles"][0] = deals["roles"][library, :MAX_PEGS]
    knowledge["peg_points"][0] = deals["points"][library, :MAX_PEGS]
    for name in ("heels", "hands", "cribs"):
        knowledge[name][0] = deals[name][library]
    save(knowledge, options.out)
    print(f"all: {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
