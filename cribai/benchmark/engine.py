"""Rates of the engine and of tournaments."""

from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, make_agent
from cribai.benchmark.timing import best_rate
from cribai.cards import DECK_SIZE
from cribai.engine.scoring import rank_table, show_histogram, show_points_batch
from cribai.engine.simulate import play_out, start_batch
from cribai.engine.state import NO_PLAYER, STATE, compiled_rules, new_log
from cribai.rules import STANDARD
from cribai.tournament.match import play_pairs
from cribai.views import ViewBatch

SEED: Final = 1
NUM_SHOWS: Final = 12_994_800
"""Four cards of 52, and one of the other 48 as the starter."""

NUM_RANDOM_HANDS: Final = 50_000
NUM_FUSED_GAMES: Final = 2_000
MAX_PAIRS: Final = 10_000


def show_rate(seconds: float) -> float:
    """Returns hands a second in scoring every hand with every starter by the table."""
    table = rank_table(STANDARD.fifteen)
    histogram = np.zeros(30, np.int64)

    def run() -> int:
        show_histogram(False, table, histogram)
        return NUM_SHOWS

    return best_rate(run, seconds)


def random_hands(number: int) -> NDArray[np.int8]:
    """Returns random hands of four, each with its starter last, int8 array (number, 5)."""
    order = np.random.default_rng(SEED).random((number, DECK_SIZE)).argpartition(5)
    return np.ascontiguousarray(order[:, :5]).astype(np.int8)


def random_hands_rate(seconds: float) -> float:
    """Returns hands a second in scoring random ones, each read from memory."""
    cards = random_hands(NUM_RANDOM_HANDS)
    hands, starters = np.ascontiguousarray(cards[:, :4]), np.ascontiguousarray(cards[:, 4])
    points = np.empty(len(cards), np.int64)
    rules = compiled_rules(STANDARD)

    def run() -> int:
        show_points_batch(hands, starters, False, rules, points)
        return len(cards)

    return best_rate(run, seconds)


def fused_rate(seconds: float) -> float:
    """Returns random games a second in one kernel that deals and plays them to the end."""
    states = np.zeros(NUM_FUSED_GAMES, STATE)
    rules = compiled_rules(STANDARD)
    log = new_log(enabled=False)
    pairs = np.arange(NUM_FUSED_GAMES)
    games = np.zeros(NUM_FUSED_GAMES, np.int64)
    first_dealers = np.full(NUM_FUSED_GAMES, NO_PLAYER, np.int64)

    def run() -> int:
        start_batch(states, rules, np.uint64(SEED), pairs, games, first_dealers)
        play_out(states, rules, log)
        return NUM_FUSED_GAMES

    return best_rate(run, seconds)


class _Counter(Agent):
    """Counts the decisions of the agent that it asks."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.num_decisions = 0
        self._agent = agent

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        self.num_decisions += len(views)
        return self._agent.act(views)


def tournament_rates(spec: str, seconds: float) -> tuple[float, float]:
    """Returns games and decisions a second of an agent against itself in a tournament's match.

    Raises:
        AgentError: The agent cannot be made from its name alone.
    """
    agents = [_Counter(make_agent(spec)) for _ in range(2)]
    first = 0
    num_pairs = 1
    elapsed = 0.0
    # A match is quicker the more games are alive, so it grows until it fills the time.
    while True:
        counted = sum(agent.num_decisions for agent in agents)
        start = perf_counter()
        play_pairs(agents[0], agents[1], seed=SEED, first_pair=first, num_pairs=num_pairs)
        elapsed = perf_counter() - start
        if first and (elapsed >= seconds / 2 or num_pairs == MAX_PAIRS):
            num_decisions = sum(agent.num_decisions for agent in agents) - counted
            return 2 * num_pairs / elapsed, num_decisions / elapsed
        growth = seconds / elapsed if first else 1.0  # the first match compiles
        first += num_pairs
        num_pairs = min(MAX_PAIRS, max(num_pairs + 1, int(num_pairs * min(growth, 10.0))))
