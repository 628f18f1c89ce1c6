"""The settings of a training run."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from cribai.config import Config

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
CHAMPION = "champion"
"""Name of the run's own best network in the pool."""

PLACES = {"out", "executor", "workers", "address"}
"""Where a run is and who plays for it, which change nothing about its result."""

Width = Annotated[int, Field(ge=1, le=4096)]


class TrainConfig(Config):
    """A training run: `cribai train --config configs/train/smoke.toml`.

    Attributes:
        seed: Seed of everything that is random in the run.
        hidden: Sizes of the network's hidden layers.
        start: Weights to start from; none for random ones.
        method: What values lays, see `cribai.training.roots`; or `tosses`, to learn those by the
            lays of `start`.
        library: Deals with tosses to begin episodes from.
        near_share: Share of them near the end.
        pool: Specs of the agents that have a seat in some deals; `champion` is the best network so
            far of this run.
        pool_share: Share of those deals.
        deals: Deals in a wave.
        parts: Parts that a wave is played in; a whole number of deals each.
        executor: Where they are played: `here`, or by the workers of a `ray` cluster.
        workers: How many workers, for `ray`.
        address: Address of the cluster to join, for `ray`; one is started here by default.
        root_share: Share of the decisions that are learned from.
        waves: Waves in the run.
        random_first: Share of random lays in the first wave.
        random_last: Share in the last; it changes evenly.
        temperature: Points by which a lay is worse for it to be a factor e less likely to be made;
            at 0 the best is.
        loss: Whether the outputs are learned as `values`, or as a `policy` by its gradient.
        entropy_weight: Weight of the policy's entropy in the loss, in points.
        teacher: Weights to stay near to; those of `start` by default.
        teacher_weight: Weight of the distance to them in the loss.
        batch_size: Roots in a step of the learner.
        passes: How often each sample is used.
        replay: Samples kept to be learned from again; 0 to learn from each wave alone. Only for
            `expectation`, whose games are then all played by `start`.
        played: Waves that are played; in those after them only what is kept is learned. All by
            default.
        learning_rate: Of the first wave; it falls evenly to zero at the last.
        average_decay: Decay, for each step, of the averaged weights that act.
        value_weight: Weight of the win chance's loss.
        huber: Error in points beyond which the loss grows only linearly.
        low_precision: Whether layers compute in bfloat16, if the machine can.
        checkpoint_every: Waves between checkpoints.
        gate_every: Waves between challenges of the champion, whose weights are the run's; 0 for
            none, the last network then being the run's.
        gate_pairs: Mirrored pairs at most in such a match.
        evaluate_every: Waves between evaluations; 0 for none but the last.
        opponents: Specs of the agents to evaluate against.
        pairs: Mirrored pairs of games in an evaluation.
        evaluation_seed: Seed of their deals.
        out: The run folder.
    """

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    hidden: Annotated[tuple[Width, ...], Strict(False), Field(min_length=1)] = (512, 512)
    start: str | None = None
    method: Literal["branching", "monte_carlo", "search", "expectation", "tosses"] = "branching"
    library: Count = 300_000
    near_share: Share = 0.6
    pool: Annotated[tuple[str, ...], Strict(False), Field(max_length=100)] = ()
    pool_share: Share = 0.0
    deals: Annotated[int, Field(ge=1, le=100_000)] = 4096
    parts: Annotated[int, Field(ge=1, le=1000)] = 1
    executor: Literal["here", "ray"] = "here"
    workers: Annotated[int, Field(ge=1, le=1000)] = 1
    address: str | None = None
    root_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    waves: Count = 7000
    random_first: Share = 0.1
    random_last: Share = 0.02
    temperature: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = 0.0
    loss: Literal["values", "policy"] = "values"
    entropy_weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    teacher: str | None = None
    teacher_weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    batch_size: Count = 2048
    passes: Count = 1
    replay: Annotated[int, Field(ge=0, le=20_000_000)] = 0
    played: Count | None = None
    learning_rate: Positive = 1e-3
    average_decay: Share = 0.999
    value_weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.5
    huber: Positive = 8.0
    low_precision: bool = False
    checkpoint_every: Count = 200
    gate_every: Annotated[int, Field(ge=0)] = 0
    gate_pairs: Count = 20_000
    evaluate_every: Annotated[int, Field(ge=0)] = 0
    opponents: Annotated[tuple[str, ...], Strict(False)] = ("random",)
    pairs: Count = 500
    evaluation_seed: Annotated[int, Field(ge=0, lt=2**64)] = 977
    out: Annotated[Path, Strict(False)] | None = None

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.replay > 0 and (self.method != "expectation" or self.start is None):
            raise ValueError("replay needs the method expectation and start.")
        if self.played is not None and self.replay == 0:
            raise ValueError("played needs replay.")
        if (self.pool_share > 0) != bool(self.pool):
            raise ValueError("pool and pool_share need each other.")
        if CHAMPION in self.pool and (self.gate_every == 0 or self.replay > 0):
            raise ValueError(f"{CHAMPION} in pool needs gate_every, and goes without replay.")
        if self.loss == "policy" and (self.temperature == 0 or self.method == "monte_carlo"):
            raise ValueError(
                "the loss policy needs a temperature, and a method that values all lays."
            )
        if self.teacher_weight > 0 and self.teacher is None and self.start is None:
            raise ValueError("teacher_weight needs teacher or start.")
        if self.entropy_weight > 0 and self.loss != "policy":
            raise ValueError("entropy_weight needs the loss policy.")
        if self.deals % self.parts != 0:
            raise ValueError("deals must be a multiple of parts.")
        divided = self.executor == "ray" or self.parts > 1
        if divided and (self.method == "tosses" or self.replay > 0):
            raise ValueError("parts and the executor ray are for lays learned from at once.")
        others = ("pool", "gate_every", "teacher_weight", "temperature")
        if self.method == "tosses":
            for name in others:
                if getattr(self, name):
                    raise ValueError(f"tosses are learned without {name}.")
        return self

    def settings(self) -> dict[str, Any]:
        """Returns the settings that the result depends on, as TOML has them."""
        return self.model_dump(mode="json", exclude=PLACES, exclude_none=True)

    def run_name(self) -> str:
        """Returns the name of the run's folder: the method, the seed and a hash of the settings."""
        digest = hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()
        return f"train_{self.method}_seed{self.seed}_{digest[:8]}"
