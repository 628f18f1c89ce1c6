"""Deals, cuts and random keys: functions of where a game is, fair, and never changed silently."""

import json
import random
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from cribai import PRESETS, Game, GameBatch, card_text, cards_text, get_rules
from cribai.engine import dealing
from cribai.engine.simulate import deal_due, step_batch
from cribai.engine.state import DISCARD, compiled_rules, new_log
from plain_presets import PLAIN

GOLDEN = Path(__file__).parent / "golden" / "deals.json"
WORDS = st.integers(0, 2**64 - 1)
LEAST_CHANCE = 1e-4  # the seeds are fixed, so that a fair stream passes once and for all
MASK = 2**64 - 1


def num_needed(rules_name: str) -> int:
    rules = PRESETS[rules_name]
    return rules.num_players * rules.cards_dealt + rules.crib_from_deck + 1


def fronts(
    size: int,
    rules: str = "standard",
    *,
    seed: int = 1,
    pairs: Sequence[int] | None = None,
    games: int = 0,
    first_dealer: int | None = None,
) -> NDArray[np.int64]:
    """The dealt cards of new games, one row each."""
    batch = GameBatch.start(
        size, rules, seed=seed, pairs=pairs, games=games, first_dealer=first_dealer
    )
    return batch.states["deck"][:, : num_needed(rules)].astype(np.int64)


def play_deal(batch: GameBatch, chance: random.Random) -> None:
    """Plays every game of a batch to its next deal by random moves, or to its end."""
    deals = batch.states["num_deals"].copy()
    while True:
        due = np.flatnonzero(~batch.over & (batch.states["num_deals"] == deals))
        if len(due) == 0:
            return
        masks = batch.views(due).action_masks()
        actions = [chance.choice(np.flatnonzero(mask).tolist()) for mask in masks]
        batch.step(actions, due)


def assert_even(counts: Any) -> None:
    assert chisquare(np.asarray(counts).ravel()).pvalue > LEAST_CHANCE


# ------------------------------------------------------------------------------- the numbers


