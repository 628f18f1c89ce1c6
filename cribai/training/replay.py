"""Samples kept from several waves, to be learned from again."""

import numpy as np

from cribai.cards import NUM_RANKS
from cribai.training.features import NUM_INPUTS
from cribai.training.selfplay import Samples


class Replay:
    """The samples of the last waves; rows are kept with half the precision.

    Args:
        size: How many samples are kept, the oldest given up first.
    """

    def __init__(self, size: int) -> None:
        self._rows = np.zeros((size, NUM_INPUTS), np.float16)
        self._targets = np.zeros((size, NUM_RANKS), np.float32)
        self._masks = np.zeros((size, NUM_RANKS), np.float32)
        self._wins = np.zeros(size, np.float32)
        self._next = 0
        self._held = 0

    def add(self, samples: Samples) -> None:
        """Keeps the samples of a wave."""
        number = len(samples.rows)
        places = (self._next + np.arange(number)) % len(self._rows)
        self._rows[places] = samples.rows
        self._targets[places] = samples.targets
        self._masks[places] = samples.masks
        self._wins[places] = samples.wins
        self._next = (self._next + number) % len(self._rows)
        self._held = min(self._held + number, len(self._rows))

    def draw(self, number: int, chance: np.random.Generator) -> Samples:
        """Returns samples drawn from those kept, with repetition."""
        places = chance.integers(0, self._held, number)
        return Samples(
            self._rows[places].astype(np.float32),
            self._targets[places],
            self._masks[places],
            self._wins[places],
            0,
        )
