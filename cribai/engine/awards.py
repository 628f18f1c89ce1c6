"""Points and the end of the game: what every step that scores has in common.

Source of the rules: the American Cribbage Congress; of who wins under other rules, docs/rules.md.
"""

from typing import Any

from cribai.engine.jit import inlined
from cribai.engine.state import (
    EVENT_DETAIL,
    EVENT_KIND,
    EVENT_PLAYER,
    EVENT_POINTS,
    MAX_EVENTS,
    NO_PLAYER,
    OVER,
    WIN,
)


@inlined
def write_event(log: Any, kind: int, player: int, points: int, detail: int) -> None:
    """Appends an event to an enabled log.

    Args:
        log: LOG record. Modified in place.
        kind: One of the kinds of events.
        player: Whom it concerns.
        points: Points it scored.
        detail: A card, a count or another number, as the kind has it.
    """
    if log["enabled"]:
        place = log["num_events"]
        if place < MAX_EVENTS:
            log["events"][place, EVENT_KIND] = kind
            log["events"][place, EVENT_PLAYER] = player
            log["events"][place, EVENT_POINTS] = points
            log["events"][place, EVENT_DETAIL] = detail
            log["num_events"] = place + 1


@inlined
def score(state: Any, rules: Any, player: int, points: int) -> bool:
    """Adds points to a player's side and ends the game at the target; returns whether it ended.

    Args:
        state: STATE record. Modified in place: `scores`, and at the end `phase`, `winner`, `actor`
            and `playable`. A score passes the target only where the deal is played to its end.
        rules: RULES record.
        player: Who scored.
        points: How many.
    """
    side = rules["sides"][player]
    total = state["scores"][side] + points
    if total < rules["target"]:
        state["scores"][side] = total
        return False
    if rules["two_cribs"]:
        state["scores"][side] = total
        return False
    state["scores"][side] = rules["target"]
    end_game(state, 1 - side if rules["lowball"] else side)
    return True


@inlined
def award(state: Any, rules: Any, log: Any, player: int, points: int) -> bool:
    """Does what `score` does and notes the win in the log.

    Args:
        state: STATE record. Modified in place.
        rules: RULES record.
        log: LOG record. Modified in place when enabled.
        player: Who scored.
        points: How many.
    """
    if score(state, rules, player, points):
        # In lowball others win: the next player, who is an opponent in partnerships too.
        winner = left_of(player, rules) if rules["lowball"] else player
        write_event(log, WIN, winner, 0, int(state["winner"]))
        return True
    return False


@inlined
def end_game(state: Any, side: int) -> None:
    """Ends the game as it stands, won by a side.

    Args:
        state: STATE record. Modified in place: `phase`, `winner`, `actor` and `playable`.
        side: The side, or NO_PLAYER for a tie.
    """
    state["phase"] = OVER
    state["winner"] = side
    state["actor"] = NO_PLAYER
    state["playable"] = 0


@inlined
def left_of(player: int, rules: Any) -> int:
    """Returns the player on a player's left."""
    player += 1
    return player if player < rules["num_players"] else 0
