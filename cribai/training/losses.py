"""What the learner makes small: errors of values, or what a policy misses, and a distance.

Rows count the more, the more a point is worth at their score.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from cribai.cards import NUM_RANKS
from cribai.training.features import COLUMNS
from cribai.training.lockstep import Evaluate
from cribai.training.network import WIN_OUTPUT
from cribai.training.selfplay import UNKNOWN, Samples
from cribai.training.toss_features import TOSS_COLUMNS
from cribai.training.toss_selfplay import TossSamples

USUAL_UNIT: Final = 0.04
LEAST_IMPORTANT: Final = 0.5
MOST_IMPORTANT: Final = 4.0

_MASKED: Final = -1e9


@dataclass(frozen=True, slots=True)
class LayLoss:
    """The loss of lays.

    With `policy` unset the outputs are values, and the loss their error. With it they are, over the
    temperature, the logits of a policy: the loss is what the policy gets less than nothing, all
    lays of a root being valued, so that its gradient is that of the policy's mean worth.

    Attributes:
        policy: Whether the outputs are a policy's logits.
        relative: Whether only the differences between a root's lays are learned.
        huber: Error in points beyond which the loss grows only linearly.
        value_weight: Weight of the win chance's loss.
        temperature: Points of output that make a lay a factor e more likely.
        entropy_weight: Weight of the policy's entropy, which is made large.
        teacher: The network to stay near to; none for no such term.
        teacher_weight: Weight of the distance: the divergence from the teacher's policy, or the
            square of the difference of values.
    """

    policy: bool
    relative: bool
    huber: float
    value_weight: float
    temperature: float = 1.0
    entropy_weight: float = 0.0
    teacher: Evaluate | None = None
    teacher_weight: float = 0.0

    def __call__(
        self, outputs: torch.Tensor, samples: Samples, batch: NDArray[np.int64]
    ) -> torch.Tensor:
        """Returns the loss of a batch.

        Args:
            outputs: The network's (n, NUM_OUTPUTS).
            samples: What the wave says.
            batch: int64 array (n,), which of the samples.
        """
        targets = torch.from_numpy(samples.targets[batch])
        masks = torch.from_numpy(samples.masks[batch])
        weights = importance(samples.rows[batch, COLUMNS["worths"].start + 1] / 10)
        values = outputs[:, :NUM_RANKS]
        taught = None
        if self.teacher is not None and self.teacher_weight > 0:
            taught = torch.from_numpy(self.teacher(samples.rows[batch]))[:, :NUM_RANKS]
        if self.policy:
            loss = self._policy_loss(values, targets, masks, weights, taught)
        else:
            loss = self._value_loss(values, targets, masks, weights, taught)
        wins = torch.from_numpy(samples.wins[batch])
        if bool((wins == UNKNOWN).any()):
            return loss
        value = functional.binary_cross_entropy_with_logits(outputs[:, WIN_OUTPUT], wins)
        return loss + self.value_weight * value

    def _value_loss(
        self,
        values: torch.Tensor,
        targets: torch.Tensor,
        masks: torch.Tensor,
        weights: torch.Tensor,
        taught: torch.Tensor | None,
    ) -> torch.Tensor:
        if taught is not None:
            distance = (relative(values, masks) - relative(taught, masks)) ** 2 * masks
        if self.relative:
            values = relative(values, masks)
            targets = relative(targets, masks)
        loss = weighted_errors(values, targets, masks, weights, self.huber)
        if taught is not None:
            loss = loss + self.teacher_weight * (distance.sum(1) @ weights) / len(values)
        return loss

    def _policy_loss(
        self,
        values: torch.Tensor,
        targets: torch.Tensor,
        masks: torch.Tensor,
        weights: torch.Tensor,
        taught: torch.Tensor | None,
    ) -> torch.Tensor:
        logs = log_policy(values, masks, self.temperature)
        chances = logs.exp() * masks
        loss = -(chances * relative(targets, masks)).sum(1)
        loss = loss + self.entropy_weight * (chances * logs).sum(1)
        if taught is not None:
            other = log_policy(taught, masks, self.temperature)
            loss = loss + self.teacher_weight * (chances * (logs - other)).sum(1)
        return loss @ weights / len(values)


@dataclass(frozen=True, slots=True)
class TossLoss:
    """The loss of tosses: the error of the differences between a root's candidates.

    Attributes:
        huber: Error in points beyond which the loss grows only linearly.
    """

    huber: float

    def __call__(
        self, outputs: torch.Tensor, samples: TossSamples, batch: NDArray[np.int64]
    ) -> torch.Tensor:
        """Returns the loss of a batch.

        Args:
            outputs: The network's (n, MAX_CANDIDATES, 1).
            samples: What the wave says.
            batch: int64 array (n,), which of the samples.
        """
        masks = torch.from_numpy(samples.masks[batch])
        values = relative(outputs[..., 0], masks)
        targets = relative(torch.from_numpy(samples.targets[batch]), masks)
        weights = importance(samples.rows[batch, 0, TOSS_COLUMNS["weights"].start + 2] / 10)
        return weighted_errors(values, targets, masks, weights, self.huber)


def importance(units: NDArray[np.float32]) -> torch.Tensor:
    """Returns how much rows count by what a point is worth; far from an even game's end once."""
    return torch.from_numpy(units / USUAL_UNIT).clamp(LEAST_IMPORTANT, MOST_IMPORTANT)


def weighted_errors(
    values: torch.Tensor,
    targets: torch.Tensor,
    masks: torch.Tensor,
    weights: torch.Tensor,
    huber: float,
) -> torch.Tensor:
    """Returns the mean of the rows' errors.

    Args:
        values: What was found (n, k).
        targets: What it should be (n, k).
        masks: 1 where there is a target (n, k).
        weights: How much each row counts (n,).
        huber: Error beyond which the loss, half the square at first, grows only linearly.
    """
    errors = huber * functional.smooth_l1_loss(values, targets, reduction="none", beta=huber)
    return (errors * masks).sum(1) @ weights / len(values)


def relative(values: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Returns values (n, k) less their mean over each row's masked entries."""
    mean = (values * masks).sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return values - mean


def log_policy(values: torch.Tensor, masks: torch.Tensor, temperature: float) -> torch.Tensor:
    """Returns the logarithms of the chances (n, k) that values stand for, masked ones very low."""
    logits = torch.where(masks > 0, values / temperature, _MASKED)
    return functional.log_softmax(logits, dim=1)
