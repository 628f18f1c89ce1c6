"""Steps of a whole batch, and fused loops that play games to the end inside one kernel."""

from typing import Any

from cribai.engine.dealing import below, decision_key, lay_out, shuffle, start_game
from cribai.engine.jit import inlined, kernel
from cribai.engine.state import DEAL, DISCARD, NO_PLAYER, OVER
from cribai.engine.transitions import advance, is_legal, num_bits
from cribai.engine.viewing import write_view


@kernel
def start_batch(
    states: Any, rules: Any, seed: Any, pairs: Any, games: Any, first_dealers: Any
) -> None:
    """Begins a new game in each state.

    Args:
        states: STATE array (n,). Modified in place.
        rules: RULES array (1,).
        seed: uint64 seed of the match.
        pairs: int64 array (n,), the number of each game's pair.
        games: int64 array (n,), the number of each game in its pair.
        first_dealers: int64 array (n,), who deals first, NO_PLAYER to cut for it.
    """
    for i in range(states.shape[0]):
        start_game(states[i], rules[0], seed, pairs[i], games[i], first_dealers[i])


@kernel
def first_illegal(states: Any, rules: Any, indices: Any, actions: Any) -> int:
    """Returns the first place whose action is illegal in its state, or -1.

    Args:
        states: STATE array (n,).
        rules: RULES array (1,).
        indices: int64 array (m,), the states acted in, each once.
        actions: int64 array (m,).
    """
    for place in range(indices.shape[0]):
        if not is_legal(states[indices[place]], rules[0], actions[place]):
            return place
    return -1


@kernel
def step_batch(states: Any, rules: Any, log: Any, indices: Any, actions: Any) -> None:
    """Takes one action in each of some states and deals where a deal is then due.

    Unchecked: see `first_illegal`.

    Args:
        states: STATE array (n,). Modified in place.
        rules: RULES array (1,).
        log: LOG array (1,).
        indices: int64 array (m,), the states acted in, each once.
        actions: int64 array (m,).
    """
    for place in range(indices.shape[0]):
        state = states[indices[place]]
        advance(state, rules[0], log[0], actions[place])
        if state["phase"] == DEAL:
            shuffle(state, rules[0])
            lay_out(state, rules[0])


@inlined
def random_action(record: Any, key: Any, rules: Any) -> int:
    """Returns a legal action chosen evenly by a key.

    Args:
        record: STATE or VIEW record with a decision due.
        key: The decision's uint64 key.
        rules: RULES record.
    """
    if record["phase"] == DISCARD:
        return below(key, rules["num_tosses"])
    slots = int(record["playable"])
    chosen = below(key, num_bits(slots))
    # The slot is the number of places before the chosen bit: no branch to mispredict.
    slot = 0
    seen = 0
    for i in range(rules["cards_kept"]):
        seen += (slots >> i) & 1
        slot += seen <= chosen
    return rules["num_tosses"] + slot


@kernel
def play_out(states: Any, rules: Any, log: Any) -> int:
    """Plays every game to its end with random actions; returns the number of decisions.

    Args:
        states: STATE array (n,). Modified in place.
        rules: RULES array (1,).
        log: LOG array (1,).
    """
    num_decisions = 0
    for i in range(states.shape[0]):
        state = states[i]
        while state["phase"] != OVER:
            advance(state, rules[0], log[0], random_action(state, decision_key(state), rules[0]))
            num_decisions += 1
            if state["phase"] == DEAL:
                shuffle(state, rules[0])
                lay_out(state, rules[0])
    return num_decisions


@kernel
def take_due(
    states: Any, rules: Any, seat_agents: Any, agent: int, games: Any, indices: Any, views: Any
) -> int:
    """Finds the states in which an agent's decision is due and writes their views.

    Args:
        states: STATE array (n,).
        rules: RULES array (1,).
        seat_agents: int8 array (n, MAX_PLAYERS), the agent in each seat.
        agent: The agent.
        games: int64 array (n,), the caller's number of each game.
        indices: int64 array (n,). Modified in place: which states, ascending.
        views: VIEW array (n,). Modified in place: their views.

    Returns:
        How many there are.
    """
    number = 0
    for i in range(states.shape[0]):
        actor = states[i]["actor"]
        if actor != NO_PLAYER and seat_agents[i, actor] == agent:
            indices[number] = i
            write_view(states[i], rules[0], games[i], views[number])
            number += 1
    return number


@kernel
def redeal(states: Any, rules: Any, index: int, cards: Any) -> None:
    """Makes the present deal of a state one of given cards.

    Args:
        states: STATE array (n,). Modified in place: the state, as at the beginning of its deal.
        rules: RULES array (1,).
        index: Which state.
        cards: int64 array (m,): the hands by seat, the crib's cards from the deck, the starter.
    """
    state = states[index]
    for i in range(cards.shape[0]):
        state["deck"][i] = cards[i]
    state["num_deals"] -= 1
    lay_out(state, rules[0])
