"""Where chunks are played: in this process, or in a pool of processes of this machine.

An executor yields what comes of each chunk as it is done, in any order. A chunk that fails is
played once more; one that fails twice is a `Failure`, and the others go on. Only what an agent does
against the rules or the protocol ends the run at once, for it would do so again.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import current_thread, main_thread
from typing import Any, Final, Protocol, Self

from cribai.errors import CribaiError
from cribai.tournament.chunks import Chunk, Failure, Outcome, Players, Terms, play_chunk

MAX_ATTEMPTS: Final = 2

MAX_BREAKDOWNS: Final = 4
"""Times in a row that a pool may break down before that counts against the chunks."""

LOCK_SECONDS: Final = 15.0
"""How long a worker waits for the pool's lock, which another may have taken to its grave."""

Done = tuple[Chunk, Outcome | Failure]


class Executor(Protocol):
    """Plays chunks somewhere."""

    def run(
        self, chunks: Iterable[Chunk], progress: Callable[[int], object] | None = None
    ) -> Iterator[Done]:
        """Yields each chunk with what came of it.

        Args:
            chunks: The chunks.
            progress: Called with a number of games that have ended.

        Raises:
            AgentError: An agent cannot be made or broke the agent protocol.
        """

    def close(self) -> None:
        """Ends what was begun, without waiting for chunks under way."""


class SerialExecutor:
    """Plays chunks one by one in this process.

    Args:
        terms: What they are played by.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._players = Players()

    def run(
        self, chunks: Iterable[Chunk], progress: Callable[[int], object] | None = None
    ) -> Iterator[Done]:
        """Yields each chunk with what came of it; see `Executor.run`."""
        for chunk in chunks:
            yield chunk, self._play(chunk, progress)

    def _play(self, chunk: Chunk, progress: Callable[[int], object] | None) -> Outcome | Failure:
        error: Exception | None = None
        for _ in range(MAX_ATTEMPTS):
            try:
                return play_chunk(chunk, self._terms, self._players, progress)
            except CribaiError:
                raise
            except Exception as caught:  # noqa: BLE001 -- an agent may raise anything
                error = caught
        return failure(chunk, self._terms, error)

    def close(self) -> None:
        """Does nothing; see `Executor.close`."""


class Retrying:
    """Plays chunks by futures, and those that fail once more; executors derive from it.

    Args:
        terms: What the chunks are played by.
    """

    breakdowns: tuple[type[Exception], ...] = ()
    """Errors that come of no chunk's own doing, for which it is not given up."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def submit(self, chunk: Chunk) -> "Future[Outcome]":
        """Begins to play a chunk."""
        raise NotImplementedError

    def num_under_way(self) -> int:
        """Returns how many chunks to have under way at once."""
        raise NotImplementedError

    def cause(self, error: Exception) -> Exception:
        """Returns what was raised where the chunk was played, without what came around it."""
        return error

    def run(
        self, chunks: Iterable[Chunk], progress: Callable[[int], object] | None = None
    ) -> Iterator[Done]:
        """Yields each chunk with what came of it; see `Executor.run`."""
        waiting = iter(chunks)
        attempts: Counter[Chunk] = Counter()
        under_way: dict[Future[Outcome], Chunk] = {}
        again: list[Chunk] = []
        in_vain = 0  # Chunks lost in breakdowns since one was played.
        while True:
            while len(under_way) < self.num_under_way():
                chunk = again.pop() if again else next(waiting, None)
                if chunk is None:
                    break
                attempts[chunk] += 1
                under_way[self.submit(chunk)] = chunk
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                chunk = under_way.pop(future)
                try:
                    outcome: Outcome | Failure = future.result()
                except CribaiError as error:
                    raise self.cause(error) from None
                except Exception as error:  # noqa: BLE001 -- the worker may have died of anything
                    if isinstance(error, self.breakdowns) and in_vain < self._patience():
                        in_vain += 1
                        attempts[chunk] -= 1
                    if attempts[chunk] < MAX_ATTEMPTS:
                        again.append(chunk)
                        continue
                    outcome = failure(chunk, self.terms, self.cause(error))
                if isinstance(outcome, Outcome):
                    in_vain = 0
                    if progress is not None:
                        progress(len(outcome.games))
                yield chunk, outcome

    def _patience(self) -> int:
        return MAX_BREAKDOWNS * self.num_under_way()


