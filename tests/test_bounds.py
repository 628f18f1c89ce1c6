"""Compiled kernels do not check their indices; here they do, over games of every agent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAY = """
from cribai import PRESETS, AgentError, agent_entry_points, make_agent
from cribai.analysis.tosses import analyze_tosses
from cribai.engine.scoring import rank_table, show_histogram
from cribai.tournament.match import play_pairs
import numpy as np

show_histogram(False, rank_table(15), np.zeros(30, np.int64))
for name in agent_entry_points():
    for rules in PRESETS.values():
        try:
            play_pairs(make_agent("random"), make_agent(name), rules, seed=1, num_pairs=300)
        except AgentError:
            assert name in ("expectimax", "policy", "policy+search")
play_pairs(make_agent("expectimax:preset=fast"), make_agent("expectimax"), seed=1, num_pairs=100)
for score in range(0, 121, 10):
    analyze_tosses(range(14, 20), is_dealer=True, score=score, opponent_score=120 - score)
print("in bounds")
"""


@pytest.mark.slow
def test_kernels_stay_in_bounds(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", PLAY], env=environment, capture_output=True, text=True, check=False
    )
    assert result.stdout == "in bounds\n", result.stderr[-2000:]
