"""Wrappers and learners of others run on the environments."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import cribai.envs  # noqa: F401 -- registers the environments
from env_play import OBSERVATIONS, assert_same, choose, play_episode

IDS = ("cribai/Cribbage-v0", "cribai/Discard-v0", "cribai/Pegging-v0")

all_ids = pytest.mark.parametrize("name", IDS)


@all_ids
def test_flatten_observation_loses_nothing(name: str) -> None:
    env = wrappers.FlattenObservation(gymnasium.make(name))
    plain = gymnasium.make(name)
    chance = np.random.default_rng(1)
    flat, info = env.reset(seed=1)
    found, _ = plain.reset(seed=1)
    ended = False
    while not ended:
        assert env.observation_space.contains(flat)
        assert_same(gymnasium.spaces.flatten(plain.observation_space, found), flat)
        action = choose(info["action_mask"], chance)
        flat, reward, ended, _, info = env.step(action)
        found, *rest = plain.step(action)
        assert_same([reward, ended, False, info], rest)


@all_ids
@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_episode_statistics_are_recorded(name: str, observation: str) -> None:
    env = wrappers.RecordEpisodeStatistics(gymnasium.make(name, observation=observation))
    chance = np.random.default_rng(2)
    for episode in range(3):
        outputs = play_episode(env, None if episode else 2, chance)
        recorded = outputs[-1][4]["episode"]
        assert recorded["l"] == len(outputs) - 1
        assert recorded["r"] == pytest.approx(sum(output[1] for output in outputs[1:]))


def test_time_limit_truncates() -> None:
    env = gymnasium.make("cribai/Cribbage-v0", max_episode_steps=7)
    for episode in range(2):
        _, info = env.reset(seed=None if episode else 3)
        ends = []
        for _ in range(7):
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            ends.append((terminated, truncated))
        assert ends == [*[(False, False)] * 6, (False, True)]
        # The game goes on, so there is something to bootstrap from.
        assert info["action_mask"].any()


def test_rewards_are_transformed() -> None:
    env: Any = wrappers.TransformReward(
        gymnasium.make("cribai/Cribbage-v0", reward="points"), lambda reward: reward / 121
    )
    plain = gymnasium.make("cribai/Cribbage-v0", reward="points")
    rewards = []
    for each in (env, plain):
        outputs = play_episode(each, 4, np.random.default_rng(3))
        rewards.append([output[1] for output in outputs[1:]])
    assert rewards[0] == [reward / 121 for reward in rewards[1]]
    assert any(rewards[0])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_vector_statistics_are_recorded(mode: str) -> None:
    env = gymnasium.make_vec("cribai/Cribbage-v0", num_envs=4, rules="short", autoreset_mode=mode)
    env = wrappers.vector.RecordEpisodeStatistics(env)
    _, infos = env.reset(seed=4)
    num_ended = 0
    for _ in range(200):
        _, rewards, ended, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        if ended.any():
            recorded = infos["episode"]
            assert recorded["r"][ended].tolist() == rewards[ended].tolist()
            assert (recorded["l"][ended] > 10).all()
            num_ended += ended.sum()
    assert num_ended > 8


@pytest.mark.parametrize("name", IDS[1:])
def test_single_deals_run_in_gymnasiums_vectors(name: str) -> None:
    env = gymnasium.make_vec(name, num_envs=3)
    _, infos = env.reset(seed=5)
    num_ended = 0
    for _ in range(12):
        _, _, ended, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        num_ended += ended.sum()
        if ended.any():
            last = infos["regret"] if "Discard" in name else infos["pegged"]
            assert len(last) == 3
            assert last[ended].min() >= 0
            assert infos["illegal_action"].dtype == bool
    assert num_ended > 5


def test_the_game_is_reached_through_wrappers() -> None:
    env = wrappers.RecordEpisodeStatistics(gymnasium.make("cribai/Cribbage-v0"))
    _, info = env.reset(seed=5)
    assert get_action_masks(env).tolist() == info["action_mask"].tolist()
    assert env.unwrapped.view().is_due
    assert env.get_wrapper_attr("rules").name == "standard"
    assert env.get_wrapper_attr("state")().shape == env.get_wrapper_attr("state_space").shape


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "observation"),
    [("MultiInputPolicy", "dict"), ("MlpPolicy", "flat"), ("MlpPolicy", "compact")],
)
@all_ids
def test_maskable_ppo_learns(name: str, policy: str, observation: str) -> None:
    env = gymnasium.make(name, observation=observation, illegal_action="raise")
    model = MaskablePPO(policy, env, n_steps=128, batch_size=64, n_epochs=2, seed=1, device="cpu")
    before = [value.clone() for value in model.policy.parameters()]
    model.learn(256)
    after = list(model.policy.parameters())
    assert any((first != second).any() for first, second in zip(before, after, strict=True))
    assert all(value.isfinite().all() for value in after)
    observed, _ = env.reset(seed=6)
    ended = False
    while not ended:
        action, _ = model.predict(observed, action_masks=get_action_masks(env))
        observed, _, ended, _, _ = env.step(int(action))
