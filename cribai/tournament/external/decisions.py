"""Decisions in the words of the protocol: a view as bots see it, and what they answer to it.

All that a bot learns of a game is made here, from the properties of a View.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from cribai.cards import KING, RANKS, card_text, parse_card, rank_of
from cribai.errors import CardError, IllegalActionError
from cribai.views import View

_MAX_SHOWN: Final = 100  # letters of a bot's answer that are shown

# ------------------------------------------------------------------------------- from cribai


def view_fields(view: View) -> dict[str, Any]:
    """Returns a view as bots see it."""
    return {
        "game": view.game,
        "deal": view.deal,
        "decision": view.decision,
        "key": str(view.key),  # More bits than a JavaScript number holds.
        "seat": view.player,
        "role": "dealer" if view.is_dealer else "pone",
        "dealer": view.dealer,
        "scores": view.scores,
        "phase": view.phase,
        "hand": _texts(view.hand),
        "tossed": _texts(view.tossed),
        "starter": None if view.starter is None else card_text(view.starter),
        "plays": [[place, card_text(card)] for place, card in view.plays],
        "series": _texts(view.series),
        "count": view.count,
        "num_left": view.num_left,
        "go_counts": view.go_counts,
        **_variant_fields(view),
        "legal_actions": _legal_actions(view),
    }


def _variant_fields(view: View) -> dict[str, Any]:
    """Returns what there is to know under the view's rules and not in the standard game."""
    rules = view.rules
    fields: dict[str, Any] = {}
    if rules.num_starters > 1 or rules.chosen_starter:
        players = range(rules.num_players)
        fields["starters"] = [_texts(view.starters_of(player)) for player in players]
    if rules.num_stock:
        fields |= {"thrown": _texts(view.thrown), "num_thrown": view.num_thrown}
    if rules.chosen_starter:
        fields["given"] = None if view.given is None else card_text(view.given)
    if rules.bid:
        fields |= {"bids": view.bids_made, "crib_owner": view.crib_owner}
    if rules.wild_kings:
        fields["play_ranks"] = [
            RANKS[rank] if rank_of(card) == KING else None
            for (_, card), rank in zip(view.plays, view.play_ranks, strict=True)
        ]
    if rules.muggins:
        fields |= {
            "shown": _texts(view.shown),
            "shown_player": view.shown_player,
            "shown_is_crib": view.shown_is_crib,
            "announced": view.announced if view.is_claim else None,
        }
    return fields


def _legal_actions(view: View) -> list[dict[str, Any]]:
    actions = view.legal_actions
    if view.is_play and view.rules.wild_kings:
        return [{"action": action, **_lay(view, action)} for action in actions]
    if view.is_discard or view.is_draw:
        said: list[Any] = [_texts(cards) for cards in view.tosses or view.throws]
    elif view.is_play or view.is_gift:
        said = _texts(view.legal_cards or view.gifts)
    else:
        said = [*view.bids, *view.announcements, *view.claims]
    what = _what(view)
    return [{"action": action, what: word} for action, word in zip(actions, said, strict=True)]


def _lay(view: View, action: int) -> dict[str, str]:
    (card,), rank = view.cards_of(action), view.rank_of(action)
    words = {"play": card_text(card)}
    return words if rank is None else words | {"as": RANKS[rank]}


def _what(view: View) -> str:
    """Returns the name under which an action says what it does."""
    return "throw" if view.is_draw else view.phase


def _texts(cards: Sequence[int]) -> list[str]:
    return [card_text(card) for card in cards]


# -------------------------------------------------------------------------------- from the bot


def read_action(answer: Any, view: View) -> int:
    """Returns the action that a bot's answer to a view means: its number, or what it does.

    Raises:
        IllegalActionError: It means none, or the rules do not allow it.
    """
    if isinstance(answer, dict):
        return _action_of_words(answer, view)
    if type(answer) is int and answer in view.legal_actions:
        return answer
    raise IllegalActionError(
        f"{shown(answer)} is not one of the actions {shown(view.legal_actions)}."
    )


def _action_of_words(answer: dict[str, Any], view: View) -> int:
    what = _what(view)
    said = answer.get(what)
    if view.is_bid or view.is_announcement or view.is_claim:
        if type(said) is not int:
            raise IllegalActionError(f"{shown(answer)} does not say how many points to {what}.")
        return view.action_of_number(said)
    texts = said if view.is_discard or view.is_draw else [said]
    if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        raise IllegalActionError(f"{shown(answer)} does not say which cards to {what}.")
    try:
        cards = [parse_card(text) for text in texts]
    except CardError as error:
        raise IllegalActionError(str(error)) from None
    rank = _named_rank(answer) if view.is_play and view.rules.wild_kings else None
    return view.action_of(*cards, rank=rank)


def _named_rank(answer: dict[str, Any]) -> int | None:
    """Returns the rank that a bot lays a king as; None if it names none."""
    named = answer.get("as")
    if named is None:
        return None
    if not (isinstance(named, str) and len(named) == 1 and named in RANKS):
        raise IllegalActionError(f"{shown(named)} is not a rank; lay a king as one of {RANKS}.")
    return RANKS.index(named)


def shown(value: Any) -> str:
    """Returns a part of an answer as messages show it, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."
