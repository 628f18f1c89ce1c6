"""`cribai bench` gives every figure, and peers agree with us; how fast we are is not tested."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import command
from cribai import agent_entry_points, benchmark
from cribai.benchmark.engine import random_hands
from cribai.benchmark.timing import one_core

pytestmark = pytest.mark.slow

BRIEF = ["--seconds", "0.02"]
RATES = ("show_hands_per_second", "random_hands_per_second")


def check_rates(result: dict[str, Any]) -> None:
    assert all(result[name] > 0 for name in RATES)
    assert list(result["random_games_per_second"]) == ["fused", "tournament"]
    assert list(result["decisions_per_second"]) == [
        "views",
        "single_env",
        "vector_env",
        "sync_vector_env",
    ]
    assert result["bytes_grown_by_resets"] < 1_000_000
    assert {*result["agents"], *result["skipped"]} == set(agent_entry_points())
    assert {"random", "greedy"} <= set(result["agents"])
    for name in ("random_games_per_second", "decisions_per_second", "agents", "ratios"):
        assert all(value > 0 for value in result[name].values())


def check_peers(result: dict[str, Any]) -> None:
    peers = result["peers"]
    assert list(peers) == ["open_spiel", "cribbage-scorer"]
    assert peers["cribbage-scorer"]["hands_compared"] > 0
    assert peers["cribbage-scorer"]["mismatches"] == 0
    assert list(result["ratios"]) == [
        "vector_env_to_sync_vector_env",
        "fused_games_to_open_spiel",
        "tournament_games_to_open_spiel",
        "decisions_to_open_spiel",
        "single_env_to_open_spiel",
        "show_hands_to_cribbage_scorer",
        "random_hands_to_cribbage_scorer",
    ]


@pytest.mark.slow
def test_json() -> None:
    result = command.run("bench", *BRIEF, "--no-startup", "--json").json
    assert result["seconds"] == 0.02
    assert set(result["versions"]) == {"cribai", "numba", "numpy", "python"}
    assert "startup_seconds" not in result
    check_rates(result)
    check_peers(result)


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "peers", lambda _: {})
    finished = command.run("bench", *BRIEF, "--no-startup")
    assert (finished.status, finished.stderr) == (0, "")
    for words in ("random games, fused", "vector environment", "greedy"):
        assert words in finished.stdout
    assert "open spiel" not in finished.stdout


def test_bad_time_is_refused() -> None:
    assert command.run("bench", "--seconds", "-1").status == 2


def test_agents_that_need_options_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "agent_entry_points", lambda: {"nobody": None})
    monkeypatch.setattr(benchmark, "peers", lambda _: {})
    result = benchmark.measure(0.0, startup=False)
    assert result["agents"] == {}
    assert result["skipped"]["nobody"].startswith("Unknown agent 'nobody'")


def test_random_hands_are_distinct_cards() -> None:
    hands = random_hands(1000)
    assert ((hands >= 0) & (hands < 52)).all()
    assert (np.diff(np.sort(hands, axis=1), axis=1) > 0).all()
    assert len(np.unique(hands)) == 52


def test_affinity_is_restored() -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("cores cannot be chosen here")
    allowed = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == allowed


@pytest.mark.slow
def test_everything_from_outside(tmp_path: Path) -> None:
    output = subprocess.run(
        [sys.executable, "-m", "cribai", "bench", *BRIEF, "--json"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    ).stdout
    result = json.loads(output)
    check_rates(result)
    check_peers(result)
    assert set(result["startup_seconds"]) == {
        "import_warm",
        "import_game_warm",
        "help_warm",
        "tournament_warm",
        "first_compile",
    }
    assert not list(tmp_path.iterdir())
