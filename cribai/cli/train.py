"""`cribai train`: trains the policy network by self-play."""

from pathlib import Path
from typing import Annotated

import typer

from cribai.cli.output import Json, interrupted, print_json


def train(
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of settings; options go over it.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Override a setting: key=value.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the run folder's last checkpoint.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The run folder; by default one under runs.")
    ] = None,
    json: Json = False,
) -> None:
    """Train the policy network by self-play."""
    from cribai.cli.compiling import announce_compiling
    from cribai.config import load_config, parse_overrides

    announce_compiling("roots.take_decisions")
    from tqdm import tqdm

    from cribai.training.config import TrainConfig
    from cribai.training.run import Run

    overrides = parse_overrides(settings or ())
    if out is not None:
        overrides["out"] = out
    wanted = load_config(TrainConfig, config, overrides)
    folder = wanted.out or Path("runs") / wanted.run_name()
    run = Run(wanted, folder, resume=resume)
    # Silent when standard error is no terminal.
    with tqdm(
        total=wanted.waves, initial=run.wave, unit=" waves", disable=None, leave=False
    ) as bar:

        def show(_: int, figures: dict[str, float]) -> None:
            bar.update(1)
            bar.set_postfix(loss=f"{figures['loss']:.3f}")

        try:
            figures = run.train(show)
        except KeyboardInterrupt:
            interrupted(
                f"wave {run.wave} was the last; --resume goes on from the last checkpoint in"
                f" {folder}, if there is one"
            )
    if json:
        print_json(figures | {"out": str(folder)})
        return
    for match in figures["matches"]:
        print(
            f"v {match['opponent']}: {100 * match['win_rate']:.2f}%,"
            f" {100 * match['low']:.2f} to {100 * match['high']:.2f},"
            f" margin {match['margin']:+.2f}, {match['pairs']} pairs"
        )
    print(f"written to {folder}")
