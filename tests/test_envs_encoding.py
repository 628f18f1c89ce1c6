"""Observations: every field is what the view says, and the view comes back from them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import Deal, Game, Rules, View, ViewBatch, get_rules, parse_cards
from cribai.cards import rank_of, suit_of, value_of
from cribai.engine import state as engine
from cribai.envs.encoding import make_encoding
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.errors import ConfigError
from env_play import ALL_RULES, TWO_PLAYERS, choose, frozen, packed, positions

BOOK_KEEPING = ("game", "deal", "decision", "key", "player")
FIELDS = [name for name in engine.VIEW.names or () if name not in BOOK_KEEPING]
RANKS = 14

all_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)


def all_seats(rules: Rules, num_games: int = 8, every: int = 3) -> Iterator[ViewBatch]:
    """Every seat's views: of who acts, of who waits, of finished games."""
    for batch in positions(rules, num_games, every):
        for seat in range(rules.num_players):
            yield batch.seat_views(seat)


@cache
def sample(rules: Rules) -> ViewBatch:
    views = ViewBatch(np.concatenate([views.array for views in all_seats(rules)]), rules)
    phases = views.array["phase"]
    assert {engine.DISCARD, engine.PLAY, engine.OVER} <= set(phases.tolist())
    assert (views.array["num_legal"][phases != engine.OVER] == 0).sum() > 50
    assert (views.array["num_legal"] > 0).sum() > 50
    return views


def row_of(found: Any, row: int) -> Any:
    return {name: a[row] for name, a in found.items()} if isinstance(found, dict) else found[row]


def one_hot(place: int | None, size: int) -> list[int]:
    return [int(i == place) for i in range(size)]


def counts(places: Any, size: int) -> NDArray[np.float64]:
    return np.bincount(np.array(places, np.int64), minlength=size).astype(np.float64)


# ------------------------------------------------------------------------------- there and back


def assert_decodes(view: View, decoded: View) -> None:
    for name in FIELDS:
        assert np.array_equal(view.record[name], decoded.record[name]), name
    for name in BOOK_KEEPING:
        assert decoded.record[name] == 0
    assert str(decoded) == str(view)
    assert decoded.legal_actions == view.legal_actions


@all_rules
@pytest.mark.parametrize("name", ["dict", "flat"])
def test_the_view_comes_back(rules: Rules, name: str) -> None:
    encoding = make_encoding(name, rules)
    views = sample(rules)
    found = encoding.encode(views)
    for row in range(0, len(views), 3):
        assert_decodes(views[row], encoding.decode(row_of(found, row)))


@pytest.mark.parametrize("make", [DiscardEnv, PeggingEnv])
@pytest.mark.parametrize("name", ["dict", "flat"])
def test_the_view_of_a_finished_deal_comes_back(make: Any, name: str) -> None:
    env = make(observation=name)
    chance = np.random.default_rng(1)
    for _ in range(5):
        observation, info = env.reset(seed=4)
        ended = False
        while not ended:
            action = choose(info["action_mask"], chance)
            observation, _, ended, _, info = env.step(action)
        assert env.view().record["phase"] == engine.DEAL
        assert_decodes(env.view(), env.encoding.decode(observation))


@all_rules
@pytest.mark.parametrize("name", ["dict", "flat"])
def test_different_views_encode_differently(rules: Rules, name: str) -> None:
    views = sample(rules)
    found = make_encoding(name, rules).encode(views)
    by_view: dict[bytes, bytes] = {}
    for row in range(len(views)):
        by_view[packed(views.array[row][FIELDS])] = frozen(row_of(found, row))
    assert len(set(by_view.values())) == len(by_view) > 250


@all_rules
@pytest.mark.parametrize("name", ["dict", "flat", "compact"])
def test_values_lie_in_the_space(rules: Rules, name: str) -> None:
    encoding = make_encoding(name, rules)
    views = sample(rules)
    found = encoding.encode(views)
    for row in range(len(views)):
        assert encoding.space.contains(row_of(found, row))
        alone = encoding.encode_one(ViewBatch(views.array[row : row + 1], rules))
        assert frozen(alone) == frozen(row_of(found, row))


def test_scores_of_long_games_lie_in_the_space_and_come_back() -> None:
    rules = Rules(target=10_000, skunk_line=None, double_skunk_line=None)
    array = np.repeat(sample(ALL_RULES[0]).array[:1], 10_001)
    array["scores"][:, 0] = np.arange(10_001)
    for name in ("dict", "flat", "compact"):
        encoding = make_encoding(name, rules)
        found = encoding.encode(ViewBatch(array, rules))
        for row in [*range(0, 10_000, 101), 10_000]:
            assert encoding.space.contains(row_of(found, row))
            if name != "compact":
                assert encoding.decode(row_of(found, row)).scores[0] == row


# -------------------------------------------------------------------------- what each field says


def fields_of(view: View) -> dict[str, NDArray[np.int64]]:
    """The fields of the dict, as documented, from the properties of the view."""
    rules = view.rules
    deck, num_ranks = rules.deck_size, 13 + (rules.num_jokers > 0)
    plays = np.zeros((rules.num_players * rules.cards_kept, num_ranks + 4 + rules.num_players + 1))
    first_of_series = len(view.plays) - len(view.series)
    for place, (player, card) in enumerate(view.plays):
        plays[place] = [
            *one_hot(rank_of(card), num_ranks),
            *one_hot(suit_of(card), 4),
            *one_hot(player, rules.num_players),
            place >= first_of_series,
        ]
    actions = range(rules.num_tosses + rules.cards_kept)
    legal = set(map(view.action_of, view.legal_cards)) | set(range(len(view.tosses)))
    return {
        "action_mask": np.array([action in legal for action in actions]),
        "hand": counts(view.hand, deck),
        "tossed": counts(view.tossed, deck),
        "starter": np.array(one_hot(view.starter, deck)),
        "plays": plays,
        "count": np.array([sum(map(value_of, view.series))]),
        "scores": np.array(view.scores),
        "num_left": np.array(view.num_left),
        "go_counts": np.array([31 if count is None else count for count in view.go_counts]),
        "dealer": np.array(one_hot(view.dealer, rules.num_players)),
    }


