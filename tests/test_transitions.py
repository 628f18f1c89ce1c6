"""Whole games, move by move, on the same cards in the engine and in the oracle."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from numpy.lib.recfunctions import repack_fields

from cribai import PRESETS, Deal, Event, EventKind, Game, GameBatch, Rules, RulesError
from cribai.engine import state as engine
from plain_presets import PLAIN
from reference import NEVER_STUCK, ReferenceGame

ReferenceOf = Callable[[Game], ReferenceGame]

PRESET_NAMES = ["standard", "short", "three_player", "four_player", "five_card"]
BRIEF: dict[str, Any] = {"skunk_line": None, "double_skunk_line": None}
CUSTOM = {
    "seven cards": Rules(cards_dealt=7, cards_tossed=3),
    "five kept": Rules(cards_dealt=8, cards_tossed=3),
    "nine cards": Rules(cards_dealt=9, cards_tossed=2),
    "one kept": Rules(cards_dealt=2, cards_tossed=1, target=31, **BRIEF),
    "crib from the deck": Rules(cards_tossed=1, crib_from_deck=2),
    "jokers": Rules(num_jokers=4),
    "four alone with jokers": Rules(num_players=4, cards_dealt=5, cards_tossed=1, num_jokers=2),
    "four with five kept": Rules(num_players=4, partnerships=True, cards_dealt=6, cards_tossed=1),
    "three tossing two": Rules(num_players=3, num_jokers=1),
    "to thirty-one": Rules(target=31, **BRIEF),
    "to one": Rules(target=1, **BRIEF),
}
REASONS = {
    EventKind.HEELS: "heels",
    EventKind.LAY: "play",
    EventKind.GO_POINT: "go",
    EventKind.LAST_CARD: "last",
    EventKind.SHOW_HAND: "hand",
    EventKind.SHOW_CRIB: "crib",
}


def packed(records: Any) -> bytes:
    """The bytes of the fields without the padding among them, which copies leave undefined."""
    return bytes(repack_fields(records).tobytes())


def assert_alike(game: Game, reference: ReferenceGame) -> None:
    """Everything that the two keep is the same, and so are the choices."""
    assert game.is_over == (reference.phase == "over")
    assert list(game.scores) == reference.scores
    assert game.actor == reference.actor
    outcome = game.outcome()
    assert (None if outcome is None else outcome.winner) == reference.winner
    if game.is_over:
        assert game.legal_actions == []
        return
    assert game.deal_number == reference.deal_number
    assert game.dealer == reference.dealer
    assert [list(hand) for hand in game.hands] == reference.hands
    assert list(game.crib) == reference.crib
    assert game.count == reference.count
    assert game.is_discard == (reference.phase == "discard")
    assert game.starter == (None if game.is_discard else reference.starter)
    view = game.view()
    assert view.player == game.actor
    assert view.series == tuple(reference.series)
    seats = [(view.player + place) % game.rules.num_players for place in range(len(game.hands))]
    assert view.plays == tuple((seats.index(seat), card) for seat, card in reference.laid)
    stuck = [reference.go_counts[seat] for seat in seats]
    assert view.go_counts == tuple(None if at == NEVER_STUCK else at for at in stuck)
    if game.is_discard:
        assert view.tosses == reference.legal_tosses()
        assert game.legal_actions == list(range(len(view.tosses)))
    else:
        hand = reference.hands[view.player]
        slots = [hand.index(card) for card in reference.legal_cards()]
        assert game.legal_actions == [game.rules.num_tosses + slot for slot in slots]
        assert list(view.num_left) == [len(reference.unplayed[seat]) for seat in seats]


def push_both(game: Game, reference: ReferenceGame, action: int) -> None:
    """Takes an action in both and compares what it scored."""
    cards = game.view().cards_of(action)
    is_discard = game.is_discard
    events = game.push(action)
    num_logged = len(reference.log)
    if is_discard:
        reference.toss(cards)
    else:
        reference.play(cards[0])
    scored = [(event.player, event.points, REASONS[event.kind]) for event in events if event.points]
    assert scored == reference.log[num_logged:]
    wins = [event.player for event in events if event.kind is EventKind.WIN]
    assert len(wins) == game.is_over
    assert game.events[len(game.events) - len(events) :] == events


def play_both(game: Game, reference: ReferenceGame, choose: Callable[[list[int]], int]) -> None:
    """Plays a game to its end in both, comparing after every move."""
    assert_alike(game, reference)
    tallies: Counter[tuple[int, int]] = Counter()
    times: Counter[tuple[int, int]] = Counter()
    first_of_deal = 0
    while actions := game.legal_actions:
        deal, dealer = game.deal_number, game.dealer
        push_both(game, reference, choose(actions))
        assert_alike(game, reference)
        if game.is_over or game.deal_number != deal:
            events = game.events[first_of_deal:]
            tally(events, dealer, game.rules.num_players, tallies, times)
            first_of_deal = len(game.events)
    states = game._batch.states[0]
    for player in range(game.rules.num_players):
        for source in range(engine.NUM_TALLIES):
            assert states["points"][player, source] == tallies[player, source]
            assert states["times"][player, source] == times[player, source]


def tally(
    events: list[Event],
    dealer: int,
    num_players: int,
    tallies: Counter[tuple[int, int]],
    times: Counter[tuple[int, int]],
) -> None:
    """Adds up a deal: the pegging only when it was played to its end."""
    pegged: Counter[int] = Counter()
    shown = False
    for event in events:
        is_dealer = event.player == dealer
        if event.kind is EventKind.STARTER:
            times[event.player, engine.DEALER_HEELS] += 1
        elif event.kind is EventKind.HEELS:
            tallies[event.player, engine.DEALER_HEELS] += event.points
        elif event.kind in (EventKind.LAY, EventKind.GO_POINT, EventKind.LAST_CARD):
            pegged[event.player] += event.points
        elif event.kind in (EventKind.SHOW_HAND, EventKind.SHOW_CRIB):
            shown = True
            source = engine.DEALER_HAND if is_dealer else engine.PONE_HAND
            if event.kind is EventKind.SHOW_CRIB:
                source = engine.DEALER_CRIB
            tallies[event.player, source] += event.points
            times[event.player, source] += 1
    for player in range(num_players) if shown else ():
        source = engine.DEALER_PEGGING if player == dealer else engine.PONE_PEGGING
        tallies[player, source] += pegged[player]
        times[player, source] += 1


def random_scores(rules: Rules, chance: random.Random) -> list[int]:
    """Often none, as games begin; else anything below the target, near it half of the time."""
    if chance.random() < 0.5:
        return [0] * rules.num_sides
    lowest = max(0, rules.target - 12) if chance.random() < 0.5 else 0
    return [chance.randrange(lowest, rules.target) for _ in range(rules.num_sides)]


def play_random_games(rules: Rules, num_games: int, reference_of: ReferenceOf) -> Counter[str]:
    """Plays games with random moves; returns what they met, so that a test can ask for it."""
    met: Counter[str] = Counter()
    for number in range(num_games):
        chance = random.Random(number)
        game = Game(rules, seed=number, scores=random_scores(rules, chance))
        play_both(game, reference_of(game), chance.choice)
        met.update({event.kind.name for event in game.events})
        # The event before the last, which is WIN, is what won.
        met[f"won by {game.events[-2].kind.name}"] += 1
    return met


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_random_games(name: str, reference_of: ReferenceOf) -> None:
    met = play_random_games(PRESETS[name], 60, reference_of)
    assert {kind.name for kind in EventKind if kind <= EventKind.WIN} <= set(met)
    assert {"won by LAY", "won by SHOW_HAND"} <= set(met)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESET_NAMES)
def test_many_random_games(name: str, reference_of: ReferenceOf) -> None:
    met = play_random_games(PRESETS[name], 500, reference_of)
    for kind in ("HEELS", "LAY", "GO_POINT", "LAST_CARD", "SHOW_HAND", "SHOW_CRIB"):
        assert met[f"won by {kind}"], f"no game was won by {kind}"


@pytest.mark.kernels
@pytest.mark.parametrize("name", PRESET_NAMES)
def test_a_few_games(name: str, reference_of: ReferenceOf) -> None:
    assert set(PLAIN) == set(PRESET_NAMES)
    play_random_games(PRESETS[name], 3, reference_of)


@pytest.mark.kernels
@pytest.mark.parametrize("name", CUSTOM)
def test_custom_rules(name: str, reference_of: ReferenceOf) -> None:
    play_random_games(CUSTOM[name], 4, reference_of)


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Short games by any rules that the oracle knows."""
    num_players = draw(st.integers(2, 4))
    cards_dealt = draw(st.integers(2, 9))
    try:
        return Rules(
            num_players=num_players,
            partnerships=num_players == 4 and draw(st.booleans()),
            cards_dealt=cards_dealt,
            cards_tossed=draw(st.integers(1, cards_dealt - 1)),
            crib_from_deck=draw(st.integers(0, 2)),
            num_jokers=draw(st.integers(0, 4)),
            target=draw(st.integers(1, 40)),
            **BRIEF,
        )
    except RulesError:
        reject()


