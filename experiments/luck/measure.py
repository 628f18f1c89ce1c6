"""How much of a win's variance the luck of the cards explains, and what it costs to measure it.

python experiments/luck/measure.py
"""

import argparse
import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.agent import make_agent
from cribai.analysis.luck import LUCK, begin_luck, luck_units, note_luck
from cribai.analysis.luck_tables import load_luck_tables
from cribai.engine.dealing import decision_key
from cribai.engine.jit import kernel
from cribai.engine.simulate import random_action, start_batch, step_batch
from cribai.engine.state import OVER, STATE, compiled_rules, new_log
from cribai.game_batch import GameBatch
from cribai.rules import STANDARD

MATCHES = (
    ("expectimax:preset=fast", "greedy"),
    ("expectimax:preset=fast", "expectimax:preset=fast"),
    ("greedy", "greedy"),
    ("greedy", "random"),
)


def play(a: str, b: str, seed: int, num_pairs: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Plays mirrored pairs; returns agent 0's wins and luck by pair and game."""
    agents = [make_agent(a), make_agent(b)]
    numbers = np.arange(2 * num_pairs)
    batch = GameBatch.start(len(numbers), seed=seed, pairs=numbers // 2, games=numbers % 2)
    seats = np.ascontiguousarray(np.stack([numbers % 2, 1 - numbers % 2], axis=1), np.int8)
    rules, tables = compiled_rules(STANDARD), load_luck_tables()
    luck = np.zeros(len(numbers), LUCK)
    begin_luck(batch.states, rules, seats, numbers, tables, luck)
    while (live := np.flatnonzero(~batch.over)).size:
        actors = seats[live, batch.states["actor"][live]]
        for number in range(2):
            due = live[actors == number]
            if due.size:
                batch.step(agents[number].act(batch.views(due)), due)
                note_luck(batch.states, rules, seats, due, tables, luck)
    wins = (seats[numbers, batch.winners] == 0).astype(float)
    return wins.reshape(-1, 2), luck_units(luck["luck"]).reshape(-1, 2)


def regress(wins: NDArray[Any], luck: NDArray[Any]) -> dict[str, float]:
    """Returns the regression's slope and the factor 1 / (1 - r^2) by which the variance falls."""
    slope, _ = np.polyfit(luck, wins, 1)
    r = np.corrcoef(luck, wins)[0, 1]
    at_one = wins.var() / (wins - luck).var()
    return {
        "factor": round(1 / (1 - r**2), 3),
        "slope": round(slope, 3),
        "at_one": round(at_one, 3),
    }


def standard_errors(luck: NDArray[Any]) -> float:
    """Returns how many standard errors, over pairs, the average luck is away from zero."""
    by_pair = luck.mean(axis=1)
    error = by_pair.std(ddof=1) / len(by_pair) ** 0.5
    return round(by_pair.mean() / error, 2) if error > 0 else 0.0


def measure(a: str, b: str, seed: int, num_pairs: int) -> dict[str, Any]:
    wins, units = play(a, b, seed, num_pairs)
    luck = units / 1e6
    result: dict[str, Any] = {
        "agents": [a, b],
        "seed": seed,
        "pairs": num_pairs,
        "wins": round(wins.mean(), 4),
        "luck_in_standard_errors": standard_errors(luck),
        # One game of each pair: games whose cards are independent.
        "games": regress(wins[:, 0], luck[:, 0]),
    }
    by_pair = wins.mean(axis=1)
    if by_pair.var() > 0:
        mirrored = wins.var() / 2 / by_pair.var()
        result["pairs_alone"] = round(mirrored, 3)
        result["pairs_luck"] = regress(by_pair, luck.mean(axis=1))
        result["together"] = round(mirrored * result["pairs_luck"]["factor"], 3)
    return result


@kernel
def choose(states: Any, rules: Any, places: Any, actions: Any) -> int:
    """Chooses at random in all games that go on; returns how many they are."""
    number = 0
    for i in range(states.shape[0]):
        if states[i]["phase"] != OVER:
            places[number] = i
            actions[number] = random_action(states[i], decision_key(states[i]), rules[0])
            number += 1
    return number


def cost(num_games: int, repeats: int) -> dict[str, float]:
    """Returns what luck takes in random games stepped in lockstep, in nanoseconds a game."""
    states, log, tables = np.zeros(num_games, STATE), new_log(enabled=False), load_luck_tables()
    rules = compiled_rules(STANDARD)
    numbers, zeros = np.arange(num_games), np.zeros(num_games, np.int64)
    seats = np.ascontiguousarray(np.tile([0, 1], (num_games, 1)), np.int8)
    luck = np.zeros(num_games, LUCK)
    places, actions = zeros.copy(), zeros.copy()
    times = []
    for repeat in range(1 + repeats):  # the first compiles
        spent = 0.0
        start_batch(states, rules, np.uint64(repeat), numbers, zeros, zeros)
        begun = time.perf_counter()
        begin_luck(states, rules, seats, numbers, tables, luck)
        spent += time.perf_counter() - begun
        while (number := choose(states, rules, places, actions)) > 0:
            step_batch(states, rules, log, places[:number], actions[:number])
            begun = time.perf_counter()
            note_luck(states, rules, seats, places[:number], tables, luck)
            spent += time.perf_counter() - begun
        times.append((spent / num_games * 1e9, states["num_deals"].mean()))
    return {
        "nanoseconds_a_game": round(min(spent for spent, _ in times[1:])),
        "deals_a_game": round(times[-1][1], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(json.dumps(cost(2048, 30)), flush=True)
    for a, b in MATCHES:
        print(json.dumps(measure(a, b, options.seed, options.pairs)), flush=True)


if __name__ == "__main__":
    main()
