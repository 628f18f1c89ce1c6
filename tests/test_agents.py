"""Agents: the contract that every one keeps, what greedy is, how specs and plug-ins are found."""

import copy
import pickle
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from cribai import (
    PRESETS,
    Agent,
    AgentError,
    GameBatch,
    RankedAction,
    Rules,
    SimpleAgent,
    View,
    ViewBatch,
    agent_entry_points,
    get_rules,
    make_agent,
)
from cribai.agent import ask
from cribai.testing import check_agent
from cribai.tournament.match import play_pairs
from cribai_agents.greedy import GreedyAgent
from cribai_agents.uniform import UniformAgent
from plain_presets import PLAIN

REFUSED = {
    (name, rules)
    for name in ("expectimax", "policy", "policy+search")
    for rules in ("three_player", "four_player", "five_card")
}
THIRD_PARTY = Path(__file__).parent / "third_party_agent"
JOKERS = replace(PRESETS["standard"], name="jokers", num_jokers=4)
BIG = Rules(name="big", cards_dealt=8, cards_tossed=3)


class FirstAgent(Agent):
    """Takes the first legal action; its options say what it does wrong."""

    def __init__(self, fault: str = "", depth: int = 1, share: float = 0.5) -> None:
        self.fault = fault
        self.depth = depth
        self.share = share
        self.num_asked = 0

    def act(self, views: ViewBatch) -> Any:
        actions = views.action_masks().argmax(axis=1).astype(np.int64)
        self.num_asked += 1
        match self.fault:
            case "float":
                return actions.astype(float)
            case "shape":
                return actions[:, None]
            case "short":
                return actions[:-1]
            case "none":
                return None
            case "negative":
                actions[-1] = -1
            case "large":
                actions[-1] = views.rules.num_actions
            case "illegal":
                actions[-1] = np.argmin(views.action_masks()[-1])
            case "forced":
                actions[views.array["num_legal"] == 1] += 1
            case "counts":
                last = views.rules.num_tosses - 1
                actions[views.array["phase"] == 0] = min(self.num_asked % 3, last)
            case "batch":
                if len(views) > 1 and views[0].is_discard:
                    actions[0] = 1
            case "writes":
                views.array["count"][0] += 1
        return actions

    def explain(self, view: View) -> list[RankedAction]:
        legal = view.legal_actions
        match self.fault:
            case "explains illegal":
                return [RankedAction(view.rules.num_actions, 0.0)]
            case "explains twice":
                return [RankedAction(legal[0], 0.0)] * 2
            case "explains worst first":
                return [RankedAction(action, float(action)) for action in legal]
        return [RankedAction(action, -float(action), {"place": action}) for action in legal]

    def __getstate__(self) -> dict[str, Any]:
        if self.fault == "pickle":
            raise TypeError("cannot pickle a thing")
        return self.__dict__.copy()


class Cheat(SimpleAgent):
    def choose_discard(self, view: View) -> Sequence[int]:
        return view.hand[:1]

    def choose_play(self, view: View) -> int:
        return view.hand[0]


class Unwilling(Cheat):
    """Cannot be made."""

    def __init__(self) -> None:
        raise ValueError("no table for these rules")


def not_an_agent() -> int:
    return 3


A_NUMBER = 3


# ------------------------------------------------------------------------------ the contract


@pytest.mark.parametrize("rules", PLAIN)
@pytest.mark.parametrize("name", agent_entry_points())
def test_installed_agents_keep_the_contract(name: str, rules: str) -> None:
    agent = make_agent(name)
    assert agent.name == name
    if (name, rules) in REFUSED:
        for ask_it in (
            lambda: agent.check_rules(get_rules(rules)),
            lambda: agent.act(GameBatch.start(1, rules, seed=1).views()),
            lambda: play_pairs(make_agent("random"), agent, rules, seed=1, num_pairs=1),
        ):
            with pytest.raises(
                AgentError, match=f"^The agent '{re.escape(name)}' plays .* not '{rules}';"
            ):
                ask_it()
        return
    check_agent(agent, rules=rules, games=10)


@pytest.mark.parametrize("name", agent_entry_points())
def test_installed_agents_can_be_copied(name: str) -> None:
    batch = GameBatch.start(50, seed=1)
    expected = make_agent(name).act(batch.views())
    agent = make_agent(name)
    for twin in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent), copy.copy(agent)):
        assert twin.name == name
        assert (twin.act(batch.views()) == expected).all()


