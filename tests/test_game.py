"""`Game`: legal actions, refusals, copies, text, and the rules of whole deals played by hand."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cribai.cards import card_text, cards_text, parse_card, parse_cards
from cribai.engine.state import OVER
from cribai.errors import IllegalActionError, RulesError
from cribai.events import Event, EventKind
from cribai.game import Deal, Game, Outcome, Skunk
from cribai.game_batch import GameBatch
from cribai.rules import STANDARD
from cribai.views import View
from plain_presets import PLAIN
from reference import rank, value

SENTENCES: list[str] = json.loads(
    (Path(__file__).parent / "cases" / "play.json").read_text(encoding="utf-8")
)["cases"]
TESTED: set[str] = set()
DEALER, PONE = 0, 1


def sentence(beginning: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Marks the test of the one sentence of tests/cases/play.json that begins so."""
    (found,) = (text for text in SENTENCES if text.startswith(beginning))
    TESTED.add(found)
    return lambda test: test


def filler(used: set[int], number: int) -> list[int]:
    """Cards that no one has, for the places where any will do: neither fives nor jacks."""
    free = [card for card in range(52) if card not in used and rank(card) not in (4, 10)][:number]
    used.update(free)
    return free


def start(pone: str, dealer: str, starter: str = "", scores: Sequence[int] = (0, 0)) -> Game:
    """A game at the first card of its first deal; each keeps the cards named, seat 0 deals."""
    used = set(parse_cards(f"{pone} {dealer} {starter}"))
    kept = [parse_cards(dealer), parse_cards(pone)]
    tosses = [filler(used, 2), filler(used, 2)]
    turned = parse_card(starter) if starter else filler(used, 1)[0]
    hands = tuple((*cards, *toss) for cards, toss in zip(kept, tosses, strict=True))
    game = Game(deals=[Deal(hands, turned)], first_dealer=DEALER, scores=scores, seed=1)
    game.push_cards(*tosses[PONE])
    game.push_cards(*tosses[DEALER])
    return game


def lay(game: Game, cards: str) -> list[Event]:
    """Lays the cards one after another, each by whoever's turn it is."""
    return [event for card in parse_cards(cards) for event in game.push_cards(card)]


def pegged(events: Sequence[Event]) -> list[tuple[int, str, int]]:
    """What scored among events of the play: player, card or kind, points."""
    return [
        (event.player, cards_text(event.cards) or event.kind.name, event.points)
        for event in events
        if event.points and event.kind not in (EventKind.SHOW_HAND, EventKind.SHOW_CRIB)
    ]


def kinds(events: Sequence[Event]) -> list[EventKind]:
    return [event.kind for event in events]


def fields(view: View) -> dict[str, Any]:
    return {name: view.record[name].tolist() for name in view.record.dtype.names}


def snapshot(game: Game) -> tuple[Any, ...]:
    """All that can be told of a game from outside, the next decision's random key included."""
    return (
        str(game),
        game.scores,
        game.hands,
        game.crib,
        game.legal_actions,
        list(game.actions),
        list(game.events),
        list(game.dealt),
        None if game.is_over else fields(game.view()),
    )


def play_on(game: Game, seed: int, num_actions: int = 10_000) -> Game:
    """Plays random legal actions, the chance being the seed's and not the game's."""
    chance = random.Random(seed)
    for _ in range(num_actions):
        if game.is_over:
            break
        game.push(chance.choice(game.legal_actions))
    return game


# ------------------------------------------------------------ whole-deal rules, one by one


@sentence("Count 27, the player to act holds K and 9 only")
def test_no_legal_card_is_a_go_without_a_choice() -> None:
    game = start("7C 4D KS 9H", "6C TD AC 2D")
    events = lay(game, "7C 6C 4D TD")
    assert events[-1].kind is EventKind.GO
    assert events[-1].player == PONE
    assert (game.count, game.actor) == (27, DEALER)
    before = snapshot(game)
    for card in parse_cards("KS 9H"):
        with pytest.raises(IllegalActionError, match="the legal cards are AC 2D"):
            game.push_cards(card)
    for action in (17, 18):
        with pytest.raises(IllegalActionError, match=r"the legal ones are \[15, 16\]"):
            game.push(action)
    assert snapshot(game) == before


