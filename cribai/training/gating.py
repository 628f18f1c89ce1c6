"""The champion, and the matches by which a challenger takes its place.

A network in training may get worse, or better against itself alone. So the best one so far is kept,
and replaced only by one that beats it in a sequential test over mirrored pairs on fresh deals.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from cribai.agent import Agent, agent_entry_points
from cribai.tournament.match import play_pairs
from cribai.tournament.sprt import Hypothesis, Sprt
from cribai.tournament.stats import Stats
from cribai.training.checkpoint import Weights
from cribai.training.deals import training_key

TEST: Final = Sprt(h0=0.5, h1=0.51)
"""No better, or better by about seven Elo."""

ROUND: Final = 500
"""Pairs between two looks at the evidence."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A match of a challenger against the champion.

    Attributes:
        pairs: Mirrored pairs played.
        win_rate: Share of the games that the challenger won.
        ratio: Logarithm of the likelihood ratio of the test, the higher the better.
        won: Whether the challenger is the new champion.
    """

    pairs: int
    win_rate: float
    ratio: float
    won: bool


def policy_agent(weights: Weights) -> Agent:
    """Returns the policy agent with some weights; it is reached by its name, as all agents are."""
    agent: Agent = agent_entry_points()["policy"].load()(weights=weights)
    return agent


def challenge(
    challenger: Weights, champion: Weights, seed: int, wave: int, pairs: int
) -> Challenge:
    """Plays a challenger against the champion until the test decides.

    Args:
        challenger: The one's weights.
        champion: The other's.
        seed: Seed of training.
        wave: Number of the wave; each has deals of its own.
        pairs: Mirrored pairs at most; without a decision by then the champion stays.
    """
    a, b = policy_agent(challenger), policy_agent(champion)
    key = int(training_key(seed, 7, wave))
    results = []
    played = 0
    while True:
        number = min(ROUND, pairs - played)
        results.append(play_pairs(a, b, seed=key, num_pairs=number, first_pair=played))
        played += number
        stats = Stats.from_results(np.concatenate(results))
        decision = TEST.decision(stats)
        if decision is not None or played == pairs:
            return Challenge(
                pairs=played,
                win_rate=stats.win_rate,
                ratio=TEST.log_likelihood_ratio(stats),
                won=decision is Hypothesis.H1,
            )
