"""Compiled kernels are kept where we can write, trusted only where nobody else can, never stale."""

import os
import shutil
import subprocess
import sys
import time
import timeit
from pathlib import Path

import numba
import pytest

from cribai import _numba_cache
from cribai._numba_cache import configure
from isolation import run_isolated


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The roots of the user's cache folder and of the temporary one."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _: str(tmp_path / "home" / "cribai"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path / "home/cribai/kernels", tmp_path / f"tmp/cribai-kernels-{os.getuid()}"


@pytest.fixture
def no_home(places: tuple[Path, Path]) -> None:
    places[0].parents[1].write_text("a file where the cache folder should be")


def test_numba_is_told(places: tuple[Path, Path]) -> None:
    folder = configure()
    assert folder.parent == places[0]
    assert places[0].stat().st_mode & 0o777 == 0o700
    assert os.environ["NUMBA_CACHE_DIR"] == numba.config.CACHE_DIR == str(folder)


def test_user_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert configure() == tmp_path
    assert numba.config.CACHE_DIR == ""


def test_parent_process_does_not_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = configure()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cribai-kernels-0123456789abcdef"))
    assert configure() == folder


@pytest.mark.usefixtures("no_home")
def test_temporary_folder_without_home(places: tuple[Path, Path]) -> None:
    assert configure().parent == places[1]
    assert places[1].stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("cache", ["~/.cache/cribai", None])
def test_no_home_known(
    cache: str | None, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def user_cache_dir(_: str) -> str:
        if cache is None:
            raise RuntimeError("could not determine the home directory")
        return cache

    monkeypatch.setattr("platformdirs.user_cache_dir", user_cache_dir)
    assert configure().parent == places[1]


@pytest.mark.usefixtures("no_home")
@pytest.mark.parametrize("trap", ["open to others", "link"])
def test_folder_of_others_is_refused(trap: str, places: tuple[Path, Path], tmp_path: Path) -> None:
    if trap == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        places[1].symlink_to(tmp_path / "elsewhere")
    else:
        places[1].mkdir()
        places[1].chmod(0o777)
    folder = configure()
    assert folder.parent != places[1]
    assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_folder_depends_on_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("1")
    monkeypatch.setattr(_numba_cache, "_sources", lambda: [source])
    folder = configure()
    source.write_text("2")
    assert configure() != folder
    source.write_text("1")
    assert configure() == folder


def test_sources_cover_what_kernels_use() -> None:
    names = {source.name for source in _numba_cache._sources()}
    assert {"cards.py", "rules.py", "scoring.py", "greedy.py"} <= names


def test_old_folders_go(places: tuple[Path, Path]) -> None:
    days = 24 * 3600
    places[0].mkdir(mode=0o700, parents=True)
    for name, age in [("old", 31), ("recent", 29)]:
        folder = places[0] / f"cribai-kernels-{name}"
        folder.mkdir()
        (folder / "kernel.nbi").touch()
        os.utime(folder, (0, time.time() - age * days))
    folder = configure()
    assert set(places[0].iterdir()) == {folder, places[0] / "cribai-kernels-recent"}


def test_quick() -> None:
    assert min(timeit.repeat(configure, number=1)) < 0.01


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A package of our name with one kernel that calls another from a second file."""
    engine = tmp_path / "packages" / "cribai" / "engine"
    engine.mkdir(parents=True)
    shutil.copy(_numba_cache.__file__, engine.parent)
    (engine.parent / "__init__.py").touch()
    (engine / "__init__.py").write_text("from cribai._numba_cache import configure\nconfigure()\n")
    for name, body in [("callee", "return 1"), ("caller", "return callee()")]:
        (engine / f"{name}.py").write_text(
            "from numba import njit\n"
            + ("from cribai.engine.callee import callee\n" if name == "caller" else "")
            + f"@njit(cache=True)\ndef {name}():\n    {body}\n"
        )
    return tmp_path / "packages"


CALL = "from cribai.engine.caller import caller; print(caller())"


@pytest.mark.slow
def test_edited_callee_gives_new_result(packages: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(packages), "XDG_CACHE_HOME": str(tmp_path)}
    results = []
    for points in (1, 2):
        callee = packages / "cribai" / "engine" / "callee.py"
        callee.write_text(callee.read_text().replace("return 1", f"return {points}"))
        command = [sys.executable, "-c", CALL]
        results.append(subprocess.check_output(command, env=environment, cwd=tmp_path, text=True))
    assert results == ["1\n", "2\n"]


@pytest.mark.slow
def test_read_only_package_without_home(packages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert run_isolated("-c", CALL, packages=packages, folder=folder) == "1\n"
    (kernel,) = {path.stem.split("-")[0] for path in folder.rglob("*.nbc")} - {"callee.callee"}
    assert kernel == "caller.caller"
