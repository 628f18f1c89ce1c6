"""Foreign bots that fail: what it costs, and that none holds up a run."""

import re
import shlex
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cribai import AgentError, get_rules
from cribai.tournament.external import FORFEIT, ExternalAgent
from external_bots import (  # noqa: F401
    BATCH,
    BOT,
    PYTHON,
    ROOT,
    Make,
    bot_of,
    command_of_bot,
    foreign,
    make_bots,
    nothing_is_left,
    some_views,
)

pytestmark = foreign


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("silent at start", "did not answer within 0.3 s; let it flush"),
        ("dying at start", r"exited with status 1 \(SomeError: no luck today\); run the command"),
        ("chatting at start", 'a line that is not JSON: "Welcome!"; let it keep to the protocol'),
        ("of another version", "speaks version 2 of the protocol where cribai speaks 1; take"),
        ("nameless", 'without a text as "name"'),
    ],
)
def test_a_bot_that_does_not_begin(make: Make, fault: str, message: str) -> None:
    with pytest.raises(AgentError, match=f"^The external bot .*{message}") as caught:
        make(fault, start_limit=0.3 if fault == "silent at start" else 10.0)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program --x", "the program 'no-such-program' is not found; install it"),
        (str(ROOT), "cannot be started: .*Permission denied.*; mend the command"),
        ("'open", "cannot be split into words: No closing quotation; close its quotes"),
        ("  ", "has no command; write external:COMMAND"),
    ],
)
def test_a_command_that_does_not_start(command: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        ExternalAgent(command)


ALWAYS = [
    ("silent", "timeout", "did not answer within 0.2 s"),
    ("slow", "timeout", "did not answer within 0.2 s"),
    ("flooding stderr", "timeout", r"did not answer within 0.2 s \(xxxx"),
    ("flooding stdout", "garbled", "wrote more than 1048576 bytes where one line was due"),
    ("flooding stdout with lines", "garbled", 'not of type "actions": "{}"'),
    ("not JSON", "garbled", 'wrote a line that is not JSON: "toss 5H"'),
    ("deep", "garbled", r'wrote a line that is not JSON: "\[\[\['),
    ("wrong id", "garbled", "answered the message 2 when asked 1"),
    ("wrong length", "garbled", "answered 4 views with 3 actions"),
    ("no list", "garbled", 'answered without a list of "actions"'),
    ("dying", "crash", r"exited with status 1 \(Error: that was too much\), when asked about game"),
    ("killed", "crash", "was killed by signal 9"),
    ("closing stdout", "crash", "closed its input or output"),
]


@pytest.mark.parametrize(("fault", "reason", "message"), ALWAYS, ids=[row[0] for row in ALWAYS])
def test_a_bot_that_always_fails(make: Make, fault: str, reason: str, message: str) -> None:
    agent = make(fault, limit=0.05 if reason == "timeout" else 5.0, restarts=1)
    start = time.perf_counter()
    actions = agent.act(some_views(3 * BATCH))
    assert time.perf_counter() - start < 4
    assert actions.tolist() == [FORFEIT] * 3 * BATCH
    assert agent.failures == {reason: 2 * BATCH, "abandoned": BATCH}
    assert re.search(message, agent.first_failures[reason])
    start = time.perf_counter()
    assert (agent.act(some_views(100)) == FORFEIT).all()
    assert time.perf_counter() - start < 0.1
    assert "failed 2 times in a row" in agent.first_failures["abandoned"]
    agent.check_rules(get_rules("standard"))


def test_a_bot_that_exits_after_its_answer(make: Make) -> None:
    agent = make("exiting after its answer")
    actions = agent.act(some_views(5 * BATCH)).reshape(5, BATCH)
    assert actions[:, 0].tolist() == [0, FORFEIT, 0, FORFEIT, 0]
    assert (actions == actions[:, :1]).all()
    assert agent.failures == {"crash": 2 * BATCH}


def test_a_death_between_batches_costs_the_next_whenever_it_is_noticed(make: Make) -> None:
    agent = make("exiting after its answer")
    assert agent.act(some_views(1)).tolist() == [0]
    time.sleep(0.1)
    for _ in range(2):
        agent.games_ended(np.array([1]), np.array([[121, 3]]))
    agent.check_rules(get_rules("short"))
    assert agent.act(some_views(2 * BATCH)).tolist() == [FORFEIT] * BATCH + [0] * BATCH
    assert agent.failures == {"crash": BATCH}


def test_a_bot_that_reads_no_more(make: Make) -> None:
    agent = make("deaf", limit=0.3, batch=64)
    assert agent.act(some_views(1)).tolist() == [0]
    start = time.perf_counter()
    for _ in range(3):  # More than a pipe holds.
        agent.games_ended(np.arange(20_000), np.zeros((20_000, 2), np.int64))
    assert agent.act(some_views(1)).tolist() == [FORFEIT]
    assert time.perf_counter() - start < 3
    assert agent.failures == {"timeout": 1}
    assert "did not read what it was sent within 0.3 s" in agent.first_failures["timeout"]


ILLEGAL = [999, -1, 18, "0", None, True, 0.0, [0], {}, {"toss": ["5H"]}, {"toss": "5H JS"}]
ILLEGAL += [{"toss": [1, 2]}, {"toss": ["5H", "ZZ"]}, {"toss": ["AC", "AC"]}, {"play": "5H"}]


def test_illegal_actions_forfeit_only_their_games(tmp_path: Path) -> None:
    answers = [*ILLEGAL, 3]
    path = tmp_path / "illegal.py"
    path.write_text(BOT.replace('view["legal_actions"][0]', f'{answers}[view["game"]]'))
    with closing(ExternalAgent(shlex.join([*PYTHON, str(path), "", ""]))) as agent:
        views = some_views(len(answers))
        assert agent.act(views).tolist() == [FORFEIT] * len(ILLEGAL) + [3]
        assert agent.failures == {"illegal": len(ILLEGAL)}
        pid = bot_of(agent).pid
        assert agent.act(views)[-1] == 3
        assert bot_of(agent).pid == pid
        assert "game 0, deal 0, decision 0 (" in agent.first_failures["illegal"]
        assert "999 is not one of" in agent.first_failures["illegal"]