@sentence("Dealer at 119 and the starter is a jack")
def test_heels_win() -> None:
    game = start("KC 9C 8C 7C", "QD 8D 7D 6D", "JH", scores=(119, 120))
    assert game.outcome() == Outcome(DEALER, (121, 120), (Skunk.NONE, Skunk.NONE))
    assert kinds(game.events)[2:] == [EventKind.STARTER, EventKind.HEELS, EventKind.WIN]
    assert game.actor is None


@sentence("Pone T J 5 2, dealer K 6 5 3")
def test_pegging_of_a_deal() -> None:
    game = start("TC JC 5C 2C", "KD 6D 5D 3D")
    events = lay(game, "TC KD 5C 6D")
    assert (game.actor, game.count) == (PONE, 0)
    events += lay(game, "JC 5D 2C 3D")
    assert pegged(events) == [(0, "6D", 2), (0, "5D", 2), (0, "LAST_CARD", 1)]


@sentence("120-120, pone holds K 9 8 7")
def test_a_go_wins() -> None:
    game = start("KC 9C 8C 7C", "QD 8D 7D 6D", scores=(120, 120))
    events = lay(game, "KC QD 9C")
    assert events[-2].kind is EventKind.GO_POINT
    assert game.outcome() == Outcome(PONE, (120, 121), (Skunk.NONE, Skunk.NONE))
    assert not any(event.kind is EventKind.SHOW_HAND for event in game.events)


@sentence("Pone at 115 with 6 or more in hand")
def test_the_pone_counts_first() -> None:
    # The dealer pegs four on the way to the show, the pone nothing.
    game = start("KC KD 9C 9D", "4C 4D 5H 5S", "6C", scores=(106, 115))
    events = lay(game, "KC 4C 9C 4D KD 5H 9D 5S")
    assert pegged(events) == [(0, "GO_POINT", 1), (0, "5H", 2), (0, "LAST_CARD", 1)]
    shown = [event for event in events if event.kind is EventKind.SHOW_HAND]
    assert [(event.player, event.points) for event in shown] == [(PONE, 8)]
    assert game.outcome() == Outcome(PONE, (110, 121), (Skunk.NONE, Skunk.NONE))


@sentence("The hands shown are the four cards each player kept")
def test_kept_hands_are_shown() -> None:
    game = start("TC JC 5C 2C", "KD 6D 5D 3D", "9S")
    events = lay(game, "TC KD 5C 6D JC 5D 2C 3D")
    assert [cards_text(event.cards) for event in events if "SHOW" in event.kind.name] == [
        "2C 5C TC JC",
        "3D 5D 6D KD",
        cards_text([*game.events[0].cards, *game.events[1].cards]),
    ]


@sentence("K K 9 2 makes 31")
def test_thirty_one_begins_a_new_series() -> None:
    game = start("KC 9C 8C 2C", "KD 2D 9D 3D")
    assert pegged(lay(game, "KC KD 9C 2D")) == [(0, "KD", 2), (0, "2D", 2)]
    assert (game.count, game.actor, game.view().series) == (0, PONE, ())
    assert pegged(lay(game, "8C 9D")) == []
    assert game.count == 17


@sentence("The last card of the deal that makes fifteen scores 3")
def test_last_card_with_fifteen_or_thirty_one() -> None:
    game = start("KC QC 5C 3C", "JD 3D 2D 2H")
    events = lay(game, "KC JD QC 3D 5C 2D 3C 2H")
    assert pegged(events)[-2:] == [(0, "2H", 2), (0, "LAST_CARD", 1)]
    game = start("KC QC 8C 4C", "JD 9D 5D 5H")
    events = lay(game, "KC JD QC 9D 8C 5D 4C 5H")
    assert pegged(events)[-1] == (0, "5H", 2)
    assert EventKind.LAST_CARD not in kinds(events)


