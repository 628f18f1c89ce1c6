"""Deals played on in lockstep: at each step all decisions that are due are taken together.

A seat is the network's or an agent's. The network's decisions are answered from rows of features,
those of an agent from views, as in a match.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, ask
from cribai.engine.jit import inlined, kernel
from cribai.engine.simulate import first_illegal
from cribai.engine.state import DISCARD, PLAY, STATE, VIEW, compiled_rules, new_log
from cribai.engine.transitions import advance
from cribai.engine.viewing import write_view, write_views
from cribai.errors import AgentError
from cribai.rules import STANDARD
from cribai.training.features import KEPT, NUM_INPUTS, SCRATCH, write_features
from cribai.training.stakes import load_stakes
from cribai.views import ViewBatch

CHUNK: Final = 4096
"""Decisions that the network answers at once."""

NETWORK: Final = -1
"""The number of the network among the players, whose agents are numbered from 0."""

NUM_SEATS: Final = 2

COUNTS: Final = np.dtype(
    [
        ("states", np.int64),
        ("roots", np.int64),
        ("branches", np.int64),
        ("alive", np.int64),  # states that go on with the next step
        ("waiting", np.int64),  # states in which an agent's decision is due
    ],
    align=True,
)

Evaluate = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""From rows (n, NUM_INPUTS) to outputs (n, NUM_OUTPUTS)."""

Take = Callable[[int, NDArray[np.float32]], object]
"""Takes the decisions that the network is asked for: their number and the outputs."""


