"""The file of every game of a tournament: JSON lines as `cribai replay` reads them, or Parquet."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from cribai.errors import ConfigError
from cribai.tournament.run import Tournament
from cribai.tournament.store import Store

ROW_GROUP: Final = 10_000


def write_games_file(path: Path, store: Store, tournament: Tournament) -> None:
    """Writes the records of the games that count, by match, pair and game.

    Args:
        path: Ends in .jsonl or .parquet; the file appears whole or not at all.
        store: Where the records are.
        tournament: What was played.

    Raises:
        ConfigError: Parquet is wanted and pyarrow is not installed.
        OSError: The file cannot be written.
    """
    chunks = (
        chunk for match in range(len(tournament.played)) for chunk in tournament.counted(match)
    )
    lines = store.record_lines(chunks)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.suffix == ".parquet":
            _write_parquet(draft, lines)
        else:
            with draft.open("w", encoding="ascii", newline="\n") as file:
                file.writelines(lines)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def check_games_file(path: Path | None) -> None:
    """Refuses a file that could not be written in the end.

    Raises:
        ConfigError: Parquet is wanted and pyarrow is not installed.
        OSError: Its folder cannot be made or written to.
    """
    if path is None:
        return
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise ConfigError(
            "A Parquet file needs pyarrow; install it with pip install 'cribai[data]', or choose a"
            " .jsonl file."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=path.parent).close()


def _write_parquet(path: Path, lines: Iterator[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    integers = pa.list_(pa.int32())
    deal = pa.struct(
        [
            ("hands", pa.list_(pa.string())),
            ("to_crib", pa.string()),
            ("starter", pa.string()),
            ("second_starter", pa.string()),
            ("stock", pa.string()),
            ("actions", integers),
        ]
    )
    schema = pa.schema(
        [
            ("format", pa.int32()),
            ("rules", pa.string()),  # as JSON
            ("seats", pa.list_(pa.string())),
            ("seed", pa.uint64()),
            ("pair", pa.int64()),
            ("game", pa.int64()),
            ("first_dealer", pa.int32()),
            ("start_scores", integers),
            ("deals", pa.list_(deal)),
            ("scores", integers),
            ("winner", pa.int32()),  # null for a tie
            ("checksum", pa.string()),
        ]
    )
    with parquet.ParquetWriter(path, schema) as writer:
        while rows := [_row(line) for line in islice(lines, ROW_GROUP)]:
            writer.write_table(pa.Table.from_pylist(rows, schema))


def _row(line: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    return row | {"rules": json.dumps(row["rules"])}
