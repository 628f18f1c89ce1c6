"""Compiled kernels do not check their indices; here they do, over games of every agent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAY = """
from cribai import PRESETS, AgentError, Rules, agent_entry_points, make_agent
from cribai.analysis.tosses import analyze_tosses
from cribai.engine.scoring import rank_table, show_histogram
from cribai.tournament.match import play_pairs
import numpy as np

show_histogram(False, rank_table(15), np.zeros(30, np.int64))
MIXED = Rules(name="mixed", num_jokers=4, num_decks=2, num_starters=2, draw_before_toss=True,
              draw_after_toss=True, two_cribs=True, wild_kings=True, muggins=True, cards_dealt=9)
GIVEN = Rules(name="given", chosen_starter=True, bid=True, crib_from_deck=2, cards_dealt=9)
for name in agent_entry_points():
    for rules in (*PRESETS.values(), MIXED, GIVEN):
        try:
            play_pairs(make_agent("random"), make_agent(name), rules, seed=1, num_pairs=300)
        except AgentError:
            assert name in ("expectimax", "policy", "policy+search")
play_pairs(make_agent("expectimax:preset=fast"), make_agent("expectimax"), seed=1, num_pairs=100)
for score in range(0, 121, 10):
    analyze_tosses(range(14, 20), is_dealer=True, score=score, opponent_score=120 - score)
forgetful = make_agent("cribai_agents.forgetful:ForgetfulAgent:rate=0.5")
play_pairs(forgetful, make_agent("greedy"), "muggins", seed=1, num_pairs=100)
print("in bounds")
"""


@pytest.mark.slow
def test_kernels_stay_in_bounds(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", PLAY], env=environment, capture_output=True, text=True, check=False
    )
    assert result.stdout == "in bounds\n", result.stderr[-2000:]
