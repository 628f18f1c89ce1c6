"""The expectimax agent: the contract, what it may see, what its options do, how well it plays."""

import pickle
import random
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import (
    NO_CARD,
    PRESETS,
    STANDARD,
    AgentError,
    Game,
    GameBatch,
    Rules,
    View,
    ViewBatch,
    make_agent,
)
from cribai.analysis.tosses import analyze_tosses
from cribai.engine import state as engine
from cribai.rules import MAX_TARGET
from cribai.testing import check_agent
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats
from cribai_agents.expectimax import ExpectimaxAgent
from hidden_cards import with_other_hidden_cards

pytestmark = pytest.mark.slow

FAST = "expectimax:preset=fast"
ENDLESS = Rules("endless", target=MAX_TARGET, skunk_line=None, double_skunk_line=None)


def decisions(num_games: int, seed: int, *, every: int = 1) -> Iterator[ViewBatch]:
    """Views of whole games that the fast agent plays against itself."""
    batch = GameBatch.start(num_games, seed=seed)
    agent = make_agent(FAST)
    turn = 0
    while not batch.over.all():
        views = batch.views()
        if turn % every == 0:
            yield views
        batch.step(agent.act(views))
        turn += 1


def views_of(num_games: int, seed: int, *, every: int = 1) -> ViewBatch:
    arrays = [views.array for views in decisions(num_games, seed, every=every)]
    return ViewBatch(np.concatenate(arrays), STANDARD)


def match(a: str, b: str, num_pairs: int, **keywords: Any) -> NDArray[Any]:
    return play_pairs(
        make_agent(a), make_agent(b), **{"seed": 17, "num_pairs": num_pairs, **keywords}
    )


# ------------------------------------------------------------------------------ the contract


@pytest.mark.parametrize(("preset", "games"), [("fast", 20), ("standard", 6), ("deep", 2)])
def test_presets_keep_the_contract(preset: str, games: int) -> None:
    check_agent(f"expectimax:preset={preset}", games=games)


@pytest.mark.parametrize(
    "options",
    [
        "objective=points",
        "objective=plain",
        "objective=quadruple",
        "objective=acc",
        "replies=greedy",
        "replies=sees_all,samples=3",
        "samples=1,doubt=0,greed=0",
        "samples=1820,horizon=0",
        "horizon=121,deals=3,exact_cribs=true",
    ],
)
def test_options_keep_the_contract(options: str) -> None:
    check_agent(f"{FAST},{options}", games=3)


@pytest.mark.parametrize(
    "rules",
    [
        PRESETS["short"],
        ENDLESS,
        replace(STANDARD, name="brief", target=5, skunk_line=None, double_skunk_line=None),
        replace(STANDARD, name="odd", target=100, skunk_line=50, double_skunk_line=None),
    ],
    ids=lambda rules: rules.name,
)
def test_games_to_other_scores(rules: Rules) -> None:
    if rules is ENDLESS:
        rules = replace(rules, name="long", target=200)
    check_agent(FAST, rules=rules, games=10)


@pytest.mark.parametrize(
    "rules",
    [
        PRESETS["three_player"],
        PRESETS["four_player"],
        PRESETS["five_card"],
        replace(STANDARD, name="jokers", num_jokers=2),
        replace(STANDARD, name="big", cards_dealt=7, cards_tossed=3),
        replace(STANDARD, name="fourteen", fifteen=14),
        replace(STANDARD, name="thirty", thirty_one=30),
    ],
    ids=lambda rules: rules.name,
)
def test_rules_it_does_not_play(rules: Rules) -> None:
    views = GameBatch.start(2, rules, seed=1).views()
    agent = make_agent("expectimax")
    for ask in (lambda: agent.act(views), lambda: agent.explain(views[0])):
        with pytest.raises(AgentError, match="plays the six-card game for two") as caught:
            ask()
        text = str(caught.value)
        assert f"'{rules.name}'" in text
        assert text.endswith(".")
        assert "\n" not in text


@pytest.mark.parametrize(
    "options",
    [
        "preset=best",
        "samples=0",
        "samples=1821",
        "samples=2.5",
        "samples=many",
        "samples=true",
        "deals=0",
        "deals=257",
        "horizon=-1",
        "horizon=122",
        "exact_cribs=7",
        "exact_cribs=maybe",
        "objective=fun",
        "objective=3",
        "replies=rude",
        "doubt=-0.1",
        "doubt=nan",
        "doubt=much",
        "greed=-1",
        "greed=inf",
        "knowledge=no/such/file.npz",
    ],
)
def test_bad_options(options: str) -> None:
    name, _, value = options.partition("=")
    with pytest.raises(AgentError) as caught:
        make_agent(f"expectimax:{options}")
    text = str(caught.value)
    assert name in text
    assert value in text.lower()
    assert text.endswith(".")
    assert "\n" not in text