@pytest.mark.kernels
def test_mixer_is_split_mix_64() -> None:
    """The first outputs of the published generator seeded with 0."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    assert [int(dealing.combine(np.uint64(0), number)) for number in range(4)] == published


@pytest.mark.kernels
@given(WORDS, st.integers(1, 56))
def test_bounded_number_is_the_scaled_upper_half(word: int, bound: int) -> None:
    number = dealing.below(np.uint64(word), bound)
    assert number == (word >> 32) * bound >> 32
    assert 0 <= number < bound


def mixed(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def branch(key: int, number: int) -> int:
    return mixed(key + (number + 1) * 0x9E3779B97F4A7C15 & MASK)


def stream(domain: bytes, seed: int, pair: int) -> int:
    return branch(branch(int.from_bytes(domain, "big"), seed), pair)


def shuffled(key: int, needed: int, size: int = 52) -> list[int]:
    """The front of the deck by Fisher and Yates, two cards from each word."""
    deck = list(range(size))
    for place in range(needed):
        word = branch(key, place // 2)
        half = word & 2**32 - 1 if place % 2 else word >> 32
        other = place + (half * (size - place) >> 32)
        deck[place], deck[other] = deck[other], deck[place]
    return deck[:needed]


@pytest.mark.kernels
@given(WORDS, st.integers(0, 2**40), st.sampled_from(list(PLAIN)))
def test_deal_is_a_shuffle_by_its_place(seed: int, pair: int, rules: str) -> None:
    (front,) = fronts(1, rules, seed=seed, pairs=[pair])
    assert front.tolist() == shuffled(branch(stream(b"deal", seed, pair), 0), num_needed(rules))


@pytest.mark.kernels
@pytest.mark.parametrize("rules", PLAIN)
def test_game_deals_what_the_deck_holds(rules: str) -> None:
    game = Game(rules, seed=5, pair=3)
    sizes = PRESETS[rules]
    for number in range(3):
        front = shuffled(branch(stream(b"deal", 5, 3), number), num_needed(rules))
        for seat, hand in enumerate(game.hands):
            dealt = front[seat * sizes.cards_dealt : (seat + 1) * sizes.cards_dealt]
            assert list(hand) == sorted(dealt)
        rest = front[sizes.num_players * sizes.cards_dealt :]
        assert list(game.crib) == rest[:-1]
        starters = []
        while game.deal_number == number:
            starters.append(game.starter)
            game.push(game.legal_actions[0])
        tosses = sizes.num_players
        assert starters == [None] * tosses + [rest[-1]] * (len(starters) - tosses)


# --------------------------------------------------------------------------------- the place


@pytest.mark.kernels
def test_deals_depend_on_seed_pair_and_number_only() -> None:
    """Other moves, dealers, games, batches and targets: the same cards, deal after deal."""
    pairs = [7, 0, 3]
    batches = [
        GameBatch.start(3, "standard", seed=9, pairs=pairs, games=[0, 1, 2]),
        GameBatch.start(3, "standard", seed=9, pairs=pairs, first_dealer=0),
        GameBatch.start(3, "standard", seed=9, pairs=pairs, first_dealer=1),
        GameBatch.start(5, "short", seed=9, pairs=[1, *pairs, 1], games=5),
        GameBatch.start(1, "standard", seed=9, pairs=pairs[:1]),
    ]
    rows = [slice(3), slice(3), slice(3), slice(1, 4), slice(1)]
    chance = random.Random(4)
    for _ in range(3):
        expected = batches[0].states["deck"][:, :13].tolist()
        for batch, row in zip(batches, rows, strict=True):
            assert not batch.over.any()
            cards = batch.states["deck"][row, :13].tolist()
            assert cards == expected[: len(cards)]
            play_deal(batch, chance)


@pytest.mark.kernels
def test_deals_differ_by_seed_pair_and_number() -> None:
    batches = [GameBatch.start(20, "standard", seed=seed) for seed in (0, 1, 2, 2**63, 2**64 - 1)]
    seen: set[tuple[int, ...]] = set()
    for _ in range(3):
        for batch in batches:
            seen.update(map(tuple, batch.states["deck"][:, :13].tolist()))
            play_deal(batch, random.Random(1))
    assert len(seen) == 5 * 20 * 3


@pytest.mark.kernels
@pytest.mark.parametrize("rules", PLAIN)
def test_no_card_is_dealt_twice(rules: str) -> None:
    cards = np.sort(fronts(300, rules), axis=1)
    assert (np.diff(cards) > 0).all()
    assert cards.min() >= 0
    assert cards.max() < get_rules(rules).deck_size


def golden_row(rules: str, seed: int, pair: int) -> dict[str, Any]:
    game = Game(rules, seed=seed, pair=pair)
    deals: list[dict[str, Any]] = []
    keys: list[str] = []
    while not game.is_over and len(deals) < 2:
        deal = game.deal()
        deals.append(
            {
                "hands": [cards_text(hand) for hand in deal.hands],
                "to_crib": cards_text(deal.to_crib),
                "starter": card_text(deal.starter),
            }
        )
        number = game.deal_number
        while game.deal_number == number:
            keys.append(f"{game.view().key:016x}")
            game.push(game.legal_actions[-1])
    return {
        "rules": rules,
        "seed": seed,
        "pair": pair,
        "first_dealer": game.first_dealer,
        "deals": deals,
        "keys": keys[:4],
    }


@pytest.mark.kernels
@pytest.mark.parametrize("row", json.loads(GOLDEN.read_text("utf-8")), ids=str)
def test_streams_never_change(row: dict[str, Any]) -> None:
    """Published results name seeds: a change here is a new major version."""
    assert golden_row(row["rules"], row["seed"], row["pair"]) == row


# ------------------------------------------------------------------------------- the chances


@pytest.mark.parametrize(("rules", "size"), [("standard", 200_000), ("four_player", 100_000)])
def test_every_card_is_as_likely_in_every_place(rules: str, size: int) -> None:
    cards = fronts(size, rules, seed=2)
    for place in range(cards.shape[1]):
        assert_even(np.bincount(cards[:, place], minlength=52))


@pytest.mark.parametrize("places", [(0, 1), (1, 2), (0, 6), (5, 12), (11, 12)])
def test_every_two_cards_are_as_likely_together(places: tuple[int, int]) -> None:
    """In neighbouring places, of one word or of two, in two hands, in a hand and the starter."""
    first, second = fronts(300_000, seed=3)[:, places].T
    joint = np.bincount(52 * first + second, minlength=52 * 52).reshape(52, 52)
    assert not np.diag(joint).any()
    assert_even(joint[~np.eye(52, dtype=bool)])


@pytest.mark.parametrize("step", ["seed", "pair", "deal"])
def test_neighbouring_deals_are_independent(step: str) -> None:
    size = 200_000
    if step == "seed":
        both = [
            np.array([fronts(1, seed=seed)[0] for seed in range(20_001)])[rows]
            for rows in (slice(None, -1), slice(1, None))
        ]
    elif step == "pair":
        cards = fronts(size, seed=4)
        both = [cards[:-1], cards[1:]]
    else:
        batch = GameBatch.start(size, seed=5)
        both = [batch.states["deck"].astype(np.int64)]
        indices = np.arange(size)
        rules = compiled_rules(batch.rules)
        for _ in range(10):  # two tosses, then eight cards: each time the first legal action
            masks = batch.views().action_masks()
            step_batch(batch.states, rules, new_log(False), indices, masks.argmax(axis=1))
            deal_due(batch.states, rules, indices)
        assert (batch.states["num_deals"] == 2).all()
        assert (batch.states["phase"] == DISCARD).all()
        both.append(batch.states["deck"].astype(np.int64))
    for place in (0, 1, 12):
        ranks, other = both[0][:, place] // 4, both[1][:, place] // 4
        assert_even(np.bincount(13 * ranks + other, minlength=169))
        assert_even(np.bincount((both[0][:, place] - both[1][:, place]) % 52, minlength=52))


@pytest.mark.parametrize("rules", ["standard", "three_player", "four_player"])
def test_cut_for_the_deal_is_fair(rules: str) -> None:
    batch = GameBatch.start(200_000, rules, seed=6)
    dealers = batch.states["first_dealer"].astype(np.int64)
    num_players = batch.rules.num_players
    counts = np.bincount(dealers)
    assert len(counts) == num_players
    assert_even(counts)
    assert (batch.states["dealer"] == dealers).all()
    # Nor does it tell anything of the next pair's cut, or of the starter.
    assert_even(np.bincount(num_players * dealers[:-1] + dealers[1:]))
    starters = batch.states["deck"][:, num_needed(rules) - 1].astype(np.int64)
    assert_even(np.bincount(num_players * (starters // 4) + dealers))


def cut(key: int, num_players: int) -> tuple[int, int]:
    """Who deals, and how often all had to cut; each cuts from what those before him left."""
    draws = 0
    rounds = 0
    while True:
        cards: list[int] = []
        while len(cards) < num_players:
            card = (branch(key, draws) >> 32) * 52 >> 32
            draws += 1
            if card not in cards:
                cards.append(card)
        rounds += 1
        ranks = [card // 4 for card in cards]
        if ranks.count(min(ranks)) == 1:
            return ranks.index(min(ranks)), rounds


@pytest.mark.kernels
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_lowest_cut_deals_and_ties_are_cut_again(num_players: int) -> None:
    rules = {2: "standard", 3: "three_player", 4: "four_player"}[num_players]
    dealers = GameBatch.start(1000, rules, seed=7).states["first_dealer"].tolist()
    cuts = [cut(stream(b"cut", 7, pair), num_players) for pair in range(1000)]
    assert dealers == [winner for winner, _ in cuts]
    assert sum(rounds > 1 for _, rounds in cuts) > 30
    assert max(rounds for _, rounds in cuts) > 2


# ---------------------------------------------------------------------------------- the keys


def test_domains_do_not_collide() -> None:
    domains = [dealing.DOMAIN_DEAL, dealing.DOMAIN_CUT, dealing.DOMAIN_AGENT]
    keys = {
        int(dealing.stream_key(np.uint64(seed), domain, pair))
        for domain in domains
        for seed in [*range(30), *map(int, domains), MASK]
        for pair in range(300)
    }
    assert len(keys) == 3 * 34 * 300


@pytest.mark.kernels
@pytest.mark.parametrize("rules", ["standard", "four_player"])
def test_no_two_decisions_have_one_key(rules: str) -> None:
    """Keys differ by seed, pair, game, seat and decision, and are functions of these alone."""
    seen: dict[int, tuple[int, ...]] = {}
    for seed, game in permutations(range(3), 2):
        for dealer in (0, 1):
            batch = GameBatch.start(8, rules, seed=seed, games=game, first_dealer=dealer)
            play_deal_keys(batch, (seed, game), seen, random.Random(dealer))
    assert len(seen) == len(set(seen.values()))
    for part in range(5):
        assert len({place[part] for place in seen.values()}) > 1


def play_deal_keys(
    batch: GameBatch,
    where: tuple[int, int],
    seen: dict[int, tuple[int, ...]],
    chance: random.Random,
) -> None:
    for _ in range(14):
        views = batch.views()
        for pair, view in enumerate(views):
            place = (*where, pair, view.player, view.decision)
            assert seen.setdefault(view.key, place) == place
        masks = views.action_masks()
        batch.step([chance.choice(np.flatnonzero(mask).tolist()) for mask in masks])


def test_keys_are_even_in_every_bit() -> None:
    keys = GameBatch.start(100_000, seed=8).views().array["key"]
    for bit in range(64):
        ones = int(((keys >> np.uint64(bit)) & np.uint64(1)).sum())
        assert_even([ones, len(keys) - ones])
