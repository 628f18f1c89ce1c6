"""The calls: what a player says, and that what he says adds up to the scorer's points."""

from __future__ import annotations

import json
import random
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cribai.cards import card_text, parse_cards
from cribai.counting import Show, count_play, count_show, number_word
from cribai.engine.state import compiled_rules
from cribai.errors import CardError
from cribai.rules import STANDARD, Rules
from reference import play_points, show_parts, value

CASES = Path(__file__).parent / "cases"
NUMBERS = {number_word(number): number for number in range(100)}


def cases(name: str) -> list[Any]:
    return list(json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))["cases"])


def show(hand: str, starter: str = "", **options: Any) -> Show:
    return count_show(parse_cards(hand), *parse_cards(starter), **options)


def spoken_total(call: str) -> int:
    """What the last words of a call come to."""
    last = call.rsplit(" ", 1)[-1]
    if last == "nobs":
        return 1
    return NUMBERS[last] if last in NUMBERS else int(last)


@pytest.mark.parametrize(
    ("hand", "starter", "call"),
    [
        # The parts, one at a time.
        ("2C 4D 8S QC", "KH", "nothing"),
        ("7C 8D QH KS", "2C", "fifteen two"),
        ("5H 6S 9D KC", "AH", "fifteen two, fifteen four, fifteen six"),
        ("2C 2D 8S QC", "KH", "a pair is two"),
        ("2C 2D 8S 8C", "KH", "a pair is two, and a pair is four"),
        ("2C 2D 2S QC", "KH", "a pair royal is six"),
        ("2C 2D 2S 8H", "8C", "a pair is two, and a pair royal is eight"),
        ("2C 2D 2S 2H", "KH", "a double pair royal is twelve"),
        ("AC 2D 3S 7C", "7H", "fifteen two, a run of three is five, and a pair is seven"),
        ("JC QD KS TC", "AH", "a run of four is four"),
        ("2C 3D 4S 5C", "AH", "fifteen two, and a run of five is seven"),
        ("9C TD JS JC", "2H", "a double run of three is eight"),
        ("9C TD JS JC", "QH", "a double run of four is ten"),
        ("JC QD KS KC", "KH", "a triple run of three is fifteen"),
        ("JC JD QS KC", "KH", "a double double run of three is sixteen"),
        ("2H 6H 8H QH", "TC", "a flush of four is four"),
        ("2H 6H 8H QH", "TH", "a flush of five is five"),
        ("2H 6H 8C JH", "TH", "one for nobs"),
        # Parts together.
        ("4C 6D 5S 5H", "KC", ("fifteen two, fifteen four, fifteen six, fifteen eight,"
         " and a double run of three is sixteen")),
        ("7C 8D QH KS", "7S", "fifteen two, fifteen four, and a pair is six"),
        ("2C 3D QH KS", "KD", "fifteen two, fifteen four, fifteen six, and a pair is eight"),
        ("4H 5H 6H JH", "2H", ("fifteen two, fifteen four, a run of three is seven,"
         " a flush of five is twelve, and one for nobs is thirteen")),
        ("JH 9D TH 9S", "3H", "a double run of three is eight, and one for nobs is nine"),
        ("AC 4D KS KC", "JD", "fifteen two, fifteen four, fifteen six, and a pair is eight"),
        ("5C 5D 5H JS", "5S", ("fifteen two, fifteen four, fifteen six, fifteen eight, fifteen ten,"
         " fifteen twelve, fifteen fourteen, fifteen sixteen, a double pair royal is twenty-eight,"
         " and one for nobs is twenty-nine")),
        # Without a starter, and fewer cards.
        ("5C", "", "nothing"),
        ("5C 5D", "", "a pair is two"),
        ("JC", "2C", "one for nobs"),
        ("2C 6C KC", "", "a flush of three is three"),
        # Jokers: worth nothing, below the ace in runs, each fifteen counts with and without them.
        ("J1 J2 5C 8D", "KH", ("fifteen two, fifteen four, fifteen six, fifteen eight,"
         " and a pair is ten")),
        ("J1 AC 2D 6H", "8S", "fifteen two, fifteen four, and a run of three is seven"),
        ("J1 J2 J3 J4", "AC", "a double pair royal is twelve"),
        ("2H 6H 8H J1", "KH", "nothing"),
        # Two starters, two jacks of their suits.
        ("4H 5H 6H JH", "2H TH", ("fifteen two, fifteen four, fifteen six, a run of three is nine,"
         " a flush of six is fifteen, and two for nobs is seventeen")),
        ("2C 4D 8S JC", "QC 6C", "two for nobs is two"),
        # Large hands: two runs, more than eight fifteens, totals above a hundred.
        ("AC 2D 3H 8C 9D TH", "QS", ("fifteen two, fifteen four, fifteen six,"
         " a run of three is nine, and a run of three is twelve")),
        ("5C 5D 5H 5S TC TD JH JC QD", "KS", ("twenty-eight fifteens is fifty-six,"
         " a double double run of four is seventy-six, and a double pair royal is eighty-eight")),
        ("5C 5D 5H 5S JC JD JH QS QH KD", "JS", ("thirty-two fifteens is sixty-four,"
         " a double quadruple run of three is 102, and a double pair royal is 114")),
    ],
)  # fmt: skip
def test_calls(hand: str, starter: str, call: str) -> None:
    counted = show(hand, starter)
    assert counted.call == call
    assert counted.points == spoken_total(call)


