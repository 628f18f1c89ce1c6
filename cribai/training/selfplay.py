"""Episodes in lockstep: the play of single deals, and what the lays in it were worth.

Games of a wave are played by the network with some random lays. Of their decisions a share are
roots: there the game branches, each rank that may be laid gets a copy, and all copies are played to
the end of the deal without random lays. So all lays of a root meet the same hidden cards, and their
difference is far less noisy than their values are. Or only the lay that was made is valued, by the
game itself: plain deep Monte Carlo.

A lay's worth is that of the game after the pegging, with the hands and the crib counted in order,
less the same had nothing more been pegged; the latter, the luck of the show above all, does not
depend on the lay. It is given in points: divided by what a point is worth at the score.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import WIN, load_knowledge
from cribai.analysis.positions import STANDING, after_pegging, game_over
from cribai.cards import NUM_RANKS
from cribai.engine.dealing import below, combine, decision_key
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import show_points
from cribai.engine.state import PLAY, STATE, VIEW, compiled_rules, new_log
from cribai.engine.transitions import advance
from cribai.engine.viewing import write_view
from cribai.rules import STANDARD
from cribai.training.deals import begin_deals, training_key
from cribai.training.features import (
    KEPT,
    NUM_INPUTS,
    SCRATCH,
    mean_slope,
    point_weights,
    write_features,
)
from cribai.training.network import NUM_OUTPUTS

CHUNK: Final = 4096
"""Decisions that the network answers at once."""

MOST_POINTS: Final = 15.0
"""What a lay is taken to be worth at most, in points, so that no single one upsets the learner."""

ROOT: Final = np.dtype(
    [
        ("player", np.int64),
        ("own_score", np.int64),
        ("other_score", np.int64),
        ("own_pegged", np.int64),
        ("other_pegged", np.int64),
        ("best", np.int64),  # the rank that the network would lay
    ],
    align=True,
)

BRANCH: Final = np.dtype([("root", np.int64), ("rank", np.int64), ("state", np.int64)], align=True)

COUNTS: Final = np.dtype(
    [("states", np.int64), ("roots", np.int64), ("branches", np.int64), ("alive", np.int64)],
    align=True,
)

Evaluate = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""From rows (n, NUM_INPUTS) to outputs (n, NUM_OUTPUTS)."""


@dataclass(frozen=True, slots=True)
class Samples:
    """What a wave says of its roots.

    Attributes:
        rows: float32 array (n, NUM_INPUTS).
        targets: float32 array (n, 13): the worth of each rank in points.
        masks: float32 array (n, 13): 1 for each rank that was valued.
        wins: float32 array (n,): the chance to win once the pegging is over.
        num_decisions: Decisions that the network took.
    """

    rows: NDArray[np.float32]
    targets: NDArray[np.float32]
    masks: NDArray[np.float32]
    wins: NDArray[np.float32]
    num_decisions: int


