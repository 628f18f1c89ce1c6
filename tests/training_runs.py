"""Small training runs, and the weights that they leave."""

from pathlib import Path
from typing import Any

from cribai.config import load_config
from cribai.training.checkpoint import load_tensors
from cribai.training.config import TrainConfig
from cribai.training.run import WEIGHTS

TINY = {
    "seed": 3,
    "hidden": [12, 8],
    "library": 400,
    "deals": 60,
    "waves": 6,
    "batch_size": 64,
    "checkpoint_every": 2,
    "opponents": ["random"],
    "pairs": 2,
}


def config(**changes: Any) -> TrainConfig:
    return load_config(TrainConfig, None, TINY | changes)


def tensors(folder: Path) -> dict[str, bytes]:
    found, _ = load_tensors(folder / WEIGHTS)
    return {name: tensor.numpy().tobytes() for name, tensor in found.items()}
