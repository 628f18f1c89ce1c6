"""What players see in the variants: all that they may know, and nothing that is hidden."""

import random
from typing import Any

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields

from cribai import (
    PRESETS,
    Deal,
    Game,
    GameBatch,
    IllegalActionError,
    Rules,
    ViewBatch,
    make_agent,
    parse_cards,
)
from cribai.cards import parse_card
from cribai.engine import state as engine
from hidden_cards import hide
from test_variants_games import VARIANTS

variants = pytest.mark.parametrize("rules", VARIANTS, ids=lambda rules: rules.name)


def packed(record: Any) -> bytes:
    return bytes(repack_fields(record).tobytes())


@variants
def test_hidden_cards_do_not_show(rules: Rules) -> None:
    chance = random.Random(1)
    batch = GameBatch.start(12, rules, seed=5)
    player = make_agent("random")
    phases = set()
    for _ in range(60):
        due = np.flatnonzero(~batch.over)
        for game in due[:4].tolist():
            phases.add(int(batch.states[game]["phase"]))
            for viewer in range(rules.num_players):
                other = hide(batch.states[game], rules, viewer, chance)
                both = GameBatch(
                    np.array([batch.states[game], other], engine.state_dtype(rules)), rules, [7, 7]
                )
                views = both.seat_views(viewer)
                assert packed(views.array[0]) == packed(views.array[1])
                assert str(views[0]) == str(views[1])
                assert (views.action_masks()[0] == views.action_masks()[1]).all()
        batch.step(player.act(batch.views(due)), due)
    expected = {engine.DISCARD, engine.PLAY}
    expected |= {engine.DRAW} if rules.num_stock else set()
    expected |= {engine.GIVE} if rules.chosen_starter else set()
    expected |= {engine.BID} if rules.bid else set()
    expected |= {engine.ANNOUNCE} if rules.muggins else set()
    # Where hands may be worth hundreds, a random announcement is hardly ever too low.
    expected |= {engine.CLAIM} if rules.name == "muggins" else set()
    assert phases == expected


def seen(rules: str, steps: int, seed: int = 6) -> tuple[GameBatch, ViewBatch]:
    """Both players' views after some random decisions of a game."""
    batch = GameBatch.start(1, rules, seed=seed)
    for _ in range(steps):
        batch.step(make_agent("random").act(batch.views()))
    views = [batch.seat_views(seat).array[0] for seat in range(2)]
    return batch, ViewBatch(np.array(views, views[0].dtype), PRESETS[rules])


def test_first_starter_is_seen_before_the_toss() -> None:
    batch, views = seen("two_starters", 0)
    first = int(batch.states["deck"][0, 12])
    assert [view.starters for view in views] == [(first,), (first,)]
    batch, views = seen("two_starters", 2)
    assert views[0].starters == views[1].starters == tuple(batch.states["deck"][0, 12:14].tolist())
    assert views[0].starter == batch.states["deck"][0, 13]


def test_what_was_thrown_away_is_known_to_its_owner_alone() -> None:
    batch, views = seen("draw", 1)
    pone = 1 - int(batch.states["dealer"][0])
    number = int(batch.states["num_thrown"][0, pone])
    assert len(views[pone].thrown) == number
    assert views[pone].num_thrown == (number, 0)
    assert views[1 - pone].thrown == ()
    assert views[1 - pone].num_thrown == (0, number)
    dealt = batch.states["deck"][0, 6 * pone : 6 * pone + 6].tolist()
    drawn = batch.states["deck"][0, 13 : 13 + number].tolist()
    assert sorted((*views[pone].hand, *views[pone].thrown)) == sorted(dealt + drawn)


def test_gifts_are_hidden_until_both_are_given() -> None:
    batch, views = seen("chosen_starter", 3)
    pone = 1 - int(batch.states["dealer"][0])
    assert views[pone].given is not None
    assert views[1 - pone].given is None
    assert views[0].starters == views[1].starters == ()
    batch, views = seen("chosen_starter", 4)
    assert views[pone].starters == (views[1 - pone].given,)
    assert views[pone].starters_of(1) == (views[pone].given,)


