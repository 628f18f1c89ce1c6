"""Where episodes begin, and what lays were worth, against slow oracles."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import STANDARD, GameBatch, count_show, make_agent
from cribai.analysis.knowledge import DEALER, PONE, load_knowledge
from cribai.analysis.positions import STANDING, win_probability
from cribai.analysis.tosses import toss_values
from cribai.engine import state as engine
from cribai.training.deals import DEAL, begin_deals, make_library, toss_deals, training_key
from cribai.training.features import COLUMNS, lay_features
from cribai.training.lockstep import COUNTS, NETWORK
from cribai.training.network import NUM_OUTPUTS
from cribai.training.roots import BRANCH, ROOT
from cribai.training.selfplay import METHODS, UNKNOWN, Samples, SelfPlay
from cribai.training.stakes import load_stakes
from cribai.training.worths import value_roots


@pytest.fixture(scope="module")
def library() -> NDArray[Any]:
    return make_library(1500, seed=5)


def begin(library: NDArray[Any], number: int) -> GameBatch:
    states = np.zeros(number, engine.STATE)
    rules = engine.compiled_rules(STANDARD)
    key = training_key(1, 9)
    begin_deals(states, rules, key, library, number)
    seats = np.full((number, 2), NETWORK, np.int8)
    toss_deals(states, rules, engine.new_log(False), key, library, number, seats)
    return GameBatch(states, STANDARD)


def test_library(library: NDArray[Any]) -> None:
    assert (make_library(1500, seed=5) == library).all()
    assert (make_library(1500, seed=6) != library).any()
    scores = library["scores"]
    assert scores.min() >= 0
    assert scores.max() <= 120
    assert 0.5 < (scores.max(axis=1) >= 76).mean() < 0.85
    assert (scores == 0).all(axis=1).any()
    for deal in library[:20]:
        cards = deal["cards"].tolist()
        assert len(set(cards)) == 12
        for role in (PONE, DEALER):
            hand = cards[6 * role : 6 * role + 6]
            assert hand == sorted(hand)


def test_tosses_are_mostly_the_best(library: NDArray[Any]) -> None:
    far = library[library["scores"].max(axis=1) < 60][:150]
    ranks = []
    for deal in far:
        for role in (PONE, DEALER):
            points, _ = toss_values(
                deal["cards"][6 * role : 6 * role + 6].tolist(), is_dealer=role == DEALER
            )
            ranks.append(int((points > points[deal["tosses"][role]]).sum()))
    assert np.mean(np.array(ranks) == 0) > 0.6
    assert np.mean(np.array(ranks) <= 2) > 0.9


def test_deals_begin_as_the_library_says(library: NDArray[Any]) -> None:
    batch = begin(library, 300)
    rows = {deal["cards"].tobytes(): deal for deal in library}
    starters = set()
    for state in batch.states:
        deal = rows[state["deck"][:12].tobytes()]
        starters.add(int(state["starter"]))
        assert state["starter"] not in deal["cards"]
        assert sorted(state["hands"][0, :4].tolist() + state["tosses"][0, :2].tolist()) == sorted(
            deal["cards"][:6].tolist()
        )
        heels = 2 * int(state["starter"] >> 2 == 10)
        assert state["scores"][PONE] == deal["scores"][PONE]
        assert state["scores"][DEALER] == min(deal["scores"][DEALER] + heels, 121)
    assert len(starters) > 40
    assert (begin(library, 300).states == batch.states).all()


def worth(own: int, other: int, *, own_deals: bool) -> float:
    """The worth before a deal."""
    return 2 * win_probability(own, other, is_dealer=own_deals) - 1


def worth_after(state: Any, player: int, scores: tuple[int, int], pegged: tuple[int, int]) -> float:
    """The worth of points pegged, then counted in order, by the rules."""
    now = [scores[0] + pegged[0], scores[1] + pegged[1]]
    for side in range(2):
        if now[side] >= 121:
            return 1.0 if side == 0 else -1.0
    own_deals = int(state["dealer"]) == player
    starter = int(state["starter"])
    hands = [state["hands"][seat, :4].tolist() for seat in (player, 1 - player)]
    order = [1, 0] if own_deals else [0, 1]
    for side in order:
        now[side] += count_show(hands[side], starter).points
        if now[side] >= 121:
            return 1.0 if side == 0 else -1.0
    side = 0 if own_deals else 1
    now[side] += count_show(state["crib"][0, :4].tolist(), starter, is_crib=True).points
    if now[side] >= 121:
        return 1.0 if side == 0 else -1.0
    return worth(now[0], now[1], own_deals=not own_deals)


def test_worth_of_lays(library: NDArray[Any]) -> None:
    """Deals played out at random: what the first lay was worth, by the rules and by the kernel."""
    batch = begin(library, 400)
    going = np.flatnonzero(batch.states["phase"] == engine.PLAY)
    batch = GameBatch(batch.states[going].copy(), STANDARD)
    start = batch.states.copy()
    units = lay_features(batch.views(), np.arange(len(batch)))[:, COLUMNS["worths"]][:, 1] / 10
    agent = make_agent("random")
    alive = np.arange(len(batch))
    ended: dict[int, Any] = {}
    while alive.size:
        batch.step(agent.act(batch.views(alive)), alive)
        # The next deal is dealt at once, so that the deal's end is seen one step late.
        for index in alive.tolist():
            state = batch.states[index]
            if state["num_deals"] > start[index]["num_deals"] or state["phase"] == engine.OVER:
                ended[index] = state.copy()
        alive = np.array([index for index in alive if index not in ended], np.int64)
    roots = np.zeros(len(batch), ROOT)
    branches = np.zeros(len(batch), BRANCH)
    states = start.copy()
    # When the pegging has been counted the next deal is due, and its dealer is the other.
    states["dealer"] = 1 - start["dealer"]
    for index, root in enumerate(roots):
        player = int(start[index]["actor"])
        root["player"] = player
        root["own_deals"] = start[index]["dealer"] == player
        root["own_score"] = start[index]["scores"][player]
        root["other_score"] = start[index]["scores"][1 - player]
        branches[index] = (index, index % 13, index)
        root["best"] = index % 13
        gained = ended[index]["points"][:, :] - start[index]["points"][:, :]
        pegged = gained[:, engine.PONE_PEGGING] + gained[:, engine.DEALER_PEGGING]
        if ended[index]["phase"] == engine.OVER and not pegged.any():
            pegged = ended[index]["pegged"]
        states[index]["pegged"] = pegged
    counts = np.zeros(1, COUNTS)
    counts["branches"] = len(batch)
    targets, masks = np.zeros((len(batch), 13), np.float32), np.zeros((len(batch), 13), np.float32)
    wins = np.zeros(len(batch), np.float32)
    rules, tables = engine.compiled_rules(STANDARD), load_knowledge()
    standings = np.zeros(1, STANDING)
    value_roots(
        states,
        rules,
        tables,
        load_stakes(),
        standings,
        counts,
        roots,
        branches,
        targets,
        masks,
        wins,
    )
    assert (masks.sum(axis=1) == 1).all()
    num_ended = 0
    for index, root in enumerate(roots):
        player = int(root["player"])
        scores = (int(root["own_score"]), int(root["other_score"]))
        pegged = states[index]["pegged"]
        after = worth_after(
            start[index], player, scores, (int(pegged[player]), int(pegged[1 - player]))
        )
        before = worth_after(start[index], player, scores, (0, 0))
        num_ended += abs(after) == 1
        expected = np.clip((after - before) / units[index], -25, 25)
        assert targets[index, index % 13] == pytest.approx(expected, abs=2e-3)
        assert wins[index] == pytest.approx((after + 1) / 2, abs=1e-6)
    assert num_ended > 20


def evaluate(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lays what pegs most, then what is replied to least."""
    outputs = np.zeros((len(rows), NUM_OUTPUTS), np.float32)
    outputs[:, :13] = 4 * rows[:, COLUMNS["points"]] - rows[:, COLUMNS["replies"]]
    return outputs


