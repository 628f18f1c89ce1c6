"""report.html: a tournament's results as one page, from the JSON object of results.

The page needs nothing but itself: style and charts are in it, and there is no script.
"""

from collections.abc import Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from cribai.config import dump_toml
from cribai.tournament import figures
from cribai.tournament.figures import Summary
from cribai.tournament.formats import breakable, chance, percent, percents, plus_minus, signed, text
from cribai.tournament.report import any_ties

FORMATS: Final = {
    "round_robin": "round robin",
    "sprt": "sequential test",
    "acc": "ACC tournament",
}
"""Formats that have longer names."""

NAMED_COLUMNS: Final = 6
"""Agents up to which the matrix has their names above its columns, not numbers."""


def report_html(summary: Summary) -> str:
    """Returns the results as a page of HTML."""
    environment = Environment(
        loader=PackageLoader("cribai.tournament"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "agent": breakable,
        "chance": chance,
        "number": "{:,.0f}".format,
        "percent": percent,
        "percents": percents,
        "plus_minus": plus_minus,
        "signed": signed,
        "text": text,
    }
    return environment.get_template("report.html.j2").render(page(summary)) + "\n"


def page(summary: Summary) -> dict[str, Any]:
    """Returns what the template shows."""
    rules = summary["rules"] if isinstance(summary["rules"], str) else summary["rules"]["name"]
    matches = [match for match in summary["matches"] if match["games"]]
    order = [row["agent"] for row in summary["ratings"]] or list(summary["agents"])
    adjusted = [match for match in matches if match.get("luck_adjusted")]
    overall = sorted(summary["overall"], key=lambda row: order.index(row["agent"]))
    return {
        "summary": summary,
        "title": title(summary),
        "format": FORMATS.get(summary["format"], summary["format"]),
        "rules": rules,
        "overall": {row["agent"]: row for row in overall},
        "elo": {row["agent"]: row for row in summary["ratings"]},
        "order": order,
        "matches": matches,
        "unplayed": [match for match in summary["matches"] if not match["games"]],
        "ratings": figures.rating_chart(summary["ratings"]),
        "matrix": figures.matrix(order, matches) if len(order) > 2 and matches else None,
        "named_columns": len(order) <= NAMED_COLUMNS,
        "win_rates": figures.win_rate_charts(matches),
        "skunks": figures.skunk_chart(overall),
        "margins": figures.margin_charts(matches),
        "points": figures.points_chart(overall),
        "convergence": figures.convergence(summary["convergence"], order),
        "adjusted": adjusted,
        "luck": figures.luck_chart(adjusted),
        "sprt": figures.sprt(summary),
        "bracket": figures.bracket(summary["acc"]["knock_out"]) if summary.get("acc") else None,
        "forfeits": forfeits(matches),
        "ties": any_ties(matches),
        "toml": dump_toml(summary["configuration"]),
    }


def title(summary: Summary) -> str:
    """Returns the tournament's name: its agents when they are few."""
    agents = summary["agents"]
    if len(agents) <= 4:
        return " v ".join(agents)
    return f"{len(agents)} agents, {FORMATS.get(summary['format'], summary['format'])}"


def forfeits(matches: Sequence[Summary]) -> list[tuple[str, str, str, int, str]]:
    """Returns agent, opponent, reason, games and what happened first, of forfeited games."""
    found = []
    for match in matches:
        for side, (name, other) in enumerate((("a", "b"), ("b", "a"))):
            for reason, games in match["forfeit_reasons"][side].items():
                first = match["first_failures"][side].get(reason, "")
                found.append((match[name], match[other], reason, games, first))
    return found
