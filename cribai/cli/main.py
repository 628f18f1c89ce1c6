"""The `cribai` command: assembles the commands and turns errors into sentences."""

import sys
from typing import Annotated

import typer

import cribai
from cribai.cli import (
    agents,
    analyze,
    bench,
    position,
    replay,
    report,
    score,
    stats,
    tournament,
    train,
)
from cribai.cli.output import plain_errors

app = typer.Typer(
    name="cribai",
    help="Train, pit and study cribbage players.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(cribai.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Train, pit and study cribbage players."""


app.command()(tournament.tournament)
app.command()(report.report)
app.command()(stats.stats)
app.command()(score.score)
app.command()(analyze.analyze)
app.command()(position.position)
app.command()(replay.replay)
app.command()(agents.agents)
app.command()(bench.bench)
app.command()(train.train)


def main() -> None:
    """Runs the command line; agents named as module:Class may lie in the present folder."""
    sys.path.append("")
    with plain_errors():
        app(standalone_mode=True)
