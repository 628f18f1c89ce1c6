"""What it costs that the kernels read the rules from a record.

Random games a second with the engine as shipped, and with the same source in which the numbers of
the standard rules are literals.

Each run is a process of its own, the two variants in turn. Prints one JSON object.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import cribai
from cribai.engine.state import RULES, compiled_rules
from cribai.rules import STANDARD

PLAY = """
import hashlib, json, sys, time
import numpy as np
import cribai.engine
from cribai.engine.simulate import play_out, start_batch
from cribai.engine.state import STATE, compiled_rules, new_log
from cribai.rules import STANDARD

assert cribai.engine.__file__.startswith(sys.argv[1])
num_games, repeats = int(sys.argv[2]), int(sys.argv[3])
states, rules, log = np.zeros(num_games, STATE), compiled_rules(STANDARD), new_log(enabled=False)
pairs, zeros = np.arange(num_games), np.zeros(num_games, np.int64)
times = []
for _ in range(1 + repeats):  # the first compiles
    start = time.perf_counter()
    start_batch(states, rules, np.uint64(1), pairs, zeros, zeros)
    play_out(states, rules, log)
    times.append(time.perf_counter() - start)
digest = hashlib.sha256(states.tobytes()).hexdigest()
print(json.dumps({"games_per_second": num_games / min(times[1:]), "digest": digest}))
"""


def frozen(source: str) -> tuple[str, int]:
    """Returns kernels' source with the scalar fields of the rules as literals, and how many."""
    record = compiled_rules(STANDARD)[0]
    names = [name for name in RULES.names or () if record[name].ndim == 0]
    pattern = rf"\brules(?:\[0\])?\[\"({'|'.join(names)})\"\]"
    return re.subn(pattern, lambda match: str(int(record[match[1]])), source)


def make_variants(folder: Path) -> tuple[dict[str, Path], int]:
    """Copies the package twice, freezes the rules in the second copy, and counts the places."""
    variants = {name: folder / name for name in ("shipped", "frozen")}
    for path in variants.values():
        shutil.copytree(Path(cribai.__file__).parent, path / "cribai")
    num_frozen = 0
    for path in (variants["frozen"] / "cribai" / "engine").glob("*.py"):
        source, number = frozen(path.read_text())
        path.write_text(source)
        num_frozen += number
    assert num_frozen >= 40, "the kernels no longer read the rules as expected"
    return variants, num_frozen


def play(path: Path, num_games: int, repeats: int) -> dict[str, float | str]:
    """Plays in a new process; the best of some repeats."""
    environment = {**os.environ, "PYTHONPATH": str(path), "NUMBA_CACHE_DIR": str(path / "kernels")}
    command = [sys.executable, "-P", "-c", PLAY, str(path), str(num_games), str(repeats)]
    output = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    return dict(json.loads(output))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        variants, num_frozen = make_variants(Path(folder))
        runs: dict[str, list[dict[str, float | str]]] = {name: [] for name in variants}
        for _ in range(options.rounds):
            for name, path in variants.items():
                runs[name].append(play(path, options.games, options.repeats))
    assert len({run["digest"] for played in runs.values() for run in played}) == 1
    rates = {
        name: [round(float(run["games_per_second"])) for run in played]
        for name, played in runs.items()
    }
    medians = {name: statistics.median(values) for name, values in rates.items()}
    cost = 1 - medians["shipped"] / medians["frozen"]
    result = {
        "games_per_second": medians,
        "cost": round(cost, 4),
        "places_frozen": num_frozen,
        "runs": rates,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
