"""The configuration of a tournament."""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, field_validator, model_validator

from cribai.config import Config, RulesSetting
from cribai.game_batch import MAX_SEED
from cribai.match_points import get_match_points
from cribai.rules import STANDARD
from cribai.tournament.match import DEFAULT_BATCH_SIZE
from cribai.tournament.sprt import Sprt

MAX_PAIRS = 10_000_000
MAX_BATCH_SIZE = 65_536
MAX_WORKERS = 1024
MAX_BEST_OF = 63  # The games of such a match are few enough to be held in order.

PASSING = {"out", "batch_size", "workers", "executor", "address", "match_points", "anchor"}
"""Settings that do not decide what is played."""

Percent = Annotated[float, Field(gt=0, lt=0.5)]


class SprtSettings(Config):
    """The hypotheses of a sequential test, as win rates or as leads in Elo.

    Attributes:
        h0: The lower win rate.
        h1: The higher win rate.
        elo0: The lower lead, in place of `h0`.
        elo1: The higher lead, in place of `h1`.
        alpha: Chance to accept the higher though the lower is right.
        beta: Chance to accept the lower though the higher is right.
    """

    h0: float | None = None
    h1: float | None = None
    elo0: float | None = None
    elo1: float | None = None
    alpha: float = 0.05
    beta: float = 0.05

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.test()
        return self

    def test(self) -> Sprt:
        """Returns the test.

        Raises:
            ConfigError: The numbers make no test.
        """
        if self.elo0 is not None and self.elo1 is not None and self.h0 is None and self.h1 is None:
            return Sprt.from_elo(self.elo0, self.elo1, self.alpha, self.beta)
        if self.elo0 is None and self.elo1 is None:
            low = 0.5 if self.h0 is None else self.h0
            high = 0.51 if self.h1 is None else self.h1
            return Sprt(low, high, self.alpha, self.beta)
        raise ValueError("give h0 and h1, or elo0 and elo1, and not both kinds")


class AccSettings(Config):
    """A tournament after the American Cribbage Congress.

    Attributes:
        games: Games of the qualifying round that each two entrants play, an even number.
        qualifiers: Entrants that reach the knock-out: 2, 4, 8 or so on; 0 for the greatest such
            number that leaves at least one out, or is all of them.
        best_of: Games of a match in the knock-out, an odd number.
    """

    games: Annotated[int, Field(ge=2, multiple_of=2)] = 22
    qualifiers: Annotated[int, Field(ge=0)] = 0
    best_of: Annotated[int, Field(ge=1, le=MAX_BEST_OF)] = 5

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.best_of % 2 == 0:
            raise ValueError(f"best_of is {self.best_of}; it must be odd")
        if self.qualifiers & (self.qualifiers - 1) or self.qualifiers == 1:
            raise ValueError(f"qualifiers is {self.qualifiers}; it must be a power of two, or 0")
        return self


class TournamentConfig(Config):
    """What a tournament plays, and how it is run.

    Attributes:
        agents: Specs of the entrants, see `cribai.make_agent`; empty for all that are installed.
        format: `round_robin`; `gauntlet`, the first against each of the others; `sprt`, the first
            against the second until the sequential test decides; `acc`, a qualifying round and a
            knock-out after the American Cribbage Congress.
        rules: A preset's name, or a table of rules.
        pairs: Mirrored pairs of games in each match; in a sequential test and with `until`, the
            most of them.
        seed: Seed of the deals; all matches have the same.
        until: Half the width of the win rate's interval at which a match ends, such as 0.005.
        focus: In a round robin, spend the pairs of all matches where the ratings are least certain.
        sprt: The sequential test of the format `sprt`.
        acc: The numbers of the format `acc`.
        match_points: The table of what wins are worth, a name of `cribai.MATCH_POINTS`.
        anchor: The entrant whose rating is 0; `random`, or else the first, when it is not named.
        luck: Take the luck of the deals out of the win rate, where the analysis knows it.
        chunk: Pairs that are played, kept and resumed together; no result depends on it but where a
            sequential test or `until` stops and what `focus` chooses.
        batch_size: Games alive at once; no result depends on it.
        workers: Processes that play; no result depends on it.
        executor: `processes` on this machine, or `ray`.
        address: Address of a Ray cluster to join; None for one of this machine.
        games_file: Where every game is kept as a record: a path ending in .jsonl or .parquet.
        out: The run folder; None for one named after the run, under `runs`.
    """

    agents: Annotated[tuple[str, ...], Strict(False)] = ()
    format: Literal["round_robin", "gauntlet", "sprt", "acc"] = "round_robin"
    rules: RulesSetting = STANDARD
    pairs: Annotated[int, Field(ge=1, le=MAX_PAIRS)] = 10_000
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    until: Percent | None = None
    focus: bool = False
    sprt: SprtSettings = SprtSettings()
    acc: AccSettings = AccSettings()
    match_points: str = "plain"
    anchor: str | None = None
    luck: bool = True
    chunk: Annotated[int, Field(ge=1, le=MAX_PAIRS)] = 1024
    batch_size: Annotated[int, Field(ge=1, le=MAX_BATCH_SIZE)] = DEFAULT_BATCH_SIZE
    workers: Annotated[int, Field(ge=1, le=MAX_WORKERS)] = 1
    executor: Literal["processes", "ray"] = "processes"
    address: str | None = None
    games_file: Annotated[Path, Strict(False)] | None = None
    out: Annotated[Path, Strict(False)] | None = None

    @field_validator("match_points")
    @classmethod
    def _check_match_points(cls, name: str) -> str:
        return get_match_points(name).name

    @field_validator("games_file")
    @classmethod
    def _check_games_file(cls, path: Path | None) -> Path | None:
        if path is not None and path.suffix not in (".jsonl", ".parquet"):
            raise ValueError(f"the file {str(path)!r} must end in .jsonl or .parquet")
        return path

    def settings(self) -> dict[str, Any]:
        """Returns the settings as TOML has them, but for the place of the run folder."""
        return self.model_dump(mode="json", exclude={"out"}, exclude_none=True)

    def identity(self) -> dict[str, Any]:
        """Returns the settings that decide what is played, and in which parts it is kept."""
        return self.model_dump(
            mode="json",
            exclude=PASSING,
            exclude_none=True,
        )

    def run_name(self) -> str:
        """Returns the name of the run's folder: agents, rules, seed and a hash of the identity."""
        digest = hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()
        name = f"{'-v-'.join(self.agents)}_{self.rules.name}"
        return f"{file_name(name)}_seed{self.seed}_{digest[:8]}"


def file_name(text: str) -> str:
    """Returns text as part of a file's name: short, of letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-")[:80]
