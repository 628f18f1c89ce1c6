"""The learner: fits the network to what the lays of roots were worth."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from cribai.cards import NUM_RANKS
from cribai.errors import CribaiError
from cribai.training.features import COLUMNS
from cribai.training.network import WIN_OUTPUT, LayNetwork
from cribai.training.selfplay import Samples

BETAS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8

USUAL_UNIT: Final = 0.04
MOST_IMPORTANT: Final = 4.0


class DivergedError(CribaiError):
    """The loss or a weight is no number any more."""


@dataclass(frozen=True, slots=True)
class LearnerOptions:
    """How the learner learns.

    Attributes:
        batch_size: Roots in a step.
        passes: How often each wave's samples are used.
        average_decay: Decay, for each step, of the averaged weights that act.
        value_weight: Weight of the win chance's loss.
        huber: Error in points beyond which the loss grows only linearly.
        relative: Whether only the differences between a root's lays are learned.
        low_precision: Whether layers compute in bfloat16.
    """

    batch_size: int
    passes: int
    average_decay: float
    value_weight: float
    huber: float
    relative: bool
    low_precision: bool


class Learner:
    """A network in training, its optimiser and the running average of its weights.

    Args:
        network: The network; modified by `learn`.
        options: How it learns.
    """

    def __init__(self, network: LayNetwork, options: LearnerOptions) -> None:
        self.network = network
        self.options = options
        self.optimizer = torch.optim.Adam(network.parameters(), lr=0.0, betas=BETAS, eps=EPSILON)
        self.average = [weight.detach().clone() for weight in network.parameters()]
        self.steps = 0

    def learn(self, samples: Samples, learning_rate: float, order: NDArray[np.int64]) -> float:
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
        rows = torch.from_numpy(samples.rows)
        targets = torch.from_numpy(samples.targets)
        masks = torch.from_numpy(samples.masks)
        wins = torch.from_numpy(samples.wins)
        total = 0.0
        number = 0
        for chosen in order:
            for start in range(0, len(chosen), self.options.batch_size):
                batch = torch.from_numpy(chosen[start : start + self.options.batch_size])
                loss = self._loss(rows[batch], targets[batch], masks[batch], wins[batch])
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

    def _loss(
        self,
        rows: torch.Tensor,
        targets: torch.Tensor,
        masks: torch.Tensor,
        wins: torch.Tensor,
    ) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.options.low_precision):
            outputs = self.network(rows)
        values = outputs[:, :NUM_RANKS]
        if self.options.relative:
            values = relative(values, masks)
            targets = relative(targets, masks)
        errors = functional.smooth_l1_loss(
            values, targets, reduction="none", beta=self.options.huber
        )
        # Scaled so that the slope near zero is that of half the square, whatever `huber` is.
        lays = (errors * masks).sum(1) @ importance(rows) * self.options.huber / len(rows)
        value = functional.binary_cross_entropy_with_logits(outputs[:, WIN_OUTPUT], wins)
        return lays + self.options.value_weight * value

    def _update_average(self) -> None:
        decay = min(self.options.average_decay, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            for average, weight in zip(self.average, self.network.parameters(), strict=True):
                average.lerp_(weight, 1 - decay)

    def averaged(self) -> LayNetwork:
        """Returns a new network with the averaged weights."""
        hidden = tuple(layer.out_features for layer in self.network.hidden)
        network = LayNetwork(hidden)  # type: ignore[arg-type]
        with torch.no_grad():
            for weight, average in zip(network.parameters(), self.average, strict=True):
                weight.copy_(average)
        return network.eval()


def relative(values: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Returns values (n, 13) less their mean over each row's masked entries."""
    mean = (values * masks).sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return values - mean


def importance(rows: torch.Tensor) -> torch.Tensor:
    """Returns how much each row (n, NUM_INPUTS) counts: the more, the more is at stake in a point.

    Far from the end of an even game the importance is one.
    """
    unit = rows[:, COLUMNS["worths"].start + 1] / 10
    return (unit / USUAL_UNIT).clamp(0.5, MOST_IMPORTANT)


class Evaluator:
    """Answers batches of rows with a network's outputs, without gradients.

    Args:
        network: The network.
        low_precision: Whether to compute in bfloat16.
    """

    def __init__(self, network: LayNetwork, low_precision: bool) -> None:
        self.dtype = torch.bfloat16 if low_precision else torch.float32
        self.network = network.to(self.dtype)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns outputs (n, NUM_OUTPUTS) of rows (n, NUM_INPUTS)."""
        with torch.inference_mode():
            outputs: NDArray[np.float32] = self.network(
                torch.from_numpy(rows).to(self.dtype)
            ).numpy()
        return outputs
