"""The rules of play as changes of one state record: toss, lay, go, show, next deal, game end.

`advance` takes the actor's action and carries the game to its next decision, or to the point where
a new deal is due. A go is never an action: who cannot lay a card is passed over.

Source of the rules: the American Cribbage Congress; for three and four players, the same with the
play and the show in order from the dealer's left.
"""

from typing import Any, Final

from cribai.cards import JACK, NO_CARD
from cribai.engine.jit import inlined
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points, show_points
from cribai.engine.state import (
    DEAL,
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_HEELS,
    DEALER_PEGGING,
    DISCARD,
    EVENT_DETAIL,
    EVENT_KIND,
    EVENT_PLAYER,
    EVENT_POINTS,
    GO,
    GO_POINT,
    HEELS,
    LAST_CARD,
    LAY,
    MAX_EVENTS,
    NO_PLAYER,
    OVER,
    PLAY,
    PONE_HAND,
    PONE_PEGGING,
    SHOW_CRIB,
    SHOW_HAND,
    TOSS,
    TURN_STARTER,
    WIN,
)

HEELS_POINTS: Final = 2
USUAL_KEPT: Final = 4
"""The loops over kept cards have so many steps known to the compiler, which unrolls them."""

_JACK: Final = JACK
_NO_CARD: Final = NO_CARD


@inlined
def write_event(log: Any, kind: int, player: int, points: int, detail: int) -> None:
    """Appends an event to an enabled log.

    Args:
        log: LOG record. Modified in place.
        kind: One of the kinds of events.
        player: Whom it concerns.
        points: Points it scored.
        detail: A card or a count, as the kind has it.
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
def award(state: Any, rules: Any, log: Any, player: int, points: int) -> bool:
    """Adds points to a player's side and ends the game at the target; returns whether it ended.

    Args:
        state: STATE record. Modified in place: `scores`, and at the end `phase`, `winner`, `actor`
            and `playable`. A score never passes the target.
        rules: RULES record.
        log: LOG record.
        player: Who scored.
        points: How many.
    """
    side = rules["sides"][player]
    score = state["scores"][side] + points
    if score < rules["target"]:
        state["scores"][side] = score
        return False
    state["scores"][side] = rules["target"]
    end_game(state, side)
    write_event(log, WIN, player, 0, side)
    return True


@inlined
def end_game(state: Any, side: int) -> None:
    """Ends the game as it stands, won by a side.

    Args:
        state: STATE record. Modified in place: `phase`, `winner`, `actor` and `playable`.
        side: The side.
    """
    state["phase"] = OVER
    state["winner"] = side
    state["actor"] = NO_PLAYER
    state["playable"] = 0


@inlined
def num_bits(slots: int) -> int:
    """Returns the number of set bits; the compiler makes one instruction of it."""
    number = 0
    while slots:
        slots &= slots - 1
        number += 1
    return number


@inlined
def playable_slots(state: Any, rules: Any, player: int, room: int) -> int:
    """Returns a bit for each kept card of a player that is not laid and counts at most room."""
    kept = rules["cards_kept"]
    slots = 0
    # Four places, as most games have, without a loop; what lies beyond the hand is masked.
    for i in range(USUAL_KEPT):
        slots |= (VALUES[state["hands"][player, i] >> 2] <= room) << i
    if kept > USUAL_KEPT:
        for i in range(USUAL_KEPT, kept):
            slots |= (VALUES[state["hands"][player, i] >> 2] <= room) << i
    return slots & ((1 << kept) - 1) & ~int(state["played"][player])


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
            state["actor"] = player
            state["playable"] = slots
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
            state["actor"] = player
            state["playable"] = playable_slots(state, rules, player, rules["thirty_one"])
            return True
    return False


@inlined
def show(state: Any, rules: Any, log: Any) -> bool:
    """Counts the hands from the dealer's left, then the crib; returns whether the game ended.

    Args:
        state: STATE record. Modified in place: the scores and tallies, as far as the show gets.
        rules: RULES record.
        log: LOG record.
    """
    starter = int(state["starter"])
    dealer = int(state["dealer"])
    num_players = rules["num_players"]
    player = dealer
    for _ in range(num_players):
        player += 1
        if player == num_players:
            player = 0
        points = show_points(state["hands"], player, rules["cards_kept"], starter, False, rules)
        source = DEALER_HAND if player == dealer else PONE_HAND
        state["points"][player, source] += points
        state["times"][player, source] += 1
        write_event(log, SHOW_HAND, player, points, starter)
        if award(state, rules, log, player, points):
            return True
    points = show_points(state["crib"], 0, int(state["num_crib"]), starter, True, rules)
    state["points"][dealer, DEALER_CRIB] += points
    state["times"][dealer, DEALER_CRIB] += 1
    write_event(log, SHOW_CRIB, dealer, points, starter)
    return award(state, rules, log, dealer, points)


@inlined
def finish_deal(state: Any, rules: Any, log: Any) -> None:
    """Tallies the pegging, shows the hands and, unless the game ended, makes the next deal due.

    Args:
        state: STATE record. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    for player in range(rules["num_players"]):
        source = DEALER_PEGGING if player == state["dealer"] else PONE_PEGGING
        state["points"][player, source] += state["pegged"][player]
        state["times"][player, source] += 1
    if show(state, rules, log):
        return
    dealer = state["dealer"] + 1
    state["dealer"] = dealer if dealer < rules["num_players"] else 0
    state["actor"] = NO_PLAYER
    state["playable"] = 0
    state["phase"] = DEAL


