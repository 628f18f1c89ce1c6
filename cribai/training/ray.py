"""Self-play by the workers of a Ray cluster. Needs the extra `ray`.

A wave has parts, each with deals of its own; who plays which part does not matter. So the weights
that come out depend on the number of parts alone, not on the workers.
"""

from collections.abc import Sequence
from typing import Any

import torch

from cribai.agent import Agent
from cribai.errors import ConfigError, CribaiError
from cribai.tournament.ray import ray, start_ray
from cribai.training.config import TrainConfig
from cribai.training.episodes import LayEpisodes
from cribai.training.network import Perceptron
from cribai.training.selfplay import Samples, join


class RayEpisodes:
    """Waves whose parts are played by workers.

    Args:
        config: The settings.

    Raises:
        ConfigError: The cluster cannot be reached.
    """

    def __init__(self, config: TrainConfig) -> None:
        self._parts = config.parts
        self._started = start_ray(config.workers, config.address)
        # One that finds no core would be waited for without end.
        cluster: Any = ray
        cores = int(cluster.cluster_resources().get("CPU", 1))
        worker: Any = cluster.remote(num_cpus=1)(_Worker)
        number = max(min(config.workers, config.parts, cores), 1)
        self._workers = [worker.remote(config) for _ in range(number)]

    def play(
        self, wave: int, random_share: float, network: Perceptron, opponents: Sequence[Agent]
    ) -> Samples:
        """See `Episodes.play`.

        Raises:
            CribaiError: What a worker raised.
            ConfigError: A worker ended.
        """
        shared = ray.put((network, tuple(opponents)))
        parts = [
            self._workers[part % len(self._workers)].play.remote(wave, part, random_share, shared)
            for part in range(self._parts)
        ]
        try:
            return join(ray.get(parts))
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, CribaiError):
                raise cause from None
            what = str(cause or error).strip().splitlines()[0]
            raise ConfigError(
                f"A worker of the Ray cluster failed in wave {wave}: {what}; mend it and resume."
            ) from None

    def close(self) -> None:
        """Leaves the cluster, which ends if it was started here."""
        if self._started:
            ray.shutdown()


class _Worker:
    """Plays parts of waves."""

    def __init__(self, config: TrainConfig) -> None:
        torch.set_num_threads(1)
        self._episodes = LayEpisodes(config)

    def play(
        self, wave: int, part: int, random_share: float, shared: tuple[Perceptron, Any]
    ) -> Samples:
        network, opponents = shared
        return self._episodes.play_part(wave, part, random_share, network, opponents)
