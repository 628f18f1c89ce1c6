"""Random legal actions, in one game after another and in many games in lockstep.

    python experiments/examples/random_loop.py --seed 1 --steps 50000

Printed are the games played by each of the two, the part of them won against `random`, which plays
alike, and decisions a second.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import cribai.envs  # noqa: F401 -- registers the environments


def play_single(steps: int, seed: int) -> NDArray[np.int64]:
    """Returns the results of the games that ended within so many steps: 1 won, -1 lost."""
    env = gymnasium.make("cribai/Cribbage-v0")
    # The space draws uniformly from the actions that the mask allows.
    env.action_space.seed(seed)
    _, info = env.reset(seed=seed)
    results = []
    for _ in range(steps):
        action = env.action_space.sample(info["action_mask"])
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            results.append(info["result"])
            _, info = env.reset()
    return np.array(results, np.int64)


def play_vector(steps: int, seed: int, num_envs: int) -> NDArray[np.int64]:
    """Returns the same of games in lockstep, among which the steps are divided."""
    env: Any = gymnasium.make_vec(
        "cribai/Cribbage-v0", num_envs, vectorization_mode="vector_entry_point"
    )
    rng = np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    results = [np.zeros(0, np.int64)]
    for _ in range(steps // num_envs):
        mask = infos["action_mask"]
        actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        # Where a game has ended, the next one begins in this step and the action is ignored.
        _, _, terminated, _, infos = env.step(actions)
        if terminated.any():
            results.append(infos["result"][terminated])
    return np.concatenate(results)


def report(name: str, results: NDArray[np.int64], steps: int, seconds: float) -> None:
    won = f"{np.mean(results > 0):.1%} won" if len(results) else "none ended"
    print(f"{name}: {len(results)} games, {won}, {steps / seconds:.0f} decisions/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=50_000, help="decisions in each of the two")
    parser.add_argument("--num-envs", type=int, default=256)
    options = parser.parse_args()
    play_single(100, options.seed)  # compiles what is not compiled yet
    start = time.perf_counter()
    results = play_single(options.steps, options.seed)
    report("one game", results, options.steps, time.perf_counter() - start)
    start = time.perf_counter()
    results = play_vector(options.steps, options.seed, options.num_envs)
    steps = options.steps // options.num_envs * options.num_envs
    report(f"{options.num_envs} games in lockstep", results, steps, time.perf_counter() - start)


if __name__ == "__main__":
    main()
