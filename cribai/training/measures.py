"""What a wave tells of the network as it stands: entropy, distance to the teacher, calibration."""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from cribai.cards import NUM_RANKS
from cribai.training.features import COLUMNS
from cribai.training.lockstep import Evaluate
from cribai.training.losses import log_policy
from cribai.training.network import WIN_OUTPUT
from cribai.training.selfplay import UNKNOWN, Samples

NUM_BINS: Final = 10

MEASURED: Final = 2048
"""Roots of a wave that are looked at."""


def measure(
    network: Evaluate, teacher: Evaluate | None, samples: Samples, temperature: float
) -> dict[str, float]:
    """Returns measures of a network on the first roots of a wave.

    Args:
        network: The network of the lays.
        teacher: What it is compared with, if anything.
        samples: What the wave says.
        temperature: Points that make a lay a factor e more likely.

    Returns:
        `entropy` of the lays' chances in nats; `divergence`, Kullback and Leibler's, from the
        teacher's chances if there is one; `calibration`, the mean distance between the chances to
        win that were said and the share that was won over ten bins, if wins are known.
        Nothing of a wave without roots.
    """
    rows = samples.rows[:MEASURED]
    if len(rows) == 0:
        return {}
    # All legal lays are compared, also where one of them was valued.
    legal = torch.from_numpy(rows[:, COLUMNS["legal"]])
    outputs = torch.from_numpy(network(rows))
    logs = log_policy(outputs[:, :NUM_RANKS], legal, temperature)
    chances = logs.exp() * legal
    found = {"entropy": -float((chances * logs).sum(1).mean())}
    if teacher is not None:
        taught = log_policy(torch.from_numpy(teacher(rows))[:, :NUM_RANKS], legal, temperature)
        found["divergence"] = float((chances * (logs - taught)).sum(1).mean())
    said = torch.sigmoid(outputs[:, WIN_OUTPUT]).numpy()
    won = samples.wins[:MEASURED]
    if not (won == UNKNOWN).any():
        found["calibration"] = calibration_error(said, won)
    return found


def calibration_error(said: NDArray[Any], won: NDArray[Any]) -> float:
    """Returns the mean distance between what is said and what is won, over ten bins of the former.

    Args:
        said: float array (n,), chances to win.
        won: float array (n,), what came, from 0 to 1.
    """
    bins = np.minimum((said * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    gaps = np.bincount(bins, weights=said - won, minlength=NUM_BINS)
    return float(np.abs(gaps).sum() / len(said))