@sentence("Loser at 91: plain win.")
@pytest.mark.parametrize(
    ("loser", "skunk", "worth"),
    [
        (91, Skunk.NONE, [1, 1, 2]),
        (90, Skunk.SINGLE, [2, 2, 3]),
        (61, Skunk.SINGLE, [2, 2, 3]),
        (60, Skunk.DOUBLE, [3, 4, 3]),
    ],
)
def test_skunks(loser: int, skunk: Skunk, worth: list[int]) -> None:
    game = start("KC 9C 8C 7C", "QD 8D 7D 6D", "JH", scores=(119, loser))
    outcome = game.outcome()
    assert outcome == Outcome(DEALER, (121, loser), (Skunk.NONE, skunk))
    assert [outcome.match_points(table) for table in ("plain", "quadruple", "acc")] == worth


@sentence("After a go, the player who can still play")
def test_going_on_alone() -> None:
    game = start("7C 4D KS 9H", "6C TD AC AD")
    lay(game, "7C 6C 4D TD")
    assert game.actor == DEALER
    first = lay(game, "AC")
    assert game.actor == DEALER
    assert game.legal_actions == [16]
    second = lay(game, "AD")
    assert pegged(first + second) == [(0, "AD", 2), (0, "GO_POINT", 1)]
    assert (game.actor, game.count) == (PONE, 0)
    assert pegged(lay(game, "KS 9H"))[-1] == (PONE, "LAST_CARD", 1)


@sentence("What a player may see is the same in two deals")
def test_hidden_cards_are_not_seen() -> None:
    own = parse_cards("KC 9C 8C 7C 2C 3C")

    def play(hidden: str, tossed: str, moves: int) -> Game:
        deal = Deal((parse_cards(hidden), own), parse_card("KS"))
        game = Game(deals=[deal], first_dealer=DEALER, seed=1)
        for cards in (tossed, hidden[-5:], "8C", "6D", "7C", "4D")[:moves]:
            game.push_cards(*parse_cards(cards))
        assert game.actor == PONE
        return game

    for moves in (0, 2, 4, 6):
        one = play("6D 4D QH QS TH TS", "2C 3C", moves).view()
        other = play("6D 4D JH JS 5H 5S", "2C 3C", moves).view()
        assert fields(one) == fields(other)
        if moves:
            assert fields(one) != fields(play("6D 4D QH QS TH TS", "2C KC", moves).view())


def test_every_sentence_is_tested() -> None:
    assert set(SENTENCES) == TESTED


# ---------------------------------------------------------------------- actions and refusals