class ProcessExecutor(Retrying):
    """Plays chunks in a pool of processes; one that dies is replaced.

    Args:
        terms: What they are played by.
        workers: How many processes.
    """

    breakdowns = (BrokenProcessPool,)

    def __init__(self, terms: Terms, workers: int) -> None:
        super().__init__(terms)
        self._workers = workers
        self._pool = _new_pool(workers)

    def submit(self, chunk: Chunk) -> "Future[Outcome]":
        """Begins to play a chunk; see `Retrying`."""
        try:
            future: Future[Outcome] = self._pool.submit(play_in_worker, None, chunk, self.terms)
        except RuntimeError:
            # A process that died before it had a chunk breaks the pool.
            self.close()
            self._pool = _new_pool(self._workers)
            future = self._pool.submit(play_in_worker, None, chunk, self.terms)
        return future

    def num_under_way(self) -> int:
        """Returns one more than there are processes, so that none waits; see `Retrying`."""
        return self._workers + 1

    def close(self) -> None:
        """Ends the processes; see `Executor.close`."""
        self._pool.stop()
        self._pool.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Worker(SpawnProcess):
    """A process of the pool."""

    def start(self) -> None:
        """Starts it without Ctrl-C, which would end it with a traceback before it can ignore it."""
        with _without_interrupts():
            super().start()

    @property
    def exitcode(self) -> int | None:
        """Its status; none ends in peace before the pool does, though the pool takes 0 for that."""
        code = super().exitcode
        return _ENDED if code == 0 else code


class _Context(SpawnContext):
    Process = _Worker


_ENDED: Final = 255

_HAS_MASKS: Final = hasattr(signal, "pthread_sigmask")

_PLAYERS: Final = Players()
"""Of this process, if it is a worker."""


def _new_pool(workers: int) -> Any:
    # Of the standard library's pools, one dead process breaks all; Pebble's replaces it.
    from pebble import ProcessPool

    return ProcessPool(max_workers=workers, context=_Context(), initializer=begin_worker)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keeps Ctrl-C from what this thread starts, and puts it off here until that has started."""
    put_off: list[int] = []
    is_main = current_thread() is main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: put_off.append(1)) if is_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _HAS_MASKS else set()
    try:
        yield
    finally:
        if _HAS_MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_main:
            signal.signal(signal.SIGINT, before or signal.SIG_DFL)
            if put_off:
                signal.raise_signal(signal.SIGINT)


def begin_worker() -> None:
    """Makes a process a worker: Ctrl-C is the parent's affair, and one thread is its share."""
    from pebble import CONSTS

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, end_worker)
    os.environ["OMP_NUM_THREADS"] = "1"
    CONSTS.channel_lock_timeout = LOCK_SECONDS
    sys.stdout = sys.stderr  # Standard output is the command's.


def end_worker(*_: object) -> None:
    """Ends this worker at once, and the programs that it asks."""
    for program in _PLAYERS.programs:
        program.close()
    os._exit(1)


def play_in_worker(chunk: Chunk, terms: Terms, run: object = None) -> Outcome:
    """Plays a chunk in a process that does nothing else; see `play_chunk`."""
    return play_chunk(chunk, terms, _PLAYERS, run=run)


def failure(chunk: Chunk, terms: Terms, error: Any) -> Failure:
    """Returns the failure of a chunk, in words."""
    what = " ".join(str(error).split()) or type(error).__name__
    return Failure(
        terms.seed,
        f"{chunk.a} v {chunk.b}, seed {terms.seed}, pairs {chunk.first_pair} to"
        f" {chunk.first_pair + chunk.num_pairs - 1}, failed {MAX_ATTEMPTS} times:"
        f" {type(error).__name__}: {what}",
    )


def make_executor(name: str, terms: Terms, *, workers: int, address: str | None = None) -> Executor:
    """Returns an executor.

    Args:
        name: `processes` or `ray`.
        terms: What chunks are played by.
        workers: How many processes; with `processes`, one worker is this process itself.
        address: Address of a Ray cluster to join; None for one of this machine.

    Raises:
        ConfigError: Ray is not installed or the cluster cannot be reached.
    """
    if name == "ray":
        from cribai.tournament.ray import RayExecutor

        return RayExecutor(terms, workers, address)
    return SerialExecutor(terms) if workers == 1 else ProcessExecutor(terms, workers)
