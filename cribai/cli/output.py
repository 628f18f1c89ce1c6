"""What every command prints and how it fails: results to standard output, the rest to error."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer

from cribai.errors import CribaiError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]

BAD_INPUT = 2
INTERRUPTED = 130


def print_json(result: Mapping[str, Any]) -> None:
    """Prints the one JSON object of a command's result."""
    print(json.dumps(result, allow_nan=False))


def fail(message: str) -> NoReturn:
    """Ends the command with one sentence on standard error and exit status 2."""
    print(f"cribai: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turns the errors of bad input, the operating system and Ctrl-C into one line and a status."""
    try:
        yield
    except CribaiError as error:
        fail(str(error))
    except BrokenPipeError:
        # The reader has gone; keep the interpreter from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        where = f" {error.filename!r}" if error.filename else ""
        fail(
            f"Cannot use the file or folder{where}: {error.strerror or error};"
            " mend the path or its permissions."
        )
    except KeyboardInterrupt:
        interrupted()
    except _SaidInterrupted:
        raise
    except SystemExit as stop:
        # Within a command, Typer turns Ctrl-C into this status without a word.
        if stop.code == INTERRUPTED:
            interrupted()
        raise


def interrupted(what: str = "nothing was written") -> NoReturn:
    """Ends the command after Ctrl-C, saying what is left."""
    print(f"cribai: interrupted; {what}.", file=sys.stderr)
    raise _SaidInterrupted(INTERRUPTED)


class _SaidInterrupted(SystemExit):
    """Ctrl-C, of which the user has been told."""
