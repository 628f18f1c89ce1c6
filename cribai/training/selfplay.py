"""Episodes in lockstep: the play of single deals, and what the lays in it were worth.

Games of a wave are played by the network with some random lays. Of their decisions a share are
roots: there the game branches, each rank that may be laid gets a copy, and all copies are played to
the end of the deal without random lays. So all lays of a root meet the same hidden cards, and their
difference is far less noisy than their values are. Or only the lay that was made is valued, by the
game itself: plain deep Monte Carlo. Or all are, by the search of the analysis, the teacher: against
the opponent's hand as it is, or averaged over what it may be.

In a share of the games one seat is an opponent's, another agent of a pool, in their copies too.

A lay's worth is that of the game after the pegging, with the hands and the crib counted in order,
less the same had nothing more been pegged; the latter, the luck of the show above all, does not
depend on the lay. It is given in points: divided by what a point is worth at the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.analysis import pegging
from cribai.analysis.knowledge import load_knowledge
from cribai.analysis.lays import new_lays
from cribai.analysis.positions import STANDING
from cribai.cards import NUM_RANKS
from cribai.engine.state import VIEW
from cribai.training.deals import begin_deals, toss_deals, training_key
from cribai.training.features import NUM_INPUTS
from cribai.training.lockstep import NETWORK, NUM_SEATS, Evaluate, Lockstep
from cribai.training.roots import (
    BRANCH,
    BRANCHING,
    EXPECTATION,
    MONTE_CARLO,
    ROOT,
    SEARCH,
    take_decisions,
)
from cribai.training.worths import average_roots, search_roots, value_roots

METHODS: Final = {
    "monte_carlo": MONTE_CARLO,
    "branching": BRANCHING,
    "search": SEARCH,
    "expectation": EXPECTATION,
}

UNKNOWN: Final = -1.0

SAMPLES: Final = 40
"""Hands of the opponent that a lay is searched against; half of what expectimax takes."""


@dataclass(frozen=True, slots=True)
class Samples:
    """What a wave says of its roots.

    Attributes:
        rows: float32 array (n, NUM_INPUTS).
        targets: float32 array (n, 13): the worth of each rank in points.
        masks: float32 array (n, 13): 1 for each rank that was valued.
        wins: float32 array (n,): the chance to win once the pegging is over, UNKNOWN if it is not.
        num_decisions: Decisions that the network took.
    """

    rows: NDArray[np.float32]
    targets: NDArray[np.float32]
    masks: NDArray[np.float32]
    wins: NDArray[np.float32]
    num_decisions: int


def join(parts: Sequence[Samples]) -> Samples:
    """Returns the samples of a wave's parts as one, in new arrays."""
    names = ("rows", "targets", "masks", "wins")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Samples(num_decisions=sum(part.num_decisions for part in parts), **arrays)


class SelfPlay:
    """Plays waves of deals.

    Args:
        library: DEAL array, where episodes begin.
        seed: Seed of training.
        deals: Deals in a wave.
        root_share: Share of the decisions that become roots.
        method: One of METHODS, see `cribai.training.roots`.
        temperature: Of the network's decisions, in points; at 0 it does what it finds best.
        opponent_share: Share of the games in which an opponent has a seat.

    Attributes:
        opponents: Those agents; none at first.
    """

    def __init__(
        self,
        library: NDArray[Any],
        seed: int,
        deals: int,
        root_share: float,
        method: str,
        temperature: float = 0.0,
        opponent_share: float = 0.0,
    ) -> None:
        self.library = library
        self.seed = seed
        self.deals = deals
        self.root_share = root_share
        self.method = METHODS[method]
        self.temperature = temperature
        self.opponent_share = opponent_share
        self.opponents: Sequence[Agent] = ()
        self._tables = load_knowledge()
        self._standings = np.zeros(1, STANDING)
        # A deal has about 4.5 decisions of 2.6 lays each; room for more than ever came.
        most_roots = int(deals * (6 * root_share + 0.5)) + 64
        most_states = deals + {MONTE_CARLO: 0, BRANCHING: 4}.get(self.method, 1) * most_roots
        self._lockstep = Lockstep(most_states)
        self._roots = np.zeros(most_roots, ROOT)
        self._branches = np.zeros(4 * most_roots, BRANCH)
        self._views = np.zeros(1, VIEW)
        self._search = np.zeros(1, pegging.SEARCH)
        self._lays = new_lays(samples=SAMPLES)
        self._samples = np.zeros((most_roots, NUM_INPUTS), np.float32)
        self._targets = np.zeros((most_roots, NUM_RANKS), np.float32)
        self._masks = np.zeros((most_roots, NUM_RANKS), np.float32)
        self._wins = np.zeros(most_roots, np.float32)

    def play(self, wave: int, evaluate: Evaluate, random_share: float, part: int = 0) -> Samples:
        """Plays a wave, or a part of it; deals and chances are a function of seed, wave and part.

        Args:
            wave: Its number.
            evaluate: The network.
            random_share: Share of the decisions of the games, not of their copies, at random.
            part: Number of the part.

        Returns:
            Samples whose arrays are overwritten by the next wave.
        """
        # The first part's numbers are those of a wave that has no other.
        branch = (2, wave) if part == 0 else (8, wave, part)
        key = training_key(self.seed, *branch)
        step = self._lockstep
        counts = step.counts[0]
        begin_deals(step.states, step.rules, key, self.library, self.deals)
        self._seat_opponents(np.random.default_rng([self.seed, 6, wave, part]))
        given = (step.states, step.rules, step.log, key, self.library, self.deals, step.seats)
        toss_deals(*given)
        step.toss(self.deals)
        toss_deals(*given)
        counts["states"] = self.deals
        counts["roots"] = counts["branches"] = 0

        def take(found: int, outputs: NDArray[np.float32]) -> None:
            take_decisions(
                step.states, step.rules, step.log, key, step.due, found, outputs, step.rows,
                self.deals, random_share, self.temperature, self.root_share, self.method,
                step.seats, step.next_alive, step.counts, self._roots, self._branches,
                self._samples,
            )  # fmt: skip

        num_decisions = step.play(self.deals, evaluate, take)
        num_roots = int(counts["roots"])
        self._masks[:num_roots] = 0
        states = (step.states, step.rules, self._tables, step.stakes, self._standings)
        results = (step.counts, self._roots, self._branches, self._targets, self._masks)
        if self.method == EXPECTATION:
            self._wins[:num_roots] = UNKNOWN
            average_roots(*states, self._views, self._lays, *results)
        elif self.method == SEARCH:
            search_roots(*states, self._search, *results, self._wins)
        else:
            value_roots(*states, *results, self._wins)
        return Samples(
            self._samples[:num_roots],
            self._targets[:num_roots],
            self._masks[:num_roots],
            self._wins[:num_roots],
            num_decisions,
        )

    def _seat_opponents(self, chance: np.random.Generator) -> None:
        """Gives one seat of a share of the games to an opponent, each as often as the others."""
        step = self._lockstep
        step.agents = tuple(self.opponents)
        step.seats[: self.deals] = NETWORK
        if not step.agents:
            return
        games = np.flatnonzero(chance.random(self.deals) < self.opponent_share)
        seats = chance.integers(0, NUM_SEATS, len(games))
        step.seats[games, seats] = chance.integers(0, len(step.agents), len(games))
