"""Opponents in self-play, the champion and its challengers, and best responses."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from cribai import AgentError, ConfigError, CribaiError
from cribai.agent import Agent
from cribai.engine.state import DISCARD
from cribai.training import gating
from cribai.training.checkpoint import Weights, load_weights
from cribai.training.curves import CHALLENGES, TRAINING
from cribai.training.deals import make_library
from cribai.training.features import COLUMNS
from cribai.training.gating import challenge, policy_agent
from cribai.training.network import NUM_OUTPUTS, LayNetwork
from cribai.training.run import WEIGHTS, Run
from cribai.training.selfplay import METHODS, Samples, SelfPlay
from cribai.views import ViewBatch
from training_runs import config, tensors

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library() -> NDArray[Any]:
    return make_library(1500, seed=5)


def evaluate(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lays what pegs most, then what is replied to least."""
    outputs = np.zeros((len(rows), NUM_OUTPUTS), np.float32)
    outputs[:, :13] = 4 * rows[:, COLUMNS["points"]] - rows[:, COLUMNS["replies"]]
    return outputs


class Watched(Agent):
    """Lays the lowest card it may, and keeps what it was asked."""

    name = "watched"

    def __init__(self) -> None:
        self.views: list[Any] = []
        self.num_closed = 0

    def close(self) -> None:
        self.num_closed += 1

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        self.views.append(views.array.copy())
        return views.action_masks().argmax(axis=1).astype(np.int64)


def play(library: NDArray[Any], share: float, agents: list[Agent], method: str) -> Samples:
    selfplay = SelfPlay(library, 1, 300, 0.7, method, opponent_share=share)
    selfplay.opponents = agents
    return selfplay.play(3, evaluate, 0.1)


@pytest.mark.parametrize("method", METHODS)
def test_opponents_sit_in_their_share(library: NDArray[Any], method: str) -> None:
    alone = play(library, 0.0, [], method)
    agents = [Watched(), Watched()]
    whole = play(library, 1.0, list(agents), method)
    # Half of the decisions are left, less or more as the lays differ.
    assert 0.35 < len(whole.rows) / len(alone.rows) < 0.65
    for agent in agents:
        asked = np.concatenate(agent.views)
        tosses = asked["phase"] == DISCARD
        games = asked["game"][tosses]
        assert 110 < len(games) < 190
        assert len(set(games)) == len(games)
        # He sits where he tossed; copies are played by him too.
        seats = dict(zip(games.tolist(), asked["player"][tosses].tolist(), strict=True))
        lays = asked[~tosses & (asked["game"] < 300)]
        assert len(lays) > 50
        assert all(seats[view["game"]] == view["player"] for view in lays)
        assert 0.3 < np.mean(list(seats.values())) < 0.7
        copies = (asked["game"] >= 300).sum()
        assert (copies > 100) if method == "branching" else (copies == 0)
    again = play(library, 1.0, [Watched(), Watched()], method)
    assert again.rows.tobytes() == whole.rows.tobytes()
    assert (again.targets * again.masks == whole.targets * whole.masks).all()


def test_share_of_the_pool(library: NDArray[Any]) -> None:
    agent = Watched()
    play(library, 0.25, [agent], "monte_carlo")
    asked = np.concatenate(agent.views)
    assert 50 < (asked["phase"] == DISCARD).sum() < 100


def test_illegal_opponent_is_named(library: NDArray[Any]) -> None:
    class Bad(Watched):
        name = "bad"

        def act(self, views: ViewBatch) -> NDArray[np.int64]:
            return np.full(len(views), 19)

    with pytest.raises(AgentError, match="'bad' chose the illegal action 19 in training"):
        play(library, 0.5, [Bad()], "monte_carlo")


def test_pool_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Watched()
    agent.may_forfeit = True
    monkeypatch.setattr("cribai.training.run.make_agent", lambda _: agent)
    with pytest.raises(ConfigError, match="'watched' in pool may forfeit; train against another"):
        Run(config(pool=["watched"], pool_share=0.5), tmp_path)
    assert agent.num_closed == 2  # as the opponent of evaluations, and as one of the pool


def test_opponents_are_made_before_the_first_wave(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="nosuch"):
        Run(config(opponents=["nosuch"]), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changes",
    [
        {"pool": ["greedy", "champion"], "pool_share": 0.5, "gate_every": 2, "gate_pairs": 3},
        {"loss": "policy", "temperature": 0.5, "entropy_weight": 0.05},
        {"temperature": 0.7, "method": "monte_carlo"},
        {"method": "expectation", "replay": 900, "played": 4},
    ],
    ids=["pool", "policy", "temperature", "replay"],
)
def test_resumed_run_does_the_same(tmp_path: Path, changes: dict[str, Any]) -> None:
    Run(config(), tmp_path / "first").train(until=2)
    start = str(tmp_path / "first" / WEIGHTS)
    wanted = config(start=start, teacher_weight=0.1, **changes)
    Run(wanted, tmp_path / "whole").train()
    for stop in (3, 4, 5):  # 3 and 5 lose the waves since the last checkpoint
        Run(wanted, tmp_path / "parts", resume=True).train(until=stop)
    Run(wanted, tmp_path / "parts", resume=True).train()
    assert tensors(tmp_path / "parts") == tensors(tmp_path / "whole")
    for name in (TRAINING, CHALLENGES):
        kept = curve(tmp_path / "parts" / name)
        assert kept == curve(tmp_path / "whole" / name)
        assert bool(kept) == (name == TRAINING or "gate_every" in changes)


