"""What peers that are installed do on the same core, and how we compare."""

import importlib.util
import random
from importlib.metadata import version
from time import perf_counter
from typing import Any, Final

import numpy as np

from cribai.benchmark.engine import SEED, random_hands
from cribai.benchmark.timing import best_rate
from cribai.cards import SUITS, rank_of, suit_of
from cribai.engine.scoring import show_points_batch
from cribai.engine.state import compiled_rules
from cribai.rules import STANDARD

NUM_SCORER_HANDS: Final = 500


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

    Its decisions count passes, which ours do not. "learner_decisions" are those of one of the two
    players, who looks at his observation (a text, OpenSpiel has no other) and mask each time, as a
    learner in our environments does.
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

    def learn() -> int:
        decided = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == 0:
                state.information_state_string(0)
                state.legal_actions_mask()
                decided += 1
            state.apply_action(chance.choice(state.legal_actions()))
        return decided

    learned = 0
    start = perf_counter()
    while learned == 0 or perf_counter() - start < seconds:
        learned += learn()
    learning = perf_counter() - start
    return {
        "version": version("open_spiel"),
        "random_games_per_second": games / elapsed,
        "decisions_per_second": decisions / elapsed,
        "learner_decisions_per_second": learned / learning,
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
    rates = result["decisions_per_second"]
    found = {"vector_env_to_sync_vector_env": rates["vector_env"] / rates["sync_vector_env"]}
    if open_spiel := result["peers"].get("open_spiel"):
        for name, games in result["random_games_per_second"].items():
            found[f"{name}_games_to_open_spiel"] = games / open_spiel["random_games_per_second"]
        views = result["decisions_per_second"]["views"]
        found["decisions_to_open_spiel"] = views / open_spiel["decisions_per_second"]
        found["single_env_to_open_spiel"] = (
            result["decisions_per_second"]["single_env"]
            / open_spiel["learner_decisions_per_second"]
        )
    if scorer := result["peers"].get("cribbage-scorer"):
        for name in ("show", "random"):
            rate = result[f"{name}_hands_per_second"]
            found[f"{name}_hands_to_cribbage_scorer"] = rate / scorer["hands_per_second"]
    return found
