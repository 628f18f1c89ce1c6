"""`cribai stats`: what each agent did in a tournament, over all and by opponent."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cribai.cli.output import Json, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from cribai.tournament.player_stats import Figures, PlayerPage, PlayerStats
    from cribai.tournament.run import Tournament
    from cribai.tournament.store import Store

BESIDE: Final = 3
"""Agents whose hands are shown in one table, beside the exact shares."""

SOURCES: Final = ("pegging", "hand", "crib", "heels", "total")


def stats(
    folder: Annotated[Path, typer.Argument(help="The folder of a tournament's run.")],
    agent: Annotated[
        str | None, typer.Option(help="Show this agent alone, named as the tables name it.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what each agent did in a tournament: games, streaks, points and the hands it kept."""
    from rich.console import Console

    from cribai.cli.compiling import announce_compiling

    announce_compiling("scoring.show_points_batch")
    from cribai.errors import ConfigError
    from cribai.tournament.player_stats import check_player, player_page
    from cribai.tournament.run import read_tournament
    from cribai.tournament.store import Store

    store, config = Store.open(folder)
    tournament = read_tournament(config, store)
    if tournament.num_games == 0:
        raise ConfigError(
            f"The run of the folder {str(folder)!r} has played no games yet; go on with it by"
            " cribai tournament --resume."
        )
    if agent is not None:
        check_player(tournament, agent)
    with records_bar(tournament) as bar:
        page = player_page(tournament, store, bar.update)
    if agent is not None:
        page = page.only(agent)
    if json:
        result = {
            "folder": str(folder),
            "rules": config.settings()["rules"],
            "games": tournament.num_games,
            "finished": store.has_ended,
            "missing_chunks": tournament.num_missing,
        }
        print_json(result | page.to_dict())
        return
    console = Console(markup=False, highlight=False, emoji=False)
    for part in (*_notes(tournament, store), *_render(page)):
        console.print(part, soft_wrap=isinstance(part, str))


def records_bar(tournament: "Tournament") -> Any:
    """Returns a progress bar of the games whose records are read, silent where there are none."""
    from tqdm import tqdm

    from cribai.tournament.player_stats import knows_hands

    is_recorded = knows_hands(tournament.config)
    return tqdm(
        total=tournament.num_games,
        desc="reading records",
        unit=" games",
        disable=None if is_recorded else True,  # None: when standard error is no terminal
        leave=False,
    )


def _notes(tournament: "Tournament", store: "Store") -> Iterator[str]:
    """Yields what was played, and what is missing of it."""
    yield f"{tournament.config.rules.name}, {tournament.num_games:,} games"
    if not store.has_ended:
        yield (
            "The run has not ended, and these are the games that it has kept;"
            f" {shlex.join(['cribai', 'tournament', '--resume', str(store.folder)])} goes on."
        )
    elif tournament.num_missing:
        yield f"{tournament.num_missing} chunks failed or are damaged, and are left out."


def _render(page: "PlayerPage") -> Iterator["str | Table"]:
    """Yields the page as tables and lines of text."""
    from cribai.tournament.player_stats import NO_RECORDS

    yield ""
    yield _games_table(page)
    yield ""
    yield _points_table(page)
    yield ""
    if not page.is_recorded:
        yield NO_RECORDS
        return
    yield _hands_table(page)
    for first in range(0, len(page.agents), BESIDE):
        yield ""
        yield _scores_table(page.agents[first : first + BESIDE], page.exact_scores)


def _rows(page: "PlayerPage") -> Iterator[tuple[str, "Figures"]]:
    """Yields each agent's figures, over all and, when it met more than one, by opponent."""
    for player in page.agents:
        opponents = player.by_opponent
        if len(opponents) == 1:
            (name,) = opponents
            yield f"{player.agent} v {name}", player.overall
            continue
        yield player.agent, player.overall
        yield from ((f"  v {name}", figures) for name, figures in opponents.items())


def _games_table(page: "PlayerPage") -> "Table":
    table = _table(
        "agent",
        "games",
        "won",
        "lost",
        "tied",
        "longest\nstreak",
        "skunks\ndouble",
        "skunked\ndouble",
        "points\na deal",
    )
    for name, of in _rows(page):
        table.add_row(
            name,
            f"{of.games:,}",
            f"{of.wins:,}",
            f"{of.losses:,}",
            f"{of.ties:,}",
            f"{of.longest_streak:,}",
            f"{of.skunks_given:,}\n{of.double_skunks_given:,}",
            f"{of.skunks_taken:,}\n{of.double_skunks_taken:,}",
            f"{of.points_per_deal:.2f}",
        )
    return table


def _points_table(page: "PlayerPage") -> "Table":
    table = _table("points a deal", "role", *SOURCES)
    for name, figures in _rows(page):
        for role, points in figures.points_by_role.items():
            cells = (f"{points[source]:.2f}" if source in points else "" for source in SOURCES)
            table.add_row(name if role == "dealer" else "", role, *cells)
    return table


def _hands_table(page: "PlayerPage") -> "Table":
    from cribai.cards import card_text, cards_text

    table = _table("hands kept", "hands", "mean", "best", "starter", "points")
    for name, figures in _rows(page):
        hands = figures.hands
        if hands is None or hands.best is None:
            continue
        best = hands.best
        table.add_row(
            name,
            f"{hands.seen:,}",
            f"{hands.mean:.2f}",
            cards_text(best.cards),
            card_text(best.starter),
            str(best.points),
        )
    return table


def _scores_table(
    players: Sequence["PlayerStats"], exact_scores: tuple[int, ...] | None
) -> "Table":
    """Returns hands by score, their number and share, beside the exact share where it is known."""
    table = _table("hand scores", *(player.agent for player in players))
    columns = [player.overall.hands.scores for player in players if player.overall.hands]
    if exact_scores is not None:
        table.add_column("exactly", justify="right", no_wrap=True)
        columns.append(exact_scores)
    totals = [max(sum(column), 1) for column in columns]
    for score, numbers in enumerate(zip_longest(*columns, fillvalue=0)):
        if any(numbers):
            shares = [number / total for number, total in zip(numbers, totals, strict=True)]
            cells = [
                f"{number:,} {share:>6.2%}"
                for number, share in zip(numbers[: len(players)], shares, strict=False)
            ]
            # The rarest, 29 points, are 0.00003% of all.
            cells += [f"{share:.5%}" for share in shares[len(players) :]]
            table.add_row(str(score), *cells)
    return table


def _table(first: str, *others: str) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold", min_width=12)
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table