def test_bids_are_open_and_decide_the_crib() -> None:
    batch = GameBatch.start(40, "bid", seed=7)
    views = batch.views()
    assert views[0].bids == list(range(13))
    batch.step([view.action_of_number(index % 13) for index, view in enumerate(views)])
    for index, view in enumerate(batch.views()):
        if index % 13 == 12:
            assert view.is_discard  # The dealer could only pass and is not asked.
            assert view.bids_made == (12, 0)
            continue
        assert view.bids_made == (None, index % 13)
        assert view.bids == [0, *range(index % 13 + 1, 13)]
        assert not view.owns_crib
    rows = np.flatnonzero(batch.states["phase"] == engine.BID)
    batch.step([view.action_of_number(0) for view in batch.views(rows)], rows)
    for index, view in enumerate(batch.views()):
        assert view.owns_crib == (index % 13 > 0)


def test_kings_are_seen_with_the_ranks_they_were_laid_as() -> None:
    batch, _ = seen("wild_kings", 2, seed=9)
    for _ in range(40):
        view = batch.views()[0]
        kings = [action for action in view.legal_actions if view.rank_of(action) is not None]
        if kings and view.count <= 21:
            action = next(action for action in kings if view.rank_of(action) == 4)
            card = view.cards_of(action)[0]
            batch.step([action])
            for seat in range(2):
                then = batch.seat_views(seat)[0]
                assert then.plays[len(view.plays)][1] == card
                assert then.play_ranks[len(view.plays)] == 4
            assert batch.states["count"][0] in (view.count + 5, 0)
            return
        batch.step([view.legal_actions[0]])
    pytest.fail("no king was held")


@pytest.mark.parametrize(
    ("rank", "message"),
    [
        (13, "Cannot lay KC as rank 13; a rank, 0 to 12, is only for a king that is wild."),
        (-1, "Cannot lay KC as rank -1; a rank, 0 to 12, is only for a king that is wild."),
    ],
)
def test_ranks_that_there_are_not_are_refused(rank: int, message: str) -> None:
    hands = (parse_cards("2C 3C 4C 5C 6C 7C"), parse_cards("QC KC 9H TH JH KD"))
    game = Game("wild_kings", seed=1, first_dealer=0, deals=[Deal(hands, parse_card("AS"))])
    with pytest.raises(IllegalActionError, match="Cannot lay 9H TH as rank 3"):
        game.view().action_of(*parse_cards("9H TH"), rank=3)
    game.push_cards(*parse_cards("9H TH"))
    game.push_cards(*parse_cards("2C 3C"))
    king, queen = parse_cards("KC QC")
    view = game.view()
    assert view.rank_of(view.action_of(king, rank=12)) == 12
    with pytest.raises(IllegalActionError) as caught:
        view.action_of(king, rank=rank)
    assert str(caught.value) == message
    with pytest.raises(IllegalActionError, match="Cannot lay QC as rank 3; a rank"):
        view.action_of(queen, rank=3)


def test_in_lowball_with_partners_an_opponent_wins() -> None:
    rules = Rules(
        num_players=4,
        partnerships=True,
        cards_dealt=5,
        cards_tossed=1,
        lowball=True,
        num_starters=2,
        skunk_line=None,
        double_skunk_line=None,
    )
    cards = [card for card in range(52) if card != 40]
    hands = tuple(tuple(cards[seat : 20 + seat : 4]) for seat in range(4))
    for dealer in range(4):
        scores = [0, 0]
        scores[dealer % 2] = 120
        deal = Deal(hands, 40, second_starter=cards[30])
        game = Game(rules, seed=1, first_dealer=dealer, deals=[deal], scores=scores)
        outcome = game.outcome()
        assert outcome is not None
        assert outcome.winner == (dealer + 1) % 2 == game.events[-1].player % 2
        turned = Deal(hands, cards[30], second_starter=40)
        game = Game(rules, seed=1, first_dealer=dealer, deals=[turned], scores=scores)
        while not game.is_over:
            game.push(0)
        assert game.events[-1].player == (dealer + 1) % 4


def test_counts_are_face_up_when_they_are_announced_and_claimed() -> None:
    batch, views = seen("muggins", 2)
    while not batch.views()[0].is_announcement:
        batch.step([batch.views()[0].legal_actions[0]])
    view = batch.views()[0]
    assert not view.is_dealer
    assert view.shown == view.kept
    assert view.announcements == list(range(30))
    batch.step([view.action_of_number(0)])
    claim = batch.views()[0]
    assert claim.is_claim
    assert (claim.announced, claim.shown, claim.shown_worth) == (0, view.shown, view.shown_worth)
    assert claim.claims == list(range(30))
    assert views[0].shown == ()
