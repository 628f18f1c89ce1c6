"""The wheel holds what it should, names its version, and runs where nothing can be written."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import cribai
from isolation import run_isolated

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture
def unpacked(wheel: Path, tmp_path: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "packages")
    return tmp_path / "packages"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    headings = re.findall(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert project["version"] == cribai.__version__ == headings[0]


def test_wheel_contents(wheel: Path) -> None:
    info = f"cribai-{cribai.__version__}.dist-info"
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"cribai", "cribai_agents", info}
    assert {"cribai/py.typed", "cribai_agents/py.typed"} <= set(names)


@pytest.mark.slow
def test_wheel_scores_a_hand(unpacked: Path, folder: Path) -> None:
    command = ["-m", "cribai", "score", "5C 5D 5H JS", "5S", "--json"]
    output = run_isolated(*command, packages=unpacked, folder=folder)
    assert json.loads(output)["points"] == 29


@pytest.mark.slow
def test_wheel_plays(unpacked: Path, folder: Path) -> None:
    command = ["-m", "cribai", "tournament", "random", "greedy", "--pairs", "2", "--json"]
    (match,) = json.loads(run_isolated(*command, packages=unpacked, folder=folder))["matches"]
    assert match["games"] == 4
    assert any(folder.rglob("*.nbc")), "compiled kernels were not kept"
