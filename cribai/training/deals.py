"""Where episodes begin: deals with both tosses made, at scores over the whole board.

A library of them is made once from a seed. Half of its scores are those of games between good
players, half lie near the end. Tosses are the analysis' best at the score, now and then the second
or third best, so that the hands vary.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import (
    DEALER,
    LIBRARY_SIZE,
    MAX_PEGS,
    PONE,
    TARGET,
    WIN,
    load_knowledge,
)
from cribai.analysis.tosses import TOSSES, value_tosses
from cribai.analysis.tossing import NUM_TOSSES
from cribai.engine.dealing import GOLDEN, below, combine, lay_out, mix, start_game
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import rank_table
from cribai.engine.state import DISCARD
from cribai.engine.transitions import advance
from cribai.rules import STANDARD

DOMAIN_TRAINING: Final = np.uint64(0x747261696E)
"""Keeps the random numbers of training apart from those of matches."""

DEAL: Final = np.dtype(
    [
        ("cards", np.int8, 12),  # the pone's six, then the dealer's, each sorted
        ("tosses", np.int8, 2),  # by role
        ("scores", np.int16, 2),  # by role
    ],
    align=True,
)

NEAR_RANGE: Final = 40
MOST_BEHIND: Final = 45
"""Near the end the leader is so near the target, all distances alike, and the other at most so far
behind him, less the likelier."""

HORIZON: Final = 45
NUM_DEALS: Final = 16
_DEALT: Final = 6
_DECK: Final = 52


def training_key(seed: int, *path: int) -> np.uint64:
    """Returns the key of a branch of training's random numbers."""
    key = np.uint64(combine(DOMAIN_TRAINING, np.uint64(seed)))
    for number in path:
        key = np.uint64(combine(key, number))
    return key


@kernel
def _draw_scores(tables: Any, key: Any, near_share: float, deals: Any) -> None:
    """Draws the scores of deals; see `make_library`."""
    own = 0  # the dealer's
    other = 0
    key = combine(key, 0)
    for i in range(deals.shape[0]):
        deal = deals[i]
        # A game goes on in any case, of which one deal after another is taken.
        deal["scores"][DEALER] = own
        deal["scores"][PONE] = other
        key += GOLDEN
        number = below(mix(key), LIBRARY_SIZE)
        own += 2 * tables[0]["heels"][number]
        for peg in range(MAX_PEGS):
            if tables[0]["peg_roles"][number, peg] == DEALER:
                own += tables[0]["peg_points"][number, peg]
            elif tables[0]["peg_roles"][number, peg] == PONE:
                other += tables[0]["peg_points"][number, peg]
        own += tables[0]["hands"][number, DEALER] + tables[0]["cribs"][number]
        other += tables[0]["hands"][number, PONE]
        own, other = other, own
        if own >= TARGET or other >= TARGET:
            own = 0
            other = 0
        key += GOLDEN
        if below(mix(key), 1 << 20) < near_share * (1 << 20):
            key += GOLDEN
            leader = TARGET - 1 - below(mix(key), NEAR_RANGE)
            key += GOLDEN
            behind = below(mix(key), MOST_BEHIND)
            key += GOLDEN
            trailer = leader - min(behind, below(mix(key), MOST_BEHIND))
            key += GOLDEN
            role = below(mix(key), 2)
            deal["scores"][role] = leader
            deal["scores"][1 - role] = trailer


@inlined
def _draw_cards(key: Any, deck: Any, deal: Any) -> None:
    for card in range(_DECK):
        deck[card] = card
    for i in range(2 * _DEALT):
        key += GOLDEN
        j = i + below(mix(key), _DECK - i)
        card = deck[j]
        deck[j] = deck[i]
        deck[i] = card
    for role in range(2):
        for i in range(_DEALT):
            card = deck[role * _DEALT + i]
            smaller = 0
            for j in range(_DEALT):
                smaller += deck[role * _DEALT + j] < card
            deal["cards"][role * _DEALT + smaller] = card


