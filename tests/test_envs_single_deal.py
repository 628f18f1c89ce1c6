"""`Discard-v0` and `Pegging-v0`: what a toss and the play of a deal are paid, and how they end."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cribai import PRESETS, AgentError, EventKind, Game, IllegalActionError
from cribai.analysis.tosses import analyze_tosses
from cribai.engine.state import DEAL, OVER
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.errors import ConfigError
from env_play import TWO_PLAYERS, Cunning, choose

HEADS_START = {"standard": 0, "short": 60}


# ------------------------------------------------------------------------------------- one toss


@pytest.mark.parametrize("rules", ["standard", "short"])
@pytest.mark.parametrize("reward", ["points", "win_probability"])
def test_a_toss_is_paid_what_the_analysis_says(rules: str, reward: str) -> None:
    env = DiscardEnv(rules, reward=reward, opponent="random")
    chance = np.random.default_rng(1)
    env.reset(seed=1)
    for _ in range(6):
        scores = tuple(int(score) for score in chance.integers(env.rules.target, size=2))
        _, info = env.reset(options={"scores": scores})
        view = env.view()
        assert view.scores == scores
        own, other = (score + HEADS_START[rules] for score in scores)
        found = {
            toss.toss: toss.points if reward == "points" else toss.win_probability
            for toss in analyze_tosses(
                view.hand, is_dealer=view.is_dealer, score=own, opponent_score=other
            )
        }
        action = choose(info["action_mask"], chance)
        _, paid, ended, truncated, info = env.step(action)
        values = [found[toss] for toss in view.tosses]
        assert (ended, truncated) == (True, False)
        assert paid == pytest.approx(values[action], abs=1e-9)
        assert info["values"] == pytest.approx(values, abs=1e-9)
        assert info["regret"] == pytest.approx(max(values) - values[action], abs=1e-9)
        assert info["illegal_action"] is False


def test_the_best_toss_has_no_regret() -> None:
    env = DiscardEnv()
    for seed in range(4):
        env.reset(seed=seed)
        best = int(env.clone().step(0)[4]["values"].argmax())
        _, _, _, _, info = env.step(best)
        assert info["regret"] == 0


@pytest.mark.kernels
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_the_deals_difference_is_paid(rules: str) -> None:
    env = DiscardEnv(rules, reward="deal", opponent="greedy")
    chance = np.random.default_rng(2)
    env.reset(seed=2)
    paids = set()
    for _ in range(20):
        _, info = env.reset(options={"scores": (0, 20)})
        _, paid, ended, _, info = env.step(choose(info["action_mask"], chance))
        state, learner = env.tables.states[0], int(env.tables.learners[0])
        own, other = (int(state["scores"][seat]) for seat in (learner, 1 - learner))
        assert paid == own - (other - 20)
        assert ended
        assert info.keys() == {"action_mask", "illegal_action"}
        assert not info["action_mask"].any()
        assert state["phase"] == DEAL
        assert state["num_left"].max() == 0
        paids.add(paid)
    assert len(paids) > 5


def test_a_deal_that_ends_the_game_ends_the_episode() -> None:
    env = DiscardEnv(reward="deal")
    for seed in range(8):
        env.reset(seed=seed, options={"scores": (120, 120)})
        _, paid, ended, _, _ = env.step(0)
        assert ended
        assert paid in (1, -1)
        assert env.tables.states[0]["phase"] == OVER


@pytest.mark.parametrize(
    ("reward", "rules", "paid"),
    [
        ("points", "standard", -121),
        ("points", "short", -61),
        ("deal", "five_card", -61),
        ("win_probability", "standard", 0),
    ],
)
@pytest.mark.parametrize("action", [-1, 18, 10**20])
def test_an_illegal_toss_is_paid_the_least(
    reward: str, rules: str, paid: float, action: int
) -> None:
    env = DiscardEnv(rules, reward=reward)
    env.reset(seed=1)
    _, found, ended, _, info = env.step(action)
    assert (found, ended, info["illegal_action"]) == (paid, True, True)
    assert "regret" not in info
    env = DiscardEnv(rules, reward=reward, illegal_action="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalActionError):
        env.step(action)
    assert env.step(0)[2]


def test_the_reward_is_chosen_by_the_rules() -> None:
    assert DiscardEnv().reward == DiscardEnv("short").reward == "points"
    assert DiscardEnv("five_card").reward == "deal"
    for reward in ("points", "win_probability"):
        with pytest.raises(ConfigError, match=f"'{reward}' is not known for the rules 'five_card'"):
            DiscardEnv("five_card", reward=reward)
    with pytest.raises(ConfigError, match="Unknown reward 'win'; choose points"):
        DiscardEnv(reward="win")


def test_the_opponent_plays_both_sides_of_the_rest() -> None:
    opponent = Cunning()
    env = DiscardEnv(opponent=opponent)
    env.reset(seed=3, options={"learner_deals": False})
    env.step(0)
    # Its toss and all eight cards; the learner tossed himself.
    assert len(opponent.asked) == 1 + 8


# ----------------------------------------------------------------------------- the play of a deal


@pytest.mark.kernels
@pytest.mark.parametrize("rules", TWO_PLAYERS)
@pytest.mark.parametrize("seats", ["alternate", "first", "second"])
def test_the_rewards_add_up_to_the_pegging(rules: str, seats: str) -> None:
    env = PeggingEnv(rules, opponent="random", tosser="random", seats=seats)
    chance = np.random.default_rng(3)
    env.reset(seed=4)
    sums = set()
    for _ in range(12):
        _, info = env.reset()
        rewards, ended = [], False
        first = env.view()
        assert not first.is_discard
        assert len(first.tossed) == env.rules.cards_tossed
        assert len(first.hand) == env.rules.cards_kept
        while not ended:
            assert info.keys() == {"action_mask"}
            _, reward, ended, truncated, info = env.step(choose(info["action_mask"], chance))
            assert truncated is False
            rewards.append(reward)
        own, other = pegging_of(env)
        assert info["pegged"].tolist() == [own, other]
        assert sum(rewards) == own - other
        assert env.tables.states[0]["phase"] == DEAL
        assert not info["action_mask"].any()
        sums.add(sum(rewards))
    assert len(sums) > 4


def pegging_of(env: PeggingEnv) -> tuple[int, int]:
    """What both pegged, from the order of laying, counted by playing the deal again as a `Game`."""
    state, learner = env.tables.states[0], int(env.tables.learners[0])
    env_deal = Game(env.rules, seed=1, first_dealer=int(state["first_dealer"])).deal()
    size = env.rules.cards_dealt
    deck = state["deck"].tolist()
    deal = replace(
        env_deal, hands=(tuple(deck[:size]), tuple(deck[size : 2 * size])), starter=deck[2 * size]
    )
    game = Game(env.rules, seed=1, first_dealer=int(state["first_dealer"]), deals=[deal])
    for _ in range(2):
        tossed = state["tosses"][game.actor][: env.rules.cards_tossed].tolist()
        game.push_cards(*tossed)
    pegged = [0, 0]
    for card in state["play_cards"][: state["num_plays"]].tolist():
        for event in game.push_cards(card):
            if event.kind in (EventKind.LAY, EventKind.GO_POINT, EventKind.LAST_CARD):
                pegged[event.player] += event.points
    return pegged[learner], pegged[1 - learner]


def test_an_illegal_lay_is_paid_the_target_and_ends() -> None:
    env = PeggingEnv("short")
    env.reset(seed=1)
    _, paid, ended, _, info = env.step(0)
    assert (paid, ended, info["illegal_action"]) == (-61, True, True)
    assert info["pegged"].shape == (2,)
    env = PeggingEnv(illegal_action="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="Action 0 is illegal"):
        env.step(0)
    assert env.step(int(env.action_masks().argmax()))[2] is False


def test_play_always_begins_also_where_heels_end_games() -> None:
    env = PeggingEnv("standard")
    env.reset(seed=1)
    numbers = set()
    for _ in range(120):
        env.reset(options={"scores": (119, 119)})
        assert env.view().is_due
        assert not env.view().is_discard
        numbers.add(int(env.tables._numbers[0]))
    # Some deals were passed over.
    assert max(numbers) > len(numbers)


def test_pegging_can_end_the_game() -> None:
    env = PeggingEnv(opponent="greedy")
    phases = set()
    for seed in range(12):
        _, info = env.reset(seed=seed, options={"scores": (120, 120)})
        ended = False
        total = 0.0
        while not ended:
            action = int(info["action_mask"].argmax())
            _, paid, ended, _, info = env.step(action)
            total += paid
        assert total == info["pegged"][0] - info["pegged"][1]
        phases.add(int(env.tables.states[0]["phase"]))
    assert phases == {OVER}


def test_one_agent_tosses_for_both() -> None:
    tosser, opponent = Cunning(), Cunning()
    env = PeggingEnv(opponent=opponent, tosser=tosser)
    _, info = env.reset(seed=1)
    assert len(tosser.asked) == 2
    ended = False
    while not ended:
        _, _, ended, _, info = env.step(int(info["action_mask"].argmax()))
    assert len(tosser.asked) == 2
    assert len(opponent.asked) == 4
    for agent in ("nobody", 5):
        with pytest.raises(AgentError):
            PeggingEnv(tosser=agent)


@pytest.mark.parametrize("make", [DiscardEnv, PeggingEnv])
def test_episodes_are_of_first_deals_and_seats_alternate(make: Any) -> None:
    env = make(PRESETS["standard"])
    hands = []
    for episode in range(4):
        env.reset(seed=None if episode else 8)
        game = Game(seed=8, pair=episode // 2)
        learner = int(env.tables.learners[0])
        hands.append(set(env.view().kept) | set(env.view().tossed))
        assert hands[-1] == set(game.hands[learner])
        assert (env.view().deal, learner) == (0, episode % 2)
    assert not hands[0] & hands[1]


@pytest.mark.parametrize("make", [DiscardEnv, PeggingEnv])
def test_ended_episodes_are_not_stepped(make: Any) -> None:
    env = make()
    with pytest.raises(IllegalActionError, match=r"has ended; call reset\(\)"):
        env.step(0)
    env.reset(seed=1)
    env.step(18 if make is DiscardEnv else 0)
    with pytest.raises(IllegalActionError, match=r"has ended; call reset\(\)"):
        env.step(0)
