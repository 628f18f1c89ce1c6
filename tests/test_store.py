"""Run folders: complete or absent, and never another run's."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cribai import ConfigError
from cribai.config import load_config
from cribai.tournament import Stats, Tournament, TournamentConfig, run_tournament
from cribai.tournament.report import summarize
from cribai.tournament.store import CONFIG_FILE, RESULTS_FILE, run_folder, save

RULES = {"target": 11, "skunk_line": 5, "double_skunk_line": "none"}


def make_config(out: Path, **changes: Any) -> TournamentConfig:
    values = {"agents": ["random", "greedy", "random"], "rules": RULES, "pairs": 5, "out": out}
    return load_config(TournamentConfig, None, values | changes)


def store(config: TournamentConfig) -> Tournament:
    with run_folder(config) as folder:
        tournament = run_tournament(config)
        save(folder, tournament, summarize(tournament))
    return tournament


def test_everything_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "run"
    config = make_config(out)
    tournament = store(config)
    assert sorted(path.name for path in out.iterdir()) == [
        CONFIG_FILE,
        "games-000-random-v-greedy.npz",
        "games-001-random-v-random-2.npz",
        "games-002-greedy-v-random-2.npz",
        RESULTS_FILE,
    ]
    again = load_config(TournamentConfig, out / CONFIG_FILE)
    assert again == config.model_copy(update={"out": None})
    summary = json.loads((out / RESULTS_FILE).read_text())
    assert summary == summarize(tournament)
    for path, match in zip(sorted(out.glob("*.npz")), tournament.matches, strict=True):
        with np.load(path) as arrays:
            assert arrays["results"].tobytes() == match.results.tobytes()
            assert Stats.from_results(arrays["results"]) == match.stats
    assert run_tournament(again).hash == tournament.hash


def test_the_same_run_may_come_again(tmp_path: Path) -> None:
    first = store(make_config(tmp_path))
    second = store(make_config(tmp_path, batch_size=3))
    assert first.hash == second.hash


@pytest.mark.parametrize(
    "change", [{"pairs": 6}, {"seed": 1}, {"rules": "short"}, {"agents": ["random", "greedy"]}]
)
def test_other_runs_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    store(make_config(tmp_path))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    (key,) = change
    with pytest.raises(ConfigError, match=f"holds another run, its {key} being "):
        store(make_config(tmp_path, **change))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ConfigError, match="holds other files"):
        store(make_config(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_failed_run_leaves_nothing(tmp_path: Path) -> None:
    config = make_config(tmp_path / "deep" / "run")
    with pytest.raises(ZeroDivisionError), run_folder(config):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_stays(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), run_folder(make_config(tmp_path)):
        raise ZeroDivisionError
    assert tmp_path.is_dir()


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("cribai.tournament.store._write_text", fail)
    with pytest.raises(OSError, match="disk full"):
        store(make_config(tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_no_folder_can_be_made_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(OSError, match=r"File exists|Not a directory"):
            store(make_config(out))


def test_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = make_config(tmp_path).model_copy(update={"out": None})
    store(config)
    assert (tmp_path / "runs" / config.run_name() / RESULTS_FILE).is_file()
