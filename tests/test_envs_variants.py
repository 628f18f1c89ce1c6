"""The variants in the environments: observations, rewards, words, the ends of episodes."""

from functools import cache
from typing import Any

import gymnasium
import numpy as np
import pytest

import cribai.envs  # noqa: F401 -- registers the environments
from cribai import PRESETS, CardError, IllegalActionError, Rules, View, ViewBatch, get_rules
from cribai.cards import rank_of
from cribai.engine import state as engine
from cribai.engine.simulate import award_game
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.encoding import make_encoding
from cribai.envs.full_state import StateEncoding
from cribai.envs.pettingzoo import raw_env
from cribai.envs.rewards import make_reward
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.envs.vector import CribbageVectorEnv
from cribai.errors import ConfigError
from env_play import choose, frozen, positions, some_quick
from plain_presets import PLAIN
from test_variants_games import VARIANTS

pytestmark = pytest.mark.slow

BOOK_KEEPING = ("game", "deal", "decision", "key", "player")
USUAL = (
    *("action_mask", "hand", "tossed", "starter", "plays", "count", "scores", "num_left"),
    *("go_counts", "dealer"),
)
NAMES = [name for name in PRESETS if name not in PLAIN]

variants = pytest.mark.parametrize(
    "rules", some_quick(VARIANTS, "lowball", "mixed", "given"), ids=lambda rules: rules.name
)
presets = pytest.mark.parametrize("name", some_quick(NAMES, "lowball", "two_cribs", "bid"))


@cache
def sample(rules: Rules) -> ViewBatch:
    """Every seat's views at points of a few games: of who acts, who waits, of finished games."""
    arrays = [
        batch.seat_views(seat).array
        for batch in positions(rules, num_games=5, every=3)
        for seat in range(rules.num_players)
    ]
    array = np.concatenate(arrays)
    assert engine.OVER in array["phase"]
    assert (array["num_legal"] > 0).sum() > 50
    assert (array["num_legal"] == 0).sum() > 50
    return ViewBatch(array, rules)


def row_of(found: Any, row: int) -> Any:
    return {name: a[row] for name, a in found.items()} if isinstance(found, dict) else found[row]


# ----------------------------------------------------------------------------------- observations


@variants
@pytest.mark.parametrize("name", ["dict", "flat"])
def test_the_view_comes_back(rules: Rules, name: str) -> None:
    encoding = make_encoding(name, rules)
    views = sample(rules)
    found = encoding.encode(views)
    for row in range(0, len(views), 4):
        assert encoding.space.contains(row_of(found, row))
        view, decoded = views[row], encoding.decode(row_of(found, row))
        for field in view.record.dtype.names:
            if field not in BOOK_KEEPING:
                assert np.array_equal(view.record[field], decoded.record[field]), field
        assert str(decoded) == str(view)
        assert decoded.legal_actions == view.legal_actions
        alone = encoding.encode_one(ViewBatch(views.array[row : row + 1], rules))
        assert frozen(alone) == frozen(row_of(found, row))


def counts(cards: Any, size: int) -> list[int]:
    return np.bincount(np.array(cards, np.int64), minlength=size).tolist()


def rows_of(cards: Any, num_rows: int, num_ranks: int) -> list[list[int]]:
    rows = np.zeros((num_rows, num_ranks + 4), np.int8)
    for row, card in zip(rows, cards, strict=False):
        row[[rank_of(card), num_ranks + (card & 3)]] = 1
    return rows.tolist()


def one_hot(place: int, size: int) -> list[int]:
    return [int(i == place) for i in range(size)]


