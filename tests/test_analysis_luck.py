"""Luck: zero on average whatever is played, good for the lucky, and most of why games are won."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import PRESETS, STANDARD, GameBatch, Rules, cards_text, make_agent, parse_cards
from cribai.analysis.knowledge import DEALER, PONE, TARGET
from cribai.analysis.luck import LUCK, begin_luck, covers_luck, luck_units, note_luck
from cribai.analysis.luck_tables import (
    CRIB_PART,
    HAND_PART,
    NUM_DEALT,
    PEGGING_PART,
    STEPS,
    dealt_index,
    dealt_ways,
    load_luck_tables,
)
from cribai.analysis.tosses import analyze_tosses
from cribai.engine.scoring import show_points_batch
from cribai.engine.simulate import redeal
from cribai.engine.state import compiled_rules
from plain_presets import PLAIN

pytestmark = pytest.mark.slow

SHORT = PRESETS["short"]
RANKS = list(combinations_with_replacement(range(13), 6))


class LuckyGames:
    """Games between two agents, their luck noted step by step."""

    def __init__(self, size: int, seed: int, rules: Rules = STANDARD, swap: bool = False) -> None:
        numbers = np.arange(size)
        self.batch = GameBatch.start(size, rules, seed=seed, pairs=numbers // 2, games=numbers % 2)
        first = (numbers + swap) % 2
        self.seats = np.ascontiguousarray(np.stack([first, 1 - first], axis=1), np.int8)
        self.rules = compiled_rules(rules)
        self.luck = np.zeros(size, LUCK)
        self.begin()

    def begin(self) -> None:
        places = np.arange(len(self.batch))
        begin_luck(self.batch.states, self.rules, self.seats, places, load_luck_tables(), self.luck)

    def step(self, actions: NDArray[np.int64], places: NDArray[np.int64]) -> None:
        self.batch.step(actions, places)
        note_luck(self.batch.states, self.rules, self.seats, places, load_luck_tables(), self.luck)

    def play(self, *specs: str) -> "LuckyGames":
        agents = [make_agent(spec) for spec in specs]
        while (live := np.flatnonzero(~self.batch.over)).size:
            actors = self.seats[live, self.batch.states["actor"][live]]
            for number, agent in enumerate(agents):
                due = live[actors == number]
                if due.size:
                    self.step(agent.act(self.batch.views(due)), due)
        return self

    @property
    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Agent 0's wins and luck, by pair and game."""
        winners = self.seats[np.arange(len(self.batch)), self.batch.winners]
        return (winners == 0).reshape(-1, 2) * 1.0, self.luck["luck"].reshape(-1, 2)


@pytest.mark.kernels
def test_the_average_hand_is_exact() -> None:
    ways = dealt_ways()
    assert ways.sum() == 20_358_520
    assert np.count_nonzero(ways) == 18_395
    tables = load_luck_tables()[0]
    above = tables["dealt"] - tables["dealt_means"]
    np.testing.assert_allclose(np.tensordot(ways, above, 1) / ways.sum(), 0.0, atol=1e-12)


@pytest.mark.kernels
def test_every_set_of_ranks_has_its_place() -> None:
    hands = 4 * np.array(RANKS)
    places = [dealt_index(hands, row) for row in range(len(hands))]
    assert sorted(places) == list(range(NUM_DEALT))


@pytest.mark.kernels
def test_chances_by_score_are_in_order() -> None:
    tables = load_luck_tables()[0]
    out = tables["no_one_out"].astype(float) + tables["dealer_out"]
    assert out.min() >= 0
    assert out.max() <= 1
    assert (tables["dealer_out"][TARGET:] == 1).all()
    assert (np.diff(tables["chance"], axis=0) <= 0.003).all()
    assert (np.diff(tables["chance"], axis=1) >= -0.003).all()
    assert (tables["chance"][TARGET:] == 0).all()
    weights = tables["weights"].astype(float)
    assert (weights[..., PONE, HAND_PART] <= 0).all()
    assert (weights[..., DEALER, HAND_PART] >= 0).all()
    # Far from the end a point is worth about two hundredths of a game.
    assert weights[0, 0, DEALER, HAND_PART] * STEPS == pytest.approx(0.0185, abs=0.002)