@pytest.mark.parametrize("case", cases("show"), ids=lambda case: case["why"])
def test_worked_examples(case: dict[str, Any]) -> None:
    assert show(case["hand"], case["starter"]).points == case["hand_points"]
    crib = show(case["hand"], case["starter"], is_crib=True)
    assert crib.points == case["crib_points"]
    assert spoken_total(crib.call) == case["crib_points"]


WILD_KINGS = Rules(wild_kings=True)


@pytest.mark.parametrize(
    ("hand", "starter", "call"),
    [
        ("2C 2D KS 9C", "9H", ("the king of spades as the two of spades, fifteen two,"
         " fifteen four, a pair is six, and a pair royal is twelve")),
        ("2H 4H 8H KS", "TH", ("the king of spades as the three of hearts, fifteen two,"
         " fifteen four, a run of three is seven, and a flush of five is twelve")),
        ("2H 6H 8H QH", "KC", ("the king of clubs as the seven of hearts, fifteen two,"
         " fifteen four, a run of three is seven, and a flush of five is twelve")),
        ("KC KD", "", "a pair is two"),
        ("KC KD", "5H", ("the king of clubs as the five of clubs,"
         " the king of diamonds as the five of diamonds,"
         " fifteen two, and a pair royal is eight")),
        ("QC", "KH", "the king of hearts as the five of hearts, fifteen two"),
        ("JC", "KH", ("the king of hearts as the five of clubs, fifteen two,"
         " and one for nobs is three")),
        ("KH J1 J2", "AC",
         "the king of hearts as the two of hearts, a double run of three is eight"),
        ("AC 3D", "9C", "nothing"),
    ],
)  # fmt: skip
def test_calls_with_wild_kings(hand: str, starter: str, call: str) -> None:
    counted = show(hand, starter, rules=WILD_KINGS)
    assert counted.call == call
    assert counted.points == spoken_total(call)


def test_crib_needs_five_for_a_flush() -> None:
    assert show("2H 6H 8H QH", "TC", is_crib=True).call == "nothing"
    assert show("2H 6H 8H QH", "TH", is_crib=True).call == "a flush of five is five"


def test_order_does_not_matter() -> None:
    assert show("KC 7C 8D 7S", "QH") == show("7S 8D KC 7C", "QH")


def test_fifteen_is_a_rule() -> None:
    rules = Rules(fifteen=12)
    counted = show("5C 7D QH KS", "2C", rules=rules)
    assert counted.call == "twelve two, twelve four, twelve six"
    assert counted.points == counted.fifteens == 6


