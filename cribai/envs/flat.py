"""The flat encoding: the fields of the dict as one vector."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.envs.named import DictEncoding
from cribai.envs.observation import Encoding
from cribai.rules import Rules
from cribai.views import View, ViewBatch


class FlatEncoding(Encoding):
    """One float32 vector: the fields of `DictEncoding` in order, each number from 0 to 1.

    Attributes:
        slices: Where each field lies.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self._fields = DictEncoding(rules)
        self.slices: dict[str, slice] = {}
        highs: list[float] = []
        for name, (shape, high) in self._fields.limits.items():
            size = int(np.prod(shape))
            self.slices[name] = slice(len(highs), len(highs) + size)
            highs += [high] * size
        self._highs = np.array(highs)
        self._scale = (1 / self._highs).astype(np.float32)
        self.space = spaces.Box(0, 1, (len(highs),), np.float32)

    def encode(self, views: ViewBatch) -> NDArray[np.float32]:
        """Returns new observations of views; see `Encoding.encode`."""
        fields = self._fields.encode(views).values()
        found = np.concatenate(
            [field.reshape(len(views), -1) for field in fields], axis=1, dtype=np.float32
        )
        found *= self._scale
        return found

    def decode(self, observation: Any) -> View:
        """Returns the view of one observation; see `Encoding.decode`."""
        values = np.rint(np.asarray(observation, np.float64) * self._highs).astype(np.int64)
        return self._fields.decode(
            {
                name: values[self.slices[name]].reshape(shape)
                for name, (shape, _) in self._fields.limits.items()
            }
        )
