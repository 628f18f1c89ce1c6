"""Rates of the environments, in the learner's decisions, against the agent `random`."""

import tracemalloc
from time import perf_counter
from typing import Any, Final

import gymnasium

import cribai.envs  # noqa: F401 -- registers the environments
from cribai.envs.encoding import ACTION_MASK
from cribai.envs.vector import CribbageVectorEnv

ENV_ID: Final = "cribai/Cribbage-v0"
NUM_ENVS: Final = 4096
NUM_SYNC_ENVS: Final = 16
NUM_RESETS: Final = 20_000


def environment_rates(seconds: float) -> tuple[dict[str, float], int]:
    """Returns the learner's decisions a second by environment, and how much resets leave behind.

    The learner takes the first legal action, so that little is measured but the environment. The
    rate of `sync_vector_env` is Gymnasium's over the single environment.
    """
    single = gymnasium.make(ENV_ID, disable_env_checker=True).unwrapped
    vector = CribbageVectorEnv(NUM_ENVS)
    sync = gymnasium.make_vec(ENV_ID, NUM_SYNC_ENVS, vectorization_mode="sync")
    rates = {
        "single_env": _single_rate(single, seconds),
        "vector_env": _vector_rate(vector, NUM_ENVS, seconds),
        "sync_vector_env": _vector_rate(sync, NUM_SYNC_ENVS, seconds),
    }
    return rates, reset_growth(single)


def _single_rate(env: Any, seconds: float) -> float:
    """Returns the best rate of several parts of the time, after one that compiles."""
    _, info = env.reset(seed=0)
    best = 0.0
    end = perf_counter() + seconds
    first = True
    while first or best == 0.0 or perf_counter() < end:
        start = perf_counter()
        for _ in range(1000):
            _, _, ended, _, info = env.step(info[ACTION_MASK].argmax())
            if ended:
                _, info = env.reset()
        if not first:
            best = max(best, 1000 / (perf_counter() - start))
        first = False
    return best


def _vector_rate(env: Any, size: int, seconds: float) -> float:
    _, infos = env.reset(seed=0)
    best = 0.0
    end = perf_counter() + seconds
    first = True
    while first or best == 0.0 or perf_counter() < end:
        spent = 0.0
        for _ in range(50):
            actions = infos[ACTION_MASK].argmax(axis=1)
            start = perf_counter()
            _, _, _, _, infos = env.step(actions)
            spent += perf_counter() - start
        if not first:
            best = max(best, 50 * size / spent)
        first = False
    return best


def reset_growth(env: Any) -> int:
    """Returns by how many bytes the memory that Python traces grows in many resets."""
    for _ in range(100):
        env.reset()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for seed in range(NUM_RESETS):
            env.reset(seed=seed if seed % 100 == 0 else None)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before
