"""Run folders: whole at any moment, resumed from any moment, and never another run's."""

import errno
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cribai import ConfigError
from cribai.config import load_config
from cribai.tournament.chunks import Chunk, Outcome
from cribai.tournament.config import TournamentConfig
from cribai.tournament.reports import read_results, save_reports
from cribai.tournament.run import Tournament, run_tournament
from cribai.tournament.store import CHUNKS, CONFIG_FILE, RESULTS_FILE, Store
from cribai.tournament.summary import summarize
from tournaments import make_config, play

pytestmark = pytest.mark.slow

AGENTS = ["random", "greedy", "random"]


def config_of(out: Path | None, **changes: Any) -> TournamentConfig:
    return make_config(**{"agents": AGENTS, "pairs": 30, "chunk": 7, "out": out} | changes)


def begin(config: TournamentConfig) -> tuple[Store, Tournament]:
    store = Store.create(config)
    return store, run_tournament(config, store)


def resume(folder: Path, **overrides: Any) -> tuple[Store, Tournament]:
    store, config = Store.resume(folder, overrides)
    return store, run_tournament(config, store)


def lasting(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key != "games_per_second"}


def contents(folder: Path) -> dict[str, bytes]:
    """What is in the files of a folder that do not tell of time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".npz"
    }


def chunk_files(folder: Path) -> list[Path]:
    return sorted((folder / CHUNKS).glob("*.npz"))


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Chunk]:
    """The chunks that are played and kept during a test."""
    chunks: list[Chunk] = []
    save = Store.save

    def spy(store: Store, chunk: Chunk, outcome: Outcome) -> None:
        save(store, chunk, outcome)
        chunks.append(chunk)

    monkeypatch.setattr(Store, "save", spy)
    return chunks


# ------------------------------------------------------------------------------------ what is kept


def test_everything_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "run"
    config = config_of(out)
    store, tournament = begin(config)
    summary = summarize(tournament, store)
    save_reports(store, summary)
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [CHUNKS, CONFIG_FILE, RESULTS_FILE, "report.html", "summary.md"]
    )
    assert load_config(TournamentConfig, out / CONFIG_FILE) == config.model_copy(
        update={"out": None}
    )
    assert read_results(out) == json.loads(json.dumps(summary))
    assert len(chunk_files(out)) == 3 * 5
    for match in tournament.played:
        games = [store.games(chunk) for chunk in match.chunks]
        total = match.total()
        assert total is not None
        assert sum(map(len, games)) == total.games == 60
        assert sum(int(part["a_won"].sum()) for part in games) == sum(total.wins)
        for chunk, stats in zip(match.chunks, match.stats, strict=True):
            kept = store.load(chunk, with_records=False)
            assert kept is not None
            assert kept.stats == stats


def test_results_are_small(tmp_path: Path) -> None:
    config = make_config(rules="standard", pairs=10_000, chunk=1024, luck=True)
    store, _ = begin(config.model_copy(update={"out": tmp_path}))
    size = sum(path.stat().st_size for path in tmp_path.rglob("*"))
    assert size < 20 * 20_000
    assert len(chunk_files(tmp_path)) == 10
    assert store.folder == tmp_path


def test_what_is_held_in_memory_does_not_grow_with_the_games(tmp_path: Path) -> None:
    _, tournament = begin(make_config(pairs=200, chunk=100, out=tmp_path))
    (match,) = tournament.played
    assert match.winners == [(), ()]
    # Few games are held, for the order in which a match of a knock-out was won.
    _, tournament = begin(make_config(pairs=30, chunk=30, out=tmp_path / "few"))
    assert [len(won) for won in tournament.played[0].winners] == [60]


def test_a_chunk_is_read_as_it_was_written(tmp_path: Path) -> None:
    store, tournament = begin(config_of(tmp_path, games_file=tmp_path / "games.jsonl"))
    again, second = begin(config_of(tmp_path / "again", games_file=tmp_path / "games.jsonl"))
    for match in tournament.played:
        assert "".join(store.record_lines(match.chunks)) == "".join(
            again.record_lines(match.chunks)
        )
        assert store.hash(match.chunks) == again.hash(match.chunks)
    assert second.hash == tournament.hash


# ---------------------------------------------------------------------------------------- resuming


def test_a_finished_run_plays_nothing(tmp_path: Path, played: list[Chunk]) -> None:
    store, tournament = begin(config_of(tmp_path))
    first = summarize(tournament, store)
    assert len(played) == 15
    again, second = resume(tmp_path)
    assert len(played) == 15
    assert second.games_per_second == 0
    assert lasting(summarize(second, again)) == lasting(first)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"agents": AGENTS[:2], "format": "sprt", "pairs": 300, "chunk": 3},
        {"until": 0.05, "pairs": 300},
        {"focus": True, "pairs": 60},
        {"format": "acc"},
    ],
    ids=["fixed", "sprt", "until", "focus", "acc"],
)
def test_a_run_goes_on_from_any_chunks(
    tmp_path: Path, played: list[Chunk], changes: dict[str, Any]
) -> None:
    store, tournament = begin(config_of(tmp_path, **changes))
    expected = lasting(summarize(tournament, store))
    chance = random.Random(1)
    for _ in range(4):
        lost = [path for path in chunk_files(tmp_path) if chance.random() < 0.4]
        for path in lost:
            path.unlink()
        played.clear()
        again, second = resume(tmp_path)
        assert len(played) == len(lost)
        assert second.hash == tournament.hash
        assert lasting(summarize(second, again)) == expected


def test_results_do_not_depend_on_how_it_goes_on(tmp_path: Path, played: list[Chunk]) -> None:
    store, tournament = begin(config_of(tmp_path))
    chunk_files(tmp_path)[3].unlink()
    played.clear()
    again, second = resume(tmp_path, batch_size=3, workers=1)
    assert second.hash == tournament.hash
    assert len(played) == 1
    assert summarize(second, again)["matches"] == summarize(tournament, store)["matches"]


@pytest.mark.parametrize("kind", ["jsonl", "npz"])
def test_damaged_chunks_are_played_again(tmp_path: Path, played: list[Chunk], kind: str) -> None:
    """Whatever byte is damaged is noticed, or does not matter."""
    games_file = tmp_path / "games.jsonl"
    config = make_config(pairs=4, chunk=4, games_file=games_file, out=tmp_path / "run")
    store, tournament = begin(config)
    (path,) = (tmp_path / "run" / CHUNKS).glob(f"*.{kind}")
    whole = path.read_bytes()
    chance = random.Random(2)
    places = chance.sample(range(len(whole)), 150)
    (chunk,) = tournament.played[0].chunks
    kept = store.load(chunk, with_records=True)
    assert kept is not None
    noticed = 0
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        found = store.load(chunk, with_records=True)
        noticed += found is None
        if found is not None:
            assert found.games.tobytes() == kept.games.tobytes()
            assert found.stats == kept.stats
    assert noticed > 100
    for damaged_size in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:damaged_size])
        assert store.load(chunk, with_records=True) is None
        played.clear()
        assert resume(tmp_path / "run")[1].hash == tournament.hash
        assert played == [chunk]
        assert store.load(chunk, with_records=True) is not None


def test_drafts_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    begin(config_of(tmp_path))
    drafts = tmp_path / ".results.json.123", tmp_path / CHUNKS / ".0000-00000000-7.npz.123"
    for draft in drafts:
        draft.write_text("half")
    resume(tmp_path)
    assert not any(draft.exists() for draft in drafts)


@pytest.mark.parametrize(
    "key", ["agents", "pairs", "seed", "rules", "rules.target", "chunk", "games_file", "out"]
)
def test_what_would_be_another_run_is_no_resumption(tmp_path: Path, key: str) -> None:
    begin(config_of(tmp_path))
    before = contents(tmp_path)
    with pytest.raises(ConfigError, match=f"A resumed run has its own {key}; leave it out"):
        Store.resume(tmp_path, {key: 1})
    assert contents(tmp_path) == before


def test_a_folder_without_a_run_cannot_be_resumed(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ConfigError, match=r"holds no run to resume; name one .*config\.toml"):
            Store.resume(folder)


# ----------------------------------------------------------------------------------- whose it is


def test_the_same_run_may_come_again(tmp_path: Path, played: list[Chunk]) -> None:
    _, first = begin(config_of(tmp_path))
    store, second = begin(config_of(tmp_path, batch_size=3, match_points="acc", anchor="greedy"))
    assert first.hash == second.hash
    assert len(played) == 30
    save_reports(store, summarize(second, store))
    Store.create(config_of(tmp_path))
    with pytest.raises(ConfigError, match="holds no results"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": 6},
        {"seed": 1},
        {"rules": "short"},
        {"agents": ["random", "greedy"]},
        {"chunk": 8},
        {"luck": True},
        {"until": 0.2},
        {"format": "gauntlet"},
        {"games_file": "games.jsonl"},
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_other_runs_are_refused(tmp_path: Path, change: dict[str, Any], is_first: bool) -> None:
    changes: list[dict[str, Any]] = [change, {}] if is_first else [{}, change]
    Store.create(config_of(tmp_path, **changes[0]))
    before = contents(tmp_path)
    (key,) = change
    with pytest.raises(ConfigError, match=f"holds another run, its {key} being "):
        Store.create(config_of(tmp_path, **changes[1]))
    assert contents(tmp_path) == before


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ConfigError, match="holds other files"):
        Store.create(config_of(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = config_of(None)
    Store.create(config)
    assert (tmp_path / "runs" / config.run_name() / CONFIG_FILE).is_file()


# ------------------------------------------------------------------------------- no room, no right


@pytest.mark.parametrize("writes", [0, 1, 4, 9])
def test_a_full_disk_keeps_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: list[Chunk], writes: int
) -> None:
    _, expected = play(config_of(None), tmp_path / "expected")
    config = config_of(tmp_path / "run")
    store = Store.create(config)
    write = Store._write
    left = writes

    def fill(store: Store, name: str, content: Any) -> None:
        nonlocal left
        if left == 0:
            # As a disk that is full in the middle of a file.
            def half(file: Any) -> None:
                file.write(b"half")
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            content = half
        else:
            left -= 1
        write(store, name, content)

    played.clear()
    with monkeypatch.context() as patches:
        patches.setattr(Store, "_write", fill)
        with pytest.raises(OSError, match="No space left"):
            run_tournament(config, store)
    assert len(played) == writes
    names = [path.name for path in (tmp_path / "run" / CHUNKS).iterdir()]
    assert len(names) == writes
    assert all(name.endswith(".npz") and not name.startswith(".") for name in names)
    again, tournament = resume(tmp_path / "run")
    assert len(played) == 15
    assert lasting(summarize(tournament, again)) == lasting(expected)


def test_no_folder_can_be_made_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(OSError, match=r"File exists|Not a directory"):
            Store.create(config_of(out))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_found_out_at_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError):
        Store.create(config_of(tmp_path))
    tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


def test_games_are_kept_in_a_fixed_layout(tmp_path: Path) -> None:
    store, tournament = begin(make_config(pairs=2, out=tmp_path))
    games = store.games(tournament.played[0].chunks[0])
    assert games.dtype.itemsize == 10
    assert games.tobytes()[:2] == np.array(games["scores"][0, 0], "<i2").tobytes()
    assert (games["scores"].max(axis=1) == 11).all()
    assert ((games["scores"][:, 0] == 11) == (games["a_won"] == 1)).all()
