"""Cards as numbers and as text."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cribai.cards import (
    DECK_SIZE,
    JACK,
    JOKER_RANK,
    MAX_JOKERS,
    RANK_NAMES,
    RANKS,
    SUIT_NAMES,
    SUITS,
    card_text,
    cards_text,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
    value_of,
)
from cribai.errors import CardError, CribaiError

ALL_CARDS = range(DECK_SIZE + MAX_JOKERS)


@pytest.mark.parametrize("card", ALL_CARDS)
def test_text_and_back(card: int) -> None:
    text = card_text(card)
    assert parse_card(text) == card
    assert parse_card(f"  {text.lower()} ") == card


def test_texts_are_distinct() -> None:
    assert len({card_text(card) for card in ALL_CARDS}) == len(ALL_CARDS)


def test_numbering() -> None:
    for r, rank in enumerate(RANKS):
        for s, suit in enumerate(SUITS):
            card = parse_card(rank + suit)
            assert card == 4 * r + s
            assert (rank_of(card), suit_of(card)) == (r, s)
    assert [parse_card(f"J{number}") for number in range(1, MAX_JOKERS + 1)] == [52, 53, 54, 55]
    assert rank_of(52) == JOKER_RANK
    assert RANKS[JACK] == "J"
    assert len(RANK_NAMES) == len(RANKS) + 1
    assert len(SUIT_NAMES) == len(SUITS)


def test_values() -> None:
    values = [value_of(parse_card(f"{rank}S")) for rank in RANKS]
    assert values == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
    assert value_of(52) == 0


def test_ten_may_be_written_out() -> None:
    assert parse_card("10d") == parse_card("TD")
    assert parse_cards("10C,10H") == parse_cards("TC TH")


@pytest.mark.parametrize("text", ["", "5", "H5", "1H", "5X", "J0", "J5", "5HH", "110H", "♥5"])
def test_no_card(text: str) -> None:
    with pytest.raises(CardError) as caught:
        parse_card(text)
    assert str(caught.value) == (
        f"{text!r} is not a card; write a rank of A23456789TJQK and a suit of CDHS,"
        " such as 5H or TD."
    )


@pytest.mark.parametrize("number", [-1, 56, 1000])
def test_no_number_of_a_card(number: int) -> None:
    with pytest.raises(CardError, match=f"^{number} is not a card; cards are the numbers 0 to 55"):
        card_text(number)


def test_cards_keep_their_order() -> None:
    assert parse_cards(" 5H, TD\tAC,,KS\n") == (18, 37, 0, 51)
    assert parse_cards("") == ()
    assert cards_text((18, 37, 0, 51)) == "5H TD AC KS"
    assert cards_text(()) == ""


def test_a_card_is_named_once() -> None:
    with pytest.raises(CardError) as caught:
        parse_cards("5H TD 5h")
    assert str(caught.value) == "The card 5H is named twice in '5H TD 5h'; name each card once."


@given(st.lists(st.sampled_from(ALL_CARDS), unique=True))
def test_lists_and_back(cards: list[int]) -> None:
    assert parse_cards(cards_text(cards)) == tuple(cards)


@given(st.text(max_size=4))
def test_any_text_is_a_card_or_an_error(text: str) -> None:
    with suppress(CribaiError):
        assert parse_card(text) in ALL_CARDS
