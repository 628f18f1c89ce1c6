"""What happened, in words: whole deals from the first toss to the crib, and the ends of games."""

from __future__ import annotations

import random

import pytest

from cribai.cards import parse_card, parse_cards
from cribai.events import Event, EventKind
from cribai.game import Deal, Game
from cribai.rules import Rules
from plain_presets import PLAIN

SHOWS = (EventKind.SHOW_HAND, EventKind.SHOW_CRIB)


def deal(*hands: str, starter: str, to_crib: str = "") -> Deal:
    return Deal(tuple(map(parse_cards, hands)), parse_card(starter), parse_cards(to_crib))


def play(game: Game, *moves: str) -> list[str]:
    """Tosses or lays the cards of each move, and returns what happened apart from goes.

    How often a player says go is left to the test that asks for it.
    """
    events = [event for cards in moves for event in game.push_cards(*parse_cards(cards))]
    return [str(event) for event in events if event.kind is not EventKind.GO]


def test_a_deal() -> None:
    game = Game(
        deals=[deal("6C 7D 8H JS 2C KD", "5C 5D TH 4S QC AD", starter="JD")],
        first_dealer=0,
        seed=1,
    )
    assert play(game, "QC AD", "2C KD") == [
        "player 1 toss AD QC",
        "player 0 toss 2C KD",
        "player 0 starter JD",
        "player 0 heels: heels for two",
    ]
    assert play(game, "5C", "JS", "5D", "8H") == [
        "player 1 lay 5C: five",
        "player 0 lay JS: fifteen for two",
        "player 1 lay 5D: twenty",
        "player 0 lay 8H: twenty-eight",
        "player 0 go point: go for one",
    ]
    assert play(game, "4S", "6C", "TH", "7D") == [
        "player 1 lay 4S: four",
        "player 0 lay 6C: ten",
        "player 1 lay TH: twenty",
        "player 0 lay 7D: twenty-seven",
        "player 0 last card: last card for one",
        (
            "player 1 show hand 4S 5C 5D TH: fifteen two, fifteen four, fifteen six, fifteen eight,"
            " and a pair is ten"
        ),
        "player 0 show hand 6C 7D 8H JS: fifteen two, a run of three is five, and a pair is seven",
        "player 0 show crib AD QC 2C KD: a run of three is three",
    ]
    assert game.scores == (2 + 2 + 1 + 1 + 7 + 3, 10)
    assert {event.deal for event in game.events} == {0}


def test_pegging_in_words() -> None:
    game = Game(
        deals=[deal("5H 5S 4D 2D KC KD", "5C 3D 6H 9S QC QD", starter="8C")],
        first_dealer=0,
        seed=1,
    )
    play(game, "QC QD", "KC KD")
    assert play(game, "5C", "5H", "6H", "5S", "9S") == [
        "player 1 lay 5C: five",
        "player 0 lay 5H: pair for two",
        "player 1 lay 6H: sixteen",
        "player 0 lay 5S: twenty-one",
        "player 1 lay 9S: thirty",
        "player 1 go point: go for one",
    ]
    assert play(game, "4D", "3D", "2D")[:4] == [
        "player 0 lay 4D: four",
        "player 1 lay 3D: seven",
        "player 0 lay 2D: run of three for three",
        "player 0 last card: last card for one",
    ]


def test_go_is_said_at_its_count() -> None:
    game = Game(
        deals=[deal("KS JH 7D 8D 2C 2D", "QC TH 6S 9S 3C 3D", starter="4H")],
        first_dealer=0,
        seed=1,
    )
    play(game, "3C 3D", "2C 2D", "QC", "KS")
    events = game.push_cards(parse_card("TH"))
    first = events[1]
    assert first == Event(EventKind.GO, deal=0, player=0, points=0, cards=(), call="go")
    assert str(first) == "player 0 go: go"
    assert events[-1].call == "go for one"


def test_a_win_ends_the_events() -> None:
    game = Game(
        deals=[deal("KS JH 7D 8D 2C 2D", "QC TH 6S 9S 3C 3D", starter="JC")],
        first_dealer=0,
        scores=(119, 0),
        seed=1,
    )
    play(game, "3C 3D")
    assert play(game, "2C 2D") == [
        "player 0 toss 2C 2D",
        "player 0 starter JC",
        "player 0 heels: heels for two",
        "player 0 win",
    ]


def test_three_players_and_the_decks_card() -> None:
    game = Game(
        "three_player",
        deals=[
            deal("6C 7D 8H JS 2C", "5C 5D TH 4S QC", "9C 9D 3H 3S KC", starter="2H", to_crib="2S")
        ],
        first_dealer=0,
        seed=1,
    )
    play(game, "QC", "KC", "2C")
    while game.deal_number == 0:
        game.push(game.legal_actions[0])
    shown = [str(event) for event in game.events if event.kind in SHOWS]
    assert shown == [
        "player 1 show hand 4S 5C 5D TH: fifteen two, fifteen four, and a pair is six",
        (
            "player 2 show hand 3H 3S 9C 9D: fifteen two, fifteen four, a pair is six,"
            " and a pair is eight"
        ),
        "player 0 show hand 6C 7D 8H JS: fifteen two, fifteen four, and a run of three is seven",
        "player 0 show crib 2S QC KC 2C: a pair royal is six",
    ]


@pytest.mark.parametrize("rules", [*PLAIN.values(), Rules(num_jokers=4)], ids=lambda r: r.name)
@pytest.mark.parametrize("seed", range(4))
def test_events_add_up_to_the_scores(rules: Rules, seed: int) -> None:
    game = Game(rules, seed=seed)
    chance = random.Random(seed)
    scores = [0] * rules.num_sides
    while not game.is_over:
        for event in game.push(chance.choice(game.legal_actions)):
            side = rules.side_of(event.player)
            scores[side] = min(scores[side] + event.points, rules.target)
            words = event.call.rsplit(" ", 1)[-1]
            assert bool(words) == (
                event.kind not in (EventKind.TOSS, EventKind.STARTER, EventKind.WIN)
            )
            if event.kind in SHOWS:
                assert (event.call == "nothing") == (event.points == 0)
        assert tuple(scores) == game.scores
    last = game.events[-1]
    assert last.kind is EventKind.WIN
    assert rules.side_of(last.player) == game.outcome().winner
    assert sum(event.kind is EventKind.WIN for event in game.events) == 1
    numbers = [event.deal for event in game.events]
    assert numbers == sorted(numbers)
    assert numbers[-1] == game.deal_number
