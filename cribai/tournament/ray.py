"""`RayExecutor`: chunks played by the workers of a Ray cluster. Needs the extra `ray`."""

import os
from concurrent.futures import Future
from uuid import uuid4

from cribai.errors import ConfigError
from cribai.tournament.chunks import Chunk, Outcome, Terms
from cribai.tournament.executors import Retrying, play_in_worker

try:
    import ray
except ImportError:
    raise ConfigError(
        "The executor 'ray' needs Ray; install it with pip install 'cribai[ray]', or choose"
        " another executor."
    ) from None

__all__ = ["RayExecutor", "ray", "start_ray"]


class RayExecutor(Retrying):
    """Plays chunks on a Ray cluster, each as a task of one core.

    Args:
        terms: What they are played by.
        workers: How many chunks to have under way.
        address: Address of a cluster to join; None to start one on this machine.

    Raises:
        ConfigError: The cluster cannot be reached.
    """

    def __init__(self, terms: Terms, workers: int, address: str | None) -> None:
        super().__init__(terms)
        self._workers = workers
        self._started = start_ray(workers, address)
        self._run = uuid4().hex  # Workers may outlive this executor.
        self._play = ray.remote(num_cpus=1, max_retries=0)(_play)

    def submit(self, chunk: Chunk) -> "Future[Outcome]":
        """Begins to play a chunk; see `Retrying`."""
        future: Future[Outcome] = self._play.remote(chunk, self.terms, self._run).future()
        return future

    def cause(self, error: Exception) -> Exception:
        """Returns what a task raised, which Ray wraps with its traceback; see `Retrying`."""
        cause = getattr(error, "cause", None)
        return cause if isinstance(cause, Exception) else error

    def num_under_way(self) -> int:
        """Returns one more than there are workers, so that none waits; see `Retrying`."""
        return self._workers + 1

    def close(self) -> None:
        """Leaves the cluster, which ends if it was started here; see `Executor.close`."""
        if self._started:
            ray.shutdown()


def start_ray(workers: int, address: str | None) -> bool:
    """Joins a Ray cluster or starts one here; tells whether there was none yet.

    Args:
        workers: Cores of a cluster started here.
        address: Address of a cluster to join; None to start one on this machine.

    Raises:
        ConfigError: The cluster cannot be reached.
    """
    if ray.is_initialized():
        return False
    settings = {"address": address} if address else {"num_cpus": workers}
    try:
        ray.init(**settings, include_dashboard=False, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"Cannot reach the Ray cluster {address!r}: {error};"
            " mend the address, or leave it out to start one here."
        ) from None
    return True


def _play(chunk: Chunk, terms: Terms, run: str) -> Outcome:
    os.environ["OMP_NUM_THREADS"] = "1"
    return play_in_worker(chunk, terms, run)
