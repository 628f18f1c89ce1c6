"""The learner: fits a network to what the choices at roots were worth."""

import copy
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
from cribai.training.network import WIN_OUTPUT, Perceptron
from cribai.training.selfplay import UNKNOWN, Samples
from cribai.training.toss_features import TOSS_COLUMNS
from cribai.training.toss_selfplay import TossSamples

BETAS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8

USUAL_UNIT: Final = 0.04
LEAST_IMPORTANT: Final = 0.5
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

    def __init__(self, network: Perceptron, options: LearnerOptions) -> None:
        self.network = network
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
                if isinstance(samples, TossSamples):
                    loss = toss_loss(outputs, samples, batch, self.options)
                else:
                    loss = lay_loss(outputs, samples, batch, self.options)
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


def lay_loss(
    outputs: torch.Tensor, samples: Samples, batch: NDArray[np.int64], options: LearnerOptions
) -> torch.Tensor:
    """Returns the loss of a batch of lays.

    Args:
        outputs: The network's (n, NUM_OUTPUTS).
        samples: What the wave says.
        batch: int64 array (n,), which of the samples.
        options: How to learn.
    """
    targets = torch.from_numpy(samples.targets[batch])
    masks = torch.from_numpy(samples.masks[batch])
    values = outputs[:, :NUM_RANKS]
    if options.relative:
        values = relative(values, masks)
        targets = relative(targets, masks)
    units = samples.rows[batch, COLUMNS["worths"].start + 1] / 10
    lays = weighted_errors(values, targets, masks, units, options.huber)
    wins = torch.from_numpy(samples.wins[batch])
    if bool((wins == UNKNOWN).any()):
        return lays
    value = functional.binary_cross_entropy_with_logits(outputs[:, WIN_OUTPUT], wins)
    return lays + options.value_weight * value


def toss_loss(
    outputs: torch.Tensor, samples: TossSamples, batch: NDArray[np.int64], options: LearnerOptions
) -> torch.Tensor:
    """Returns the loss of a batch of tosses.

    Args:
        outputs: The network's (n, MAX_CANDIDATES, 1).
        samples: What the wave says.
        batch: int64 array (n,), which of the samples.
        options: How to learn.
    """
    masks = torch.from_numpy(samples.masks[batch])
    values = relative(outputs[..., 0], masks)
    targets = relative(torch.from_numpy(samples.targets[batch]), masks)
    units = samples.rows[batch, 0, TOSS_COLUMNS["weights"].start + 2] / 10
    return weighted_errors(values, targets, masks, units, options.huber)


def weighted_errors(
    values: torch.Tensor,
    targets: torch.Tensor,
    masks: torch.Tensor,
    units: NDArray[np.float32],
    huber: float,
) -> torch.Tensor:
    """Returns the mean of the rows' errors, each counting the more, the more a point is worth.

    Far from the end of an even game a row counts once.

    Args:
        values: What was found (n, k).
        targets: What it should be (n, k).
        masks: 1 where there is a target (n, k).
        units: float32 array (n,): what a point is worth.
        huber: Error beyond which the loss, half the square at first, grows only linearly.
    """
    errors = huber * functional.smooth_l1_loss(values, targets, reduction="none", beta=huber)
    importance = torch.from_numpy(units / USUAL_UNIT).clamp(LEAST_IMPORTANT, MOST_IMPORTANT)
    return (errors * masks).sum(1) @ importance / len(values)


def relative(values: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Returns values (n, k) less their mean over each row's masked entries."""
    mean = (values * masks).sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return values - mean


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
