"""A training run: waves of self-play and learning, checkpoints, evaluations, and resuming."""

import copy
import hashlib
import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from cribai.agent import Agent, make_agent
from cribai.errors import ConfigError
from cribai.rules import STANDARD
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
from cribai.training.config import CHAMPION, TrainConfig
from cribai.training.curves import Curves
from cribai.training.episodes import Episodes, make_episodes
from cribai.training.evaluation import Evaluation, evaluate
from cribai.training.gating import challenge, policy_agent
from cribai.training.learner import DivergedError, Evaluator, Learner, LearnerOptions, Loss
from cribai.training.lockstep import Evaluate
from cribai.training.losses import PolicyLoss, TossLoss, ValueLoss
from cribai.training.measures import measure
from cribai.training.network import LayNetwork, Perceptron, TossNetwork
from cribai.training.selfplay import Samples

MANIFEST: Final = "manifest.json"
WEIGHTS: Final = "weights.safetensors"

STATES: Final = ("state-0.safetensors", "state-1.safetensors")
"""Written in turn, so that the one before is still there while one is written."""

USUAL_TEMPERATURE: Final = 1.0
"""At which the lays' chances are measured where the run has none."""


class Run:
    """A run, from its configuration or from where it was left.

    The result depends on the configuration alone: whatever is random is a function of the seed and
    the wave's number, and a resumed run does what the run would have done.

    Args:
        config: The settings.
        folder: The run folder.
        resume: Whether to go on from the folder's last checkpoint.

    Raises:
        AgentError: An agent of the pool or an opponent cannot be made, or refuses the rules.
        ConfigError: There is a checkpoint and it is not to be resumed, or it is of other settings;
            or an agent of the pool may forfeit.
        CheckpointError: A file of weights cannot be used.
    """

    def __init__(self, config: TrainConfig, folder: Path, *, resume: bool = False) -> None:
        self.config = config
        self.folder = folder
        self.wave = 0
        self.figures: dict[str, Any] = {}
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
            # A copy: the start's own is who plays where waves are replayed.
            network = copy.deepcopy(self.start.lays).train()
        self.teacher = self._teacher()
        self.learner = Learner(
            network,
            self._loss(),
            LearnerOptions(
                batch_size=config.batch_size,
                passes=config.passes,
                average_decay=config.average_decay,
                low_precision=config.low_precision,
            ),
        )
        self.champion: Weights | None = None
        if config.gate_every > 0:
            self.champion = copy.deepcopy(self.weights() if self.start is None else self.start)
        for spec in config.opponents:
            agent = make_agent(spec)
            try:
                agent.check_rules(STANDARD)
            finally:
                if agent.may_forfeit:
                    agent.close()  # type: ignore[attr-defined]
        self._agents = [
            None if spec == CHAMPION else _checked(make_agent(spec)) for spec in config.pool
        ]
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
        last = config.waves if until is None else min(until, config.waves)
        started = time.monotonic()
        with (
            closing(make_episodes(config, self.start)) as episodes,
            closing(Curves(self.folder, self.wave)) as curves,
        ):
            while self.wave < last:
                figures = self._take_wave(episodes)
                figures["seconds"] = time.monotonic() - started
                curves.add_wave(figures)
                if progress is not None:
                    progress(self.wave, figures)
                self._keep_up(figures, curves)
        return self.figures

    def _take_wave(self, episodes: Episodes) -> dict[str, float]:
        """Plays a wave and learns from it; returns its figures."""
        config = self.config
        done = self.wave / config.waves
        random_share = config.random_first + done * (config.random_last - config.random_first)
        network = self.learner.averaged()
        samples = episodes.play(self.wave, random_share, network, self._opponents())
        measures = {}
        if isinstance(samples, Samples):
            temperature = config.temperature or USUAL_TEMPERATURE
            acting = Evaluator(network, config.low_precision)
            measures = measure(acting, self.teacher, samples, temperature)
        chance = np.random.default_rng([config.seed, 3, self.wave])
        order = np.stack(
            [chance.permutation(len(samples.rows)) for _ in range(config.passes)]
        ).astype(np.int64)
        loss = self.learner.learn(samples, config.learning_rate * (1 - done), order)
        self.wave += 1
        return {
            "wave": float(self.wave),
            "decisions": float(samples.num_decisions),
            "roots": float(len(samples.rows)),
            "loss": loss,
            **measures,
        }

    def _keep_up(self, figures: dict[str, float], curves: Curves) -> None:
        """Challenges the champion, evaluates and saves, whatever is due after a wave."""
        config = self.config
        gates = self._is_due(config.gate_every)
        if gates:
            self._challenge(curves)
        evaluates = self._is_due(config.evaluate_every) or self.wave == config.waves
        if evaluates:
            for result in self.evaluate(figures):
                curves.add_evaluation(self.wave, result)
        if gates or evaluates or self.wave % config.checkpoint_every == 0:
            self.save()

    def _is_due(self, every: int) -> bool:
        """Tells whether what comes after every so many waves does so now; also after the last."""
        return every > 0 and (self.wave % every == 0 or self.wave == self.config.waves)

    def _teacher(self) -> Evaluate | None:
        """Returns the network to stay near to, or at least to compare with."""
        config = self.config
        weights = self.start if config.teacher is None else load_weights(Path(config.teacher))
        if weights is None or self.part == TOSSES:
            return None
        return Evaluator(copy.deepcopy(weights.lays), config.low_precision)

    def _loss(self) -> Loss:
        config = self.config
        if self.part == TOSSES:
            return TossLoss(config.huber)
        if config.loss == "policy":
            return PolicyLoss(
                temperature=config.temperature,
                win_weight=config.value_weight,
                entropy_weight=config.entropy_weight,
                teacher=self.teacher,
                teacher_weight=config.teacher_weight,
            )
        return ValueLoss(
            relative=config.method != "monte_carlo",
            huber=config.huber,
            win_weight=config.value_weight,
            teacher=self.teacher,
            teacher_weight=config.teacher_weight,
        )

    def _opponents(self) -> list[Agent]:
        """Returns the agents of the pool as it stands."""
        return [agent if agent is not None else policy_agent(self.best()) for agent in self._agents]

    def _challenge(self, curves: Curves) -> None:
        assert self.champion is not None
        config = self.config
        challenger = self.weights()
        result = challenge(challenger, self.champion, config.seed, self.wave, config.gate_pairs)
        curves.add_challenge(self.wave, result)
        if result.won:
            self.champion = challenger

    def weights(self) -> Weights:
        """Returns the networks as they stand: averaged weights, and the start's for the rest."""
        network = self.learner.averaged()
        if isinstance(network, TossNetwork):
            assert self.start is not None
            return Weights(self.start.lays, network, self._header())
        assert isinstance(network, LayNetwork)
        return Weights(network, None if self.start is None else self.start.tosses, self._header())

    def best(self) -> Weights:
        """Returns the run's weights: the champion's, or the last where there is no gate."""
        return self.weights() if self.champion is None else self.champion

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
        weights = self.best()
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
        header = self._header()
        best = self.best()
        # A champion's header tells of when it was trained, the figures of what was found since.
        weights_header = best.header | {"figures": self.figures}
        weights_hash = save_tensors(self.folder / WEIGHTS, weights_tensors(best), weights_header)
        tensors = network_tensors(self.learner.network, "network")
        tensors |= network_tensors(self.learner.averaged(), "average")
        if self.champion is not None:
            tensors |= network_tensors(self.champion.lays, CHAMPION)
            header |= {CHAMPION: self.champion.header}
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
        if self.champion is not None:
            lays = build_network(LayNetwork, tensors, CHAMPION, str(path))
            self.champion = Weights(lays, self.champion.tosses, header[CHAMPION])

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


def _checked(agent: Agent) -> Agent:
    """Returns an agent of the pool.

    Raises:
        AgentError: It refuses the rules.
        ConfigError: It may forfeit, which training cannot go on from.
    """
    if agent.may_forfeit:
        agent.close()  # type: ignore[attr-defined]
        raise ConfigError(f"The agent {agent.name!r} in pool may forfeit; train against another.")
    agent.check_rules(STANDARD)
    return agent
