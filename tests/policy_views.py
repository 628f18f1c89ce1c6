"""Views to ask the policy's agents about, and that the batch does not matter to them."""

import numpy as np

from cribai import STANDARD, GameBatch, ViewBatch, make_agent
from cribai.agent import Agent


def views_of(spec: str, num_games: int, seed: int) -> ViewBatch:
    """Views of an agent's games against itself."""
    batch = GameBatch.start(num_games, seed=seed)
    agent = make_agent(spec)
    arrays = []
    while not batch.over.all():
        views = batch.views()
        arrays.append(views.array)
        batch.step(agent.act(views))
    return ViewBatch(np.concatenate(arrays), STANDARD)


def check_batches(agent: Agent, views: ViewBatch, seed: int) -> None:
    """The same actions in any order and in batches of any size."""
    expected = agent.act(views)
    order = np.random.default_rng(seed).permutation(len(views))
    assert (agent.act(ViewBatch(views.array[order], STANDARD)) == expected[order]).all()
    for size in (1, 3, 100):
        parts = [
            agent.act(ViewBatch(views.array[start : start + size], STANDARD))
            for start in range(0, 600, size)
        ]
        assert (np.concatenate(parts)[:600] == expected[:600]).all()