def test_tables_may_be_given(tmp_path: Any) -> None:
    shipped = files("cribai.analysis") / "knowledge.npz"
    views = views_of(5, 2, every=5)
    expected = make_agent(FAST).act(views)
    agent = make_agent(f"{FAST},knowledge={shipped}")
    assert (agent.act(views) == expected).all()
    pegged = np.random.default_rng(1).uniform(0, 9, (2, 1820, 2))
    with np.load(str(shipped)) as data:
        np.savez(tmp_path / "other.npz", **{**data, "pegged": pegged})
    other = make_agent(f"{FAST},knowledge={tmp_path / 'other.npz'}")
    assert (other.act(views) != expected).any()


def test_nothing_is_remembered() -> None:
    """Neither what was asked before, nor pickling, nor the order of views changes an answer."""
    views = views_of(20, 3, every=3)
    expected = make_agent(FAST).act(views)
    agent = make_agent(FAST)
    order = np.random.default_rng(3).permutation(len(views))
    for _ in range(2):
        shuffled = agent.act(ViewBatch(views.array[order], STANDARD))
        assert (shuffled == expected[order]).all()
        agent = pickle.loads(pickle.dumps(agent))
    kept = views.array.copy()
    kept.flags.writeable = False
    assert (agent.act(ViewBatch(kept, STANDARD)) == expected).all()
    assert agent.act(ViewBatch(views.array[:0], STANDARD)).tolist() == []


@pytest.mark.parametrize(("spec", "num_pairs"), [(FAST, 60), ("expectimax", 6)])
def test_batch_size_is_irrelevant(spec: str, num_pairs: int) -> None:
    results = match(spec, "greedy", num_pairs)
    for batch_size in (1, 7, 512):
        again = match(spec, "greedy", num_pairs, batch_size=batch_size)
        assert again.tobytes() == results.tobytes()


# ------------------------------------------------------------------------------ what it sees


def test_hidden_cards_change_nothing() -> None:
    """One agent has seen all hands from both sides; still only the view counts."""
    chance = random.Random(4)
    batch = GameBatch.start(30, seed=4)
    agent = make_agent(FAST)
    num_changed = 0
    while not batch.over.all():
        due = np.flatnonzero(~batch.over)
        states = batch.states[due]
        actions = agent.act(batch.views())
        others = np.array([with_other_hidden_cards(state, STANDARD, chance) for state in states])
        num_changed += int((others["hands"] != states["hands"]).any(axis=(1, 2)).sum())
        views = GameBatch(others.astype(engine.STATE), STANDARD, batch.games[due]).views()
        assert (agent.act(views) == actions).all()
        assert (make_agent(FAST).act(views) == actions).all()
        batch.step(actions)
    assert num_changed > 1000


