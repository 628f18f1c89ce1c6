"""Starters: turned from the deck, one or two, or given by the opponent; and heels."""

from typing import Any, Final

from cribai.cards import JACK, NO_CARD
from cribai.engine.awards import award, score, write_event
from cribai.engine.jit import inlined, varied
from cribai.engine.state import DEALER_HEELS, HEELS, TURN_STARTER

HEELS_POINTS: Final = 2

_JACK: Final = JACK
_NO_CARD: Final = NO_CARD


@varied(absent=0)
def turn_first(state: Any, rules: Any) -> None:
    """Turns the first of two starters, before the toss, and scores heels.

    Args:
        state: STATE record just dealt. Modified in place; heels may end the game.
        rules: RULES record.
    """
    dealer = int(state["dealer"])
    starter = int(state["deck"][_place(rules)])
    state["starter"] = starter
    state["times"][dealer, DEALER_HEELS] += 1
    _share(state, rules, starter, 0)
    if (starter >> 2) == _JACK:
        state["points"][dealer, DEALER_HEELS] += HEELS_POINTS
        score(state, rules, dealer, HEELS_POINTS)


@inlined
def turn_starter(state: Any, rules: Any, log: Any) -> bool:
    """Turns the starter, or the last of two, and scores heels; returns whether they ended the game.

    Args:
        state: STATE record after the last toss. Modified in place.
        rules: RULES record.
        log: LOG record. Modified in place when enabled.
    """
    dealer = int(state["dealer"])
    last = rules["num_turned"] - 1
    starter = int(state["deck"][_place(rules) + last])
    state["starter"] = starter
    state["times"][dealer, DEALER_HEELS] += last == 0  # once a deal, with the first starter
    _share(state, rules, starter, last)
    write_event(log, TURN_STARTER, dealer, 0, starter)
    if (starter >> 2) == _JACK:
        state["points"][dealer, DEALER_HEELS] += HEELS_POINTS
        write_event(log, HEELS, dealer, HEELS_POINTS, starter)
        return award(state, rules, log, dealer, HEELS_POINTS)
    return False


@varied(absent=0)
def turn_given(state: Any, rules: Any, log: Any) -> None:
    """Turns over the cards that two players gave each other; the dealer's serves the crib too.

    A given jack is no heels: nobody turned it up by chance.

    Args:
        state: STATE record after the last gift. Modified in place.
        rules: RULES record.
        log: LOG record. Modified in place when enabled.
    """
    dealer = int(state["dealer"])
    for place in range(rules["num_players"]):
        player = 1 - dealer if place == 0 else dealer
        starter = int(state["given"][1 - player])
        state["starters"][player, 0] = starter
        write_event(log, TURN_STARTER, player, 0, starter)
    state["starter"] = state["starters"][dealer, 0]


@varied(absent=0)
def _share(state: Any, rules: Any, starter: int, place: int) -> None:
    for player in range(rules["num_players"]):
        state["starters"][player, place] = starter


@inlined
def _place(rules: Any) -> int:
    return int(rules["cards_needed"] - rules["num_stock"] - rules["num_turned"])
