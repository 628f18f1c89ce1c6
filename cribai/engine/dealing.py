"""Random numbers as a function of where a game is, and the deals made from them.

A deal is a hash of (seed, pair, deal number); an agent's random key is a hash, in another domain,
of (seed, pair, game, seat, decision). The mixer is SplitMix64's (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014).
"""

from typing import Any, Final

import numpy as np

from cribai.cards import NO_CARD
from cribai.engine.jit import inlined, is_varied, varied
from cribai.engine.order import next_phase
from cribai.engine.starters import turn_first
from cribai.engine.state import DEAL, NO_BID, NO_GO, NO_PLAYER

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)
_SHIFT_1: Final = np.uint64(30)
_SHIFT_2: Final = np.uint64(27)
_SHIFT_3: Final = np.uint64(31)
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)

DOMAIN_DEAL: Final = np.uint64(0x6465616C)
DOMAIN_CUT: Final = np.uint64(0x637574)
DOMAIN_AGENT: Final = np.uint64(0x6167656E74)
"""Keep the streams of deals, cuts for the deal and agents apart; the bytes spell their names."""

_NO_CARD: Final = NO_CARD


@inlined
def mix(value: Any) -> Any:
    """Returns a uint64 whose every bit depends on every bit of the uint64 given."""
    value = (value ^ (value >> _SHIFT_1)) * _MIX_1
    value = (value ^ (value >> _SHIFT_2)) * _MIX_2
    return value ^ (value >> _SHIFT_3)


@inlined
def combine(key: Any, number: Any) -> Any:
    """Returns the uint64 key of the number-th branch below a key."""
    return mix(key + (np.uint64(number) + np.uint64(1)) * GOLDEN)


@inlined
def stream_key(seed: Any, domain: Any, pair: Any) -> Any:
    """Returns the uint64 key of a pair's stream in a domain."""
    return combine(combine(domain, seed), pair)


@inlined
def below(word: Any, bound: int) -> Any:
    """Returns a number from 0 to bound - 1 from the upper half of a uint64, as int64.

    Multiply and shift: a number's chance is off by less than bound / 2**32.
    """
    return np.int64(((word >> _HALF) * np.uint64(bound)) >> _HALF)


@inlined
def cut_for_deal(key: Any, num_players: int) -> int:
    """Returns the player who cuts the lowest rank, an ace being low; ties are cut again by all.

    Args:
        key: The uint64 key of the cut's stream.
        num_players: Players who cut, each another card of a fresh deck.
    """
    attempt = 0
    while True:
        taken = 0  # bit i: card i is cut
        lowest = 99
        winner = 0
        tied = False
        for player in range(num_players):
            card = below(combine(key, attempt), 52)
            attempt += 1
            while (taken >> card) & 1:
                card = below(combine(key, attempt), 52)
                attempt += 1
            taken |= 1 << card
            rank = card >> 2
            if rank < lowest:
                lowest = rank
                winner = player
                tied = False
            elif rank == lowest:
                tied = True
        if not tied:
            return winner


@inlined
def shuffle(state: Any, rules: Any) -> None:
    """Shuffles as much of the deck as the present deal needs, by its key.

    Args:
        state: STATE record. Modified in place: `deck`.
        rules: RULES record.
    """
    deck = state["deck"]
    size = rules["deck_size"]
    for i in range(deck.shape[0]):
        deck[i] = rules["deck"][i]
    key = combine(state["deal_key"], state["num_deals"])
    needed = rules["cards_needed"]
    word = key
    for i in range(needed):
        if i & 1 == 0:
            key += GOLDEN
            word = mix(key)
        else:
            word = (word & _LOW) << _HALF
        j = i + below(word, size - i)
        card = deck[j]
        deck[j] = deck[i]
        deck[i] = card