class SelfPlay:
    """Plays waves of deals.

    Args:
        library: DEAL array, where episodes begin.
        seed: Seed of training.
        deals: Deals in a wave.
        root_share: Share of the decisions that become roots.
        branching: Whether every lay of a root is played out, or only the one made is valued.
    """

    def __init__(
        self, library: NDArray[Any], seed: int, deals: int, root_share: float, branching: bool
    ) -> None:
        self.library = library
        self.seed = seed
        self.deals = deals
        self.root_share = root_share
        self.branching = branching
        self._rules = compiled_rules(STANDARD)
        self._log = new_log(enabled=False)
        self._tables = load_knowledge()
        # A deal has about 4.5 decisions of 2.6 lays each; room for more than ever came.
        most_roots = int(deals * (6 * root_share + 0.5)) + 64
        most_states = deals + (4 * most_roots if branching else 0)
        self._states = np.zeros(most_states, STATE)
        self._alive = np.zeros(most_states, np.int64)
        self._next_alive = np.zeros(most_states, np.int64)
        self._roots = np.zeros(most_roots, ROOT)
        self._branches = np.zeros(4 * most_roots, BRANCH)
        self._counts = np.zeros(1, COUNTS)
        self._rows = np.zeros((CHUNK, NUM_INPUTS), np.float32)
        self._due = np.zeros(CHUNK, np.int64)
        self._cursor = np.zeros(1, np.int64)
        self._views = np.zeros(1, VIEW)
        self._scratch = np.zeros(1, SCRATCH)
        self._samples = np.zeros((most_roots, NUM_INPUTS), np.float32)
        self._targets = np.zeros((most_roots, NUM_RANKS), np.float32)
        self._masks = np.zeros((most_roots, NUM_RANKS), np.float32)
        self._wins = np.zeros(most_roots, np.float32)

    def play(self, wave: int, evaluate: Evaluate, random_share: float) -> Samples:
        """Plays a wave; its deals and chances are a function of the seed and the wave's number.

        Args:
            wave: Its number.
            evaluate: The network.
            random_share: Share of the decisions of the games, not of their copies, at random.

        Returns:
            Samples whose arrays are overwritten by the next wave.
        """
        key = training_key(self.seed, 2, wave)
        begin_deals(self._states, self._rules, self._log, key, self.library, self.deals)
        counts = self._counts[0]
        counts["states"] = counts["alive"] = self.deals
        counts["roots"] = counts["branches"] = 0
        self._alive[: self.deals] = np.arange(self.deals)
        num_decisions = 0
        while counts["alive"]:
            num_alive = int(counts["alive"])
            counts["alive"] = 0
            self._cursor[0] = 0
            while self._cursor[0] < num_alive:
                found = find_decisions(
                    self._states, self._rules, self._log, self._tables, self._views,
                    self._scratch, self._alive, num_alive, self._cursor, self._due, self._rows,
                )  # fmt: skip
                if found == 0:
                    continue
                num_decisions += found
                outputs = evaluate(self._rows[:found])
                _take_decisions(
                    self._states, self._rules, self._log, key, self._due, found, outputs,
                    self._rows, self.deals, random_share, self.root_share, self.branching,
                    self._next_alive, self._counts, self._roots, self._branches, self._samples,
                )  # fmt: skip
            self._alive, self._next_alive = self._next_alive, self._alive
        num_roots = int(counts["roots"])
        self._masks[:num_roots] = 0
        _value_roots(
            self._states, self._rules, self._tables, self._scratch, self._counts, self._roots,
            self._branches, self._targets, self._masks, self._wins,
        )  # fmt: skip
        return Samples(
            self._samples[:num_roots],
            self._targets[:num_roots],
            self._masks[:num_roots],
            self._wins[:num_roots],
            num_decisions,
        )


