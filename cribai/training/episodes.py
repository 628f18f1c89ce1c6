"""What plays the waves of a run, by its configuration."""

import copy
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from cribai.agent import Agent
from cribai.errors import ConfigError
from cribai.training.checkpoint import Weights
from cribai.training.config import TrainConfig
from cribai.training.deals import make_library
from cribai.training.learner import Evaluator
from cribai.training.network import Perceptron
from cribai.training.replay import Replay
from cribai.training.selfplay import Samples, SelfPlay, join
from cribai.training.toss_selfplay import TossSamples, TossSelfPlay, toss_options

USUAL_DECISIONS: Final = 5
"""Decisions between lays in a deal, about."""


class Episodes(Protocol):
    """Plays a run's waves."""

    def play(
        self, wave: int, random_share: float, network: Perceptron, opponents: Sequence[Agent]
    ) -> Samples | TossSamples:
        """Returns what a wave says.

        Args:
            wave: Its number.
            random_share: Share of random lays.
            network: The network as it stands.
            opponents: The agents of the pool.
        """

    def close(self) -> None:
        """Gives up what is held outside this process."""


class LayEpisodes:
    """Waves whose lays are learned from at once."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self._selfplay = _selfplay(config)

    def play(
        self, wave: int, random_share: float, network: Perceptron, opponents: Sequence[Agent]
    ) -> Samples:
        """See `Episodes.play`."""
        if self._config.parts == 1:
            return self.play_part(wave, 0, random_share, network, opponents)
        parts = (
            join([self.play_part(wave, part, random_share, network, opponents)])
            for part in range(self._config.parts)
        )
        return join(list(parts))

    def play_part(
        self,
        wave: int,
        part: int,
        random_share: float,
        network: Perceptron,
        opponents: Sequence[Agent],
    ) -> Samples:
        """Returns what a part of a wave says, in arrays that are overwritten by the next."""
        self._selfplay.opponents = opponents
        evaluator = Evaluator(network, self._config.low_precision)
        if self._config.parts == 1:
            return self._selfplay.play(wave, evaluator, random_share, part)
        # The last bits of outputs depend on the number of threads, and workers have one.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return self._selfplay.play(wave, evaluator, random_share, part)
        finally:
            torch.set_num_threads(threads)

    def close(self) -> None:
        """See `Episodes.close`."""


class ReplayedEpisodes:
    """Waves drawn from all that were played, by the start's network."""

    def __init__(self, config: TrainConfig, start: Weights) -> None:
        self._config = config
        self._selfplay = _selfplay(config)
        self._evaluator = Evaluator(copy.deepcopy(start.lays), config.low_precision)
        self._replay = Replay(config.replay)
        self._played = 0

    def play(
        self,
        wave: int,
        random_share: float,  # noqa: ARG002 -- the first wave's is kept to
        network: Perceptron,  # noqa: ARG002 -- the start's plays
        opponents: Sequence[Agent],
    ) -> Samples:
        """See `Episodes.play`."""
        config = self._config
        self._selfplay.opponents = opponents
        # A resumed run plays again what it has lost.
        while self._played <= wave and (config.played is None or self._played < config.played):
            self._replay.add(
                self._selfplay.play(self._played, self._evaluator, config.random_first)
            )
            self._played += 1
        usual = round(config.deals * config.root_share * USUAL_DECISIONS)
        return self._replay.draw(usual, np.random.default_rng([config.seed, 5, wave]))

    def close(self) -> None:
        """See `Episodes.close`."""


class TossEpisodes:
    """Waves whose tosses are learned from, with the lays of the start's network."""

    def __init__(self, config: TrainConfig, start: Weights) -> None:
        library = _library(config)
        self._selfplay = TossSelfPlay(library, config.seed, config.deals, toss_options())
        self._evaluator = Evaluator(copy.deepcopy(start.lays), config.low_precision)

    def play(
        self,
        wave: int,
        random_share: float,  # noqa: ARG002 -- all lays are the network's
        network: Perceptron,  # noqa: ARG002 -- the one of the tosses
        opponents: Sequence[Agent],  # noqa: ARG002 -- there are none
    ) -> TossSamples:
        """See `Episodes.play`."""
        return self._selfplay.play(wave, self._evaluator)

    def close(self) -> None:
        """See `Episodes.close`."""


def make_episodes(config: TrainConfig, start: Weights | None) -> Episodes:
    """Returns what plays a run's waves.

    Args:
        config: The settings.
        start: The weights that the run starts from.

    Raises:
        ConfigError: The settings need a start and there is none, or a cluster cannot be reached.
    """
    if config.method != "tosses" and config.replay == 0:
        if config.executor == "ray":
            from cribai.training.ray import RayEpisodes

            return RayEpisodes(config)
        return LayEpisodes(config)
    if start is None:
        raise ConfigError("The lays are those of other weights; set start.")
    return (
        TossEpisodes(config, start)
        if config.method == "tosses"
        else ReplayedEpisodes(config, start)
    )


def _library(config: TrainConfig) -> NDArray[Any]:
    return make_library(config.library, config.seed, near_share=config.near_share)


def _selfplay(config: TrainConfig) -> SelfPlay:
    return SelfPlay(
        _library(config),
        config.seed,
        config.deals // config.parts,
        config.root_share,
        config.method,
        temperature=config.temperature,
        opponent_share=config.pool_share,
    )
