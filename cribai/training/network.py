"""The networks: from a row of features to what lays, or a toss, and the game are worth."""

import itertools
from typing import Final

import torch
from torch import nn

from cribai.cards import NUM_RANKS
from cribai.training.features import NUM_INPUTS
from cribai.training.toss_features import NUM_TOSS_INPUTS

NUM_OUTPUTS: Final = NUM_RANKS + 1
WIN_OUTPUT: Final = NUM_RANKS


class Perceptron(nn.Module):
    """Hidden layers of rectified units and a linear head, which begins at zero.

    Args:
        num_inputs: Size of a row of features.
        hidden: Sizes of the hidden layers.
        num_outputs: Size of a row of outputs.
    """

    def __init__(self, num_inputs: int, hidden: tuple[int, ...], num_outputs: int) -> None:
        super().__init__()
        self.hidden_sizes = hidden
        self.hidden = nn.ModuleList(
            nn.Linear(size, following)
            for size, following in itertools.pairwise((num_inputs, *hidden))
        )
        self.head = nn.Linear(hidden[-1], num_outputs)
        # At first all choices are alike.
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Returns float32 outputs (..., outputs) of rows (..., inputs)."""
        for layer in self.hidden:
            rows = torch.relu_(layer(rows))
        outputs: torch.Tensor = self.head(rows)
        return outputs.float()


class LayNetwork(Perceptron):
    """The network of the play: the value of laying each rank, and of the game.

    The values are in points and relative: only their differences mean anything. The last output is
    the logit of the chance to win.

    Args:
        hidden: Sizes of the hidden layers.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__(NUM_INPUTS, hidden, NUM_OUTPUTS)


class TossNetwork(Perceptron):
    """The network of the toss: what a toss is worth beyond what the analysis says, in points.

    Args:
        hidden: Sizes of the hidden layers.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__(NUM_TOSS_INPUTS, hidden, 1)
