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
class ValueLoss:
    """The loss of lays whose outputs are values: their error.

    Attributes:
        relative: Whether only the differences between a root's lays are learned.
        huber: Error in points beyond which the loss grows only linearly.
        win_weight: Weight of the win chance's loss.
        teacher: The network to stay near to; none for no such term.
        teacher_weight: Weight of the square of the difference from its values.
    """

    relative: bool
    huber: float
    win_weight: float
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
        values, targets, masks, weights = _lays(outputs, samples, batch)
        loss = self.win_weight * win_loss(outputs, samples, batch)
        if self.teacher is not None and self.teacher_weight > 0:
            taught = _taught(self.teacher, samples, batch)
            # All legal lays, also where one of them was valued.
            legal = torch.from_numpy(samples.rows[batch][:, COLUMNS["legal"]])
            distance = (relative(values, legal) - relative(taught, legal)) ** 2 * legal
            loss = loss + self.teacher_weight * (distance.sum(1) @ weights) / len(values)
        if self.relative:
            values = relative(values, masks)
            targets = relative(targets, masks)
        return loss + weighted_errors(values, targets, masks, weights, self.huber)


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """The loss of lays whose outputs are, over the temperature, the logits of a policy.

    All lays of a root being valued, what the policy gets on average is known, and with it the
    gradient: no lay needs to be drawn, and no baseline to be learned.

    Attributes:
        temperature: Points of output that make a lay a factor e more likely.
        win_weight: Weight of the win chance's loss.
        entropy_weight: Weight of the policy's entropy, which is made large, in points.
        teacher: The network to stay near to; none for no such term.
        teacher_weight: Weight of the divergence from its policy, in points.
    """

    temperature: float
    win_weight: float
    entropy_weight: float = 0.0
    teacher: Evaluate | None = None
    teacher_weight: float = 0.0

    def __call__(
        self, outputs: torch.Tensor, samples: Samples, batch: NDArray[np.int64]
    ) -> torch.Tensor:
        """Returns the loss of a batch; see `ValueLoss`."""
        values, targets, masks, weights = _lays(outputs, samples, batch)
        logs = log_policy(values, masks, self.temperature)
        chances = logs.exp() * masks
        missed = -(chances * relative(targets, masks)).sum(1)
        missed = missed + self.entropy_weight * (chances * logs).sum(1)
        if self.teacher is not None and self.teacher_weight > 0:
            taught = log_policy(_taught(self.teacher, samples, batch), masks, self.temperature)
            missed = missed + self.teacher_weight * (chances * (logs - taught)).sum(1)
        wins = self.win_weight * win_loss(outputs, samples, batch)
        return wins + missed @ weights / len(values)


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


def _lays(
    outputs: torch.Tensor, samples: Samples, batch: NDArray[np.int64]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the outputs for the ranks, the targets, the masks and how much each row counts."""
    return (
        outputs[:, :NUM_RANKS],
        torch.from_numpy(samples.targets[batch]),
        torch.from_numpy(samples.masks[batch]),
        importance(samples.rows[batch, COLUMNS["worths"].start + 1] / 10),
    )


def _taught(teacher: Evaluate, samples: Samples, batch: NDArray[np.int64]) -> torch.Tensor:
    return torch.from_numpy(teacher(samples.rows[batch]))[:, :NUM_RANKS]


def win_loss(outputs: torch.Tensor, samples: Samples, batch: NDArray[np.int64]) -> torch.Tensor:
    """Returns the cross entropy of the chances to win; zero where they are not known."""
    wins = torch.from_numpy(samples.wins[batch])
    if bool((wins == UNKNOWN).any()):
        return torch.zeros(())
    return functional.binary_cross_entropy_with_logits(outputs[:, WIN_OUTPUT], wins)


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
