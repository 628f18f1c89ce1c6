"""Foreign bots that play: whom they play as, and what they are told."""

import shlex
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cribai import PRESETS, AgentError, Rules, get_rules, make_agent
from cribai.agent import ask
from cribai.testing import check_agent
from cribai.tournament.external import ExternalAgent
from cribai.tournament.match import play_pairs
from external_bots import (  # noqa: F401
    BOTS,
    RANDOM_BOT,
    Make,
    command_of_bot,
    foreign,
    make_bots,
    nothing_is_left,
    sent,
    some_views,
)
from test_views import ALL_RULES, positions

pytestmark = foreign
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node here")


@needs_node
def test_the_bot_in_javascript_plays_as_greedy() -> None:
    greedy = make_agent("greedy")
    with closing(ExternalAgent(f"node {shlex.quote(str(BOTS / 'greedy_bot.js'))}")) as agent:
        assert agent.name == "greedy in JavaScript"
        for rules in ALL_RULES:
            num_views = 0
            for batch in positions(rules, 12, every=1):
                views = batch.views()
                assert ask(agent, views).tolist() == greedy.act(views).tolist()
                num_views += len(views)
            assert num_views > 400
        assert not agent.failures


@needs_node
@pytest.mark.slow
def test_a_match_with_the_bot_in_javascript_is_a_match_with_greedy() -> None:
    uniform = make_agent("random")
    with closing(ExternalAgent(f"node {shlex.quote(str(BOTS / 'greedy_bot.js'))}")) as agent:
        results = play_pairs(agent, uniform, seed=1, num_pairs=5)
    assert (results == play_pairs(make_agent("greedy"), uniform, seed=1, num_pairs=5)).all()


@pytest.mark.parametrize("rules", ["standard", "three_player"])
def test_the_bot_in_python_keeps_the_contract(rules: str) -> None:
    with closing(ExternalAgent(RANDOM_BOT, batch=512)) as agent:
        check_agent(agent, rules=rules, games=2)
        assert not agent.failures


def test_the_bot_in_python_chooses_by_chance() -> None:
    with closing(ExternalAgent(RANDOM_BOT)) as agent:
        assert len(set(agent.act(some_views(60)).tolist())) > 8


def test_a_view_at_a_time(make: Make, tmp_path: Path) -> None:
    agent = make("one by one", tmp_path / "record")
    assert agent.act(some_views(3)).tolist() == [0, 0, 0]
    asked = [message for message in sent(tmp_path / "record") if message["type"] == "act"]
    assert [(message["id"], len(message["views"])) for message in asked] == [(1, 1), (2, 1), (3, 1)]


def test_messages_hold_no_more_views_than_the_batch(make: Make, tmp_path: Path) -> None:
    agent = make("", tmp_path / "record", batch=4)
    assert len(agent.act(some_views(10))) == 10
    asked = [message for message in sent(tmp_path / "record") if message["type"] == "act"]
    assert [len(message["views"]) for message in asked] == [4, 4, 2]
    assert len(agent.act(some_views(0))) == 0


def test_a_bot_may_be_loud(make: Make) -> None:
    agent = make("loud")
    assert agent.act(some_views(8)).tolist() == [0] * 8


def test_the_end_of_games_is_told(make: Make, tmp_path: Path) -> None:
    agent = make("", tmp_path / "record")
    agent.games_ended(np.array([3, 5]), np.array([[121, 90], [4, 121]]))
    agent.act(some_views(1))
    assert sent(tmp_path / "record")[1] == {
        "type": "games_ended",
        "games": [3, 5],
        "scores": [[121, 90], [4, 121]],
    }


def test_other_rules_are_told(make: Make, tmp_path: Path) -> None:
    agent = make("", tmp_path / "record")
    for rules in ("standard", "three_player", "three_player", "standard"):
        agent.check_rules(get_rules(rules))
        agent.act(some_views(1, rules))
    messages = sent(tmp_path / "record")
    kinds = ["hello", "act", "rules", "act", "act", "rules", "act"]
    assert [message["type"] for message in messages] == kinds
    assert messages[0]["protocol"] == 1
    assert Rules.from_dict(messages[0]["rules"]) == PRESETS["standard"]
    assert Rules.from_dict(messages[2]["rules"]) == PRESETS["three_player"]
    assert [message["num_actions"] for message in messages if "rules" in message] == [19, 9, 19]


def test_rules_may_be_refused(make: Make) -> None:
    agent = make("one by one")
    agent.check_rules(get_rules("standard"))
    for call in (
        lambda: agent.check_rules(get_rules("short")),
        lambda: agent.act(some_views(1, "short")),
    ):
        with pytest.raises(AgentError, match="rules 'short': I know the standard game only; choo"):
            call()