def expected_fields(view: View) -> dict[str, list[Any]]:
    """What variants add, as documented, from the properties of the view."""
    rules, record = view.rules, view.record
    players, cards, ranks = rules.num_players, 52 + rules.num_jokers, 13 + (rules.num_jokers > 0)
    found: dict[str, list[Any]] = {}
    if rules.num_decks > 1:
        found["slots_laid"] = [
            int(record["played"]) >> slot & 1 for slot in range(rules.cards_kept)
        ]
    if rules.is_varied:
        found["phase"] = one_hot(int(record["phase"]), engine.NUM_PHASES)
    if rules.num_starters > 1:
        turned = [*view.starters, -1, -1][:2]
        found["starters"] = [one_hot(card, cards) for card in turned]
    if rules.chosen_starter:
        own = [[*view.starters_of(player), -1][0] for player in range(players)]
        found["starters"] = [one_hot(card, cards) for card in own]
        found["given"] = one_hot(-1 if view.given is None else view.given, cards)
    if rules.num_stock:
        found["num_thrown"] = list(view.num_thrown)
        found["thrown"] = rows_of(view.thrown, rules.num_stock // players, ranks)
    if rules.two_cribs:
        found["tosses"] = rows_of(view.tossed, 2 * rules.cards_tossed, ranks)
    if rules.bid:
        found["bids"] = [0 if bid is None else bid + 1 for bid in view.bids_made]
        found["crib_owner"] = one_hot(int(record["crib_owner"]), players)
    if rules.wild_kings:
        laid = [one_hot(rank, ranks) for rank in view.play_ranks]
        blank = [[0] * ranks] * (players * rules.cards_kept - len(laid))
        found["play_ranks"] = laid + blank
    if rules.muggins:
        size = max(rules.cards_kept, rules.crib_size)
        found["announced"] = [view.announced]
        found["shown"] = rows_of(view.shown, size, ranks)
        found["shown_player"] = one_hot(int(record["shown_player"]), players)
        found["shown_is_crib"] = [int(record["shown_is_crib"])]
    return found


@variants
def test_the_dict_says_what_the_view_says(rules: Rules) -> None:
    views = sample(rules)
    found = make_encoding("dict", rules).encode(views)
    for row in range(0, len(views), 4):
        view = views[row]
        expected = expected_fields(view)
        assert list(found) == [*USUAL, *expected]
        for name, field in expected.items():
            assert found[name][row].tolist() == field, name
        assert found["hand"][row].tolist() == counts(view.hand, 52 + rules.num_jokers)
        assert found["tossed"][row].tolist() == counts(view.tossed, 52 + rules.num_jokers)
        assert found["scores"][row].tolist() == list(view.scores)


@pytest.mark.parametrize(("name", "size"), [("two_starters", 457), ("bid", 370), ("lowball", 344)])
def test_sizes(name: str, size: int) -> None:
    assert make_encoding("flat", get_rules(name)).space.shape == (size,)


@presets
def test_compact_holds_what_it_can(name: str) -> None:
    rules = get_rules(name)
    if rules.is_varied:
        with pytest.raises(ConfigError, match=f"hold all that the rules '{name}' ask for"):
            CribbageEnv(name, observation="compact")
        return
    views = sample(rules)
    encoding = make_encoding("compact", rules)
    assert all(encoding.space.contains(row) for row in encoding.encode(views))


@variants
def test_states_lie_in_their_space(rules: Rules) -> None:
    encoding = StateEncoding(rules)
    vectors = set()
    number = 0
    for batch in positions(rules, num_games=3, every=2):
        for state in batch.states:
            vector = encoding.encode(state)
            assert encoding.space.contains(vector)
            number += 1
            vectors.add(vector.tobytes())
    assert len(vectors) > number / 3


# ---------------------------------------------------------------------------------------- episodes


def play(env: Any, chance: np.random.Generator, seed: int | None = None) -> tuple[float, Any]:
    """The sum of an episode's rewards and its last `info`."""
    _, info = env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        _, reward, ended, _, info = env.step(choose(info["action_mask"], chance))
        total += reward
    return total, info


@presets
def test_random_play_ends_and_points_add_up(name: str) -> None:
    env = gymnasium.make("cribai/Cribbage-v0", rules=name, reward="points").unwrapped
    chance = np.random.default_rng(1)
    env.reset(seed=1)
    sign = -1 if env.rules.lowball else 1
    starts: list[Any] = []
    reset = env.reset

    def noted(**options: Any) -> Any:
        found = reset(**options)
        starts.append(env.view().scores)
        return found

    env.reset = noted
    for _ in range(3):
        total, info = play(env, chance)
        own, other = (int(score) for score in info["scores"])
        first = starts[-1]
        assert total == sign * (own - other - (first[0] - first[1]))
        assert info["result"] == np.sign(sign * (own - other))
        assert max(own, other) >= env.rules.target
        assert max(own, other) == env.rules.target or env.rules.two_cribs


def test_winning_at_lowball_is_not_reaching_the_target() -> None:
    env = CribbageEnv("lowball")
    chance = np.random.default_rng(2)
    results = set()
    env.reset(seed=2)
    for _ in range(6):
        total, info = play(env, chance)
        results.add(total)
        assert (total == 1) == (info["scores"][0] < info["scores"][1] == 60)
        assert info["skunk"] == 0
    assert results == {1.0, -1.0}


@pytest.mark.parametrize(("name", "paid"), [("lowball", -60.0), ("two_cribs", -121.0)])
def test_an_illegal_action_is_paid_as_the_loss_it_is(name: str, paid: float) -> None:
    env = CribbageEnv(name, reward="points")
    env.reset(seed=1)
    _, reward, ended, _, info = env.step(-1)
    assert (reward, ended, info["result"], info["illegal_action"]) == (paid, True, -1, True)
    table = raw_env(name, reward="points")
    table.reset(seed=1)
    agent = table.agent_selection
    table.step(-1)
    assert table.rewards[agent] == paid
    assert sum(table.rewards.values()) == 0


def test_tied_games_of_two_cribs() -> None:
    env = CribbageEnv("two_cribs", reward="win")
    env.reset(seed=1)
    env.tables.states["scores"][0, :2] = 130, 130
    award_game(env.tables.states, 0, engine.NO_PLAYER)
    env._observe()
    results = env.tables.results(np.zeros(1, np.int64))
    assert (results["result"].tolist(), results["skunk"].tolist()) == ([0], [0])
    for name in ("win", "match_points"):
        reward = make_reward(name, env.rules)
        illegal = np.zeros(1, np.bool_)
        assert reward.pay(env.tables.before, env.tables.episodes, illegal).tolist() == [0.0]


@presets
def test_win_probability_is_known_for_what_the_analysis_covers(name: str) -> None:
    with pytest.raises(ConfigError, match=f"'win_probability' is not known for the rules '{name}'"):
        CribbageEnv(name, reward="win_probability")
    if name not in ("two_cribs",):
        assert DiscardEnv(name).reward == "deal"


def test_the_pone_has_his_start_unless_scores_are_given() -> None:
    env = CribbageEnv("five_card_classic")
    env.reset(seed=1, options={"learner_deals": True})
    assert env.view().scores == (0, 3)
    env.reset(options={"learner_deals": False})
    assert env.view().scores == (3, 0)
    env.reset(options={"scores": (0, 0), "learner_deals": False})
    assert env.view().scores == (0, 0)


def test_heels_of_the_first_starter_count_and_never_end_a_reset() -> None:
    vector = CribbageVectorEnv(400, rules="two_starters")
    observation, infos = vector.reset(seed=1, options={"scores": (100, 50), "learner_deals": True})
    heels = vector.views.array["starters"][:, 0, 0] >> 2 == 10
    assert 10 < heels.sum() < 60
    assert (observation["scores"][:, 0] == 100 + 2 * heels).all()
    assert (observation["scores"][:, 1] == 50).all()
    _, infos = vector.reset(seed=1, options={"scores": (120, 50), "learner_deals": True})
    assert infos["action_mask"].any(axis=1).all()
    assert (vector.views.array["scores"][:, 0] == 120).all()


# ------------------------------------------------------------------------------------------- words


@presets
def test_actions_are_told_and_read_in_words(name: str) -> None:
    env = CribbageEnv(name)
    chance = np.random.default_rng(3)
    _, info = env.reset(seed=3)
    verbs = set()
    for _ in range(16):
        for action in chance.permutation(np.flatnonzero(info["action_mask"]))[:12].tolist():
            text = env.action_to_text(action)
            again = env.text_to_action(f" {text.upper()} ")
            assert env.action_to_text(again) == text
            assert again == action or env.rules.num_decks > 1
            verbs.add(text.split()[0])
        _, _, ended, _, info = env.step(choose(info["action_mask"], chance))
        if ended:
            break
    extra = {"draw": {"throw"}, "bid": {"bid"}, "muggins": {"announce"}, "chosen_starter": {"give"}}
    assert verbs >= {"toss", "lay"} | extra.get(name, set())


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("bid", "toss 5H JS", IllegalActionError, "is no action now; write 'bid 4' or the like"),
        ("bid", "bid high", IllegalActionError, "is no action now"),
        ("bid", "bid 99", IllegalActionError, "The number 99 is illegal here"),
        ("draw", "throw away five", CardError, "five"),
        ("draw", "throw 5H", IllegalActionError, "write 'throw away 5H 9C'"),
        ("standard", "toss 5H 5H", CardError, "twice"),
        ("standard", "toss 5H as king of", IllegalActionError, "is no action now"),
    ],
)
def test_wrong_words_are_refused(name: str, text: str, error: Any, message: str) -> None:
    env = CribbageEnv(name)
    env.reset(seed=1)
    with pytest.raises(error, match=message):
        env.text_to_action(text)


