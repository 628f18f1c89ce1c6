"""Kernels of environments: in each game one seat is the learner's, and others answer in between."""

from typing import Any, Final

import numpy as np

from cribai.engine.awards import end_game, score
from cribai.engine.dealing import deal, start_game
from cribai.engine.jit import inlined, kernel
from cribai.engine.legality import is_legal
from cribai.engine.state import DEAL, DEALER_HEELS, NO_PLAYER
from cribai.engine.transitions import advance
from cribai.engine.viewing import write_view

NUM_PLACES: Final = 2
"""The learner and the opponent, in that order, in the arrays by place."""

EPISODE: Final = np.dtype(
    [
        ("own_score", np.int16),
        ("other_score", np.int16),
        ("own_start", np.int16),  # the scores as the present deal began
        ("other_start", np.int16),
        ("own_pegged", np.int16),  # in the present deal
        ("other_pegged", np.int16),
        ("num_deals", np.int32),  # deals begun
        ("own_deals", np.int8),  # 1 if the learner deals, 0 if the opponent does
        ("ended", np.int8),  # 1 if no decision will follow
        ("result", np.int8),  # 1 if the learner won, -1 if he lost, 0 before and for a tie
    ],
    align=True,
)
"""How an episode stands, as the learner sees it."""


@kernel
def begin_episodes(
    states: Any,
    rules: Any,
    rows: Any,
    seeds: Any,
    episodes: Any,
    cycle: Any,
    deals_first: Any,
    scores: Any,
    learners: Any,
) -> None:
    """Begins the next episode in some rows: a new game between the learner and one opponent.

    The seats of the cycle are taken in turn, an episode each, on the same deals: with both seats in
    it, every two episodes are a mirrored pair.

    Args:
        states: STATE array (n,). Modified in place at the rows.
        rules: RULES array (1,), of two players.
        rows: int64 array (m,).
        seeds: uint64 array (n,).
        episodes: int64 array (n,), the number of each row's episode.
        cycle: int8 array (k,), the learner's seats.
        deals_first: int64 array (n,), 1 if the learner deals first, 0 if the opponent does,
            NO_PLAYER to cut for it.
        scores: int64 array (n, NUM_PLACES), from which the games begin, below zero for the rules'
            own. Heels of a starter that is turned at once come on top and can end a game.
        learners: int8 array (n,). Modified in place at the rows: the learner's seat.
    """
    length = cycle.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        pair = episodes[row] // length
        game = episodes[row] % length
        learner = int(cycle[game])
        first_dealer = deals_first[row]
        if first_dealer != NO_PLAYER:
            first_dealer = learner if first_dealer == 1 else 1 - learner
        start_game(states[row], rules[0], seeds[row], pair, game, first_dealer)
        learners[row] = learner
        if scores[row, 0] < 0:
            continue
        states[row]["scores"][learner] = scores[row, 0]
        states[row]["scores"][1 - learner] = scores[row, 1]
        dealer = int(states[row]["dealer"])
        heels = int(states[row]["points"][dealer, DEALER_HEELS])
        if heels > 0:
            score(states[row], rules[0], dealer, heels)


@inlined
def _step(state: Any, rules: Any, log: Any, action: int, last_deal: int) -> None:
    advance(state, rules, log, action)
    if state["phase"] == DEAL and state["num_deals"] < last_deal:
        deal(state, rules)


@kernel
def take_actions(
    states: Any,
    rules: Any,
    log: Any,
    rows: Any,
    actions: Any,
    last_deal: int,
    learners: Any,
    illegal: Any,
    games: Any,
    due: Any,
    views: Any,
) -> int:
    """Takes the learner's actions and finds the rows in which the opponent is then to act.

    An illegal action loses the game.

    Args:
        states: STATE array (n,). Modified in place at the rows.
        rules: RULES array (1,).
        log: LOG array (1,).
        rows: int64 array (m,), the rows in which the learner is to act.
        actions: int64 array (m,).
        last_deal: No deals are begun beyond this number.
        learners: int8 array (n,), the learner's seat.
        illegal: bool array (n,). Modified in place at the rows: whether the action was illegal.
        games: int64 array (n,), the caller's number of each game.
        due: int64 array (>= m,). Modified in place: the rows found.
        views: VIEW array (>= m,). Modified in place: the actors' views.

    Returns:
        How many there are.
    """
    found = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        illegal[row] = not is_legal(state, rules[0], actions[i])
        if illegal[row]:
            end_game(state, rules[0]["sides"][1 - learners[row]])
            continue
        _step(state, rules[0], log[0], actions[i], last_deal)
        if _take_view(state, rules[0], row, learners, games, views[found]):
            due[found] = row
            found += 1
    return found


