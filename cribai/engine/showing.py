"""The show: hands from the dealer's left, then the crib or both cribs; and the end of a deal."""

from typing import Any

from cribai.engine.awards import award, end_game, left_of, write_event
from cribai.engine.bidding import settle_bid
from cribai.engine.jit import inlined, is_varied, varied
from cribai.engine.muggins import ask_next_count
from cribai.engine.scoring import show_points
from cribai.engine.state import (
    DEAL,
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_PEGGING,
    NO_PLAYER,
    PONE_HAND,
    PONE_PEGGING,
    SHOW_CRIB,
    SHOW_HAND,
    TIE,
    WIN,
)
from cribai.engine.worths import count_all


@inlined
def show(state: Any, rules: Any, log: Any) -> bool:
    """Counts the hands from the dealer's left, then the cribs; returns whether the game ended.

    Args:
        state: STATE record. Modified in place: the scores and tallies, as far as the show gets.
        rules: RULES record.
        log: LOG record.
    """
    starter = int(state["starter"])
    dealer = int(state["dealer"])
    num_players = rules["num_players"]
    player = dealer
    for step in range(num_players):
        player += 1
        if player == num_players:
            player = 0
        if is_varied(rules):
            points = _worth(state, rules, step)
        else:
            points = show_points(state["hands"], player, rules["cards_kept"], starter, False, rules)
        source = DEALER_HAND if player == dealer else PONE_HAND
        state["points"][player, source] += points
        state["times"][player, source] += 1
        write_event(log, SHOW_HAND, player, points, starter)
        if award(state, rules, log, player, points):
            return True
    if is_varied(rules):
        return bool(_show_varied_cribs(state, rules, log))
    points = show_points(state["crib"], 0, int(state["num_crib"][0]), starter, True, rules)
    state["points"][dealer, DEALER_CRIB] += points
    state["times"][dealer, DEALER_CRIB] += 1
    write_event(log, SHOW_CRIB, dealer, points, starter)
    return award(state, rules, log, dealer, points)


@varied(absent=0)
def _worth(state: Any, rules: Any, step: int) -> int:  # noqa: ARG001
    return int(state["worths"][step])


@varied(absent=False)
def _show_varied_cribs(state: Any, rules: Any, log: Any) -> bool:
    starter = int(state["starter"])
    num_players = int(rules["num_players"])
    if rules["bid"]:
        return bool(settle_bid(state, rules, log, int(state["worths"][num_players]), starter))
    player = int(state["dealer"])
    for crib in range(rules["num_cribs"]):
        # The last of the cribs is the dealer's, as the only one is.
        if rules["two_cribs"]:
            player = left_of(player, rules)
        points = int(state["worths"][num_players + crib])
        state["points"][player, DEALER_CRIB] += points
        state["times"][player, DEALER_CRIB] += 1
        write_event(log, SHOW_CRIB, player, points, starter)
        if award(state, rules, log, player, points):
            return True
    return False


@inlined
def finish_deal(state: Any, rules: Any, log: Any) -> None:
    """Tallies the pegging, shows the hands and, unless the game ended, makes the next deal due.

    With muggins the first announcement becomes due instead.

    Args:
        state: STATE record. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    for player in range(rules["num_players"]):
        source = DEALER_PEGGING if player == state["dealer"] else PONE_PEGGING
        state["points"][player, source] += state["pegged"][player]
        state["times"][player, source] += 1
    if is_varied(rules):
        count_all(state, rules)
        if rules["muggins"]:
            ask_next_count(state, rules)
            return
    if not show(state, rules, log):
        end_deal(state, rules, log)


@inlined
def end_deal(state: Any, rules: Any, log: Any) -> None:
    """Makes the next deal due, or ends a game in which the deal was played to its end.

    Args:
        state: STATE record after the show. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    if is_varied(rules) and _settle_game(state, rules, log):
        return
    dealer = state["dealer"] + 1
    state["dealer"] = dealer if dealer < rules["num_players"] else 0
    state["actor"] = NO_PLAYER
    state["playable"] = 0
    state["phase"] = DEAL


@varied(absent=False)
def _settle_game(state: Any, rules: Any, log: Any) -> bool:
    first = int(state["scores"][0])
    second = int(state["scores"][1])
    if max(first, second) < rules["target"]:
        return False
    if first == second:
        end_game(state, NO_PLAYER)
        write_event(log, TIE, NO_PLAYER, 0, first)
        return True
    winner = 0 if (first > second) != bool(rules["lowball"]) else 1
    end_game(state, winner)
    write_event(log, WIN, winner, 0, winner)
    return True
