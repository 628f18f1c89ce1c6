"""Tied games from the engine to the report: results, records, run folders, tables and pages."""

import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import command
from cribai import Agent, Game, GameBatch, RecordError, ViewBatch, make_agent
from cribai.engine.simulate import NO_FORFEIT, RESULT, TIE, award_game, take_ended
from cribai.engine.state import NO_PLAYER, compiled_rules
from cribai.game import Outcome, Skunk
from cribai.records import from_json, record_game, replay, to_json
from cribai.tournament.chunks import winners
from cribai.tournament.games_file import write_games_file
from cribai.tournament.html import report_html
from cribai.tournament.markdown import summary_markdown
from cribai.tournament.match import play_pairs
from cribai.tournament.report import render
from cribai.tournament.reports import read_results, save_reports
from cribai.tournament.run import run_tournament
from cribai.tournament.stats import Stats
from cribai.tournament.store import Store
from cribai.tournament.summary import summarize
from level_games import make_level
from tournaments import BRIEF_RULES, make_config, play

AGENTS = ["random", "greedy", "random"]


@pytest.fixture
def level(monkeypatch: pytest.MonkeyPatch) -> None:
    make_level(monkeypatch)


def match(seed: int = 5, **settings: Any) -> NDArray[np.void]:
    agents = make_agent("greedy"), make_agent("random")
    return play_pairs(*agents, BRIEF_RULES, seed=seed, num_pairs=40, **settings)


def tied_game() -> Game:
    """A game that ended level, where `level` holds."""
    for seed in range(100):
        game = Game(BRIEF_RULES, seed=seed)
        while not game.is_over:
            game.push(game.legal_actions[0])
        outcome = game.outcome()
        if outcome is not None and outcome.winner is None:
            return game
    raise AssertionError("no game was tied")


# --------------------------------------------------------------------------------- engine and game


def test_the_result_of_a_tied_state() -> None:
    batch = GameBatch.start(2, "standard", seed=1, pairs=[0, 0], games=[0, 1])
    batch.states["scores"][:, :2] = 120, 118
    award_game(batch.states, 0, NO_PLAYER)
    award_game(batch.states, 1, 1)
    assert batch.over.all()
    assert batch.winners.tolist() == [NO_PLAYER, 1]
    seat_agents = np.array([[0, 1, 0, 1], [1, 0, 1, 0]], np.int8)
    results = np.zeros(2, RESULT)
    numbers = np.arange(2)
    places = np.zeros(2, np.int64)
    compiled = compiled_rules(batch.rules)
    take_ended(batch.states, compiled, seat_agents, 0, numbers.copy(), places, numbers, results)
    assert results["winner"].tolist() == [TIE, 0]
    assert results["scores"].tolist() == [[120, 118], [118, 120]]
    deals_first = batch.states["first_dealer"][1] == 1
    assert results["first_dealer_won"].tolist() == [0, deals_first]


def test_an_outcome_without_a_winner() -> None:
    game = Game(seed=1, scores=(120, 55))
    assert game.outcome() is None
    award_game(game._batch.states, 0, NO_PLAYER)
    outcome = game.outcome()
    assert outcome == Outcome(None, (120, 55), (Skunk.NONE, Skunk.NONE))
    assert str(outcome) == "a tie"
    assert [outcome.match_points(table) for table in ("plain", "quadruple", "acc")] == [0, 0, 0]
    assert str(game).endswith("\n  a tie")
    assert game.actor is None
    assert game.legal_actions == []


def test_an_outcome_with_a_winner_says_so() -> None:
    game = Game(seed=1, scores=(120, 55))
    award_game(game._batch.states, 0, 0)
    assert str(game).endswith("\n  side 0 wins")
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.match_points() == 3


# ----------------------------------------------------------------------------------------- matches


