"""The run folder: the results, the configuration and every game, whole or not at all.

A folder belongs to one run. Files are written under temporary names and moved into place when all
are complete.
"""

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

import numpy as np

from cribai.config import dump_toml, read_toml
from cribai.errors import ConfigError
from cribai.tournament.config import TournamentConfig, file_name
from cribai.tournament.run import Match, Tournament

RUNS: Final = Path("runs")
CONFIG_FILE: Final = "config.toml"
RESULTS_FILE: Final = "results.json"


@contextmanager
def run_folder(config: TournamentConfig) -> Iterator[Path]:
    """Makes the folder of a run, and takes it away again when the run fails.

    Args:
        config: The run, its agents named.

    Yields:
        The folder, known to take files.

    Raises:
        ConfigError: The folder holds another run or other files.
        OSError: It cannot be made or written to.
    """
    folder = config.out or RUNS / config.run_name()
    _check_owner(folder, config)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()  # Better to fail now than after the games.
        yield folder
    except BaseException:
        for path in made:
            with suppress(OSError):  # It is not empty, or was never made.
                path.rmdir()
        raise


def _check_owner(folder: Path, config: TournamentConfig) -> None:
    if not folder.is_dir() or all(path.name.startswith(".") for path in folder.iterdir()):
        return
    if not (folder / CONFIG_FILE).is_file():
        raise ConfigError(
            f"The folder {str(folder)!r} holds other files; choose an empty or a new one for --out."
        )
    held = read_toml(folder / CONFIG_FILE)
    for key, value in tomllib.loads(dump_toml(config.identity())).items():
        if held.get(key) != value:
            raise ConfigError(
                f"The folder {str(folder)!r} holds another run, its {key} being {held.get(key)!r};"
                " choose another folder for --out."
            )


def save(folder: Path, tournament: Tournament, summary: Mapping[str, Any]) -> None:
    """Writes a run into its folder.

    Args:
        folder: The folder of `run_folder`.
        tournament: The run.
        summary: The JSON object of its results.

    Raises:
        OSError: A file cannot be written; then none is.
    """
    writers: dict[str, Callable[[BinaryIO], object]] = {
        match_file(number, match): partial(np.savez_compressed, results=match.results)
        for number, match in enumerate(tournament.matches)
    }
    texts = {
        CONFIG_FILE: dump_toml(tournament.config.settings()),
        RESULTS_FILE: json.dumps(summary, allow_nan=False, indent=2) + "\n",
    }
    for name, text in texts.items():
        writers[name] = partial(_write_text, text)
    temporary = {name: folder / f".{name}.{os.getpid()}" for name in writers}
    try:
        for name, write in writers.items():
            with temporary[name].open("wb") as file:
                write(file)
        for name, path in temporary.items():
            path.replace(folder / name)
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)


def match_file(number: int, match: Match) -> str:
    """Returns the name of the file with a match's games, RESULT array `results`."""
    return f"games-{number:03}-{file_name(f'{match.a}-v-{match.b}')}.npz"


def _write_text(text: str, file: BinaryIO) -> None:
    file.write(text.encode())
