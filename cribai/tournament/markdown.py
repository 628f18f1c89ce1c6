"""summary.md: a tournament's results in Markdown, from the JSON object of results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
