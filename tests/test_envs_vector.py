"""The vector environment: each row is the single environment, in every field and autoreset mode."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import cribai.envs  # noqa: F401 -- registers the environments
from cribai import IllegalActionError
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.vector import CribbageVectorEnv
from env_play import assert_same, choose, frozen

ROWS = 3

all_modes = pytest.mark.parametrize("mode", AutoresetMode)


def twins(mode: AutoresetMode, **options: Any) -> tuple[SyncVectorEnv, CribbageVectorEnv]:
    """Gymnasium's vector of single environments, and ours."""
    rows = [lambda: CribbageEnv(**options)] * ROWS
    return SyncVectorEnv(rows, autoreset_mode=mode), CribbageVectorEnv(
        ROWS, autoreset_mode=mode, **options
    )


def assert_same_reset(theirs: Any, ours: Any) -> None:
    """The infos may differ in rows that did not begin: Gymnasium has zeros there."""
    assert_same(theirs[0], ours[0])
    assert theirs[1].keys() == ours[1].keys()
    began = theirs[1]["_action_mask"]
    assert_same(began, ours[1]["_action_mask"])
    assert_same(theirs[1]["action_mask"][began], ours[1]["action_mask"][began])


@all_modes
@pytest.mark.parametrize("reward", ["win", "points", "match_points", "win_probability"])
@pytest.mark.parametrize("observation", ["dict", "flat", "compact"])
def test_rows_are_single_environments(mode: AutoresetMode, reward: str, observation: str) -> None:
    theirs, ours = twins(
        mode,
        rules="short",
        opponent="greedy" if reward == "points" else "random",
        reward=reward,
        match_points="acc",
        observation=observation,
        seats="second" if reward == "win" else "alternate",
    )
    assert theirs.observation_space == ours.observation_space
    assert theirs.action_space == ours.action_space
    assert theirs.metadata["autoreset_mode"] == ours.metadata["autoreset_mode"]
    chance = np.random.default_rng(1)
    found = ours.reset(seed=5)
    assert_same(theirs.reset(seed=5), found)
    mask = found[1]["action_mask"]
    num_ended = num_illegal = 0
    for _ in range(150):
        actions = np.array([choose(row, chance, cheats=0.02) for row in mask])
        found = ours.step(actions)
        assert_same(theirs.step(actions), found)
        ended = found[2]
        num_ended += ended.sum()
        last = found[4].get("final_info", found[4])
        num_illegal += last.get("illegal_action", np.zeros(1)).sum()
        mask = found[4]["action_mask"]
        if mode == AutoresetMode.DISABLED and ended.any():
            again = [theirs.reset(options={"reset_mask": ended})]
            again.append(ours.reset(options={"reset_mask": ended}))
            assert_same_reset(*again)
            mask = again[1][1]["action_mask"]
    assert num_ended > num_illegal > 0


@all_modes
def test_seeds_and_options_reach_each_row(mode: AutoresetMode) -> None:
    theirs, ours = twins(mode, rules="standard", reward="points")
    options: dict[str, Any] = {"scores": (100, 97), "learner_deals": True}
    chance = np.random.default_rng(2)
    for seed, wanted in (
        ([7, 7, 2**64 - 1], None),
        (None, options),
        ([None, 3, None], {"learner_deals": False}),
        (2**40, options),
        (None, None),
    ):
        again = ours.reset(seed=seed, options=wanted)
        assert_same(theirs.reset(seed=seed, options=wanted), again)
        mask = again[1]["action_mask"]
        for _ in range(8):
            actions = np.array([choose(row, chance) for row in mask])
            found = ours.step(actions)
            assert_same(theirs.step(actions), found)
            mask = found[4]["action_mask"]
            if found[2].any() and mode == AutoresetMode.DISABLED:
                break
    for seed, masked in (([1, 2, 3], [False, True, True]), (None, [True, False, False])):
        part = {"reset_mask": np.array(masked)} | options
        assert_same_reset(
            theirs.reset(seed=seed, options=dict(part)), ours.reset(seed=seed, options=part)
        )
        assert "reset_mask" in part


def test_equal_seeds_make_equal_rows_and_others_do_not() -> None:
    env = CribbageVectorEnv(3)
    observation, _ = env.reset(seed=[4, 4, 5])
    hands = observation["hand"]
    assert (hands[0] == hands[1]).all()
    assert (hands[0] != hands[2]).any()


def lowest(mask: Any) -> Any:
    return np.asarray(mask).argmax(axis=-1)


def single_episodes(number: int, seed: int) -> list[list[Any]]:
    """Episodes of the lowest legal action, as (observation, reward, terminated) after each step."""
    env = CribbageEnv("short", reward="points", observation="flat")
    episodes = []
    for episode in range(number):
        _, info = env.reset(seed=None if episode else seed)
        steps: list[Any] = []
        while not steps or not steps[-1][2]:
            observation, reward, ended, _, info = env.step(lowest(info["action_mask"]))
            steps.append((observation.tobytes(), reward, ended))
        episodes.append(steps)
    return episodes


