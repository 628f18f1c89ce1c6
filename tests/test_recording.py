"""The games of a tournament as records: all of them, in order, and as they were played."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import command
from cribai import PRESETS, ConfigError, Rules, make_agent
from cribai.records import replay_records
from cribai.tournament.games_file import check_games_file, write_games_file
from cribai.tournament.match import play_pairs
from cribai.tournament.recording import Recorder
from cribai.tournament.run import Tournament, run_tournament
from cribai.tournament.store import Store
from plain_presets import PLAIN
from tournaments import BRIEF_RULES, make_config

AGENTS = ["random", "greedy", "random"]
LONG = replace(PRESETS["standard"], target=1000, skunk_line=None, double_skunk_line=None)


def record(rules: Rules, num_pairs: int, **settings: Any) -> tuple[tuple[str, ...], Any]:
    recorder = Recorder(("greedy", "random"), rules, 5)
    agents = make_agent("greedy"), make_agent("random")
    settings = {"batch_size": 7} | settings
    results = play_pairs(
        *agents, rules, seed=5, num_pairs=num_pairs, watchers=[recorder], **settings
    )
    return recorder.lines(), results


def keep(path: Path, folder: Path, **changes: Any) -> tuple[Store, Tournament]:
    config = make_config(
        **{"agents": AGENTS, "pairs": 12, "chunk": 5, "games_file": path} | changes
    )
    store = Store.create(config.model_copy(update={"out": folder}))
    tournament = run_tournament(config, store)
    write_games_file(path, store, tournament)
    return store, tournament


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "rules",
    [*PLAIN.values(), BRIEF_RULES, LONG],
    ids=lambda rules: f"{rules.name}{rules.target}",
)
def test_records_are_what_was_played(tmp_path: Path, rules: Rules) -> None:
    lines, results = record(rules, 3 if rules.target > 121 else 10)
    path = tmp_path / "games.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    longest = 0
    for (kept, game), result in zip(replay_records(path), results, strict=True):
        assert (kept.seed, kept.pair, kept.game) == (5, result["pair"], result["game"])
        assert kept.rules == rules
        winners = {
            kept.seats[seat]
            for seat in range(rules.num_players)
            if rules.side_of(seat) == kept.winner
        }
        assert winners == {("greedy", "random")[result["winner"]]}
        assert max(kept.scores) == rules.target
        assert len(kept.deals) == game.deal_number + 1 == result["num_deals"]
        longest = max(longest, sum(len(deal.actions) for deal in kept.deals))
    if rules == LONG:
        assert longest > 512  # The room for actions is doubled more than once.


def test_records_do_not_depend_on_the_batch() -> None:
    expected, _ = record(BRIEF_RULES, 20)
    for settings in ({"batch_size": 1}, {"batch_size": 4096}):
        assert record(BRIEF_RULES, 20, **settings)[0] == expected
    later, _ = record(BRIEF_RULES, 8, first_pair=12)
    assert later == expected[24:]
    assert record(BRIEF_RULES, 0)[0] == ()


def test_every_game_is_in_the_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "games.jsonl"
    _, tournament = keep(path, tmp_path / "run")
    rows = read(path)
    seen = [(sorted(row["seats"]), row["pair"], row["game"]) for row in rows]
    assert seen == [
        (sorted(pairing), pair, game)
        for pairing in (("random", "greedy"), ("random", "random"), ("greedy", "random"))
        for pair in range(12)
        for game in range(2)
    ]
    played = [
        chunk_games
        for match in tournament.played
        for chunk in match.chunks
        for chunk_games in Store(tmp_path / "run").games(chunk)["scores"].tolist()
    ]
    assert [sorted(row["scores"]) for row in rows] == [sorted(scores) for scores in played]
    result = command.run("replay", str(path), "--json", "--quiet").json
    assert (result["records"], result["verified"]) == (72, True)
    assert not list(path.parent.glob(".*"))


def test_parquet_holds_the_same_games(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    keep(tmp_path / "games.jsonl", tmp_path / "one")
    keep(tmp_path / "games.parquet", tmp_path / "other")
    rows = parquet.read_table(tmp_path / "games.parquet").to_pylist()
    for row in rows:
        row["rules"] = json.loads(row["rules"])
    assert rows == read(tmp_path / "games.jsonl")


def test_only_games_that_count_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    _, tournament = keep(
        path, tmp_path / "run", agents=AGENTS[:2], format="sprt", pairs=500, chunk=3
    )
    (match,) = tournament.played
    counted = sum(chunk.num_pairs for chunk in tournament.counted(0))
    assert counted < match.num_pairs
    assert len(read(path)) == 2 * counted


def test_the_file_is_whole_after_a_resumption(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    keep(path, tmp_path / "run")
    whole = path.read_bytes()
    chunks = sorted((tmp_path / "run" / "chunks").iterdir())
    for lost in (chunks[0], chunks[5], chunks[-1]):
        lost.unlink()
    path.unlink()
    store, config = Store.resume(tmp_path / "run")
    write_games_file(path, store, run_tournament(config, store))
    assert path.read_bytes() == whole


def test_a_file_that_cannot_be_written_is_refused_before_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_games_file(None)
    check_games_file(tmp_path / "deep" / "games.jsonl")
    assert list((tmp_path / "deep").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"File exists|Not a directory"):
        check_games_file(tmp_path / "file" / "games.jsonl")
    check_games_file(tmp_path / "games.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("cribai.tournament.games_file.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="needs pyarrow; install it with pip install 'cribai"):
        check_games_file(tmp_path / "games.parquet")


def test_a_file_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.jsonl"
    store, tournament = keep(path, tmp_path / "run")
    path.write_text("as it was")

    def lines(*_: object) -> Any:
        yield "half\n"
        raise OSError("no space")

    monkeypatch.setattr(Store, "record_lines", lines)
    with pytest.raises(OSError, match="no space"):
        write_games_file(path, store, tournament)
    assert path.read_text() == "as it was"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["games.jsonl", "run"]


def test_the_recorder_sees_what_the_match_sees() -> None:
    lines, results = record(BRIEF_RULES, 5)
    assert [json.loads(line)["winner"] for line in lines] == [
        int(winner if seat == 0 else 1 - winner)
        for winner, seat in zip(results["winner"], np.tile([0, 1], 5), strict=True)
    ]
