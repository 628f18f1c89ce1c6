"""The run folder: the configuration, what has been played, and in the end the results.

A folder belongs to one run. Every file is written under a temporary name and moved into place, so
that whatever ends a run, what is there is whole and can be resumed.
"""

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from cribai.config import dump_toml, load_config, read_toml
from cribai.errors import ConfigError
from cribai.tournament.chunks import GAME, Chunk, Outcome
from cribai.tournament.config import PASSING, TournamentConfig
from cribai.tournament.stats import Stats

RUNS: Final = Path("runs")
CONFIG_FILE: Final = "config.toml"
RESULTS_FILE: Final = "results.json"
CHUNKS: Final = "chunks"

HOW: Final = ("batch_size", "workers", "executor", "address")
"""Settings on which no result depends."""


class Store:
    """The folder of a run.

    Args:
        folder: The folder; it exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, config: TournamentConfig) -> "Store":
        """Returns the store of a new run; what the folder holds of an earlier one is played anew.

        Args:
            config: The run, its agents named.

        Raises:
            ConfigError: The folder holds another run or other files.
            OSError: It cannot be made or written to.
        """
        folder = config.out or RUNS / config.run_name()
        _check_owner(folder, config)
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()  # Better to fail now than after the games.
        store = cls(folder)
        for path in (*(folder / CHUNKS).glob("*"), folder / RESULTS_FILE):
            path.unlink(missing_ok=True)
        store.write(CONFIG_FILE, dump_toml(config.settings()))
        return store

    @classmethod
    def resume(
        cls, folder: Path, overrides: Mapping[str, Any] | None = None
    ) -> "tuple[Store, TournamentConfig]":
        """Returns the store of a run that was begun, and its configuration.

        Args:
            folder: The run folder.
            overrides: Settings that say how the run goes on and not what it is, of `HOW`.

        Raises:
            ConfigError: The folder holds no run, or an override would make it another.
        """
        overrides = overrides or {}
        for key in overrides:
            if key not in HOW:
                raise ConfigError(
                    f"A resumed run has its own {key}; leave it out, or begin another run. Only"
                    f" {', '.join(HOW)} can change."
                )
        if not (folder / CONFIG_FILE).is_file():
            raise ConfigError(
                f"The folder {str(folder)!r} holds no run to resume; name one that has a"
                f" {CONFIG_FILE}."
            )
        for place in (folder, folder / CHUNKS):
            for draft in place.glob(".*"):
                draft.unlink()  # Of a run that was killed while it wrote.
        settings = {**overrides, "out": folder}
        config = load_config(TournamentConfig, folder / CONFIG_FILE, settings)
        return cls(folder), config

    def save(self, chunk: Chunk, outcome: Outcome) -> None:
        """Keeps what came of a chunk.

        Raises:
            OSError: It cannot be written; then nothing is kept of it.
        """
        text = None
        if outcome.records is not None:
            text = "".join(f"{line}\n" for line in outcome.records)
            self.write(self._chunk_file(chunk, "jsonl"), text)
        rest = {
            "stats": outcome.stats.to_dict(),
            "failures": outcome.failures,
            "first_failures": outcome.first_failures,
            "records": None if text is None else _digest(text.encode()),
        }
        # The games come last: where they are, the chunk is whole.
        self._write(
            self._chunk_file(chunk, "npz"),
            lambda file: np.savez_compressed(
                file, games=outcome.games, rest=np.array(json.dumps(rest))
            ),
        )

    def load(self, chunk: Chunk, *, with_records: bool) -> Outcome | None:
        """Returns what came of a chunk, its records apart; None when it is not kept whole."""
        path = self.folder / self._chunk_file(chunk, "npz")
        try:
            with path.open("rb") as file, np.load(file) as data:
                games = data["games"].astype(GAME, copy=False)
                rest = json.loads(str(data["rest"]))
            if with_records and rest["records"] != _digest(path.with_suffix(".jsonl").read_bytes()):
                return None
            return Outcome(
                games,
                Stats.from_dict(_in_half_wins(rest["stats"])),
                None,
                tuple(rest["failures"]),
                tuple(rest["first_failures"]),
            )
        except Exception:  # noqa: BLE001 -- what is damaged may break NumPy's reader in any way
            return None

    def games(self, chunk: Chunk) -> NDArray[Any]:
        """Returns the games of a chunk that is kept, GAME array."""
        with np.load(self.folder / self._chunk_file(chunk, "npz")) as data:
            return np.asarray(data["games"].astype(GAME, copy=False))

    def hash(self, chunks: Iterable[Chunk]) -> str:
        """Returns the SHA-256 of the games of chunks that are kept, in this order."""
        digest = hashlib.sha256()
        for chunk in chunks:
            digest.update(self.games(chunk).tobytes())
        return digest.hexdigest()

    def record_lines(self, chunks: Iterable[Chunk]) -> Iterator[str]:
        """Yields the records of chunks in this order, lines of JSON with their ends."""
        for chunk in chunks:
            path = self.folder / self._chunk_file(chunk, "jsonl")
            if path.is_file():
                with path.open(encoding="ascii") as file:
                    yield from file

    def _chunk_file(self, chunk: Chunk, ending: str) -> str:
        name = f"{chunk.match:04}-{chunk.first_pair:08}-{chunk.num_pairs}.{ending}"
        return f"{CHUNKS}/{name}"

    def write(self, name: str, text: str) -> None:
        """Writes a text file of the folder; it appears whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        self._write(name, lambda file: file.write(text.encode()))

    def _write(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with draft.open("wb") as file:
                write(file)
            draft.replace(path)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _in_half_wins(sums: dict[str, Any]) -> dict[str, Any]:
    """Returns the sums of a chunk, where cribai 0.1.0 kept them in wins, in half-wins."""
    if "pairs_by_wins" not in sums:
        return sums
    sums = dict(sums)
    none, one, both = sums.pop("pairs_by_wins")
    return sums | {
        "pairs_by_half_wins": [none, 0, one, 0, both],
        "first_dealer_half_wins": 2 * sums.pop("first_dealer_wins"),
        "first_dealer_squares": 4 * sums["first_dealer_squares"],
        "luck_half_wins": 2 * sums.pop("luck_wins"),
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check_owner(folder: Path, config: TournamentConfig) -> None:
    if not folder.is_dir() or all(path.name.startswith(".") for path in folder.iterdir()):
        return
    if not (folder / CONFIG_FILE).is_file():
        raise ConfigError(
            f"The folder {str(folder)!r} holds other files; choose an empty or a new one for --out."
        )
    held = read_toml(folder / CONFIG_FILE)
    wanted = tomllib.loads(dump_toml(config.identity()))
    for key in [*wanted, *(key for key in held if key not in wanted and key not in PASSING)]:
        if held.get(key) != wanted.get(key):
            raise ConfigError(
                f"The folder {str(folder)!r} holds another run, its {key} being {held.get(key)!r};"
                " choose another folder for --out."
            )
