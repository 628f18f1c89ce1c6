"""`cribai tournament`: agents play each other over mirrored pairs of games."""

import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from cribai.cli.output import Json, interrupted, print_json


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
    form: Annotated[
        str | None, typer.Option("--format", help="round_robin, gauntlet, sprt or acc.")
    ] = None,
    rules: Annotated[str | None, typer.Option(help="Name of the rules.")] = None,
    pairs: Annotated[
        int | None, typer.Option(help="Mirrored pairs of games a match, or the most of them.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the deals.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help="Play until each win rate is known this well, such as 0.5%."),
    ] = None,
    match_points: Annotated[
        str | None, typer.Option(help="What wins are worth: plain, quadruple or acc.")
    ] = None,
    anchor: Annotated[str | None, typer.Option(help="The agent whose rating is 0.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Games alive at once.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that play.")] = None,
    executor: Annotated[str | None, typer.Option(help="processes or ray.")] = None,
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster.")] = None,
    games_file: Annotated[
        Path | None, typer.Option(help="Keep every game there: a .jsonl or .parquet file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run folder; by default a new one under runs.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run of this folder.")] = None,
    json: Json = False,
) -> None:
    """Let agents play each other over mirrored pairs of games.

    Press Ctrl-C to stop; what was played is kept, and --resume goes on.
    """
    from rich.console import Console
    from tqdm import tqdm

    from cribai.cli.compiling import announce_compiling
    from cribai.cli.stats import records_bar
    from cribai.config import load_config, parse_overrides

    announce_compiling()
    from cribai.errors import ConfigError
    from cribai.tournament.config import TournamentConfig
    from cribai.tournament.games_file import check_games_file, write_games_file
    from cribai.tournament.report import render
    from cribai.tournament.reports import save_reports
    from cribai.tournament.run import check, most_games, run_tournament, with_agents
    from cribai.tournament.store import Store
    from cribai.tournament.summary import summarize

    options = {
        "agents": agents or None,
        "format": form,
        "rules": rules,
        "pairs": pairs,
        "seed": seed,
        "until": None if until is None else parse_share(until),
        "match_points": match_points,
        "anchor": anchor,
        "batch_size": batch_size,
        "workers": workers,
        "executor": executor,
        "address": address,
        "games_file": games_file,
        "out": out,
    }
    given = parse_overrides(settings or ())
    named = {key: value for key, value in options.items() if value is not None}
    for key in given:
        whole, dot, _ = key.partition(".")
        if dot and whole in named:
            raise ConfigError(
                f"--{whole} gives all of {whole!r}, and --set {key} a part of it; leave one out."
            )
    given |= named
    if resume is None:
        wanted = with_agents(load_config(TournamentConfig, config, given))
        check(wanted)
        check_games_file(wanted.games_file)
        store = Store.create(wanted)
    else:
        if config is not None:
            raise ConfigError("A resumed run has its own configuration; leave --config out.")
        store, wanted = Store.resume(resume, given)
        check(wanted)
        check_games_file(wanted.games_file)
    again = shlex.join(["cribai", "tournament", "--resume", str(store.folder)])
    try:
        # Silent when standard error is no terminal.
        bar = tqdm(total=most_games(wanted), unit=" games", disable=None, leave=False)
        with bar, redirect_stdout(sys.stderr):  # Agents may print, and so does Ray.
            result = run_tournament(wanted, store, _Bar(bar))
        with records_bar(result) as reading:
            summary = summarize(result, store, reading.update)
        save_reports(store, summary)
        if wanted.games_file is not None:
            write_games_file(wanted.games_file, store, result)
    except KeyboardInterrupt:
        interrupted(f"go on with {again}")
    except OSError as error:
        where = f" {error.filename!r}" if error.filename else ""
        raise ConfigError(
            f"Cannot write the file or folder{where}: {error.strerror or error}; what was played"
            f" is kept, and {again} goes on."
        ) from None
    if json:
        print_json(summary | {"out": str(store.folder)})
    else:
        console = Console(markup=False, highlight=False, emoji=False)
        for part in (*render(summary), f"written to {store.folder}"):
            console.print(part, soft_wrap=isinstance(part, str))
    if summary["failed"]:
        raise SystemExit(1)


def parse_share(text: str) -> float:
    """Returns a share such as 0.5% or 0.005; a leading +- is allowed.

    Raises:
        ConfigError: The text is none.
    """
    from cribai.errors import ConfigError

    number = text.strip().removeprefix("±").removeprefix("+-").strip()
    try:
        return float(number[:-1]) / 100 if number.endswith("%") else float(number)
    except ValueError:
        raise ConfigError(f"{text!r} is no share of games; write it like 0.5% or 0.005.") from None


class _Bar:
    """The progress bar: games, and how it stands."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def games(self, number: int) -> None:
        self._bar.update(number)

    def status(self, text: str) -> None:
        if text:
            self._bar.set_postfix_str(text)