def test_the_table_has_what_the_analysis_says() -> None:
    rng = np.random.default_rng(1)
    tables = load_luck_tables()[0]
    off = []
    for role in (PONE, DEALER):
        for _ in range(40):
            hand = np.sort(rng.permutation(52)[:6])
            tosses = analyze_tosses(hand.tolist(), is_dealer=role == DEALER)
            sign = 1 if role == DEALER else -1
            best = max(toss.hand + sign * toss.crib + toss.pegging for toss in tosses)
            parts = tables["dealt"][dealt_index(hand[np.newaxis], 0), role] / STEPS
            value = parts[HAND_PART] + sign * parts[CRIB_PART] + parts[PEGGING_PART]
            off.append(value - best)
    assert abs(np.mean(off)) < 0.3
    assert np.std(off) < 1.0  # flushes, for the most part


def deal_forty(
    cards: Sequence[int], scores: tuple[int, int], rules: Rules = STANDARD
) -> tuple[LuckyGames, NDArray[Any], NDArray[Any]]:
    """Deals twelve cards, seat 0 the dealer's, with each starter and tosses the lowest two.

    Returns:
        The games after the tosses, the starters, and what each added to the dealer's luck.
    """
    starters = np.setdiff1d(np.arange(52), cards)
    games = LuckyGames(40, seed=1, rules=rules)
    states = games.batch.states
    states["dealer"] = 0
    states["scores"][:, :2] = scores
    for index, starter in enumerate(starters):
        redeal(states, games.rules, index, np.array([*cards, starter]))
    games.seats[:] = (0, 1)
    games.begin()
    dealt = games.luck["luck"].copy()
    assert len(set(dealt.tolist())) == 1
    zeros, places = np.zeros(40, np.int64), np.arange(40)
    games.step(zeros, places)
    assert (games.luck["luck"] == dealt).all()
    games.step(zeros, places)
    return games, starters, games.luck["luck"] - dealt


HANDS = (
    "6C 7C 8C 9C TC JC 4D 4H 5D 5H KH KS",
    "AC 3C 5C JD 5D 5H 2H JH QH KH 7H 9H",
    "AC AD 5C 5D 5H JS 2C 2D TC TD QS KS",
    "2C 3D 5C 5D 5H 5S AC AD KC KD KH KS",
    "AC AD TC TD TH TS 2C 3D 5C 5D 5H 5S",
)
SCORES = ((0, 0), (48, 60), (97, 105), (116, 112), (112, 118), (119, 120), (120, 120))


@pytest.mark.kernels
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("hands", HANDS)
def test_starters_are_fair(hands: str, scores: tuple[int, int]) -> None:
    games, starters, gains = deal_forty(parse_cards(hands), scores)
    assert gains.sum() == pytest.approx(0.0, abs=1e-12)
    heels = starters >> 2 == 10
    if scores[0] >= 119:
        assert (games.batch.over == heels).all()
    else:
        assert not games.batch.over.any()
    # The definition, each starter by itself.
    states, tables = games.batch.states, load_luck_tables()[0]
    ranks_only, shown = [], []
    for cards, is_crib in (
        (states["hands"][:, 1, :4], False),
        (states["hands"][:, 0, :4], False),
        (states["crib"][:, 0, :4], True),
    ):
        points = np.zeros(40, np.int64)
        show_points_batch(np.ascontiguousarray(cards), starters, is_crib, games.rules, points)
        shown.append(points)
        digits = [*(cards >> 2).T, starters >> 2]
        place = sum(digit.astype(np.int64) * 14**i for i, digit in enumerate(digits))
        ranks_only.append(games.rules[0]["table"][place].astype(np.int64))
    dealer, pone = np.array(scores[0]) + 2 * heels, scores[1]
    values = tables["chance"][pone + ranks_only[0], dealer + ranks_only[1] + ranks_only[2]]
    values = tables["no_one_out"][dealer, pone] * values + tables["dealer_out"][dealer, pone]
    by_suit = np.array(shown) - ranks_only
    weights = STEPS * tables["weights"][scores][:, HAND_PART]
    values = values + weights[PONE] * by_suit[0] + weights[DEALER] * (by_suit[1] + by_suit[2])
    np.testing.assert_allclose(gains, values - values.mean(), atol=1e-6)


