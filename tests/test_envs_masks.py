"""Masks: some action is always legal, masks are what the rules allow, masked learners obey them."""

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.distributions import MaskableCategorical

import reference
from cribai import IllegalActionError, Rules
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.pettingzoo import raw_env
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.envs.vector import CribbageVectorEnv
from env_play import ALL_RULES, OBSERVATIONS, TWO_PLAYERS, choose

BIG = 10_000.0


def next_steps(env: CribbageVectorEnv, infos: dict[str, Any], chance: np.random.Generator) -> Any:
    """A step of random legal actions, all rows at once."""
    noise = chance.random(infos["action_mask"].shape) * infos["action_mask"]
    return env.step(noise.argmax(axis=1))


@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_some_action_is_legal_in_100_000_states(rules: str) -> None:
    env = CribbageVectorEnv(1000, rules=rules, autoreset_mode="SameStep")
    chance = np.random.default_rng(1)
    observation, infos = env.reset(seed=1)
    num_ended, num_lone = 0, 0
    for _ in range(100):
        legal = infos["action_mask"].sum(axis=1)
        assert legal.min() >= 1
        assert (env.action_masks() == infos["action_mask"]).all()
        assert (observation["action_mask"] == infos["action_mask"]).all()
        num_lone += (legal == 1).sum()
        observation, _, ended, _, infos = next_steps(env, infos, chance)
        num_ended += ended.sum()
    assert num_ended > 500
    assert num_lone > 5000


@pytest.mark.parametrize("scale", [1.0, BIG])
def test_masked_probabilities_are_finite(scale: float) -> None:
    env = CribbageVectorEnv(250, autoreset_mode="SameStep")
    chance = np.random.default_rng(2)
    _, infos = env.reset(seed=2)
    num_lone = 0
    for _ in range(8):
        masks = infos["action_mask"]
        for logits in (
            chance.choice([-scale, scale], masks.shape),
            np.where(masks, -scale, scale),
            np.full(masks.shape, scale),
        ):
            found = MaskableCategorical(logits=torch.tensor(logits, dtype=torch.float32))
            found.apply_masking(masks.astype(bool))
            assert torch.isfinite(found.probs).all()
            assert torch.isfinite(found.entropy()).all()
            assert torch.allclose(found.probs.sum(dim=1), torch.ones(len(masks)))
            assert (found.probs[torch.tensor(masks) == 0] == 0).all()
            lone = masks.sum(axis=1) == 1
            assert torch.allclose(found.probs[torch.tensor(lone)].max(dim=1).values, torch.ones(()))
            num_lone += lone.sum()
        _, _, _, _, infos = next_steps(env, infos, chance)
    assert num_lone > 200


@pytest.mark.parametrize("greedily", [False, True])
def test_adversarial_logits_make_no_illegal_move_in_10_000_decisions(greedily: bool) -> None:
    env = CribbageVectorEnv(500, autoreset_mode="SameStep", illegal_action="raise")
    _, infos = env.reset(seed=3)
    torch.manual_seed(1)
    num_decisions = 0
    while num_decisions < 10_000:
        masks = env.action_masks()
        logits = torch.tensor(np.where(masks, -BIG, BIG), dtype=torch.float32)
        found = MaskableCategorical(logits=logits)
        found.apply_masking(masks)
        actions = (found.probs.argmax(dim=1) if greedily else found.sample()).numpy()
        # An illegal one would raise.
        _, _, _, _, infos = env.step(actions)
        num_decisions += len(actions)
    assert infos["action_mask"].any(axis=1).all()


def legal_by_hand(env: Any) -> list[int]:
    """The mask of whoever is to act, from the state vector alone."""
    rules = env.rules
    players, deck = rules.num_players, rules.deck_size
    vector = env.state().tolist()
    actor = vector[-players:].index(1)
    start = 3 * players * deck + 2 * deck
    is_turned, count = vector[start : start + 2]
    held = {card for card in range(deck) if vector[actor * deck + card]}
    laid = {card for card in range(deck) if vector[(players + actor) * deck + card]}
    mask = [int(not is_turned)] * rules.num_tosses
    kept = sorted(held | laid)[: rules.cards_kept] if is_turned else []
    for card in kept:
        mask.append(int(card in held and count + reference.value(card) <= rules.thirty_one))
    return mask + [0] * (rules.num_actions - len(mask))


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
def test_masks_at_the_table_are_what_the_rules_allow(rules: Rules) -> None:
    """Each seat at each step: the actor's mask is brute-force legality, the others' are empty."""
    env = raw_env(rules, observation="dict")
    chance = np.random.default_rng(4)
    num_states = 0
    for game in range(3):
        env.reset(seed=None if game else 4)
        while not any(env.terminations.values()):
            legal = legal_by_hand(env)
            for agent in env.agents:
                observation = env.observe(agent)
                expected = legal if agent == env.agent_selection else [0] * rules.num_actions
                assert observation["action_mask"].tolist() == expected
                assert observation["observation"]["action_mask"].tolist() == expected
                assert env.infos[agent]["action_mask"].tolist() == expected
            mask = env.observe(env.agent_selection)["action_mask"]
            num_states += 1
            env.step(choose(mask, chance))
        for agent in env.agents:
            assert not env.observe(agent)["action_mask"].any()
            assert not env.infos[agent]["action_mask"].any()
    assert num_states > 60


@pytest.mark.parametrize("make", [CribbageEnv, DiscardEnv, PeggingEnv])
@pytest.mark.parametrize("rules", TWO_PLAYERS)
@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_masks_of_the_learner_are_what_the_rules_allow(
    make: Any, rules: str, observation: str
) -> None:
    env = make(rules, observation=observation, opponent="random")
    chance = np.random.default_rng(5)
    for episode in range(4):
        found, info = env.reset(seed=None if episode else 5)
        ended = False
        while not ended:
            expected = legal_by_hand(env)
            masks = [info["action_mask"], env.action_masks()]
            masks.append(
                found["action_mask"] if observation == "dict" else found[: env.rules.num_actions]
            )
            assert [mask.tolist() for mask in masks] == [expected] * 3
            assert [str(mask.dtype) for mask in masks[:2]] == ["int8", "bool"]
            found, _, ended, _, info = env.step(choose(info["action_mask"], chance))
        assert not info["action_mask"].any()
        assert not env.action_masks().any()


@pytest.mark.parametrize("illegal_action", ["lose", "raise"])
def test_nothing_is_legal_at_the_end(illegal_action: str) -> None:
    env = CribbageEnv("short", illegal_action=illegal_action)
    observation, info = env.reset(seed=6)
    ended = False
    while not ended:
        observation, _, ended, _, info = env.step(int(info["action_mask"].argmax()))
    assert env.observation_space.contains(observation)
    assert not info["action_mask"].any()
    assert not observation["action_mask"].any()
    before = env.state().tobytes()
    for action in range(-1, 20):
        with pytest.raises(IllegalActionError, match=r"has ended; call reset\(\) to begin another"):
            env.step(action)
    assert env.state().tobytes() == before
    env.reset()
    env.step(0)
