"""Games by the thousand: the fused loop is the stepping one, and what must always hold does."""

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray

from cribai import PRESETS, EventKind, Game, GameBatch, make_agent
from cribai.cards import NO_CARD
from cribai.engine import state as engine
from cribai.engine.simulate import (
    NO_GAME,
    RESULT,
    begin_games,
    first_illegal,
    play_out,
    step_legal,
    take_due,
    take_ended,
)
from cribai.rules import MAX_DEALT, MAX_PLAYERS, MAX_PLAYS
from plain_presets import PLAIN

presets = pytest.mark.parametrize("name", PLAIN)


def packed(records: Any) -> bytes:
    """The bytes of the fields without the padding among them, which copies leave undefined."""
    return bytes(repack_fields(records).tobytes())


def played_out(batch: GameBatch) -> tuple[NDArray[Any], int]:
    """The states at the end of the fused loop, and the decisions it took."""
    states = batch.states.copy()
    rules = engine.compiled_rules(batch.rules)
    num_decisions = play_out(states, rules, engine.new_log(enabled=False))
    return states, int(num_decisions)


def stepped(batch: GameBatch) -> tuple[NDArray[Any], int]:
    """The same by asking the agent named `random` for one view after another."""
    agent = make_agent("random")
    batch = batch.copy()
    num_decisions = 0
    while not batch.over.all():
        actions = agent.act(batch.views())
        num_decisions += len(actions)
        batch.step(actions)
    return batch.states, num_decisions


def pieces(batch: GameBatch, size: int) -> list[GameBatch]:
    return [
        GameBatch(
            batch.states[first : first + size], batch.rules, batch.games[first : first + size]
        )
        for first in range(0, len(batch), size)
    ]


def assert_same_games(name: str, num_games: int, sizes: list[int]) -> None:
    batch = GameBatch.start(num_games, name, seed=21)
    states, num_decisions = played_out(batch)
    assert (states["phase"] == engine.OVER).all()
    assert num_decisions == states["num_decisions"].sum()
    for size in sizes:
        for play in (stepped, played_out):
            results = [play(piece) for piece in pieces(batch, size)]
            joined = np.concatenate([piece for piece, _ in results])
            assert packed(joined) == packed(states)
            assert sum(number for _, number in results) == num_decisions


@pytest.mark.kernels
@presets
def test_fused_and_stepped_games_are_the_same(name: str) -> None:
    assert_same_games(name, 8, sizes=[1, 7, 8])


@presets
def test_batches_of_any_size_are_the_same(name: str) -> None:
    assert_same_games(name, 70, sizes=[1, 7])
    assert_same_games(name, 5000, sizes=[4096])


@pytest.mark.kernels
def test_each_decision_is_due_to_one_agent() -> None:
    """`take_due` finds each game's decision once, for the agent that sits there."""
    batch = GameBatch.start(20, "three_player", seed=22)
    batch.games = np.arange(100, 120)
    seats = np.arange(20 * MAX_PLAYERS).reshape(20, -1).astype(np.int8) % 3
    indices = np.zeros(20, np.int64)
    views = np.zeros(20, engine.VIEW)
    found = []
    for agent in range(4):
        rules = engine.compiled_rules(batch.rules)
        number = take_due(batch.states, rules, seats, agent, batch.games, indices, views)
        assert indices[:number].tolist() == [
            index for index in range(20) if seats[index, batch.states["actor"][index]] == agent
        ]
        assert packed(views[:number]) == packed(batch.views(indices[:number]).array)
        found += views["game"][:number].tolist()
    assert sorted(found) == list(range(100, 120))


@pytest.mark.kernels
def test_take_due_skips_games_that_are_over() -> None:
    batch = GameBatch.start(4, "five_card", seed=23)
    states, _ = played_out(GameBatch(batch.states[:2], batch.rules))
    batch.states[:2] = states
    indices = np.zeros(4, np.int64)
    views = np.zeros(4, engine.VIEW)
    seats = np.zeros((4, MAX_PLAYERS), np.int8)
    rules = engine.compiled_rules(batch.rules)
    assert take_due(batch.states, rules, seats, 0, batch.games, indices, views) == 2
    assert indices[:2].tolist() == [2, 3]


