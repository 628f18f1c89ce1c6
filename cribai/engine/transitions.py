"""From one decision to the next: `advance` takes an action and says whose turn it is then.

What the decisions do is in `tossing`, `bidding`, `playing` and `showing`; the order of the phases
is in `order`.
"""

from typing import Any, Final

from cribai.cards import NO_CARD, NUM_RANKS
from cribai.engine.awards import left_of
from cribai.engine.bidding import make_bid
from cribai.engine.jit import inlined, is_varied, varied
from cribai.engine.muggins import announce, ask_next_count, claim
from cribai.engine.order import next_phase
from cribai.engine.playing import begin_series, lay
from cribai.engine.showing import end_deal, finish_deal
from cribai.engine.starters import turn_given, turn_starter
from cribai.engine.state import ANNOUNCE, BID, CLAIM, DISCARD, DRAW, PLAY
from cribai.engine.tossing import give, throw, toss

_NO_CARD: Final = NO_CARD


@inlined
def begin_play(state: Any, rules: Any, log: Any) -> None:
    """Turns the starter and, unless heels ended the game, begins the play.

    Args:
        state: STATE record after the last decision before the play. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    if is_varied(rules) and rules["chosen_starter"]:
        turn_given(state, rules, log)
    elif turn_starter(state, rules, log):
        return
    state["phase"] = PLAY
    state["last_player"] = state["dealer"]
    begin_series(state, rules)


@inlined
def pass_on(state: Any, rules: Any, log: Any) -> None:
    """Passes a phase before the play to the next player, or goes on to the next phase.

    Args:
        state: STATE record whose actor has decided. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    player = int(state["actor"])
    if player == state["dealer"]:
        is_tossed = state["tosses"][player, 0] != _NO_CARD
        phase = next_phase(state["phase"], is_tossed, rules)
        if phase == PLAY:
            begin_play(state, rules, log)
            return
        state["phase"] = phase
    state["actor"] = left_of(player, rules)
    _measure_hand(state, rules)


@varied(absent=0)
def _measure_hand(state: Any, rules: Any) -> None:
    is_tossed = state["tosses"][state["actor"], 0] != _NO_CARD
    size = rules["cards_kept"] + rules["num_given"]
    state["hand_size"] = size if is_tossed else rules["cards_dealt"]


@varied(absent=0)
def _prepare(state: Any, rules: Any, log: Any, action: int) -> None:
    if state["phase"] == DRAW:
        throw(state, rules, log, action - rules["throws_start"])
    elif state["phase"] == BID:
        make_bid(state, rules, log, action - rules["bids_start"])
    else:
        give(state, rules, log, action - rules["gifts_start"])


@varied(absent=0)
def _count(state: Any, rules: Any, log: Any, action: int) -> None:
    if state["phase"] == ANNOUNCE:
        is_counted = announce(state, rules, log, action - rules["announcements_start"])
    else:
        is_counted = claim(state, rules, log, action - rules["claims_start"])
    if is_counted and ask_next_count(state, rules):
        end_deal(state, rules, log)


@inlined
def advance(state: Any, rules: Any, log: Any, action: int) -> None:
    """Takes the actor's action and carries the game to the next decision, a due deal, or the end.

    Unchecked: the action must be legal.

    Args:
        state: STATE record with a decision due. Modified in place.
        rules: RULES record.
        log: LOG record. Modified in place when enabled.
        action: The action.
    """
    state["num_decisions"] += 1
    if state["phase"] == DISCARD:
        if toss(state, rules, log, action):
            pass_on(state, rules, log)
    elif state["phase"] == PLAY:
        slot = action - rules["num_tosses"]
        rank = -1
        if is_varied(rules) and slot >= rules["cards_kept"]:
            rank = (slot - rules["cards_kept"]) % NUM_RANKS
            slot = (slot - rules["cards_kept"]) // NUM_RANKS
        if lay(state, rules, log, slot, rank):
            finish_deal(state, rules, log)
    elif is_varied(rules):
        if state["phase"] == ANNOUNCE or state["phase"] == CLAIM:
            _count(state, rules, log, action)
        else:
            _prepare(state, rules, log, action)
            pass_on(state, rules, log)
