"""Bids for the crib: one from each player, the pone first, and what the crib then brings.

A bid must be higher than those before it; a bid of nothing passes. If nobody bids, the crib is the
dealer's, as in other games.
"""

from typing import Any

from cribai.engine.awards import award, left_of, write_event
from cribai.engine.jit import inlined, varied
from cribai.engine.state import DEALER_CRIB, MAKE_BID, MISS_BID, SHOW_CRIB
from cribai.rules import MAX_BID


@inlined
def highest_bid(record: Any) -> int:
    """Returns the highest bid so far in a STATE or VIEW record, 0 for none."""
    highest = 0
    for place in range(record["bids"].shape[0]):
        highest = max(highest, int(record["bids"][place]))
    return highest


@varied(absent=0)
def make_bid(state: Any, rules: Any, log: Any, number: int) -> None:
    """Takes the actor's bid; after the last bid the crib has its owner.

    Nobody is asked who could only pass.

    Args:
        state: STATE record in phase BID. Modified in place: `bids`, `crib_owner`, and `actor` when
            the others are not asked.
        rules: RULES record.
        log: LOG record.
        number: The bid, 0 to pass.
    """
    dealer = int(state["dealer"])
    player = int(state["actor"])
    state["bids"][player] = number
    write_event(log, MAKE_BID, player, 0, number)
    if number == MAX_BID and player != dealer:
        player = left_of(player, rules)
        state["bids"][player] = 0
        state["actor"] = player
    if player != dealer:
        return
    owner = dealer
    for other in range(rules["num_players"]):
        if state["bids"][other] > state["bids"][owner]:
            owner = other
    state["crib_owner"] = owner


@varied(absent=0)
def settle_bid(state: Any, rules: Any, log: Any, worth: int, starter: int) -> bool:
    """Scores the crib by the bid of its owner; returns whether the game ended.

    Args:
        state: STATE record at the end of the show. Modified in place: scores and tallies.
        rules: RULES record.
        log: LOG record.
        worth: What the crib scores.
        starter: For the log.
    """
    owner = int(state["crib_owner"])
    bid = max(int(state["bids"][owner]), 0)
    scorer = owner
    points = worth
    if bid > worth:
        write_event(log, MISS_BID, owner, 0, bid)
        if rules["missed_bid_gives"]:
            scorer = 1 - owner
        else:
            side = rules["sides"][owner]
            points = -min(bid, int(state["scores"][side]))
    elif not rules["bid_takes_whole"]:
        points = worth - bid
    state["points"][scorer, DEALER_CRIB] += points
    state["times"][scorer, DEALER_CRIB] += 1
    write_event(log, SHOW_CRIB, scorer, points, starter)
    return award(state, rules, log, scorer, points)
