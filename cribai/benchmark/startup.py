"""How long commands take to start."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

NUM_STARTS: Final = 5


def startup_seconds() -> dict[str, float]:
    """Returns how long commands take from start to end, the best of five with kernels compiled.

    The first compile is of all that a small tournament needs, in an empty folder, once.
    """
    with tempfile.TemporaryDirectory() as folder:
        play = ["-m", "cribai", "tournament", "random", "greedy", "--pairs", "1", "--json", "--out"]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "kernels"))}

        def seconds(*arguments: str) -> float:
            start = perf_counter()
            subprocess.run(
                [sys.executable, *arguments],
                check=True,
                capture_output=True,
                env=environment,
            )
            return perf_counter() - start

        def best(*arguments: str) -> float:
            return min(seconds(*arguments) for _ in range(NUM_STARTS))

        first_compile = seconds(*play, f"{folder}/first")
        return {
            "import_warm": best("-c", "import cribai"),
            "import_game_warm": best("-c", "from cribai import Game"),
            "help_warm": best("-m", "cribai", "--help"),
            "tournament_warm": min(
                seconds(*play, f"{folder}/{number}") for number in range(NUM_STARTS)
            ),
            "first_compile": first_compile,
        }
