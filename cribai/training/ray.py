"""Self-play by the workers of a Ray cluster. Needs the extra `ray`.

A wave has parts, each with deals of its own; who plays which part does not matter. So the weights
that come out depend on the number of parts alone, not on the workers.
"""

from collections.abc import Sequence
from typing import Any

import torch

from cribai.agent import Agent
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
        worker: Any = ray.remote(num_cpus=1)(_Worker)
        self._workers = [worker.remote(config) for _ in range(min(config.workers, config.parts))]

    def play(
        self, wave: int, random_share: float, network: Perceptron, opponents: Sequence[Agent]
    ) -> Samples:
        """See `Episodes.play`."""
        shared = ray.put((network, tuple(opponents)))
        parts = [
            self._workers[part % len(self._workers)].play.remote(wave, part, random_share, shared)
            for part in range(self._parts)
        ]
        return join(ray.get(parts))

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
