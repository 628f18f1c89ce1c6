"""Makes the table behind `cribai.analysis.luck_tables`: what the best toss of six ranks is worth.

python experiments/analysis/make_luck.py --out cribai/analysis/luck.npz
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from cribai.analysis.knowledge import load_knowledge
from cribai.analysis.luck_tables import (
    NUM_DEALT,
    NUM_HAND_PARTS,
    STEPS,
    dealt_index,
    dealt_ways,
)
from cribai.analysis.policy import (
    CRIB_MEAN,
    HAND,
    NUM_HANDS,
    NUM_TOSS_PARTS,
    OTHER_PEGS,
    OWN_PEGS,
    best_toss,
    class_size,
    toss_parts,
)
from cribai.analysis.tossing import CRIB, MAX_SHOW, NUM_TOSSES
from cribai.cards import DECK_SIZE
from cribai.engine.jit import kernel
from cribai.engine.scoring import rank_table


@kernel
def add_hands(
    first: int, second: int, role: int, knowledge: Any, rule_table: Any, totals: Any
) -> int:
    """Adds up the parts of the best toss of every hand whose two lowest cards are given."""
    hands = np.zeros((1, 6), np.int64)
    cards = hands[0]
    values = np.empty((NUM_TOSSES, NUM_TOSS_PARTS), np.float64)
    crib = np.zeros(1, CRIB)
    chances = np.empty((NUM_TOSSES, MAX_SHOW), np.float64)
    number = 0
    cards[0] = first
    cards[1] = second
    for third in range(second + 1, DECK_SIZE):
        cards[2] = third
        for fourth in range(third + 1, DECK_SIZE):
            cards[3] = fourth
            for fifth in range(fourth + 1, DECK_SIZE):
                cards[4] = fifth
                for sixth in range(fifth + 1, DECK_SIZE):
                    cards[5] = sixth
                    size = class_size(cards)
                    if size == 0:
                        continue
                    number += size
                    toss_parts(
                        cards, role, True, knowledge[0], rule_table, crib[0], chances, values
                    )
                    best = values[best_toss(values)]
                    place = dealt_index(hands, 0)
                    totals[place, 0] += size * best[HAND]
                    totals[place, 1] += size * best[CRIB_MEAN]
                    totals[place, 2] += size * (best[OWN_PEGS] - best[OTHER_PEGS])
    return number


def add_from(job: tuple[int, int]) -> tuple[int, Any]:
    first, role = job
    totals = np.zeros((NUM_DEALT, NUM_HAND_PARTS))
    knowledge, table = load_knowledge(), rank_table(15)
    hands = sum(
        add_hands(first, second, role, knowledge, table, totals)
        for second in range(first + 1, DECK_SIZE - 4)
    )
    return hands, totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    start = time.time()
    parts = []
    with ProcessPoolExecutor(options.workers) as pool:
        for role in range(2):
            jobs = [(first, role) for first in range(DECK_SIZE - 5)]
            done = list(tqdm(pool.map(add_from, jobs), total=len(jobs), disable=None))
            assert sum(hands for hands, _ in done) == NUM_HANDS
            parts.append(sum(totals for _, totals in done))
    means = np.stack(parts, axis=1) / np.maximum(dealt_ways(), 1)[:, np.newaxis, np.newaxis]
    dealt = np.rint(STEPS * means).astype(np.int8)
    unfinished = options.out.with_suffix(".tmp.npz")
    np.savez_compressed(unfinished, dealt=dealt)
    unfinished.replace(options.out)
    print(f"{time.time() - start:.0f} s, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
