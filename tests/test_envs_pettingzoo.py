"""The table by PettingZoo: turns, observations, terminal rewards, sums of zero, illegal actions."""

from typing import Any

import numpy as np
import pytest

import cribai.envs.pettingzoo as table
from cribai import Game, IllegalActionError, Rules, RulesError
from cribai.envs.encoding import make_encoding
from cribai.errors import ConfigError
from cribai.game_batch import GameBatch
from env_play import ALL_RULES, OBSERVATIONS, assert_same, choose

REWARDS = ("win", "points", "match_points")

all_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
all_rewards = pytest.mark.parametrize("reward", REWARDS)


def sides_of(rules: Rules) -> list[int]:
    """The side of each seat: partners sit opposite each other."""
    if rules.partnerships:
        return [0, 1, 0, 1]
    return list(range(rules.num_players))


def play(env: Any, seed: int | None, cheat_after: int = 10**9) -> dict[str, list[float]]:
    """Plays a game by `agent_iter`; returns the rewards that each agent was told by `last`."""
    chance = np.random.default_rng(9)
    env.reset(seed=seed)
    told: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
    turn = 0
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        assert not truncated
        assert_same(observation["action_mask"], info["action_mask"])
        told[agent].append(reward)
        if terminated:
            assert not observation["action_mask"].any()
            env.step(None)
            continue
        action = choose(observation["action_mask"], chance)
        env.step(action if turn < cheat_after else -1)
        turn += 1
    assert env.agents == []
    return told


def expected_totals(env: Any, reward: str, cheat: str | None = None) -> list[float]:
    """What each seat should have been paid in all, from the final scores."""
    rules = env.rules
    sides = sides_of(rules)
    scores = env._batch.scores[0].tolist()
    winner = int(env._batch.winners[0])
    if reward == "points":
        if cheat is not None:
            scores[winner] = rules.target
        others = [sum(scores) - score for score in scores]
        return [scores[side] - others[side] / (rules.num_sides - 1) for side in sides]
    if cheat is None:
        won = [side == winner for side in sides]
        loser = min(score for side, score in enumerate(scores) if side != winner)
    else:
        cheating = sides[env.possible_agents.index(cheat)]
        won = [side != cheating for side in sides]
        loser = scores[cheating]
    worth = 1.0
    if reward == "match_points":
        worth = (1, 2, 4)[(loser <= rules.skunk_line) + (loser <= (rules.double_skunk_line or -1))]
    num_won = sum(won)
    num_lost = len(won) - num_won
    paid = worth * min(num_won, num_lost)
    return [paid / num_won if is_won else -paid / num_lost for is_won in won]


@all_rules
@all_rewards
def test_every_agent_is_told_its_rewards_and_they_add_up_to_zero(rules: Rules, reward: str) -> None:
    env = table.raw_env(rules, reward=reward, match_points="quadruple")
    for game in range(3):
        told = play(env, None if game else 3)
        totals = [sum(told[agent]) for agent in env.possible_agents]
        assert sum(totals) == pytest.approx(0, abs=1e-9)
        assert totals == pytest.approx(expected_totals(env, reward))
        for agent, rewards in told.items():
            if reward != "points":
                assert rewards[-1] == totals[env.possible_agents.index(agent)] != 0
                assert not any(rewards[:-1])


@all_rules
@all_rewards
def test_rewards_add_up_to_zero_at_each_step(rules: Rules, reward: str) -> None:
    env = table.raw_env(rules, reward=reward)
    chance = np.random.default_rng(10)
    env.reset(seed=4)
    num_paid = 0
    while not any(env.terminations.values()):
        env.step(choose(env.observe(env.agent_selection)["action_mask"], chance))
        assert list(env.rewards) == env.possible_agents
        assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-9)
        num_paid += any(env.rewards.values())
    assert num_paid == 1 if reward != "points" else num_paid > 10


@all_rules
@all_rewards
@pytest.mark.parametrize("cheat_after", [0, 1, 30])
def test_an_illegal_action_ends_the_game_as_a_loss(
    rules: Rules, reward: str, cheat_after: int
) -> None:
    env = table.raw_env(rules, reward=reward, match_points="quadruple")
    env.reset(seed=5)
    chance = np.random.default_rng(9)
    for _ in range(cheat_after):
        env.step(choose(env.observe(env.agent_selection)["action_mask"], chance))
    cheat = env.agent_selection
    told = play(env, 5, cheat_after)
    totals = [sum(told[agent]) for agent in env.possible_agents]
    assert sum(totals) == pytest.approx(0, abs=1e-9)
    assert totals == pytest.approx(expected_totals(env, reward, cheat))
    assert told[cheat][-1] < 0
    assert env._batch.winners[0] != sides_of(rules)[int(cheat[-1])]


@pytest.mark.parametrize("action", [-1, 19, 10**30])
def test_an_illegal_action_that_raises_changes_nothing(action: int) -> None:
    env = table.raw_env(illegal_action="raise")
    env.reset(seed=1)
    before = env._batch.states.tobytes()
    agent = env.agent_selection
    with pytest.raises(IllegalActionError):
        env.step(action)
    with pytest.raises(IllegalActionError, match="no integer"):
        env.step(1.5)
    assert env._batch.states.tobytes() == before
    assert (env.agent_selection, env.rewards[agent]) == (agent, 0)
    env.step(0)


