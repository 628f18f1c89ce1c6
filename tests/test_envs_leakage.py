"""What a learner is shown: the same for any cards he has not seen, and not for others."""

import random
from typing import Any

import numpy as np
import pytest

from cribai.engine.state import DISCARD
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.pettingzoo import raw_env
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.envs.vector import CribbageVectorEnv
from env_play import (
    OBSERVATIONS,
    TWO_PLAYERS,
    choose,
    frozen,
    with_other_toss,
)
from hidden_cards import with_other_hidden_cards
from plain_presets import PLAIN

pytestmark = pytest.mark.slow

ENVS = (CribbageEnv, DiscardEnv, PeggingEnv)

all_observations = pytest.mark.parametrize("observation", OBSERVATIONS)


def shown(env: Any, state: Any, frame: bool) -> list[bytes]:
    """All that an environment shows of a state, as bytes."""
    twin = env.clone()
    twin.tables.states[0] = state
    observation, info = twin._observe()
    twin.render_mode = "ansi"
    texts = [twin.render(), str(twin.view()), twin.action_masks()]
    if frame:
        twin.render_mode = "rgb_array"
        texts.append(twin.render())
    return [frozen(part) for part in (observation, info, *texts)]


@pytest.mark.parametrize("make", ENVS)
@all_observations
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_hidden_cards_do_not_show(make: Any, observation: str, rules: str) -> None:
    env = make(rules, observation=observation)
    chance, hiding = np.random.default_rng(1), random.Random(1)
    num_moved = num_frames = 0
    for episode in range(4):
        _, info = env.reset(seed=None if episode else 1)
        for _ in range(25):
            state = env.tables.states[0].copy()
            other = with_other_hidden_cards(state, env.rules, hiding, int(env.tables.learners[0]))
            frame = observation == "dict" and episode == 0
            assert shown(env, state, frame) == shown(env, other, frame)
            num_moved += (state["hands"] != other["hands"]).any()
            num_frames += frame
            if not info["action_mask"].any():
                break
            _, _, _, _, info = env.step(choose(info["action_mask"], chance))
    assert num_moved >= 4
    assert num_frames > 0 or observation != "dict"


@all_observations
@pytest.mark.parametrize("rules", TWO_PLAYERS)
@pytest.mark.parametrize("seats", ["first", "second"])
def test_own_tosses_show(observation: str, rules: str, seats: str) -> None:
    env = CribbageEnv(rules, observation=observation, seats=seats)
    _, info = env.reset(seed=1)
    chance = np.random.default_rng(2)
    num_changed = 0
    for turn in range(30):
        state = env.tables.states[0].copy()
        if state["phase"] != DISCARD:
            other = with_other_toss(state, env.rules, int(env.tables.learners[0]))
            frame = turn < 8
            first, second = shown(env, state, frame), shown(env, other, frame)
            same = [one == another for one, another in zip(first, second, strict=True)]
            assert same == [False, True, False, False, True, *[False] * frame]
            num_changed += 1
        _, _, ended, _, info = env.step(choose(info["action_mask"], chance))
        if ended:
            break
    assert num_changed > 10


def test_hidden_cards_do_not_show_in_the_vector_environment() -> None:
    env = CribbageVectorEnv(6, render_mode="ansi", observation="dict")
    _, infos = env.reset(seed=1)
    chance, hiding = np.random.default_rng(3), random.Random(3)
    for _ in range(40):
        states = env.tables.states
        kept = states.copy()
        first = (env._observe(), env.render())
        for row in range(6):
            learner = int(env.tables.learners[row])
            states[row] = with_other_hidden_cards(states[row].copy(), env.rules, hiding, learner)
        assert (states["hands"] != kept["hands"]).any()
        second = (env._observe(), env.render())
        assert [frozen(part) for part in (*first[0], first[1])] == [
            frozen(part) for part in (*second[0], second[1])
        ]
        states[:] = kept
        infos = env.step([choose(row, chance) for row in infos["action_mask"]])[4]


def shown_at_table(env: raw_env, agent: str, frame: bool) -> list[bytes]:
    env._tell()
    parts = [env.observe(agent), env.infos[agent], str(env.view(agent))]
    env.viewer = env.possible_agents.index(agent)
    for mode in ("ansi", "rgb_array")[: 1 + frame]:
        env.render_mode = mode
        parts.append(env.render())
    return [frozen(part) for part in parts]


def assert_hides(env: raw_env, hiding: random.Random, frame: bool) -> int:
    """No agent sees the cards hidden from him, each sees his toss; returns how many hands moved."""
    states = env._batch.states
    state = states[0].copy()
    num_moved = 0
    for viewer, agent in enumerate(env.possible_agents):
        first = shown_at_table(env, agent, frame)
        states[0] = with_other_hidden_cards(state, env.rules, hiding, viewer)
        num_moved += (states[0]["hands"] != state["hands"]).any()
        assert shown_at_table(env, agent, frame) == first
        if state["num_plays"] > 0:
            states[0] = with_other_toss(state, env.rules, viewer)
            assert shown_at_table(env, agent, frame=False)[0] != first[0]
        states[0] = state
    return num_moved


@pytest.mark.parametrize("rules", PLAIN)
@all_observations
def test_hidden_cards_do_not_show_to_any_agent_at_the_table(rules: str, observation: str) -> None:
    env = raw_env(rules, observation=observation)
    chance, hiding = np.random.default_rng(4), random.Random(4)
    for seed in range(2):
        env.reset(seed=seed)
        num_moved = 0
        for turn in range(28):
            num_moved += assert_hides(env, hiding, frame=turn in (1, 20))
            env.step(choose(env.observe(env.agent_selection)["action_mask"], chance))
        env.step(-1)
        assert all(env.terminations.values())
        assert assert_hides(env, hiding, frame=False) > 0
        assert num_moved > 40


@pytest.mark.parametrize("rules", PLAIN)
def test_state_has_what_observations_hide(rules: str) -> None:
    """The state vector changes when hidden cards do, lies in its space and is shown nowhere."""
    env = raw_env(rules)
    chance, hiding = np.random.default_rng(5), random.Random(5)
    env.reset(seed=5)
    for _ in range(20):
        before = env._batch.states[0].copy()
        vector = env.state()
        assert env.state_space.contains(vector)
        env._batch.states[0] = with_other_hidden_cards(before, env.rules, hiding, 0)
        assert (env.state() != vector).any()
        env._batch.states[0] = before
        assert set(env.observe("player_0")) == {"observation", "action_mask"}
        assert set(env.infos["player_0"]) == {"action_mask"}
        env.step(choose(env.observe(env.agent_selection)["action_mask"], chance))
