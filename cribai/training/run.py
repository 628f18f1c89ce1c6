"""A training run: waves of self-play and learning, checkpoints, evaluations, and resuming."""

import copy
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from cribai.errors import ConfigError
from cribai.training.checkpoint import (
    LAYS,
    TOSSES,
    CheckpointError,
    Weights,
    build_network,
    load_tensors,
    load_weights,
    network_tensors,
    save_tensors,
    weights_tensors,
    write_atomically,
)
from cribai.training.config import TrainConfig
from cribai.training.curves import Curves
from cribai.training.deals import make_library
from cribai.training.evaluation import Evaluation, evaluate
from cribai.training.learner import DivergedError, Evaluator, Learner, LearnerOptions
from cribai.training.network import LayNetwork, Perceptron, TossNetwork
from cribai.training.replay import Replay
from cribai.training.selfplay import Samples, SelfPlay
from cribai.training.toss_selfplay import TossSamples, TossSelfPlay, toss_options

MANIFEST: Final = "manifest.json"
WEIGHTS: Final = "weights.safetensors"
USUAL_DECISIONS: Final = 5
"""Decisions between lays in a deal, about."""

STATES: Final = ("state-0.safetensors", "state-1.safetensors")
"""Written in turn, so that the one before is still there while one is written."""


