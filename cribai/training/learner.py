"""The learner: fits a network to what the choices at roots were worth."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from cribai.errors import CribaiError
from cribai.training.network import Perceptron
from cribai.training.selfplay import Samples
from cribai.training.toss_selfplay import TossSamples

Loss = Callable[[torch.Tensor, Any, NDArray[np.int64]], torch.Tensor]
"""From outputs, a wave's samples and which of them the outputs are of, to what is made small."""

BETAS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8


class DivergedError(CribaiError):
    """The loss or a weight is no number any more."""


@dataclass(frozen=True, slots=True)
class LearnerOptions:
    """How the learner learns.

    Attributes:
        batch_size: Roots in a step.
        passes: How often each wave's samples are used.
        average_decay: Decay, for each step, of the averaged weights that act.
        low_precision: Whether layers compute in bfloat16.
    """

    batch_size: int
    passes: int
    average_decay: float
    low_precision: bool


class Learner:
    """A network in training, its optimiser and the running average of its weights.

    Args:
        network: The network; modified by `learn`.
        loss: What is made small.
        options: How it learns.
    """

    def __init__(self, network: Perceptron, loss: Loss, options: LearnerOptions) -> None:
        self.network = network
        self.loss = loss
        self.options = options
        self.optimizer = torch.optim.Adam(network.parameters(), lr=0.0, betas=BETAS, eps=EPSILON)
        self.average = [weight.detach().clone() for weight in network.parameters()]
        self.steps = 0

    def learn(
        self, samples: Samples | TossSamples, learning_rate: float, order: NDArray[np.int64]
    ) -> float:
        """Takes the steps of one wave.

        Args:
            samples: What the wave says.
            learning_rate: Of all its steps.
            order: int64 array (m, n), the order of the n samples in each pass.

        Returns:
            The mean loss.

        Raises:
            DivergedError: The loss is no number; the weights are then of no use.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        total = 0.0
        number = 0
        for chosen in order:
            for start in range(0, len(chosen), self.options.batch_size):
                batch = chosen[start : start + self.options.batch_size]
                with torch.autocast("cpu", torch.bfloat16, enabled=self.options.low_precision):
                    outputs = self.network(torch.from_numpy(samples.rows[batch]))
                loss = self.loss(outputs, samples, batch)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                value = float(loss.detach())
                if not math.isfinite(value):
                    raise DivergedError(
                        f"The loss is {value} at step {self.steps}; lower learning_rate and resume"
                        " from the last checkpoint."
                    )
                self.optimizer.step()
                self.steps += 1
                self._update_average()
                total += value
                number += 1
        return total / max(number, 1)

    def _update_average(self) -> None:
        decay = min(self.options.average_decay, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            for average, weight in zip(self.average, self.network.parameters(), strict=True):
                average.lerp_(weight, 1 - decay)

    def averaged(self) -> Perceptron:
        """Returns a new network with the averaged weights."""
        network = copy.deepcopy(self.network)
        with torch.no_grad():
            for weight, average in zip(network.parameters(), self.average, strict=True):
                weight.copy_(average)
        return network.eval()


class Evaluator:
    """Answers batches of rows with a network's outputs, without gradients.

    Args:
        network: The network.
        low_precision: Whether to compute in bfloat16.
    """

    def __init__(self, network: Perceptron, low_precision: bool) -> None:
        self.dtype = torch.bfloat16 if low_precision else torch.float32
        self.network = network.to(self.dtype)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns outputs (n, NUM_OUTPUTS) of rows (n, NUM_INPUTS)."""
        with torch.inference_mode():
            outputs: NDArray[np.float32] = self.network(
                torch.from_numpy(rows).to(self.dtype)
            ).numpy()
        return outputs