@kernel
def _deal_and_toss(
    tables: Any, rule_table: Any, key: Any, second: float, third: float, tosses: Any, deals: Any
) -> None:
    """Deals and tosses; see `make_library`."""
    deck = np.empty(_DECK, np.int64)
    for i in range(deals.shape[0]):
        deal = deals[i]
        chance = combine(combine(key, 1), i)
        _draw_cards(combine(chance, 0), deck, deal)
        for role in range(2):
            for card in range(_DEALT):
                tosses[0]["cards"][card] = deal["cards"][role * _DEALT + card]
            tosses[0]["role"] = role
            tosses[0]["own_score"] = deal["scores"][role]
            tosses[0]["other_score"] = deal["scores"][1 - role]
            value_tosses(tables[0], rule_table, tosses[0])
            word = below(combine(chance, 1 + role), 1 << 20) / (1 << 20)
            place = 0
            if word < second + third:
                place = 1 if word < second else 2
            for _ in range(place + 1):
                best = 0
                for toss in range(1, NUM_TOSSES):
                    if tosses[0]["worths"][toss] > tosses[0]["worths"][best]:
                        best = toss
                tosses[0]["worths"][best] = -1e9
            deal["tosses"][role] = best


def make_library(
    number: int, seed: int, *, near_share: float = 0.5, second: float = 0.12, third: float = 0.04
) -> NDArray[Any]:
    """Returns deals with both tosses made, DEAL array (number,).

    Args:
        number: How many.
        seed: Seed of training.
        near_share: Share of the deals near the end.
        second: How often the second best toss is made.
        third: How often the third best.
    """
    deals = np.zeros(number, DEAL)
    key = training_key(seed)
    tosses = np.zeros(1, TOSSES)
    tosses["stake"] = WIN
    tosses["horizon"] = HORIZON
    tosses["num_deals"] = NUM_DEALS
    tables = load_knowledge()
    _draw_scores(tables, key, near_share, deals)
    _deal_and_toss(tables, rank_table(STANDARD.fifteen), key, second, third, tosses, deals)
    return deals


@inlined
def lay_out_deal(state: Any, rules: Any, chance: Any, deal: Any) -> None:
    """Lays a deal of the library out; the pone has seat 0 and the dealer seat 1.

    Args:
        state: STATE record. Modified in place: every field.
        rules: RULES record.
        chance: uint64 key of the starter, which may be any of the other forty cards.
        deal: DEAL record.
    """
    start_game(state, rules, chance, 0, 0, DEALER)
    for card in range(2 * _DEALT):
        state["deck"][card] = deal["cards"][card]
    starter = below(combine(chance, 0), _DECK - 2 * _DEALT)
    num_taken = 0
    for card in range(_DECK):
        taken = False
        for place in range(2 * _DEALT):
            taken |= deal["cards"][place] == card
        if taken:
            num_taken += 1
        elif card - num_taken == starter:
            state["deck"][2 * _DEALT] = card
    state["num_deals"] = 0
    lay_out(state, rules)
    state["scores"][PONE] = deal["scores"][PONE]
    state["scores"][DEALER] = deal["scores"][DEALER]


@kernel
def begin_deals(states: Any, rules: Any, key: Any, library: Any, number: int) -> None:
    """Lays out deals of the library, chosen at random, with the first toss due.

    Args:
        states: STATE array (>= number,). Modified in place: the first `number`.
        rules: RULES array (1,).
        key: uint64 key of the choice.
        library: DEAL array.
        number: How many.
    """
    for i in range(number):
        chance = combine(key, i)
        lay_out_deal(states[i], rules[0], chance, library[below(chance, library.shape[0])])


@kernel
def toss_deals(
    states: Any, rules: Any, log: Any, key: Any, library: Any, number: int, seats: Any
) -> None:
    """Makes the library's tosses, up to a toss that is an agent's, or else up to the first lay.

    A deal that heels have ended is over.

    Args:
        states: STATE array (>= number,) as `begin_deals` has left them. Modified in place.
        rules: RULES array (1,).
        log: LOG array (1,).
        key: uint64 key of the choice.
        library: DEAL array.
        number: How many.
        seats: int8 array (>= number, 2), below 0 where the library tosses; by seat, which is the
            role.
    """
    for i in range(number):
        state = states[i]
        deal = library[below(combine(key, i), library.shape[0])]
        while state["phase"] == DISCARD and seats[i, state["actor"]] < 0:
            advance(state, rules[0], log[0], int(deal["tosses"][state["actor"]]))
