"""The network of the play: from a row of features to what laying each rank and the game are worth.

The values are in points and relative: only their differences mean anything. The last output is the
logit of the chance to win the game.
"""

import itertools
from typing import Final

import torch
from torch import nn

from cribai.cards import NUM_RANKS
from cribai.training.features import NUM_INPUTS

NUM_OUTPUTS: Final = NUM_RANKS + 1
WIN_OUTPUT: Final = NUM_RANKS


class LayNetwork(nn.Module):
    """A multilayer perceptron.

    Args:
        hidden: Sizes of the hidden layers.
        num_inputs: Size of a row of features.
    """

    def __init__(self, hidden: tuple[int, ...], num_inputs: int = NUM_INPUTS) -> None:
        super().__init__()
        sizes = (num_inputs, *hidden)
        self.hidden = nn.ModuleList(
            nn.Linear(size, following) for size, following in itertools.pairwise(sizes)
        )
        self.head = nn.Linear(sizes[-1], NUM_OUTPUTS)
        # At first all lays are alike.
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Returns float32 outputs (n, NUM_OUTPUTS) of rows (n, inputs)."""
        for layer in self.hidden:
            rows = torch.relu_(layer(rows))
        outputs: torch.Tensor = self.head(rows)
        return outputs.float()
