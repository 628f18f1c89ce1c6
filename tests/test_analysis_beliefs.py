"""Beliefs: what cannot be is ruled out, and the rest is as likely as the cards and play make it."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from cribai import GameBatch, View, make_agent
from cribai.analysis.beliefs import BELIEF, believe
from cribai.analysis.knowledge import (
    DEALER,
    NUM_KEPT,
    PONE,
    empty_knowledge,
    kept_index,
    load_knowledge,
)
from cribai.analysis.lays import LAYS, value_lays
from cribai.analysis.pegging import GREEDY
from cribai.analysis.positions import POINTS
from cribai.engine.state import PLAY, compiled_rules
from cribai.rules import STANDARD

Ranks = tuple[int, ...]

PLAYERS = ["greedy", "random", "expectimax:preset=fast"]
DOUBT = 0.02
GREED = 1.5


def options(doubt: float, greed: float) -> Any:
    lays = np.zeros(1, LAYS)[0]
    lays["doubt"] = doubt
    lays["greed"] = greed
    return lays


def believed(
    record: Any, tables: Any = None, *, doubt: float = DOUBT, greed: float = GREED
) -> dict[Ranks, float]:
    """The weights of the hands that the opponent may yet hold, by their ascending ranks."""
    belief = np.zeros(1, BELIEF)[0]
    tables = load_knowledge() if tables is None else tables
    believe(record, tables[0], options(doubt, greed), belief)
    number = int(belief["num_hands"])
    weights = belief["weights"][:number].tolist()
    hands = map(unpack, belief["hands"][:number].tolist())
    found = dict(zip(hands, weights, strict=True))
    assert len(found) == number
    assert belief["total"] == pytest.approx(sum(weights))
    assert min(weights) >= 0
    return found


def unpack(hand: int) -> Ranks:
    ranks = []
    while hand:
        ranks.append((hand & 15) - 1)
        hand >>= 4
    assert ranks == sorted(ranks)
    return tuple(ranks)


def decisions(
    player: str, num_games: int, seed: int, *, first_deals: bool = False
) -> Iterator[tuple[NDArray[Any], list[Ranks]]]:
    """Views with a card to be laid, and the ranks that the opponent then held, in lockstep."""
    batch = GameBatch.start(num_games, seed=seed)
    agent = make_agent(player)
    due = np.arange(num_games)
    while due.size:
        views = batch.views(due)
        states = batch.states[due]
        laying = np.flatnonzero(states["phase"] == PLAY)
        truths = []
        for state in states[laying]:
            other = 1 - int(state["actor"])
            hand, played = state["hands"][other], int(state["played"][other])
            truths.append(tuple(int(hand[i]) >> 2 for i in range(4) if not played >> i & 1))
        yield views.array[laying], truths
        batch.step(agent.act(views), due)
        ended = (batch.states["num_deals"] > 1) if first_deals else batch.over
        due = np.flatnonzero(~(batch.over | ended))


def unseen_by(view: View) -> list[int]:
    seen = {*view.kept, *view.tossed, view.starter, *(card for _, card in view.plays)}
    return [card for card in range(52) if card not in seen]


def laid_by_opponent(view: View) -> list[int]:
    return [card for player, card in view.plays if player == 1]


def ways(view: View) -> Counter[Ranks]:
    """How many sets of unseen cards make each hand that no go rules out."""
    go = view.go_counts[1]
    cards = [card for card in unseen_by(view) if go is None or go + reference.value(card) > 31]
    ranks = [card // 4 for card in cards]
    return Counter(combinations(ranks, view.num_left[1]))


def passed_up(view: View, hand: Ranks) -> int:
    """The points that an opponent with this hand left lay unpegged, over all his lays."""
    lays = view.plays
    total = 0
    series: list[int] = []
    held = Counter([*(card // 4 for card in laid_by_opponent(view)), *hand])
    for player, card in lays:
        if sum(map(reference.value, [*series, card])) > 31:
            series = []
        if player == 1:
            could = [
                reference.play_points([*series, 4 * rank])
                for rank in held.elements()
                if sum(map(reference.value, [*series, 4 * rank])) <= 31
            ]
            total += max(could) - reference.play_points([*series, card])
            held[card // 4] -= 1
        series.append(card)
    return total


def sampled_views(player: str, num_games: int, seed: int, every: int) -> list[View]:
    found = []
    for array, _ in decisions(player, num_games, seed, first_deals=True):
        found += [View(record, STANDARD) for record in array[::every]]
    return found


# ------------------------------------------------------------------------------ what cannot be


@pytest.mark.parametrize("player", PLAYERS)
def test_the_truth_is_possible(player: str) -> None:
    """In whole games, for both seats, the hand really held has weight, and all hands its size."""
    num_hands = 0
    with_gos = 0
    for array, truths in decisions(player, 6, seed=21):
        for record, truth in zip(array, truths, strict=True):
            found = believed(record)
            assert found[truth] > 0
            assert {len(hand) for hand in found} == {len(truth)}
            num_hands += len(found)
            with_gos += record["go_counts"][1] < 31
    assert num_hands > 50_000
    assert with_gos > 50


def test_seen_cards_are_not_held() -> None:
    for view in sampled_views("random", 20, 5, 1):
        left = Counter(card // 4 for card in unseen_by(view))
        for hand in believed(view.record):
            assert all(number <= left[rank] for rank, number in Counter(hand).items())


@pytest.mark.parametrize("where", ["hand", "tossed", "starter", "play_cards"])
def test_every_seen_card_counts(where: str) -> None:
    """One king more in sight, wherever it lies, leaves one fewer to be held."""
    view = next(
        view
        for view in sampled_views("random", 200, 6, 1)
        if view.num_left == (3, 3)
        and not {card // 4 for card in (*view.kept, *view.tossed, view.starter or 0)} & {12}
        and all(card // 4 < 12 for _, card in view.plays)
        and view.go_counts[1] is None
    )
    tables = empty_knowledge()

    def kings(record: Any) -> list[float]:
        found = believed(record, tables, doubt=0, greed=0)
        return [
            sum(weight for hand, weight in found.items() if hand.count(12) == number)
            for number in range(4)
        ]

    num_cards = len(unseen_by(view))
    assert kings(view.record) == pytest.approx(
        [math.comb(4, number) * math.comb(num_cards - 4, 3 - number) for number in range(4)]
    )
    record = view.record.copy()
    if where == "starter":
        record["starter"] = 51
    elif where == "play_cards":
        place = view.record["play_players"].tolist().index(1)
        record["play_cards"][place] = 51
    else:
        record[where][0] = 51
    assert kings(record) == pytest.approx(
        [math.comb(3, number) * math.comb(num_cards - 3, 3 - number) for number in range(4)]
    )


@pytest.mark.parametrize("count", range(22, 31))
def test_a_go_rules_out_what_would_fit(count: int) -> None:
    view = next(view for view in sampled_views("random", 50, 7, 1) if view.num_left[1] == 2)
    record = view.record.copy()
    record["go_counts"][1] = count
    held = {rank for hand in believed(record) for rank in hand}
    values = {reference.value(4 * rank) for rank in held}
    assert min(values) == 31 - count + 1
    left = {card // 4 for card in unseen_by(view)}
    assert held == {rank for rank in left if count + reference.value(4 * rank) > 31}


def test_an_empty_hand_is_known() -> None:
    """An opponent who has laid all his cards holds none, and the rest of the play is plain."""
    found = [view for view in sampled_views("random", 200, 8, 1) if view.num_left[1] == 0]
    assert len(found) > 20
    for view in found:
        assert list(believed(view.record)) == [()]


# ---------------------------------------------------------------------------- exact weights


@pytest.mark.parametrize("player", PLAYERS)
def test_weights_count_the_ways(player: str) -> None:
    """Where nothing is known of how hands are kept and laid, each set of cards is as likely."""
    sizes = Counter[int]()
    for view in sampled_views(player, 12, 9, 2):
        if view.num_left[1] == 0:
            continue
        sizes[view.num_left[1]] += 1
        if view.num_left[1] == 4 and sizes[4] > 5:
            continue
        expected = ways(view)
        exact = believed(view.record, empty_knowledge(), doubt=0, greed=0)
        assert exact == pytest.approx(dict(expected), rel=1e-12)
        doubtful = believed(view.record, doubt=1e9, greed=0)
        assert {hand: weight / 1e9 for hand, weight in doubtful.items()} == pytest.approx(
            dict(expected), rel=1e-8
        )
    assert set(sizes) == {1, 2, 3, 4}


def test_weights_follow_keeping_and_laying() -> None:
    """Ways, times how often the four are kept, times a factor for every point passed up."""
    keep_chance = load_knowledge()[0]["keep_chance"]
    num_passing = 0
    for player in ("greedy", "random"):
        for view in sampled_views(player, 40, 10, 1):
            if view.num_left[1] not in (1, 2):
                continue
            role = PONE if view.is_dealer else DEALER
            laid = [card // 4 for card in laid_by_opponent(view)]
            expected = {}
            for hand, number in ways(view).items():
                place = kept_index(*sorted([*hand, *laid]))
                passed = passed_up(view, hand)
                num_passing += passed > 0
                kept = keep_chance[role, place] + DOUBT
                expected[hand] = number * kept * math.exp(-GREED * passed)
            assert believed(view.record) == pytest.approx(expected, rel=1e-9)
    assert num_passing > 100


def test_some_hand_is_believed_whatever_is_laid() -> None:
    """Not even a player sure that points are never passed up is at a loss when they are."""
    for view in sampled_views("random", 100, 11, 1):
        found = believed(view.record, doubt=0, greed=1000)
        assert sum(found.values()) > 0


# -------------------------------------------------------------------------------- calibration


Event = Callable[[NDArray[np.int64]], NDArray[np.bool_]]


def events(
    num_deals: int, seed: int, event: Event
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The believed chances of events and whether they were so, as expectimax plays itself.

    `event` takes packed hands and returns which events they show, a row for each.
    """
    tables = load_knowledge()[0]
    lays = options(DOUBT, GREED)
    belief = np.zeros(1, BELIEF)[0]
    chances, facts = [], []
    player = "expectimax:preset=fast"
    for array, truths in decisions(player, num_deals, seed, first_deals=True):
        for record, truth in zip(array, truths, strict=True):
            if not truth:
                continue
            believe(record, tables, lays, belief)
            number = int(belief["num_hands"])
            weights = belief["weights"][:number] / belief["total"]
            chances.append(weights @ event(belief["hands"][:number]))
            packed = sum((rank + 1) << 4 * place for place, rank in enumerate(truth))
            facts.append(event(np.array([packed]))[0])
    return np.concatenate(chances), np.concatenate(facts)


