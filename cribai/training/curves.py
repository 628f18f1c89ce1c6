"""The curves of a run: CSV files, and TensorBoard's where it is installed."""

import csv
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, Final

from cribai.training.checkpoint import write_atomically
from cribai.training.evaluation import Evaluation
from cribai.training.gating import Challenge

TRAINING: Final = "training.csv"
EVALUATIONS: Final = "evaluations.csv"
CHALLENGES: Final = "challenges.csv"
BOARD: Final = "tensorboard"

_MEASURES: Final = ("loss", "entropy", "divergence", "calibration")
_TRAINING_COLUMNS: Final = ("wave", "seconds", "decisions", "roots", *_MEASURES)
_CHALLENGE_COLUMNS: Final = ("wave", "pairs", "win_rate", "ratio", "won")
_EVALUATION_COLUMNS: Final = (
    "wave",
    "opponent",
    "pairs",
    "win_rate",
    "low",
    "high",
    "margin",
    "dealer_pegging",
    "pone_pegging",
)


class Curves:
    """Writes a run's figures as they come.

    Args:
        folder: The run folder.
        wave: The wave that the run goes on from; what is written of later ones is dropped.
    """

    def __init__(self, folder: Path, wave: int) -> None:
        self._folder = folder
        self._begin(TRAINING, _TRAINING_COLUMNS, wave)
        self._begin(EVALUATIONS, _EVALUATION_COLUMNS, wave)
        self._begin(CHALLENGES, _CHALLENGE_COLUMNS, wave)
        self._board: Any = None
        if find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(folder / BOARD), purge_step=wave + 1)

    def _begin(self, name: str, columns: Sequence[str], wave: int) -> None:
        path = self._folder / name
        rows: list[list[str]] = []
        if path.exists():
            with path.open(newline="") as file:
                rows = [row for row in list(csv.reader(file))[1:] if row and int(row[0]) <= wave]
        text = StringIO(newline="")
        csv.writer(text).writerows([columns, *rows])
        write_atomically(path, text.getvalue().encode())

    def _append(self, name: str, row: Sequence[object]) -> None:
        with (self._folder / name).open("a", newline="") as file:
            csv.writer(file).writerow(row)

    def add_wave(self, figures: Mapping[str, float]) -> None:
        """Adds the figures of a wave."""
        wave = int(figures["wave"])
        # A measure that the wave does not give is left empty.
        self._append(TRAINING, [wave, *(figures.get(name, "") for name in _TRAINING_COLUMNS[1:])])
        if self._board is not None:
            for name in _MEASURES:
                if name in figures:
                    self._board.add_scalar(name, figures[name], wave)

    def add_evaluation(self, wave: int, result: Evaluation) -> None:
        """Adds a match."""
        pegging = [result.points[role]["pegging"] for role in ("dealer", "pone")]
        self._append(
            EVALUATIONS,
            [
                wave,
                result.opponent,
                result.pairs,
                result.win_rate,
                result.low,
                result.high,
                result.margin,
                *pegging,
            ],
        )
        if self._board is not None:
            for name in ("win_rate", "low", "high", "margin"):
                self._board.add_scalar(f"{result.opponent}/{name}", getattr(result, name), wave)

    def add_challenge(self, wave: int, result: Challenge) -> None:
        """Adds a challenge of the champion."""
        row = [result.pairs, result.win_rate, result.ratio, int(result.won)]
        self._append(CHALLENGES, [wave, *row])
        if self._board is not None:
            self._board.add_scalar("challenge/win_rate", result.win_rate, wave)
            self._board.add_scalar("challenge/won", float(result.won), wave)

    def close(self) -> None:
        """Writes what is not written yet."""
        if self._board is not None:
            self._board.close()