@all_modes
def test_transitions_add_up_to_episodes_and_end_with_the_final_observation(
    mode: AutoresetMode,
) -> None:
    env = CribbageVectorEnv(
        ROWS, autoreset_mode=mode, rules="short", reward="points", observation="flat"
    )
    _, infos = env.reset(seed=3)
    episodes: list[list[list[Any]]] = [[[]] for _ in range(ROWS)]
    ended = np.zeros(ROWS, np.bool_)
    while min(map(len, episodes)) < 4:
        if mode == AutoresetMode.DISABLED and ended.any():
            _, infos = env.reset(options={"reset_mask": ended})
            ended = np.zeros(ROWS, np.bool_)
        renewed = ended
        observations, rewards, ended, truncated, infos = env.step(lowest(infos["action_mask"]))
        assert not truncated.any()
        for row in range(ROWS):
            if mode == AutoresetMode.NEXT_STEP and renewed[row]:
                assert rewards[row] == 0
                continue
            last = observations[row]
            if mode == AutoresetMode.SAME_STEP and ended[row]:
                last = infos["final_obs"][row]
            episodes[row][-1].append((last.tobytes(), rewards[row], ended[row]))
            if ended[row]:
                episodes[row].append([])
    for row in range(ROWS):
        assert episodes[row][:3] == single_episodes(3, seed=3 + row)


def test_no_live_row_has_an_empty_mask_after_partial_resets() -> None:
    env = CribbageVectorEnv(4, autoreset_mode="Disabled", rules="short")
    chance = np.random.default_rng(3)
    observation, infos = env.reset(seed=1)
    num_partial = 0
    for _ in range(3000):
        for mask in (observation["action_mask"], infos["action_mask"], env.action_masks()):
            assert mask.any(axis=1).all()
        actions = np.array([choose(row, chance) for row in infos["action_mask"]])
        observation, _, ended, _, infos = env.step(actions)
        live = ~ended
        for mask in (observation["action_mask"], infos["action_mask"]):
            assert mask[live].any(axis=1).all()
            assert not mask[ended].any()
        if ended.any():
            num_partial += not ended.all()
            observation, infos = env.reset(options={"reset_mask": ended})
            assert infos["_action_mask"].tolist() == ended.tolist()
    assert num_partial > 100


def test_a_row_that_ended_is_not_stepped_when_autoreset_is_disabled() -> None:
    env = CribbageVectorEnv(2, autoreset_mode="Disabled")
    _, infos = env.reset(seed=1)
    legal = lowest(infos["action_mask"])
    _, _, ended, _, _ = env.step([legal[0], -1])
    assert ended.tolist() == [False, True]
    before = frozen(env.encoding.encode(env.views))
    with pytest.raises(IllegalActionError, match="Game 1 has ended"):
        env.step(legal)
    assert frozen(env.encoding.encode(env.views)) == before
    env.reset(options={"reset_mask": ended})
    env.step(lowest(env.action_masks()))


def test_rows_must_begin_before_they_are_stepped() -> None:
    env = CribbageVectorEnv(2)
    with pytest.raises(IllegalActionError, match="Game 0 has not begun"):
        env.step([0, 0])
    env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(IllegalActionError, match="Game 1 has not begun"):
        env.step([0, 0])


def test_an_illegal_action_that_raises_changes_nothing() -> None:
    env = CribbageVectorEnv(3, illegal_action="raise")
    env.reset(seed=1)
    before = env.tables.states.tobytes()
    with pytest.raises(IllegalActionError, match="Action 18 is illegal in game 1"):
        env.step([0, 18, 0])
    for actions in ([0, 0], [0.0, 0.0, 0.0], [[0], [0], [0]], [0, 0, 2**70]):
        with pytest.raises(IllegalActionError, match="must be integers of shape"):
            env.step(actions)
    assert env.tables.states.tobytes() == before
    env.step([0, 0, 0])


def test_outputs_are_new_arrays_each_time() -> None:
    """Whatever a caller keeps or changes, later outputs do not see it, nor it them."""
    env, twin = CribbageVectorEnv(2), CribbageVectorEnv(2)
    kept = [env.reset(seed=2)]
    outputs = [twin.reset(seed=2)]
    texts = [frozen(kept[0][0])]
    for _ in range(40):
        action = lowest(kept[-1][-1]["action_mask"])
        outputs.append(twin.step(action))
        kept.append(env.step(action))
        texts.append(frozen(kept[-1][0]))
        assert_same(outputs[-1], kept[-1])
        outputs[-1][0]["hand"][:] = 7
        outputs[-1][0]["action_mask"][:] = 7
        outputs[-1][1][:] = 7
    assert [frozen(output[0]) for output in kept] == texts


def test_render_shows_each_row() -> None:
    env = CribbageVectorEnv(2, render_mode="ansi", rules="short")
    single = CribbageEnv("short", render_mode="ansi")
    env.reset(seed=8)
    texts = env.render()
    for row in range(2):
        single.reset(seed=8 + row)
        assert texts[row] == single.render()
    frames = CribbageVectorEnv(2, render_mode="rgb_array")
    frames.reset(seed=8)
    assert [frame.shape for frame in frames.render()] == [(640, 960, 3)] * 2


def test_make_vec_makes_the_batch_engines_environment() -> None:
    env = gymnasium.make_vec("cribai/Cribbage-v0", num_envs=2, rules="short")
    assert isinstance(env.unwrapped, CribbageVectorEnv)
    single = gymnasium.make_vec(
        "cribai/Cribbage-v0", num_envs=2, vectorization_mode="sync", rules="short"
    )
    assert_same(single.reset(seed=4), env.reset(seed=4))