@pytest.mark.kernels
def test_checked_steps_stop_at_an_illegal_action() -> None:
    batch = GameBatch.start(4, seed=26)
    ended, _ = played_out(GameBatch(batch.states[3:], batch.rules))
    states = np.concatenate([batch.states[:3], ended])
    rules = engine.compiled_rules(batch.rules)
    log = engine.new_log(enabled=False)
    stepped = GameBatch(states.copy(), batch.rules)
    stepped.step([3, 5], [0, 2])
    for last in range(-1, batch.rules.num_actions + 1):  # nothing is legal where the game is over
        indices = np.array([0, 2, 3, 1])
        actions = np.array([3, 5, last, 0])
        assert first_illegal(states, rules, indices, actions) == 2
        checked = states.copy()
        assert step_legal(checked, rules, log, indices, actions) == 2
        assert packed(checked) == packed(stepped.states)
    assert step_legal(states, rules, log, np.array([0, 2]), np.array([3, 5])) == -1
    assert packed(states) == packed(stepped.states)


@pytest.mark.kernels
def test_checked_steps_deal_on() -> None:
    batch = GameBatch.start(2, "five_card", seed=27)
    states = batch.states.copy()
    rules = engine.compiled_rules(batch.rules)
    log = engine.new_log(enabled=False)
    while not batch.over.any():
        actions = batch.views().action_masks().argmax(axis=1)
        assert step_legal(states, rules, log, np.arange(2), actions) == -1
        batch.step(actions)
        assert packed(states) == packed(batch.states)


