"""One scripted deal or more for each variant, computed by hand beside the rule's sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from cribai import Deal, Game, Rules, get_rules, parse_cards
from cribai.cards import RANK_NAMES, parse_card

pytestmark = pytest.mark.kernels

GOLDEN = Path(__file__).parent / "golden" / "variants.json"
SCRIPTS = json.loads(GOLDEN.read_text())


def play(script: dict[str, Any]) -> Game:
    """The game of a script; its moves are cards, cards "as" a rank, "none" or a number "#8"."""
    rules = script["rules"]
    rules = get_rules(rules) if isinstance(rules, str) else Rules.from_dict(rules)
    decks = rules.num_decks
    starters = [parse_card(card) for card in script["starters"].split()]
    stock = list(parse_cards(script.get("stock", ""), decks))
    hands = tuple(parse_cards(hand, decks) for hand in script["hands"])
    used = {card for hand in hands for card in hand} | {*starters, *stock}
    unused = (card for card in range(52) if card not in used)
    stock += [next(unused) for _ in range(rules.num_stock - len(stock))]
    deal = Deal(
        hands,
        starters[0] if starters else None,
        second_starter=starters[1] if starters[1:] else None,
        stock=tuple(stock),
    )
    game = Game(rules, seed=1, first_dealer=0, deals=[deal], scores=script.get("scores"))
    for move in script["moves"]:
        cards, _, rank = move.partition(" as ")
        if move.startswith("#"):
            game.push_number(int(move[1:]))
        elif move == "none":
            game.push_cards()
        else:
            game.push_cards(
                *parse_cards(cards, decks), rank=RANK_NAMES.index(rank) if rank else None
            )
    return game


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script["name"])
def test_scripted_deal(script: dict[str, Any]) -> None:
    game = play(script)
    said = [str(event) for event in game.events if event.deal == 0]
    assert said[-len(script["events"]) :] == script["events"], said
    assert list(game.scores) == script["final"]
    outcome = game.outcome()
    assert outcome is not None if "winner" in script else outcome is None
    if outcome is not None:
        assert outcome.winner == script["winner"]


def test_every_variant_has_a_script() -> None:
    named = {script["rules"] for script in SCRIPTS if isinstance(script["rules"], str)}
    assert named == {
        "lowball", "jokers", "two_starters", "two_decks", "draw", "chosen_starter", "two_cribs",
        "bid", "wild_kings", "muggins", "stinkhole", "five_card_classic", "to_241", "to_361",
    }  # fmt: skip
