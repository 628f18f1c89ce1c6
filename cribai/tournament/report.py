"""A tournament's results for people, as tables, and for programs, as one JSON object."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table

from cribai.rules import get_match_points
from cribai.tournament.run import Match, Tournament
from cribai.tournament.stats import SOURCES, Interval


def summarize(tournament: Tournament) -> dict[str, Any]:
    """Returns the results as a JSON object; what has no bound is null."""
    settings = tournament.config.settings()
    return {
        "agents": list(tournament.agents),
        "rules": settings["rules"],
        "pairs": settings["pairs"],
        "seed": settings["seed"],
        "match_points": settings["match_points"],
        "hash": tournament.hash,
        "games_per_second": tournament.games_per_second,
        "matches": [
            _summarize_match(match, tournament.config.match_points) for match in tournament.matches
        ],
        "ratings": [],
    }


def _summarize_match(match: Match, match_points: str) -> dict[str, Any]:
    stats = match.stats
    return {
        "a": match.a,
        "b": match.b,
        "pairs": stats.pairs,
        "games": stats.games,
        "win_rate": stats.win_rate,
        "win_rate_interval": _bounds(stats.win_rate_interval),
        "margin": stats.margin_per_game,
        "margin_interval": _bounds(stats.margin_interval),
        "skunk_rate": stats.skunk_rate,
        "skunked_rate": stats.skunked_rate,
        "double_skunk_rate": stats.double_skunk_rate,
        "double_skunked_rate": stats.double_skunked_rate,
        "match_points": list(stats.match_points(get_match_points(match_points))),
        "first_dealer_win_rate": stats.first_dealer_win_rate,
        "deals_per_game": stats.deals_per_game,
        "points_per_deal": stats.points_per_deal(),
        "opponent_points_per_deal": stats.flipped().points_per_deal(),
    }


def _bounds(interval: Interval) -> list[float | None]:
    return [bound if isfinite(bound) else None for bound in interval]


def render(tournament: Tournament) -> Iterator[RenderableType]:
    """Yields the results as tables and lines of text for a rich console."""
    config = tournament.config
    yield (
        f"{config.rules.name}, {config.pairs:,} mirrored pairs a match, seed {config.seed};"
        " intervals at 95% over pairs;\n"
        "dealer: games won by the first dealer; points: what the wins are worth"
    )
    yield ""
    yield _matches_table(tournament)
    yield ""
    yield _points_table(tournament)
    yield ""
    num_games = sum(match.stats.games for match in tournament.matches)
    yield f"{num_games:,} games at {tournament.games_per_second:,.0f} games/s"
    yield f"hash {tournament.hash}"


def _matches_table(tournament: Tournament) -> Table:
    points = get_match_points(tournament.config.match_points)
    table = _table(
        "match",
        "wins",
        "margin",
        "skunks\ndouble",
        "skunked\ndouble",
        f"points\n{points.name}",
        "dealer\ndeals",
    )
    for match in tournament.matches:
        stats = match.stats
        of_a, of_b = stats.match_points(points)
        wins, margins = stats.win_rate_interval, stats.margin_interval
        table.add_row(
            f"{match.a}\nv {match.b}",
            f"{stats.win_rate:.2%}\n{100 * wins.low:.2f}-{wins.high:.2%}",
            f"{stats.margin_per_game:+.2f}\n{margins.low:.1f} to {margins.high:.1f}",
            f"{stats.skunk_rate:.1%}\n{stats.double_skunk_rate:.1%}",
            f"{stats.skunked_rate:.1%}\n{stats.double_skunked_rate:.1%}",
            f"{of_a}\n{of_b}",
            f"{stats.first_dealer_win_rate:.1%}\n{stats.deals_per_game:.2f}",
        )
    return table


def _points_table(tournament: Tournament) -> Table:
    columns = (*SOURCES["dealer"], "total")
    table = _table("points a deal", "role", *columns)
    for match in tournament.matches:
        for agent, name in enumerate((f"{match.a} v {match.b}", f"{match.b} v {match.a}")):
            for role, points in match.stats.points_per_deal(agent).items():
                cells = (f"{points[source]:.2f}" if source in points else "" for source in columns)
                table.add_row(name if role == "dealer" else "", role, *cells)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold", min_width=12)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
