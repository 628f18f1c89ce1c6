"""How often the policy wins when its network says so, in ten bins, in games against itself.

python experiments/policy/calibration.py --games 4000
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from cribai.engine.state import PLAY
from cribai.game_batch import GameBatch
from cribai.training.network import WIN_OUTPUT
from cribai.views import ViewBatch
from cribai_agents.policy import PolicyAgent

RESULTS = Path(__file__).parent / "calibration.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20_261_131)
    parser.add_argument("--checkpoint")
    options = parser.parse_args()
    torch.set_num_threads(1)
    agent = PolicyAgent(options.checkpoint)
    batch = GameBatch.start(options.games, seed=options.seed)
    said, games, players = [], [], []
    while not batch.over.all():
        views = batch.views()
        choices = (views.array["phase"] == PLAY) & (views.array["num_legal"] > 1)
        lays = ViewBatch(views.array[choices], views.rules)
        if len(lays):
            outputs = agent._outputs(lays, np.arange(len(lays)))[:, WIN_OUTPUT]
            said.append(1 / (1 + np.exp(-outputs)))
            games.append(lays.array["game"])
            players.append(lays.array["player"])
        batch.step(agent.act(views))
    chance = np.concatenate(said)
    won = batch.winners[np.concatenate(games)] == np.concatenate(players)
    bins = np.minimum((10 * chance).astype(int), 9)
    table = [
        {
            "from": number / 10,
            "lays": int((bins == number).sum()),
            "said": float(chance[bins == number].mean()),
            "won": float(won[bins == number].mean()),
        }
        for number in range(10)
    ]
    RESULTS.write_text(json.dumps(table, indent=1) + "\n")
    for row in table:
        print(f"| {row['from']:.1f} | {row['lays']} | {row['said']:.3f} | {row['won']:.3f} |")


if __name__ == "__main__":
    main()