@pytest.mark.kernels
@presets
def test_numbered_games_of_a_match(name: str) -> None:
    """Game 2p + g is the g-th of pair p, seated by its row; its result is what its state says."""
    rules = PRESETS[name]
    compiled = engine.compiled_rules(rules)
    numbers = np.arange(6, 12)
    seatings = np.array([[[0, 1, 0, 1], [1, 0, 1, 0]], [[0, 1, 1, 1], [1, 1, 0, 0]]], np.int8)
    states = np.zeros(8, engine.STATE)
    games = np.full(8, NO_GAME)
    seats = np.full((8, MAX_PLAYERS), -1, np.int8)
    places = np.array([7, 1, 2, 3, 4, 0])
    seed = np.uint64(28)
    begin_games(states, compiled, seed, seatings, places, numbers, games, seats)
    expected = GameBatch.start(6, rules, seed=28, pairs=numbers // 2, games=numbers % 2)
    assert packed(states[places]) == packed(expected.states)
    assert games.tolist() == [11, 7, 8, 9, 10, NO_GAME, NO_GAME, 6]
    assert seats[[1, 2, 5]].tolist() == [[1, 1, 0, 0], [0, 1, 0, 1], [-1] * 4]

    found = np.full(8, -1)
    results = np.zeros(6, RESULT)
    arguments = (states, compiled, seats, 6, games, found, found.copy(), results)
    assert take_ended(*arguments) == 0
    play_out(states[:4], compiled, engine.new_log(enabled=False))
    assert take_ended(*arguments) == 4
    assert found[:4].tolist() == [0, 1, 2, 3]
    assert games.tolist() == [NO_GAME] * 4 + [10, NO_GAME, NO_GAME, 6]
    assert take_ended(*arguments) == 0
    for place, number in ((0, 11), (1, 7), (2, 8), (3, 9)):
        state, result = states[place], results[number - 6]
        assert (result["pair"], result["game"]) == divmod(number, 2)
        agents = seats[place, : rules.num_players].tolist()
        assert result["winner"] == agents[state["winner"]]
        dealer = int(state["first_dealer"])
        assert result["first_dealer"] == agents[dealer]
        assert result["first_dealer_won"] == (rules.side_of(dealer) == state["winner"])
        assert result["num_deals"] == state["num_deals"]
        for agent in (0, 1):
            own = [seat for seat, holder in enumerate(agents) if holder == agent]
            scores = [int(state["scores"][rules.side_of(seat)]) for seat in own]
            assert result["scores"][agent] == max(scores, default=0)
            assert (result["points"][agent] == state["points"][own].sum(axis=0)).all()
            assert (result["times"][agent] == state["times"][own].sum(axis=0)).all()
    assert not results[[0, 4]]["times"].any()


# ---------------------------------------------------------------------- what must always hold


def check_cards(states: NDArray[Any], batch: GameBatch) -> None:
    """The cards dealt are all there, each once: kept, tossed, from the deck, and the starter."""
    rules = batch.rules
    num_dealt = rules.num_players * rules.cards_dealt
    front = states["deck"][:, : num_dealt + rules.crib_from_deck + 1]
    size = len(states)
    hands = states["hands"][:, : rules.num_players].reshape(size, -1)
    tosses = states["tosses"][:, : rules.num_players].reshape(size, -1)
    held = np.sort(np.concatenate([hands, tosses], axis=1), axis=1)[:, ::-1][:, :num_dealt]
    assert (np.sort(held, axis=1) == np.sort(front[:, :num_dealt], axis=1)).all()
    in_crib = np.arange(states["crib"].shape[2]) < states["num_crib"][:, :1]
    num_tossed = (tosses != NO_CARD).sum(axis=1)
    assert (states["num_crib"][:, 0] == num_tossed + rules.crib_from_deck).all()
    crib = np.sort(np.where(in_crib, states["crib"][:, 0], NO_CARD), axis=1)
    crib_from_deck = front[:, num_dealt : num_dealt + rules.crib_from_deck]
    sent = np.concatenate([tosses, crib_from_deck], axis=1)
    width = rules.crib_size
    assert (crib[:, -width:] == np.sort(sent, axis=1)[:, -width:]).all()
    turned = states["starter"] != NO_CARD
    assert (turned == (num_tossed == rules.num_players * rules.cards_tossed)).all()
    assert (states["starter"][turned] == front[turned, -1]).all()
    num_kept = rules.num_players * rules.cards_kept
    in_play = np.arange(MAX_PLAYS) < states["num_plays"][:, None]
    laid = np.sort(np.where(in_play, states["play_cards"], NO_CARD), axis=1)
    by_slot = states["played"][:, : rules.num_players, None] >> np.arange(MAX_DEALT) & 1
    by_slot = np.sort(np.where(by_slot.reshape(size, -1), hands, NO_CARD), axis=1)
    assert (laid[:, -num_kept:] == by_slot[:, -num_kept:]).all()
    left = states["num_left"][:, : rules.num_players].sum(axis=1)
    assert (left + states["num_plays"] == num_kept).all()


@presets
def test_what_must_always_hold(name: str) -> None:
    batch = GameBatch.start(2000, name, seed=24)
    rules = batch.rules
    agent = make_agent("random")
    scores = batch.scores
    over = batch.over
    ended = batch.states[over]
    check_cards(batch.states, batch)
    turn = 0
    while not over.all():
        batch.step(agent.act(batch.views()))
        turn += 1
        assert (batch.scores >= scores).all()
        assert (batch.scores <= rules.target).all()
        assert packed(batch.states[over]) == packed(ended)  # nothing after the end
        assert (batch.over >= over).all()
        reached = (batch.scores == rules.target).sum(axis=1)
        assert (reached == batch.over).all()
        assert ((batch.winners >= 0) == batch.over).all()
        assert (batch.states["actor"][batch.over] == engine.NO_PLAYER).all()
        assert (batch.states["count"] <= rules.thirty_one).all()
        dealers = (batch.states["first_dealer"] + batch.states["num_deals"] - 1) % rules.num_players
        assert (batch.states["dealer"] == dealers).all()
        if turn % 5 == 0 or batch.over.all():
            check_cards(batch.states, batch)
        scores, over = batch.scores, batch.over
        ended = batch.states[over]
    assert (batch.scores[np.arange(2000), batch.winners] == rules.target).all()
    tallied = batch.states["points"].sum(axis=(1, 2), dtype=np.int64)
    assert (tallied <= batch.scores.sum(axis=1) + 40).all()
    assert set(np.unique(batch.winners)) == set(range(rules.num_sides))


@presets
def test_shows_are_counted_in_order(name: str) -> None:
    """From the dealer's left round to the dealer, then the crib, and no further than a win."""
    num_cut_short = 0
    agent = make_agent("random")
    for pair in range(60):
        game = Game(name, seed=25, pair=pair)
        num_players = game.rules.num_players
        while not game.is_over:
            deal, dealer = game.deal_number, game.dealer
            events = game.push(int(agent.act(game._batch.views())[0]))
            kinds = (EventKind.SHOW_HAND, EventKind.SHOW_CRIB)
            shown = [(event.kind, event.player) for event in events if event.kind in kinds]
            seats = [(dealer + place) % num_players for place in range(1, num_players + 1)]
            order = [(EventKind.SHOW_HAND, seat) for seat in seats]
            order.append((EventKind.SHOW_CRIB, dealer))
            assert shown == order[: len(shown)]
            assert all(event.deal == deal for event in events)
            outcome = game.outcome()
            if outcome is None:
                assert len(shown) in (0, len(order))
                assert (len(shown) > 0) == (game.deal_number == deal + 1)
            elif shown:
                assert game.rules.side_of(shown[-1][1]) == outcome.winner
                assert events[-1].kind is EventKind.WIN
                num_cut_short += len(shown) < len(order)
    assert num_cut_short > 5


@pytest.mark.slow
def test_starting_games_leaves_no_memory_behind() -> None:
    for number in range(100):
        Game(seed=number).push(0)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(20_000):
            Game(seed=number)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1_000_000
