"""The policy with the search beside it: what the shares mean, its options, and the contract."""

import pickle
from typing import Any

import numpy as np
import pytest
import torch

from cribai import STANDARD, AgentError, GameBatch, ViewBatch, make_agent
from cribai.engine import state as engine
from cribai.testing import check_agent
from cribai_agents.policy import GRAIN
from cribai_agents.policy_search import SearchPolicyAgent
from policy_views import check_batches, views_of

pytestmark = pytest.mark.slow

torch.set_num_threads(1)  # several would wait for one another where tests share the cores

FAST = "policy+search:deals=4,samples=10"


def lays_of(views: ViewBatch) -> ViewBatch:
    is_choice = (views.array["phase"] == engine.PLAY) & (views.array["num_legal"] > 1)
    return ViewBatch(views.array[is_choice], STANDARD)


@pytest.mark.parametrize("spec", ["policy+search", f"{FAST},temperature=0.5"])
def test_contract(spec: str) -> None:
    check_agent(spec, games=2)


def test_legal_wherever_it_is_asked() -> None:
    views = views_of("random", 200, 1)
    actions = make_agent(FAST).act(views)
    assert (views.action_masks()[np.arange(len(views)), actions] == 1).all()


def test_without_a_share_it_is_the_policy() -> None:
    views = views_of("random", 100, 2)
    alone = make_agent(f"{FAST},share=0,near_share=0")
    assert (alone.act(views) == make_agent("policy:deals=4").act(views)).all()
    assert (alone.act(views) != make_agent(FAST).act(views)).any()


def test_with_all_of_it_expectimax_lays() -> None:
    """But for values that differ by less than the grain: of these it takes the lowest card."""
    views = lays_of(views_of("random", 100, 3))
    actions = make_agent("policy+search:share=1,near_share=1").act(views)
    expectimax = make_agent("expectimax")
    different = np.flatnonzero(actions != expectimax.act(views))
    assert 0 < len(different) < 0.1 * len(views)
    for place in different.tolist():
        ranked = expectimax.explain(views[place])
        chosen = next(found for found in ranked if found.action == actions[place])
        # A point is worth at most one of what expectimax counts in.
        assert chosen.value == pytest.approx(ranked[0].value, abs=1 / GRAIN)
        assert actions[place] < ranked[0].action


@pytest.mark.parametrize(("name", "near"), [("share", False), ("near_share", True)])
def test_each_share_has_its_part_of_the_game(name: str, near: bool) -> None:
    views = lays_of(views_of("random", 100, 4))
    policy = make_agent("policy:deals=4").act(views)
    shares = {"share": 0, "near_share": 0} | {name: 1}
    actions = SearchPolicyAgent(deals=4, samples=10, horizon=30, **shares).act(views)
    is_near = views.array["scores"][:, :2].max(axis=1) >= STANDARD.target - 30
    changed = actions != policy
    assert changed[is_near == near].any()
    assert not changed[is_near != near].any()


@pytest.mark.parametrize("temperature", [0, 0.3])
def test_batch_size_is_irrelevant(temperature: float) -> None:
    views = views_of("random", 30, 5)
    agent = make_agent(f"{FAST},temperature={temperature}")
    check_batches(agent, views, 5)


def test_a_copy_plays_the_same() -> None:
    views = views_of("random", 60, 6)
    agent = make_agent(f"{FAST},share=0.3,near_share=0.8,horizon=60")
    assert (pickle.loads(pickle.dumps(agent)).act(views) == agent.act(views)).all()


def test_explain_agrees_with_act() -> None:
    views = views_of("random", 2, 7)
    agent = SearchPolicyAgent(deals=4, samples=10)
    actions = agent.act(views)
    for view, action in zip(views, actions.tolist(), strict=True):
        ranked = agent.explain(view)
        assert {found.action for found in ranked} <= set(view.legal_actions)
        chosen = next(found for found in ranked if found.action == action)
        assert chosen.value == pytest.approx(ranked[0].value, abs=1 / GRAIN)


@pytest.mark.parametrize(
    "option",
    ["samples=0", "samples=2.5", "samples=1821", "samples=true", "horizon=-1", "horizon=122",
     "horizon=near", "share=-0.1", "share=1.5", "share=nan", "share=half", "near_share=2",
     "near_share=-1", "deals=0", "depth=3"],
)  # fmt: skip
def test_options_out_of_range(option: str) -> None:
    name, _, value = option.partition("=")
    with pytest.raises(AgentError) as caught:
        make_agent(f"policy+search:{option}")
    text = str(caught.value)
    assert name in text
    assert value.capitalize() in text or value in text
    assert text.endswith(".")
    assert "\n" not in text


def test_rules_it_does_not_play() -> None:
    views: Any = GameBatch.start(2, "five_card", seed=1).views()
    with pytest.raises(AgentError, match=r"'policy\+search' plays the six-card game for two"):
        make_agent("policy+search").act(views)
