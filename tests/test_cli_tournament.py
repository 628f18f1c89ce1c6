"""`cribai tournament` and `cribai report` as a user or a script meets them."""

import errno
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import command
from command import Finished
from cribai.cli.compiling import announce_compiling
from cribai.tournament.store import Store
from external_bots import BOT
from tournaments import BRIEF_OPTIONS, command_line, environment

BRIEF = ["--rules", "five_card", "--pairs", "20"]
SLOW = "hostile_agents:Slow:seconds=0.01"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Runs commands in an empty folder, and without a word on compilation."""
    monkeypatch.chdir(tmp_path)
    with patch("cribai.cli.compiling.announce_compiling"):
        yield tmp_path


def run(*words: str) -> Finished:
    return command.run("tournament", *words)


def start(*words: str) -> "subprocess.Popen[str]":
    """Starts the command with a process group of its own, as a shell does."""
    return subprocess.Popen(
        command_line("tournament", *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        start_new_session=True,
    )


def wait_for(is_so: Callable[[], Any], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def group_of(leader: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                words = (path / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(words[2]) == leader and words[0] != "Z":
                found.append(int(path.name))
    return found


def num_chunks(run_folder: Path) -> int:
    return len(list((run_folder / "chunks").glob("*.npz")))


# ------------------------------------------------------------------------------------- results


def test_json(folder: Path) -> None:
    result = run("greedy", "random", *BRIEF, "--seed", "5", "--json").json
    assert result["agents"] == ["greedy", "random"]
    assert (result["rules"], result["seed"]) == ("five_card", 5)
    assert result["games_per_second"] > 0
    (match,) = result["matches"]
    assert (match["a"], match["b"], match["pairs"], match["games"]) == ("greedy", "random", 20, 40)
    kept = json.loads((folder / result["out"] / "results.json").read_text())
    assert kept | {"out": result["out"]} == result


def test_same_hash_again() -> None:
    hashes = [
        run("greedy", "random", *BRIEF, *more, "--json").json["hash"]
        for more in ((), (), ("--batch-size", "3"), ("--set", "chunk=7"), ("--seed", "1"))
    ]
    assert hashes[0] == hashes[1] == hashes[2] == hashes[3] != hashes[4]


def test_tables() -> None:
    finished = run("greedy", "random", "greedy", *BRIEF, "--format", "acc", "--out", "here")
    assert (finished.status, finished.stderr) == (0, "")
    assert max(map(len, finished.stdout.splitlines())) <= 80
    for word in ("greedy#2", "pegging", "games/s", "hash ", "knock-out", "written to here"):
        assert word in finished.stdout


def test_a_part_of_what_an_option_gives_is_refused() -> None:
    result = command.run(
        *("tournament", "greedy", "random", "--rules", "bid", "--set", "rules.two_cribs=true")
    )
    assert result.status == 2
    assert "--rules gives all of 'rules'" in result.complaint


def test_settings(folder: Path) -> None:
    path = folder / "some.toml"
    path.write_text('agents = ["random", "random"]\npairs = 3\nseed = 9\nrules = "short"\n')
    file = ("--config", str(path))
    result = run(*file, "--set", "pairs=4", "--set", "seed=8", "--json").json
    assert (result["pairs"], result["seed"], result["rules"]) == (4, 8, "short")
    assert result["agents"] == ["random", "random#2"]
    options = ("--set", "pairs=4", "--pairs", "5", "--match-points", "acc")
    result = run("greedy", "random", *file, *options, "--json").json
    assert (result["pairs"], result["match_points"]) == (5, "acc")
    assert result["agents"] == ["greedy", "random"]


@pytest.mark.parametrize("text", ["20%", "0.2", "+-20%", "±0.2", " 20 % "])
def test_until(text: str) -> None:
    result = run("random", "random", *BRIEF, "--until", text, "--set", "chunk=4", "--json").json
    assert result["configuration"]["until"] == 0.2
    low, high = result["matches"][0]["win_rate_interval"]
    assert high - low <= 0.4


def test_all_that_are_installed() -> None:
    names = {"greedy": None, "random": None}
    with patch("cribai.tournament.run.agent_entry_points", return_value=names):
        assert run(*BRIEF, "--json").json["agents"] == ["greedy", "random"]


def test_report_shows_it_again(folder: Path) -> None:
    played = run("greedy", "random", *BRIEF, "--out", "here")
    kept = {name: (folder / "here" / name).read_text() for name in ("summary.md", "report.html")}
    for name in kept:
        (folder / "here" / name).unlink()
    shown = command.run("report", "here")
    assert (shown.status, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[:-1] == played.stdout.splitlines()[:-1]
    assert shown.stdout.endswith("redrawn here/report.html\n")
    assert {name: (folder / "here" / name).read_text() for name in kept} == kept
    results = json.loads((folder / "here" / "results.json").read_text())
    assert command.run("report", "here", "--json").json == results | {"out": "here"}


def test_report_needs_results(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "odd").mkdir()
    (folder / "odd" / "results.json").write_text("[1]")
    for name in ("empty", "odd", "none"):
        complaint = command.run("report", name).complaint
        assert f"The folder '{name}' holds no results" in complaint
        assert "--resume" in complaint


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["greedy", "nobody"], "Unknown agent 'nobody'"),
        (["greedy"], "at least two agents"),
        (["greedy", "greedy:depth=2"], "'greedy:depth=2' cannot be made"),
        (["greedy", "random", "--rules", "odd"], "Unknown rules 'odd'"),
        (["greedy", "random", "--set", "pears=1"], "Unknown key 'pears'"),
        (["greedy", "random", "--set", "sprt.odd=1"], "Unknown key 'sprt.odd'"),
        (["greedy", "random", "--set", "rules.odd=1"], "Unknown rule 'odd'"),
        (["greedy", "random", "--set", "pairs"], "'pairs' is not key=value"),
        (["greedy", "random", "--pairs", "0"], "pairs is 0"),
        (["greedy", "random", "--batch-size", "0"], "batch_size is 0"),
        (["greedy", "random", "--workers", "0"], "workers is 0"),
        (["greedy", "random", "--seed", "-1"], "seed is -1"),
        (["greedy", "random", "--format", "swiss"], "format is 'swiss'"),
        (["greedy", "random", "--executor", "cloud"], "executor is 'cloud'"),
        (["greedy", "random", "--match-points", "odd"], "Unknown match points 'odd'"),
        (["greedy", "random", "--until", "abc"], "'abc' is no share of games"),
        (["greedy", "random", "--until", "%"], "'%' is no share of games"),
        (["greedy", "random", "--until", "60%"], "until is 0.6"),
        (["greedy", "random", "--until", "nan"], "until is nan"),
        (["greedy", "random", "--anchor", "nobody"], "The anchor 'nobody' does not play"),
        (["greedy", "random", "--games-file", "a.csv"], "must end in .jsonl or .parquet"),
        (["greedy", "random", "--games-file", "/dev/null/a.jsonl"], "/dev/null"),
        (["greedy", "random", "greedy", "--format", "sprt"], "between two agents, and 3 are named"),
        (["greedy", "random", "--set", "sprt.h0=0.6"], "choose h0 below h1"),
        (["greedy", "random", "--format", "acc", "--set", "acc.best_of=4"], "must be odd"),
        (["greedy", "random", "--format", "sprt", "--until", "1%"], "until is for round robins"),
        (["greedy", "random", "external:no-such-program"], "'no-such-program' is not found"),
        (["--config", "none.toml"], "none.toml"),
        (["--resume", "none"], "holds no run to resume"),
        (["greedy", "random", "--out", "/dev/null/run"], "/dev/null/run"),
    ],
)
def test_bad_input(folder: Path, arguments: list[str], words: str) -> None:
    finished = run(*arguments)
    assert words in finished.complaint
    assert finished.stdout == ""
    assert list(folder.iterdir()) == []


def test_folder_of_another_run() -> None:
    assert run("greedy", "random", *BRIEF, "--out", "here").status == 0
    finished = run("greedy", "random", *BRIEF, "--seed", "2", "--out", "here")
    assert "holds another run, its seed being 0;" in finished.complaint


def test_what_would_change_a_run_is_no_resumption() -> None:
    assert run("greedy", "random", *BRIEF, "--out", "here").status == 0
    for words, key in (
        (["greedy", "random"], "agents"),
        (["--pairs", "30"], "pairs"),
        (["--set", "rules.target=61"], "rules.target"),
        (["--out", "there"], "out"),
    ):
        complaint = run("--resume", "here", *words).complaint
        assert f"A resumed run has its own {key}; leave it out" in complaint
    complaint = run("--resume", "here", "--config", "some.toml").complaint
    assert "leave --config out" in complaint


def test_a_finished_run_is_shown_when_resumed() -> None:
    first = run("greedy", "random", *BRIEF, "--out", "here", "--json").json
    again = run("--resume", "here", "--batch-size", "3", "--json").json
    assert again["games_per_second"] == 0
    assert again["configuration"].pop("batch_size") == 3
    del first["configuration"]["batch_size"]
    same = first.keys() - {"games_per_second", "command"}
    assert {key: again[key] for key in same} == {key: first[key] for key in same}


# ------------------------------------------------------------------------------------- failures


def test_an_illegal_action_ends_the_run() -> None:
    finished = run("random", "hostile_agents:Cheating:pair=13", *BRIEF, "--out", "here")
    assert finished.stdout == ""
    assert "Cheating:pair=13' chose an illegal action at seed 0, pair 13" in finished.complaint


def test_failed_chunks_are_told_and_the_rest_is_kept(folder: Path) -> None:
    words = ["greedy", "hostile_agents:Raising:pair=13", *BRIEF, "--set", "chunk=5"]
    finished = run(*words, "--out", "here")
    assert (finished.status, finished.stderr) == (1, "")
    what = "hostile_agents:Raising:pair=13, seed 0, pairs 10 to 14, failed 2 times"
    assert what in finished.stdout
    results = json.loads((folder / "here" / "results.json").read_text())
    assert results["games"] == 30
    assert what in results["failed"][0]
    assert what in (folder / "here" / "summary.md").read_text()
    assert num_chunks(folder / "here") == 3


def test_agents_may_print(folder: Path) -> None:
    (folder / "loud_agents.py").write_text(
        "from hostile_agents import Uniform\n"
        "class Loud(Uniform):\n"
        "    def act(self, views):\n"
        "        print('thinking')\n"
        "        return super().act(views)\n"
    )
    with patch.object(sys, "path", [*sys.path, str(folder)]):
        finished = run("greedy", "loud_agents:Loud", *BRIEF, "--json")
    assert json.loads(finished.stdout)["games"] == 40
    assert "thinking" in finished.stderr


def test_forfeits_are_shown(folder: Path) -> None:
    (folder / "bot.py").write_text(BOT)
    bot = shlex.join([sys.executable, "-I", "-S", str(folder / "bot.py"), "dying", ""])
    spec = f"external[batch=4,restarts=0]:{bot}"
    words = ["random", spec, *BRIEF_OPTIONS, "--pairs", "10", "--out", "here"]
    finished = run(*words)
    assert (finished.status, finished.stderr) == (0, "")
    shown = f"{spec} forfeited games v random: crash 4, abandoned 16"
    assert shown in " ".join(finished.stdout.split())
    assert f"- {shown}" in (folder / "here" / "summary.md").read_text()
    assert "Error: that was too much" in finished.stdout
    match = run("--resume", "here", "--json").json["matches"][0]
    assert match["forfeits"] == [0, 20]
    assert match["forfeit_reasons"] == [{}, {"crash": 4, "abandoned": 16}]
    assert (match["win_rate"], match["skunk_rate"]) == (1, 0)


@pytest.mark.parametrize("num_writes", [3, 6])
def test_a_full_disk_is_said_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, num_writes: int
) -> None:
    write = Store._write
    left = num_writes

    def fill(store: Store, name: str, content: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(store, name, content)

    words = ["greedy", "random", *BRIEF, "--set", "chunk=5", "--out", "here here"]
    with monkeypatch.context() as patches:
        patches.setattr(Store, "_write", fill)
        complaint = run(*words).complaint
    assert "No space left on device" in complaint
    assert "what was played is kept, and cribai tournament --resume 'here here' goes" in complaint
    assert num_chunks(folder / "here here") == min(num_writes - 1, 4)
    assert run("--resume", "here here", "--json").json["games"] == 40


def test_compiling_is_announced_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    announce_compiling()
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "Compiling the engine (once, about 10 s) ...\n"
    (folder / "engine_1").mkdir()
    (folder / "engine_1" / "simulate.step_legal-1.py311.nbi").touch()
    announce_compiling()
    assert capsys.readouterr().err == ""


# --------------------------------------------------------------------------------- interruptions


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_was_played(folder: Path, workers: str) -> None:
    words = ["random", SLOW, *BRIEF_OPTIONS, "--pairs", "60", "--set", "chunk=4", "--workers"]
    process = start(*words, workers, "--out", "a run", "--set", "batch_size=2")
    wait_for(lambda: num_chunks(folder / "a run") >= 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    line = "cribai: interrupted; go on with cribai tournament --resume 'a run'.\n"
    assert errors.splitlines(keepends=True)[-1:] == [line]
    assert "Traceback" not in errors
    wait_for(lambda: not group_of(process.pid), 5)
    kept = num_chunks(folder / "a run")
    assert 2 <= kept < 15
    assert not list((folder / "a run").rglob(".*"))
    again = run("--resume", "a run", "--json").json
    assert num_chunks(folder / "a run") == 15
    expected = run("random", SLOW.replace("0.01", "0"), *words[2:-1], "--json").json
    assert again["hash"] == expected["hash"]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.2, 0.6])
def test_ctrl_c_while_workers_start_leaves_no_traceback(seconds: float) -> None:
    words = ["random", SLOW, *BRIEF_OPTIONS, "--pairs", "500", "--workers", "2", "--out", "here"]
    process = start(*words)
    wait_for(lambda: len(group_of(process.pid)) > 1)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    assert errors == "cribai: interrupted; go on with cribai tournament --resume here.\n"
    wait_for(lambda: not group_of(process.pid), 5)


@pytest.mark.slow
def test_ctrl_c_ends_the_bots_of_workers(folder: Path) -> None:
    (folder / "bot.py").write_text(BOT)
    bot = shlex.join([sys.executable, "-I", "-S", str(folder / "bot.py"), "silent", ""])
    words = ["random", f"external[limit=600]:{bot}", *BRIEF_OPTIONS, "--pairs", "9"]
    process = start(*words, "--workers", "2", "--set", "chunk=3", "--out", "here")

    def bots() -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(folder / "bot.py").encode() in path.read_bytes().split(b"\0"):
                    found.append(path.parent.name)
            except OSError:
                continue
        return found

    wait_for(lambda: len(bots()) == 2)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    wait_for(lambda: not bots(), 5)


def kill_later(process: "subprocess.Popen[str]", run_folder: Path, seconds: float) -> None:
    """Kills a run some time after its next chunk."""
    kept = num_chunks(run_folder)
    wait_for(lambda: process.poll() is not None or num_chunks(run_folder) > kept)
    time.sleep(seconds)
    process.kill()
    process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_killed_run_is_resumed_as_if_nothing_had_been(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    words = ["random", "greedy", "hostile_agents:Slow:seconds=0.002", "--seed", str(seed)]
    words += [*BRIEF_OPTIONS, "--pairs", "60", "--set", "chunk=6", "--set", "batch_size=12"]
    words += ["--games-file", "games.jsonl"]
    whole = run(*words, "--out", "whole", "--json").json
    games = (folder / "games.jsonl").read_bytes()
    (folder / "games.jsonl").unlink()
    process = start(*words, "--out", "killed", "--workers", str(1 + seed % 2))
    for _ in range(3):
        kill_later(process, folder / "killed", chance.uniform(0, 0.3))
        names = [path.name for path in (folder / "killed" / "chunks").iterdir()]
        assert all(name.startswith(".") or name.endswith(("npz", "jsonl")) for name in names)
        process = start("--resume", "killed", "--workers", str(chance.randint(1, 2)), "--json")
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    again = json.loads(output)
    different = {"games_per_second", "out", "configuration"}
    assert {key: again[key] for key in whole if key not in different} == {
        key: whole[key] for key in whole if key not in different
    }
    assert (folder / "games.jsonl").read_bytes() == games
    assert not list((folder / "killed").rglob(".*"))
    wait_for(lambda: not group_of(process.pid), 5)


@pytest.mark.slow
def test_a_command_with_workers_that_die(folder: Path) -> None:
    words = ["random", "hostile_agents:Killed:pair=13", *BRIEF, "--set", "chunk=5"]
    process = start(*words, "--workers", "2", "--out", "here", "--json")
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (1, "")
    (failed,) = json.loads(output)["failed"]
    assert "Killed:pair=13, seed 0, pairs 10 to 14, failed 2 times" in failed
    assert num_chunks(folder / "here") == 3


@pytest.mark.slow
def test_greedy_beats_random() -> None:
    (match,) = run("random", "greedy", "--pairs", "50000", "--json").json["matches"]
    low, high = match["win_rate_interval"]
    assert match["win_rate"] <= 0.02
    assert high - low < 0.005
