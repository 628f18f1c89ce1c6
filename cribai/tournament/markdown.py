"""summary.md: a tournament's results in Markdown, from the JSON object of results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cribai.tournament.player_stats import NO_RECORDS
from cribai.tournament.report import any_ties, lines

Summary = Mapping[str, Any]


def summary_markdown(summary: Summary) -> str:
    """Returns the results as a page of Markdown."""
    rules = summary["rules"] if isinstance(summary["rules"], str) else summary["rules"]["name"]
    intro = (
        f"{rules}, {summary['format'].replace('_', ' ')}, {summary['games']:,} games in mirrored"
        f" pairs, seed {summary['seed']}. Intervals are at 95% over pairs."
    )
    parts = [f"# {' v '.join(map(_cell, summary['agents']))}", intro]
    if summary["ratings"]:
        rows = (
            (row["agent"], f"{row['elo']:+.1f}", _around(row["interval"]), f"{row['win_rate']:.2%}")
            for row in summary["ratings"]
        )
        parts += ["## Ratings", _table(("agent", "Elo", "+-", "wins"), rows)]
    ties = any_ties(summary["matches"])
    matches = (
        (
            f"{match['a']} v {match['b']}",
            f"{match['games']:,}",
            f"{match['win_rate']:.2%} ({_percent(match['win_rate_interval'])})",
            *([f"{match['ties']:,} ({match['tie_rate']:.2%})"] if ties else []),
            f"{match['margin']:+.2f}",
            f"{match['skunk_rate']:.1%} / {match['skunked_rate']:.1%}",
        )
        for match in summary["matches"]
        if match["games"]
    )
    names = ("match", "games", "wins", *["ties"] * ties, "margin", "skunks given / taken")
    parts += ["## Matches", _table(names, matches)]
    if players := summary.get("players"):
        parts += ["## Players", _players(players)]
    if acc := summary.get("acc"):
        standings = (
            (row["agent"], str(row["points"]), str(row["wins"]), f"{row['spread']:+}")
            for row in acc["standings"]
        )
        parts += ["## Qualifying round", _table(("agent", "points", "won", "spread"), standings)]
        parts.append("\n".join(_knock_out(acc)))
    parts += ["\n".join(f"- {line.strip()}" for line in lines(summary))]
    parts += ["```", summary["command"], "```"]
    return "\n\n".join(parts[:-3]) + "\n\n" + "\n".join(parts[-3:]) + "\n"


def _players(players: Summary) -> str:
    """Returns the figures of each agent over all that it met."""
    names = ["agent", "games", "won", "lost", "tied", "streak", "skunks given / taken", "points"]
    names += ["mean hand", "best hand"] * players["recorded"]
    rows = (
        (
            row["agent"],
            *(f"{row[name]:,}" for name in ("games", "wins", "losses", "ties", "longest_streak")),
            f"{row['skunks_given']:,} / {row['skunks_taken']:,}",
            f"{row['points_per_deal']:.2f}",
            *_hand_cells(row["hands"]),
        )
        for row in players["agents"]
    )
    table = _table(names, rows)
    return table if players["recorded"] else f"{table}\n\n{NO_RECORDS}"


def _hand_cells(hands: Summary | None) -> tuple[str, ...]:
    if hands is None:
        return ()
    best = hands["best"]
    if best is None:
        return "", ""
    return f"{hands['mean']:.2f}", f"{best['points']}: {best['cards']}, {best['starter']}"


def _knock_out(acc: Mapping[str, Any]) -> Iterator[str]:
    for number, meetings in enumerate(acc["knock_out"], 1):
        for meeting in meetings:
            a, b = meeting["games"]
            yield f"- round {number}: {_cell(meeting['a'])} v {_cell(meeting['b'])}: {a}-{b}"
    if acc["champion"] is not None:
        yield f"- champion: {_cell(acc['champion'])}"


def _table(names: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    table = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in table)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _around(interval: Sequence[float | None]) -> str:
    low, high = interval
    return "" if low is None or high is None else f"{(high - low) / 2:.1f}"


def _percent(interval: Sequence[float]) -> str:
    return f"{100 * interval[0]:.2f} to {interval[1]:.2%}"
