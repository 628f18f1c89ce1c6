"""`cribai/Solitaire-v0`: rewards, masks, the optimum, seeds, copies and refusals."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_sb3_env

import reference
from cribai import ConfigError, IllegalActionError, Rules, RulesError, parse_cards
from cribai.analysis.splits import best_split
from cribai.envs.solitaire import SolitaireEnv
from env_play import assert_same

ID = "cribai/Solitaire-v0"
ALL_RULES = (
    Rules(),
    Rules(name="jokers", num_jokers=4),
    Rules(name="wild_kings", wild_kings=True),
)


def play(env: Any, chance: np.random.Generator, info: dict[str, Any]) -> list[Any]:
    """An episode of random legal actions: all that the steps returned."""
    steps = []
    ended = False
    while not ended:
        action = chance.choice(np.flatnonzero(info["action_mask"]))
        steps.append(env.step(action))
        ended, info = steps[-1][2], steps[-1][4]
    return steps


@pytest.mark.filterwarnings("ignore:Your observation hands has an unconventional shape:UserWarning")
@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("num_hands", [1, 3])
def test_checkers_find_no_fault(rules: Rules, num_hands: int) -> None:
    env = gymnasium.make(ID, rules=rules, num_hands=num_hands, render_mode="ansi")
    check_env(env.unwrapped)
    check_sb3_env(gymnasium.make(ID, rules=rules, num_hands=num_hands))


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
def test_points_are_the_hands_and_never_pass_the_optimum(rules: Rules) -> None:
    env = SolitaireEnv(rules, num_hands=2)
    chance = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    reached = 0
    for _ in range(30):
        steps = play(env, chance, info)
        hands, starter, info = env.hands, env.starter, steps[-1][4]
        assert [len(hand) for hand in hands] == [4, 4]
        score = reference.best_kings if rules.wild_kings else reference.show_points
        expected = sum(score(hand, [starter], False) for hand in hands)
        assert sum(step[1] for step in steps) == expected == info["points"] <= info["optimum"]
        assert not info["illegal_action"]
        assert not any(step[3] for step in steps)
        assert [step[2] for step in steps] == [False] * 7 + [True]
        cards = [card for hand in hands for card in hand]
        assert info["optimum"] == best_split(cards, starter, rules).points
        assert len({*cards, starter}) == 9
        reached += info["points"] == info["optimum"]
        _, info = env.reset()
    assert 0 < reached < 30


def test_a_hand_pays_when_it_is_full() -> None:
    env = SolitaireEnv(num_hands=2)
    env.reset(seed=1)
    for number in range(8):
        _, reward, ended, _, _ = env.step(number // 4)
        hand = env.hands[number // 4]
        full = number % 4 == 3
        assert reward == (reference.show_points(hand, [env.starter], False) if full else 0)
    assert ended


def test_the_best_split_reaches_the_optimum() -> None:
    env = SolitaireEnv()
    _, info = env.reset(seed=3)
    for _ in range(10):
        split = best_split(env.rest, env.starter)
        places = {card: place for place, hand in enumerate(split.hands) for card in hand}
        total = 0.0
        for card in list(env.rest):
            _, reward, _, _, info = env.step(places[card])
            total += reward
        assert total == split.points == info["points"] == info["optimum"]
        env.reset()


def test_observations_are_the_cards() -> None:
    env = SolitaireEnv(Rules(num_jokers=4))
    observation, info = env.reset(seed=2)
    chance = np.random.default_rng(5)
    for step in [(observation, 0.0, False, False, info), *play(env, chance, info)]:
        observation = step[0]
        assert env.observation_space.contains(observation)
        assert observation["action_mask"].tolist() == step[4]["action_mask"].tolist()
        shown = observation["card"] + observation["rest"] + observation["hands"].sum(axis=0)
        assert np.flatnonzero(shown).tolist() == env._cards
        assert np.flatnonzero(observation["starter"]).tolist() == [env.starter]
        full = observation["hands"].sum(axis=1) == 4
        assert (observation["action_mask"] == ~full).all()
        assert observation["card"].sum() == (0 if full.all() else 1)
    assert not observation["action_mask"].any()


def test_masks_are_served_alike() -> None:
    env = SolitaireEnv(num_hands=2)
    observation, info = env.reset(seed=1)
    for action in (1, 0, 1, 1, 1, 0, 0, 0):
        assert env.action_masks().dtype == np.bool_
        assert env.action_masks()[action]
        assert (env.action_masks() == observation["action_mask"]).all()
        info["action_mask"][:] = 9  # a copy of the caller's own
        assert (env.action_masks() == observation["action_mask"]).all()
        observation, _, _, _, info = env.step(action)
    assert not env.action_masks().any()


@pytest.mark.parametrize("action", [-1, 2, 10**30])
def test_an_illegal_action_takes_back_all_points(action: int) -> None:
    env = SolitaireEnv(num_hands=2)
    env.reset(seed=1)
    total = sum(float(env.step(0)[1]) for _ in range(4))
    assert total > 0
    observation, reward, ended, truncated, info = env.step(action)
    assert (total + reward, ended, truncated) == (0.0, True, False)
    assert (info["points"], info["illegal_action"]) == (0, True)
    assert info["optimum"] >= total
    assert not observation["action_mask"].any()


def test_a_full_hand_is_illegal() -> None:
    env = SolitaireEnv(num_hands=2, illegal_action="raise")
    env.reset(seed=1)
    for _ in range(4):
        env.step(0)
    before = env.clone()
    with pytest.raises(IllegalActionError) as caught:
        env.step(0)
    assert str(caught.value) == "Action 0 is illegal; the legal ones are [1]."
    assert_same(env.step(1), before.step(1))
    with pytest.raises(IllegalActionError, match="is no integer"):
        env.step("one")


def test_after_the_end() -> None:
    env = SolitaireEnv(num_hands=1)
    sentence = "The episode has ended; call reset\\(\\) to begin another"
    with pytest.raises(IllegalActionError, match=sentence):
        env.step(0)
    env.reset(seed=1)
    for _ in range(4):
        env.step(0)
    with pytest.raises(IllegalActionError, match=sentence):
        env.step(0)


def test_seeds_fix_all_that_follows() -> None:
    first, second = SolitaireEnv(), SolitaireEnv()
    deals = []
    for env in (first, second):
        deals.append([env.reset(seed=7), env.reset(), env.reset()])
    assert_same(*deals)
    assert_same(first.reset(seed=7), deals[0][0])
    texts = {str(deal[0]["rest"]) for deal in deals[0]}
    assert len(texts) == 3
    np.random.seed(1)  # noqa: NPY002 -- that the global generator does not matter
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    first.reset(seed=7)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_copies_continue_identically() -> None:
    env = SolitaireEnv()
    env.reset(seed=4)
    env.step(1)
    copies = (env.clone(), pickle.loads(pickle.dumps(env)))
    for copied in copies:
        original = env.clone()
        for action in (1, 1, 2):
            assert_same(copied.step(action), original.step(action))
        assert_same(copied.reset(), original.reset())


def test_rendering() -> None:
    env = SolitaireEnv(num_hands=2, render_mode="ansi")
    env.reset(seed=1)
    env.starter = parse_cards("5S")[0]
    env.rest = sorted(parse_cards("5C 5D 5H JS 2C 3D 9H QS"))
    for action in (1, 1, 0):
        env.step(action)
    assert env.render() == ("starter: 5S\nhand 0: 5C\nhand 1: 2C 3D\nto place: 5D 5H 9H JS QS")
    for action in (0, 0, 1, 0, 1):
        env.step(action)
    assert env.render() == (
        "starter: 5S\nhand 0: 5C 5D 5H JS for 29\nhand 1: 2C 3D 9H QS for 4\nto place:"
    )
    assert SolitaireEnv().render() is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_hands": 0}, "num_hands is 0; it must be 1 to 5."),
        ({"num_hands": 6}, "num_hands is 6; it must be 1 to 5."),
        ({"num_hands": "two"}, "num_hands is 'two'; it must be 1 to 5."),
        ({"render_mode": "human"}, "Unknown render_mode 'human'; choose ansi or none."),
        ({"illegal_action": "win"}, "Unknown illegal_action 'win'; choose one of lose, raise."),
        ({"rules": "rubbish"}, "Unknown rules 'rubbish'; the presets are "),
    ],
)
def test_refusals(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ConfigError, RulesError)) as caught:
        SolitaireEnv(**options)
    assert str(caught.value).startswith(sentence)


def test_refused_resets() -> None:
    env = SolitaireEnv()
    with pytest.raises(ConfigError, match="Unknown option 'scores' of reset; leave it out"):
        env.reset(options={"scores": (1, 2)})
    with pytest.raises(RulesError, match="seed"):
        env.reset(seed=-1)