class Run:
    """A run, from its configuration or from where it was left.

    The result depends on the configuration alone: whatever is random is a function of the seed and
    the wave's number, and a resumed run does what the run would have done.

    Args:
        config: The settings.
        folder: The run folder.
        resume: Whether to go on from the folder's last checkpoint.

    Raises:
        ConfigError: There is a checkpoint and it is not to be resumed, or it is of other settings.
        CheckpointError: A file of weights cannot be used.
    """

    def __init__(self, config: TrainConfig, folder: Path, *, resume: bool = False) -> None:
        self.config = config
        self.folder = folder
        self.wave = 0
        torch.manual_seed(config.seed)
        # The lays are learned, or the tosses with the lays as they are.
        self.part = TOSSES if config.method == "tosses" else LAYS
        self.start = None if config.start is None else load_weights(Path(config.start))
        hidden = tuple(config.hidden)
        network: Perceptron
        if self.part == TOSSES:
            if self.start is None:
                raise ConfigError("Tosses are learned with the lays of other weights; set start.")
            network = TossNetwork(hidden)
        elif self.start is None:
            network = LayNetwork(hidden)
        else:
            network = self.start.lays.train()
        self.learner = Learner(
            network,
            LearnerOptions(
                batch_size=config.batch_size,
                passes=config.passes,
                average_decay=config.average_decay,
                value_weight=config.value_weight,
                huber=config.huber,
                relative=config.method != "monte_carlo",
                low_precision=config.low_precision,
            ),
        )
        self.figures: dict[str, Any] = {}
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / MANIFEST).exists():
            if not resume:
                raise ConfigError(
                    f"The folder {str(folder)!r} holds a run; resume it, or choose another."
                )
            self._restore()

    def train(
        self,
        progress: Callable[[int, dict[str, float]], object] | None = None,
        until: int | None = None,
    ) -> dict[str, Any]:
        """Trains to the last wave.

        Args:
            progress: Called after each wave with its number and figures.
            until: The wave to stop before, as if interrupted there.

        Returns:
            The figures of the last evaluation.

        Raises:
            DivergedError: The loss is no number; the last checkpoint stays.
        """
        config = self.config
        play = self._episodes()
        curves = Curves(self.folder, self.wave)
        last = config.waves if until is None else min(until, config.waves)
        started = time.monotonic()
        while self.wave < last:
            done = self.wave / config.waves
            random_share = config.random_first + done * (config.random_last - config.random_first)
            samples = play(self.wave, random_share)
            chance = np.random.default_rng([config.seed, 3, self.wave])
            order = np.stack(
                [chance.permutation(len(samples.rows)) for _ in range(config.passes)]
            ).astype(np.int64)
            loss = self.learner.learn(samples, config.learning_rate * (1 - done), order)
            self.wave += 1
            figures = {
                "wave": float(self.wave),
                "seconds": time.monotonic() - started,
                "decisions": float(samples.num_decisions),
                "roots": float(len(samples.rows)),
                "loss": loss,
            }
            curves.add_wave(figures)
            if progress is not None:
                progress(self.wave, figures)
            ends = self.wave == config.waves
            evaluates = ends or (
                config.evaluate_every > 0 and self.wave % config.evaluate_every == 0
            )
            if evaluates:
                for result in self.evaluate(figures):
                    curves.add_evaluation(self.wave, result)
            if evaluates or self.wave % config.checkpoint_every == 0:
                self.save()
        curves.close()
        return self.figures

    def _episodes(self) -> Callable[[int, float], Samples | TossSamples]:
        """Returns what plays a wave, given its number and the share of random lays."""
        config = self.config
        library = make_library(config.library, config.seed, near_share=config.near_share)
        if self.part == TOSSES:
            assert self.start is not None
            tosses = TossSelfPlay(library, config.seed, config.deals, toss_options())
            lays = Evaluator(copy.deepcopy(self.start.lays), config.low_precision)
            return lambda wave, _: tosses.play(wave, lays)
        if config.replay > 0:
            return self._replayed(library)
        selfplay = SelfPlay(library, config.seed, config.deals, config.root_share, config.method)
        return lambda wave, random_share: selfplay.play(
            wave, Evaluator(self.learner.averaged(), config.low_precision), random_share
        )

    def _replayed(self, library: NDArray[Any]) -> Callable[[int, float], Samples]:
        """Returns what draws a wave's samples from those of all waves played."""
        config = self.config
        assert self.start is not None
        selfplay = SelfPlay(library, config.seed, config.deals, config.root_share, config.method)
        evaluator = Evaluator(copy.deepcopy(self.start.lays), config.low_precision)
        replay = Replay(config.replay)
        usual = round(config.deals * config.root_share * USUAL_DECISIONS)
        played = 0

        def play(wave: int, _: float) -> Samples:
            nonlocal played
            # A resumed run plays again what it has lost.
            while played <= wave and (config.played is None or played < config.played):
                replay.add(selfplay.play(played, evaluator, config.random_first))
                played += 1
            return replay.draw(usual, np.random.default_rng([config.seed, 5, wave]))

        return play

    def weights(self) -> Weights:
        """Returns the networks as they stand: averaged weights, and the start's for the rest."""
        network = self.learner.averaged()
        if isinstance(network, TossNetwork):
            assert self.start is not None
            return Weights(self.start.lays, network, self._header())
        assert isinstance(network, LayNetwork)
        return Weights(network, None if self.start is None else self.start.tosses, self._header())

    def _header(self) -> dict[str, Any]:
        return {
            "rules": "standard",
            "config": self.config.settings(),
            "wave": self.wave,
            "steps": self.learner.steps,
            "figures": self.figures,
        }

    def evaluate(self, figures: dict[str, float]) -> list[Evaluation]:
        """Plays the opponents; the results are added to the run's figures."""
        weights = self.weights()
        results = [
            evaluate(weights, spec, self.config.pairs, self.config.evaluation_seed)
            for spec in self.config.opponents
        ]
        self.figures = figures | {"matches": [result.to_dict() for result in results]}
        return results

    def save(self) -> None:
        """Writes the checkpoint: the weights to use, and all that resuming needs.

        Raises:
            DivergedError: A weight is no number; nothing is written.
        """
        if not all(bool(torch.isfinite(weight).all()) for weight in self.learner.average):
            raise DivergedError(
                f"The weights are no numbers at step {self.learner.steps}; lower learning_rate and"
                " resume from the last checkpoint."
            )
        weights = self.weights()
        header = weights.header
        weights_hash = save_tensors(self.folder / WEIGHTS, weights_tensors(weights), header)
        tensors = network_tensors(self.learner.network, "network")
        tensors |= network_tensors(self.learner.averaged(), "average")
        for name, weight in self.learner.network.named_parameters():
            moments = self.learner.optimizer.state.get(weight)
            if moments:
                tensors[f"mean.{name}"] = moments["exp_avg"]
                tensors[f"square.{name}"] = moments["exp_avg_sq"]
        state = STATES[(self._saved() + 1) % 2]
        state_hash = save_tensors(self.folder / state, tensors, header)
        manifest = {
            "saved": self._saved() + 1,
            "state": state,
            "wave": self.wave,
            "hashes": {state: state_hash, WEIGHTS: weights_hash},
        }
        write_atomically(self.folder / MANIFEST, json.dumps(manifest, indent=1).encode())

    def _saved(self) -> int:
        path = self.folder / MANIFEST
        return int(json.loads(path.read_text())["saved"]) if path.exists() else -1

    def _restore(self) -> None:
        try:
            manifest = json.loads((self.folder / MANIFEST).read_text())
            state, expected = manifest["state"], manifest["hashes"][manifest["state"]]
        except (ValueError, KeyError, TypeError):
            raise CheckpointError(
                f"The manifest of {str(self.folder)!r} is damaged; begin the run anew."
            ) from None
        path = self.folder / state
        if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise CheckpointError(
                f"The file {str(path)!r} is not what the manifest says; begin the run anew."
            )
        tensors, header = load_tensors(path)
        wanted, kept = self.config.settings(), header["config"]
        if wanted != kept:
            changed = sorted(key for key in wanted | kept if wanted.get(key) != kept.get(key))
            raise ConfigError(
                f"The run in {str(self.folder)!r} has another {changed[0]}; resume it with its own"
                " settings, or begin another."
            )
        self.wave = int(header["wave"])
        self.learner.steps = int(header["steps"])
        self._take(tensors, str(path))
        self.figures = dict(header["figures"])

    def _take(self, tensors: dict[str, torch.Tensor], name: str) -> None:
        learner = self.learner
        kind = type(learner.network)
        for part, take in (("network", self._take_network), ("average", self._take_average)):
            take(build_network(kind, tensors, part, name))
        steps = float(learner.steps)
        for label, weight in learner.network.named_parameters():
            if f"mean.{label}" in tensors:
                learner.optimizer.state[weight] = {
                    "step": torch.tensor(steps),
                    "exp_avg": tensors[f"mean.{label}"].clone(),
                    "exp_avg_sq": tensors[f"square.{label}"].clone(),
                }

    def _take_network(self, network: Perceptron) -> None:
        self.learner.network.load_state_dict(network.state_dict())

    def _take_average(self, network: Perceptron) -> None:
        self.learner.average = [weight.detach().clone() for weight in network.parameters()]
