"""A tournament's results as tables for the terminal, from the JSON object of results."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table

Summary = Mapping[str, Any]


def render(summary: Summary) -> Iterator[RenderableType]:
    """Yields the results as tables and lines of text for a rich console."""
    rules = summary["rules"] if isinstance(summary["rules"], str) else summary["rules"]["name"]
    yield (
        f"{rules}, {summary['format'].replace('_', ' ')}, seed {summary['seed']}; intervals at 95%"
        " over mirrored pairs;\n"
        "dealer: games won by the first dealer; points: what the wins are worth"
    )
    for table in (_ratings_table, _matches_table, _luck_table, _points_table, _acc_tables):
        for part in table(summary):
            yield ""
            yield part
    yield ""
    yield from lines(summary)


def any_ties(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Tells whether a game of these matches or agents was tied; else reports say nothing of it."""
    return any(row.get("ties", 0) > 0 for row in rows)


def lines(summary: Summary) -> Iterator[str]:
    """Yields what is said in sentences: decisions, warnings, failures, speed and hash."""
    if sprt := summary.get("sprt"):
        low, high = sprt["bounds"]
        what = {"h0": sprt["h0"], "h1": sprt["h1"]}.get(sprt["decision"])
        verdict = "undecided" if what is None else f"accepted: a win rate of {what:.4g}"
        ratio = sprt["log_likelihood_ratio"]
        yield (
            f"sequential test of {sprt['h0']:.4g} against {sprt['h1']:.4g}: {verdict}"
            f" (LLR {ratio if ratio is None else round(ratio, 3)}, bounds {low:.3f} and {high:.3f})"
        )
    for match in summary["matches"]:
        for side, name in enumerate((match["a"], match["b"])):
            reasons = match.get("forfeit_reasons", ({}, {}))[side]
            if reasons:
                counts = ", ".join(f"{reason} {number}" for reason, number in reasons.items())
                yield f"{name} forfeited games v {match['b' if side == 0 else 'a']}: {counts}"
                yield from (f"  {what}" for what in match["first_failures"][side].values())
    yield from (f"warning: {warning}" for warning in summary["warnings"])
    yield from (f"not played: {failure}" for failure in summary["failed"])
    speed = summary["games_per_second"]
    yield f"{summary['games']:,} games" + (f" at {speed:,.0f} games/s" if speed else "")
    yield f"hash {summary['hash']}"


def _ratings_table(summary: Summary) -> Iterator[Table]:
    if not summary["ratings"]:
        return
    table = _table("rating", "Elo", "+-", "games", "wins")
    for row in summary["ratings"]:
        low, high = row["interval"]
        width = "" if low is None else f"{(high - low) / 2:.1f}"
        table.add_row(
            row["agent"],
            f"{row['elo']:+.1f}",
            width,
            f"{row['games']:,}",
            f"{row['win_rate']:.2%}",
        )
    yield table


def _matches_table(summary: Summary) -> Iterator[Table]:
    ties = any_ties(summary["matches"])
    table = _table(
        "match",
        "wins",
        *(["ties"] if ties else []),
        "margin",
        "skunks\ndouble",
        "skunked\ndouble",
        f"points\n{summary['match_points']}",
        "dealer\ndeals",
    )
    for match in summary["matches"]:
        if not match["games"]:
            continue
        low, high = match["win_rate_interval"]
        bounds = ["" if bound is None else f"{bound:.1f}" for bound in match["margin_interval"]]
        of_a, of_b = match["match_points"]
        table.add_row(
            f"{match['a']}\nv {match['b']}",
            f"{match['win_rate']:.2%}\n{100 * low:.2f}-{high:.2%}",
            *([f"{match['tie_rate']:.2%}\n{match['ties']:,}"] if ties else []),
            f"{match['margin']:+.2f}\n{' to '.join(bounds)}",
            f"{match['skunk_rate']:.1%}\n{match['double_skunk_rate']:.1%}",
            f"{match['skunked_rate']:.1%}\n{match['double_skunked_rate']:.1%}",
            f"{of_a}\n{of_b}",
            f"{match['first_dealer_win_rate']:.1%}\n{match['deals_per_game']:.2f}",
        )
    yield table


def _luck_table(summary: Summary) -> Iterator[Table]:
    matches = [match for match in summary["matches"] if match.get("luck_adjusted")]
    if not matches:
        return
    table = _table("luck taken out", "wins", "interval", "luck", "variance")
    for match in matches:
        adjusted = match["luck_adjusted"]
        low, high = adjusted["interval"]
        factor = adjusted["variance_reduction"]
        table.add_row(
            f"{match['a']} v {match['b']}",
            f"{adjusted['win_rate']:.2%}",
            f"{100 * low:.2f}-{high:.2%}",
            f"{adjusted['luck']:+.2%}",
            "" if factor is None else f"/ {factor:.2f}",
        )
    yield table


def _points_table(summary: Summary) -> Iterator[Table]:
    columns = ("pegging", "hand", "crib", "heels", "total")
    table = _table("points a deal", "role", *columns)
    for match in summary["matches"]:
        if not match["games"]:
            continue
        for a, b, key in (
            (match["a"], match["b"], "points_per_deal"),
            (match["b"], match["a"], "opponent_points_per_deal"),
        ):
            for role, points in match[key].items():
                cells = (f"{points[source]:.2f}" if source in points else "" for source in columns)
                table.add_row(f"{a} v {b}" if role == "dealer" else "", role, *cells)
    yield table


def _acc_tables(summary: Summary) -> Iterator[Table]:
    acc = summary.get("acc")
    if acc is None:
        return
    table = _table("qualifying round", "points", "won", "spread", "games")
    for row in acc["standings"]:
        table.add_row(
            row["agent"],
            str(row["points"]),
            str(row["wins"]),
            f"{row['spread']:+}",
            str(row["games"]),
        )
    yield table
    table = _table("knock-out", "games", "winner")
    for number, meetings in enumerate(acc["knock_out"], 1):
        for meeting in meetings:
            a, b = meeting["games"]
            name = f"round {number}: {meeting['a']} v {meeting['b']}"
            table.add_row(name, f"{a}-{b}", meeting["winner"])
    yield table


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold", min_width=12)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
