"""The show with several starters, jokers, two decks, big hands and wild kings, by the oracle."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import reference
from cribai.cards import cards_text, parse_cards
from cribai.counting import count_play
from cribai.engine.scoring import extend_series, play_points, show_with_starters
from cribai.engine.state import compiled_rules
from cribai.engine.wild_kings import name_kings
from cribai.rules import STANDARD, Rules

pytestmark = pytest.mark.kernels

WILD_KINGS = Rules(name="wild_kings", wild_kings=True)
TWO_DECKS = [*range(56), *range(56)]


@njit
def _show(hands: Any, num_hand: int, starters: Any, num_starters: int, is_crib: bool, rules: Any):  # type: ignore[no-untyped-def]
    return show_with_starters(hands, 1, num_hand, starters, 2, num_starters, is_crib, rules[0])


def show_points(
    hand: Sequence[int], *starters: int, is_crib: bool = False, rules: Rules = STANDARD
) -> int:
    """What games pay, the hand and starters in rows of others and before other cards."""
    hands = np.array([[20, 21, 22, *hand][: len(hand) + 1], [*hand, 23]], np.int8)
    cuts = np.array([[16, 17], [18, 19], [*starters, 16, 17][:2]], np.int8)
    return int(_show(hands, len(hand), cuts, len(starters), is_crib, compiled_rules(rules)))


def wild_parts(hand: Sequence[int], *starters: int, is_crib: bool = False) -> list[int]:
    """The cards that a hand's and its starters' cards count as."""
    cards = np.array([*hand, *starters], np.int64)
    name_kings(cards, len(hand), len(cards), is_crib, 15)
    return [int(card) for card in cards]


@given(st.permutations(TWO_DECKS), st.integers(1, 9), st.integers(0, 2), st.booleans())
def test_any_hand_with_any_starters_is_the_oracles(
    cards: list[int], num_hand: int, num_starters: int, is_crib: bool
) -> None:
    hand, starters = cards[:num_hand], cards[num_hand : num_hand + num_starters]
    expected = reference.show_points(hand, starters, is_crib)
    assert show_points(hand, *starters, is_crib=is_crib) == expected


FEW_CARDS = st.tuples(st.sampled_from([2, 3, 4, 10, 12, 13]), st.integers(0, 1)).map(
    lambda card: 4 * card[0] + card[1]
)


@given(st.lists(FEW_CARDS, min_size=3, max_size=8), st.integers(0, 2), st.booleans())
def test_rich_hands_with_any_starters_are_the_oracles(
    cards: list[int], num_starters: int, is_crib: bool
) -> None:
    """Few ranks and suits: flushes, nobs, jokers and many of a kind are common."""
    hand, starters = cards[num_starters:], cards[:num_starters]
    expected = reference.show_points(hand, starters, is_crib)
    assert show_points(hand, *starters, is_crib=is_crib) == expected


@settings(deadline=None)
@given(
    st.lists(FEW_CARDS | st.integers(0, 55), min_size=2, max_size=7),
    st.lists(st.integers(48, 51), min_size=1, max_size=2),
    st.integers(0, 2),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_wild_kings_are_the_oracles(
    others: list[int], kings: list[int], num_starters: int, is_crib: bool, chance: Random
) -> None:
    cards = [card for card in others if reference.rank(card) != reference.KING] + kings
    chance.shuffle(cards)
    num_starters = min(num_starters, len(cards) - 1)
    hand, starters = cards[num_starters:], cards[:num_starters]
    expected = reference.best_kings(hand, starters, is_crib)
    assert show_points(hand, *starters, is_crib=is_crib, rules=WILD_KINGS) == expected
    named = wild_parts(hand, *starters, is_crib=is_crib)
    assert reference.show_points(named[: len(hand)], named[len(hand) :], is_crib) == expected


# ------------------------------------------------------------------------ hands done by hand


def cards(text: str) -> list[int]:
    return list(parse_cards(text, num_decks=2))


@pytest.mark.parametrize(
    ("hand", "starters", "hand_points", "crib_points"),
    [
        # Two starters count like cards of the hand: a run of four and a fifteen.
        ("4C 5D", "6H 7S", 2 + 4, 2 + 4),
        ("5C 5D", "5H 5S", 8 + 12, 8 + 12),
        # A flush of four, of five with either starter, of six with both.
        ("2H 4H 6H 8H", "TC QS", 4, 0),
        ("2H 4H 6H 8H", "TH QS", 5, 0),
        ("2H 4H 6H 8H", "TC QH", 5, 0),
        ("2H 4H 6H 8H", "TH QH", 6, 6),
        # A joker in the hand breaks a flush, and as a starter does not follow one.
        ("2H 4H 6H J1", "QH", 0, 0),
        ("2H 4H 6H 8H", "QH J1", 5, 0),
        # Nobs for each jack and each starter of its suit; two decks hold a jack twice.
        ("JH 2C 4D 6S", "8H TC", 1, 1),
        ("JH 2C 4D 6S", "8H TH", 2, 2),
        ("JH JC 4D 6S", "8H TC", 2 + 2, 2 + 2),
        ("JH JH 4D 6S", "8H TH", 2 + 4, 2 + 4),
        # Many of a kind and of a run.
        ("2C 2D 2H 2S", "2C", 20, 20),
        ("3C 3D 3H 4C 4D", "2S", 4 + 26, 4 + 26),
        ("JC JD JH QC QD QH", "KS", 39, 39),
        ("J1 AC 2C J2", "4D", 2 * 3 + 2, 2 * 3 + 2),
    ],
)  # fmt: skip
def test_hands_done_by_hand(hand: str, starters: str, hand_points: int, crib_points: int) -> None:
    assert show_points(cards(hand), *cards(starters)) == hand_points
    assert show_points(cards(hand), *cards(starters), is_crib=True) == crib_points


@pytest.mark.parametrize(
    ("hand", "starters", "points", "named"),
    [
        # The perfect hand, of which the king is the last five, or the starter that gives nobs.
        ("5C 5D KH JS", "5S", 29, "5C 5D 5H JS 5S"),
        ("5C 5D 5H JS", "KC", 29, "5C 5D 5H JS 5S"),
        # The three of hearts makes a run, two fifteens and the flush.
        ("2H 4H 8H KS", "TH", 4 + 3 + 5, "2H 4H 8H 3H TH"),
        # Five kings of two decks as fives to a jack: fifteen fifteens, five of a kind, a flush.
        ("KC KC KD KH KS JH", "", 30 + 20 + 6, "5H 5H 5H 5H 5H JH"),
        # Four of one card, and so a flush too.
        ("KC KD KH KS", "", 8 + 12 + 4, "5C 5C 5C 5C"),
        # A king stays what it is when no other card is better.
        ("KC", "", 0, "KC"),
        ("KC KD", "", 2, "KC KD"),
        # Together a fifteen with nobs, which is better than a pair.
        ("KC", "KD", 3, "JD 5D"),
        # No king, and nothing is wild.
        ("5C 5D 5H JS", "5S", 29, "5C 5D 5H JS 5S"),
    ],
)
def test_wild_kings_done_by_hand(hand: str, starters: str, points: int, named: str) -> None:
    assert cards_text(wild_parts(cards(hand), *cards(starters))) == named
    assert show_points(cards(hand), *cards(starters), rules=WILD_KINGS) == points


def test_wild_kings_in_the_crib_need_every_starter_for_a_flush() -> None:
    hand = cards("2H 4H 8H KS")
    assert show_points(hand, *cards("TC QH"), is_crib=True, rules=WILD_KINGS) == 6 + 3
    assert show_points(hand, *cards("TH QH"), is_crib=True, rules=WILD_KINGS) == 6 + 3 + 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hand", "starters"),
    [("KC KD KH KS", "JH"), ("KC KD KH JS", "5S"), ("KC KD J1 6S JH", "KS 8H")],
)
def test_three_and_four_wild_kings_are_the_oracles(hand: str, starters: str) -> None:
    for is_crib in (False, True):
        expected = reference.best_kings(cards(hand), cards(starters), is_crib)
        points = show_points(cards(hand), *cards(starters), is_crib=is_crib, rules=WILD_KINGS)
        assert points == expected


def test_wild_kings_are_plain_kings_by_other_rules() -> None:
    assert show_points(cards("5C 5D KH JS"), *cards("5S")) == 21


# ---------------------------------------------------------------------------------- the play


@given(st.permutations([*range(8), *range(8), *range(52, 56), *range(52, 56)]), st.integers(1, 24))
def test_series_longer_than_any_run_peg_as_by_the_oracle(series: list[int], length: int) -> None:
    """Two decks' aces, twos and jokers: more cards than a packed series holds."""
    series = series[:length]
    packed = 0
    for card in series:
        packed = extend_series(packed, card)
    count = sum(map(reference.value, series))
    points = play_points(packed, len(series), count, 15, 31)
    assert points == reference.play_points(series)


@pytest.mark.parametrize(("num_alike", "points"), [(5, 20), (6, 30), (7, 42), (8, 56)])
@pytest.mark.parametrize("card", [0, 52])
def test_many_of_a_kind_peg(card: int, num_alike: int, points: int) -> None:
    packed = 0
    for _ in range(num_alike):
        packed = extend_series(packed, card)
    assert play_points(packed, num_alike, num_alike, 15, 31) == points
    # Behind more cards than the packed series holds.
    for other in (4, *[8] * 20, *[card] * num_alike):
        packed = extend_series(packed, other)
    assert play_points(packed, 21 + 2 * num_alike, 30, 15, 31) == points


def test_jokers_make_fifteen_again() -> None:
    assert count_play(cards("7C 8D J1"), 15) == (2, "fifteen")
    assert count_play(cards("7C 8D J1 J2"), 15) == (4, "fifteen and pair")
    assert count_play(cards("AC 2D J1"), 3) == (3, "run of three")