@pytest.mark.parametrize("rules", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize("seed", range(3))
def test_legal_actions(rules: str, seed: int) -> None:
    game = Game(rules, seed=seed)
    chance = random.Random(seed)
    while not game.is_over:
        view = game.view()
        legal = game.legal_actions
        assert legal == view.legal_actions == sorted(set(legal))
        assert view.player == game.actor
        if game.is_discard:
            assert legal == list(range(game.rules.num_tosses))
            assert [view.cards_of(action) for action in legal] == view.tosses
        else:
            assert view.legal_cards == [view.cards_of(action)[0] for action in legal]
            assert all(game.count + value(card) <= 31 for card in view.legal_cards)
        for action in legal:
            assert view.action_of(*view.cards_of(action)) == action
        before = game.scores
        game.push(chance.choice(legal))
        assert all(new >= old for new, old in zip(game.scores, before, strict=True))
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.scores[outcome.winner] == game.rules.target
    assert sum(score == game.rules.target for score in outcome.scores) == 1
    assert (game.actor, game.legal_actions) == (None, [])


def test_refused_actions_change_nothing() -> None:
    game = Game(seed=3, first_dealer=0)
    chance = random.Random(3)
    for _ in range(40):
        before = snapshot(game)
        legal = game.legal_actions
        for action in (-1, -2, 19, 1000, *range(19)):
            if action not in legal:
                with pytest.raises(IllegalActionError) as caught:
                    game.push(action)
                assert str(caught.value).startswith(f"Action {action} is illegal; the legal ones")
        assert snapshot(game) == before
        game.push(chance.choice(legal))


def test_cards_that_are_not_held() -> None:
    game = Game(deals=[Deal((tuple(range(6)), tuple(range(6, 12))), 20)], first_dealer=0, seed=1)
    before = snapshot(game)
    for cards, words in (((0, 1), "AC AD"), ((6,), "2H"), ((), "nothing"), ((6, 6), "2H 2H")):
        with pytest.raises(IllegalActionError) as caught:
            game.push_cards(*cards)
        assert str(caught.value) == (
            f"Cannot toss {words} from 2H 2S 3C 3D 3H 3S; toss 2 of these cards."
        )
    assert snapshot(game) == before


@pytest.mark.parametrize("action", [1.9, "3", 10**30, -1, None])
def test_only_legal_integers_are_actions(action: Any) -> None:
    game = Game(seed=2)
    before = snapshot(game)
    with pytest.raises(IllegalActionError, match="is illegal; the legal ones are"):
        game.push(action)
    assert snapshot(game) == before


@pytest.mark.parametrize(
    ("actions", "indices", "words"),
    [
        ([0], [5], "must be 0 to 1"),
        ([0], [-1], "must be 0 to 1"),
        ([0, 0], [0, 0], "name a game twice"),
        ([1.7, 0.2], None, "must be integers"),
        ([0], None, "2 games are due and 1 actions came"),
        ([0, 99], None, "Action 99 is illegal in game 1"),
    ],
)
def test_a_batch_refuses_what_it_cannot_step(actions: Any, indices: Any, words: str) -> None:
    batch = GameBatch.start(2, seed=1)
    before = batch.states.tobytes()
    with pytest.raises(IllegalActionError, match=words):
        batch.step(actions, indices)
    assert batch.states.tobytes() == before


def test_a_batch_refuses_games_that_are_over() -> None:
    batch = GameBatch.start(2, seed=1)
    batch.states["phase"][1] = OVER
    for act in (lambda: batch.views([1]), lambda: batch.step([0], [1])):
        with pytest.raises(IllegalActionError, match="Game 1 is over"):
            act()


def test_over_is_over() -> None:
    game = play_on(Game(seed=2), 2)
    before = snapshot(game)
    for act in (lambda: game.push(15), lambda: game.push_cards(0), game.view):
        with pytest.raises(IllegalActionError, match=r"^The game is over; no"):
            act()
    assert snapshot(game) == before


# -------------------------------------------------------------------------------- beginnings


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": "bridge"}, "Unknown rules 'bridge'"),
        ({"seed": -1}, "The seed is -1; it must be an integer from 0 to 18446744073709551615."),
        ({"seed": 2**64}, "The seed is 18446744073709551616; it must be"),
        ({"seed": 1.5}, "The seed is 1.5; it must be"),
        ({"seed": True}, "The seed is True; it must be"),
        ({"first_dealer": 2}, "The first dealer is 2; it must be an integer from 0 to 1."),
        ({"first_dealer": -1}, "The first dealer is -1; it must be an integer from 0 to 1."),
        ({"scores": (0,)}, "must be 2, one for each side."),
        ({"scores": (0, 121)}, "The score is 121; it must be an integer from 0 to 120."),
        ({"scores": (-1, 0)}, "The score is -1; it must be an integer from 0 to 120."),
        ({"scores": (1.5, 0)}, "The score is 1.5; it must be an integer from 0 to 120."),
        ({"pair": 2**70}, "The pair is 1180591620717411303424; it must be"),
        ({"game": -1}, "The game is -1; it must be"),
    ],
)
def test_no_such_game(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError) as caught:
        Game(**options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("hands", "starter", "to_crib", "words"),
    [
        ([range(6)], 20, (), "A deal of standard has 2 hands of 6 and 0 cards to the crib"),
        ([range(6), range(6, 11)], 20, (), "unlike the deal AC AD AH AS 2C 2D 2H 2S 3C 3D 3H 6C."),
        ([range(6), range(6, 12)], 20, (21,), "A deal of standard has"),
        ([range(6), range(5, 11)], 20, (), "has a card twice or one that the deck lacks."),
        ([range(6), range(6, 12)], 0, (), "has a card twice or one that the deck lacks."),
        ([range(6), range(6, 12)], 52, (), "has a card twice or one that the deck lacks."),
    ],
)
def test_no_such_deal(
    hands: list[range], starter: int, to_crib: tuple[int, ...], words: str
) -> None:
    deal = Deal(tuple(tuple(hand) for hand in hands), starter, to_crib)
    with pytest.raises(RulesError) as caught:
        Game(deals=[deal])
    assert words in str(caught.value)


