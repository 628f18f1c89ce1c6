"""Plays deals of expectimax against itself, for points, and keeps what fell to whom, in order."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from cribai.agent import make_agent
from cribai.engine.state import (
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_PEGGING,
    PLAY,
    PONE_HAND,
    PONE_PEGGING,
)
from cribai.game_batch import GameBatch
from cribai.rules import MAX_TARGET, STANDARD, Rules

ENDLESS = Rules("endless", target=MAX_TARGET, skunk_line=None, double_skunk_line=None)
NUM_GAMES = 500
WIDTH = 16


def play_deals(knowledge: Path, number: int, seed: int, workers: int) -> dict[str, Any]:
    """Returns arrays over deals, roles 0 for the pone and 1 for the dealer.

    Keys: `kept` ranks (n, 2, 4); who pegged, `roles` (n, 16), -1 past the end, and how many
    `points` (n, 16), in order with neighbours of one role joined; `heels` (n,), `hands` (n, 2),
    `cribs` (n,).
    """
    jobs = [(knowledge, number // workers, seed, worker) for worker in range(workers)]
    with ProcessPoolExecutor(workers) as pool:
        parts = list(pool.map(_play, jobs))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _play(job: tuple[Path, int, int, int]) -> dict[str, Any]:
    knowledge, number, seed, worker = job
    agent = make_agent(f"expectimax:objective=points,knowledge={knowledge}")
    rows = np.arange(NUM_GAMES)
    batch = GameBatch.start(NUM_GAMES, ENDLESS, seed=seed, pairs=rows + worker * NUM_GAMES)
    roles = np.full((NUM_GAMES, WIDTH), -1, np.int8)
    points = np.zeros((NUM_GAMES, WIDTH), np.int8)
    num_pegs = np.zeros(NUM_GAMES, np.int64)
    before = batch.states.copy()
    deals: list[dict[str, Any]] = []
    num_deals = 0
    while num_deals < number:
        batch.step(agent.act(batch.views()))
        after = batch.states
        ended = after["num_deals"] != before["num_deals"]
        gained = after["points"] - before["points"]
        in_deal = (gained[..., PONE_PEGGING] + gained[..., DEALER_PEGGING])[:, :2]
        pegs = np.where(ended[:, None], in_deal, after["pegged"][:, :2]) - before["pegged"][:, :2]
        pegs[before["phase"] != PLAY] = 0
        for player in range(2):
            scored = np.flatnonzero(pegs[:, player])
            role = (before["dealer"][scored] == player).astype(np.int8)
            last = np.maximum(num_pegs[scored] - 1, 0)
            joins = (num_pegs[scored] > 0) & (roles[scored, last] == role)
            points[scored[joins], last[joins]] += pegs[scored[joins], player].astype(np.int8)
            new, place = scored[~joins], num_pegs[scored[~joins]]
            roles[new, place] = role[~joins]
            points[new, place] = pegs[new, player]
            num_pegs[new] += 1
        done = np.flatnonzero(ended)
        if done.size:
            dealer = before["dealer"][done].astype(np.int64)
            seats = np.stack([1 - dealer, dealer], axis=1)
            shown = np.stack(
                [
                    gained[done, seats[:, 0], PONE_HAND],
                    gained[done, seats[:, 1], DEALER_HAND],
                ],
                axis=1,
            )
            deals.append(
                {
                    "kept": before["hands"][done[:, None], seats][:, :, : STANDARD.cards_kept] >> 2,
                    "roles": roles[done].copy(),
                    "points": points[done].copy(),
                    "heels": (before["starter"][done] >> 2 == 10).astype(np.int8),
                    "hands": shown.astype(np.int8),
                    "cribs": gained[done, dealer, DEALER_CRIB].astype(np.int8),
                }
            )
            roles[done], points[done], num_pegs[done] = -1, 0, 0
            num_deals += done.size
        before = after.copy()
    return {name: np.concatenate([deal[name] for deal in deals]) for name in deals[0]}