def test_check_agent_accepts_a_good_agent() -> None:
    check_agent(FirstAgent())
    check_agent(f"{__name__}:FirstAgent:depth=2", rules="four_player", games=3)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("float", "answered 20 views with float64 of shape"),
        ("shape", r"of shape \(20, 1\)"),
        ("short", r"of shape \(19,\)"),
        ("none", "answered 20 views with object"),
        ("negative", "answered -1 where only"),
        ("large", "answered 19 where only"),
        ("illegal", "where only"),
        ("forced", "where only"),
        ("counts", "a copy by pickling answers|batched otherwise it answers"),
        ("batch", "batched otherwise it answers"),
        ("writes", "changed the views"),
        ("pickle", "cannot be copied by pickling: cannot pickle a thing"),
        ("explains illegal", r"explains the actions \[19\]"),
        ("explains twice", "each once"),
        ("explains worst first", "not best first"),
    ],
)
def test_check_agent_finds_a_fault(fault: str, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        check_agent(FirstAgent(fault))
    text = str(caught.value)
    assert "'FirstAgent'" in text
    assert text.endswith(".")
    assert "\n" not in text


def test_check_agent_finds_a_cheat() -> None:
    with pytest.raises(AgentError, match="chose what is illegal: Cannot toss"):
        check_agent(Cheat())
    with pytest.raises(AgentError, match="no agent"):
        check_agent(3)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="Unknown agent"):
        check_agent("nobody")


def test_answers_are_checked() -> None:
    views = GameBatch.start(3, seed=1).views()
    for fault in ("float", "shape", "short", "none"):
        with pytest.raises(AgentError, match="answered 3 views"):
            ask(FirstAgent(fault), views)
    actions = ask(FirstAgent(), views)
    assert actions.dtype == np.int64
    assert actions.tolist() == [0, 0, 0]


def test_random_is_even_over_what_is_legal() -> None:
    batch = GameBatch.start(30_000, seed=3)
    agent = UniformAgent()
    tosses = np.bincount(agent.act(batch.views()), minlength=15)
    assert abs(tosses / 2000 - 1).max() < 0.1
    batch.step(agent.act(batch.views()))
    batch.step(agent.act(batch.views()))
    leads = np.bincount(agent.act(batch.views()), minlength=19)[15:]
    assert abs(leads[:4] / 7500 - 1).max() < 0.05


# ------------------------------------------------------------------------------------ greedy


def greedy_tosses(view: View) -> list[int]:
    """The tosses that leave the most: the kept cards, and the tossed ones for or against.

    The tossed ones make no flush by themselves: in the crib that takes the starter.
    """
    worth = []
    for toss in view.tosses:
        kept = [card for card in view.hand if card not in toss]
        sign = 1 if view.is_dealer else -1
        tossed = reference.show_parts(toss, [], True) | {"flush": 0}
        worth.append(reference.show_points(kept, [], False) + sign * sum(tossed.values()))
    return [action for action, value in enumerate(worth) if value == max(worth)]


def greedy_card(view: View) -> int:
    """The highest of the cards that peg the most now."""
    return max(
        view.legal_cards, key=lambda card: (reference.play_points([*view.series, card]), card)
    )


@pytest.mark.parametrize("rules", [*PLAIN.values(), JOKERS, BIG], ids=lambda rules: rules.name)
def test_greedy_does_what_it_says(rules: Rules) -> None:
    batch = GameBatch.start(12, rules, seed=5)
    agent = GreedyAgent()
    num_pegged = 0
    while not batch.over.all():
        views = batch.views()
        actions = agent.act(views)
        for view, action in zip(views, actions, strict=True):
            if view.is_discard:
                assert action == greedy_tosses(view)[0]
                continue
            card = greedy_card(view)
            num_pegged += reference.play_points([*view.series, card]) > 0
            assert view.cards_of(action) == (card,)
        batch.step(actions)
    assert num_pegged > 20


def test_greedy_knows_whose_crib_it_is() -> None:
    """A pair to toss is kept from the other's crib and may go to its own."""
    batch = GameBatch.start(4000, seed=6)
    views = batch.views()
    pones = GreedyAgent().act(views)
    views.array["dealer"] = 0
    dealers = GreedyAgent().act(views)
    assert (pones != dealers).mean() > 0.1


# ------------------------------------------------------------------------------------- specs


