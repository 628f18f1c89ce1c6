"""Kernels of self-play: decisions are made, and some of them become roots."""

import math
from typing import Any, Final

import numpy as np

from cribai.cards import NUM_RANKS
from cribai.engine.dealing import below, combine, decision_key
from cribai.engine.jit import inlined, kernel
from cribai.engine.state import PLAY
from cribai.engine.transitions import advance
from cribai.training.features import KEPT

MONTE_CARLO, BRANCHING, SEARCH, EXPECTATION = range(4)
"""What values a root's lays: the game as it went on, and so the lay made alone; copies of the game,
one for each lay, played out by the network; the analysis' search, which sees the opponent's hand
and lets him reply cautiously; that search averaged over the hands that he may hold, which is how
expectimax lays."""

ROOT: Final = np.dtype(
    [
        ("player", np.int64),
        ("own_deals", np.int64),
        ("own_score", np.int64),
        ("other_score", np.int64),
        ("own_pegged", np.int64),
        ("other_pegged", np.int64),
        ("best", np.int64),  # the rank that the network would lay
    ],
    align=True,
)

_DRAWS: Final = 1 << 30

BRANCH: Final = np.dtype(
    [
        ("root", np.int64),
        ("rank", np.int64),  # what was laid; in a search what the network would lay
        ("state", np.int64),  # where the game goes on; in a search the root itself
    ],
    align=True,
)


@inlined
def slot_of_rank(state: Any, player: int, rank: int) -> int:
    """Returns the first kept card of a rank that may be laid, or -1."""
    for slot in range(KEPT):
        if (int(state["playable"]) >> slot) & 1 and (state["hands"][player, slot] >> 2) == rank:
            return slot
    return -1


@inlined
def best_slot(
    state: Any, player: int, outputs: Any, row: int, temperature: float, chance: Any
) -> int:
    """Returns the playable card whose rank has the greatest output, the lowest of equals.

    At a temperature above 0 a rank is drawn instead, a point of output per temperature making it a
    factor e more likely: the greatest of the outputs with Gumbel noise.

    Args:
        state: STATE record.
        player: Who lays.
        outputs: float32 array (n, NUM_OUTPUTS).
        row: Which of them.
        temperature: In points.
        chance: uint64 key of the draw.
    """
    best = -1
    most = -1e30
    for slot in range(KEPT):
        if (int(state["playable"]) >> slot) & 1:
            rank = int(state["hands"][player, slot]) >> 2
            value = float(outputs[row, rank])
            if temperature > 0.0:
                # Equal ranks have equal noise, and so the chance of one.
                share = (below(combine(chance, 8 + rank), _DRAWS) + 0.5) / _DRAWS
                value -= temperature * math.log(-math.log(share))
            if value > most:
                most = value
                best = slot
    return best


@inlined
def add_branch(count: Any, branches: Any, root: int, rank: int, state: int) -> None:
    """Appends a branch to those of a wave."""
    branch = branches[count["branches"]]
    count["branches"] += 1
    branch["root"] = root
    branch["rank"] = rank
    branch["state"] = state


