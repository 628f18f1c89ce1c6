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
from cribai.engine.scoring import show_with_starters
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