class Lockstep:
    """States that are played on together, and room for what that takes.

    Attributes:
        rules: RULES array (1,).
        log: LOG array (1,), which nothing is written to.
        stakes: STAKES array (1,).
        states: STATE array (most_states,).
        agents: The agents that may have seats, by their numbers; none at first.
        seats: int8 array (most_states, 2), the player in each seat: NETWORK or an agent's number.
        alive: int64 array (most_states,), the states that this step looks at.
        next_alive: int64 array (most_states,), those that go on.
        counts: COUNTS array (1,).
        due: int64 array (CHUNK,), the states of the decisions that the network is asked for.
        rows: float32 array (CHUNK, NUM_INPUTS), their features.

    Args:
        most_states: Room for so many states.
    """

    def __init__(self, most_states: int) -> None:
        self.agents: tuple[Agent, ...] = ()
        self.rules = compiled_rules(STANDARD)
        self.log = new_log(enabled=False)
        self.stakes = load_stakes()
        self.states = np.zeros(most_states, STATE)
        self.seats = np.full((most_states, NUM_SEATS), NETWORK, np.int8)
        self.alive = np.zeros(most_states, np.int64)
        self.next_alive = np.zeros(most_states, np.int64)
        self.counts = np.zeros(1, COUNTS)
        self.due = np.zeros(CHUNK, np.int64)
        self.rows = np.zeros((CHUNK, NUM_INPUTS), np.float32)
        self._waiting = np.zeros(most_states, np.int64)
        self._numbers = np.arange(most_states)
        self._cursor = np.zeros(1, np.int64)
        self._views = np.zeros(1, VIEW)
        self._scratch = np.zeros(1, SCRATCH)

    def play(self, number: int, evaluate: Evaluate, take: Take) -> int:
        """Plays states, and the copies that `take` makes of them, to the end of their deals.

        Args:
            number: The first so many states are played on from the first lay.
            evaluate: The network.
            take: Takes the network's decisions from `due`, `rows` and the outputs; appends states
                that go on to `next_alive`.

        Returns:
            The number of decisions that the network was asked for.
        """
        counts = self.counts[0]
        self.alive[:number] = self._numbers[:number]
        counts["alive"] = number
        num_decisions = 0
        while counts["alive"]:
            num_alive = int(counts["alive"])
            counts["alive"] = 0
            counts["waiting"] = 0
            self._cursor[0] = 0
            while self._cursor[0] < num_alive:
                found = find_decisions(
                    self.states, self.rules, self.log, self.stakes, self._views, self._scratch,
                    self.seats, self.alive, num_alive, self._cursor, self.due, self.rows,
                    self._waiting, self.counts,
                )  # fmt: skip
                if found:
                    num_decisions += found
                    take(found, evaluate(self.rows[:found]))
            self._ask_agents()
            self.alive, self.next_alive = self.next_alive, self.alive
        return num_decisions

    def toss(self, number: int) -> None:
        """Lets agents toss, where the first so many states wait for the toss of one."""
        phases, actors = (self.states[name][:number] for name in ("phase", "actor"))
        waiting = np.flatnonzero(phases == DISCARD)
        self.counts["waiting"] = len(waiting)
        self._waiting[: len(waiting)] = waiting
        assert (self.seats[waiting, actors[waiting]] != NETWORK).all()
        self._ask_agents()

    def _ask_agents(self) -> None:
        waiting = self._waiting[: self.counts["waiting"][0]]
        if len(waiting) == 0:
            return
        players = self.seats[waiting, self.states["actor"][waiting]]
        for number, agent in enumerate(self.agents):
            chosen = waiting[players == number]
            if len(chosen) == 0:
                continue
            views = np.zeros(len(chosen), VIEW)
            write_views(self.states, self.rules, self._numbers, chosen, views)
            actions = ask(agent, ViewBatch(views, STANDARD))
            bad = first_illegal(self.states, self.rules, chosen, actions)
            if bad >= 0:
                raise AgentError(
                    f"The agent {agent.name!r} chose the illegal action {actions[bad]} in training;"
                    " mend it or train against another."
                )
            take_actions(
                self.states, self.rules, self.log, chosen, actions, self.next_alive, self.counts
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
    stakes: Any,
    views: Any,
    scratch: Any,
    seats: Any,
    alive: Any,
    num_alive: int,
    cursor: Any,
    due: Any,
    rows: Any,
    waiting: Any,
    counts: Any,
) -> int:
    """Finds the next decisions between lays; lone choices are made.

    Args:
        states: STATE array. Modified in place.
        rules: RULES array (1,).
        log: LOG array (1,).
        stakes: STAKES array (1,).
        views: VIEW array (1,). Scratch.
        scratch: SCRATCH array (1,).
        seats: int8 array (n, 2), the player in each seat.
        alive: int64 array, the states to look at.
        num_alive: How many they are.
        cursor: int64 array (1,), where to begin. Modified in place: where to go on.
        due: int64 array (k,). Modified in place: the states with a decision of the network's.
        rows: float32 array (k, NUM_INPUTS). Modified in place: their features.
        waiting: int64 array. Modified in place: states with an agent's decision are appended.
        counts: COUNTS array (1,). Modified in place: `waiting`.

    Returns:
        How many of the network's were found, k at most.
    """
    found = 0
    place = cursor[0]
    while place < num_alive and found < due.shape[0]:
        index = alive[place]
        state = states[index]
        lay_without_choice(state, rules[0], log[0])
        if state["phase"] == PLAY:
            player = int(state["actor"])
            if seats[index, player] == NETWORK:
                write_view(state, rules[0], player, index, views[0])
                write_features(views[0], rules[0], stakes[0], scratch[0], rows, found)
                due[found] = index
                found += 1
            else:
                waiting[counts[0]["waiting"]] = index
                counts[0]["waiting"] += 1
        place += 1
    cursor[0] = place
    return found


@kernel
def take_actions(
    states: Any, rules: Any, log: Any, chosen: Any, actions: Any, alive: Any, counts: Any
) -> None:
    """Takes agents' actions.

    Args:
        states: STATE array. Modified in place.
        rules: RULES array (1,).
        log: LOG array (1,).
        chosen: int64 array (n,), the states acted in.
        actions: int64 array (n,).
        alive: int64 array. Modified in place: the states that go on are appended.
        counts: COUNTS array (1,). Modified in place: `alive`.
    """
    for place in range(chosen.shape[0]):
        index = chosen[place]
        advance(states[index], rules[0], log[0], actions[place])
        if states[index]["phase"] == PLAY:
            alive[counts[0]["alive"]] = index
            counts[0]["alive"] += 1