@inlined
def lay(state: Any, rules: Any, log: Any, slot: int) -> None:
    """Lays the actor's kept card in a slot, scores it, and finds whose turn is next.

    Args:
        state: STATE record in phase PLAY. Modified in place.
        rules: RULES record.
        log: LOG record.
        slot: Place of the card among the kept ones; it must be playable.
    """
    player = int(state["actor"])
    card = int(state["hands"][player, slot])
    place = int(state["num_plays"])
    state["play_cards"][place] = card
    state["play_players"][place] = player
    state["num_plays"] = place + 1
    state["played"][player] |= 1 << slot
    state["num_left"][player] -= 1
    state["last_player"] = player
    count = state["count"] + VALUES[card >> 2]
    state["count"] = count
    series = extend_series(state["series"], card)
    length = state["series_length"] + 1
    state["series"] = series
    state["series_length"] = length
    points = play_points(series, length, count, rules["fifteen"], rules["thirty_one"])
    write_event(log, LAY, player, points, card)
    if points > 0:
        state["pegged"][player] += points
        if award(state, rules, log, player, points):
            return
    if count < rules["thirty_one"]:
        if find_next_to_lay(state, rules, log):
            return
        state["pegged"][player] += 1
        write_event(log, LAST_CARD if _all_laid(state, rules) else GO_POINT, player, 1, count)
        if award(state, rules, log, player, 1):
            return
    if not begin_series(state, rules):
        finish_deal(state, rules, log)


@inlined
def _all_laid(state: Any, rules: Any) -> bool:
    for player in range(rules["num_players"]):
        if state["num_left"][player] > 0:
            return False
    return True


@inlined
def toss(state: Any, rules: Any, log: Any, action: int) -> None:
    """Tosses the cards of a discard action to the crib; after the dealer's toss, turns the starter.

    Args:
        state: STATE record in phase DISCARD. Modified in place.
        rules: RULES record.
        log: LOG record.
        action: Number of the toss in lexicographic order of the hand's places.
    """
    player = int(state["actor"])
    hand = state["hands"][player]
    slots = rules["toss_slots"][action]
    num_tossed = rules["cards_tossed"]
    kept = 0
    tossed = 0
    for i in range(rules["cards_dealt"]):
        card = hand[i]
        if tossed < num_tossed and slots[tossed] == i:
            state["tosses"][player, tossed] = card
            state["crib"][0, state["num_crib"]] = card
            state["num_crib"] += 1
            tossed += 1
        else:
            hand[kept] = card
            kept += 1
    for i in range(kept, rules["cards_dealt"]):
        hand[i] = _NO_CARD
    write_event(log, TOSS, player, 0, action)
    if player == state["dealer"]:
        turn_starter(state, rules, log)
        return
    player += 1
    state["actor"] = player if player < rules["num_players"] else 0


@inlined
def turn_starter(state: Any, rules: Any, log: Any) -> None:
    """Turns the starter, scores heels and, unless they ended the game, begins the play.

    Args:
        state: STATE record after the last toss. Modified in place.
        rules: RULES record.
        log: LOG record.
    """
    dealer = int(state["dealer"])
    starter = int(
        state["deck"][rules["num_players"] * rules["cards_dealt"] + rules["crib_from_deck"]]
    )
    state["starter"] = starter
    state["times"][dealer, DEALER_HEELS] += 1
    write_event(log, TURN_STARTER, dealer, 0, starter)
    if (starter >> 2) == _JACK:
        state["points"][dealer, DEALER_HEELS] += HEELS_POINTS
        write_event(log, HEELS, dealer, HEELS_POINTS, starter)
        if award(state, rules, log, dealer, HEELS_POINTS):
            return
    state["phase"] = PLAY
    state["last_player"] = dealer
    begin_series(state, rules)


@inlined
def is_legal(state: Any, rules: Any, action: int) -> bool:
    """Tells whether the actor may take an action; no action is legal when none is due."""
    if state["phase"] == DISCARD:
        return 0 <= action < rules["num_tosses"]
    if state["phase"] == PLAY:
        slot = action - rules["num_tosses"]
        return 0 <= slot < rules["cards_kept"] and (int(state["playable"]) >> slot) & 1 == 1
    return False


@inlined
def advance(state: Any, rules: Any, log: Any, action: int) -> None:
    """Takes the actor's action and carries the game to the next decision, a due deal, or the end.

    Unchecked: the action must be legal.

    Args:
        state: STATE record in phase DISCARD or PLAY. Modified in place.
        rules: RULES record.
        log: LOG record. Modified in place when enabled.
        action: The action.
    """
    state["num_decisions"] += 1
    if state["phase"] == DISCARD:
        toss(state, rules, log, action)
    else:
        lay(state, rules, log, action - rules["num_tosses"])
