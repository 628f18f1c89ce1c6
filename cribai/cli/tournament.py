"""`cribai tournament`: agents play each other over mirrored pairs of games."""

from pathlib import Path
from typing import Annotated

import typer

from cribai.cli.output import Json, print_json


def tournament(
    agents: Annotated[
        list[str] | None,
        typer.Argument(help="The agents, such as greedy; all that are installed by default."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of settings; options go over it.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Override a setting: key=value.")
    ] = None,
    rules: Annotated[str | None, typer.Option(help="Name of the rules.")] = None,
    pairs: Annotated[int | None, typer.Option(help="Mirrored pairs of games a match.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the deals.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Games alive at once.")] = None,
    match_points: Annotated[
        str | None, typer.Option(help="What wins are worth: plain, quadruple or acc.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run folder; by default a new one under runs.")
    ] = None,
    json: Json = False,
) -> None:
    """Let agents play each other: a round robin over mirrored pairs of games."""
    from rich.console import Console
    from tqdm import tqdm

    from cribai.cli.compiling import announce_compiling
    from cribai.config import load_config, parse_overrides

    announce_compiling()
    from cribai.tournament.config import TournamentConfig
    from cribai.tournament.report import render, summarize
    from cribai.tournament.run import num_games, run_tournament, with_agents
    from cribai.tournament.store import run_folder, save

    options = {
        "agents": agents or None,
        "rules": rules,
        "pairs": pairs,
        "seed": seed,
        "batch_size": batch_size,
        "match_points": match_points,
        "out": out,
    }
    given = {key: value for key, value in options.items() if value is not None}
    loaded = load_config(TournamentConfig, config, parse_overrides(settings or ()) | given)
    wanted = with_agents(loaded)
    with run_folder(wanted) as folder:
        # Silent when standard error is no terminal.
        with tqdm(total=num_games(wanted), unit=" games", disable=None, leave=False) as bar:
            result = run_tournament(wanted, bar.update)
        summary = summarize(result)
        save(folder, result, summary)
    if json:
        print_json(summary | {"out": str(folder)})
        return
    console = Console(markup=False, highlight=False, emoji=False)
    for part in (*render(result), f"written to {folder}"):
        console.print(part, soft_wrap=isinstance(part, str))
