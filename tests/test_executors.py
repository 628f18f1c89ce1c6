"""Executors: wherever chunks are played the games are the same, and no failure is the others'."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hostile_agents
from cribai import AgentError, ConfigError
from cribai.tournament import executors
from cribai.tournament.chunks import Chunk, Failure, Outcome, Players, play_chunk, split
from cribai.tournament.executors import (
    Executor,
    ProcessExecutor,
    Retrying,
    SerialExecutor,
    make_executor,
)
from tournaments import make_config, make_terms, outcomes, play

pytestmark = pytest.mark.slow

SEED = 7


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """After each test all workers are gone."""
    from multiprocessing import active_children

    yield
    assert active_children() == []


def chunks_of(a: str, num_pairs: int = 40, size: int = 10, match: int = 0) -> list[Chunk]:
    return split(match, a, "random", 0, num_pairs, size)


def same(one: Outcome | Failure, other: Outcome | Failure) -> bool:
    assert isinstance(one, Outcome)
    assert isinstance(other, Outcome)
    return one.games.tobytes() == other.games.tobytes() and one.stats == other.stats


def failed(done: dict[Chunk, Outcome | Failure]) -> dict[int, str]:
    """What failed, by the number of the chunk's first pair."""
    return {
        chunk.first_pair: outcome.what
        for chunk, outcome in done.items()
        if isinstance(outcome, Failure)
    }


# ------------------------------------------------------------------------------- the same games


@pytest.mark.parametrize("size", [7, 64, 1024])
@pytest.mark.parametrize("batch_size", [1, 7, 4096])
def test_chunks_and_batches_do_not_matter(tmp_path: Path, size: int, batch_size: int) -> None:
    config = make_config(pairs=70, chunk=size, batch_size=batch_size)
    tournament, summary = play(config, tmp_path / "this")
    whole, expected = play(make_config(pairs=70), tmp_path / "whole")
    assert tournament.hash == whole.hash
    assert summary["matches"] == expected["matches"]


def test_the_order_of_chunks_does_not_matter() -> None:
    chunks = [chunk for match in range(3) for chunk in chunks_of("greedy", match=match)]
    expected = outcomes(SerialExecutor(make_terms()), chunks)
    shuffled = random.Random(1).sample(chunks, len(chunks))
    assert shuffled != chunks
    done = outcomes(SerialExecutor(make_terms()), shuffled)
    assert all(same(done[chunk], expected[chunk]) for chunk in chunks)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_processes_play_the_same_games(tmp_path: Path, workers: int) -> None:
    agents = ["random", "greedy", "random"]
    settings: dict[str, Any] = {"agents": agents, "pairs": 200, "seed": SEED, "luck": True}
    settings |= {"rules": "standard"}
    alone, expected = play(make_config(**settings), tmp_path / "alone")
    for number, more in enumerate(({"chunk": 64}, {"chunk": 7, "batch_size": 7})):
        config = make_config(**settings, workers=workers, **more)
        tournament, summary = play(config, tmp_path / str(number))
        assert tournament.hash == alone.hash
        for name in ("matches", "ratings", "convergence", "overall"):
            assert summary[name] == expected[name]


@pytest.mark.slow
def test_ray_plays_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    chunks = chunks_of("greedy", 70, 7)
    expected = outcomes(SerialExecutor(make_terms()), chunks)
    bad = [
        *chunks_of("hostile_agents:Killed:pair=25", 30, 10),
        *chunks_of("hostile_agents:Raising:pair=5", 20, 10),
    ]
    executor = make_executor("ray", make_terms(), workers=2)
    with closing(executor):
        done = dict(executor.run(chunks))
        assert all(same(done[chunk], expected[chunk]) for chunk in chunks)
        assert done.keys() == expected.keys()
        done = dict(executor.run(bad))
        whats = failed(done)
        assert sorted(whats) == [0, 20]
        assert "pairs 0 to 9, failed 2 times: ZeroDivisionError: it does not divide" in whats[0]
        assert "hostile_agents:Killed:pair=25 v random, seed 7, pairs 20 to 29" in whats[20]
        assert len(done) == 5
        with pytest.raises(AgentError) as caught:
            list(executor.run(chunks_of("hostile_agents:Cheating:pair=3")))
        assert str(caught.value).startswith("The agent 'hostile_agents:Cheating:pair=3' chose an")
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_cluster_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def init(**settings: object) -> None:
        assert settings["address"] == "nowhere:1"
        raise ConnectionError("nobody there")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(ConfigError, match="Cannot reach the Ray cluster 'nowhere:1'"):
        make_executor("ray", make_terms(), workers=1, address="nowhere:1")


