"""States that a player cannot tell apart."""

import random
from typing import Any

from cribai import NO_CARD, Rules


def cards_in(cards: Any) -> list[int]:
    return [int(card) for card in cards if card != NO_CARD]


def with_other_hidden_cards(
    state: Any, rules: Rules, chance: random.Random, viewer: int | None = None
) -> Any:
    """A state that a seat, the actor's by default, cannot tell from this one.

    The cards that it has not seen change places.
    """
    if viewer is None:
        viewer = int(state["actor"])
    laid = cards_in(state["play_cards"][: state["num_plays"]])
    own = cards_in(state["hands"][viewer]) + cards_in(state["tosses"][viewer])
    known = {*laid, *own, int(state["starter"])}
    hidden = [card for card in range(rules.deck_size) if card not in known]
    becomes = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
    other = state.copy()
    for name in ("crib", "deck"):
        row = other[name].reshape(-1)
        row[:] = [becomes.get(card, card) for card in row.tolist()]
    for player in set(range(rules.num_players)) - {viewer}:
        for name in ("hands", "tosses"):
            cards = sorted(becomes.get(card, card) for card in cards_in(other[name][player]))
            other[name][player][: len(cards)] = cards
        hand = cards_in(other["hands"][player])
        other["played"][player] = sum(1 << slot for slot, card in enumerate(hand) if card in laid)
    other["deal_key"] = chance.getrandbits(64)
    return other


def hide(state: Any, rules: Rules, viewer: int, chance: random.Random) -> Any:
    """The state with other cards, of any kind, wherever the viewer may not look."""
    other = state.copy()

    def cover(cards: Any) -> None:
        for place in range(len(cards)):
            if cards[place] != NO_CARD:
                cards[place] = chance.randrange(56)

    for row in other["crib"]:
        cover(row)
    cover(other["deck"])
    for player in set(range(rules.num_players)) - {viewer}:
        for name in ("hands", "tosses", "thrown"):
            if name in (other.dtype.names or ()):
                cover(other[name][player])
        if rules.is_varied:
            cover(other["given"][player : player + 1])
    other["deal_key"] = chance.getrandbits(64)
    if rules.is_varied:
        other["worths"] = chance.randrange(30)
    return other
