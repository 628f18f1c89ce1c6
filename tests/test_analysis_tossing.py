"""Exact tosses: averages of hand and crib against counting all tosses and starters one by one."""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

import reference
from cribai import CardError, RulesError, cards_text, parse_cards
from cribai.analysis import tossing
from cribai.analysis.knowledge import DEALER, NUM_KEPT, PONE, kept_index, load_knowledge
from cribai.analysis.policy import (
    CRIB_MEAN,
    HAND,
    NUM_CLASSES,
    NUM_HANDS,
    NUM_TOSS_PARTS,
    OTHER_PEGS,
    OWN_PEGS,
    VALUE,
    class_size,
    toss_parts,
)
from cribai.analysis.tosses import Toss, analyze_tosses
from cribai.engine.scoring import rank_table

TABLE = rank_table(15)
ROLES = (PONE, DEALER)
EXACT = {"rel": 0, "abs": 1e-9}
SLOTS = list(combinations(range(6), 2))

NAMED = [
    "5H 6S 9D KC TD 2C",
    "JC 5C 4C 3C 2C JD",  # a flush in clubs, with jacks to toss or keep
    "AC AD AH AS 2C 2D",
    "9H TH JH QH KH 5H",  # all of one suit
    "7C 7D 8D 8S 9H 6S",
    "5C 5D 5H JS TS KS",
    "JC JD JH JS 5C 5D",
]
_CHANCE = random.Random(3)
HANDS = [*map(parse_cards, NAMED), *(_CHANCE.sample(range(52), 6) for _ in range(5))]

each_hand = pytest.mark.parametrize("hand", HANDS, ids=cards_text)


@cache
def rank_points(*ranks: int) -> int:
    """What the oracle gives for ascending ranks: fifteens, pairs and runs."""
    cards = [4 * rank for rank in ranks]
    return sum(
        points(cards)
        for points in (reference.fifteen_points, reference.pair_points, reference.run_points)
    )


