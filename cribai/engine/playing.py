"""The play: whose turn it is, which cards may be laid, what a laid card scores, go and last card.

A go is never an action: who cannot lay a card is passed over. Source of the rules: the American
Cribbage Congress; for three and four players, the same in order from the dealer's left.
"""

from typing import Any, Final

from cribai.cards import KING
from cribai.engine.awards import award, write_event
from cribai.engine.jit import inlined, varied
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points
from cribai.engine.state import GO, GO_POINT, LAST_CARD, LAY, NAMED

USUAL_KEPT: Final = 4
"""The loops over kept cards have so many steps known to the compiler, which unrolls them."""

_KING: Final = KING
_NAMED: Final = NAMED


@inlined
def playable_slots(state: Any, rules: Any, player: int, room: int) -> int:
    """Returns a bit for each kept card of a player that is not laid and can count at most room."""
    kept = rules["cards_kept"]
    slots = 0
    # Four places, as most games have, without a loop; what lies beyond the hand is masked.
    for i in range(USUAL_KEPT):
        slots |= (rules["least_values"][state["hands"][player, i] >> 2] <= room) << i
    if kept > USUAL_KEPT:
        for i in range(USUAL_KEPT, kept):
            slots |= (rules["least_values"][state["hands"][player, i] >> 2] <= room) << i
    return slots & ((1 << kept) - 1) & ~int(state["played"][player])


@inlined
def _give_turn(state: Any, rules: Any, player: int, slots: int) -> None:
    state["actor"] = player
    state["playable"] = slots
    _note_kings(state, rules, player)


@varied(absent=0)
def _note_kings(state: Any, rules: Any, player: int) -> None:
    kings = 0
    if rules["wild_kings"]:
        for i in range(rules["cards_kept"]):
            kings |= (state["hands"][player, i] >> 2 == _KING) << i
    state["kings"] = kings


@varied(absent=0)
def _note_rank(state: Any, rules: Any, place: int, rank: int) -> None:  # noqa: ARG001
    state["play_ranks"][place] = rank


@inlined
def find_next_to_lay(state: Any, rules: Any, log: Any) -> bool:
    """Passes the turn to the next player who can lay a card in this series; tells whether one can.

    Args:
        state: STATE record. Modified in place: `actor` and `playable` when someone can, `go_counts`
            and `said_go` of those who hold cards and cannot.
        rules: RULES record.
        log: LOG record.
    """
    count = int(state["count"])
    room = rules["thirty_one"] - count
    num_players = rules["num_players"]
    player = int(state["last_player"])
    for _ in range(num_players):
        player += 1
        if player == num_players:
            player = 0
        if state["num_left"][player] == 0:
            continue
        slots = playable_slots(state, rules, player, room)
        if slots != 0:
            _give_turn(state, rules, player, slots)
            return True
        if count < state["go_counts"][player]:
            state["go_counts"][player] = count
        if player != state["last_player"] and (state["said_go"] >> player) & 1 == 0:
            state["said_go"] |= 1 << player
            write_event(log, GO, player, 0, count)
    return False


@inlined
def begin_series(state: Any, rules: Any) -> bool:
    """Begins a series with the next player who holds cards; tells whether anyone does.

    Args:
        state: STATE record. Modified in place: `count`, `series`, `series_length`, `said_go`,
            `actor`, `playable`.
        rules: RULES record.
    """
    state["count"] = 0
    state["series"] = 0
    state["series_length"] = 0
    state["said_go"] = 0
    num_players = rules["num_players"]
    player = int(state["last_player"])
    for _ in range(num_players):
        player += 1
        if player == num_players:
            player = 0
        if state["num_left"][player] > 0:
            slots = playable_slots(state, rules, player, rules["thirty_one"])
            _give_turn(state, rules, player, slots)
            return True
    return False


@inlined
def lay(state: Any, rules: Any, log: Any, slot: int, king_rank: int) -> bool:
    """Lays the actor's kept card in a slot, scores it, and finds whose turn is next.

    Args:
        state: STATE record in phase PLAY. Modified in place.
        rules: RULES record.
        log: LOG record.
        slot: Place of the card among the kept ones; it must be playable.
        king_rank: The rank that the card, a king, is laid as; negative for its own.

    Returns:
        Whether all cards are laid and the game goes on.
    """
    player = int(state["actor"])
    card = int(state["hands"][player, slot])
    laid = card if king_rank < 0 else 4 * king_rank
    place = int(state["num_plays"])
    state["play_cards"][place] = card
    state["play_players"][place] = player
    state["num_plays"] = place + 1
    state["played"][player] |= 1 << slot
    state["num_left"][player] -= 1
    state["last_player"] = player
    count = state["count"] + VALUES[laid >> 2]
    state["count"] = count
    series = extend_series(state["series"], laid)
    length = state["series_length"] + 1
    state["series"] = series
    state["series_length"] = length
    points = play_points(series, length, count, rules["fifteen"], rules["thirty_one"])
    _note_rank(state, rules, place, laid >> 2)
    write_event(log, LAY, player, points, card + _NAMED * (king_rank + 1))
    if points > 0:
        state["pegged"][player] += points
        if award(state, rules, log, player, points):
            return False
    if count < rules["thirty_one"]:
        if find_next_to_lay(state, rules, log):
            return False
        if _end_series(state, rules, log, player):
            return False
    return not begin_series(state, rules)


@inlined
def _end_series(state: Any, rules: Any, log: Any, player: int) -> bool:
    """Scores the point for a go or the last card; returns whether it ended the game."""
    point = 1
    if rules["stinkhole"] and state["scores"][rules["sides"][player]] == rules["target"] - 1:
        point = 0
    state["pegged"][player] += point
    kind = LAST_CARD if _all_laid(state, rules) else GO_POINT
    write_event(log, kind, player, point, state["count"])
    return award(state, rules, log, player, point)


@inlined
def _all_laid(state: Any, rules: Any) -> bool:
    for player in range(rules["num_players"]):
        if state["num_left"][player] > 0:
            return False
    return True
