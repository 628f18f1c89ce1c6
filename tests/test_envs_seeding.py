"""Seeds decide episodes and nothing else does; copies continue as their originals would."""

import copy
import pickle
import random
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

import cribai.envs.pettingzoo as table
from cribai import PRESETS, Game, RulesError
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.envs.vector import CribbageVectorEnv
from env_play import TWO_PLAYERS, assert_same, choose, frozen, play_episode
from plain_presets import PLAIN

ENVS = (CribbageEnv, DiscardEnv, PeggingEnv)

all_envs = pytest.mark.parametrize("make", ENVS)
all_copies = pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"]
)


def episodes(env: Any, seed: int, number: int = 3) -> list[Any]:
    chance = np.random.default_rng(1)
    return [play_episode(env, None if episode else seed, chance) for episode in range(number)]


@all_envs
def test_the_same_seed_makes_the_same_episodes(make: Any) -> None:
    env = make("short", opponent="random")
    first = episodes(env, 5)
    assert_same(first, episodes(env, 5))
    assert_same(first, episodes(make("short", opponent="random"), 5))
    assert frozen(first) != frozen(episodes(env, 6))
    starts = [frozen(episode[0][0]) for episode in first]
    assert len(set(starts)) == len(starts)


@all_envs
def test_unseeded_environments_differ(make: Any) -> None:
    starts = {frozen(make().reset()[0]) for _ in range(5)}
    assert len(starts) == 5


def test_unseeded_vectors_and_tables_differ() -> None:
    first, second = CribbageVectorEnv(3), CribbageVectorEnv(3)
    rows = [*first.reset()[0]["hand"], *second.reset()[0]["hand"]]
    assert len({row.tobytes() for row in rows}) == 6
    hands = set()
    for _ in range(5):
        env = table.raw_env()
        env.reset()
        hands.add(env.view("player_0").kept)
    assert len(hands) == 5


@pytest.mark.parametrize(("seats", "learner"), [("first", 0), ("second", 1)])
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_a_fixed_seat_has_the_deals_of_pair_k(seats: str, learner: int, rules: str) -> None:
    env = CribbageEnv(rules, seats=seats)
    for episode in range(4):
        env.reset(seed=None if episode else 9)
        game = Game(rules, seed=9, pair=episode)
        assert env.view().kept == game.hands[learner]
        assert env.view().player == learner
        assert env.view().is_dealer == (game.dealer == learner)
        # Later deals too: the opponent's hidden cards among them.
        chance = np.random.default_rng(episode)
        while env.view().deal < 1 and not env.view().is_over:
            env.step(choose(env.view().action_mask, chance))
        while game.deal_number < 1 and not game.is_over:
            game.push(game.legal_actions[0])
        size = rules_size(rules)
        assert env.tables.states["deck"][0, :size].tolist() == game._state["deck"][:size].tolist()


def rules_size(rules: str) -> int:
    return 2 * PRESETS[rules].cards_dealt + 1


def test_alternate_seats_make_mirrored_pairs() -> None:
    env = CribbageEnv("standard")
    for pair in range(3):
        hands = []
        for game in range(2):
            env.reset(seed=None if pair or game else 9)
            assert env.view().player == game
            hands.append(env.tables.states["deck"][0, :13].tolist())
            assert hands[-1] == [
                *(card for hand in Game(seed=9, pair=pair).deal().hands for card in hand),
                Game(seed=9, pair=pair).deal().starter,
            ]
        assert hands[0] == hands[1]
        assert env.tables.states["first_dealer"][0] == Game(seed=9, pair=pair).first_dealer


def test_equal_players_tie_each_mirrored_pair() -> None:
    """The learner plays as the opponent would: both games are one, seen from both sides."""
    env = CribbageEnv("short", opponent="greedy", reward="points")
    env.reset(seed=10)
    for pair in range(4):
        sums = []
        for game in range(2):
            if game or pair:
                env.reset()
            total, ended = 0.0, False
            while not ended:
                action = int(env.tables.opponent.act(env._views)[0])
                _, reward, ended, _, _ = env.step(action)
                total += reward
            sums.append(total)
        assert sums[0] == -sums[1] != 0


def play_all() -> None:
    for make in ENVS:
        episodes(make("short", opponent="random"), 1, number=1)
    episodes(CribbageEnv(reward="win_probability", opponent="greedy"), 1, number=1)
    vector = CribbageVectorEnv(3)
    vector.reset()
    vector.step(np.zeros(3, np.int64))
    env = table.env()
    env.reset()
    env.step(0)
    env.render()
    vector.render()


def test_global_random_states_are_left_alone() -> None:
    random.seed(1)
    legacy = np.random.mtrand._rand  # the generator behind NumPy's global functions
    legacy.seed(1)
    before = random.getstate(), legacy.get_state(legacy=False)
    play_all()
    after = random.getstate(), legacy.get_state(legacy=False)
    assert before[0] == after[0]
    assert_same(before[1], after[1])


