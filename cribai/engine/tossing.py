"""What players do with their hands before the play: toss, throw away and draw, give.

Each function takes the actor's decision and changes his hand alone; whose turn is next, and in
which phase, is for `transitions`.
"""

from typing import Any, Final

from cribai.cards import NO_CARD
from cribai.engine.awards import write_event
from cribai.engine.jit import inlined, is_varied, varied
from cribai.engine.state import GIVE_CARD, THROW, TOSS

_NO_CARD: Final = NO_CARD


@varied(absent=0)
def _shrink_hand(state: Any, rules: Any) -> None:
    state["hand_size"] -= rules["cards_tossed"]


@inlined
def toss(state: Any, rules: Any, log: Any, action: int) -> bool:
    """Tosses the cards of a discard action to a crib: the one, or first his own, then the other's.

    Args:
        state: STATE record in phase DISCARD. Modified in place.
        rules: RULES record.
        log: LOG record.
        action: Number of the toss in lexicographic order of the hand's places.

    Returns:
        Whether that was the actor's last toss.
    """
    player = int(state["actor"])
    hand = state["hands"][player]
    slots = rules["toss_slots"][action]
    num_tossed = rules["cards_tossed"]
    is_first = is_varied(rules) and rules["two_cribs"] and state["tosses"][player, 0] == _NO_CARD
    is_second = is_varied(rules) and rules["two_cribs"] and not is_first
    row = 0
    if is_varied(rules) and rules["two_cribs"]:
        row = player if is_first else 1 - player
    before = num_tossed if is_second else 0
    _shrink_hand(state, rules)
    kept = 0
    tossed = 0
    for i in range(rules["cards_dealt"]):
        card = hand[i]
        if tossed < num_tossed and slots[tossed] == i:
            state["tosses"][player, before + tossed] = card
            state["crib"][row, state["num_crib"][row]] = card
            state["num_crib"][row] += 1
            tossed += 1
        else:
            hand[kept] = card
            kept += 1
    for i in range(kept, rules["cards_dealt"]):
        hand[i] = _NO_CARD
    write_event(log, TOSS, player, 0, action)
    return not is_first


@varied(absent=0)
def throw(state: Any, rules: Any, log: Any, cards: int) -> None:
    """Throws away cards of the actor's hand and draws as many new ones.

    Args:
        state: STATE record in phase DRAW. Modified in place.
        rules: RULES record.
        log: LOG record.
        cards: Bit i: the i-th card of the hand goes; never all of them.
    """
    player = int(state["actor"])
    size = int(state["hand_size"])
    num_thrown = int(state["num_thrown"][player])
    next_card = int(rules["cards_needed"] - rules["num_stock"])
    for other in range(rules["num_players"]):
        next_card += state["num_thrown"][other]
    write_event(log, THROW, player, 0, cards)
    kept = 0
    for i in range(size):
        card = state["hands"][player, i]
        if (cards >> i) & 1:
            state["thrown"][player, num_thrown] = card
            num_thrown += 1
        else:
            state["hands"][player, kept] = card
            kept += 1
    for held in range(kept, size):
        drawn = state["deck"][next_card]
        next_card += 1
        place = held
        while place > 0 and state["hands"][player, place - 1] > drawn:
            state["hands"][player, place] = state["hands"][player, place - 1]
            place -= 1
        state["hands"][player, place] = drawn
    state["num_thrown"][player] = num_thrown


@varied(absent=0)
def give(state: Any, rules: Any, log: Any, slot: int) -> None:
    """Gives a card of the actor's hand, face down, to his opponent.

    Args:
        state: STATE record in phase GIVE. Modified in place.
        rules: RULES record.
        log: LOG record.
        slot: Place of the card in the hand.
    """
    player = int(state["actor"])
    card = state["hands"][player, slot]
    state["given"][player] = card
    kept = int(rules["cards_kept"])
    for i in range(slot, kept):
        state["hands"][player, i] = state["hands"][player, i + 1]
    state["hands"][player, kept] = _NO_CARD
    write_event(log, GIVE_CARD, player, 0, card)