@pytest.mark.parametrize("what", ["tossed", "go_counts", "play_cards", "scores"])
def test_what_is_seen_matters(what: str) -> None:
    """Its own toss, the opponent's go's and lays, and the scores each decide some lays."""
    views = views_of(12, 5)
    array = views.array[(views.array["phase"] == engine.PLAY) & (views.array["num_legal"] > 1)]
    spec = f"{FAST},samples=300"
    expected = make_agent(spec).act(ViewBatch(array, STANDARD))
    other = array.copy()
    if what == "tossed":
        other["tossed"][:, :2] = (other["tossed"][:, :2] + 20) % 52
    elif what == "go_counts":
        other["go_counts"][:, 1] = np.where(other["go_counts"][:, 1] == engine.NO_GO, 26, 127)
    elif what == "play_cards":
        theirs = other["play_players"] == 1
        other["play_cards"] = np.where(theirs, other["play_cards"] // 4 * 4, other["play_cards"])
        first = other["play_players"][:, 0] == 1
        other["play_cards"][first, 0] = 51 - other["play_cards"][first, 0]
    else:
        other["scores"][:, :2] = (118, 117)
    assert (make_agent(spec).act(ViewBatch(other, STANDARD)) != expected).mean() > 0.005


# ----------------------------------------------------------------------- what is played for


def test_objectives_differ() -> None:
    """Points know no score; to win, and to win or save a skunk, are different aims near the end."""
    views = views_of(60, 6, every=2)
    answers = {
        objective: make_agent(f"{FAST},objective={objective}").act(views)
        for objective in ("points", "win", "plain", "quadruple", "acc")
    }
    for one, other in (("points", "win"), ("win", "plain"), ("win", "acc"), ("plain", "acc")):
        assert (answers[one] != answers[other]).any()
    assert (answers["win"] != answers["points"]).mean() < 0.2
    moved = views.array.copy()
    moved["scores"][:, :2] = (119, 3)
    again = {
        objective: make_agent(f"{FAST},objective={objective}").act(ViewBatch(moved, STANDARD))
        for objective in ("points", "win")
    }
    assert (again["points"] == answers["points"]).all()
    assert (again["win"] != answers["win"]).any()


def test_shorter_games_are_later_parts_of_long_ones() -> None:
    """At 50-43 of 61 it plays as at 110-103 of 121."""
    views = views_of(30, 7)
    array = views.array.copy()
    array["scores"][:, :2] = np.random.default_rng(7).integers(0, 61, (len(array), 2))
    agent = make_agent(FAST)
    short = agent.act(ViewBatch(array.copy(), PRESETS["short"]))
    array["scores"][:, :2] += 60
    assert (agent.act(ViewBatch(array, STANDARD)) == short).all()
    assert (agent.act(views) != short).any()


def test_far_from_known_scores_it_plays_for_points() -> None:
    views = views_of(20, 8)
    endless = make_agent(FAST).act(ViewBatch(views.array, ENDLESS))
    assert (make_agent(f"{FAST},objective=points").act(views) == endless).all()
    assert (make_agent(FAST).act(views) != endless).any()


# --------------------------------------------------------------------------- what it explains


@pytest.mark.parametrize("objective", ["win", "points", "acc"])
@pytest.mark.parametrize("preset", ["fast", "standard"])
def test_explanations(preset: str, objective: str) -> None:
    agent = make_agent(f"expectimax:preset={preset},objective={objective}")
    views = views_of(8, 9, every=2)
    actions = agent.act(views)
    num_tosses = num_lays = 0
    for view, action in zip(views, actions.tolist(), strict=True):
        ranked = agent.explain(view)
        values = [entry.value for entry in ranked]
        assert values == sorted(values, reverse=True)
        assert ranked[0].action == action
        if not view.is_discard:
            num_lays += 1
            explained = [view.cards_of(entry.action)[0] for entry in ranked]
            ranks = [card // 4 for card in explained]
            assert sorted(ranks) == sorted({card // 4 for card in view.legal_cards})
            for entry, card in zip(ranked, explained, strict=True):
                assert card in view.legal_cards
                assert entry.parts == {"points": view.play_points(card)}
            continue
        num_tosses += 1
        assert sorted(entry.action for entry in ranked) == list(range(15))
        sign = 1 if view.is_dealer else -1
        for entry in ranked:
            parts = entry.parts
            assert list(parts) == ["hand", "crib", "pegging", "points"]
            total = parts["hand"] + sign * parts["crib"] + parts["pegging"]
            assert parts["points"] == pytest.approx(total)
            if objective == "points":
                assert entry.value == parts["points"]
            elif objective == "win":
                assert 0 <= entry.value <= 1
    assert num_tosses > 50
    assert num_lays > 100


def test_a_hand_explained() -> None:
    """Five, five, jack, jack is kept whoever has the crib."""
    for dealer in (0, 1):
        view = Game(seed=1, first_dealer=dealer).view()
        record = view.record.copy()
        record["hand"][:6] = [16, 17, 22, 31, 40, 41]  # 5C 5D 6H 8S JC JD
        (best, *_) = make_agent("expectimax").explain(View(record, STANDARD))
        assert View(record, STANDARD).cards_of(best.action) == (22, 31)
        assert best.parts["hand"] > 12


def test_analysis_and_agent_agree() -> None:
    """At any score the toss analyzed as the best is the one that the agent makes."""
    chance = random.Random(12)
    agent = make_agent("expectimax:exact_cribs=true,deals=256,horizon=60")
    for number in range(200):
        scores = [chance.choice([chance.randrange(121), chance.randrange(105, 121)]) for _ in "ab"]
        view = Game(seed=12, pair=number, first_dealer=number % 2, scores=scores).view()
        tosses = analyze_tosses(
            view.hand, is_dealer=view.is_dealer, score=view.scores[0], opponent_score=view.scores[1]
        )
        ranked = agent.explain(view)
        assert [view.cards_of(entry.action) for entry in ranked] == [toss.toss for toss in tosses]
        for entry, toss in zip(ranked, tosses, strict=True):
            assert entry.value == toss.win_probability
            assert entry.parts["points"] == toss.points


def test_equal_cards_are_laid_alike() -> None:
    """Suits mean nothing in the play: with the names of suits changed, the same rank is laid."""
    views = views_of(20, 10)
    array = views.array[views.array["phase"] == engine.PLAY]
    agent = make_agent(f"{FAST},objective=points")
    expected = agent.act(ViewBatch(array, STANDARD))
    other = array.copy()
    for name in ("hand", "tossed", "starter", "play_cards"):
        cards = other[name]
        other[name] = np.where(cards == NO_CARD, cards, cards // 4 * 4 + (3 - cards % 4))
    slots = expected - 15
    for record, before in zip(other, array, strict=True):
        order = np.argsort(record["hand"][:4]).tolist()
        record["hand"][:4] = record["hand"][order]
        for name in ("played", "playable"):
            bits = int(before[name])
            record[name] = sum((bits >> slot & 1) << place for place, slot in enumerate(order))
    found = agent.act(ViewBatch(other, STANDARD)) - 15
    rows = np.arange(len(array))
    assert (other["hand"][rows, found] // 4 == array["hand"][rows, slots] // 4).all()


# ------------------------------------------------------------------------------- how it plays


def test_fast_beats_greedy() -> None:
    stats = Stats.from_results(match(FAST, "greedy", 200))
    assert stats.win_rate_interval.low > 0.5


def test_standard_beats_fast() -> None:
    stats = Stats.from_results(match("expectimax", FAST, 150))
    assert stats.margin_per_game > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "rate"), [(FAST, 0.62), ("expectimax", 0.65), ("expectimax:preset=deep", 0.65)]
)
def test_beats_greedy_by_far(spec: str, rate: float) -> None:
    num_pairs = 1000 if "deep" not in spec else 300
    assert Stats.from_results(match(spec, "greedy", num_pairs)).win_rate >= rate


def averages(spec: str, num_deals: int) -> dict[str, float]:
    """What falls to whom in a deal on average, as an agent plays itself in one long game each."""
    agent = make_agent(spec)
    size = min(num_deals, 1000)
    batch = GameBatch.start(size, ENDLESS, seed=18)
    going = np.arange(size)
    while going.size:
        batch.step(agent.act(batch.views(going)), going)
        going = np.flatnonzero(batch.states["num_deals"] <= num_deals // size)
    points = batch.states["points"][:, :2].sum(axis=(0, 1))
    number = batch.states["times"][:, :2, engine.DEALER_CRIB].sum()
    names = ("pone pegging", "pone hand", "dealer pegging", "dealer hand", "crib")
    return dict(zip(names, (points / number).tolist(), strict=False))


@pytest.mark.parametrize(
    ("spec", "num_deals"),
    [(FAST, 8000), pytest.param("expectimax", 16_000, marks=pytest.mark.slow)],
)
def test_averages_are_those_of_experts(spec: str, num_deals: int) -> None:
    found = averages(spec, num_deals)
    assert found["pone hand"] == pytest.approx(8.15, abs=0.15)
    assert found["dealer hand"] == pytest.approx(8.0, abs=0.15)
    assert found["crib"] == pytest.approx(4.75, abs=0.15)
    assert 3.2 < found["dealer pegging"] < 3.7
    assert 1.9 < found["pone pegging"] < 2.45


@pytest.mark.slow
def test_first_dealer_wins_more() -> None:
    results = match(FAST, FAST, 2000)
    stats = Stats.from_results(results)
    assert 0.53 < stats.first_dealer_win_rate < 0.59
    assert 8.7 < stats.deals_per_game < 9.3
    assert 0.08 < stats.skunk_rate + stats.skunked_rate < 0.18
    assert stats.win_rate == pytest.approx(0.5, abs=0.02)


def test_defaults() -> None:
    assert isinstance(make_agent("expectimax"), ExpectimaxAgent)
    assert ExpectimaxAgent().name == "expectimax"
    views = views_of(3, 11, every=4)
    expected = make_agent("expectimax:preset=standard,objective=win").act(views)
    assert (ExpectimaxAgent().act(views) == expected).all()