@all_rules
def test_who_acts_and_what_he_sees(rules: Rules) -> None:
    """The agent selected is the actor of the same game played by `Game`."""
    env = table.raw_env(rules, observation="dict")
    env.reset(seed=6)
    for pair in range(2):
        game = Game(rules, seed=6, pair=pair)
        while not game.is_over:
            assert env.agent_selection == f"player_{game.actor}"
            view = game.view()
            for agent in env.agents:
                observation = env.observe(agent)
                assert env.observation_space(agent).contains(observation)
                is_actor = agent == env.agent_selection
                mask = view.action_mask if is_actor else np.zeros_like(view.action_mask)
                assert_same(observation["action_mask"], mask)
                assert env.view(agent).hand == tuple(
                    card
                    for card in game.hands[int(agent[-1])]
                    if card not in [laid for _, laid in env.view(agent).plays]
                )
            assert str(env.view(env.agent_selection)) == str(view)
            action = int(np.flatnonzero(view.action_mask)[-1])
            env.step(action)
            game.push(action)
        outcome = game.outcome()
        assert outcome is not None
        assert env._batch.winners[0] == outcome.winner
        # The loser is told like all others, in turn, before the next game.
        assert sorted(env.agents) == env.possible_agents
        while env.agents:
            env.step(None)
        env.reset()


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_observations_are_views_encoded(observation: str) -> None:
    env = table.raw_env("four_player", observation=observation)
    encoding = make_encoding(observation, env.rules)
    env.reset(seed=1)
    for turn in range(30):
        views = env._batch.seat_views(turn % 4)
        assert_same(
            env.observe(f"player_{turn % 4}"),
            {"observation": encoding.encode_one(views), "action_mask": views.action_masks()[0]},
        )
        env.step(choose(env.observe(env.agent_selection)["action_mask"], np.random.default_rng(1)))


def test_partners_win_and_lose_together() -> None:
    env = table.raw_env("four_player", reward="points")
    for seed in range(3):
        told = play(env, seed)
        totals = [sum(rewards) for rewards in told.values()]
        assert totals[0] == totals[2] == -totals[1] == -totals[3] != 0


def test_three_share_a_loss_and_a_win() -> None:
    env = table.raw_env("three_player")
    assert sorted(sum(rewards) for rewards in play(env, 1).values()) == [-0.5, -0.5, 1.0]
    assert sorted(sum(rewards) for rewards in play(env, 1, 0).values()) == [-1.0, 0.5, 0.5]


def test_the_best_placed_of_the_others_wins_a_forfeited_game() -> None:
    env = table.raw_env("three_player", reward="points")
    env.reset(seed=1)
    cheat = int(env.agent_selection[-1])
    env._batch.states["scores"][0, (cheat + 2) % 3] = 50
    env.step(-1)
    assert env._batch.winners[0] == (cheat + 2) % 3
    gain = 121 - 50
    rewards = [env.rewards[f"player_{(cheat + place) % 3}"] for place in range(3)]
    assert rewards == [-gain / 2, -gain / 2, gain]


def test_parallel_interface_takes_the_action_of_whoever_is_to_act() -> None:
    env = table.parallel_env(rules="three_player")
    game = Game("three_player", seed=7)
    observations, infos = env.reset(seed=7)
    while env.agents:
        masks = {agent: observation["action_mask"] for agent, observation in observations.items()}
        (due,) = (agent for agent, mask in masks.items() if mask.any())
        assert due == f"player_{game.actor}"
        assert_same(masks[due], infos[due]["action_mask"])
        actions = dict.fromkeys(env.agents, env.action_space(due).n - 1)
        actions[due] = int(masks[due].argmax())
        game.push(actions[due])
        observations, rewards, terminations, _, infos = env.step(actions)
    assert game.is_over
    assert all(terminations.values())
    assert sum(rewards.values()) == pytest.approx(0)


def test_each_reset_goes_on_to_the_next_game_of_the_seed() -> None:
    env = table.raw_env("standard")
    env.reset(seed=11)
    for pair in range(3):
        assert (
            env._batch.states[0]["deal_key"]
            == (GameBatch.start(1, "standard", seed=11, pairs=[pair]).states[0]["deal_key"])
        )
        env.reset()
    env.reset(seed=11)
    assert env.view("player_0").kept == Game(seed=11).hands[0]


def test_stepping_the_dead_takes_none_alone() -> None:
    env = table.raw_env()
    env.reset(seed=1)
    env.step(-1)
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "win_probability"}, r"Unknown reward 'win_probability'; choose one of win, p"),
        ({"render_mode": "video"}, r"Unknown render_mode 'video'; choose one of None, ansi"),
        ({"viewer": 2}, r"Unknown viewer 2; choose one of 0, 1\."),
        ({"observation": "pixels"}, r"Unknown observation 'pixels'; choose one of dict"),
        ({"illegal_action": "ignore"}, r"Unknown illegal_action 'ignore'; choose one of lose"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        table.raw_env(**options)


def test_unknown_rules_tables_and_seeds_are_refused() -> None:
    with pytest.raises(RulesError, match="Unknown rules 'bridge'"):
        table.raw_env("bridge")
    with pytest.raises(RulesError, match="Unknown match points 'gold'"):
        table.raw_env(match_points="gold")
    env = table.raw_env()
    for seed in (-1, 2**64, 1.5, "one"):
        with pytest.raises(RulesError, match="it must be an integer from 0 to"):
            env.reset(seed=seed)
    env.reset()  # the refused seeds are not kept