def test_the_best_hand_is_lucky() -> None:
    cards = parse_cards("2C 3D 5C 5D 5H JS 4D 6C 8H TD QC KS")
    games, starters, gains = deal_forty(cards, (0, 0))
    hand = games.batch.states["hands"][0, 0, :4].tolist()
    assert cards_text(hand) == "5C 5D 5H JS"
    assert games.luck["luck"][0] - gains[0] > 0.1
    assert starters[np.argmax(gains)] == parse_cards("5S")[0]
    assert gains.max() > 0.08
    # Near the end it is worth nothing to a dealer whose opponent counts out first.
    assert abs(deal_forty(cards, (90, 120))[2]).max() < 0.1


@pytest.mark.kernels
def test_a_short_game_begins_above_zero() -> None:
    cards = parse_cards(HANDS[0])
    ahead = TARGET - SHORT.target
    short = deal_forty(cards, (20, 30), SHORT)[0].luck["luck"]
    assert (short == deal_forty(cards, (20 + ahead, 30 + ahead))[0].luck["luck"]).all()


def test_one_agents_luck_is_the_others_misfortune() -> None:
    luck = LuckyGames(60, seed=2).play("greedy", "random").luck
    swapped = LuckyGames(60, seed=2, swap=True).play("random", "greedy").luck
    assert (luck["luck"] == -swapped["luck"]).all()
    assert (luck["num_deals"] > 4).all()
    assert luck["luck"].std() > 0.2


def test_like_games_have_like_luck() -> None:
    _, luck = LuckyGames(200, seed=4).play("greedy", "greedy").pairs
    assert (luck.sum(axis=1) == 0).all()
    fewer = LuckyGames(20, seed=4).play("greedy", "greedy").luck
    assert (fewer["luck"] == luck.ravel()[:20]).all()


@pytest.mark.parametrize("rules", [STANDARD, SHORT], ids=lambda rules: rules.name)
@pytest.mark.parametrize("agents", [("random", "random"), ("greedy", "random")])
def test_luck_is_zero_on_average(agents: tuple[str, str], rules: Rules) -> None:
    _, luck = LuckyGames(10_000, seed=5, rules=rules).play(*agents).pairs
    by_pair = luck.mean(axis=1)
    assert abs(by_pair.mean()) < 4 * by_pair.std() / len(by_pair) ** 0.5


def test_luck_explains_most_of_the_games_won() -> None:
    wins, luck = LuckyGames(6_000, seed=6).play("expectimax:preset=fast", "greedy").pairs
    single = np.corrcoef(wins[:, 0], luck[:, 0])[0, 1]
    assert 1 / (1 - single**2) > 2.0
    pair = np.corrcoef(wins.sum(axis=1), luck.sum(axis=1))[0, 1]
    assert 1 / (1 - pair**2) > 1.4
    slope, _ = np.polyfit(luck.ravel(), wins.ravel(), 1)
    assert slope == pytest.approx(1.0, abs=0.1)


def test_units_are_millionths() -> None:
    assert luck_units([0.1234567, -0.5, 0.0]).tolist() == [123_457, -500_000, 0]
    assert luck_units(-0.25).dtype == np.int64


def test_which_rules_are_covered() -> None:
    covered = {name for name, rules in PLAIN.items() if covers_luck(rules)}
    assert covered == {"standard", "short"}
    assert not covers_luck(replace(STANDARD, name="long", target=122))
