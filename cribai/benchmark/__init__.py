"""How fast cribai is on one core, and what peers do on the same core in the same run.

The functions return numbers; `cribai bench` prints them. A rate of kernels is the best of many
short runs after one that compiles, so that other work on the machine disturbs it least.
"""

import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from cribai.agent import agent_entry_points
from cribai.benchmark.engine import fused_rate, random_hands_rate, show_rate, tournament_rates
from cribai.benchmark.environments import environment_rates
from cribai.benchmark.peers import peers, ratios
from cribai.benchmark.startup import startup_seconds
from cribai.benchmark.timing import one_core
from cribai.errors import AgentError


def measure(
    seconds: float = 1.0,
    *,
    startup: bool = True,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Measures everything, on one core.

    Args:
        seconds: How long to measure each rate.
        startup: Whether to measure how long commands take to start, and the first compile.
        progress: Called with the name of what is measured next.

    Returns:
        The figures as `cribai bench --json` prints them.
    """
    tell = progress or (lambda _: None)
    result: dict[str, Any] = {"seconds": seconds, "versions": versions()}
    with one_core():
        tell("show")
        result["show_hands_per_second"] = show_rate(seconds)
        result["random_hands_per_second"] = random_hands_rate(seconds)
        tell("random games")
        games, decisions = tournament_rates("random", seconds)
        result["random_games_per_second"] = {"fused": fused_rate(seconds), "tournament": games}
        result["decisions_per_second"] = {"views": decisions}
        tell("environments")
        rates, memory = environment_rates(seconds)
        result["decisions_per_second"] |= rates
        result["bytes_grown_by_resets"] = memory
        result["agents"] = {}
        result["skipped"] = {}
        for name in agent_entry_points():
            tell(name)
            try:
                result["agents"][name] = tournament_rates(name, seconds)[0]
            except AgentError as error:  # one that needs options, a checkpoint for instance
                result["skipped"][name] = str(error)
        tell("peers")
        result["peers"] = peers(seconds)
        result["ratios"] = ratios(result)
        if startup:
            tell("start-up")
            result["startup_seconds"] = startup_seconds()
    return result


def versions() -> dict[str, str]:
    """Returns the versions of what the figures depend on most."""
    return {"python": sys.version.split()[0]} | {
        name: version(name) for name in ("cribai", "numba", "numpy")
    }