def test_spec_by_name() -> None:
    assert {"greedy", "random"} <= set(agent_entry_points())
    assert list(agent_entry_points()) == sorted(agent_entry_points())
    agent = make_agent(" greedy ")
    assert isinstance(agent, GreedyAgent)
    assert agent.name == "greedy"
    assert make_agent("greedy") is not agent


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ("", 1, 0.5)),
        ("depth=2", ("", 2, 0.5)),
        ("depth=2,share=0.25", ("", 2, 0.25)),
        ("fault=path/to.npz, depth = -3", ("path/to.npz", -3, 0.5)),
        ("fault=C:x=y", ("C:x=y", 1, 0.5)),
        ("fault=True", (True, 1, 0.5)),
        ("share=1e-3,fault=false", (False, 1, 0.001)),
        ("fault=", ("", 1, 0.5)),
    ],
)
def test_spec_by_class_and_options(options: str, expected: tuple[Any, ...]) -> None:
    spec = f"{__name__}:FirstAgent" + (f":{options}" if options else "")
    agent = make_agent(spec)
    assert isinstance(agent, FirstAgent)
    assert agent.name == spec
    values = (agent.fault, agent.depth, agent.share)
    assert values == expected
    assert list(map(type, values)) == list(map(type, expected))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "Unknown agent ''; installed are"),
        ("nobody", "Unknown agent 'nobody'; installed are .*greedy.*random.*module:Class"),
        ("nobody:depth=2", "Unknown agent 'nobody'"),
        ("no_module:Class", "cannot be loaded: No module named 'no_module'"),
        (f"{__name__}:Nobody", "cannot be loaded: .*has no attribute 'Nobody'"),
        (f"{__name__}:A_NUMBER", "names something that makes no agent"),
        (f"{__name__}:not_an_agent", "makes a int, which is no cribai Agent"),
        (f"{__name__}:Unwilling", "cannot be made: no table for these rules"),
        (f"{__name__}:FirstAgent:width=2", "cannot be made: .*'width'.*mend its options"),
        ("greedy:depth=2", "'greedy:depth=2' cannot be made"),
        ("greedy:depth", "'depth' of agent 'greedy:depth' is not name=value"),
        (f"{__name__}:FirstAgent:depth=1,depth=2", "each name once"),
        (f"{__name__}:FirstAgent:2depth=1", "is not name=value"),
        (f"{__name__}:Agent", "cannot be made"),  # abstract
    ],
)
def test_wrong_specs_are_refused(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        make_agent(spec)
    assert "\n" not in str(caught.value)


def test_explain_is_optional() -> None:
    view = GameBatch.start(1, seed=1).views()[0]
    assert GreedyAgent().explain(view) == []
    assert FirstAgent().explain(view)[0] == RankedAction(0, -0.0, {"place": 0})
    assert RankedAction(0, 1.0).parts == {}


# --------------------------------------------------------------------------------- plug-ins


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Installs the third party's package apart; runs Python that can import it."""
    folder = tmp_path_factory.mktemp("plugin")
    source = folder / "source"
    source.mkdir()
    for path in THIRD_PARTY.iterdir():
        if path.is_file():
            (source / path.name).write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder / "site")]
    subprocess.run([*pip, *options, str(source)], check=True, capture_output=True)

    def run(code: str) -> str:
        program = f"import sys; sys.path.insert(0, {str(folder / 'site')!r})\n{code}"
        command = [sys.executable, "-W", "error", "-c", program]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


@pytest.mark.slow
def test_third_party_agent_is_found_and_plays(plugin: Callable[[str], str]) -> None:
    code = """
        from cribai import agent_entry_points, make_agent
        from cribai.testing import check_agent
        specs = ["hoarder", "hoarder:highest_first=true",
                 "cribai_hoarder:HoarderAgent:highest_first=true"]
        print(*agent_entry_points())
        for spec in specs:
            agent = make_agent(spec)
            check_agent(spec, rules="three_player", games=3)
            print(type(agent).__name__, agent.name, agent.highest_first)
    """
    installed, *lines = plugin(textwrap.dedent(code)).splitlines()
    assert {"greedy", "hoarder", "random"} <= set(installed.split())
    assert lines == [
        "HoarderAgent hoarder False",
        "HoarderAgent hoarder:highest_first=true True",
        "HoarderAgent cribai_hoarder:HoarderAgent:highest_first=true True",
    ]


def test_third_party_agent_is_not_installed_here() -> None:
    assert "hoarder" not in agent_entry_points()
    with pytest.raises(AgentError, match="Unknown agent 'hoarder'"):
        make_agent("hoarder")
