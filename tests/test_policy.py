"""The policy agent: the contract, its options, and that batches do not matter."""

import json
import pickle
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

from cribai import PRESETS, STANDARD, AgentError, GameBatch, ViewBatch, make_agent
from cribai.engine import state as engine
from cribai.testing import check_agent
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats
from cribai.training.checkpoint import load_weights, network_tensors, save_tensors
from cribai.training.network import LayNetwork
from cribai_agents.policy import SHIPPED, PolicyAgent
from policy_views import check_batches, views_of

pytestmark = pytest.mark.slow

FAST = "policy:deals=4"


@pytest.mark.parametrize("spec", [FAST, f"{FAST},temperature=0.5", f"{FAST},temperature=100"])
def test_contract(spec: str) -> None:
    check_agent(spec, games=4)


def test_default_contract() -> None:
    check_agent("policy", games=4)


@pytest.mark.parametrize(
    "rules",
    [PRESETS["short"], replace(STANDARD, name="brief", target=5, skunk_line=None,
                               double_skunk_line=None)],
    ids=lambda rules: rules.name,
)  # fmt: skip
def test_games_to_fewer(rules: Any) -> None:
    check_agent(FAST, rules=rules, games=6)


@pytest.mark.parametrize("name", ["three_player", "four_player", "five_card"])
def test_rules_it_does_not_play(name: str) -> None:
    with pytest.raises(AgentError, match="plays the six-card game for two"):
        make_agent(FAST).act(GameBatch.start(2, name, seed=1).views())
    with pytest.raises(AgentError, match="to 121 or fewer"):
        make_agent(FAST).check_rules(replace(STANDARD, name="long", target=200))


@pytest.mark.parametrize("temperature", [0, 0.3])
def test_batch_size_is_irrelevant(temperature: float) -> None:
    views = views_of("greedy", 30, 2)
    agent = make_agent(f"{FAST},temperature={temperature}")
    check_batches(agent, views, 2)
    expected = agent.act(views)
    again = pickle.loads(pickle.dumps(agent))
    assert (again.act(views) == expected).all()
    assert agent.act(ViewBatch(views.array[:0], STANDARD)).tolist() == []


def test_temperature() -> None:
    views = views_of("greedy", 60, 4)
    choice = (views.array["phase"] == engine.PLAY) & (views.array["num_legal"] > 1)
    views = ViewBatch(views.array[choice], STANDARD)
    best = make_agent(FAST).act(views)
    cool = make_agent(f"{FAST},temperature=0.01").act(views)
    hot = make_agent(f"{FAST},temperature=1000").act(views)
    assert (cool == best).mean() > 0.95
    assert 0.2 < (hot == best).mean() < 0.7


def test_explain_agrees_with_act() -> None:
    views = views_of("greedy", 3, 5)
    agent = PolicyAgent(deals=4)
    actions = agent.act(views)
    for view, action in zip(views, actions.tolist(), strict=True):
        ranked = agent.explain(view)
        values = [found.value for found in ranked]
        assert values == sorted(values, reverse=True)
        assert {found.action for found in ranked} <= set(view.legal_actions)
        chosen = next(found for found in ranked if found.action == action)
        assert chosen.value == pytest.approx(values[0], abs=2e-3)
        if view.is_discard:
            assert 1 <= len(ranked) <= 5
            assert all(0 <= found.parts["win"] <= 1 for found in ranked)
        else:
            assert sum(found.parts["probability"] for found in ranked) == pytest.approx(1)
            assert 0 <= ranked[0].parts["win"] <= 1
            assert sum(values) == pytest.approx(0, abs=1e-6)


def with_weights(path: Path, change: Any = None, header: Any = None) -> Path:
    tensors = network_tensors(LayNetwork((8, 6)), "lays")
    if change is not None:
        change(tensors)
    save_tensors(path, tensors, header or {})
    return path


def test_other_weights(tmp_path: Path) -> None:
    path = with_weights(tmp_path / "small.safetensors")
    agent = make_agent(f"policy:checkpoint={path},deals=1")
    check_agent(agent, games=2)
    assert [layer.out_features for layer in agent.lays.hidden] == [8, 6]  # type: ignore[attr-defined]


