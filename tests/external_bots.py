"""Foreign bots for tests: programs with faults, and that none of them is left behind."""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cribai import GameBatch, Rules, ViewBatch
from cribai.tournament.external import ExternalAgent

ROOT = Path(__file__).parents[1]
BOTS = ROOT / "experiments" / "external"
RANDOM_BOT = shlex.join([sys.executable, str(BOTS / "random_bot.py")])
PYTHON = [sys.executable, "-I", "-S"]
PROC = Path("/proc")
BATCH = 4

foreign = [
    pytest.mark.skipif(os.name != "posix", reason="bots need a POSIX system"),
    pytest.mark.slow,
]
"""The marks of tests that start bots."""

# A bot that takes the first legal action; its fault says where it goes wrong.
BOT = """
import json, os, signal, subprocess, sys, time

fault, record = sys.argv[1], sys.argv[2]

def send(**message):
    print(json.dumps(message), flush=True)

def hang():
    while True:
        time.sleep(60)

def flood(stream, text):
    while True:
        os.write(stream, text)

def hello():
    if fault == "silent at start":
        hang()
    if fault == "dying at start":
        sys.exit("first words\\nSomeError: no luck today\\nversion 1.2.3")
    if fault == "chatting at start":
        print("Welcome!", flush=True)
    if fault == "ignoring SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if fault == "with a child":
        subprocess.Popen([*sys.orig_argv[:4], "silent at start", record])
    protocol = 2 if fault == "of another version" else 1
    name = "" if fault == "nameless" else "first"
    send(type="hello", protocol=protocol, name=name, batch=fault != "one by one")

def act(message):
    number, views = message["id"], message["views"]
    actions = [view["legal_actions"][0] for view in views]
    if fault == "silent":
        hang()
    if fault == "slow":
        time.sleep(1)
    if fault == "flooding stdout":
        flood(1, b"x" * 65536)
    if fault == "flooding stdout with lines":
        flood(1, b"{}\\n" * 20000)
    if fault == "flooding stderr":
        flood(2, b"x" * 65536)
    if fault == "loud":
        os.write(2, b"x" * 300000)
    if fault == "dying":
        sys.exit("Error: that was too much")
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "closing stdout":
        os.close(1)
        hang()
    if fault == "not JSON":
        print("toss 5H", flush=True)
        return
    if fault == "deep":
        print("[" * 100000, flush=True)
        return
    if fault == "wrong id":
        number += 1
    if fault == "wrong length":
        actions.pop()
    if fault == "no list":
        actions = 3
    send(type="actions", id=number, actions=actions)
    if fault == "exiting after its answer":
        sys.exit()
    if fault == "deaf":
        hang()

for line in sys.stdin:
    if record:
        with open(record, "a") as file:
            file.write(line)
    message = json.loads(line)
    if message["type"] == "hello":
        hello()
    elif message["type"] == "act":
        act(message)
    elif message["type"] == "rules" and fault == "one by one":
        send(type="rules", refuses="I know the standard game only.")
    elif message["type"] == "rules":
        send(type="rules")
    elif message["type"] == "quit" and fault != "ignoring SIGTERM":
        break
if fault == "ignoring SIGTERM":
    hang()
"""

Make = Callable[..., ExternalAgent]


@pytest.fixture(name="command")
def command_of_bot(tmp_path: Path) -> Callable[..., str]:
    """Makes the command of the bot above with a fault."""
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return lambda fault, record="": shlex.join([*PYTHON, str(path), fault, str(record)])


@pytest.fixture(name="make")
def make_bots(command: Callable[..., str]) -> Iterator[Make]:
    """Makes agents of the bot above, which are closed when the test ends."""
    agents = []

    def make(fault: str, record: Any = "", **options: Any) -> ExternalAgent:
        agents.append(ExternalAgent(command(fault, record), **{"batch": BATCH, **options}))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """After each test no bot runs that was made for it, and no child waits to be buried."""
    yield
    if PROC.is_dir():
        end = time.monotonic() + 3  # What is killed, or sees its input end, takes a moment to go.
        while running(str(tmp_path)) and time.monotonic() < end:
            time.sleep(0.01)
        assert running(str(tmp_path)) == []
        assert [pid for pid in processes() if status_of(pid) == ("Z", os.getpid())] == []


def processes() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def status_of(pid: int) -> tuple[str, int]:
    """The state and the parent of a process."""
    try:
        words = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", 0
    return words[0], int(words[1])


def running(word: str) -> list[int]:
    """The processes that have a word in their command line."""
    found = []
    for pid in processes():
        try:
            text = (PROC / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in text and pid != os.getpid():
            found.append(pid)
    return found


def some_views(number: int, rules: str | Rules = "standard") -> ViewBatch:
    return GameBatch.start(number, rules, seed=5).views()


def sent(record: Path) -> list[Any]:
    return [json.loads(line) for line in record.read_text().splitlines()]


def bot_of(agent: ExternalAgent) -> Any:
    return agent._bot