@pytest.mark.usefixtures("level")
def test_a_match_with_ties() -> None:
    results = match()
    tied = results["winner"] == TIE
    assert 10 < tied.sum() < 70
    assert (results["num_deals"][tied] % 2 == 0).all()
    # Tied as they stand, and still no skunks.
    assert results["scores"][tied].min() <= BRIEF_RULES.skunk_line
    assert not results["skunk"][tied].any()
    assert results["skunk"][~tied].any()
    assert not results["first_dealer_won"][tied].any()
    stats = Stats.from_results(results)
    assert sum(stats.wins) + sum(stats.losses) + stats.ties == stats.games
    assert stats.ties == tied.sum()
    for size in (1, 7):
        assert match(batch_size=size).tobytes() == results.tobytes()


class First(Agent):
    """Takes the first legal action, whatever its key."""

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        return views.action_masks().argmax(axis=1)


@pytest.mark.usefixtures("level")
def test_names_swapped_mirror_a_match() -> None:
    agents = make_agent("greedy"), First()
    results, swapped = (
        play_pairs(*pair, BRIEF_RULES, seed=2, num_pairs=40) for pair in (agents, agents[::-1])
    )
    stats, twin = Stats.from_results(results), Stats.from_results(swapped)
    assert twin == stats.flipped()
    assert twin.ties == stats.ties > 0
    assert twin.win_rate == pytest.approx(1 - stats.win_rate)
    assert stats.win_rate != 0.5


@pytest.mark.usefixtures("level")
def test_equal_agents_tie_mirrored_games_alike() -> None:
    twins = make_agent("greedy"), make_agent("greedy")
    results = play_pairs(*twins, BRIEF_RULES, seed=1, num_pairs=30)
    assert (results["winner"][::2] == TIE).tolist() == (results["winner"][1::2] == TIE).tolist()
    stats = Stats.from_results(results)
    assert stats.ties > 0
    assert stats.pairs_by_half_wins == (0, 0, 30, 0, 0)


# ----------------------------------------------------------------------------------------- records


@pytest.mark.usefixtures("level")
def test_a_record_of_a_tie() -> None:
    game = tied_game()
    record = record_game(game, ["a", "b"])
    assert record.winner is None
    line = to_json(record)
    assert json.loads(line)["winner"] is None
    assert from_json(line) == record
    again = replay(record)
    assert again.outcome() == game.outcome()
    with pytest.raises(RecordError, match=r"the winner stated, 1, must be null; restore or drop"):
        replay(replace(record, winner=1))


@pytest.mark.usefixtures("level")
def test_a_win_is_no_tie() -> None:
    game = Game(BRIEF_RULES, seed=0)
    while True:
        while not game.is_over:
            game.push(game.legal_actions[0])
        if game.outcome().winner is not None:  # type: ignore[union-attr]
            break
        game = Game(BRIEF_RULES, seed=game.seed + 1)
    record = record_game(game, ["a", "b"])
    with pytest.raises(RecordError, match=rf"stated, null, must be {record.winner}; restore"):
        replay(replace(record, winner=None))


@pytest.mark.parametrize("winner", [-1, 2])
def test_no_side_has_such_a_number(winner: int) -> None:
    game = Game(BRIEF_RULES, seed=0)
    while not game.is_over:
        game.push(game.legal_actions[0])
    record = record_game(game, ["a", "b"])
    with pytest.raises(RecordError, match=f"Winner is {winner}; it must be 0 to 1"):
        replace(record, winner=winner)


@pytest.mark.usefixtures("level")
def test_a_tie_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(to_json(record_game(tied_game(), ["a", "b"])) + "\n")
    scores = "-".join(map(str, tied_game().scores))
    assert f"\na tie, {scores}\n" in command.run("replay", str(path)).stdout
    (game,) = command.run("replay", str(path), "--json", "--quiet").json["games"]
    assert (game["winner"], game["skunks"]) == (None, [0, 0])


# ------------------------------------------------------------------------------------- tournaments


def texts(summary: dict[str, Any]) -> Iterator[str]:
    """The report of the command, part by part."""
    from rich.console import Console

    for part in render(summary):
        console = Console(width=200, file=StringIO())
        console.print(part)
        yield console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("level")
