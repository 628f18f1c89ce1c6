"""The best split against every split, scored by the oracle."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest

import reference
from cribai import CardError, Rules, parse_card, parse_cards
from cribai.analysis.splits import best_split


def all_splits(cards: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Every split of cards into hands of four, the order of hands aside."""
    if not cards:
        yield []
        return
    for others in combinations(range(1, len(cards)), 3):
        hand = (cards[0], *(cards[i] for i in others))
        rest = [card for i, card in enumerate(cards) if i and i not in others]
        for split in all_splits(rest):
            yield [hand, *split]


def points_of(hands: Sequence[Sequence[int]], starter: int) -> int:
    return sum(reference.show_points(hand, [starter], False) for hand in hands)


def test_every_split_is_tried() -> None:
    assert sum(1 for _ in all_splits(range(8))) == 35
    assert sum(1 for _ in all_splits(range(12))) == 5775


@pytest.mark.parametrize(("num_hands", "num_deals"), [(1, 20), (2, 60), (3, 3)])
@pytest.mark.parametrize("num_jokers", [0, 4])
def test_no_split_is_better(num_hands: int, num_deals: int, num_jokers: int) -> None:
    chance = random.Random(1)
    deck = range(8 * num_jokers, 52 + num_jokers)  # few other ranks beside the jokers
    for _ in range(num_deals):
        *cards, starter = chance.sample(deck, 4 * num_hands + 1)
        split = best_split(cards, starter)
        assert sorted(card for hand in split.hands for card in hand) == sorted(cards)
        assert all(len(hand) == 4 for hand in split.hands)
        assert split.points == points_of(split.hands, starter)
        assert split.points == max(points_of(hands, starter) for hands in all_splits(cards))


def test_more_hands_than_can_be_tried_one_by_one() -> None:
    """Four perfect hands but one: each of fives and jacks would spoil another."""
    cards = parse_cards("AC 2C 3C 4C AD 2D 3D 4D AH 2H 3H 4H 6S 7S 8S 9S TC JC QC KC")
    split = best_split(cards, parse_card("5S"))
    assert split.points == points_of(split.hands, parse_card("5S"))
    runs = [cards[i : i + 4] for i in range(0, 20, 4)]
    assert split.points >= points_of(runs, parse_card("5S"))


def test_order_of_cards_does_not_matter() -> None:
    cards = list(range(0, 24, 2))
    assert best_split(cards, 51) == best_split(cards[::-1], 51)


def test_rules_are_honoured() -> None:
    cards = parse_cards("5C 5D 5H KS")
    assert best_split(cards, parse_card("JS")).points == 8 * 2 - 2 + 6 + 0
    wild = best_split(cards, parse_card("JS"), Rules(wild_kings=True))
    assert wild.points == 28
    assert wild.hands == (cards,)


@pytest.mark.parametrize("num_cards", [0, 3, 6, 24])
def test_refused_numbers_of_cards(num_cards: int) -> None:
    with pytest.raises(CardError) as caught:
        best_split(range(num_cards), 51)
    sentence = f"There are {num_cards} cards to split; give 4 for each of 1 to 5 hands."
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("cards", "starter"), [([0, 1, 2, 56], 3), ([0, 1, 2, 3], -1)])
def test_no_card(cards: list[int], starter: int) -> None:
    with pytest.raises(CardError, match="is not a card; cards are the numbers 0 to 55"):
        best_split(cards, starter)
