"""What the hands and cribs of a deal are worth under varied rules, all counted in one place.

The scorer of starters and wild kings is large: called from here alone, it is compiled once.
"""

from typing import Any, Final

from cribai.cards import NO_CARD
from cribai.engine.awards import left_of
from cribai.engine.jit import inlined, varied
from cribai.engine.scoring import show_with_starters

_NO_CARD: Final = NO_CARD


@inlined
def counted_crib(state: Any, rules: Any) -> int:
    """Returns the row of the crib that is being counted, or -1 while hands are."""
    crib = int(state["show_step"] - rules["num_players"])
    if crib < 0:
        return -1
    if rules["two_cribs"]:
        return int(state["dealer"]) if crib == 1 else 1 - int(state["dealer"])
    return 0


@inlined
def counting_player(state: Any, rules: Any) -> int:
    """Returns whose hand or crib is being counted."""
    row = counted_crib(state, rules)
    if row >= 0:
        return row if rules["two_cribs"] else int(state["crib_owner"])
    player = int(state["dealer"])
    for _ in range(state["show_step"] + 1):
        player = left_of(player, rules)
    return player


@inlined
def put_shown(state: Any, rules: Any) -> int:
    """Puts the cards that are counted in the present step of the show in `shown`.

    Args:
        state: STATE record. Modified in place: `shown`.
        rules: RULES record.

    Returns:
        How many they are.
    """
    row = counted_crib(state, rules)
    player = counting_player(state, rules)
    size = int(state["num_crib"][row]) if row >= 0 else int(rules["cards_kept"])
    for i in range(state["shown"].shape[1]):
        card = _NO_CARD
        if i < size:
            card = int(state["crib"][row, i]) if row >= 0 else int(state["hands"][player, i])
        state["shown"][0, i] = card
    return size


@varied(absent=0)
def count_all(state: Any, rules: Any) -> None:
    """Counts every hand and crib of a deal.

    Args:
        state: STATE record after the play. Modified in place: `worths`, `shown`, `show_step`.
        rules: RULES record.
    """
    num_players = int(rules["num_players"])
    for step in range(num_players + rules["num_cribs"]):
        state["show_step"] = step
        size = put_shown(state, rules)
        row = counted_crib(state, rules)
        # A given starter counts in its owner's hand; the dealer's in the only crib too.
        owner = counting_player(state, rules)
        if row >= 0 and rules["two_cribs"] == 0:
            owner = int(state["dealer"])
        state["worths"][step] = show_with_starters(
            state["shown"],
            0,
            size,
            state["starters"],
            owner,
            int(rules["num_starters"]),
            row >= 0,
            rules,
        )
    state["show_step"] = -1
