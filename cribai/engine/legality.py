"""Which actions are legal, by what STATE and VIEW records have in common.

Under rules that are not varied only whole tosses and lays are decisions, and callers take short
cuts; `is_legal` holds for all rules.
"""

from typing import Any

from cribai.cards import NUM_RANKS
from cribai.engine.bidding import highest_bid
from cribai.engine.jit import inlined, is_varied, varied
from cribai.engine.parts import VALUES
from cribai.engine.state import ANNOUNCE, BID, CLAIM, DISCARD, DRAW, GIVE, PLAY
from cribai.rules import MAX_BID


@inlined
def num_bits(slots: int) -> int:
    """Returns the number of set bits; the compiler makes one instruction of it."""
    number = 0
    while slots:
        slots &= slots - 1
        number += 1
    return number


@inlined
def is_legal(record: Any, rules: Any, action: int) -> bool:
    """Tells whether the actor may take an action; no action is legal when none is due.

    Args:
        record: STATE record, or VIEW record of the actor.
        rules: RULES record.
        action: Any number.
    """
    if record["phase"] == DISCARD:
        if action < 0 or action >= rules["num_tosses"]:
            return False
        return not is_varied(rules) or bool(_is_within_hand(record, rules, action))
    if record["phase"] == PLAY:
        slot = action - rules["num_tosses"]
        if is_varied(rules) and rules["wild_kings"]:
            return _is_legal_lay(record, rules, slot)
        return 0 <= slot < rules["cards_kept"] and (int(record["playable"]) >> slot) & 1 == 1
    return bool(_is_legal_otherwise(record, rules, action))


@varied(absent=True)
def _is_within_hand(record: Any, rules: Any, toss: int) -> bool:
    return bool(rules["toss_slots"][toss, rules["cards_tossed"] - 1] < record["hand_size"])


@varied(absent=False)
def _is_legal_lay(record: Any, rules: Any, slot: int) -> bool:
    if slot < 0 or slot >= rules["throws_start"] - rules["num_tosses"]:
        return False
    kings = int(record["kings"])
    playable = int(record["playable"])
    if slot < rules["cards_kept"]:
        return ((playable & ~kings) >> slot) & 1 == 1
    slot -= rules["cards_kept"]
    room = rules["thirty_one"] - record["count"]
    king = (playable & kings) >> (slot // NUM_RANKS)
    return king & 1 == 1 and VALUES[slot % NUM_RANKS] <= room


@varied(absent=0)
def _is_legal_otherwise(record: Any, rules: Any, action: int) -> bool:
    phase = record["phase"]
    size = int(record["hand_size"])
    if phase == DRAW:
        return 0 <= action - rules["throws_start"] < (1 << size) - 1
    if phase == GIVE:
        return 0 <= action - rules["gifts_start"] < size
    if phase == BID:
        bid = action - rules["bids_start"]
        return action < rules["announcements_start"] and (bid == 0 or bid > highest_bid(record))
    if phase == ANNOUNCE:
        return 0 <= action - rules["announcements_start"] <= rules["most_shown"]
    if phase == CLAIM:
        most = rules["most_shown"] - record["announced"]
        return 0 <= action - rules["claims_start"] <= most
    return False


@varied(absent=0)
def _first_action(record: Any, rules: Any) -> int:
    """Returns the first action of the phase's range."""
    phase = record["phase"]
    if phase == PLAY:
        return int(rules["num_tosses"])
    if phase == DRAW:
        return int(rules["throws_start"])
    if phase == GIVE:
        return int(rules["gifts_start"])
    if phase == BID:
        return int(rules["bids_start"])
    if phase == ANNOUNCE:
        return int(rules["announcements_start"])
    if phase == CLAIM:
        return int(rules["claims_start"])
    return 0


@varied(absent=0)
def count_legal(record: Any, rules: Any) -> int:
    """Returns how many actions the actor may take; see `is_legal`."""
    phase = record["phase"]
    size = int(record["hand_size"])
    if phase == PLAY:
        kings = int(record["playable"] & record["kings"])
        ranks = int(rules["thirty_one"] - record["count"])
        if ranks >= VALUES[NUM_RANKS - 1]:
            ranks = NUM_RANKS
        return num_bits(int(record["playable"]) & ~kings) + ranks * num_bits(kings)
    if phase == DRAW:
        return (1 << size) - 1
    if phase == GIVE:
        return size
    if phase == BID:
        return 1 + MAX_BID - highest_bid(record)
    if phase == ANNOUNCE:
        return int(rules["most_shown"]) + 1
    if phase == CLAIM:
        return int(rules["most_shown"] - record["announced"]) + 1
    number = 0
    for action in range(rules["num_tosses"]):
        number += is_legal(record, rules, action)
    return number


@varied(absent=0)
def legal_action(record: Any, rules: Any, place: int) -> int:
    """Returns the legal action that so many smaller ones precede; see `is_legal`.

    Args:
        record: STATE record, or VIEW record of the actor, with a decision due.
        rules: RULES record.
        place: How many legal actions are smaller, below `count_legal`.
    """
    action = _first_action(record, rules)
    if record["phase"] == BID and place > 0:
        return action + highest_bid(record) + place
    if record["phase"] != DISCARD and record["phase"] != PLAY:
        return action + place
    while place > 0 or not is_legal(record, rules, action):
        place -= is_legal(record, rules, action)
        action += 1
    return action
