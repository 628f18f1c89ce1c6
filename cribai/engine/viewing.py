"""Views, what the player to act may know, and the legal-action masks that follow from them."""

from typing import Any, Final

import numpy as np

from cribai.cards import NO_CARD
from cribai.engine.dealing import decision_key
from cribai.engine.jit import inlined, is_varied, kernel, varied
from cribai.engine.legality import count_legal, is_legal, num_bits
from cribai.engine.state import ANNOUNCE, CLAIM, DISCARD, NO_GO, NO_PLAYER, PLAY
from cribai.engine.worths import counted_crib, counting_player

_NO_CARD: Final = NO_CARD
_NO_RANK: Final = -1


@inlined
def write_view(state: Any, rules: Any, player: int, game: int, view: Any) -> None:
    """Writes what a player may know; reads nothing that is hidden from him.

    A player who is not to act has no legal actions and no random key.

    Args:
        state: STATE record.
        rules: RULES record.
        player: Whose view.
        game: The caller's number of the game.
        view: VIEW record. Modified in place: every field.
    """
    num_players = rules["num_players"]
    view["game"] = game
    if player == state["actor"]:
        view["key"] = decision_key(state)
        view["playable"] = state["playable"]
        if is_varied(rules):
            view["num_legal"] = count_legal(state, rules)
        elif state["phase"] == DISCARD:
            view["num_legal"] = rules["num_tosses"]
        else:
            view["num_legal"] = num_bits(int(state["playable"]))
    else:
        view["key"] = np.uint64(0)
        view["playable"] = 0
        view["num_legal"] = 0
    view["decision"] = state["num_decisions"]
    view["deal"] = state["num_deals"] - 1
    view["phase"] = state["phase"]
    view["player"] = player
    view["count"] = state["count"]
    view["starter"] = state["starter"]
    view["played"] = state["played"][player]
    view["series"] = state["series"]
    view["series_length"] = state["series_length"]
    for i in range(view["hand"].shape[0]):
        view["hand"][i] = state["hands"][player, i]
    for i in range(view["tossed"].shape[0]):
        view["tossed"][i] = state["tosses"][player, i]
    dealer = state["dealer"] - player
    view["dealer"] = dealer if dealer >= 0 else dealer + num_players
    other = player
    for place in range(view["scores"].shape[0]):
        if place < num_players:
            view["scores"][place] = state["scores"][rules["sides"][other]]
            view["num_left"][place] = state["num_left"][other]
            view["go_counts"][place] = state["go_counts"][other]
            other += 1
            if other == num_players:
                other = 0
        else:
            view["scores"][place] = 0
            view["num_left"][place] = 0
            view["go_counts"][place] = NO_GO
    num_plays = int(state["num_plays"])
    view["num_plays"] = num_plays
    for i in range(view["play_cards"].shape[0]):
        view["play_cards"][i] = state["play_cards"][i] if i < num_plays else _NO_CARD
        layer = state["play_players"][i] - player
        if layer < 0:
            layer += num_players
        view["play_players"][i] = layer if i < num_plays else NO_PLAYER
    if is_varied(rules):
        _write_variants(state, rules, player, view)


@varied(absent=0)
def _write_variants(state: Any, rules: Any, player: int, view: Any) -> None:
    """Writes what variants add to a view; what is not the player's own is open to all."""
    num_players = int(rules["num_players"])
    is_actor = player == state["actor"]
    view["announced"] = state["announced"]
    view["kings"] = state["kings"] if is_actor and state["phase"] == PLAY else 0
    view["hand_size"] = state["hand_size"] if is_actor else 0
    owner = int(state["crib_owner"])
    if owner != NO_PLAYER:
        owner = owner - player if owner >= player else owner - player + num_players
    view["crib_owner"] = owner
    other = player
    for place in range(num_players):
        view["bids"][place] = state["bids"][other]
        view["num_thrown"][place] = state["num_thrown"][other]
        for i in range(view["starters"].shape[1]):
            view["starters"][place, i] = state["starters"][other, i]
        other += 1
        if other == num_players:
            other = 0
    for i in range(view["thrown"].shape[0]):
        view["thrown"][i] = state["thrown"][player, i]
    view["given"] = state["given"][player]
    for i in range(view["play_ranks"].shape[0]):
        view["play_ranks"][i] = state["play_ranks"][i] if i < state["num_plays"] else _NO_RANK
    is_shown = state["phase"] == ANNOUNCE or state["phase"] == CLAIM
    view["shown_player"] = NO_PLAYER
    view["shown_is_crib"] = 0
    if is_shown:
        view["shown_player"] = int(counting_player(state, rules) != player)
        view["shown_is_crib"] = counted_crib(state, rules) >= 0
    for i in range(view["shown"].shape[0]):
        view["shown"][i] = state["shown"][0, i] if is_shown else _NO_CARD


@kernel
def write_views(states: Any, rules: Any, games: Any, indices: Any, views: Any) -> None:
    """Writes the actor's view of each of some states.

    Args:
        states: STATE array (n,), each with a decision due.
        rules: RULES array (1,).
        games: int64 array (n,), the caller's number of each game.
        indices: int64 array (m,), which states.
        views: VIEW array (>= m,). Modified in place: the first m.
    """
    for place in range(indices.shape[0]):
        index = indices[place]
        state = states[index]
        write_view(state, rules[0], int(state["actor"]), games[index], views[place])


@kernel
def write_seat_views(states: Any, rules: Any, seats: Any, games: Any, views: Any) -> None:
    """Writes one seat's view of each state, whether it is to act or not.

    Args:
        states: STATE array (n,).
        rules: RULES array (1,).
        seats: int8 array (n,), whose view.
        games: int64 array (n,), the caller's number of each game.
        views: VIEW array (n,). Modified in place.
    """
    for i in range(states.shape[0]):
        write_view(states[i], rules[0], int(seats[i]), games[i], views[i])


@inlined
def write_mask(view: Any, rules: Any, masks: Any, row: int) -> None:
    """Writes the legal-action mask of a view: the only place where masks are made.

    Args:
        view: VIEW record.
        rules: RULES record.
        masks: Array (n, >= num_actions). Modified in place in a row: 1 for legal, 0 for not.
        row: The row.
    """
    if is_varied(rules):
        is_due = view["num_legal"] > 0
        for action in range(rules["num_actions"]):
            masks[row, action] = is_due and is_legal(view, rules, action)
        return
    num_tosses = rules["num_tosses"]
    is_discard = view["phase"] == DISCARD and view["num_legal"] > 0
    for action in range(num_tosses):
        masks[row, action] = is_discard
    for slot in range(rules["cards_kept"]):
        masks[row, num_tosses + slot] = (view["playable"] >> slot) & 1


@kernel
def write_masks(views: Any, rules: Any, masks: Any) -> None:
    """Writes the legal-action mask of each view.

    Args:
        views: VIEW array (n,).
        rules: RULES array (1,).
        masks: int8 array (n, num_actions). Modified in place: 1 for legal, 0 for not.
    """
    for row in range(views.shape[0]):
        write_mask(views[row], rules[0], masks, row)
