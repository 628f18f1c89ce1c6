"""Episodes for the tosses: whole deals from a toss on, every likely toss on the same cards.

One side's toss is the root; each of its candidates is played out with the same toss of the other
side and the same starter. What the analysis says already is taken off, and with it most of the luck
of the show: what is learned is how far the analysis is wrong, in points.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import DEALER, PONE, WIN, load_knowledge
from cribai.analysis.policy import CRIB_MEAN, HAND
from cribai.analysis.positions import before_deal
from cribai.analysis.tosses import TOSSES, value_tosses
from cribai.engine.dealing import below, combine
from cribai.engine.jit import kernel
from cribai.engine.scoring import show_points
from cribai.engine.state import OVER
from cribai.engine.transitions import advance
from cribai.training.deals import HORIZON, NUM_DEALS, lay_out_deal, training_key
from cribai.training.features import KEPT
from cribai.training.lockstep import Evaluate, Lockstep
from cribai.training.roots import BRANCH, lay_best
from cribai.training.toss_features import (
    MAX_CANDIDATES,
    NUM_TOSS_INPUTS,
    next_candidate,
    toss_unit,
    write_toss_features,
)

MOST_POINTS: Final = 20.0

TOSS_ROOT: Final = np.dtype(
    [
        ("role", np.int64),
        ("unit", np.float64),
        ("own_weight", np.float64),  # in units
        ("other_weight", np.float64),
        ("worths", np.float64, MAX_CANDIDATES),  # by the analysis
        ("hands", np.float64, MAX_CANDIDATES),
        ("cribs", np.float64, MAX_CANDIDATES),
    ],
    align=True,
)


@dataclass(frozen=True, slots=True)
class TossSamples:
    """What a wave says of its tosses.

    Attributes:
        rows: float32 array (n, MAX_CANDIDATES, NUM_TOSS_INPUTS).
        targets: float32 array (n, MAX_CANDIDATES): worth beyond the analysis', in points.
        masks: float32 array (n, MAX_CANDIDATES): 1 for each candidate.
        num_decisions: Lays that the network chose.
    """

    rows: NDArray[np.float32]
    targets: NDArray[np.float32]
    masks: NDArray[np.float32]
    num_decisions: int


class TossSelfPlay:
    """Plays waves of deals from a toss on.

    Args:
        library: DEAL array, where episodes begin.
        seed: Seed of training.
        deals: Tosses in a wave.
        options: TOSSES array (1,) with how the analysis answers.
    """

    def __init__(self, library: NDArray[Any], seed: int, deals: int, options: NDArray[Any]) -> None:
        self.library = library
        self.seed = seed
        self.deals = deals
        self._options = options
        self._tables = load_knowledge()
        most_states = deals * MAX_CANDIDATES
        self._lockstep = Lockstep(most_states)
        self._roots = np.zeros(deals, TOSS_ROOT)
        self._branches = np.zeros(most_states, BRANCH)
        self._samples = np.zeros((most_states, NUM_TOSS_INPUTS), np.float32)
        self._targets = np.zeros((deals, MAX_CANDIDATES), np.float32)
        self._masks = np.zeros((deals, MAX_CANDIDATES), np.float32)

    def play(self, wave: int, evaluate: Evaluate) -> TossSamples:
        """Plays a wave; its deals are a function of the seed and the wave's number.

        Args:
            wave: Its number.
            evaluate: The network of the lays, for both sides.

        Returns:
            Samples whose arrays are overwritten by the next wave.
        """
        key = training_key(self.seed, 4, wave)
        step = self._lockstep
        self._masks[:] = 0
        self._samples[:] = 0
        step.counts["states"] = 0
        begin_toss_roots(
            step.states, step.rules, step.log, self._tables, key, self.library, self._options,
            step.counts, self._roots, self._branches, self._samples, self._masks,
        )  # fmt: skip

        def take(found: int, outputs: NDArray[np.float32]) -> None:
            lay_best(
                step.states, step.rules, step.log, step.due, found, outputs, step.next_alive,
                step.counts,
            )  # fmt: skip

        num_decisions = step.play(int(step.counts["states"][0]), evaluate, take)
        value_toss_roots(
            step.states, step.rules, self._tables, step.counts, self._roots, self._branches,
            self._targets,
        )  # fmt: skip
        shape = (self.deals, MAX_CANDIDATES, NUM_TOSS_INPUTS)
        # A root with one candidate teaches nothing.
        open_ = np.flatnonzero(self._masks.sum(axis=1) > 1)
        return TossSamples(
            self._samples.reshape(shape)[open_],
            self._targets[open_],
            self._masks[open_],
            num_decisions,
        )


def toss_options(
    exact_cribs: bool = True, deals: int = NUM_DEALS, horizon: int = HORIZON
) -> NDArray[Any]:
    """Returns a TOSSES array (1,) with how the analysis answers where a network corrects it."""
    tosses = np.zeros(1, TOSSES)
    tosses["stake"] = WIN
    tosses["horizon"] = horizon
    tosses["num_deals"] = deals
    tosses["exact_cribs"] = exact_cribs
    return tosses


@kernel
def begin_toss_roots(
    states: Any,
    rules: Any,
    log: Any,
    tables: Any,
    key: Any,
    library: Any,
    options: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    samples: Any,
    masks: Any,
) -> None:
    """Begins a copy of a deal for each candidate of a toss, up to the first lay.

    Args:
        states: STATE array. Modified in place: the copies.
        rules: RULES array (1,).
        log: LOG array (1,).
        tables: KNOWLEDGE array (1,).
        key: uint64 key of the wave.
        library: DEAL array.
        options: TOSSES array (1,). Modified in place.
        counts: COUNTS array (1,). Modified in place: `states`.
        roots: TOSS_ROOT array (n,). Modified in place.
        branches: BRANCH array. Modified in place: one for each copy, its rank the candidate's
            number.
        samples: float32 array (n * MAX_CANDIDATES, NUM_TOSS_INPUTS). Modified in place.
        masks: float32 array (n, MAX_CANDIDATES) of zeros. Modified in place.
    """
    tosses = options[0]
    for number in range(roots.shape[0]):
        root = roots[number]
        chance = combine(key, number)
        deal = library[below(chance, library.shape[0])]
        role = below(combine(chance, 1), 2)
        for card in range(6):
            tosses["cards"][card] = deal["cards"][role * 6 + card]
        tosses["role"] = role
        tosses["own_score"] = deal["scores"][role]
        tosses["other_score"] = deal["scores"][1 - role]
        value_tosses(tables[0], rules[0]["table"], tosses)
        unit = toss_unit(tosses)
        root["role"] = role
        root["unit"] = unit
        root["own_weight"] = tosses["standing"]["own_weight"] / unit
        root["other_weight"] = tosses["standing"]["other_weight"] / unit
        taken = 0
        best = 0
        for place in range(MAX_CANDIDATES):
            toss = next_candidate(tosses, taken)
            if toss < 0:
                break
            if place == 0:
                best = toss
            taken |= 1 << toss
            root["worths"][place] = tosses["worths"][toss]
            root["hands"][place] = tosses["parts"][toss, HAND]
            root["cribs"][place] = tosses["parts"][toss, CRIB_MEAN]
            write_toss_features(tosses, toss, best, samples, number * MAX_CANDIDATES + place)
            masks[number, place] = 1.0
            copy = counts[0]["states"]
            counts[0]["states"] = copy + 1
            state = states[copy]
            lay_out_deal(state, rules[0], chance, deal)
            pone_toss = int(deal["tosses"][PONE])
            dealer_toss = int(deal["tosses"][DEALER])
            if role == PONE:
                pone_toss = toss
            else:
                dealer_toss = toss
            advance(state, rules[0], log[0], pone_toss)
            advance(state, rules[0], log[0], dealer_toss)
            branch = branches[copy]
            branch["root"] = number
            branch["rank"] = place
            branch["state"] = copy


@kernel
def value_toss_roots(
    states: Any, rules: Any, tables: Any, counts: Any, roots: Any, branches: Any, targets: Any
) -> None:
    """Values the candidates of toss roots from how their deals ended.

    Args:
        states: STATE array, all played out.
        rules: RULES array (1,).
        tables: KNOWLEDGE array (1,).
        counts: COUNTS array (1,).
        roots: TOSS_ROOT array.
        branches: BRANCH array.
        targets: float32 array (n, MAX_CANDIDATES). Modified in place.
    """
    for number in range(counts[0]["states"]):
        branch = branches[number]
        root = roots[branch["root"]]
        place = branch["rank"]
        state = states[branch["state"]]
        role = root["role"]  # and the seat
        if state["phase"] == OVER:
            worth = 1.0 if state["winner"] == role else -1.0
        else:
            deals_next = 1 if state["dealer"] == role else 0
            own = int(state["scores"][role])
            other = int(state["scores"][1 - role])
            worth = before_deal(tables[0], WIN, own, other, deals_next)
        starter = int(state["starter"])
        hand = show_points(state["hands"], role, KEPT, starter, False, rules[0])
        crib = show_points(state["crib"], 0, KEPT, starter, True, rules[0])
        # The luck of the show has the mean zero whatever the toss.
        luck = root["own_weight"] * (hand - root["hands"][place])
        crib_luck = crib - root["cribs"][place]
        if role == DEALER:
            luck += root["own_weight"] * crib_luck
        else:
            luck -= root["other_weight"] * crib_luck
        points = (worth - root["worths"][place]) / root["unit"] - luck
        targets[branch["root"], place] = min(max(points, -MOST_POINTS), MOST_POINTS)
