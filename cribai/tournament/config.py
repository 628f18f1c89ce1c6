"""The configuration of a tournament."""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, Strict, field_validator

from cribai.config import Config, RulesSetting
from cribai.game_batch import MAX_SEED
from cribai.rules import STANDARD, get_match_points
from cribai.tournament.match import DEFAULT_BATCH_SIZE

MAX_PAIRS = 10_000_000
MAX_BATCH_SIZE = 65_536


class TournamentConfig(Config):
    """What a tournament plays.

    Attributes:
        agents: Specs of the entrants, see `cribai.make_agent`; empty for all that are installed.
        rules: A preset's name, or a table of rules.
        pairs: Mirrored pairs of games in each match.
        seed: Seed of the deals; all matches have the same.
        batch_size: Games alive at once; no result depends on it.
        match_points: The table of what wins are worth, a name of `cribai.MATCH_POINTS`.
        out: The run folder; None for one named after the run, under `runs`.
    """

    agents: Annotated[tuple[str, ...], Strict(False)] = ()
    rules: RulesSetting = STANDARD
    pairs: Annotated[int, Field(ge=1, le=MAX_PAIRS)] = 10_000
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    batch_size: Annotated[int, Field(ge=1, le=MAX_BATCH_SIZE)] = DEFAULT_BATCH_SIZE
    match_points: str = "plain"
    out: Annotated[Path, Strict(False)] | None = None

    @field_validator("match_points")
    @classmethod
    def _check_match_points(cls, name: str) -> str:
        return get_match_points(name).name

    def settings(self) -> dict[str, Any]:
        """Returns the settings as TOML has them, but for the place of the run folder."""
        return self.model_dump(mode="json", exclude={"out"})

    def identity(self) -> dict[str, Any]:
        """Returns the settings that decide the results."""
        return self.model_dump(mode="json", exclude={"out", "batch_size"})

    def run_name(self) -> str:
        """Returns the name of the run's folder: agents, rules, seed and a hash of the identity."""
        digest = hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()
        name = f"{'-v-'.join(self.agents)}_{self.rules.name}"
        return f"{file_name(name)}_seed{self.seed}_{digest[:8]}"


def file_name(text: str) -> str:
    """Returns text as part of a file's name: short, of letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-")[:80]
