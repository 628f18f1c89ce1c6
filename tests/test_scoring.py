"""The scorer against the oracle, worked examples and arithmetic done another way."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from cribai.cards import NO_CARD
from cribai.engine import scoring
from cribai.engine.parts import NUM_PARTS
from cribai.engine.parts import show_parts as score_parts
from cribai.engine.state import compiled_rules
from cribai.rules import STANDARD, Rules

pytestmark = pytest.mark.kernels

needs_jit = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="would fill tables for minutes"
)
PARTS = ("fifteens", "pairs", "runs", "flush", "nobs")
ORDINARY = range(52)
TWO_DECKS = [*range(56), *range(56)]
HERE = Path(__file__).parent


def cases(name: str) -> list[dict[str, Any]]:
    text = (HERE / "cases" / f"{name}.json").read_text(encoding="utf-8")
    return list(json.loads(text)["cases"])


def show_parts(
    hand: Sequence[int], *starters: int, is_crib: bool = False, fifteen: int = 15
) -> dict[str, int]:
    parts = np.full(NUM_PARTS, -1, np.int64)
    cards = np.array([*hand, *starters], np.int64)
    score_parts(cards, len(hand), len(cards), is_crib, fifteen, parts)
    return dict(zip(PARTS, parts.tolist(), strict=True))


def show_points(
    hand: Sequence[int], *starters: int, is_crib: bool = False, rules: Rules = STANDARD
) -> int:
    """What games pay with one starter or none: the table where it applies."""
    out = np.full(1, -1, np.int64)
    hands = np.array([hand], np.int8)
    cuts = np.array(starters or [NO_CARD], np.int8)
    scoring.show_points_batch(hands, cuts, is_crib, compiled_rules(rules), out)
    return int(out[0])


def pack(series: Sequence[int]) -> int:
    packed = 0
    for card in series:
        packed = scoring.extend_series(packed, card)
    return packed


def play_parts(series: Sequence[int], fifteen: int = 15, thirty_one: int = 31) -> list[int]:
    parts = np.full(scoring.NUM_PLAY_PARTS, -1, np.int64)
    count = sum(map(reference.value, series))
    scoring.play_parts(pack(series), len(series), count, fifteen, thirty_one, parts)
    return [int(points) for points in parts]


def play_points(series: Sequence[int], fifteen: int = 15, thirty_one: int = 31) -> int:
    count = sum(map(reference.value, series))
    return int(scoring.play_points(pack(series), len(series), count, fifteen, thirty_one))


# ---------------------------------------------------------------------------------- the show


@pytest.mark.parametrize("case", cases("show"), ids=lambda case: case["why"])
def test_show_case(case: dict[str, Any]) -> None:
    hand, (starter,) = reference.parse(case["hand"]), reference.parse(case["starter"])
    for is_crib, key in ((False, "hand_points"), (True, "crib_points")):
        assert show_points(hand, starter, is_crib=is_crib) == case[key]
        assert sum(show_parts(hand, starter, is_crib=is_crib).values()) == case[key]


@given(st.permutations(TWO_DECKS), st.integers(1, 9), st.booleans())
def test_show_is_the_oracles(cards: list[int], num_hand: int, is_crib: bool) -> None:
    hand, starter = cards[:num_hand], cards[num_hand]
    expected = reference.show_parts(hand, [starter], is_crib)
    assert show_parts(hand, starter, is_crib=is_crib) == expected
    assert show_points(hand, starter, is_crib=is_crib) == sum(expected.values())


@given(st.permutations(TWO_DECKS), st.integers(1, 9))
def test_show_without_a_starter_is_the_oracles(cards: list[int], num_hand: int) -> None:
    hand = cards[:num_hand]
    expected = reference.show_parts(hand, [], False)
    assert show_parts(hand) == expected
    assert show_points(hand) == sum(expected.values())


FEW_RANKS = st.sampled_from([2, 3, 4, reference.JACK, reference.JOKER])


@given(
    st.lists(st.tuples(FEW_RANKS, st.integers(0, 1)), min_size=2, max_size=7),
    st.booleans(),
    st.booleans(),
)
def test_rich_hands_are_the_oracles(
    cards: list[tuple[int, int]], has_starter: bool, is_crib: bool
) -> None:
    """Few ranks and suits: flushes, nobs, jokers and many of a kind are common."""
    hand = [4 * rank + suit for rank, suit in cards]
    starters = [hand.pop()] if has_starter else []
    expected = reference.show_parts(hand, starters, is_crib)
    assert show_parts(hand, *starters, is_crib=is_crib) == expected
    assert show_points(hand, *starters, is_crib=is_crib) == sum(expected.values())


@given(
    st.sampled_from([ORDINARY, range(0, 52, 4), range(3, 52, 4)]).flatmap(
        lambda cards: st.lists(st.sampled_from(cards), min_size=4, max_size=4, unique=True)
    ),
    st.booleans(),
)
def test_points_by_starter_are_the_oracles(hand: list[int], is_crib: bool) -> None:
    out = np.full(52, -1, np.int64)
    scoring.starter_points(np.array(hand, np.int64), is_crib, scoring.rank_table(15), out)
    for starter in sorted(set(ORDINARY) - set(hand)):
        assert out[starter] == reference.show_points(hand, [starter], is_crib)


def test_crib_without_a_starter_has_no_flush() -> None:
    hand = reference.parse("2H 6H 8H QH")
    assert show_parts(hand)["flush"] == 4
    assert show_parts(hand, is_crib=True)["flush"] == 0
    assert (show_points(hand), show_points(hand, is_crib=True)) == (4, 0)


def test_jokers_have_no_suit() -> None:
    hand = reference.parse("2H 6H 8H")
    hearts_joker = 54
    (starter,) = reference.parse("QH")
    assert show_parts([*hand, hearts_joker], starter)["flush"] == 0
    assert show_parts(hand, hearts_joker)["flush"] == 3
    assert show_parts(hand, hearts_joker, is_crib=True)["flush"] == 0
    assert show_parts([52, 53, 54, 55])["flush"] == 0
    assert show_parts(reference.parse("JC JD JH JS"), hearts_joker)["nobs"] == 0
    assert show_points(reference.parse("JC JD JH JS"), hearts_joker) == 12


def test_two_jacks_of_the_starters_suit_are_both_nobs() -> None:
    hand = reference.parse("JH JH 2C 4D")
    (starter,) = reference.parse("9H")
    assert show_parts(hand, starter)["nobs"] == 2
    assert show_points(hand, starter) == 2 + 2 + 2  # nobs, a pair, and a fifteen


def test_many_fives() -> None:
    fives = reference.parse("5C 5D 5H 5S 5C 5D 5H 5S")
    jokers = [52, 53, 54, 55]
    expected = {"fifteens": 320, "pairs": 20 + 12, "runs": 0, "flush": 0, "nobs": 0}
    assert show_parts([*fives[:5], *jokers]) == expected
    assert show_points([*fives[:5], *jokers]) == 352
    assert show_points([*fives, jokers[0]]) == 224 + 56
    assert show_points([*fives[:5], *jokers[1:]], jokers[0]) == 352


def partitions(total: int, largest: int) -> Iterator[Counter[int]]:
    """Every way to write a total as a sum of numbers up to the largest, order aside."""
    if total == 0:
        yield Counter()
    for part in range(min(total, largest), 0, -1):
        for rest in partitions(total - part, part):
            yield rest + Counter([part])


@pytest.mark.parametrize("num_decks", [1, 2])
@pytest.mark.parametrize("num_jokers", [0, 4])
def test_whole_decks_are_exact(num_decks: int, num_jokers: int) -> None:
    """Every card at once: numbers far beyond any table, by counting choices for each partition."""
    cards = [*ORDINARY, *range(52, 52 + num_jokers)] * num_decks
    same = 4 * num_decks
    held = {value: same * (4 if value == 10 else 1) for value in range(1, 11)}
    fifteens = sum(
        prod(comb(held[value], many) for value, many in parts.items())
        for parts in partitions(15, 10)
    )
    jokers = num_jokers * num_decks
    expected = {
        "fifteens": 2 * fifteens * 2**jokers,
        "pairs": 13 * same * (same - 1) + jokers * max(jokers - 1, 0),
        "runs": (14 * same**13 * jokers) if jokers else 13 * same**13,
        "flush": 0,
        "nobs": 0,
    }
    assert show_parts(cards) == expected
    assert show_points(cards) == sum(expected.values())


# --------------------------------------------------------------------------------- the table


def points_of_ranks(ranks: Sequence[int], fifteen: int) -> int:
    cards = [4 * rank for rank in ranks]
    sums = Counter(sum(map(reference.value, chosen)) for chosen in reference.subsets(cards))
    return 2 * sums[fifteen] + reference.pair_points(cards) + reference.run_points(cards)


def table_place(ranks: Sequence[int]) -> int:
    digits = [*ranks, *[scoring.TABLE_BLANK] * (5 - len(ranks))]
    return int(scoring.table_index(*digits[:4])) + digits[4]


@needs_jit
@pytest.mark.parametrize("fifteen", [2, 15, 16, 25, 99])
def test_table_for_any_fifteen(fifteen: int) -> None:
    table = scoring.rank_table(fifteen)

    @given(st.lists(st.integers(0, 12), max_size=5))
    def check(ranks: list[int]) -> None:
        assert table[table_place(ranks)] == points_of_ranks(ranks, fifteen)

    check()
    assert not table.flags.writeable
    assert table[table_place([])] == 0


def test_table_in_full() -> None:
    """Every multiset of up to five ranks, in its sorted order and in the reverse."""
    table = scoring.rank_table(15)
    for ranks in combinations(range(17), 5):  # choices with repetition, shifted apart
        chosen = [rank - place for place, rank in enumerate(ranks)]
        expected = points_of_ranks(chosen, 15)
        assert table[table_place(chosen)] == expected
        assert table[table_place(chosen[::-1])] == expected


@needs_jit
@given(
    st.lists(st.sampled_from(ORDINARY), min_size=2, max_size=6, unique=True),
    st.sampled_from([10, 20]),
)
def test_show_by_other_rules(hand: list[int], fifteen: int) -> None:
    """The table, and the general scorer for six cards, both read `fifteen` from the rules."""
    rules = Rules(fifteen=fifteen)
    starter = hand.pop()
    ranks = [reference.rank(card) for card in (*hand, starter)]
    expected = points_of_ranks(ranks, fifteen)
    expected += reference.flush_points(hand, [starter], False)
    expected += reference.nobs_points(hand, [starter])
    assert show_points(hand, starter, rules=rules) == expected
    assert sum(show_parts(hand, starter, fifteen=fifteen).values()) == expected


# ---------------------------------------------------------------------------------- the play


@pytest.mark.parametrize("case", cases("pegging"), ids=lambda case: case["why"])
def test_pegging_case(case: dict[str, Any]) -> None:
    series = reference.parse(case["cards"])
    points = [play_points(series[:laid]) for laid in range(1, len(series) + 1)]
    assert points == case["points"]


@given(st.one_of(
    st.permutations(TWO_DECKS).flatmap(
        lambda cards: st.integers(1, 30).map(lambda length: cards[:length])
    ),
    # Few ranks: runs and pairs are common, and series longer than any run.
    st.lists(st.sampled_from([0, 1, 4, 8, 9, 12, 16, 20, 52, 53]), min_size=1, max_size=24),
))  # fmt: skip
def test_pegging_is_the_oracles(series: list[int]) -> None:
    count = sum(map(reference.value, series))
    pairs = max(
        reference.pair_points(series[start:])
        for start in range(len(series))
        if len({reference.rank(card) for card in series[start:]}) == 1
    )
    expected = reference.play_points(series)
    assert play_points(series) == expected
    fifteen, thirty_one, pegged_pairs, run = play_parts(series)
    assert (fifteen, thirty_one) == (2 * (count == 15), 2 * (count == 31))
    assert pegged_pairs == pairs
    assert run == expected - fifteen - thirty_one - pairs


@given(st.permutations(range(13)), st.integers(1, 13), st.booleans())
def test_long_runs_peg_in_any_order(ranks: list[int], length: int, has_joker: bool) -> None:
    """Runs up to the whole ladder, the joker below the ace."""
    lowest = min(13 - length, ranks[0])
    run = [4 * rank for rank in ranks if lowest <= rank < lowest + length]
    series = [4 * 12, *([52] if has_joker else []), *run]
    assert play_points(series) == reference.play_points(series)


def test_pegging_by_other_counts() -> None:
    series = reference.parse("6C 4D")
    assert play_points(series, fifteen=10) == 2
    assert play_points(series, thirty_one=10) == 2
    assert play_points(series) == 0
    assert play_parts(series, fifteen=10)[scoring.PLAY_FIFTEEN] == 2
    assert play_parts(series, thirty_one=10)[scoring.PLAY_THIRTY_ONE] == 2


def test_blank_places_of_a_packed_series_are_no_jokers() -> None:
    assert play_points([52]) == 0
    assert play_points([52, 53]) == 2
    assert play_points([0, 4]) == 0  # an ace and a two upon nothing
    assert play_points([52, 0, 4]) == 3