def test_all_ranks_add_up() -> None:
    """Every four ranks with every starter's rank, the suits at random."""
    chance = random.Random(5)
    table = compiled_rules(STANDARD)[0]["table"]
    num_hands = 0
    for ranks in combinations_with_replacement(range(13), 4):
        num_hands += 1
        index = int(np.ravel_multi_index(ranks, (14,) * 4)) * 14
        for starter_rank in range(13):
            five = [*ranks, starter_rank]
            if five.count(starter_rank) > 4:
                continue
            cards: list[int] = []
            for rank in five:
                suits = [suit for suit in range(4) if 4 * rank + suit not in cards]
                cards.append(4 * rank + chance.choice(suits))
            counted = count_show(cards[:4], cards[4], is_crib=chance.random() < 0.5)
            parts = counted.fifteens + counted.pairs + counted.runs
            assert parts == table[index + starter_rank]
            assert counted.points == parts + counted.flush + counted.nobs
            assert spoken_total(counted.call) == counted.points, counted
    assert num_hands == 1820


@given(st.lists(st.integers(0, 55), min_size=1, max_size=10), st.integers(0, 2), st.booleans())
def test_any_hand_is_the_oracles(cards: list[int], num_starters: int, is_crib: bool) -> None:
    hand, starters = cards[num_starters:] or [0], cards[:num_starters]
    counted = count_show(hand, *starters, is_crib=is_crib)
    expected = show_parts(hand, starters, is_crib)
    assert {name: getattr(counted, name) for name in expected} == expected
    assert counted.points == sum(expected.values()) == spoken_total(counted.call)


def test_no_cards() -> None:
    with pytest.raises(CardError) as caught:
        count_show([])
    assert str(caught.value) == "There are no cards to score; name at least one."


@pytest.mark.parametrize("card", [-1, 56])
def test_no_card(card: int) -> None:
    sentence = f"{card} is not a card; cards are the numbers 0 to 55."
    for count in (
        lambda: count_show([0, card]),
        lambda: count_show([0], card),
        lambda: count_play([0, card], 10),
    ):
        with pytest.raises(CardError) as caught:
            count()
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("series", "points", "words"),
    [
        ("KC", 0, ""),
        ("7C 8D", 2, "fifteen"),
        ("7C 7D", 2, "pair"),
        ("5C 5D 5H", 8, "fifteen and pair royal"),
        ("2C 2D 2H 2S", 12, "double pair royal"),
        ("AD 7C 7H", 4, "fifteen and pair"),
        ("4C 6D 5H", 5, "fifteen and run of three"),
        ("4C 3D 5H 2S 6D AC 7H", 7, "run of seven"),
        ("KC QD AH TS", 2, "thirty-one"),
        ("KD 9C 4H 5S 3D", 5, "thirty-one and run of three"),
        ("J1 AC 2D", 3, "run of three"),
        ("J1 J2 J3 J4", 12, "double pair royal"),
    ],
)
def test_pegging_in_words(series: str, points: int, words: str) -> None:
    cards = parse_cards(series)
    assert count_play(cards, sum(map(value, cards))) == (points, words)


@pytest.mark.parametrize("case", cases("pegging"), ids=lambda case: case["why"])
def test_pegging_examples(case: dict[str, Any]) -> None:
    cards = parse_cards(case["cards"])
    for length, points in enumerate(case["points"], 1):
        series = cards[:length]
        counted, words = count_play(series, sum(map(value, series)))
        assert counted == points == play_points(series)
        assert bool(words) == bool(points), card_text(series[-1])


def test_numbers_in_words() -> None:
    assert [number_word(number) for number in (0, 1, 15, 20, 21, 31, 99, 100)] == [
        "nothing", "one", "fifteen", "twenty", "twenty-one", "thirty-one", "ninety-nine", "100",
    ]  # fmt: skip
    assert len(NUMBERS) == 100
