"""Runs the `cribai` command inside the test's process."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from cribai.cli.main import main


@dataclass(frozen=True)
class Finished:
    """How a command ended: its exit status and what it printed."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output, from a command that succeeded."""
        assert (self.status, self.stderr) == (0, "")
        assert self.stdout.count("\n") == 1
        return dict(json.loads(self.stdout))

    @property
    def complaint(self) -> str:
        """The one sentence of a command that refused its input."""
        assert self.status == 2
        assert self.stderr.startswith("cribai: ")
        assert self.stderr.count("\n") == 1
        return self.stderr.removeprefix("cribai: ").rstrip("\n")


def run(*words: str) -> Finished:
    """Runs `cribai` with words on the command line."""
    stdout, stderr = io.StringIO(), io.StringIO()
    status = 0
    with (
        patch.object(sys, "argv", ["cribai", *words]),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        try:
            main()
        except SystemExit as end:
            status = 0 if end.code is None else int(end.code)
    return Finished(status, stdout.getvalue(), stderr.getvalue())