def show_points(hand: Sequence[int], starter: int, is_crib: bool) -> int:
    """The oracle's points of a hand; those of its ranks are remembered."""
    return (
        rank_points(*sorted(card // 4 for card in (*hand, starter)))
        + reference.flush_points(hand, [starter], is_crib)
        + reference.nobs_points(hand, [starter])
    )


@lru_cache(maxsize=1)
def all_rank_points() -> NDArray[np.int64]:
    """The oracle's points of any five ranks in any order."""
    ranks = np.sort(np.indices((13,) * 5).reshape(5, -1), axis=0)
    points = np.zeros((13,) * 5, np.int64)
    for five in combinations_with_replacement(range(13), 5):
        points[five] = rank_points(*five)
    return points[tuple(ranks)].reshape(points.shape)


def random_chances(seed: int) -> NDArray[np.float64]:
    """How often pairs of ranks are tossed, apart and in one suit, made up."""
    chances = np.random.default_rng(seed).random((13, 13, 2)) ** 3
    return np.asarray(chances + chances.transpose(1, 0, 2))


def weight_of(pair: Sequence[int], chances: NDArray[np.float64]) -> float:
    """How often two cards are tossed."""
    low, high = sorted(card // 4 for card in pair)
    return float(chances[low, high, int(pair[0] % 4 == pair[1] % 4)])


def left_of(*known: int) -> list[int]:
    return [card for card in range(52) if card not in known]


def weigh(known: Sequence[int], chances: NDArray[np.float64]) -> Any:
    crib = np.zeros(1, tossing.CRIB)[0]
    tossing.weigh_cribs(np.array(known, np.int64), len(known), chances, crib)
    return crib


def toss_and_keep(hand: Sequence[int], toss: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cards of a toss by its number, and the others; the hand is sorted."""
    tossed = tuple(hand[slot] for slot in SLOTS[toss])
    return tossed, tuple(card for card in hand if card not in tossed)


def crib_by_oracle(
    tossed: Sequence[int], known: Sequence[int], chances: NDArray[np.float64]
) -> float:
    """The average crib: every toss of the opponent's, as likely as it is, with every starter."""
    total = points = 0.0
    unseen = left_of(*known)
    for pair in combinations(unseen, 2):
        weight = weight_of(pair, chances)
        starters = [card for card in unseen if card not in pair]
        crib = (*tossed, *pair)
        points += weight * sum(show_points(crib, starter, True) for starter in starters)
        total += weight * len(starters)
    return points / total


def cribs_by_count(hand: Sequence[int], chances: NDArray[np.float64]) -> list[float]:
    """`crib_by_oracle` of the fifteen tosses, with arrays."""
    unseen = left_of(*hand)
    rows = [
        (*pair, starter)
        for pair in combinations(unseen, 2)
        for starter in unseen
        if starter not in pair
    ]
    third, fourth, starters = np.array(rows).T
    low, high = np.minimum(third, fourth) // 4, np.maximum(third, fourth) // 4
    weights = chances[low, high, (third % 4 == fourth % 4).astype(int)]
    means = []
    for slots in SLOTS:
        first, second = (hand[slot] for slot in slots)
        points = all_rank_points()[first // 4, second // 4, low, high, starters // 4]
        alike = np.stack([third, fourth, starters]) % 4 == first % 4
        points = points + 5 * (alike.all(axis=0) & (first % 4 == second % 4))
        for card in (first, second, third, fourth):
            points = points + ((card // 4 == 10) & (starters % 4 == card % 4))
        means.append(float((weights * points).sum() / weights.sum()))
    return means


def analyzed(hand: Sequence[int], *, is_dealer: bool) -> dict[tuple[int, ...], Toss]:
    return {toss.toss: toss for toss in analyze_tosses(hand, is_dealer=is_dealer)}


# ------------------------------------------------------------------------------------- hands


def test_tosses_are_numbered_like_actions() -> None:
    assert list(zip(tossing.FIRST_SLOT, tossing.SECOND_SLOT, strict=True)) == SLOTS
    cards = np.array([3, 8, 20, 21, 40, 51], np.int64)
    kept = np.zeros(4, np.int64)
    for toss in range(tossing.NUM_TOSSES):
        tossing.split(cards, toss, kept)
        assert tuple(kept.tolist()) == toss_and_keep(cards.tolist(), toss)[1]


@each_hand
def test_hands_over_all_starters(hand: list[int]) -> None:
    hand = sorted(hand)
    chances = np.full((15, 30), np.nan)
    tossing.hand_distributions(np.array(hand, np.int64), TABLE, chances)
    found = analyzed(hand, is_dealer=True)
    for toss in range(15):
        tossed, kept = toss_and_keep(hand, toss)
        points = np.array([show_points(kept, starter, False) for starter in left_of(*hand)])
        assert len(points) == 46
        assert chances[toss] == pytest.approx(np.bincount(points, minlength=30) / 46, **EXACT)
        assert found[tossed].keep == kept
        assert found[tossed].hand == pytest.approx(points.mean(), **EXACT)
        assert found[tossed].hand_variance == pytest.approx(points.var(), **EXACT)
        assert found[tossed].hand_chances == pytest.approx(chances[toss], **EXACT)


# ------------------------------------------------------------------------------------- cribs


@pytest.mark.parametrize(
    ("hand", "toss", "role"),
    [
        ("JC 5C 4C 3C 2C JD", "JC 5C", DEALER),  # a jack, and two cards of one suit
        ("JC 5C 4C 3C 2C JD", "JC JD", PONE),
        ("9H TH JH QH KH 5H", "5H KH", PONE),
        ("AC AD AH AS 2C 2D", "AC AD", DEALER),
    ],
)
def test_cribs_by_the_oracle(hand: str, toss: str, role: int) -> None:
    cards = parse_cards(hand)
    tossed = sorted(parse_cards(toss))
    chances = load_knowledge()[0]["toss_chance"][1 - role]
    expected = crib_by_oracle(tossed, cards, chances)
    found = analyzed(cards, is_dealer=role == DEALER)[tuple(tossed)]
    assert found.crib == pytest.approx(expected, **EXACT)
    counted = cribs_by_count(sorted(cards), chances)
    assert counted[SLOTS.index(tuple(map(sorted(cards).index, tossed)))] == pytest.approx(
        expected, **EXACT
    )


@pytest.mark.parametrize("role", ROLES)
@each_hand
def test_cribs_of_all_tosses(hand: list[int], role: int) -> None:
    hand = sorted(hand)
    expected = cribs_by_count(hand, load_knowledge()[0]["toss_chance"][1 - role])
    found = analyzed(hand, is_dealer=role == DEALER)
    cribs = [found[toss_and_keep(hand, toss)[0]].crib for toss in range(15)]
    assert cribs == pytest.approx(expected, **EXACT)


@each_hand
def test_cribs_however_the_opponent_tosses(hand: list[int]) -> None:
    hand = sorted(hand)
    chances = random_chances(sum(hand))
    crib = weigh(hand, chances)
    pairs = list(combinations(left_of(*hand), 2))
    assert len(pairs) == 1035
    total = sum(weight_of(pair, chances) for pair in pairs)
    assert crib["total"] == pytest.approx(total, rel=1e-12)
    assert crib["num_starters"] == 44
    means = np.empty(15)
    tossing.crib_means(crib, np.array(hand, np.int64), TABLE, means)
    assert means == pytest.approx(cribs_by_count(hand, chances), **EXACT)


@each_hand
def test_chances_of_cribs(hand: list[int]) -> None:
    """Before the starter, of every toss."""
    hand = sorted(hand)
    chances = random_chances(sum(hand) + 1)
    found = np.full((15, 30), np.nan)
    tossing.crib_distributions(weigh(hand, chances), np.array(hand, np.int64), TABLE, found)
    weights: Counter[tuple[int, ...]] = Counter()
    for pair in combinations(left_of(*hand), 2):
        for starter in left_of(*hand, *pair):
            weights[tuple(card // 4 for card in (*pair, starter))] += weight_of(pair, chances)
    expected = np.zeros((15, 30))
    for toss, slots in enumerate(SLOTS):
        tossed = [hand[slot] // 4 for slot in slots]
        for others, weight in weights.items():
            expected[toss, all_rank_points()[(*tossed, *others)]] += weight
    assert found.sum(axis=1) == pytest.approx(1)
    assert found == pytest.approx(expected / expected.sum(axis=1, keepdims=True), **EXACT)


@each_hand
def test_chances_of_the_crib_in_play(hand: list[int]) -> None:
    """Once the starter is turned, and some of the opponent's cards are known."""
    chances = random_chances(sum(hand) + 1)
    tossed = hand[:2]
    others = random.Random(sum(hand)).sample(left_of(*hand), 5)
    found = np.empty(30)
    for num_others in (1, 3, 5):
        known = [*hand, *others[:num_others]]
        starter = others[0]
        tossing.crib_chances(weigh(known, chances), *tossed, starter, TABLE, found)
        expected = np.zeros(30)
        for pair in combinations(left_of(*known), 2):
            ranks = tuple(card // 4 for card in (*tossed, *pair, starter))
            expected[all_rank_points()[ranks]] += weight_of(pair, chances)
        assert found == pytest.approx(expected / expected.sum(), **EXACT)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("role", ROLES)
def test_parts_add_up(role: int, exact: bool) -> None:
    knowledge = load_knowledge()[0]
    for hand in map(sorted, HANDS):
        crib = np.zeros(1, tossing.CRIB)[0]
        hands = np.zeros((15, 30))
        parts = np.full((15, NUM_TOSS_PARTS), np.nan)
        cards = np.array(hand, np.int64)
        toss_parts(cards, role, exact, knowledge, TABLE, crib, hands, parts)
        found = analyzed(hand, is_dealer=role == DEALER)
        for toss, row in enumerate(parts):
            tossed, kept = toss_and_keep(hand, toss)
            expected = found[tossed]
            low, high = (card // 4 for card in tossed)
            suited = int(tossed[0] % 4 == tossed[1] % 4)
            mean = expected.crib if exact else knowledge["crib_mean"][role, low, high, suited]
            pegged = knowledge["pegged"][role, kept_index(*(card // 4 for card in kept))]
            assert row[HAND] == pytest.approx(expected.hand)
            assert row[CRIB_MEAN] == pytest.approx(mean)
            assert row[[OWN_PEGS, OTHER_PEGS]] == pytest.approx(pegged)
            sign = 1 if role == DEALER else -1
            total = row[HAND] + sign * row[CRIB_MEAN] + row[OWN_PEGS] - row[OTHER_PEGS]
            assert row[VALUE] == pytest.approx(total)
            assert expected.pegging == pytest.approx(pegged[0] - pegged[1])
            if exact:
                assert expected.points == pytest.approx(total)


# -------------------------------------------------------------------------- what is reported


def test_tosses_are_ranked() -> None:
    for is_dealer in (True, False):
        for score, other in ((0, 0), (70, 95), (118, 110), (116, 119)):
            tosses = analyze_tosses(
                HANDS[0], is_dealer=is_dealer, score=score, opponent_score=other
            )
            chances = [toss.win_probability for toss in tosses]
            assert chances == sorted(chances, reverse=True)
            assert 0 <= chances[-1] < chances[0] <= 1
            assert {toss.toss for toss in tosses} == set(combinations(sorted(HANDS[0]), 2))


def test_a_crib_is_worth_having() -> None:
    """The dealer tosses a pair of fives that the pone keeps."""
    hand = parse_cards("5C 5D AH 8S 9C QD")
    fives = tuple(sorted(parse_cards("5C 5D")))
    dealer = analyzed(hand, is_dealer=True)[fives]
    pone = analyzed(hand, is_dealer=False)[fives]
    assert dealer.points - pone.points == pytest.approx(
        dealer.crib + pone.crib + dealer.pegging - pone.pegging
    )
    assert analyze_tosses(hand, is_dealer=False)[-1].toss == fives


def test_position_decides_near_the_end() -> None:
    """A pone who needs two points keeps a sure hand; one far behind throws for a great one."""
    hand = parse_cards("6C 7D 8H TS QC 2D")
    sure = analyze_tosses(hand, is_dealer=False, score=116, opponent_score=100)[0]
    assert sum(sure.hand_chances[5:]) == pytest.approx(1)
    assert sure.win_probability > 0.9
    lost = analyze_tosses(hand, is_dealer=False, score=0, opponent_score=120)[0]
    assert lost.win_probability < 0.05


def test_heels() -> None:
    hand = parse_cards("JC 5D AH 8S 9C QD")
    assert analyze_tosses(hand, is_dealer=True)[0].heels == pytest.approx(2 * 3 / 46)


@pytest.mark.parametrize(
    "cards", [[], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, 52]]
)
def test_six_different_cards_are_asked_for(cards: list[int]) -> None:
    with pytest.raises(CardError, match=r"not six different cards; name six\.$"):
        analyze_tosses(cards, is_dealer=True)


@pytest.mark.parametrize("scores", [(121, 0), (0, 121), (-1, 0), (0, -1)])
def test_scores_are_checked(scores: tuple[int, int]) -> None:
    bad = next(score for score in scores if score)
    with pytest.raises(RulesError, match=rf"^The score {bad} is not from 0 to 120\.$"):
        analyze_tosses(HANDS[0], is_dealer=True, score=scores[0], opponent_score=scores[1])


# ----------------------------------------------------------------------------------- classes


def test_kept_hands_are_numbered() -> None:
    places = [kept_index(*ranks) for ranks in combinations_with_replacement(range(13), 4)]
    assert sorted(places) == list(range(NUM_KEPT))
    assert len(places) == comb(16, 4)


def test_a_class_is_its_hands_by_other_names() -> None:
    chance = random.Random(4)
    sizes = set()
    hands = [*HANDS, *(chance.sample(range(52), 6) for _ in range(100))]
    for hand in hands:
        names = list(permutations(range(4)))
        alike = {
            tuple(sorted(card - card % 4 + suits[card % 4] for card in hand)) for suits in names
        }
        found = [int(class_size(np.array(cards, np.int64))) for cards in sorted(alike)]
        assert sorted(found) == [0] * (len(alike) - 1) + [len(alike)]
        sizes.add(len(alike))
    assert sizes >= {4, 12, 24}


@njit
def _count_classes(counts: Any) -> None:
    cards = np.empty(6, np.int64)
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                for d in range(c + 1, 52):
                    for e in range(d + 1, 52):
                        for f in range(e + 1, 52):
                            cards[:] = (a, b, c, d, e, f)
                            size = class_size(cards)
                            counts[0] += size > 0
                            counts[1] += size


@pytest.mark.slow
def test_classes_make_up_all_hands() -> None:
    counts = np.zeros(2, np.int64)
    _count_classes(counts)
    assert counts.tolist() == [NUM_CLASSES, NUM_HANDS] == [962_988, 20_358_520]