@inlined
def lay_out(state: Any, rules: Any) -> None:
    """Begins a deal with the front of the deck: hands by seat, cards to the cribs, the starters.

    Args:
        state: STATE record with `deck` in order and `dealer` set. Modified in place: all of the
            deal's fields. The starter stays in the deck until it is turned; the first of two is
            turned at once, and heels may end the game.
        rules: RULES record.
    """
    num_players = rules["num_players"]
    dealt = rules["cards_dealt"]
    place = 0
    for player in range(num_players):
        # Each card goes where the number of smaller ones says: no branch to mispredict. Of equal
        # cards, which two decks have, the first dealt counts as the smaller.
        for i in range(dealt):
            card = state["deck"][place + i]
            smaller = 0
            for j in range(dealt):
                smaller += state["deck"][place + j] < card + (j < i)
            state["hands"][player, smaller] = card
        place += dealt
        for i in range(rules["num_cribs"] * rules["cards_tossed"]):
            state["tosses"][player, i] = _NO_CARD
        state["played"][player] = 0
        state["pegged"][player] = 0
        state["num_left"][player] = rules["cards_kept"]
        state["go_counts"][player] = NO_GO
    for row in range(rules["num_cribs"]):
        for i in range(rules["crib_from_deck"]):
            state["crib"][row, i] = state["deck"][place]
            place += 1
        state["num_crib"][row] = rules["crib_from_deck"]
    state["starter"] = _NO_CARD
    state["count"] = 0
    state["num_plays"] = 0
    state["series"] = 0
    state["series_length"] = 0
    state["said_go"] = 0
    state["last_player"] = NO_PLAYER
    state["playable"] = 0
    state["num_deals"] += 1
    state["phase"] = next_phase(DEAL, False, rules)
    player = state["dealer"] + 1
    state["actor"] = player if player < num_players else 0
    if is_varied(rules):
        _clear_variants(state, rules)
        if rules["num_turned"] > 1:
            turn_first(state, rules)


@varied(absent=0)
def _clear_variants(state: Any, rules: Any) -> None:
    state["announced"] = 0
    state["kings"] = 0
    state["hand_size"] = rules["cards_dealt"]
    state["crib_owner"] = NO_PLAYER if rules["bid"] else state["dealer"]
    state["show_step"] = NO_PLAYER
    for player in range(state["bids"].shape[0]):
        state["bids"][player] = NO_BID
        state["num_thrown"][player] = 0
        state["given"][player] = _NO_CARD
        for i in range(state["thrown"].shape[1]):
            state["thrown"][player, i] = _NO_CARD
        for i in range(state["starters"].shape[1]):
            state["starters"][player, i] = _NO_CARD


@inlined
def deal(state: Any, rules: Any) -> None:
    """Shuffles and lays out the next deal.

    Args:
        state: STATE record. Modified in place: all of the deal's fields.
        rules: RULES record.
    """
    shuffle(state, rules)
    lay_out(state, rules)


@inlined
def start_game(state: Any, rules: Any, seed: Any, pair: Any, game: Any, first_dealer: int) -> None:
    """Makes a state that of a new game, its first deal shuffled and laid out.

    Args:
        state: STATE record. Modified in place: every field.
        rules: RULES record.
        seed: uint64 seed of the match.
        pair: Number of the pair; all its games have the same deals.
        game: Number of the game in its pair.
        first_dealer: The player who deals first, or NO_PLAYER to cut for it.
    """
    state["deal_key"] = stream_key(seed, DOMAIN_DEAL, pair)
    state["agent_key"] = combine(stream_key(seed, DOMAIN_AGENT, pair), game)
    if first_dealer == NO_PLAYER:
        first_dealer = cut_for_deal(stream_key(seed, DOMAIN_CUT, pair), rules["num_players"])
    state["first_dealer"] = first_dealer
    state["dealer"] = first_dealer
    state["num_decisions"] = 0
    state["num_deals"] = 0
    for player in range(state["scores"].shape[0]):
        state["scores"][player] = 0
        for source in range(state["points"].shape[1]):
            state["points"][player, source] = 0
            state["times"][player, source] = 0
        for i in range(state["hands"].shape[1]):
            state["hands"][player, i] = _NO_CARD
            state["tosses"][player, i] = _NO_CARD
    for row in range(state["crib"].shape[0]):
        for i in range(state["crib"].shape[1]):
            state["crib"][row, i] = _NO_CARD
    for i in range(state["play_cards"].shape[0]):
        state["play_cards"][i] = _NO_CARD
        state["play_players"][i] = NO_PLAYER
    for i in range(state["deck"].shape[0]):
        state["deck"][i] = _NO_CARD
    if rules["pone_start"] > 0:
        state["scores"][1 - first_dealer] = rules["pone_start"]
    state["winner"] = NO_PLAYER
    deal(state, rules)


@inlined
def decision_key(state: Any) -> Any:
    """Returns the uint64 random key of the decision that is due, for the agent who takes it."""
    return combine(combine(state["agent_key"], state["actor"]), state["num_decisions"])
