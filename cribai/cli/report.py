"""`cribai report`: shows the results of a run again, and redraws its files."""

from pathlib import Path
from typing import Annotated

import typer

from cribai.cli.output import Json, print_json


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run that has ended.")],
    json: Json = False,
) -> None:
    """Show the results of a tournament again, and redraw its summary.md and report.html."""
    from rich.console import Console

    from cribai.tournament.report import render
    from cribai.tournament.reports import REPORT_FILE, read_results, redraw
    from cribai.tournament.store import Store

    summary = read_results(folder)
    redraw(Store(folder), summary)
    if json:
        print_json(summary | {"out": str(folder)})
        return
    console = Console(markup=False, highlight=False, emoji=False)
    for part in (*render(summary), f"redrawn {folder / REPORT_FILE}"):
        console.print(part, soft_wrap=isinstance(part, str))
