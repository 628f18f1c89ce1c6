"""The JSON object of results: what is promised in it, and that it says what was played."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import command
from cribai import MATCH_POINTS
from cribai.tournament.markdown import summary_markdown
from cribai.tournament.plans import make_plan
from cribai.tournament.run import Tournament
from cribai.tournament.schedule import labels
from cribai.tournament.stats import Stats
from cribai.tournament.store import Store
from cribai.tournament.summary import summarize
from tournaments import decided, make_config, outcome, play

pytestmark = pytest.mark.slow

AGENTS = ["random", "greedy", "random"]

PROMISED = {
    "agents": list,
    "rules": str,
    "seed": int,
    "hash": str,
    "games_per_second": float,
    "matches": list,
    "ratings": list,
    "format": str,
    "pairs": int,
    "games": int,
    "match_points": str,
    "overall": list,
    "players": dict,
    "warnings": list,
    "convergence": dict,
    "failed": list,
    "configuration": dict,
    "command": str,
}

RATES = (
    "win_rate",
    "margin",
    "skunk_rate",
    "skunked_rate",
    "double_skunk_rate",
    "double_skunked_rate",
    "first_dealer_win_rate",
    "match_points_ahead",
)


class Kept(Store):
    """A store whose chunks were never played."""

    def __init__(self, tournament: Tournament, games: dict[Any, Any]) -> None:
        super().__init__(Path())
        self._games = games
        self.tournament = tournament

    def games(self, chunk: Any) -> Any:
        return self._games[chunk]


def summary_of(wins: list[int], agents: list[str], **changes: Any) -> dict[str, Any]:
    """The results of a round robin whose matches' pairs were won so, 30 pairs each."""
    config = make_config(agents=agents, pairs=30, chunk=30, **changes)
    plan = make_plan(config)
    played = decided(plan, [number for match in wins for number in [match] * 30])
    tournament = Tournament(config, tuple(labels(config.agents)), plan, tuple(played), "ab", 1.0)
    games = {
        chunk: outcome([match] * 30).games
        for entry, match in zip(played, wins, strict=True)
        for chunk in entry.chunks
    }
    return summarize(tournament, Kept(tournament, games))


def test_what_is_promised(tmp_path: Path) -> None:
    _, summary = play(make_config(agents=AGENTS, rules="five_card", luck=True), tmp_path)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert {key: type(value) for key, value in summary.items()} == PROMISED
    assert summary["agents"] == ["random", "greedy", "random#2"]
    assert len(summary["hash"]) == 64
    assert [(match["a"], match["b"]) for match in summary["matches"]] == [
        ("random", "greedy"),
        ("random", "random#2"),
        ("greedy", "random#2"),
    ]
    for match in summary["matches"]:
        assert (match["pairs"], match["games"]) == (20, 40)
        for name in RATES:
            low, high = match[f"{name}_interval"]
            assert low <= match[name] <= high
        assert match["deals_per_game"] > 1
        assert sum(match["pairs_by_half_wins"]) == 20
        assert match["forfeits"] == [0, 0]
        for points in (match["points_per_deal"], match["opponent_points_per_deal"]):
            assert list(points["dealer"]) == ["pegging", "hand", "crib", "heels", "total"]
            assert list(points["pone"]) == ["pegging", "hand", "total"]
            for parts in points.values():
                assert parts["total"] == pytest.approx(sum(parts.values()) - parts["total"])
        for role, parts in match["points_per_deal_intervals"].items():
            for source, (low, high) in parts.items():
                assert low <= match["points_per_deal"][role][source] <= high
        margins = match["margins"]
        assert sum(margins["games"]) == 40
        assert len(margins["edges"]) == len(margins["games"]) + 1
    for rating in summary["ratings"]:
        assert rating.keys() == {
            "agent", "elo", "standard_error", "interval", "games", "win_rate"
        }  # fmt: skip


def test_margins_are_counted_by_tens(tmp_path: Path) -> None:
    tournament, summary = play(make_config(rules="standard", pairs=100), tmp_path)
    margins = summary["matches"][0]["margins"]
    assert margins["edges"] == list(range(-130, 131, 10))
    games = Store(tmp_path).games(tournament.played[0].chunks[0])["scores"].astype(int)
    differences = games[:, 0] - games[:, 1]
    for low, number in zip(margins["edges"], margins["games"], strict=False):
        assert number == ((low <= differences) & (differences < low + 10)).sum()


def test_one_pair_has_no_bounds(tmp_path: Path) -> None:
    _, summary = play(make_config(pairs=1), tmp_path)
    (match,) = summary["matches"]
    assert match["margin_interval"] == [None, None]
    assert match["points_per_deal_intervals"]["dealer"]["hand"] == [None, None]
    json.dumps(summary, allow_nan=False)
    assert "| random v greedy | 2 |" in summary_markdown(summary)


def test_match_points_are_of_the_table(tmp_path: Path) -> None:
    tournament, summary = play(make_config(match_points="acc", pairs=60), tmp_path)
    (match,) = summary["matches"]
    stats = tournament.played[0].total()
    assert stats is not None
    assert match["match_points"] == list(stats.match_points(MATCH_POINTS["acc"]))
    ahead, interval = stats.match_points_ahead(MATCH_POINTS["acc"])
    assert match["match_points_ahead"] == ahead
    assert match["match_points_ahead_interval"] == list(interval)
    assert match["skunked_rate"] > 0