@kernel
def take_decisions(
    states: Any,
    rules: Any,
    log: Any,
    key: Any,
    due: Any,
    found: int,
    outputs: Any,
    rows: Any,
    num_games: int,
    random_share: float,
    temperature: float,
    root_share: float,
    method: int,
    seats: Any,
    alive: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    samples: Any,
) -> None:
    """Makes the found decisions, and roots of some of them.

    Args:
        states: STATE array. Modified in place: the games go on, copies are added.
        rules: RULES array (1,).
        log: LOG array (1,).
        key: uint64 key of the wave.
        due: int64 array, the states with a decision.
        found: How many they are.
        outputs: float32 array (>= found, NUM_OUTPUTS), the network's.
        rows: float32 array (>= found, NUM_INPUTS), the features.
        num_games: Games of the wave; the states beyond are copies.
        random_share: Share of the games' decisions at random.
        temperature: Of the decisions that are not, in points; see `best_slot`.
        root_share: Share of the games' decisions that become roots.
        method: MONTE_CARLO, BRANCHING, SEARCH or EXPECTATION.
        seats: int8 array (n, 2), the player in each seat. Modified in place: those of copies.
        alive: int64 array. Modified in place: the states that go on are appended.
        counts: COUNTS array (1,). Modified in place.
        roots: ROOT array. Modified in place.
        branches: BRANCH array. Modified in place.
        samples: float32 array (k, NUM_INPUTS). Modified in place: the roots' features.
    """
    count = counts[0]
    for row in range(found):
        index = due[row]
        state = states[index]
        player = int(state["actor"])
        chance = combine(decision_key(state), key)
        slot = best_slot(state, player, outputs, row, temperature, chance)
        best = int(state["hands"][player, slot]) >> 2
        if index < num_games:
            if below(combine(chance, 0), 1 << 30) < random_share * (1 << 30):
                number = 0
                for other in range(KEPT):
                    number += (int(state["playable"]) >> other) & 1
                chosen = below(combine(chance, 1), number)
                for other in range(KEPT):
                    if (int(state["playable"]) >> other) & 1:
                        if chosen == 0:
                            slot = other
                        chosen -= 1
            is_root = below(combine(chance, 2), 1 << 30) < root_share * (1 << 30)
            if is_root and count["roots"] < roots.shape[0]:
                number = count["roots"]
                count["roots"] = number + 1
                root = roots[number]
                root["player"] = player
                root["own_deals"] = 1 if state["dealer"] == player else 0
                root["own_score"] = state["scores"][player]
                root["other_score"] = state["scores"][1 - player]
                root["own_pegged"] = state["pegged"][player]
                root["other_pegged"] = state["pegged"][1 - player]
                for column in range(rows.shape[1]):
                    samples[number, column] = rows[row, column]
                root["best"] = best
                if method == MONTE_CARLO:
                    best = int(state["hands"][player, slot]) >> 2
                    root["best"] = best
                    add_branch(count, branches, number, best, index)
                elif method != BRANCHING:
                    states[count["states"]] = state
                    add_branch(count, branches, number, best, count["states"])
                    count["states"] += 1
                else:
                    for rank in range(NUM_RANKS):
                        other = slot_of_rank(state, player, rank)
                        if other < 0:
                            continue
                        copy = count["states"]
                        count["states"] = copy + 1
                        states[copy] = state
                        for seat in range(seats.shape[1]):
                            seats[copy, seat] = seats[index, seat]
                        add_branch(count, branches, number, rank, copy)
                        advance(states[copy], rules[0], log[0], rules[0]["num_tosses"] + other)
                        if states[copy]["phase"] == PLAY:
                            alive[count["alive"]] = copy
                            count["alive"] += 1
        advance(state, rules[0], log[0], rules[0]["num_tosses"] + slot)
        if state["phase"] == PLAY:
            alive[count["alive"]] = index
            count["alive"] += 1


@kernel
def lay_best(
    states: Any,
    rules: Any,
    log: Any,
    due: Any,
    found: int,
    outputs: Any,
    alive: Any,
    counts: Any,
) -> None:
    """Makes the found decisions as the network would.

    Args:
        states: STATE array. Modified in place: the games go on.
        rules: RULES array (1,).
        log: LOG array (1,).
        due: int64 array, the states with a decision.
        found: How many they are.
        outputs: float32 array (>= found, NUM_OUTPUTS), the network's.
        alive: int64 array. Modified in place: the states that go on are appended.
        counts: COUNTS array (1,). Modified in place: `alive`.
    """
    for row in range(found):
        state = states[due[row]]
        slot = best_slot(state, int(state["actor"]), outputs, row, 0.0, np.uint64(0))
        advance(state, rules[0], log[0], rules[0]["num_tosses"] + slot)
        if state["phase"] == PLAY:
            alive[counts[0]["alive"]] = due[row]
            counts[0]["alive"] += 1
