"""Random games of every preset that is played otherwise: what must hold in each of them."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import PRESETS, GameBatch, Rules, make_agent
from cribai.engine import state as engine
from cribai.engine.simulate import first_illegal
from hidden_cards import cards_in
from plain_presets import PLAIN

MIXED = Rules(
    name="mixed",
    num_jokers=2,
    num_decks=2,
    num_starters=2,
    draw_before_toss=True,
    draw_after_toss=True,
    two_cribs=True,
    wild_kings=True,
    muggins=True,
    stinkhole=True,
    cards_dealt=7,
)
GIVEN = Rules(
    name="given",
    num_jokers=1,
    chosen_starter=True,
    bid=True,
    bid_takes_whole=True,
    missed_bid_gives=True,
    wild_kings=True,
    cards_dealt=7,
    crib_from_deck=1,
    pone_start=3,
)
LOW = Rules(
    name="low",
    lowball=True,
    two_cribs=True,
    num_starters=2,
    cards_dealt=8,
    target=60,
    skunk_line=None,
    double_skunk_line=None,
)
VARIANTS = [rules for name, rules in PRESETS.items() if name not in PLAIN] + [MIXED, GIVEN, LOW]
variants = pytest.mark.parametrize("rules", VARIANTS, ids=lambda rules: rules.name)


def check_cards(state: Any, rules: Rules) -> None:
    """Every card that was dealt or drawn is held, tossed, given or thrown away, and only those."""
    players = range(rules.num_players)
    dealt = rules.num_players * rules.cards_dealt
    fields = ["hands", "tosses"] + ["thrown"] * rules.is_varied
    held = [card for name in fields for player in players for card in cards_in(state[name][player])]
    drawn = 0
    if rules.is_varied:
        held += cards_in(state["given"][: rules.num_players])
        drawn = int(state["num_thrown"].sum())
    first = rules.cards_needed - rules.num_stock
    deck = state["deck"].tolist()
    assert Counter(held) == Counter(deck[:dealt] + deck[first : first + drawn])
    assert max(Counter(deck[: rules.cards_needed]).values()) <= rules.num_decks
    in_cribs = [
        card
        for row in range(rules.num_cribs)
        for card in state["crib"][row, : state["num_crib"][row]].tolist()
    ]
    from_deck = deck[dealt : dealt + rules.num_cribs * rules.crib_from_deck]
    tossed = [card for player in players for card in cards_in(state["tosses"][player])]
    assert Counter(in_cribs) == Counter(tossed + from_deck)


def check_end(states: NDArray[Any], rules: Rules) -> None:
    scores = states["scores"][:, : rules.num_sides].astype(int)
    winners = states["winner"].astype(int)
    highest = scores.max(axis=1)
    if not rules.two_cribs:
        assert (highest == rules.target).all()
        assert ((scores == rules.target).sum(axis=1) == 1).all()
    assert (highest >= rules.target).all()
    best = scores.min(axis=1) if rules.lowball else highest
    is_level = (scores == best[:, None]).sum(axis=1) > 1
    assert (is_level == (winners == engine.NO_PLAYER)).all()
    won = ~is_level
    assert (scores[won, winners[won]] == best[won]).all()


def play(rules: Rules, size: int, seed: int = 1, pairs: Any = None, check: int = 0) -> GameBatch:
    """Plays random games to the end; every so many steps some of them are looked into."""
    batch = GameBatch.start(size, rules, seed=seed, pairs=pairs)
    player = make_agent("random")
    steps = 0
    while not batch.over.all():
        due = np.flatnonzero(~batch.over)
        views = batch.views(due)
        actions = player.act(views)
        before = batch.states["scores"].copy()
        if check and steps % check == 0:
            look_into(batch, views.action_masks(), due)
        batch.step(actions, due)
        if not rules.bid or rules.missed_bid_gives:
            assert (batch.states["scores"] >= before).all()
        assert (batch.states["scores"] >= 0).all()
        steps += 1
    return batch


def look_into(batch: GameBatch, masks: NDArray[np.int8], due: NDArray[np.int64]) -> None:
    rules = batch.rules
    compiled = engine.compiled_rules(rules)
    for place in range(0, len(due), max(len(due) // 4, 1)):
        check_cards(batch.states[due[place]], rules)
        row = due[[place]]
        edges = [-1, rules.num_tosses, rules.kings_start, rules.num_actions]
        for action in [*edges, *range(place % 7, rules.num_actions, 7)]:
            is_legal = first_illegal(batch.states, compiled, row, np.array([action])) < 0
            assert is_legal == (0 <= action < rules.num_actions and masks[place, action] == 1)
        assert masks[place].any()


@variants
def test_random_games(rules: Rules) -> None:
    batch = play(rules, 60, check=20)
    check_end(batch.states, rules)


@pytest.mark.slow
@variants
def test_many_random_games(rules: Rules) -> None:
    batch = play(rules, 10_000, check=50)
    check_end(batch.states, rules)


@variants
def test_results_do_not_depend_on_the_batch(rules: Rules) -> None:
    whole = play(rules, 6, seed=2)
    for pair in range(6):
        alone = play(rules, 1, seed=2, pairs=[pair])
        for name in ("scores", "winner", "num_decisions", "points", "play_cards"):
            assert (alone.states[name][0] == whole.states[name][pair]).all(), name


def test_heels_are_counted_once_a_deal() -> None:
    batch = play(PRESETS["two_starters"], 40, seed=5)
    heels = batch.states["times"][:, :, engine.DEALER_HEELS].sum(axis=1)
    assert (heels == batch.states["num_deals"]).all()


def test_claims_are_no_points_of_hands() -> None:
    rules = PRESETS["muggins"]
    batch = GameBatch.start(10, rules, seed=6)
    hands = [engine.PONE_HAND, engine.DEALER_HAND, engine.DEALER_CRIB]
    while not batch.over.all():
        due = np.flatnonzero(~batch.over)
        views = batch.views(due)
        actions = make_agent("greedy").act(views)
        # Nothing is announced, all is claimed.
        silent = views.array["phase"] == engine.ANNOUNCE
        batch.step(np.where(silent, rules.announcements_start, actions), due)
    assert (batch.states["points"][:, :, hands] == 0).all()
    assert (batch.states["points"].sum(axis=(1, 2)) > 121).all()


def test_ties_and_high_scores_come_with_two_cribs() -> None:
    batch = play(PRESETS["two_cribs"], 2000, seed=3)
    assert (batch.winners == engine.NO_PLAYER).sum() > 5
    assert (batch.scores.max(axis=1) > 121).mean() > 0.5


def test_only_missed_bids_cost_points() -> None:
    batch = GameBatch.start(50, "bid", seed=4)
    player = make_agent("random")
    num_falls = 0
    for _ in range(600):
        due = np.flatnonzero(~batch.over)
        if not len(due):
            break
        before = batch.states.copy()
        batch.step(player.act(batch.views(due)), due)
        fell = np.argwhere(batch.scores < before["scores"][:, :2])
        for game, side in fell.tolist():
            old = before[game]
            num_falls += 1
            assert side == old["crib_owner"]
            assert batch.states["num_deals"][game] == old["num_deals"] + 1
            lost = int(old["scores"][side]) - batch.scores[game, side]
            assert lost <= old["bids"][side]
    assert num_falls > 20
