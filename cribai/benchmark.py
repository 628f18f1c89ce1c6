"""How fast cribai is on one core, and what peers do on the same core in the same run.

The functions return numbers; `cribai bench` prints them. A rate of kernels is the best of many
short runs after one that compiles, so that other work on the machine disturbs it least.
"""

import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, agent_entry_points, make_agent
from cribai.cards import DECK_SIZE, SUITS, rank_of, suit_of
from cribai.engine.scoring import rank_table, show_histogram, show_points_batch
from cribai.engine.simulate import play_out, start_batch
from cribai.engine.state import NO_PLAYER, STATE, compiled_rules, new_log
from cribai.errors import AgentError
from cribai.rules import STANDARD
from cribai.tournament.match import play_pairs
from cribai.views import ViewBatch

SEED: Final = 1
NUM_SHOWS: Final = 12_994_800
"""Four cards of 52, and one of the other 48 as the starter."""

NUM_RANDOM_HANDS: Final = 50_000
NUM_SCORER_HANDS: Final = 500
NUM_FUSED_GAMES: Final = 2_000
MAX_PAIRS: Final = 10_000
NUM_STARTS: Final = 5


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


def peers(seconds: float) -> dict[str, dict[str, Any]]:
    """Returns the figures of the peers that are installed, by name."""
    found = {}
    if importlib.util.find_spec("pyspiel") is not None:
        found["open_spiel"] = open_spiel_rates(seconds)
    if importlib.util.find_spec("cribbage_scorer") is not None:
        found["cribbage-scorer"] = cribbage_scorer_rate(seconds)
    return found


def open_spiel_rates(seconds: float) -> dict[str, Any]:
    """Returns OpenSpiel's random games and decisions a second, driven from Python.

    Its decisions count passes, which ours do not.
    """
    import pyspiel

    game = pyspiel.load_game("cribbage(players=2)")
    chance = random.Random(SEED)
    num_decisions = 0

    def run() -> int:
        nonlocal num_decisions
        num_decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            num_decisions += not state.is_chance_node()
            state.apply_action(chance.choice(state.legal_actions()))
        return num_decisions

    # Over many games, since single ones differ in length.
    decisions = games = 0
    run()
    start = perf_counter()
    while games == 0 or perf_counter() - start < seconds:
        decisions += run()
        games += 1
    elapsed = perf_counter() - start
    return {
        "version": version("open_spiel"),
        "random_games_per_second": games / elapsed,
        "decisions_per_second": decisions / elapsed,
    }


def cribbage_scorer_rate(seconds: float) -> dict[str, Any]:
    """Returns cribbage-scorer's hands a second, and on how many of the hands it disagrees with us.

    Every other hand is scored as a crib.
    """
    from cribbage_scorer.cribbage_scorer import show_calc_score

    cards = random_hands(NUM_SCORER_HANDS)
    theirs: list[int] = []
    inputs = []
    for index, row in enumerate(cards.tolist()):
        *hand, starter = [(rank_of(card) + 1, SUITS[suit_of(card)]) for card in row]
        inputs.append((starter, hand, index % 2 == 1))

    def run() -> int:
        theirs[:] = [
            show_calc_score(starter, hand, is_crib)[0] for starter, hand, is_crib in inputs
        ]
        return len(inputs)

    rate = best_rate(run, seconds)
    ours = np.empty((2, len(cards)), np.int64)
    hands, starters = np.ascontiguousarray(cards[:, :4]), np.ascontiguousarray(cards[:, 4])
    for is_crib in (False, True):
        show_points_batch(hands, starters, is_crib, compiled_rules(STANDARD), ours[int(is_crib)])
    expected = np.where(np.arange(len(cards)) % 2, ours[1], ours[0])
    return {
        "version": version("cribbage-scorer"),
        "hands_per_second": rate,
        "hands_compared": len(cards),
        "mismatches": int((np.array(theirs) != expected).sum()),
    }


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """Returns how many times faster we are than each peer in what both do."""
    found = {}
    if open_spiel := result["peers"].get("open_spiel"):
        for name, games in result["random_games_per_second"].items():
            found[f"{name}_games_to_open_spiel"] = games / open_spiel["random_games_per_second"]
        views = result["decisions_per_second"]["views"]
        found["decisions_to_open_spiel"] = views / open_spiel["decisions_per_second"]
    if scorer := result["peers"].get("cribbage-scorer"):
        for name in ("show", "random"):
            rate = result[f"{name}_hands_per_second"]
            found[f"{name}_hands_to_cribbage_scorer"] = rate / scorer["hands_per_second"]
    return found


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
