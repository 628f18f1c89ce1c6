"""`cribai bench`: figures of speed, and ratios against the peers found."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from cribai.cli.output import Json, print_json


def bench(
    json: Json = False,
    seconds: Annotated[float, typer.Option(min=0.0, help="How long to measure each rate.")] = 1.0,
    startup: Annotated[
        bool, typer.Option(help="Also measure start-up and the first compile.")
    ] = True,
) -> None:
    """Measure speed on one core, and that of the peers that are installed."""
    from tqdm import tqdm

    from cribai.benchmark import measure

    # Silent when standard error is no terminal.
    with tqdm(bar_format="{desc}", disable=None, leave=False) as bar:
        result = measure(seconds, startup=startup, progress=bar.set_description_str)
    if json:
        print_json(result)
        return

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False, emoji=False)
    for title, figures in _tables(result):
        table = Table(title, "", box=SIMPLE_HEAD, header_style="none")
        table.columns[1].justify = "right"
        for name, value in figures:
            table.add_row(name, value)
        console.print(table)
    for name, reason in result["skipped"].items():
        console.print(f"not measured: {name}: {reason}", soft_wrap=True)


def _tables(result: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    games = result["random_games_per_second"]
    yield (
        "a second, on one core",
        [
            ("hands of the whole table", _number(result["show_hands_per_second"])),
            ("random hands", _number(result["random_hands_per_second"])),
            ("random games, fused", _number(games["fused"])),
            ("random games, tournament", _number(games["tournament"])),
            ("decisions, with views", _number(result["decisions_per_second"]["views"])),
        ],
    )
    names = {
        "single_env": "learner's decisions, single environment",
        "vector_env": "learner's decisions, vector environment",
        "sync_vector_env": "learner's decisions, Gymnasium's SyncVectorEnv",
    }
    rates = result["decisions_per_second"]
    yield (
        "environments, v random",
        [
            *((words, _number(rates[name])) for name, words in names.items()),
            ("bytes that 20,000 resets leave behind", _number(result["bytes_grown_by_resets"])),
        ],
    )
    yield (
        "games a second against itself",
        [(name, _number(value)) for name, value in result["agents"].items()],
    )
    if result["peers"]:
        yield (
            "peers",
            [
                (f"{name}: {figure.replace('_', ' ')}", _number(value))
                for name, figures in result["peers"].items()
                for figure, value in figures.items()
            ],
        )
    yield (
        "times as fast",
        [(name.replace("_", " "), _number(value)) for name, value in result["ratios"].items()],
    )
    if "startup_seconds" in result:
        yield (
            "seconds to start",
            [
                (name.replace("_", " "), f"{value:.2f}")
                for name, value in result["startup_seconds"].items()
            ],
        )


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.1f}" if value < 100 and value != int(value) else f"{value:,.0f}"
