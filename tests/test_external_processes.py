"""The processes of foreign bots: none outlives a run, and copies have their own."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cribai import get_rules
from cribai.tournament.external import FORFEIT, ExternalAgent
from external_bots import (  # noqa: F401
    BATCH,
    PROC,
    Make,
    bot_of,
    command_of_bot,
    foreign,
    make_bots,
    nothing_is_left,
    running,
    some_views,
)

pytestmark = foreign


@pytest.mark.parametrize("fault", ["", "ignoring SIGTERM", "with a child"])
@pytest.mark.parametrize("way", ["close", "forget"])
def test_nothing_outlives_its_agent(
    command: Callable[..., str], tmp_path: Path, fault: str, way: str
) -> None:
    agent = ExternalAgent(command(fault))
    assert agent.act(some_views(2)).tolist() == [0, 0]
    if PROC.is_dir():
        assert len(running(str(tmp_path))) == (2 if fault == "with a child" else 1)
    pid = bot_of(agent).pid
    start = time.perf_counter()
    if way == "close":
        agent.close()
        agent.close()
    del agent
    assert time.perf_counter() - start < 2
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("is_noticed", [False, True])
def test_a_closed_agent_begins_anew(make: Make, is_noticed: bool) -> None:
    agent = make("exiting after its answer")
    for _ in range(2):
        assert agent.act(some_views(2)).tolist() == [0, 0]
        if is_noticed:
            time.sleep(0.1)
            agent.games_ended(np.array([1]), np.array([[121, 3]]))
        agent.close()
    assert not agent.failures


def test_a_copy_has_a_process_of_its_own(make: Make) -> None:
    agent = make("dying", limit=3, restarts=2)
    agent.act(some_views(2))
    for twin in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
        assert (twin.name, twin.limit, twin.restarts, twin.batch) == ("first", 3, 2, BATCH)
        assert bot_of(twin) is None
        assert not twin.failures
        assert agent.failures == {"crash": 2}
    agent = make("")
    twin = pickle.loads(pickle.dumps(agent))
    with closing(twin):
        assert twin.act(some_views(6)).tolist() == [0] * 6
        assert bot_of(twin).pid != bot_of(agent).pid


def test_the_bot_of_a_copy_that_does_not_start_forfeits(make: Make, tmp_path: Path) -> None:
    agent = make("", restarts=1)
    twin = pickle.loads(pickle.dumps(agent))
    (tmp_path / "bot.py").unlink()
    twin.check_rules(get_rules("standard"))
    assert (twin.act(some_views(3 * BATCH)) == FORFEIT).all()
    assert twin.failures == {"crash": 2 * BATCH, "abandoned": BATCH}


def test_an_interrupt_ends_the_bot(make: Make) -> None:
    agent = make("silent", limit=60)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            agent.act(some_views(1))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not bot_of(agent).is_usable
    assert not agent.failures


PROGRAM = """
import os, sys
from cribai import GameBatch
from cribai.tournament.external import ExternalAgent

agent = ExternalAgent(sys.argv[2])
views = GameBatch.start(3, seed=1).views()
assert agent.act(views).tolist() == [0, 0, 0]
if sys.argv[1] == "dies":
    os._exit(0)
if sys.argv[1] == "forks":
    pid = agent._bot.pid
    child = os.fork()
    assert agent.act(views).tolist() == [0, 0, 0]
    assert (agent._bot.pid == pid) == (child != 0)
    if child:
        assert os.waitpid(child, 0)[1] == 0
        assert agent.act(views).tolist() == [0, 0, 0]
    assert not agent.failures
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "fault"),
    [("ends", ""), ("ends", "ignoring SIGTERM"), ("dies", ""), ("forks", "")],
)
def test_no_bot_outlives_python(command: Callable[..., str], way: str, fault: str) -> None:
    line = [sys.executable, "-W", "error", "-c", PROGRAM, way, command(fault)]
    finished = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