def play(library: NDArray[Any], method: str, random_share: float = 0.0, wave: int = 3) -> Samples:
    return SelfPlay(library, 1, 300, 0.7, method).play(wave, evaluate, random_share)


@pytest.mark.parametrize("method", METHODS)
def test_samples(library: NDArray[Any], method: str) -> None:
    samples = play(library, method, 0.2)
    assert len(samples.rows) > 500
    legal = samples.rows[:, COLUMNS["legal"]]
    assert (legal.sum(axis=1) >= 2).all()
    if method == "expectation":
        assert (samples.wins == UNKNOWN).all()
        samples.wins[:] = 0
    if method == "monte_carlo":
        assert (samples.masks.sum(axis=1) == 1).all()
        assert (samples.masks <= legal).all()
    else:
        assert (samples.masks == legal).all()
    assert np.isfinite(samples.targets).all()
    assert (samples.wins >= 0).all()
    assert (samples.wins <= 1).all()
    again = play(library, method, 0.2)
    assert again.rows.tobytes() == samples.rows.tobytes()
    assert (again.targets * again.masks == samples.targets * samples.masks).all()
    other = play(library, method, 0.2, wave=4)
    assert other.rows.tobytes() != samples.rows.tobytes()


def test_copies_play_as_the_game_does(library: NDArray[Any]) -> None:
    """Without random lays the game itself is the copy that lays what is best."""
    whole, made = play(library, "branching"), play(library, "monte_carlo")
    assert (whole.rows == made.rows).all()
    chosen = made.masks > 0
    assert (whole.targets[chosen] == made.targets[chosen]).all()
    assert (whole.wins == made.wins).all()


def test_last_lays_are_valued_exactly(library: NDArray[Any]) -> None:
    """Where nothing is left to choose after it, the teacher's value is the game's."""
    whole, taught = play(library, "branching"), play(library, "search")
    assert (whole.rows == taught.rows).all()
    alone = (whole.rows[:, COLUMNS["other_left"]][:, 0] == 1) & (
        whole.rows[:, COLUMNS["own_left"]][:, 1] == 1
    )
    assert alone.sum() >= 1
    assert whole.targets[alone] * whole.masks[alone] == pytest.approx(
        taught.targets[alone] * taught.masks[alone], abs=1e-5
    )


def test_expectation_is_the_mean_of_searches(library: NDArray[Any]) -> None:
    """Both are of the same game: on average over hidden hands the one is the other."""
    mean, single = play(library, "expectation"), play(library, "search")
    assert (mean.rows == single.rows).all()
    assert (mean.masks == single.masks).all()
    number = mean.masks.sum(axis=1, keepdims=True)
    centred = [
        (found.targets - (found.targets * found.masks).sum(axis=1, keepdims=True) / number)[
            found.masks > 0
        ]
        for found in (mean, single)
    ]
    assert centred[0].std() < 0.7 * centred[1].std()
    slope = (centred[0] * centred[1]).sum() / (centred[0] ** 2).sum()
    assert slope == pytest.approx(1, abs=0.25)


def test_deal_record() -> None:
    assert DEAL.itemsize <= 20
