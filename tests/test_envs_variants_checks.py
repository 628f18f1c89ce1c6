"""The variants under checkers, in lockstep, at the table, copied, and with hidden cards moved."""

import pickle
import random
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import api_test, parallel_api_test, seed_test
from stable_baselines3.common.env_checker import check_env as check_sb3_env

import cribai.envs.pettingzoo as table
from cribai import PRESETS, Rules
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.vector import CribbageVectorEnv
from env_play import assert_same, choose, frozen, play_episode
from plain_presets import PLAIN
from test_variants_games import VARIANTS
from test_variants_views import hide

pytestmark = pytest.mark.slow

MODES = tuple(AutoresetMode)
NAMES = [name for name in PRESETS if name not in PLAIN]

presets = pytest.mark.parametrize("name", NAMES)
variants = pytest.mark.parametrize("rules", VARIANTS, ids=lambda rules: rules.name)
all_observations = pytest.mark.parametrize("observation", ["dict", "flat"])


@pytest.mark.filterwarnings("ignore:Your observation .* has an unconventional shape:UserWarning")
@presets
@all_observations
def test_gymnasium_and_stable_baselines_find_no_fault(name: str, observation: str) -> None:
    make = partial(gymnasium.make, "cribai/Cribbage-v0", rules=name, observation=observation)
    check_env(make().unwrapped, skip_render_check=True)
    check_sb3_env(make(), skip_render_check=True)


# PettingZoo would rather have plain arrays, but recommends dicts for action masks.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably:UserWarning")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
@presets
@all_observations
def test_pettingzoo_finds_no_fault(name: str, observation: str) -> None:
    make = partial(table.env, rules=name, observation=observation)
    api_test(make(), num_cycles=100)
    seed_test(make, num_cycles=50)
    parallel_api_test(table.parallel_env(rules=name, observation=observation), num_cycles=100)


@pytest.mark.parametrize(
    ("name", "mode"), [(name, MODES[place % len(MODES)]) for place, name in enumerate(NAMES)]
)
@pytest.mark.parametrize("reward", ["win", "points"])
def test_rows_are_single_environments(name: str, mode: AutoresetMode, reward: str) -> None:
    options: Any = {"rules": name, "reward": reward}
    theirs = SyncVectorEnv([lambda: CribbageEnv(**options)] * 3, autoreset_mode=mode)
    ours = CribbageVectorEnv(3, autoreset_mode=mode, **options)
    assert theirs.observation_space == ours.observation_space
    assert theirs.action_space == ours.action_space
    chance = np.random.default_rng(1)
    assert_same(theirs.reset(seed=5), ours.reset(seed=5))
    mask = ours.action_masks()
    num_ended = 0
    for _ in range(250):
        actions = np.array([choose(row, chance, cheats=0.003) for row in mask])
        found = ours.step(actions)
        assert_same(theirs.step(actions), found)
        num_ended += found[2].sum()
        if mode == AutoresetMode.DISABLED and found[2].any():
            options = {"reset_mask": found[2]}
            assert_same(theirs.reset(options=dict(options))[0], ours.reset(options=options)[0])
        mask = ours.action_masks()
    assert num_ended > 0


@presets
@pytest.mark.parametrize("reward", ["win", "points", "match_points"])
def test_games_by_turns_end_and_pay_nothing_in_all(name: str, reward: str) -> None:
    env = table.raw_env(name, reward=reward)
    chance = np.random.default_rng(2)
    for seed in range(2):
        env.reset(seed=seed)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, paid, terminated, _, _ = env.last()
            totals[agent] += paid
            env.step(None if terminated else choose(observation["action_mask"], chance))
        assert sum(totals.values()) == 0
        winner = int(env._batch.winners[0])
        if winner >= 0:
            assert totals[f"player_{winner}"] > 0
        else:
            assert name == "two_cribs"


@presets
def test_seeds_and_copies(name: str) -> None:
    env, twin = CribbageEnv(name), CribbageEnv(name)
    first = play_episode(env, 3, np.random.default_rng(3))
    assert_same(first, play_episode(twin, 3, np.random.default_rng(3)))
    _, info = env.reset()
    chance = np.random.default_rng(4)
    for _ in range(12):
        _, _, _, _, info = env.step(choose(info["action_mask"], chance))
    for copied in (env.clone(), pickle.loads(pickle.dumps(env))):
        assert (copied.state() == env.state()).all()
        action = choose(info["action_mask"], np.random.default_rng(5))
        assert_same(copied.step(action), env.clone().step(action))


def shown(env: table.raw_env, agent: str) -> list[bytes]:
    """All that the environment shows an agent, as bytes, pictures apart."""
    env._tell()
    env.viewer = env.possible_agents.index(agent)
    env.render_mode = "ansi"
    parts = [env.observe(agent), env.infos[agent], str(env.view(agent)), env.render()]
    return [frozen(part) for part in parts]


@variants
@all_observations
def test_hidden_cards_do_not_show_to_any_agent(rules: Rules, observation: str) -> None:
    """Cards drawn, given, tossed to either crib, thrown away or held by others."""
    env = table.raw_env(rules, observation=observation)
    chance, hiding = np.random.default_rng(6), random.Random(6)
    phases = set()
    for seed in range(2):
        env.reset(seed=seed)
        for _ in range(30):
            states = env._batch.states
            state = states[0].copy()
            phases.add(int(state["phase"]))
            vector = env.state()
            for viewer, agent in enumerate(env.possible_agents):
                first = shown(env, agent)
                states[0] = hide(state, rules, viewer, hiding)
                assert shown(env, agent) == first
                states[0] = state
            assert (env.state() == vector).all()
            if any(env.terminations.values()):
                break
            env.step(choose(env.observe(env.agent_selection)["action_mask"], chance))
    assert len(phases) >= 2
