"""Every four-card hand with every starter, 12,994,800 of them, against the exact distribution."""

import csv
from collections import Counter
from itertools import combinations
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from cribai.cards import NO_CARD
from cribai.engine import parts as by_parts
from cribai.engine import scoring
from cribai.engine.state import compiled_rules
from cribai.rules import STANDARD

NUM_SHOWS = comb(52, 4) * 48
NUM_SCORES = 30
FIFTEENS, PAIRS, RUNS, NOBS = 33_865_560, 15_288_000, 11_304_960, 940_800
FLUSH = {False: 574_860, True: 128_700}
TOTALS = {False: 61_974_180, True: 61_528_020}

both = pytest.mark.parametrize("is_crib", [False, True], ids=["hand", "crib"])


def exact_histogram(is_crib: bool) -> list[int]:
    text = (Path(__file__).parent / "data" / "show_distribution_exact.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    column = "crib_count" if is_crib else "hand_count"
    counts = {int(row["score"]): int(row[column]) for row in rows}
    return [counts.get(score, 0) for score in range(NUM_SCORES)]


def check_histogram(histogram: NDArray[np.int64], is_crib: bool) -> None:
    assert histogram.tolist() == exact_histogram(is_crib)
    assert histogram.sum() == NUM_SHOWS
    assert histogram @ np.arange(NUM_SCORES) == TOTALS[is_crib]
    if not is_crib:
        assert histogram[[29, 28, 24]].tolist() == [4, 76, 3680]
    assert not histogram[[19, 25, 26, 27]].any()


@both
def test_histogram_of_all_hands(is_crib: bool) -> None:
    histogram = np.zeros(NUM_SCORES, np.int64)
    scoring.show_histogram(is_crib, scoring.rank_table(15), histogram)
    check_histogram(histogram, is_crib)


@both
def test_all_hands_as_games_score_them(is_crib: bool) -> None:
    rules = compiled_rules(STANDARD)
    hands = np.array(list(combinations(range(52), 4)), np.int8)
    histogram = np.zeros(NUM_SCORES, np.int64)
    for starter in range(52):
        possible = hands[(hands != starter).all(axis=1)]
        points = np.full(len(possible), -1, np.int64)
        starters = np.full(len(possible), starter, np.int8)
        scoring.show_points_batch(possible, starters, is_crib, rules, points)
        histogram += np.bincount(points, minlength=NUM_SCORES)
    check_histogram(histogram, is_crib)


def test_totals_by_part() -> None:
    """Ranks by multiset, each weighted by its ways; flushes and nobs by the cards that matter."""
    totals = np.zeros(by_parts.NUM_PARTS, np.int64)
    parts = np.zeros(by_parts.NUM_PARTS, np.int64)
    for steps in combinations(range(17), 5):
        ranks = [step - place for place, step in enumerate(steps)]
        ways = 5 * prod(comb(4, many) for many in Counter(ranks).values())
        by_parts.rank_parts(np.array(ranks, np.int64) * 4, 5, 15, parts)
        totals += ways * parts
    expected = {by_parts.FIFTEENS: FIFTEENS, by_parts.PAIRS: PAIRS, by_parts.RUNS: RUNS}
    assert totals.tolist() == [expected.get(part, 0) for part in range(by_parts.NUM_PARTS)]
    flushes = dict.fromkeys(FLUSH, 0)
    for suit in range(4):
        for hand in combinations(range(suit, 52, 4), 4):
            for is_crib in FLUSH:
                for starter, ways in ((suit ^ 1, 39), (suit, 9)):
                    cards = np.array([*hand, starter], np.int64)
                    flushes[is_crib] += ways * int(by_parts.flush_points(cards, 4, 5, is_crib))
    assert flushes == FLUSH


@njit
def _total_parts(hands: Any, is_crib: bool, totals: Any) -> None:
    parts = np.zeros(by_parts.NUM_PARTS, np.int64)
    cards = np.zeros(5, np.int64)
    for i in range(hands.shape[0]):
        cards[:4] = hands[i]
        for starter in range(52):
            if not (hands[i] == starter).any():
                cards[4] = starter
                by_parts.show_parts(cards, 4, 5, is_crib, 15, parts)
                totals += parts


@pytest.mark.slow
@both
def test_parts_of_all_hands(is_crib: bool) -> None:
    hands = np.array(list(combinations(range(52), 4)), np.int64)
    totals = np.zeros(by_parts.NUM_PARTS, np.int64)
    _total_parts(hands, is_crib, totals)
    assert totals.tolist() == [FIFTEENS, PAIRS, RUNS, FLUSH[is_crib], NOBS]
    assert totals.sum() == TOTALS[is_crib]


def test_hands_without_a_starter() -> None:
    """All four-card hands alone: the table's blank place, against the scorer without a table."""
    hands = np.array(list(combinations(range(52), 4)), np.int8)[::97]
    points = np.full(len(hands), -1, np.int64)
    nothing = np.full(len(hands), NO_CARD, np.int8)
    scoring.show_points_batch(hands, nothing, False, compiled_rules(STANDARD), points)
    parts = np.zeros(by_parts.NUM_PARTS, np.int64)
    for hand, total in zip(hands, points, strict=True):
        by_parts.show_parts(hand, 4, 4, False, 15, parts)
        assert total == parts.sum()
