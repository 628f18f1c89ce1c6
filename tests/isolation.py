"""Runs Python the hard way: an unprivileged user, no home, and packages that cannot be written."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

NOBODY = 65534


def run_isolated(*arguments: str, packages: Path, folder: Path) -> str:
    """Returns what Python prints on standard output; `folder` is all that it may write to."""
    for path in [packages, *packages.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o777)
    result = subprocess.run(
        [*_unprivileged(), sys.executable, *arguments],
        cwd=folder,
        env={"PATH": os.defpath, "PYTHONPATH": str(packages), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@cache
def _unprivileged() -> list[str]:
    if os.getuid() != 0:
        return []
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    # Lets nobody read what lies under root's home, as the interpreter may, but write nothing.
    reading = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    if shutil.which("setpriv"):
        for command in ([*user, *reading], user):
            probe = [*command, sys.executable, "-c", "import numpy"]
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                return command
    pytest.skip("no way to run Python as an unprivileged user here")