def test_overall_is_all_that_an_entrant_played(tmp_path: Path) -> None:
    tournament, summary = play(make_config(agents=AGENTS), tmp_path)
    totals = [match.total() for match in tournament.played]
    first, second, third = [total for total in totals if isinstance(total, Stats)]
    own = [first + second, first.flipped() + third, second.flipped() + third.flipped()]
    for row, stats, label in zip(summary["overall"], own, summary["agents"], strict=True):
        assert row["agent"] == label
        assert row["games"] == 80
        assert row["win_rate"] == stats.win_rate
        assert row["margin"] == pytest.approx(stats.margin_per_game)
        assert row["points_per_deal"] == stats.points_per_deal()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"format": "gauntlet", "luck": True, "chunk": 7, "match_points": "acc", "anchor": "greedy"},
        {"until": 0.07, "pairs": 300, "chunk": 16},
        {"agents": AGENTS[:2], "format": "sprt", "sprt.h0": 0.4, "sprt.h1": 0.6, "chunk": 4},
        {"agents": AGENTS[:2], "format": "sprt", "sprt.elo0": -30, "sprt.elo1": 1e-05},
        {"focus": True, "rules": "five_card", "chunk": 3},
        {"format": "acc", "acc.games": 4, "acc.best_of": 3, "seed": 2**64 - 1},
        {"rules": {"name": "7 up", "target": 7, "skunk_line": 3, "double_skunk_line": "none"}},
        {"rules": {"name": "7", "target": 7, "skunk_line": 3, "double_skunk_line": 1}},
        {"games_file": "games.jsonl", "batch_size": 5},
    ],
    ids=lambda changes: "-".join(map(str, changes)),
)
def test_the_command_plays_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    _, summary = play(make_config(**{"agents": AGENTS, "pairs": 12} | changes), tmp_path / "run")
    program, *words = shlex.split(summary["command"])
    assert program == "cribai"
    again = command.run(*words, "--json").json
    different = {"games_per_second", "out"}
    assert {key: again[key] for key in summary if key not in different} == {
        key: summary[key] for key in summary if key not in different
    }


@pytest.mark.parametrize("anchor", [None, "greedy", "random#2"])
def test_ratings_are_relative_to_the_anchor(tmp_path: Path, anchor: str | None) -> None:
    _, summary = play(make_config(agents=["greedy", "random", "random"], anchor=anchor), tmp_path)
    (at_zero,) = [row for row in summary["ratings"] if row["standard_error"] == 0]
    assert at_zero["agent"] == (anchor or "random")
    assert at_zero["elo"] == 0


def test_without_random_the_first_is_the_anchor() -> None:
    summary = summary_of([1], ["greedy", "expectimax"])
    assert [row["agent"] for row in summary["ratings"] if row["standard_error"] == 0] == ["greedy"]


@pytest.mark.parametrize("changes", [{}, {"format": "acc"}, {"until": 0.1, "chunk": 8}])
def test_convergence_ends_at_the_ratings(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = make_config(**{"agents": AGENTS, "pairs": 100} | changes)
    _, summary = play(config, tmp_path)
    convergence = summary["convergence"]
    assert 5 <= len(convergence["games"]) <= 20
    assert convergence["games"] == sorted(convergence["games"])
    assert convergence["games"][-1] == summary["games"]
    for row in summary["ratings"]:
        curve = convergence["elo"][row["agent"]]
        assert len(curve) == len(convergence["games"])
        assert curve[-1] == pytest.approx([row["elo"], *row["interval"]])


def test_agents_that_lost_every_game_are_warned_of() -> None:
    summary = summary_of([2, 2, 1], ["greedy", "random", "random"])
    (warning,) = summary["warnings"]
    assert "won or lost every game against the others (greedy / random" in warning
    assert "half a win was added" in warning


def test_cycles_are_warned_of() -> None:
    mixed = [2, 0, 2]
    summary = summary_of(mixed, ["greedy", "random", "expectimax"])
    assert "greedy beats random, random beats expectimax and expectimax beats greedy: no" in str(
        summary["warnings"]
    )
    assert f"- warning: {summary['warnings'][0]}" in summary_markdown(summary)


def test_even_results_warn_of_nothing() -> None:
    assert summary_of([1, 1, 1], ["greedy", "random", "random"])["warnings"] == []


def test_the_sequential_test_says_what_it_found(tmp_path: Path) -> None:
    for number, (h1, decision) in enumerate(((0.51, "h0"), (0.5001, None))):
        config = make_config(
            format="sprt",
            pairs=200,
            chunk=5,
            **{"sprt.h0": 0.5 - (number == 1) * 1e-4, "sprt.h1": h1},
        )
        _, summary = play(config, tmp_path / str(number))
        sprt = summary["sprt"]
        assert sprt.keys() == {
            "h0", "h1", "alpha", "beta", "bounds", "log_likelihood_ratio", "decision"
        }  # fmt: skip
        assert sprt["decision"] == decision
        assert (sprt["log_likelihood_ratio"] <= sprt["bounds"][0]) == (decision == "h0")
        text = summary_markdown(summary)
        assert ("undecided" in text) == (decision is None)


def test_the_page_of_markdown(tmp_path: Path) -> None:
    _, summary = play(
        make_config(agents=["greedy", "hostile_agents:Uniform", "random"], format="acc"), tmp_path
    )
    text = summary_markdown(summary)
    assert text.startswith("# greedy v hostile_agents:Uniform v random\n")
    for words in (
        "## Ratings",
        "## Matches",
        "## Players",
        "## Qualifying round",
        "- champion: greedy",
        f"- hash {summary['hash']}",
        f"```\n{summary['command']}\n```\n",
    ):
        assert words in text
    widths = {
        line.count(" | ") for line in text.split("## Matches")[1].splitlines() if line[:1] == "|"
    }
    assert len(widths) == 3  # the matches and, below, the players and the qualifying round
