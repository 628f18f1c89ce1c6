"""Foreign bots: what crosses the pipe, and that no bot, however bad, holds up or outlives a run."""

import copy
import json
import os
import pickle
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cribai import PRESETS, AgentError, GameBatch, Rules, ViewBatch, get_rules, make_agent
from cribai.agent import ask
from cribai.cards import card_text
from cribai.engine import state as engine
from cribai.testing import check_agent
from cribai.tournament.external import FORFEIT, ExternalAgent, parse_external
from cribai.tournament.external.messages import read_action, view_fields
from cribai.tournament.match import play_pairs
from hidden_cards import with_other_hidden_cards
from test_views import ALL_RULES, positions

ROOT = Path(__file__).parents[1]
BOTS = ROOT / "experiments" / "external"
RANDOM_BOT = shlex.join([sys.executable, str(BOTS / "random_bot.py")])
PYTHON = [sys.executable, "-I", "-S"]
PROC = Path("/proc")
BATCH = 4

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="bots need a POSIX system"),
    pytest.mark.slow,
]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node here")

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


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., str]:
    """Makes the command of the bot above with a fault."""
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return lambda fault, record="": shlex.join([*PYTHON, str(path), fault, str(record)])


@pytest.fixture
def make(command: Callable[..., str]) -> Iterator[Make]:
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


# ------------------------------------------------------------------------------- bots that play


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


# -------------------------------------------------------------------------- what crosses the pipe


def test_only_the_view_crosses_the_pipe(make: Make, tmp_path: Path) -> None:
    chance = random.Random(3)
    agents = [make("", tmp_path / name, batch=64) for name in ("one", "other")]
    num_changed = 0
    for rules in ALL_RULES:
        for batch in positions(rules, 3, every=3):
            others = np.array(
                [with_other_hidden_cards(state, rules, chance) for state in batch.states],
                engine.STATE,
            )
            num_changed += int((others["hands"] != batch.states["hands"]).any(axis=(1, 2)).sum())
            agents[0].act(batch.views())
            agents[1].act(GameBatch(others, rules, batch.games).views())
    assert num_changed > 100
    one, other = (tmp_path / name for name in ("one", "other"))
    assert one.stat().st_size > 100_000
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
def test_a_view_as_bots_see_it(rules: Rules) -> None:
    for batch in positions(rules, 4, every=2):
        for view in batch.views():
            fields = json.loads(json.dumps(view_fields(view)))
            assert int(fields["key"]) == view.key
            assert fields["hand"] == [card_text(card) for card in view.hand]
            assert fields["plays"] == [[place, card_text(card)] for place, card in view.plays]
            assert fields["scores"] == list(view.scores)
            assert fields["go_counts"] == list(view.go_counts)
            assert fields["dealer"] == view.dealer
            assert (fields["role"] == "dealer") == view.is_dealer
            assert [entry["action"] for entry in fields["legal_actions"]] == view.legal_actions
            for entry in fields["legal_actions"]:
                assert read_action(entry, view) == entry["action"]
                assert read_action(entry["action"], view) == entry["action"]
                if view.is_discard:
                    backwards = {"toss": entry["toss"][::-1]}
                    assert read_action(backwards, view) == entry["action"]


# ---------------------------------------------------------------------------------- bots that fail


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


# -------------------------------------------------------------------------- processes and copies


def bot_of(agent: ExternalAgent) -> Any:
    return agent._bot


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


# ----------------------------------------------------------------------------- specs and options


def test_a_spec(command: Callable[..., str]) -> None:
    for options in ("", "[]", "[limit=2,batch=1]", "[ start_limit = 4.5 , restarts=0 ]"):
        spec = f"external{options}:{command('a:b,c=d')}"
        with closing(parse_external(f" {spec} ")) as agent:
            assert agent.name == spec
            assert agent.act(some_views(2)).tolist() == [0, 0]
            if "limit" in options and "start" not in options:
                assert (agent.limit, agent.batch) == (2, 1)
            if "start" in options:
                assert (agent.start_limit, agent.restarts) == (4.5, 0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("external", "is not external:COMMAND"),
        ("external[limit=2]", "is not external:COMMAND"),
        ("externals:true", "is not external:COMMAND"),
        ("external:", "no command; write external:COMMAND"),
        ("external[speed=2]:true", "'speed=2' .* is unknown or given twice; the options are limit"),
        ("external[limit=1,limit=2]:true", "'limit=2' .* given twice"),
        ("external[limit]:true", "'limit' .* needs a number, such as limit=1"),
        ("external[batch=1.5]:true", "'batch=1.5' .* needs a number"),
        ("external[batch=0]:true", "batch .* is 0; it must be a whole number from 1 to 512"),
        ("external[limit=nan]:true", "limit .* is nan; it must be a number from 0.001 to 3600"),
        ("external[restarts=-1]:true", "restarts .* is -1; it must be"),
    ],
)
def test_specs_that_do_not_fit(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        parse_external(spec)


@pytest.mark.parametrize(
    ("option", "value"), [("limit", "2"), ("batch", True), ("batch", 2.0), ("start_limit", None)]
)
def test_options_that_do_not_fit(option: str, value: Any) -> None:
    with pytest.raises(AgentError, match=f"option {option} of an external bot is {value!r}"):
        ExternalAgent("true", **{option: value})


# ------------------------------------------------------------------------------------- documents


def test_the_document_shows_the_bot_and_the_messages() -> None:
    text = (ROOT / "docs" / "external-bots.md").read_text()
    assert f"```python\n{(BOTS / 'random_bot.py').read_text()}```" in text
    blocks = re.findall(r"^```\n(\{.*?)^```$", text, re.MULTILINE | re.DOTALL)
    messages = [json.JSONDecoder().decode(block) for block in blocks]
    kinds = {message["type"] for message in messages}
    assert kinds == {"hello", "rules", "act", "actions", "games_ended", "quit"}
    shown = [view for message in messages for view in message.get("views", [])]
    assert {view["phase"] for view in shown} == {"toss", "play"}
    fields = set(view_fields(some_views(1)[0]))
    assert all(set(view) == fields for view in shown)
    for field in fields:
        assert f"`{field}`" in text