# ------------------------------------------------------------------------------------- failures


def test_one_worker_is_this_process() -> None:
    assert isinstance(make_executor("processes", make_terms(), workers=1), SerialExecutor)


@pytest.mark.parametrize("name", ["Raising", "Quitting"])
def test_a_failure_in_this_process(name: str) -> None:
    chunks = chunks_of(f"hostile_agents:{name}:pair=13")
    done = outcomes(SerialExecutor(make_terms()), chunks)
    assert list(done) == chunks
    whats = failed(done)
    assert list(whats) == [10]
    start = f"hostile_agents:{name}:pair=13 v random, seed 7, pairs 10 to 19, failed 2 times: "
    assert whats[10].startswith(start)
    assert "\n" not in whats[10]
    failure = done[chunks[1]]
    assert isinstance(failure, Failure)
    assert failure.seed == SEED
    expected = outcomes(SerialExecutor(make_terms()), chunks_of("random"))
    for mine, theirs in zip(chunks, expected, strict=True):
        if mine.first_pair != 10:
            assert same(done[mine], expected[theirs])


def test_a_chunk_whose_worker_is_killed_is_played_again(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    chunks = chunks_of(f"hostile_agents:KilledOnce:pair=13,mark={mark}", 30, 10)
    games: list[int] = []
    with closing(ProcessExecutor(make_terms(), 2)) as executor:
        done = dict(executor.run(chunks, games.append))
    assert mark.exists()
    assert sum(games) == 60
    expected = outcomes(SerialExecutor(make_terms()), chunks_of("random", 30, 10))
    for mine, theirs in zip(chunks, expected, strict=True):
        assert same(done[mine], expected[theirs])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Killed", "Vanishing", "Quitting", "Raising"])
def test_a_chunk_that_always_fails_is_reported_and_the_others_go_on(name: str) -> None:
    chunks = chunks_of(f"hostile_agents:{name}:pair=13")
    games: list[int] = []
    with closing(ProcessExecutor(make_terms(), 2)) as executor:
        done = dict(executor.run(chunks, games.append))
    assert list(failed(done)) == [10]
    assert f"{name}:pair=13 v random, seed 7, pairs 10 to 19, failed 2 times" in failed(done)[10]
    assert sum(games) == 60
    expected = outcomes(SerialExecutor(make_terms()), chunks_of("random"))
    for mine, theirs in zip(chunks, expected, strict=True):
        if mine.first_pair != 10:
            assert same(done[mine], expected[theirs])


@pytest.mark.slow
def test_a_worker_killed_from_outside_is_replaced() -> None:
    from multiprocessing import active_children

    chunks = chunks_of("hostile_agents:Slow:seconds=0.02", 60, 5)
    expected = outcomes(SerialExecutor(make_terms()), chunks_of("random", 60, 5))
    executor = ProcessExecutor(make_terms(), 2)
    with closing(executor):
        done: dict[Chunk, Any] = {}
        for chunk, outcome in executor.run(chunks):
            done[chunk] = outcome
            if len(done) in (2, 6):
                time.sleep(0.3)  # By now it is in the middle of a chunk.
                victim = active_children()[0]
                assert victim.pid is not None
                os.kill(victim.pid, signal.SIGKILL)
    assert failed(done) == {}
    for mine, theirs in zip(chunks, expected, strict=True):
        assert same(done[mine], expected[theirs])


@pytest.mark.parametrize(("breaks", "is_played"), [(5, True), (50, False)])
def test_a_pool_that_breaks_is_not_the_fault_of_chunks(breaks: int, is_played: bool) -> None:
    class Breaking(Retrying):
        breakdowns = (BrokenProcessPool,)
        left = breaks

        def num_under_way(self) -> int:
            return 2

        def submit(self, chunk: Chunk) -> "Future[Outcome]":
            future: Future[Outcome] = Future()
            self.left -= 1
            if self.left >= 0:
                future.set_exception(BrokenProcessPool("no workers"))
            else:
                future.set_result(play_chunk(chunk, self.terms, Players()))
            return future

        def close(self) -> None:
            pass

    chunks = chunks_of("random", 20, 10)
    done = outcomes(Breaking(make_terms()), chunks)
    assert done.keys() == set(chunks)
    assert (failed(done) == {}) == is_played


@pytest.mark.slow
def test_the_pool_outlives_workers_killed_when_idle() -> None:
    from multiprocessing import active_children

    chunks = chunks_of("random", 20, 10)
    executor = ProcessExecutor(make_terms(), 1)
    with closing(executor):
        assert len(dict(executor.run(chunks))) == 2
        for victim in active_children():
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)
        time.sleep(1)
        done = dict(executor.run(chunks))
    assert failed(done) == {}
    assert done.keys() == set(chunks)