@pytest.mark.parametrize("rules", PLAIN)
def test_dealt_cards_are_kept_and_play_the_same_game(rules: str) -> None:
    game = play_on(Game(rules, seed=5, pair=2, first_dealer=1), 5)
    assert len(game.dealt) == game.deal_number + 1
    assert game.deal() == game.dealt[-1]
    assert len(set(game.dealt)) == len(game.dealt)
    again = Game(rules, seed=99, first_dealer=1, deals=game.dealt)
    for action in game.actions:
        again.push(action)
    assert again.events == game.events
    assert again.dealt == game.dealt
    assert again.outcome() == game.outcome()


def test_later_deals_come_from_the_seed() -> None:
    deals = Game(seed=5).dealt
    scripted = play_on(Game(seed=6, first_dealer=0, deals=deals), 5, 30)
    plain = play_on(Game(seed=6, first_dealer=0), 5, 30)
    assert scripted.dealt[0] == deals[0] != plain.dealt[0]
    assert scripted.dealt[1:] == plain.dealt[1 : len(scripted.dealt)]


def test_start_scores() -> None:
    game = Game(seed=1, scores=(100, 90))
    assert game.start_scores == game.scores == (100, 90)
    play_on(game, 1)
    assert game.start_scores == (100, 90)
    assert Game("three_player", seed=1).start_scores == (0, 0, 0)


def test_seed_decides_and_pair_and_game_matter() -> None:
    def opening(**options: Any) -> tuple[Deal, int]:
        game = Game(**options)
        return game.deal(), game.view().key

    deal, key = opening(seed=1, first_dealer=0)
    assert opening(seed=1, first_dealer=0) == (deal, key)
    assert opening(seed=2, first_dealer=0)[0] != deal
    assert opening(seed=1, pair=1, first_dealer=0)[0] != deal
    same_deal, other_key = opening(seed=1, game=1, first_dealer=0)
    assert (same_deal, other_key != key) == (deal, True)
    assert Game().seed != Game().seed


def test_the_deal_alternates() -> None:
    game = Game(seed=4, first_dealer=1)
    dealers = {}
    chance = random.Random(4)
    while not game.is_over:
        dealers[game.deal_number] = game.dealer
        game.push(chance.choice(game.legal_actions))
    assert game.first_dealer == 1
    assert dealers == {number: (1 + number) % 2 for number in dealers}


# ------------------------------------------------------------------------ copies and text