def curve(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return [{key: row[key] for key in row if key != "seconds"} for row in rows]


def flat_weights(points: float) -> Weights:
    """A network that lays what pegs most, or least."""
    network = LayNetwork((13,))
    with torch.no_grad():
        network.hidden[0].weight.zero_()
        network.hidden[0].bias.zero_()
        for rank in range(13):
            network.hidden[0].weight[rank, COLUMNS["points"].start + rank] = 1
            network.head.weight[rank, rank] = points
    return Weights(network, None, {})


def test_challenge_is_won_by_the_better() -> None:
    good, bad = flat_weights(4.0), flat_weights(-4.0)
    won = challenge(good, bad, seed=1, wave=5, pairs=3000)
    assert won.won
    assert won.win_rate > 0.55
    assert won.pairs < 3000
    assert challenge(good, bad, seed=1, wave=5, pairs=3000) == won
    lost = challenge(bad, good, seed=1, wave=5, pairs=3000)
    assert not lost.won
    assert lost.ratio < 0
    same = challenge(good, good, seed=1, wave=5, pairs=700)
    assert not same.won
    assert same.win_rate == 0.5


def test_deals_of_challenges_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []

    def watched(*agents: Agent, seed: int, **rest: Any) -> Any:
        seeds.append((seed, rest["first_pair"]))
        return gating_play(*agents, seed=seed, **rest)

    gating_play = gating.play_pairs
    monkeypatch.setattr(gating, "play_pairs", watched)
    good = flat_weights(4.0)
    for wave in (5, 6):
        challenge(good, flat_weights(3.0), seed=1, wave=wave, pairs=501)
    # Two that play alike are told to be so after one round.
    assert len(seeds) == len({seed for seed, _ in seeds}) == 2


def test_rounds_of_a_challenge_are_other_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(gating.TEST), "decision", lambda *_: None)
    firsts = []

    def watched(*agents: Agent, first_pair: int, num_pairs: int, **rest: Any) -> Any:
        firsts.append((first_pair, num_pairs))
        return gating_play(*agents, first_pair=first_pair, num_pairs=num_pairs, **rest)

    gating_play = gating.play_pairs
    monkeypatch.setattr(gating, "play_pairs", watched)
    result = challenge(flat_weights(4.0), flat_weights(3.0), seed=1, wave=5, pairs=1100)
    assert firsts == [(0, 500), (500, 500), (1000, 100)]
    assert (result.pairs, result.won) == (1100, False)


def test_champion_stays_until_beaten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's weights are those of the last wave whose challenge was won."""
    wins = {2: False, 4: True, 6: False}
    asked = []

    def decided(_: Weights, champion: Weights, seed: int, wave: int, pairs: int) -> Any:
        asked.append((wave, champion.header.get("wave"), seed, pairs))
        return gating.Challenge(pairs, 0.5, 0.0, wins[wave])

    monkeypatch.setattr("cribai.training.run.challenge", decided)
    run = Run(config(gate_every=2, gate_pairs=7), tmp_path)
    run.train()
    assert asked == [(2, 0, 3, 7), (4, 0, 3, 7), (6, 4, 3, 7)]
    header = load_weights(tmp_path / WEIGHTS).header
    assert header["wave"] == 4
    assert header["figures"]["wave"] == 6
    with (tmp_path / CHALLENGES).open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["wave"], row["won"]) for row in rows] == [("2", "0"), ("4", "1"), ("6", "0")]
    # The agent that plays by them is the champion.
    state = run.best().lays.state_dict()
    shipped = policy_agent(load_weights(tmp_path / WEIGHTS))
    assert all(torch.equal(state[key], value) for key, value in shipped.lays.state_dict().items())


@pytest.mark.parametrize("executor", ["here", "ray"])
def test_parts_of_a_wave(tmp_path: Path, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who plays the parts changes nothing; how many there are does."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    if executor == "ray":
        pytest.importorskip("ray")
    settings = {"waves": 3, "parts": 3, "pool": ["greedy"], "pool_share": 0.3}
    Run(config(**settings), tmp_path / "here").train()
    wanted = config(**settings, executor=executor, workers=2)
    assert wanted.run_name() == config(**settings).run_name()
    Run(wanted, tmp_path / executor / "workers").train()
    assert tensors(tmp_path / executor / "workers") == tensors(tmp_path / "here")
    Run(config(**settings | {"parts": 1}), tmp_path / "whole").train()
    assert tensors(tmp_path / "whole") != tensors(tmp_path / "here")


def test_errors_of_workers_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    settings = {"executor": "ray", "workers": 1, "waves": 1, "pool_share": 1.0}
    run = Run(config(**settings, pool=["hostile_agents:Cheating:pair=0"]), tmp_path)
    with pytest.raises(CribaiError, match="chose the illegal action") as caught:
        run.train()
    assert "\n" not in str(caught.value)