@pytest.mark.parametrize(
    "make",
    [
        SerialExecutor,
        pytest.param(lambda terms: ProcessExecutor(terms, 2), marks=pytest.mark.slow),
    ],
)
def test_illegal_actions_end_the_run(make: Callable[[Any], Executor]) -> None:
    chunks = chunks_of("hostile_agents:Cheating:pair=13")
    with closing(make(make_terms())) as executor, pytest.raises(AgentError) as caught:
        list(executor.run(chunks))
    message = str(caught.value)
    assert "'hostile_agents:Cheating:pair=13' chose an illegal action at seed 7, pair 13" in message
    assert "\n" not in message


# --------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("number", [2, 3])
def test_agents_with_a_memory_meet_each_game_once(tmp_path: Path, number: int) -> None:
    agents = ["hostile_agents:Remembering", "hostile_agents:Remembering", "random"][:number]
    for name in ("once", "again"):
        tournament, summary = play(make_config(agents=agents, chunk=6), tmp_path / name)
        assert summary["failed"] == []
        assert len(tournament.played) == number * (number - 1) // 2
    assert hostile_agents.Remembering.complaints == []


def test_what_was_half_played_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile_agents.RaisingOnce, "raised", False)
    done = outcomes(SerialExecutor(make_terms()), chunks_of("hostile_agents:RaisingOnce:pair=13"))
    assert hostile_agents.RaisingOnce.raised
    assert failed(done) == {}
    assert hostile_agents.Remembering.complaints == []


def test_agents_are_made_once_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def make_agent(spec: str) -> Any:
        made.append(spec)
        return hostile_agents.make_agent(spec)

    monkeypatch.setattr("cribai.tournament.chunks.make_agent", make_agent)
    chunks = chunks_of("greedy") + chunks_of("greedy", match=1)
    outcomes(SerialExecutor(make_terms()), chunks)
    assert made == ["greedy", "random"] * 2


def test_a_chunk_counts_what_was_played() -> None:
    (chunk,) = chunks_of("greedy", 10)
    games: list[int] = []
    outcome = play_chunk(chunk, make_terms(), Players(), games.append)
    assert sum(games) == len(outcome.games) == 20
    assert outcome.records is None
    wins = outcome.games["a_won"].reshape(-1, 2).sum(axis=1)
    none, one, both = np.bincount(wins, minlength=3).tolist()
    assert outcome.stats.pairs_by_half_wins == (none, 0, one, 0, both)


def test_workers_leave_ctrl_c_to_their_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: dict[int, Any] = {}
    monkeypatch.setattr("signal.signal", handlers.__setitem__)
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    monkeypatch.setattr("sys.stdout", sys.stdout)
    executors.begin_worker()
    assert handlers[signal.SIGINT] is signal.SIG_IGN
    assert handlers[signal.SIGTERM] is executors.end_worker
    assert sys.stdout is sys.stderr
    assert os.environ["OMP_NUM_THREADS"] == "1"
