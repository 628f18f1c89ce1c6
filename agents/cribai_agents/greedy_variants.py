"""How `greedy` values cards under any rules, and what it decides apart from lays.

It throws away the cards without which its hand is worth as much, gives the card without which its
hand is worth most, bids half of what its crib is worth on average (all of it
where that costs nothing), announces and claims truly.
"""

from typing import Any, Final

from cribai.cards import NO_CARD
from cribai.engine.bidding import highest_bid
from cribai.engine.jit import inlined, is_varied, varied
from cribai.engine.scoring import show_points, show_with_starters
from cribai.engine.state import ANNOUNCE, BID, DISCARD, DRAW, GIVE, NO_PLAYER
from cribai.rules import MAX_BID

OTHERS_IN_CRIB: Final = 4
"""About what a crib is worth beside the points among one's own two cards."""

_NO_CARD: Final = NO_CARD


@varied(absent=0)
def _worth_under_starters(
    view: Any, rules: Any, scratch: Any, row: int, size: int, player: int, is_crib: bool
) -> int:
    num_known = 0
    for i in range(rules["num_starters"]):
        num_known += view["starters"][player, i] != _NO_CARD
    return show_with_starters(
        scratch, row, size, view["starters"], player, num_known, is_crib, rules
    )


@inlined
def best_toss(view: Any, rules: Any, scratch: Any, size: int, sign: int) -> int:
    """Returns the first of the tosses that leave most.

    Args:
        view: VIEW record in phase DISCARD, or before it.
        rules: RULES record.
        scratch: int64 array (2, MAX_CRIB). Modified in place.
        size: Cards in the hand.
        sign: 1 if the crib is the viewer's own, else -1.
    """
    aim = -1 if rules["lowball"] else 1
    num_tossed = rules["cards_tossed"]
    best = 0
    most = -1000
    for action in range(rules["num_tosses"]):
        if is_varied(rules) and rules["toss_slots"][action, num_tossed - 1] >= size:
            continue
        kept = 0
        tossed = 0
        for i in range(size):
            if tossed < num_tossed and rules["toss_slots"][action, tossed] == i:
                scratch[1, tossed] = view["hand"][i]
                tossed += 1
            else:
                scratch[0, kept] = view["hand"][i]
                kept += 1
        if is_varied(rules):
            points = _worth_under_starters(view, rules, scratch, 0, kept, 0, False)
            points += sign * _worth_under_starters(view, rules, scratch, 1, tossed, 0, True)
        else:
            points = show_points(scratch, 0, kept, _NO_CARD, False, rules)
            points += sign * show_points(scratch, 1, tossed, _NO_CARD, True, rules)
        if aim * points > most:
            most = aim * points
            best = action
    return best


@varied(absent=0)
def decide_otherwise(view: Any, rules: Any, scratch: Any) -> int:
    """Returns the action under varied rules, lays apart.

    Args:
        view: VIEW record.
        rules: RULES record.
        scratch: int64 array (2, MAX_CRIB). Modified in place.
    """
    if view["phase"] == DISCARD:
        size = int(view["hand_size"])
        owns = size == rules["cards_dealt"] if rules["two_cribs"] else view["crib_owner"] == 0
        return best_toss(view, rules, scratch, size, 1 if owns else -1)
    if view["phase"] == DRAW:
        return rules["throws_start"] + _useless(view, rules, scratch)
    if view["phase"] == GIVE:
        return rules["gifts_start"] + _best_gift(view, rules, scratch)
    if view["phase"] == BID:
        bid = _fair_bid(view, rules, scratch)
        return rules["bids_start"] + (bid if bid > highest_bid(view) else 0)
    worth = shown_worth(view, rules, scratch)
    if view["phase"] == ANNOUNCE:
        return rules["announcements_start"] + worth
    return rules["claims_start"] + worth - view["announced"]


@inlined
def _worth_without(view: Any, rules: Any, scratch: Any, slot: int) -> int:
    """Returns what the hand is worth without one card; with all for a slot beyond it."""
    kept = 0
    for i in range(view["hand_size"]):
        if i != slot:
            scratch[0, kept] = view["hand"][i]
            kept += 1
    return int(_worth_under_starters(view, rules, scratch, 0, kept, 0, False))


@inlined
def _useless(view: Any, rules: Any, scratch: Any) -> int:
    """Returns a bit for each card without which the hand is worth no less; never for all.

    In lowball for each card without which it is worth less: what is worth nothing is kept.
    """
    size = int(view["hand_size"])
    whole = _worth_without(view, rules, scratch, size)
    cards = 0
    for slot in range(size):
        is_worth = _worth_without(view, rules, scratch, slot) < whole
        if is_worth == bool(rules["lowball"]):
            cards |= 1 << slot
    # One stays: the lowest, which fits most counts.
    return cards if cards != (1 << size) - 1 else cards - 1


@inlined
def _best_gift(view: Any, rules: Any, scratch: Any) -> int:
    """Returns the slot of the highest card without which the hand is worth most."""
    aim = -1 if rules["lowball"] else 1
    best = 0
    most = -1000
    for slot in range(view["hand_size"]):
        points = aim * _worth_without(view, rules, scratch, slot)
        if points >= most:
            most = points
            best = slot
    return best


@inlined
def _fair_bid(view: Any, rules: Any, scratch: Any) -> int:
    toss = best_toss(view, rules, scratch, int(rules["cards_dealt"]), 1)
    num_tossed = int(rules["cards_tossed"])
    for i in range(num_tossed):
        scratch[1, i] = view["hand"][rules["toss_slots"][toss, i]]
    tossed = _worth_under_starters(view, rules, scratch, 1, num_tossed, 0, True)
    points = OTHERS_IN_CRIB + tossed
    return min(points if rules["bid_takes_whole"] else points // 2, MAX_BID)


@varied(absent=0)
def shown_worth(view: Any, rules: Any, scratch: Any) -> int:
    """Returns what the cards that are being counted are worth.

    Args:
        view: VIEW record in phase ANNOUNCE or CLAIM.
        rules: RULES record.
        scratch: int64 array (2, MAX_CRIB). Modified in place.
    """
    player = int(view["shown_player"])
    is_crib = view["shown_is_crib"] == 1
    if player == NO_PLAYER:
        return 0
    if is_crib and rules["two_cribs"] == 0:
        player = int(view["dealer"])
    size = 0
    for i in range(view["shown"].shape[0]):
        if view["shown"][i] != _NO_CARD:
            scratch[0, size] = view["shown"][i]
            size += 1
    return int(_worth_under_starters(view, rules, scratch, 0, size, player, is_crib))
