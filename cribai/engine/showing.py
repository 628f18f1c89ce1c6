"""The show: hands from the dealer's left, then the crib or both cribs; and muggins.

With muggins each count is two decisions: its owner announces points, his opponent claims what was
missed. An announcement above the truth is corrected; a claim of more than was missed gets nothing.
"""

from typing import Any

from cribai.engine.awards import award, end_game, left_of, write_event
from cribai.engine.bidding import settle_bid
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import show_points, show_with_starters
from cribai.engine.state import (
    ANNOUNCE,
    ANNOUNCE_POINTS,
    CLAIM,
    CLAIM_POINTS,
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


@kernel
def varied_hand_points(state: Any, rules: Any, player: int) -> int:
    """Returns what a player's hand shows under rules that are varied."""
    kept = int(rules["cards_kept"])
    if rules["num_starters"] > 1 or rules["wild_kings"]:
        return show_with_starters(
            state["hands"],
            player,
            kept,
            state["starters"],
            player,
            int(rules["num_starters"]),
            False,
            rules,
        )
    starter = int(state["starters"][player, 0])
    return show_points(state["hands"], player, kept, starter, False, rules)


@kernel
def varied_crib_points(state: Any, rules: Any, row: int) -> int:
    """Returns what a crib shows under rules that are varied; a given starter is its owner's."""
    owner = row if rules["two_cribs"] else int(state["dealer"])
    size = int(state["num_crib"][row])
    if rules["num_starters"] > 1 or rules["wild_kings"]:
        return show_with_starters(
            state["crib"],
            row,
            size,
            state["starters"],
            owner,
            int(rules["num_starters"]),
            True,
            rules,
        )
    return show_points(state["crib"], row, size, int(state["starters"][owner, 0]), True, rules)


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
    is_varied = rules["is_varied"]
    player = dealer
    for _ in range(num_players):
        player += 1
        if player == num_players:
            player = 0
        if is_varied:
            points = varied_hand_points(state, rules, player)
        else:
            points = show_points(state["hands"], player, rules["cards_kept"], starter, False, rules)
        source = DEALER_HAND if player == dealer else PONE_HAND
        state["points"][player, source] += points
        state["times"][player, source] += 1
        write_event(log, SHOW_HAND, player, points, starter)
        if award(state, rules, log, player, points):
            return True
    if is_varied:
        return _show_varied_cribs(state, rules, log)
    points = show_points(state["crib"], 0, int(state["num_crib"][0]), starter, True, rules)
    state["points"][dealer, DEALER_CRIB] += points
    state["times"][dealer, DEALER_CRIB] += 1
    write_event(log, SHOW_CRIB, dealer, points, starter)
    return award(state, rules, log, dealer, points)


@kernel
def _show_varied_cribs(state: Any, rules: Any, log: Any) -> bool:
    dealer = int(state["dealer"])
    starter = int(state["starter"])
    if rules["bid"]:
        return settle_bid(state, rules, log, varied_crib_points(state, rules, 0), starter)
    player = dealer
    for _ in range(rules["num_cribs"]):
        # The last of the cribs is the dealer's, as the only one is.
        if rules["two_cribs"]:
            player = left_of(player, rules)
        points = varied_crib_points(state, rules, player if rules["two_cribs"] else 0)
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
    if rules["muggins"]:
        state["show_step"] = -1
        state["playable"] = 0
        ask_next_count(state, rules, log)
    elif not show(state, rules, log):
        end_deal(state, rules, log)


@inlined
def end_deal(state: Any, rules: Any, log: Any) -> None:
    """Makes the next deal due, or ends a game in which the deal was played to its end.

    Args:
        state: STATE record after the show. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    if rules["two_cribs"] and _settle_game(state, rules, log):
        return
    dealer = state["dealer"] + 1
    state["dealer"] = dealer if dealer < rules["num_players"] else 0
    state["actor"] = NO_PLAYER
    state["playable"] = 0
    state["phase"] = DEAL


@inlined
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


@inlined
def counted_crib(state: Any, rules: Any) -> int:
    """Returns the row of the crib that is being counted, or -1 while hands are."""
    step = int(state["show_step"]) - 2
    if step < 0:
        return -1
    if rules["two_cribs"]:
        return int(state["dealer"]) if step == 1 else 1 - int(state["dealer"])
    return 0


@inlined
def counting_player(state: Any, rules: Any) -> int:
    """Returns whose hand or crib is being counted, of two players."""
    dealer = int(state["dealer"])
    step = int(state["show_step"])
    if step == 0 or (step == 2 and rules["two_cribs"]):
        return 1 - dealer
    return dealer


@kernel
def counted_worth(state: Any, rules: Any) -> int:
    """Returns what the hand or crib that is being counted is worth."""
    row = counted_crib(state, rules)
    if row >= 0:
        return varied_crib_points(state, rules, row)
    return varied_hand_points(state, rules, counting_player(state, rules))


@kernel
def ask_next_count(state: Any, rules: Any, log: Any) -> None:
    """Makes the next announcement due, or ends the deal after the last.

    Args:
        state: STATE record in the show. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    state["announced"] = 0
    state["show_step"] += 1
    if state["show_step"] == 2 + rules["num_cribs"]:
        state["show_step"] = -1
        end_deal(state, rules, log)
        return
    state["phase"] = ANNOUNCE
    state["actor"] = counting_player(state, rules)


@kernel
def announce(state: Any, rules: Any, log: Any, number: int) -> None:
    """Scores what the actor announces, at most the truth, and asks his opponent for a claim.

    Nobody is asked after a correction, when nothing can be missed.

    Args:
        state: STATE record in phase ANNOUNCE. Modified in place.
        rules: RULES record.
        log: LOG record.
        number: The points announced.
    """
    player = int(state["actor"])
    is_crib = counted_crib(state, rules) >= 0
    points = min(number, counted_worth(state, rules))
    source = DEALER_HAND if player == state["dealer"] else PONE_HAND
    if is_crib:
        source = DEALER_CRIB
    state["announced"] = points
    state["points"][player, source] += points
    state["times"][player, source] += 1
    write_event(log, ANNOUNCE_POINTS, player, 0, number)
    kind = SHOW_CRIB if is_crib else SHOW_HAND
    write_event(log, kind, player, points, int(state["starter"]))
    if award(state, rules, log, player, points):
        return
    if number > points or points == rules["most_shown"]:
        ask_next_count(state, rules, log)
        return
    state["phase"] = CLAIM
    state["actor"] = left_of(player, rules)


@kernel
def claim(state: Any, rules: Any, log: Any, number: int) -> None:
    """Scores what the actor claims if so much was missed, and goes on with the show.

    Args:
        state: STATE record in phase CLAIM. Modified in place.
        rules: RULES record.
        log: LOG record.
        number: The points claimed.
    """
    player = int(state["actor"])
    missed = counted_worth(state, rules) - int(state["announced"])
    points = number if number <= missed else 0
    source = DEALER_HAND if player == state["dealer"] else PONE_HAND
    state["points"][player, source] += points
    write_event(log, CLAIM_POINTS, player, points, number)
    if award(state, rules, log, player, points):
        return
    ask_next_count(state, rules, log)