@inlined
def lay_without_choice(state: Any, rules: Any, log: Any) -> None:
    """Carries a deal on while only one rank may be laid.

    Args:
        state: STATE record. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    while state["phase"] == PLAY:
        slots = int(state["playable"])
        player = int(state["actor"])
        first = -1
        choice = False
        for slot in range(KEPT):
            if (slots >> slot) & 1:
                if first < 0:
                    first = slot
                elif (state["hands"][player, slot] >> 2) != (state["hands"][player, first] >> 2):
                    choice = True
        if choice:
            return
        advance(state, rules, log, rules["num_tosses"] + first)


@kernel
def find_decisions(
    states: Any,
    rules: Any,
    log: Any,
    tables: Any,
    views: Any,
    scratch: Any,
    alive: Any,
    num_alive: int,
    cursor: Any,
    due: Any,
    rows: Any,
) -> int:
    """Finds the next decisions between lays and writes their features; lone choices are made.

    Args:
        states: STATE array. Modified in place.
        rules: RULES array (1,).
        log: LOG array (1,).
        tables: KNOWLEDGE array (1,).
        views: VIEW array (1,). Scratch.
        scratch: SCRATCH array (1,).
        alive: int64 array, the states to look at.
        num_alive: How many they are.
        cursor: int64 array (1,), where to begin. Modified in place: where to go on.
        due: int64 array (k,). Modified in place: the states with a decision.
        rows: float32 array (k, NUM_INPUTS). Modified in place.

    Returns:
        How many were found, k at most.
    """
    found = 0
    place = cursor[0]
    while place < num_alive and found < due.shape[0]:
        index = alive[place]
        state = states[index]
        lay_without_choice(state, rules[0], log[0])
        if state["phase"] == PLAY:
            write_view(state, rules[0], int(state["actor"]), index, views[0])
            write_features(views[0], rules[0], tables[0], scratch[0], rows, found)
            due[found] = index
            found += 1
        place += 1
    cursor[0] = place
    return found


@inlined
def slot_of_rank(state: Any, player: int, rank: int) -> int:
    """Returns the first kept card of a rank that may be laid, or -1."""
    for slot in range(KEPT):
        if (int(state["playable"]) >> slot) & 1 and (state["hands"][player, slot] >> 2) == rank:
            return slot
    return -1


@inlined
def best_slot(state: Any, player: int, outputs: Any, row: int) -> int:
    """Returns the card that may be laid whose rank has the greatest output, the lowest of equals."""
    best = -1
    most = -1e30
    for slot in range(KEPT):
        if (int(state["playable"]) >> slot) & 1:
            value = outputs[row, state["hands"][player, slot] >> 2]
            if value > most:
                most = value
                best = slot
    return best


@kernel
def _take_decisions(
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
    root_share: float,
    branching: bool,
    alive: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    samples: Any,
) -> None:
    """Makes the found decisions, and roots of some of them."""
    count = counts[0]
    for row in range(found):
        index = due[row]
        state = states[index]
        player = int(state["actor"])
        slot = best_slot(state, player, outputs, row)
        best = int(state["hands"][player, slot]) >> 2
        if index < num_games:
            chance = combine(decision_key(state), key)
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
                root["own_score"] = state["scores"][player]
                root["other_score"] = state["scores"][1 - player]
                root["own_pegged"] = state["pegged"][player]
                root["other_pegged"] = state["pegged"][1 - player]
                for column in range(rows.shape[1]):
                    samples[number, column] = rows[row, column]
                if branching:
                    root["best"] = best
                    for rank in range(NUM_RANKS):
                        other = slot_of_rank(state, player, rank)
                        if other >= 0:
                            copy = count["states"]
                            count["states"] = copy + 1
                            states[copy] = state
                            branch = branches[count["branches"]]
                            count["branches"] += 1
                            branch["root"] = number
                            branch["rank"] = rank
                            branch["state"] = copy
                            advance(states[copy], rules[0], log[0], rules[0]["num_tosses"] + other)
                            if states[copy]["phase"] == PLAY:
                                alive[count["alive"]] = copy
                                count["alive"] += 1
                else:
                    rank = int(state["hands"][player, slot]) >> 2
                    root["best"] = rank
                    branch = branches[count["branches"]]
                    count["branches"] += 1
                    branch["root"] = number
                    branch["rank"] = rank
                    branch["state"] = index
        advance(state, rules[0], log[0], rules[0]["num_tosses"] + slot)
        if state["phase"] == PLAY:
            alive[count["alive"]] = index
            count["alive"] += 1


@kernel
def _value_roots(
    states: Any,
    rules: Any,
    tables: Any,
    scratch: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    targets: Any,
    masks: Any,
    wins: Any,
) -> None:
    """Values the lays of the roots from how their games went."""
    standing = scratch[0]["standing"]
    for place in range(counts[0]["branches"]):
        branch = branches[place]
        number = branch["root"]
        rank = branch["rank"]
        root = roots[number]
        state = states[branch["state"]]
        player = root["player"]
        take_show(state, rules[0], standing, player, root["own_score"], root["other_score"])
        own = state["pegged"][player] - root["own_pegged"]
        other = state["pegged"][1 - player] - root["other_pegged"]
        worth = game_over(standing, tables[0], own, other)
        if worth == 0.0:
            worth = after_pegging(standing, tables[0], own, other)
        before = after_pegging(standing, tables[0], 0, 0)
        if rank == root["best"]:
            wins[number] = 0.5 * (worth + 1.0)
        point_weights(
            standing, tables[0], root["own_score"], root["other_score"], standing["own_deals"]
        )
        points = (worth - before) / mean_slope(standing)
        targets[number, rank] = min(max(points, -MOST_POINTS), MOST_POINTS)
        masks[number, rank] = 1.0


@inlined
def take_show(
    state: Any, rules: Any, standing: Any, player: int, own_score: int, other_score: int
) -> None:
    """Writes what a deal's hands and crib will show into a standing.

    Args:
        state: STATE record with the starter turned.
        rules: RULES record.
        standing: STANDING record. Modified in place.
        player: Whose standing, 0 or 1.
        own_score: His score.
        other_score: The other's.
    """
    starter = int(state["starter"])
    standing["stake"] = WIN
    standing["own_score"] = own_score
    standing["other_score"] = other_score
    standing["own_deals"] = 1 if state["dealer"] == player else 0
    standing["own_hand"] = show_points(state["hands"], player, KEPT, starter, False, rules)
    standing["other_hand"] = show_points(state["hands"], 1 - player, KEPT, starter, False, rules)
    standing["num_cribs"] = 1
    standing["crib_points"][0] = show_points(state["crib"], 0, KEPT, starter, True, rules)
    standing["crib_chances"][0] = 1.0