def poison(tensors: dict[str, Any]) -> None:
    tensors["lays.head.bias"][3] = float("nan")


def narrow(tensors: dict[str, Any]) -> None:
    tensors["lays.hidden.1.weight"] = tensors["lays.hidden.1.weight"][:, :4].contiguous()


def extra(tensors: dict[str, Any]) -> None:
    tensors["more"] = tensors["lays.head.bias"].clone()


def doubles(tensors: dict[str, Any]) -> None:
    tensors["lays.head.bias"] = tensors["lays.head.bias"].double()


@pytest.mark.parametrize(
    ("change", "header", "message"),
    [
        (poison, None, "numbers in 'lays.head.bias' that are none"),
        (narrow, None, "lays.hidden.1.weight has the shape"),
        (extra, None, "'more' is no part"),
        (dict.clear, None, "does not fit"),
        (doubles, None, "only float32"),
        (None, {"encoding": 999}, "version 999 of the encoding"),
        (None, {"encoding": "one"}, "of the encoding"),
        (None, {"format": 7}, "of format"),
    ],
)
def test_weights_that_do_not_fit(tmp_path: Path, change: Any, header: Any, message: str) -> None:
    refused(with_weights(tmp_path / "bad.safetensors", change, header), message)


def refused(path: Path, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make_agent(f"policy:checkpoint={path}")
    text = str(caught.value)
    assert path.name in text
    assert text.endswith(".")
    assert "\n" not in text


class Dangerous:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("it was unpickled",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut short"),
        (b"abc", "cut short"),
        (pickle.dumps(Dangerous()), "is no safetensors file"),
        ((2**60).to_bytes(8, "little") + b"{}", "header is said"),
        ((2).to_bytes(8, "little") + b"{}", "does not say so"),
        ((9).to_bytes(8, "little") + b"[[[[[[[[[", "does not say so"),
        ((5_000_000).to_bytes(8, "little") + bytes(6_000_000), "header is said"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "odd.safetensors"
    path.write_bytes(content)
    refused(path, message)


def test_damaged_files(tmp_path: Path) -> None:
    whole = with_weights(tmp_path / "whole.safetensors").read_bytes()
    path = tmp_path / "part.safetensors"
    for end in (len(whole) - 4, len(whole) // 2, 40, 9):
        path.write_bytes(whole[:end])
        refused(path, "part.safetensors")
    length = int.from_bytes(whole[:8], "little")
    outer = json.loads(whole[8 : 8 + length])
    outer["lays.head.bias"]["data_offsets"][1] += 4
    text = json.dumps(outer).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + whole[8 + length :])
    refused(path, "is damaged")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="cannot be made"):
        make_agent(f"policy:checkpoint={tmp_path / 'none'}")


@pytest.mark.parametrize(
    "options",
    ["temperature=-1", "temperature=nan", "temperature=hot", "deals=0", "deals=2.5",
     "tosses=wild", "device=abacus", "device=cuda:77"],
)  # fmt: skip
def test_bad_options(options: str) -> None:
    name, _, value = options.partition("=")
    with pytest.raises(AgentError) as caught:
        make_agent(f"policy:{options}")
    assert name in str(caught.value)
    assert value in str(caught.value)


def test_shipped_weights() -> None:
    with files("cribai_agents").joinpath(SHIPPED).open("rb") as file:
        assert len(file.read()) < 5_000_000
    weights = load_weights(Path(str(files("cribai_agents") / SHIPPED)))
    assert weights.header["rules"] == "standard"
    assert {"config", "encoding", "figures", "sources"} <= set(weights.header)


def rates(results: NDArray[Any]) -> tuple[float, float]:
    low, high = Stats.from_results(results).win_rate_interval
    return low, high


def test_beats_greedy() -> None:
    low, _ = rates(play_pairs(make_agent("policy"), make_agent("greedy"), seed=41, num_pairs=150))
    assert low > 0.6


def test_holds_its_own_against_expectimax() -> None:
    match = play_pairs(make_agent("policy"), make_agent("expectimax"), seed=42, num_pairs=1500)
    low, high = rates(match)
    assert low > 0.47
    assert high > 0.5
