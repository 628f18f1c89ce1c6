"""Tied games in the environments: what they pay and what `info` and the renderings say."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import cribai.envs.pettingzoo as table
from cribai import PRESETS
from cribai.analysis.positions import win_probability
from cribai.engine.episodes import EPISODE
from cribai.engine.simulate import award_game
from cribai.engine.state import NO_PLAYER
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.rendering import draw_table, render_text
from cribai.envs.rewards import make_reward
from cribai.envs.scene import Scene
from cribai.envs.tables import Tables
from cribai.envs.vector import CribbageVectorEnv
from env_play import assert_same, choose
from level_games import make_level
from test_envs_rendering import finished, playing

REWARDS = ("win", "points", "match_points", "win_probability")


@pytest.fixture
def level(monkeypatch: pytest.MonkeyPatch) -> None:
    make_level(monkeypatch)


def play(env: CribbageEnv, chance: np.random.Generator) -> tuple[list[float], dict[str, Any]]:
    """The rewards of an episode and its last `info`."""
    _, info = env.reset()
    rewards, ended = [], False
    while not ended:
        _, reward, ended, _, info = env.step(choose(info["action_mask"], chance))
        rewards.append(reward)
    return rewards, info


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("reward", REWARDS)
def test_what_a_tie_pays(reward: str) -> None:
    env = CribbageEnv(rules="short", reward=reward, match_points="acc")
    env.reset(seed=3)
    chance = np.random.default_rng(3)
    results = []
    for _ in range(20):
        rewards, info = play(env, chance)
        results.append(int(info["result"]))
        own, other = info["scores"]
        if results[-1]:
            continue
        assert int(info["skunk"]) == 0
        assert info["illegal_action"] is False
        expected = {
            "win": 0.0,
            "match_points": 0.0,
            "points": float(own - other),
            "win_probability": 0.5,
        }[reward]
        if reward == "win_probability":
            dealer = int(env.tables.states["first_dealer"][0] == env.tables.learners[0])
            expected -= win_probability(60, 60, is_dealer=bool(dealer))
        assert sum(rewards) == pytest.approx(expected)
        if reward == "win_probability":
            assert rewards[-1] != 0
    assert 0 < results.count(0) < 20
    assert {-1, 1} & set(results)


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("reward", REWARDS)
def test_rows_are_single_environments(mode: AutoresetMode, reward: str) -> None:
    options = {"rules": "short", "reward": reward}
    theirs = SyncVectorEnv([lambda: CribbageEnv(**options)] * 3, autoreset_mode=mode)
    ours = CribbageVectorEnv(3, autoreset_mode=mode, **options)
    chance = np.random.default_rng(2)
    assert_same(theirs.reset(seed=8)[0], ours.reset(seed=8)[0])
    num_tied = 0
    mask = ours.action_masks()
    for _ in range(300):
        actions = np.array([choose(row, chance) for row in mask])
        expected, found = theirs.step(actions), ours.step(actions)
        for place in range(4):
            assert_same(expected[place], found[place])
        ended, infos = found[2], found[4]
        last = infos.get("final_info", infos)
        assert_same(expected[4].get("final_info", expected[4]), last)
        if ended.any():
            tied = ended & (last["result"] == 0)
            num_tied += int(tied.sum())
            assert not last["skunk"][tied].any()
            if reward in ("win", "match_points"):
                assert not found[1][tied].any()
            if mode == AutoresetMode.DISABLED:
                theirs.reset(options={"reset_mask": ended})
                ours.reset(options={"reset_mask": ended})
        mask = ours.action_masks()
    assert num_tied > 0


def test_episodes_of_tied_states() -> None:
    tables = Tables(2, "standard")
    rows = np.arange(2)
    tables.seed(rows, [1, 2])
    tables.reset(rows, scores=(118, 50))
    tables.observe()
    assert tables.num_ended == 0
    award_game(tables.states, 0, NO_PLAYER)
    tables.observe()
    assert tables.num_ended == 1
    assert tables.episodes["ended"].tolist() == [1, 0]
    assert tables.episodes["result"].tolist() == [0, 0]
    results = tables.results(rows[:1])
    assert (results["result"].tolist(), results["skunk"].tolist()) == ([0], [0])
    illegal = np.zeros(2, np.bool_)
    for name in ("win", "match_points", "points"):
        reward = make_reward(name, PRESETS["standard"])
        assert reward.pay(tables.before, tables.episodes, illegal).tolist() == [0.0, 0.0]
    gains = make_reward("win_probability", PRESETS["standard"]).pay(
        tables.before, tables.episodes, illegal
    )
    # Far ahead, a tie is a loss.
    assert -0.5 <= gains[0] < -0.45
    assert gains[1] == 0


def test_a_loser_beyond_the_target() -> None:
    """The higher score wins where both have passed the target."""
    tables = Tables(1, "standard")
    tables.episodes["own_score"], tables.episodes["other_score"] = 123, 126
    tables.episodes["result"], tables.episodes["ended"] = -1, 1
    assert tables.results(np.zeros(1, np.int64))["skunk"].tolist() == [0]
    reward = make_reward("match_points", PRESETS["standard"], "acc")
    before = np.zeros(1, EPISODE)
    assert reward.pay(before, tables.episodes, np.zeros(1, np.bool_)).tolist() == [-2.0]


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("reward", ["win", "points", "match_points"])
def test_a_tie_by_turns(reward: str) -> None:
    env = table.raw_env(rules="short", reward=reward)
    chance = np.random.default_rng(4)
    num_tied = 0
    for seed in range(12):
        env.reset(seed=seed)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, paid, terminated, _, _ = env.last()
            totals[agent] += paid
            env.step(None if terminated else choose(observation["action_mask"], chance))
        scores = env._batch.scores[0]
        assert sum(totals.values()) == 0
        if env._batch.winners[0] == NO_PLAYER:
            num_tied += 1
            expected = float(scores[0] - scores[1]) if reward == "points" else 0.0
            assert totals["player_0"] == expected
        else:
            assert totals["player_0"] != 0
    assert 0 < num_tied < 12


def test_a_tie_is_shown() -> None:
    view = finished(playing().view(), (121, 121))
    scene = Scene(view)
    assert (scene.verdict, scene.result) == ("A tie", "121-121")
    assert "  A tie, 121-121" in render_text(view)
    won = finished(playing().view(), (123, 121))
    assert Scene(won).verdict == "You win"
    assert Scene(finished(playing().view(), (121, 124))).verdict == "Opponent wins"
    assert (draw_table(view) != draw_table(won)).any()


def test_no_verdict_while_the_deal_goes_on() -> None:
    view = playing().view()
    view.record["scores"][:2] = 122, 100
    assert Scene(view).verdict == ""
    assert "win" not in render_text(view)
