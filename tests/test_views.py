"""What players see: all that they may know, nothing that is hidden, and only legal actions."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields

import reference
from cribai import (
    PRESETS,
    Deal,
    EventKind,
    Game,
    GameBatch,
    IllegalActionError,
    Rules,
    SimpleAgent,
    View,
    get_rules,
    make_agent,
    parse_cards,
)
from cribai.cards import NO_CARD
from cribai.engine import state as engine
from hidden_cards import cards_in, with_other_hidden_cards
from plain_presets import PLAIN
from reference import ReferenceGame

ALL_RULES = [*PLAIN.values(), replace(PRESETS["standard"], name="jokers", num_jokers=4)]

all_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)


def positions(rules: Rules, num_games: int, every: int) -> Iterator[GameBatch]:
    """Games at many points of their course, played at random; each time those not yet over."""
    batch = GameBatch.start(num_games, rules, seed=11)
    agent = make_agent("random")
    for turn in range(60 * every):
        if batch.over.all():
            return
        if turn % every == 0:
            going = np.flatnonzero(~batch.over)
            yield GameBatch(batch.states[going], rules, batch.games[going])
        batch.step(agent.act(batch.views()))


def packed(records: Any) -> bytes:
    """The bytes of the fields without the padding among them, which copies leave undefined."""
    return bytes(repack_fields(records).tobytes())


def view_bytes(states: Any, rules: Rules) -> bytes:
    return packed(GameBatch(states, rules).views().array)


# -------------------------------------------------------------------------------- what is hidden


@pytest.mark.kernels
@all_rules
def test_hidden_cards_do_not_show(rules: Rules) -> None:
    chance = random.Random(1)
    num_hidden_hands = 0
    for batch in positions(rules, 8, every=2):
        for state in batch.states:
            other = with_other_hidden_cards(state, rules, chance)
            num_hidden_hands += (other["hands"] != state["hands"]).any()
            both = GameBatch(np.array([state, other], engine.STATE), rules, [7, 7])
            views = both.views()
            assert packed(views.array[0]) == packed(views.array[1])
            masks = views.action_masks()
            assert masks[0].tobytes() == masks[1].tobytes()
            assert str(views[0]) == str(views[1])
    assert num_hidden_hands > 50


def swap_own_toss(state: Any, rules: Rules) -> None:
    used = rules.num_players * rules.cards_dealt + rules.crib_from_deck + 1
    actor = state["actor"]
    cards = cards_in(state["tosses"][actor])
    cards[0] = int(state["deck"][used])
    state["tosses"][actor][: len(cards)] = sorted(cards)


def change_own_hand(state: Any, rules: Rules) -> None:
    state["hands"][state["actor"], 0] = rules.deck_size - 1


def change_starter(state: Any, rules: Rules) -> None:
    state["starter"] = (state["starter"] + 1) % rules.deck_size


def change_laid_card(state: Any, rules: Rules) -> None:
    state["play_cards"][0] = (state["play_cards"][0] + 4) % rules.deck_size


def change_layer(state: Any, rules: Rules) -> None:
    state["play_players"][0] = (state["play_players"][0] + 1) % rules.num_players


def change_scores(state: Any, rules: Rules) -> None:
    side = rules.num_sides - 1
    state["scores"][side] ^= 1


def change_go_count(state: Any, rules: Rules) -> None:
    state["go_counts"][rules.num_players - 1] ^= 1


def change_dealer(state: Any, rules: Rules) -> None:
    state["dealer"] = (state["dealer"] + 1) % rules.num_players


def change_num_left(state: Any, rules: Rules) -> None:
    state["num_left"][rules.num_players - 1] ^= 1


@pytest.mark.kernels
@pytest.mark.parametrize(
    "change",
    [
        swap_own_toss,
        change_own_hand,
        change_starter,
        change_laid_card,
        change_layer,
        change_scores,
        change_go_count,
        change_dealer,
        change_num_left,
    ],
)
@all_rules
def test_what_is_known_does_show(rules: Rules, change: Callable[[Any, Rules], None]) -> None:
    num_changed = 0
    for batch in positions(rules, 3, every=4):
        for index in np.flatnonzero(batch.states["num_plays"] > 0):
            state = batch.states[[index]]
            other = state.copy()
            change(other[0], rules)
            assert view_bytes(state, rules) != view_bytes(other, rules)
            num_changed += 1
    assert num_changed > 20


OWN = "5H 6S 9D TD KC 2C"
OTHERS = "4C 7D 8S JH QS AC"


def tossed(own: str, others: str, starter: str) -> Game:
    """A game in which the pone tossed his last two cards, and the dealer is to toss."""
    hands = (parse_cards(own), parse_cards(others))
    game = Game(seed=1, first_dealer=0, deals=[Deal(hands, parse_cards(starter)[0])])
    game.push_cards(*hands[1][-2:])
    return game


def led(own: str, others: str, starter: str) -> Game:
    """The same game after the dealer tossed his last two cards and the pone led the 4C."""
    game = tossed(own, others, starter)
    game.push_cards(*parse_cards(own)[-2:])
    game.push_cards(*parse_cards("4C"))
    return game


@pytest.mark.kernels
def test_deals_that_differ_in_hidden_cards_look_alike() -> None:
    record = packed(tossed(OWN, OTHERS, "3S").view().record)
    for others in (OTHERS, "4C 7D 8S JH 3D KD", "2H 3H 4H TC QC KH"):
        for starter in ("3S", "AS"):
            assert packed(tossed(OWN, others, starter).view().record) == record
    record = packed(led(OWN, OTHERS, "3S").view().record)
    for others in ("4C 7D 8S JH 3D KD", "4C TC QC KH QS AC"):
        assert packed(led(OWN, others, "3S").view().record) == record
    for own, starter in (("5H 6S 9D TD KS 2C", "3S"), (OWN, "AS"), ("5H 6S 9D TC KC 2C", "3S")):
        assert packed(led(own, OTHERS, starter).view().record) != record


@pytest.mark.kernels
def test_views_are_copies() -> None:
    batch = GameBatch.start(3, seed=1)
    states = packed(batch.states)
    views = batch.views()
    view = views[1]
    record = packed(view.record)
    views.array["hand"] = 0
    views.array["playable"] = -1
    view.action_mask[:] = 0
    assert packed(batch.states) == states
    assert packed(view.record) == record


# ---------------------------------------------------------------------------- what is legal


def brute_force_mask(state: Any, rules: Rules) -> list[int]:
    """Every toss, or every card in hand that the count has room for."""
    actor = int(state["actor"])
    laid = cards_in(state["play_cards"][: state["num_plays"]])
    series = laid[len(laid) - int(state["series_length"]) :]
    room = 31 - sum(map(reference.value, series))
    is_discard = state["phase"] == engine.DISCARD
    mask = [int(is_discard)] * rules.num_tosses
    for card in state["hands"][actor, : rules.cards_kept].tolist():
        held = card != NO_CARD and card not in laid
        mask.append(int(not is_discard and held and reference.value(card) <= room))
    return mask


@pytest.mark.kernels
@all_rules
def test_masks_are_what_brute_force_finds(rules: Rules) -> None:
    """The mask, the actions that a step accepts, and the rules agree, action by action."""
    for batch in positions(rules, 3, every=4):
        views = batch.views()
        masks = views.action_masks()
        assert masks.dtype == np.int8
        assert masks.shape == (len(batch), rules.num_actions)
        for index, mask in enumerate(masks.tolist()):
            assert mask == brute_force_mask(batch.states[index], rules)
            view = views[index]
            assert view.action_mask.tolist() == mask
            assert view.legal_actions == [action for action, legal in enumerate(mask) if legal]
            assert views.array["num_legal"][index] == sum(mask)
            for action in range(-2, rules.num_actions + 2):
                one = GameBatch(batch.states[[index]], rules)
                if 0 <= action < rules.num_actions and mask[action]:
                    one.step([action])
                    continue
                with pytest.raises(IllegalActionError, match=f"Action {action} is illegal"):
                    one.step([action])
                assert packed(one.states) == packed(batch.states[[index]])


@all_rules
def test_some_action_is_always_legal(rules: Rules) -> None:
    num_states = 0
    num_forced = 0
    for batch in positions(rules, 1000, every=1):
        views = batch.views()
        num_legal = views.action_masks().sum(axis=1)
        assert (num_legal >= 1).all()
        assert (num_legal == views.array["num_legal"]).all()
        num_states += len(batch)
        num_forced += int((num_legal == 1).sum())
        if num_states > 25_000:
            break
    assert num_states > 20_000  # more than 100,000 by all the rules
    assert num_forced > 1000


@pytest.mark.kernels
@pytest.mark.parametrize("name", PLAIN)
def test_nothing_is_legal_at_the_end(name: str) -> None:
    batch = GameBatch.start(2, name, seed=4)
    agent = make_agent("random")
    game = Game(name, seed=4)
    while not batch.over[0]:
        due = np.flatnonzero(~batch.over)
        action = int(agent.act(batch.views([0]))[0])
        batch.step([action], due[:1])
        game.push(action)
    ended = packed(batch.states[0])
    assert game.is_over
    assert game.actor is None
    assert game.legal_actions == []
    with pytest.raises(IllegalActionError, match="over"):
        game.view()
    for action in range(-1, game.rules.num_actions + 1):
        with pytest.raises(IllegalActionError, match="over"):
            game.push(action)
        with pytest.raises(IllegalActionError):
            batch.step([action], [0])
        with pytest.raises(IllegalActionError):  # nor does the other game move
            batch.step([0, action], [1, 0])
    assert packed(game._batch.states[0]) == ended
    assert packed(batch.states[0]) == ended
    assert (batch.states["num_decisions"][1], batch.over[1]) == (0, False)
    assert len(batch.views()) == 1  # the other game's
    with pytest.raises(IllegalActionError, match="over"):
        batch.views([0])


@pytest.mark.kernels
def test_a_step_takes_one_action_a_game() -> None:
    batch = GameBatch.start(3, seed=1)
    for actions in ([0, 0], [0, 0, 0, 0], [[0, 0, 0]], [0.0, 0.0, 0.0]):
        with pytest.raises(IllegalActionError, match=r"one for each|in one dimension"):
            batch.step(actions)
    for indices in ([0, 3], [-1, 0], [1, 1]):
        with pytest.raises(IllegalActionError, match="indices"):
            batch.step([0, 0], indices)
        with pytest.raises(IllegalActionError, match="indices"):
            batch.views(indices)
    assert (batch.states["num_decisions"] == 0).all()


# ------------------------------------------------------------------------------ what is told


@pytest.mark.kernels
@all_rules
def test_views_tell_the_truth(rules: Rules, reference_of: Callable[[Game], ReferenceGame]) -> None:
    game = Game(rules, seed=6, pair=2)
    oracle = reference_of(game)
    agent = make_agent("random")
    num_pegged = 0
    while not game.is_over:
        view = game.view()
        assert_true(view, game, oracle)
        action = int(agent.act(game._batch.views())[0])
        cards = view.cards_of(action)
        assert view.action_of(*cards[::-1]) == action
        events = game.push(action)
        if view.is_discard:
            oracle.toss(cards)
            continue
        oracle.play(cards[0])
        (laid,) = (event for event in events if event.kind is EventKind.LAY)
        assert view.play_points(cards[0]) == laid.points
        num_pegged += laid.points > 0
    assert num_pegged > 3


def assert_true(view: View, game: Game, oracle: ReferenceGame) -> None:
    rules = game.rules
    player = view.player
    seats = [(player + place) % rules.num_players for place in range(rules.num_players)]
    assert player == game.actor
    assert view.deal == game.deal_number
    assert view.decision == len(game.actions)
    assert view.is_discard == game.is_discard
    assert seats[view.dealer] == game.dealer
    assert view.is_dealer == (player == game.dealer)
    assert view.scores == tuple(game.scores[rules.side_of(seat)] for seat in seats)
    assert view.starter == game.starter
    assert view.count == game.count == sum(map(reference.value, view.series))
    assert view.kept == game.hands[player]
    laid = {card for seat, card in oracle.laid if seat == player}
    assert view.hand == tuple(card for card in game.hands[player] if card not in laid)
    assert view.plays == tuple((seats.index(seat), card) for seat, card in oracle.laid)
    assert view.series == tuple(oracle.series)
    held = rules.cards_kept
    by_seat = [held - sum(seat == layer for layer, _ in oracle.laid) for seat in seats]
    assert view.num_left == tuple(by_seat)
    if view.is_discard:
        assert view.tossed == ()
        assert view.tosses == oracle.legal_tosses()
        assert view.legal_cards == []
    else:
        dealt = game.deal().hands[player]
        assert view.tossed == tuple(sorted(set(dealt) - set(view.kept)))
        assert view.tosses == []
        assert view.legal_cards == oracle.legal_cards()
    for place, go_count in enumerate(view.go_counts):
        stuck = oracle.go_counts[seats[place]]
        assert go_count == (None if stuck == reference.NEVER_STUCK else stuck)
    text = str(view)
    assert ("dealer" in text) == view.is_dealer
    assert f"{view}" in repr(view)


@pytest.mark.kernels
def test_view_as_text() -> None:
    game = tossed(OWN, OTHERS, "3S")
    assert str(game.view()) == "dealer at 0-0; hand 2C 5H 6S 9D TD KC"
    assert str(led(OWN, OTHERS, "3S").view()) == (
        "dealer at 0-0; hand 5H 6S 9D TD; tossed 2C KC; starter 3S; laid 1:4C, count 4"
    )


@pytest.mark.kernels
def test_batch_is_its_views() -> None:
    batch = GameBatch.start(4, "three_player", seed=1, games=3)
    batch.games = np.array([40, 41, 42, 43])
    views = batch.views([2, 0])
    assert [view.game for view in views] == [42, 40]
    assert [view.key for view in views] == [int(batch.views()[index].key) for index in (2, 0)]
    assert len(views) == 2
    assert len(batch.views([])) == 0
    assert batch.views([]).action_masks().shape == (0, views.rules.num_actions)
    assert views[-1].game == 40
    with pytest.raises(IndexError):
        views[2]


# ----------------------------------------------------------------------------- what is refused


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ("", "Cannot toss nothing from 2C 5H 6S 9D TD KC; toss 2 of these cards"),
        ("5H", "Cannot toss 5H from"),
        ("5H 6S 9D", "Cannot toss 5H 6S 9D from"),
        ("5H 4C", "Cannot toss 5H 4C from"),
        ("5H 5D", "Cannot toss"),
    ],
)
def test_wrong_tosses_are_refused(cards: str, message: str) -> None:
    view = tossed(OWN, OTHERS, "3S").view()
    with pytest.raises(IllegalActionError, match=message):
        view.action_of(*parse_cards(cards))


@pytest.mark.kernels
def test_a_card_cannot_be_tossed_twice() -> None:
    view = tossed(OWN, OTHERS, "3S").view()
    five = parse_cards("5H")[0]
    with pytest.raises(IllegalActionError, match="Cannot toss 5H 5H"):
        view.action_of(five, five)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ("", "Cannot lay nothing at count 24; the legal cards are 5H 6S"),
        ("9D", "Cannot lay 9D at count 24"),  # no room
        ("TD", "Cannot lay TD at count 24"),  # laid
        ("KC", "Cannot lay KC at count 24"),  # tossed
        ("QS", "Cannot lay QS at count 24"),  # another's
        ("5H 6S", "Cannot lay 5H 6S at count 24"),
    ],
)
def test_wrong_plays_are_refused(cards: str, message: str) -> None:
    game = led(OWN, "4C QD 8S JH QS AC", "3S")
    game.push_cards(*parse_cards("TD"))
    game.push_cards(*parse_cards("QD"))
    view = game.view()
    assert view.legal_cards == list(parse_cards("5H 6S"))
    with pytest.raises(IllegalActionError, match=message):
        view.action_of(*parse_cards(cards))
    before = packed(game._batch.states)
    with pytest.raises(IllegalActionError, match=message):
        game.push_cards(*parse_cards(cards))
    assert packed(game._batch.states) == before


class Stubborn(SimpleAgent):
    """Tosses and lays what it was told to, legal or not."""

    def __init__(self, toss: str, play: str) -> None:
        self.toss = parse_cards(toss)
        self.play = parse_cards(play)[0]

    def choose_discard(self, view: View) -> Sequence[int]:
        assert view.is_discard
        return self.toss

    def choose_play(self, view: View) -> int:
        assert not view.is_discard
        return self.play


@pytest.mark.kernels
def test_simple_agents_choose_cards_and_answer_actions() -> None:
    agent = Stubborn("KC 2C", "9D")
    (toss,) = agent.act(tossed(OWN, OTHERS, "3S")._batch.views())
    assert toss == 4  # the first and the last of six cards
    actions = agent.act(led(OWN, OTHERS, "3S")._batch.views())
    assert actions.tolist() == [get_rules("standard").num_tosses + 2]
    assert actions.dtype == np.int64
    assert len(agent.act(GameBatch.start(1, seed=1).views([]))) == 0


@pytest.mark.kernels
def test_simple_agents_that_cheat_are_stopped() -> None:
    agent = Stubborn("KC KD", "KC")
    with pytest.raises(IllegalActionError, match="Cannot toss KC KD from"):
        agent.act(tossed(OWN, OTHERS, "3S")._batch.views())
    with pytest.raises(IllegalActionError, match="Cannot lay KC at count 4"):
        agent.act(led(OWN, OTHERS, "3S")._batch.views())
