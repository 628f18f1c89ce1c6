"""The shipped agents in the variants, and records of their games."""

from collections.abc import Sequence

import numpy as np
import pytest

from cribai import (
    PRESETS,
    AgentError,
    Game,
    GameBatch,
    Rules,
    SimpleAgent,
    View,
    record_game,
    replay,
)
from cribai.agent import Agent
from cribai.records import from_json, to_json
from cribai_agents.forgetful import ForgetfulAgent
from cribai_agents.greedy import GreedyAgent
from cribai_agents.uniform import UniformAgent
from test_variants_games import VARIANTS

variants = pytest.mark.parametrize("rules", VARIANTS, ids=lambda rules: rules.name)


def play(agents: tuple[Agent, Agent], rules: Rules, size: int, seed: int = 1) -> GameBatch:
    """Games in which the first agent has the even seats."""
    batch = GameBatch.start(size, rules, seed=seed)
    while not batch.over.all():
        due = np.flatnonzero(~batch.over)
        views = batch.views(due)
        first, second = (agent.act(views) for agent in agents)
        batch.step(np.where(batch.states["actor"][due] % 2 == 0, first, second), due)
    return batch


@variants
def test_greedy_beats_random(rules: Rules) -> None:
    batch = play((GreedyAgent(), UniformAgent()), rules, 60)
    assert (batch.winners == 0).mean() > 0.7


def test_greedy_draws_to_lose_points_in_lowball() -> None:
    rules = Rules(
        name="draw_low",
        lowball=True,
        draw_before_toss=True,
        draw_after_toss=True,
        target=60,
        skunk_line=None,
        double_skunk_line=None,
    )
    batch = play((GreedyAgent(), UniformAgent()), rules, 60)
    assert (batch.winners == 0).mean() > 0.7


@variants
def test_decisions_do_not_depend_on_the_batch(rules: Rules) -> None:
    agents = (GreedyAgent(), ForgetfulAgent(rate=0.3))
    whole = play(agents, rules, 5)
    for pair in range(5):
        alone = GameBatch.start(1, rules, seed=1, pairs=[pair])
        while not alone.over.all():
            views = alone.views()
            alone.step(agents[int(alone.states["actor"][0]) % 2].act(views))
        assert (alone.scores[0] == whole.scores[pair]).all()


class FirstCards(SimpleAgent):
    """Knows nothing of variants."""

    def choose_discard(self, view: View) -> Sequence[int]:
        return view.tosses[0]

    def choose_play(self, view: View) -> int:
        return view.legal_cards[-1]


@variants
def test_simple_agents_need_not_know_of_variants(rules: Rules) -> None:
    batch = play((FirstCards(), FirstCards()), rules, 3)
    assert batch.over.all()


def test_greedy_counts_truly_and_claims_what_was_missed() -> None:
    batch = GameBatch.start(20, "muggins", seed=3)
    greedy = GreedyAgent()
    num_claims = 0
    for _ in range(80):
        due = np.flatnonzero(~batch.over)
        views = batch.views(due)
        actions = greedy.act(views)
        for place, view in enumerate(views):
            if view.is_announcement and place % 2:
                actions[place] = view.action_of_number(0)
            elif view.is_announcement:
                assert actions[place] == view.action_of_number(view.shown_worth)
            elif view.is_claim:
                num_claims += 1
                missed = view.shown_worth - view.announced
                assert actions[place] == view.action_of_number(missed)
        batch.step(actions, due)
    assert num_claims > 50


def test_forgetful_misses_at_its_rate() -> None:
    batch = GameBatch.start(300, "muggins", seed=4)
    greedy, forgetful = GreedyAgent(), ForgetfulAgent(rate=0.25)
    asked = missed = 0
    while not batch.over.all():
        due = np.flatnonzero(~batch.over)
        views = batch.views(due)
        true, given = greedy.act(views), forgetful.act(views)
        is_count = (views.array["phase"] == 7) & (true > PRESETS["muggins"].announcements_start)
        asked += int(is_count.sum())
        missed += int((given < true)[is_count].sum())
        assert (given <= true).all()
        assert (given == true)[views.array["phase"] < 7].all()
        batch.step(given, due)
    assert 0.22 < missed / asked < 0.28
    assert (ForgetfulAgent(rate=0).act(views) == greedy.act(views)).all()


def test_forgetting_costs_games() -> None:
    batch = play((GreedyAgent(), ForgetfulAgent(rate=0.5)), PRESETS["muggins"], 200)
    assert (batch.winners == 0).mean() > 0.8


@pytest.mark.parametrize("rate", [-0.1, 1.5, True])
def test_forgetful_refuses_a_rate_out_of_range(rate: float) -> None:
    with pytest.raises(AgentError, match=r"rate is .*; it must be a number from 0 to 1"):
        ForgetfulAgent(rate=rate)


@variants
@pytest.mark.parametrize("seed", range(2))
def test_records_replay(rules: Rules, seed: int) -> None:
    game = Game(rules, seed=seed)
    agents = (GreedyAgent(), UniformAgent())
    while not game.is_over:
        view = game.view()
        batch = GameBatch(np.array([game._state], game._state.dtype), rules)
        action = int(agents[seed].act(batch.views())[0])
        assert view.action_text(action)
        game.push(action)
    record = record_game(game, ["greedy"] * rules.num_players)
    assert from_json(to_json(record)) == record
    again = replay(record)
    assert again.events == game.events
    assert again.scores == game.scores
