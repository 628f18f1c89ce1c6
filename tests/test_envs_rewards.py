"""Rewards: each is what the scores of the played games say."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cribai import IllegalActionError, Rules, RulesError
from cribai.analysis.positions import win_probability
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.rewards import make_reward
from cribai.errors import ConfigError
from env_play import TWO_PLAYERS, choose, frozen

REWARDS = ("win", "points", "match_points", "win_probability")

ILLEGAL = 18
"""A lay, where a toss is due."""

MATCH_POINTS = {"plain": (1, 2, 3), "quadruple": (1, 2, 4), "acc": (2, 3, 3)}
SKUNK_LINES = {"standard": (90, 60), "short": (30, -1), "five_card": (30, -1)}


@dataclass
class Standing:
    """How a game stands, read from the engine's state."""

    own: int
    other: int
    deal: int
    is_dealer: bool


@dataclass
class Played:
    standings: list[Standing]
    rewards: list[float]
    info: dict[str, Any]


def standing_of(env: CribbageEnv) -> Standing:
    state, learner = env.tables.states[0], int(env.tables.learners[0])
    own, other = (int(state["scores"][seat]) for seat in (learner, 1 - learner))
    return Standing(own, other, int(state["num_deals"]), int(state["dealer"]) == learner)


def play(
    env: CribbageEnv, chance: np.random.Generator, cheats: float = 0.0, **kwargs: Any
) -> Played:
    _, info = env.reset(**kwargs)
    played = Played([standing_of(env)], [], info)
    ended = False
    while not ended:
        action = choose(played.info["action_mask"], chance, cheats)
        _, reward, ended, truncated, played.info = env.step(action)
        assert isinstance(reward, float)
        assert truncated is False
        played.rewards.append(reward)
        played.standings.append(standing_of(env))
    return played


def games(number: int, rules: str, **options: Any) -> list[Played]:
    chance = np.random.default_rng(6)
    env = CribbageEnv(rules, **options)
    return [play(env, chance, seed=None if game else 2) for game in range(number)]


@pytest.mark.kernels
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_win_pays_the_result_at_the_end(rules: str) -> None:
    results = set()
    for played in games(12, rules):
        last = played.standings[-1]
        result = 1 if last.own > last.other else -1
        assert played.rewards == [*[0.0] * (len(played.rewards) - 1), result]
        assert played.info["result"] == result
        assert played.info["scores"].tolist() == [last.own, last.other]
        assert played.info["illegal_action"] is False
        results.add(result)
    assert results == {1, -1}


@pytest.mark.kernels
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_points_pay_what_is_scored(rules: str) -> None:
    for played in games(6, rules, reward="points"):
        gains = [standing.own - standing.other for standing in played.standings]
        assert played.rewards == np.diff(gains).tolist()
        assert sum(played.rewards) == gains[-1]
        assert sum(reward != 0 for reward in played.rewards) > 5


@pytest.mark.parametrize("rules", TWO_PLAYERS)
@pytest.mark.parametrize("table", MATCH_POINTS)
def test_match_points_pay_by_the_losers_score(rules: str, table: str) -> None:
    skunks = set()
    for opponent in ("random", "greedy"):
        for played in games(8, rules, reward="match_points", match_points=table, opponent=opponent):
            last = played.standings[-1]
            skunk = sum(min(last.own, last.other) <= line for line in SKUNK_LINES[rules])
            worth = MATCH_POINTS[table][skunk]
            sign = 1 if last.own > last.other else -1
            assert played.rewards == [*[0.0] * (len(played.rewards) - 1), sign * worth]
            assert played.info["skunk"] == skunk
            skunks.add(skunk)
    assert len(skunks) > 1


@pytest.mark.parametrize("line", [-1, 0, 1])
def test_a_skunk_begins_at_its_line(line: int) -> None:
    env = CribbageEnv("standard", reward="match_points", match_points="quadruple")
    for score, worths in ((60, (4, 4, 2)), (90, (2, 2, 1))):
        env.reset(seed=1, options={"scores": (score + line, 0)})
        _, reward, _, _, info = env.step(ILLEGAL)
        assert reward == -worths[line + 1]
        assert info["skunk"] == {4: 2, 2: 1, 1: 0}[-int(reward)]


def chance_of(standing: Standing, rules: str) -> float:
    ahead = {"standard": 0, "short": 60}[rules]
    return win_probability(
        standing.own + ahead, standing.other + ahead, is_dealer=standing.is_dealer
    )


@pytest.mark.parametrize("rules", ["standard", "short"])
def test_win_probability_pays_its_change_from_deal_to_deal(rules: str) -> None:
    for played in games(6, rules, reward="win_probability", opponent="greedy"):
        at_deal = chance_of(played.standings[0], rules)
        start = at_deal
        for reward, before, after in zip(
            played.rewards, played.standings[:-1], played.standings[1:], strict=True
        ):
            expected = 0.0
            if after is played.standings[-1]:
                expected = float(after.own > after.other) - at_deal
            elif after.deal > before.deal:
                expected = chance_of(after, rules) - at_deal
                at_deal = chance_of(after, rules)
            assert reward == pytest.approx(expected, abs=1e-12)
        won = played.info["result"] == 1
        assert sum(played.rewards) == pytest.approx(won - start, abs=1e-12)


