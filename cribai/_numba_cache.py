"""Where numba keeps compiled kernels: a private folder of the user, one for each state of the code.

numba notices a change in the file of a kernel, but not one in the kernels or constants that it
takes from other files. A folder named by a hash of all sources makes stale code impossible, and
works where the package is read-only or the user has no home.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import platformdirs

_PREFIX = "cribai-kernels-"
_MAX_AGE_SECONDS = 30 * 24 * 3600


def configure() -> Path:
    """Points numba at the folder of these sources, unless the user has set `NUMBA_CACHE_DIR`.

    Returns:
        The folder in which numba keeps compiled kernels.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    # A folder with our prefix was set by a parent process, whose sources may be others.
    if chosen and not Path(chosen).name.startswith(_PREFIX):
        return Path(chosen)
    folder = _folder(_PREFIX + _digest(_sources()))
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if config := sys.modules.get("numba.core.config"):
        config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    return folder


def _sources() -> Iterator[Path]:
    """Yields every file whose code or constants may be compiled into a kernel."""
    package = Path(__file__).parent
    yield from sorted(package.glob("*.py"))
    folders = [package / name for name in ("engine", "analysis", "envs", "training")]
    if (agents := importlib.util.find_spec("cribai_agents")) is not None:
        folders += map(Path, agents.submodule_search_locations or ())
    for folder in folders:
        yield from sorted(folder.rglob("*.py"))


def _digest(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256(f"{sys.version} {importlib.metadata.version('numba')}".encode())
    for source in sources:
        digest.update(str(source).encode())
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _folder(name: str) -> Path:
    """Returns a folder of this name under the first root that we can trust and write to."""
    for root in _roots():
        try:
            return _private_folder(root, name)
        except OSError:
            continue
    return _private_folder(Path(tempfile.mkdtemp(prefix=_PREFIX)), name)


def _roots() -> Iterator[Path]:
    try:
        root = Path(platformdirs.user_cache_dir("cribai"), "kernels")
    except RuntimeError:  # there is no home
        pass
    else:
        if root.is_absolute():
            yield root
    user = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir(), f"{_PREFIX}{user}")


def _private_folder(root: Path, name: str) -> Path:
    """Makes a folder in a root that nobody else can write to, since numba runs what it finds there.

    Raises:
        OSError: The root or folder cannot be made, written to or trusted.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "getuid"):
        status = root.lstat()
        private = stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) & 0o722 == 0o700
        if not private or status.st_uid != os.getuid():
            raise PermissionError(f"{root} is not private to this user")
    folder = root / name
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
        _remove_old_folders(root)
    os.utime(folder)  # in use; fails where the file system is read-only
    return folder


def _remove_old_folders(root: Path) -> None:
    oldest = time.time() - _MAX_AGE_SECONDS
    for folder in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another process may be removing it
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)