@given(any_rules(), st.integers(0, 2**64 - 1), st.randoms(use_true_random=False))
def test_any_rules_and_any_moves(
    reference_of: ReferenceOf, rules: Rules, seed: int, chance: random.Random
) -> None:
    game = Game(rules, seed=seed)
    play_both(game, reference_of(game), chance.choice)


@given(
    st.sampled_from(PRESET_NAMES),
    st.permutations(range(52)),
    st.lists(st.integers(105, 120), min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_any_cards_near_the_end(
    reference_of: ReferenceOf, name: str, cards: list[int], scores: list[int], chance: random.Random
) -> None:
    """Cards of the search's own choice, each side about to win."""
    rules = PRESETS[name]
    sizes = [rules.cards_dealt] * rules.num_players
    hands = tuple(tuple(cards.pop() for _ in range(size)) for size in sizes)
    to_crib = tuple(cards.pop() for _ in range(rules.crib_from_deck))
    starts = [score - 121 + rules.target for score in scores[: rules.num_sides]]
    deal = Deal(hands, cards.pop(), to_crib)
    game = Game(rules, seed=chance.getrandbits(64), deals=[deal], scores=starts)
    assert game.deal() == deal
    play_both(game, reference_of(game), chance.choice)


@pytest.mark.kernels
@pytest.mark.parametrize("name", PRESET_NAMES)
def test_lockstep_is_game_by_game(name: str) -> None:
    """A batch in lockstep holds, byte for byte, the states of its games played one by one."""
    size = 5 if name == "standard" else 2
    batch = GameBatch.start(size, name, seed=3)
    games = [Game(name, seed=3, pair=pair) for pair in range(size)]
    chance = random.Random(1)
    while not batch.over.all():
        due = np.flatnonzero(~batch.over)
        actions = [chance.choice(games[index].legal_actions) for index in due]
        if chance.random() < 0.5:  # any order, and now and then some only
            order = chance.sample(range(len(due)), chance.randint(1, len(due)))
            due, actions = due[order], [actions[place] for place in order]
        batch.step(actions, due)
        for index, action in zip(due, actions, strict=True):
            games[index].push(action)
        for state, game in zip(batch.states, games, strict=True):
            assert packed(state) == packed(game._batch.states[0])
    outcomes = [game.outcome() for game in games]
    assert batch.winners.tolist() == [outcome.winner for outcome in outcomes if outcome]
    assert batch.scores.tolist() == [list(game.scores) for game in games]