@pytest.mark.parametrize("learner_deals", [True, False])
def test_win_probability_starts_from_the_scores_of_the_reset(learner_deals: bool) -> None:
    env = CribbageEnv("standard", reward="win_probability")
    options = {"scores": (101, 110), "learner_deals": learner_deals}
    played = play(env, np.random.default_rng(1), seed=1, options=options)
    start = win_probability(101, 110, is_dealer=learner_deals)
    assert sum(played.rewards) == pytest.approx((played.info["result"] == 1) - start)
    # What the last episode began with is forgotten, also when it was left in its first deal.
    for options in ({"scores": (80, 20)}, {}):
        env.reset(seed=2, options=options)
        played = play(env, np.random.default_rng(2), options={"learner_deals": learner_deals})
        start = win_probability(0, 0, is_dealer=learner_deals)
        assert sum(played.rewards) == pytest.approx((played.info["result"] == 1) - start)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("win", -1.0),
        ("points", -121.0 + 30),
        ("match_points", -2.0),
        ("win_probability", -win_probability(70, 30, is_dealer=True)),
    ],
)
def test_an_illegal_action_is_paid_as_a_loss(reward: str, expected: float) -> None:
    env = CribbageEnv("standard", reward=reward)
    env.reset(seed=1, options={"scores": (70, 30), "learner_deals": True})
    _, paid, ended, _, info = env.step(ILLEGAL)
    assert paid == pytest.approx(expected)
    assert ended
    assert (info["result"], info["illegal_action"]) == (-1, True)
    assert info["scores"].tolist() == [70, 30]
    assert not info["action_mask"].any()


@pytest.mark.parametrize("reward", REWARDS)
def test_illegal_actions_at_any_time_lose(reward: str) -> None:
    env = CribbageEnv("short", reward=reward)
    chance = np.random.default_rng(7)
    env.reset(seed=3)
    turns = set()
    for _ in range(40):
        played = play(env, chance, cheats=0.15)
        if not played.info["illegal_action"]:
            continue
        turns.add(len(played.rewards))
        assert played.info["result"] == -1
        before = played.standings[-2]
        sums = {
            "win": -1,
            "points": before.own - 61,
            "match_points": -2 if before.own <= 30 else -1,
            "win_probability": -chance_of(played.standings[0], "short"),
        }
        assert sum(played.rewards) == pytest.approx(sums[reward])
    assert len(turns) > 5


@pytest.mark.kernels
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("action", [ILLEGAL, -1, 19, 10**30, -(10**30)])
def test_an_illegal_action_that_raises_changes_nothing(reward: str, action: int) -> None:
    env, twin = (CribbageEnv(reward=reward, illegal_action="raise") for _ in range(2))
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises(IllegalActionError, match=r"^Action -?\d+ is illegal in game 0; the legal"):
        env.step(action)
    for _ in range(30):
        legal = int(env.action_masks().argmax())
        assert [frozen(part) for part in env.step(legal)] == [
            frozen(part) for part in twin.step(legal)
        ]


@pytest.mark.parametrize(
    "rules",
    ["five_card", Rules(name="long", target=122), Rules(name="sixteen", fifteen=16)],
    ids=str,
)
def test_win_probability_is_refused_where_position_is_not_known(rules: str | Rules) -> None:
    with pytest.raises(ConfigError, match=r"'win_probability' is not known for the rules .*points"):
        CribbageEnv(rules, reward="win_probability")


def test_unknown_rewards_and_tables_are_refused() -> None:
    with pytest.raises(ConfigError, match="Unknown reward 'fun'; choose one of win, points"):
        CribbageEnv(reward="fun")
    with pytest.raises(RulesError, match="Unknown match points 'fun'"):
        CribbageEnv(reward="match_points", match_points="fun")


def test_rewards_of_rows_do_not_mix() -> None:
    """A row's payment depends on that row alone."""
    env = CribbageEnv("short")
    played = [env.tables.episodes.copy()]
    _, info = env.reset(seed=1)
    chance = np.random.default_rng(8)
    for _ in range(20):
        played.append(env.tables.episodes.copy())
        _, _, ended, _, info = env.step(choose(info["action_mask"], chance))
        if ended:
            break
    before = np.concatenate(played[:-1])
    after = np.concatenate(played[1:])
    illegal = np.arange(len(before)) % 3 == 0
    for name in REWARDS:
        reward = make_reward(name, env.rules)
        alone = [
            reward.pay(before[[row]], after[[row]], illegal[[row]])[0] for row in range(len(before))
        ]
        assert reward.pay(before, after, illegal).tolist() == alone
