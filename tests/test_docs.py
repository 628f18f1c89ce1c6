"""The examples of the documents run and print what they say, and the links lead somewhere."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
COMMANDS = ("cribai ", "python -m cribai ")


@dataclass(frozen=True)
class Block:
    """A fenced block, with the number of its first line."""

    language: str
    text: str
    line: int


def read_blocks(path: Path) -> list[Block]:
    text = path.read_text()
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty present folder from which modules are found; modules made there are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def run_python(block: Block, module: ModuleType, path: Path) -> str:
    """Runs a block in a module, or as the one that its first comment names; returns its output."""
    if named := re.match(r"# (\w+)\.py\n", block.text):
        Path(f"{named[1]}.py").write_text(block.text)
        block = Block(block.language, f"from {named[1]} import *\n", block.line)
    # Line numbers in a traceback are the document's.
    code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, module.__dict__)  # noqa: S102
    return output.getvalue()


def run_command(line: str) -> None:
    words = shlex.split(line, comments=True)
    words = words[1:] if words[0] == "cribai" else words[3:]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "cribai", *words]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{line}: {finished.stderr}"
    assert finished.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_examples(path: Path) -> None:
    module = ModuleType(f"examples_{path.stem}")
    sys.modules[module.__name__] = module
    try:
        printed = ""
        for block in read_blocks(path):
            if block.language == "python":
                printed = run_python(block, module, path)
            elif block.language == "text":
                lines = [line.rstrip() for line in printed.splitlines()]
                assert block.text.splitlines() == lines
            elif block.language == "toml":
                tomllib.loads(block.text)
            elif block.language == "bash" and block.text.startswith(COMMANDS):
                for line in block.text.splitlines():
                    run_command(line)
    finally:
        del sys.modules[module.__name__]


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_links(path: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", path.read_text())
    for link in links:
        if "://" not in link:
            assert (path.parent / link.partition("#")[0]).exists(), link


def test_every_document_is_linked_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text()
    assert all(f"({name})" in text for name in NAMES[1:])


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_blocks_are_of_known_languages(path: Path) -> None:
    assert {block.language for block in read_blocks(path)} <= {"", "bash", "python", "text", "toml"}