# ------------------------------------------------------------------------------------- single deals


@presets
def test_one_toss(name: str) -> None:
    if name == "two_cribs":
        with pytest.raises(ConfigError, match="the rules 'two_cribs' have two, one to each crib"):
            DiscardEnv(name)
        return
    env = DiscardEnv(name, opponent="random")
    chance = np.random.default_rng(4)
    env.reset(seed=4)
    paids = set()
    for _ in range(6):
        _, info = env.reset()
        assert env.view().is_discard
        assert info["action_mask"].sum() == info["action_mask"][: env.rules.num_tosses].sum() > 0
        before = env.view().scores
        _, paid, ended, _, info = env.step(choose(info["action_mask"], chance))
        after = env.view().scores
        assert ended
        sign = -1 if env.rules.lowball else 1
        assert paid == sign * (after[0] - before[0] - (after[1] - before[1]))
        paids.add(paid)
    assert len(paids) > 2


@presets
def test_the_play_of_one_deal(name: str) -> None:
    if name == "muggins":
        with pytest.raises(ConfigError, match="before the show, which the rules 'muggins' are"):
            PeggingEnv(name)
        return
    env = PeggingEnv(name, opponent="random", tosser="random")
    chance = np.random.default_rng(5)
    env.reset(seed=5)
    for _ in range(4):
        _, info = env.reset()
        assert env.view().is_play
        total, ended = 0.0, False
        while not ended:
            assert env.view().is_play
            _, reward, ended, _, info = env.step(choose(info["action_mask"], chance))
            total += reward
        own, other = info["pegged"]
        assert total == (other - own if env.rules.lowball else own - other)
        assert env.tables.states[0]["num_left"].max() == 0
