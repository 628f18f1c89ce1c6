"""Timing on one core: the best of many short runs, so that other work disturbs it least."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


@contextmanager
def one_core() -> Iterator[None]:
    """Keeps this process and those it starts on one core, where the system can."""
    if sys.platform == "win32" or not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def best_rate(run: Callable[[], float], seconds: float) -> float:
    """Returns the most that a run did in a second.

    Args:
        run: Does some work and returns how much.
        seconds: How long to repeat it, after one run that does not count.
    """
    run()
    best = 0.0
    end = perf_counter() + seconds
    while best == 0.0 or perf_counter() < end:
        start = perf_counter()
        amount = run()
        best = max(best, amount / (perf_counter() - start))
    return best
