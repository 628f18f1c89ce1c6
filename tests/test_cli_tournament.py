"""`cribai tournament` as a user or a script meets it."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

import command
from command import Finished
from cribai.cli.compiling import announce_compiling

BRIEF = ["--rules", "five_card", "--pairs", "20"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Runs commands in an empty folder, and without a word on compilation."""
    monkeypatch.chdir(tmp_path)
    with patch("cribai.cli.compiling.announce_compiling"):
        yield tmp_path


def run(*words: str) -> Finished:
    return command.run("tournament", *words)


def test_json(folder: Path) -> None:
    result = run("greedy", "random", *BRIEF, "--seed", "5", "--json").json
    assert result["agents"] == ["greedy", "random"]
    assert result["rules"] == "five_card"
    assert result["seed"] == 5
    assert len(result["hash"]) == 64
    assert result["games_per_second"] > 0
    assert result["ratings"] == []
    (match,) = result["matches"]
    assert (match["a"], match["b"], match["pairs"], match["games"]) == ("greedy", "random", 20, 40)
    for name in ("win_rate", "margin"):
        low, high = match[f"{name}_interval"]
        assert low <= match[name] <= high
    for name in ("skunk_rate", "skunked_rate", "double_skunk_rate", "first_dealer_win_rate"):
        assert 0 <= match[name] <= 1
    assert match["deals_per_game"] > 1
    points = match["points_per_deal"]
    assert list(points["dealer"]) == ["pegging", "hand", "crib", "heels", "total"]
    assert list(points["pone"]) == ["pegging", "hand", "total"]
    for parts in points.values():
        assert parts["total"] == pytest.approx(sum(parts.values()) - parts["total"])
    kept = json.loads((folder / result["out"] / "results.json").read_text())
    assert kept | {"out": result["out"]} == result


def test_one_pair_has_no_bounds() -> None:
    result = run("greedy", "random", "--rules", "short", "--pairs", "1", "--json").json
    assert result["matches"][0]["margin_interval"] == [None, None]


def test_same_hash_again() -> None:
    hashes = [
        run("greedy", "random", *BRIEF, *more, "--json").json["hash"]
        for more in ((), (), ("--batch-size", "3"), ("--seed", "1"))
    ]
    assert hashes[0] == hashes[1] == hashes[2] != hashes[3]


def test_tables() -> None:
    finished = run("greedy", "random", "greedy", *BRIEF, "--out", "here")
    assert (finished.status, finished.stderr) == (0, "")
    assert max(map(len, finished.stdout.splitlines())) <= 80
    for word in ("greedy#2", "pegging", "games/s", "hash ", "written to here"):
        assert word in finished.stdout


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


def test_all_that_are_installed() -> None:
    names = {"greedy": None, "random": None}
    with patch("cribai.tournament.run.agent_entry_points", return_value=names):
        assert run(*BRIEF, "--json").json["agents"] == ["greedy", "random"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["greedy", "nobody"], "Unknown agent 'nobody'"),
        (["greedy"], "at least two agents"),
        (["greedy", "greedy:depth=2"], "'greedy:depth=2' cannot be made"),
        (["greedy", "random", "--rules", "odd"], "Unknown rules 'odd'"),
        (["greedy", "random", "--set", "pears=1"], "Unknown key 'pears'"),
        (["greedy", "random", "--set", "rules.odd=1"], "Unknown rule 'odd'"),
        (["greedy", "random", "--set", "pairs"], "'pairs' is not key=value"),
        (["greedy", "random", "--pairs", "0"], "pairs is 0"),
        (["greedy", "random", "--batch-size", "0"], "batch_size is 0"),
        (["greedy", "random", "--seed", "-1"], "seed is -1"),
        (["greedy", "random", "--match-points", "odd"], "Unknown match points 'odd'"),
        (["--config", "none.toml"], "none.toml"),
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


def test_nothing_remains_of_a_run_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "broken_agents.py").write_text(
        "import numpy as np\n"
        "from cribai import Agent\n"
        "class Broken(Agent):\n"
        "    def act(self, views):\n"
        "        return np.full(len(views), 99)\n"
    )
    monkeypatch.syspath_prepend(folder)
    finished = run("random", "broken_agents:Broken", "--out", "here")
    assert finished.stdout == ""
    assert "'broken_agents:Broken' chose an illegal action at seed 0, pair 0" in finished.complaint
    assert not (folder / "here").exists()


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


@pytest.mark.slow
def test_greedy_beats_random() -> None:
    (match,) = run("random", "greedy", "--pairs", "50000", "--json").json["matches"]
    low, high = match["win_rate_interval"]
    assert match["win_rate"] <= 0.02
    assert high - low < 0.005


def test_ctrl_c_says_so_and_writes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cribai", "tournament", "random", "greedy"]
    command += ["--pairs", "1000000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert errors.endswith("cribai: interrupted; nothing was written.\n")
    assert list(tmp_path.iterdir()) == []