@pytest.mark.parametrize("rules", PLAIN)
@pytest.mark.parametrize(
    "twin_of",
    [Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))],
    ids=["copy", "copy.copy", "deepcopy", "pickle"],
)
def test_copies_continue_identically(rules: str, twin_of: Callable[[Game], Game]) -> None:
    for num_actions in (0, 1, 7, 40):
        deals = Game(rules, seed=8).dealt
        game = play_on(Game(rules, seed=7, game=1, deals=[*deals, *deals]), 1, num_actions)
        before = snapshot(game)
        twin = twin_of(game)
        assert snapshot(twin) == before
        chance = random.Random(2)
        while not twin.is_over:
            twin.push(chance.choice(twin.legal_actions))
        assert snapshot(game) == before, "the copy's moves must not reach the game"
        chance = random.Random(2)
        while not game.is_over:
            game.push(chance.choice(game.legal_actions))
        assert snapshot(twin) == snapshot(game)
        assert twin.outcome() == game.outcome()
        assert repr(twin) == repr(game)


def test_random_keys_follow_the_game() -> None:
    game = play_on(Game(seed=7), 1, 20)
    twin = game.copy()
    keys = []
    for one in (game, twin):
        seen = []
        chance = random.Random(3)
        while not one.is_over:
            seen.append(one.view().key)
            one.push(chance.choice(one.legal_actions))
        keys.append(seen)
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == len(keys[0])


def test_text() -> None:
    game = start("KC 9C 8C 7C", "QD 8D 7D 6D", "2H", scores=(5, 60))
    lay(game, "KC QD")
    assert str(game) == (
        "standard, deal 1, 5-60 of 121\n"
        "  player 0 dealer 6D 7D 8D  laid QD\n"
        "> player 1 pone   7C 8C 9C  laid KC\n"
        "  starter 2H  count 20  series KC QD\n"
        "  crib 2C 2D AH AS".replace("2C 2D AH AS", cards_text(game.crib))
    )
    assert repr(game) == (
        "Game('standard', seed=1, pair=0, game=0, first_dealer=0)  # after 4 actions"
    )
    assert str(play_on(game, 1)).endswith("wins")
    before_starter = str(Game(seed=1))
    assert "starter" not in before_starter
    assert "crib" in before_starter


def test_text_of_a_view_shows_no_hidden_card() -> None:
    game = start("KC 9C 8C 7C", "QD 8D 7D 6D", "2H")
    lay(game, "KC QD")
    text = str(game.view())
    for card in (*parse_cards("8D 7D 6D"), *game.events[1].cards):
        assert card_text(card) not in text
    assert repr(game.view()) == f"<View {text}>"


# ------------------------------------------------------------------------------- the batch


def test_a_batch_is_many_games() -> None:
    batch = GameBatch.start(5, seed=3, games=1)
    games = [Game(seed=3, pair=pair, game=1) for pair in range(5)]
    chance = random.Random(3)
    while not batch.over.all():
        views = batch.views()
        due = [game for game in games if not game.is_over]
        assert [view.key for view in views] == [game.view().key for game in due]
        actions = [chance.choice(game.legal_actions) for game in due]
        batch.step(actions)
        for game, action in zip(due, actions, strict=True):
            game.push(action)
    assert [tuple(scores) for scores in batch.scores.tolist()] == [game.scores for game in games]
    outcomes = [game.outcome() for game in games]
    assert batch.winners.tolist() == [outcome and outcome.winner for outcome in outcomes]


def test_a_batch_refuses_and_changes_nothing() -> None:
    batch = GameBatch.start(3, seed=3)
    before = batch.states.tobytes()
    with pytest.raises(IllegalActionError, match=r"^Action 15 is illegal in game 1"):
        batch.step([0, 15, 0])
    with pytest.raises(IllegalActionError, match="give one for each"):
        batch.step([0, 0])
    assert batch.states.tobytes() == before
    twin = batch.copy()
    twin.step([0, 0, 0])
    assert batch.states.tobytes() == before
    assert len(twin) == 3
    assert twin.rules == STANDARD