@all_rules
def test_the_dict_says_what_the_view_says(rules: Rules) -> None:
    views = sample(rules)
    encoding = make_encoding("dict", rules)
    found = encoding.encode(views)
    for row in range(0, len(views), 2):
        expected = fields_of(views[row])
        assert list(found) == list(expected)
        for name, field in expected.items():
            assert np.array_equal(found[name][row], field), name
    dtypes = {name: str(field.dtype) for name, field in found.items()}
    assert dtypes == {name: "int16" if name == "scores" else "int8" for name in found}
    for name, field in found.items():
        assert encoding.space[name].shape == field.shape[1:]


@all_rules
def test_the_vector_is_the_dict_scaled(rules: Rules) -> None:
    views = sample(rules)
    encoding = make_encoding("flat", rules)
    fields = make_encoding("dict", rules)
    found = encoding.encode(views)
    assert found.dtype == np.float32
    high = {"count": 31, "go_counts": 31, "scores": rules.target, "num_left": rules.cards_kept}
    start = 0
    for name, field in fields.encode(views).items():
        scaled = field.reshape(len(views), -1) / high.get(name, 1)
        place = slice(start, start + scaled.shape[1])
        assert encoding.slices[name] == place
        assert np.allclose(found[:, place], scaled, atol=1e-6)
        start = place.stop
    assert found.shape[1] == start


def compact_of(view: View) -> NDArray[np.float64]:
    """The compact vector, as documented, from the properties of the view."""
    rules = view.rules

    def ranks(cards: Any) -> NDArray[np.float64]:
        return counts([rank_of(card) for card in cards], RANKS) / 4

    starter = view.starter
    recent = [one_hot(rank_of(card), RANKS) for card in view.series[-5:][::-1]]
    recent += [[0] * RANKS] * (5 - len(recent))
    pegs = [
        min(view.play_points(card), 12) / 12 if card in view.legal_cards else 0.0
        for card in [*view.kept, *[-1] * rules.cards_kept][: rules.cards_kept]
    ]
    return np.concatenate(
        [
            fields_of(view)["action_mask"],
            ranks(view.hand),
            ranks(view.tossed),
            ranks(card for player, card in view.plays if player == 0),
            ranks(card for player, card in view.plays if player != 0),
            one_hot(None if starter is None else rank_of(starter), RANKS),
            np.ravel(recent),
            counts([suit_of(card) for card in view.kept], 4) / rules.cards_dealt,
            one_hot(None if starter is None else suit_of(starter), 4),
            pegs,
            [view.count / 31],
            np.array(view.scores) / rules.target,
            np.array(view.num_left) / rules.cards_kept,
            [1 if count is None else count / 31 for count in view.go_counts],
            one_hot(view.dealer, rules.num_players),
            [view.is_discard],
        ]
    )


@all_rules
def test_the_compact_vector_says_what_the_view_says(rules: Rules) -> None:
    views = sample(rules)
    encoding = make_encoding("compact", rules)
    found = encoding.encode(views)
    assert found.dtype == np.float32
    assert encoding.space.shape == found.shape[1:]
    for row in range(len(views)):
        expected = compact_of(views[row])
        assert expected.shape == found[row].shape
        assert np.allclose(found[row], expected, atol=1e-6)


@pytest.mark.parametrize(("led", "points"), [("3H", 14), ("2H", 12)])
def test_compact_lays_peg_up_to_twelve(led: str, points: int) -> None:
    """The fourth seven pegs twelve, two more at 31, and nothing beyond."""
    hands = (parse_cards("7H 7S 9D TD KC 2C"), parse_cards(f"{led} 7C 7D 8S KD KS"))
    game = Game(seed=1, first_dealer=0, deals=[Deal(hands, parse_cards("AS")[0])])
    for cards in ("KD KS", "KC 2C", led, "7H", "7C", "7S"):
        game.push_cards(*parse_cards(cards))
    view = game.view()
    seven = parse_cards("7D")[0]
    assert view.play_points(seven) == points
    encoding = make_encoding("compact", view.rules)
    found = encoding.encode_one(ViewBatch(np.array([view.record]), view.rules))
    assert np.allclose(found, compact_of(view), atol=1e-6)
    assert found[167 + view.kept.index(seven)] == 1
    assert encoding.space.contains(found)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("flat", (344, 344, 298)), ("compact", (181, 181, 174))],
)
def test_sizes(name: str, sizes: tuple[int, ...]) -> None:
    shapes = [make_encoding(name, get_rules(rules)).space.shape for rules in TWO_PLAYERS]
    assert shapes == [(size,) for size in sizes]


def test_compact_observations_are_not_decoded() -> None:
    encoding = make_encoding("compact", ALL_RULES[0])
    with pytest.raises(ConfigError, match="cannot be decoded"):
        encoding.decode(
            encoding.encode_one(ViewBatch(sample(ALL_RULES[0]).array[:1], ALL_RULES[0]))
        )


def test_encoding_leaves_the_views_as_they_were() -> None:
    views = sample(ALL_RULES[0])
    before = packed(views.array)
    for name in ("dict", "flat", "compact"):
        make_encoding(name, views.rules).encode(views)
    assert packed(views.array) == before