def holds_rank(hands: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether hands hold at least one card of each rank."""
    held = np.zeros((len(hands), 14), np.bool_)
    for place in range(4):
        held[np.arange(len(hands)), hands >> 4 * place & 15] = True
    return held[:, 1:]


def holds_a_pair_or_a_low_card(hands: NDArray[np.int64]) -> NDArray[np.bool_]:
    digits = [hands >> 4 * place & 15 for place in range(4)]
    pair = np.zeros(len(hands), np.bool_)
    for one, other in pairwise(digits):
        pair |= (one == other) & (one > 0)
    return np.stack([pair, digits[0] < 5], axis=1)


EDGES = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85]


@pytest.mark.parametrize("num_deals", [400, pytest.param(6000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("event", [holds_rank, holds_a_pair_or_a_low_card])
def test_beliefs_are_calibrated(event: Event, num_deals: int) -> None:
    """What is believed likely at some rate happens at about that rate."""
    chances, facts = events(num_deals, 12, event)
    places = np.digitize(chances, EDGES)
    num_bins = 0
    off = 0.0
    for place in range(len(EDGES) + 1):
        inside = places == place
        if not inside.any():
            continue
        difference = float(facts[inside].mean() - chances[inside].mean())
        off += inside.mean() * abs(difference)
        if inside.sum() >= 500:
            num_bins += 1
            assert abs(difference) < 0.08
    assert num_bins >= 5
    assert off < 0.025


def test_beliefs_say_more_than_the_cards_alone() -> None:
    """The hand held is much likelier when keeping and laying are considered."""
    gains = []
    for array, truths in decisions("expectimax:preset=fast", 100, seed=14, first_deals=True):
        for record, truth in zip(array, truths, strict=True):
            if truth:
                informed = believed(record)
                even = believed(record, empty_knowledge(), doubt=0, greed=0)
                share = informed[truth] / sum(informed.values())
                gains.append(math.log(share * sum(even.values()) / even[truth]))
    assert np.mean(gains) > 0.3


# -------------------------------------------------------------------- what is sampled from them


def worths(
    record: Any, tables: Any, *, samples: int, doubt: float = DOUBT
) -> tuple[float, ...] | None:
    """What the lays to choose from are worth in points; None where there is no choice."""
    lays = options(doubt, GREED)
    lays["stake"] = POINTS
    lays["target"] = STANDARD.target
    lays["samples"] = samples
    lays["replies"] = GREEDY
    value_lays(record, compiled_rules(STANDARD)[0], tables[0], lays)
    if lays["num_choices"] < 2:
        return None
    return tuple(np.round(lays["worths"][lays["considered"] == 1], 6).tolist())


def test_samples_do_not_know_the_truth() -> None:
    """A sampled hand is like the true one no more often than with keys drawn afresh."""
    chance = np.random.default_rng(15)
    tables = load_knowledge()
    certain = tables.copy()
    real, fresh = [], []
    for array, truths in decisions("expectimax:preset=fast", 200, seed=15, first_deals=True):
        for record, truth in zip(array, truths, strict=True):
            sampled = worths(record, tables, samples=1)
            if sampled is None or not truth:
                continue
            role = PONE if record["dealer"] == 0 else DEALER
            laid = [card // 4 for card in laid_by_opponent(View(record, STANDARD))]
            certain["keep_chance"] = 0
            certain["keep_chance"][0, role, kept_index(*sorted([*truth, *laid]))] = 1
            true = worths(record, certain, samples=NUM_KEPT, doubt=0)
            real.append(sampled == true)
            other = record.copy()
            for key in chance.integers(2**64, size=8, dtype=np.uint64):
                other["key"] = key
                fresh.append(worths(other, tables, samples=1) == true)
    rate = float(np.mean(fresh))
    assert 0.05 < rate < 0.5
    error = math.sqrt(rate * (1 - rate) / len(real) * (1 + 1 / 8))
    assert len(real) > 500
    assert float(np.mean(real)) == pytest.approx(rate, abs=4 * error)


@pytest.mark.parametrize("samples", [1, 5])
def test_samples_come_as_likely_as_they_weigh(samples: int) -> None:
    """Over many keys, samples average to what all hands together say."""
    chance = np.random.default_rng(16)
    tables = load_knowledge()
    num_views = 0
    for view in sampled_views("expectimax:preset=fast", 60, 16, 11):
        exact = worths(view.record, tables, samples=NUM_KEPT)
        if exact is None or len(believed(view.record)) <= samples:
            continue
        num_views += 1
        record = view.record.copy()
        found = []
        for key in chance.integers(2**64, size=400, dtype=np.uint64):
            record["key"] = key
            found.append(worths(record, tables, samples=samples))
        error = np.std(found, axis=0) / math.sqrt(len(found)) + 1e-4
        assert (abs(np.mean(found, axis=0) - exact) < 5 * error).all()
    assert num_views > 15