def test_global_seeds_do_not_decide_unseeded_episodes() -> None:
    starts = set()
    for _ in range(3):
        random.seed(1)
        np.random.mtrand._rand.seed(1)
        starts.add(frozen(CribbageEnv().reset()[0]))
    assert len(starts) == 3


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "one", True])
def test_bad_seeds_are_refused_and_change_nothing(seed: Any) -> None:
    env = CribbageEnv()
    env.reset(seed=3)
    twin = env.clone()
    with pytest.raises(RulesError, match="must be an integer from 0 to"):
        env.reset(seed=seed)
    assert_same(env.step(0), twin.step(0))
    assert_same(env.reset(), twin.reset())
    vector = CribbageVectorEnv(2)
    vector.reset(seed=3)
    before = vector.tables.states.tobytes()
    for seeds in (seed, [3, seed]):
        with pytest.raises(RulesError, match="must be an integer from 0 to"):
            vector.reset(seed=seeds)
    assert vector.tables.states.tobytes() == before


def test_seeds_may_be_numpys_and_large() -> None:
    for seed in (np.int64(5), np.uint64(2**64 - 1)):
        assert_same(CribbageEnv().reset(seed=seed), CribbageEnv().reset(seed=int(seed)))
    assert_same(CribbageVectorEnv(2).reset(seed=np.int64(5)), CribbageVectorEnv(2).reset(seed=5))


# --------------------------------------------------------------------------------------- copies


def continue_all(env: Any, info: dict[str, Any], steps: int) -> list[Any]:
    """What an environment returns from here on, over the end of episodes."""
    chance = np.random.default_rng(3)
    outputs: list[Any] = []
    for _ in range(steps):
        outputs.append(env.step(choose(info["action_mask"], chance)))
        info = outputs[-1][4]
        if outputs[-1][2]:
            outputs.append(env.reset())
            info = outputs[-1][1]
    return outputs


@all_envs
@all_copies
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_copies_in_mid_deal_continue_identically(make: Any, copied: Any, rules: str) -> None:
    env = make(rules, opponent="random", observation="flat")
    _, info = env.reset(seed=4)
    for steps in (0, 1, 3, 2):
        if steps:
            outputs = continue_all(env, info, steps)
            info = outputs[-1][-1]
        twins = [copied(env), env.clone()]
        kept = frozen(env.state())
        found = [continue_all(twin, info, 40) for twin in twins]
        assert frozen(env.state()) == kept
        assert_same(found[0], found[1])
        assert_same(found[0], continue_all(env.clone(), info, 40))
    # The original goes last: the copies have not moved it.
    assert_same(found[0], continue_all(env, info, 40))


@all_copies
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_copies_of_vectors_continue_identically(copied: Any, mode: str) -> None:
    env = CribbageVectorEnv(4, autoreset_mode=mode, rules="short", reward="win_probability")
    _, infos = env.reset(seed=5)
    for _ in range(4):
        infos = env.step(infos["action_mask"].argmax(axis=1))[4]
    twin = copied(env)
    mask, twin_mask = infos["action_mask"], infos["action_mask"]
    num_ended = 0
    for _ in range(120):
        first, second = env.step(mask.argmax(axis=1)), twin.step(twin_mask.argmax(axis=1))
        assert_same(first, second)
        num_ended += first[2].sum()
        mask, twin_mask = first[4]["action_mask"], second[4]["action_mask"]
    assert num_ended > 4


@all_copies
@pytest.mark.parametrize("rules", PLAIN)
@pytest.mark.parametrize("wrapped", [False, True])
def test_copies_of_tables_continue_identically(copied: Any, rules: str, wrapped: bool) -> None:
    env = (table.env if wrapped else table.raw_env)(rules=rules)
    env.reset(seed=6)
    for _ in range(8):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    kept = frozen(env.state())
    twins = [copied(env), *([] if wrapped else [env.clone()])]
    found = [table_outputs(twin) for twin in twins]
    assert frozen(env.state()) == kept
    # The original goes last: the copies have not moved it.
    original = table_outputs(env)
    for outputs in found:
        assert_same(outputs, original)


def table_outputs(env: Any) -> list[Any]:
    """What a table returns to the end of this game and through the next."""
    chance = np.random.default_rng(4)
    outputs: list[Any] = []
    for game in range(2):
        if game:
            env.reset()
        for agent in env.agent_iter():
            outputs.append((agent, env.last(), env.state()))
            ended = env.terminations[agent]
            env.step(None if ended else choose(outputs[-1][1][0]["action_mask"], chance))
    return outputs


def test_made_environments_are_copied_too() -> None:
    env = gymnasium.make("cribai/Cribbage-v0", rules="short")
    _, info = env.reset(seed=7)
    twin = copy.deepcopy(env)
    assert_same(continue_all(env, info, 60), continue_all(twin, info, 60))


# --------------------------------------------------------------------------------------- memory


def traced_growth(reset: Callable[[], Any], number: int) -> int:
    for _ in range(100):
        reset()
    tracemalloc.start()
    try:
        for _ in range(50):
            reset()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(number):
            reset()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        *ENVS,
        partial(CribbageEnv, observation="flat"),
        partial(CribbageVectorEnv, 2),
        partial(table.raw_env, "four_player"),
    ],
    ids=["cribbage", "discard", "pegging", "flat", "vector", "table"],
)
def test_memory_does_not_grow_on_reset(make: Any) -> None:
    env = make()
    env.reset(seed=1)
    assert traced_growth(env.reset, 20_000) < 1_000_000


def test_memory_does_not_grow_on_a_thousand_resets() -> None:
    env = CribbageEnv()
    env.reset(seed=1)
    assert traced_growth(env.reset, 1000) < 50_000