def test_a_tournament_with_ties(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    config = make_config(agents=AGENTS, pairs=24, chunk=5, games_file=path)
    tournament, summary = play(config, tmp_path / "run")
    store = Store(tmp_path / "run")
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    for number, row in enumerate(summary["matches"]):
        games = np.concatenate([store.games(chunk) for chunk in tournament.counted(number)])
        ties = int((winners(games) == TIE).sum())
        assert row["ties"] == ties > 0
        assert row["tie_rate"] == ties / 48
        low, high = row["tie_rate_interval"]
        assert low <= row["tie_rate"] <= high
        won = int((winners(games) == 0).sum())
        assert row["win_rate"] == (won + ties / 2) / 48
        assert row["pairs_by_half_wins"][1] + row["pairs_by_half_wins"][3] > 0
    for row in summary["overall"]:
        met = [match for match in summary["matches"] if row["agent"] in (match["a"], match["b"])]
        assert row["ties"] == sum(match["ties"] for match in met)
        assert row["tie_rate"] == row["ties"] / row["games"]
    assert [row["win_rate"] for row in summary["overall"]] == pytest.approx(
        [
            next(rating["win_rate"] for rating in summary["ratings"] if rating["agent"] == label)
            for label in summary["agents"]
        ]
    )
    # The last look at the ratings is at all games.
    for row in summary["ratings"]:
        last = summary["convergence"]["elo"][row["agent"]][-1]
        assert last == pytest.approx([row["elo"], *row["interval"]])
    # Every game has its record, and is played again to the same end.
    write_games_file(path, store, tournament)
    replayed = command.run("replay", str(path), "--json", "--quiet").json["games"]
    tied = [game for game in replayed if game["winner"] is None]
    assert len(replayed) == summary["games"]
    assert len(tied) == sum(row["ties"] for row in summary["matches"])


@pytest.mark.usefixtures("level")
def test_ties_in_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "games.parquet"
    tournament, summary = play(make_config(games_file=path), tmp_path / "run")
    write_games_file(path, Store(tmp_path / "run"), tournament)
    found = parquet.read_table(path).to_pylist()
    assert sum(row["winner"] is None for row in found) == summary["matches"][0]["ties"] > 0


@pytest.mark.usefixtures("level")
def test_reports_say_how_many_were_tied(tmp_path: Path) -> None:
    _, summary = play(make_config(agents=AGENTS), tmp_path)
    row = summary["matches"][0]
    said = f"{row['ties']:,} ({row['tie_rate']:.2%})"
    assert "| ties |" in summary_markdown(summary)
    assert f"| {said} |" in summary_markdown(summary)
    assert any(" ties " in text and f"{row['tie_rate']:.2%}" in text for text in texts(summary))
    page = report_html(summary)
    assert page.count('<th scope="col">Ties</th>') == 2
    assert f'<td>{100 * row["tie_rate"]:.2f}%<span class="second">{row["ties"]}</span></td>' in page
    save_reports(Store(tmp_path), summary)
    assert read_results(tmp_path) == summary


def test_reports_without_ties_do_not_mention_them(tmp_path: Path) -> None:
    _, summary = play(make_config(agents=AGENTS), tmp_path)
    assert {(row["ties"], row["tie_rate"]) for row in summary["matches"]} == {(0, 0)}
    assert {(row["ties"], row["tie_rate"]) for row in summary["overall"]} == {(0, 0)}
    assert "ties" not in summary_markdown(summary)
    assert not any("ties" in text for text in texts(summary))
    assert "Ties" not in report_html(summary)


@pytest.mark.usefixtures("level")
def test_a_sequential_test_of_tied_games(tmp_path: Path) -> None:
    config = make_config(format="sprt", pairs=500, chunk=16, **{"sprt.h0": 0.3, "sprt.h1": 0.5})
    _, summary = play(config, tmp_path)
    assert summary["sprt"]["decision"] is not None
    assert summary["matches"][0]["ties"] > 0
    assert "<dt>Pairs with 0, 1/2, 1, 3/2 and 2 wins</dt>" in report_html(summary)


@pytest.mark.usefixtures("level")
def test_a_congress_with_ties(tmp_path: Path) -> None:
    config = make_config(format="acc", agents=AGENTS, **{"acc.games": 20})
    _, summary = play(config, tmp_path)
    assert summary["acc"]["champion"] in summary["agents"]
    assert sum(row["wins"] for row in summary["acc"]["standings"]) < 3 * 20
    report_html(summary)


# ------------------------------------------------------------------------------------- run folders


@pytest.mark.usefixtures("level")
def test_ties_are_kept_in_the_run_folder(tmp_path: Path) -> None:
    config = make_config(pairs=20, chunk=7, luck=False, out=tmp_path)
    store = Store.create(config)
    tournament = run_tournament(config, store)
    summary = summarize(tournament, store)
    again, resumed = Store.resume(tmp_path)
    second = run_tournament(resumed, again)
    assert second.hash == tournament.hash
    assert summarize(second, again)["matches"] == summary["matches"]
    assert summary["matches"][0]["ties"] > 0
    games = store.games(tournament.played[0].chunks[0])
    assert set(games["a_won"].tolist()) == {0, 1, TIE}


def as_of_old(sums: dict[str, Any]) -> dict[str, Any]:
    """The sums of a chunk as cribai 0.1.0 kept them."""
    none, half, one, more, both = sums.pop("pairs_by_half_wins")
    assert half == more == 0
    old = {
        "pairs_by_wins": [none, one, both],
        "first_dealer_wins": sums.pop("first_dealer_half_wins") // 2,
        "first_dealer_squares": sums.pop("first_dealer_squares") // 4,
        "luck_wins": sums.pop("luck_half_wins") // 2,
    }
    return old | sums


def test_run_folders_of_old_are_read(tmp_path: Path) -> None:
    config = make_config(rules="standard", pairs=12, chunk=5, luck=True, out=tmp_path)
    store = Store.create(config)
    tournament = run_tournament(config, store)
    save_reports(store, summarize(tournament, store))
    for chunk in tournament.played[0].chunks:
        path = tmp_path / store._chunk_file(chunk, "npz")
        with np.load(path) as data:
            games, rest = data["games"], json.loads(str(data["rest"]))
        rest["stats"] = as_of_old(rest["stats"])
        fields = [(n, "u1" if n == "a_won" else games.dtype[n]) for n in games.dtype.names]
        np.savez_compressed(path, games=games.astype(fields), rest=np.array(json.dumps(rest)))
    for number, chunk in enumerate(tournament.played[0].chunks):
        found = store.load(chunk, with_records=False)
        assert found is not None
        assert found.stats == tournament.played[0].stats[number]
    assert store.hash(tournament.played[0].chunks) == tournament.hash


def test_results_of_old_are_drawn(tmp_path: Path) -> None:
    config = make_config(format="sprt", pairs=8)
    store = Store.create(config.model_copy(update={"out": tmp_path}))
    summary = summarize(run_tournament(config, store), store)
    save_reports(store, summary)
    page = (tmp_path / "report.html").read_text()
    (row,) = summary["matches"]
    none, _, one, _, both = row.pop("pairs_by_half_wins")
    row["pairs_by_wins"] = [none, one, both]
    for part in (row, *summary["overall"]):
        for name in ("ties", "tie_rate", "tie_rate_interval"):
            part.pop(name, None)
    (tmp_path / "results.json").write_text(json.dumps(summary))
    shown = command.run("report", str(tmp_path))
    assert shown.status == 0
    assert (tmp_path / "report.html").read_text() == page
    assert f"<dt>Pairs with 0, 1 and 2 wins</dt><dd>{none}, {one}, {both}</dd>" in page


def test_forfeits_are_no_ties() -> None:
    results = np.zeros(2, RESULT)
    results["scores"] = 50
    results["forfeit"] = 1, NO_FORFEIT
    results["winner"] = 0, TIE
    stats = Stats.from_results(results)
    assert (stats.wins, stats.ties, stats.forfeits) == ((1, 0, 0), 1, (0, 1))