@kernel
def answer(
    states: Any,
    rules: Any,
    log: Any,
    rows: Any,
    number: int,
    actions: Any,
    last_deal: int,
    learners: Any,
    games: Any,
    due: Any,
    views: Any,
) -> int:
    """Takes the opponents' actions and finds the rows in which an opponent is then to act again.

    Args:
        states: STATE array (n,). Modified in place at the rows.
        rules: RULES array (1,).
        log: LOG array (1,).
        rows: int64 array (>= number,), the rows in which an opponent is to act.
        number: How many there are.
        actions: int64 array (number,).
        last_deal: No deals are begun beyond this number.
        learners: int8 array (n,), the learner's seat; NO_PLAYER where he takes no decision.
        games: int64 array (n,), the caller's number of each game.
        due: int64 array (>= number,), which may be `rows`. Modified in place: the rows found.
        views: VIEW array (>= number,). Modified in place: the actors' views.

    Returns:
        How many there are; or, at the first illegal action, -1 less its place. Then its state and
        all later ones are unchanged.
    """
    found = 0
    for i in range(number):
        row = rows[i]
        state = states[row]
        if not is_legal(state, rules[0], actions[i]):
            return -1 - i
        _step(state, rules[0], log[0], actions[i], last_deal)
        if _take_view(state, rules[0], row, learners, games, views[found]):
            due[found] = row
            found += 1
    return found


@kernel
def find_due(
    states: Any, rules: Any, rows: Any, learners: Any, games: Any, due: Any, views: Any
) -> int:
    """Finds the rows in which another than the learner is to act and writes the views.

    Args:
        states: STATE array (n,).
        rules: RULES array (1,).
        rows: int64 array (m,), where to look.
        learners: int8 array (n,), the learner's seat; NO_PLAYER where he takes no decision.
        games: int64 array (n,), the caller's number of each game.
        due: int64 array (>= m,). Modified in place: the rows found.
        views: VIEW array (>= m,). Modified in place: the actors' views.

    Returns:
        How many there are.
    """
    found = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if _take_view(states[row], rules[0], row, learners, games, views[found]):
            due[found] = row
            found += 1
    return found


@inlined
def _take_view(state: Any, rules: Any, row: int, learners: Any, games: Any, view: Any) -> bool:
    actor = int(state["actor"])
    if actor == NO_PLAYER or actor == learners[row]:
        return False
    write_view(state, rules, actor, games[row], view)
    return True


@kernel
def observe(
    states: Any, rules: Any, learners: Any, games: Any, before: Any, views: Any, episodes: Any
) -> int:
    """Writes the learner's view of each row and how he stands; returns how many have ended.

    Args:
        states: STATE array (n,).
        rules: RULES array (1,).
        learners: int8 array (n,), the learner's seat.
        games: int64 array (n,), the caller's number of each game.
        before: EPISODE array (n,), the last that were written; zeros where an episode begins.
        views: VIEW array (n,). Modified in place.
        episodes: EPISODE array (n,). Modified in place.
    """
    num_ended = 0
    for i in range(states.shape[0]):
        state = states[i]
        learner = int(learners[i])
        write_view(state, rules[0], learner, games[i], views[i])
        episode = episodes[i]
        own_side = rules[0]["sides"][learner]
        episode["own_score"] = state["scores"][own_side]
        episode["other_score"] = state["scores"][1 - own_side]
        if before[i]["num_deals"] == state["num_deals"]:
            episode["own_start"] = before[i]["own_start"]
            episode["other_start"] = before[i]["other_start"]
        else:
            # Only heels can be scored in a deal before the learner's first decision, and only under
            # rules by which a starter is turned at once.
            episode["own_start"] = episode["own_score"]
            episode["other_start"] = episode["other_score"]
        episode["own_pegged"] = state["pegged"][learner]
        episode["other_pegged"] = state["pegged"][1 - learner]
        episode["own_deals"] = state["dealer"] == learner
        episode["num_deals"] = state["num_deals"]
        episode["ended"] = state["actor"] == NO_PLAYER
        num_ended += episode["ended"]
        if state["winner"] == NO_PLAYER:
            episode["result"] = 0
        else:
            episode["result"] = 1 if state["winner"] == own_side else -1
    return num_ended
