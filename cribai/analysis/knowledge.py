"""The tables that the analysis stands on, as one record that kernels read.

They were made by `experiments/analysis/` from self-play of the standard two-player game; the data
file beside this module is what that study wrote. Roles are 0 for the pone and 1 for the dealer.
"""

from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import NUM_RANKS
from cribai.engine.jit import inlined
from cribai.rules import Rules

PONE, DEALER = range(2)

NUM_KEPT: Final = 1820
"""Ways to keep four cards by rank alone: C(16, 4)."""

TARGET: Final = 121

WIN, PLAIN, QUADRUPLE, ACC = range(4)
"""What a game may be played for: the win alone, or match points by one of the tables."""

NUM_STAKES: Final = 4
LIBRARY_SIZE: Final = 256
MAX_PEGS: Final = 12

KNOWLEDGE: Final = np.dtype(
    [
        # Chance that a player of a role tosses two cards when he holds them, by their ranks and by
        # whether they are of one suit; symmetric in the ranks.
        ("toss_chance", np.float64, (2, NUM_RANKS, NUM_RANKS, 2)),
        # Average crib when a player of a role tosses two cards, by their ranks and suits.
        ("crib_mean", np.float64, (2, NUM_RANKS, NUM_RANKS, 2)),
        # Chance that a player of a role keeps four cards when he holds them, by `kept_index`.
        ("keep_chance", np.float64, (2, NUM_KEPT)),
        # Points that a player of a role and his opponent peg in a deal, by his `kept_index`.
        ("pegged", np.float64, (2, NUM_KEPT, 2)),
        # What a game is worth to the dealer before a deal, by stake and by the dealer's and the
        # pone's scores, and what winning is worth by stake and by the loser's score.
        ("worth", np.float64, (NUM_STAKES, TARGET, TARGET)),
        ("prize", np.float64, (NUM_STAKES, TARGET)),
        # A sample of deals between good players: who pegged (a role, -1 past the end) and how much,
        # in order, neighbours of one role joined; heels; the hands by role; the crib.
        ("peg_roles", np.int8, (LIBRARY_SIZE, MAX_PEGS)),
        ("peg_points", np.int8, (LIBRARY_SIZE, MAX_PEGS)),
        ("heels", np.int8, LIBRARY_SIZE),
        ("hands", np.int8, (LIBRARY_SIZE, 2)),
        ("cribs", np.int8, LIBRARY_SIZE),
    ],
    align=True,
)


def covers(rules: Rules) -> bool:
    """Tells whether the analysis holds for rules: those of six cards for two players.

    Target and skunk lines may be others, and the pone may start ahead. The tables come from play in
    which points are wanted and a go scores at every score, with one deck and nothing to decide but
    tosses and lays: variants that change this are not covered.
    """
    others = Rules(
        name=rules.name,
        target=rules.target,
        skunk_line=rules.skunk_line,
        double_skunk_line=rules.double_skunk_line,
        pone_start=rules.pone_start,
    )
    return rules == others


@inlined
def kept_index(first: int, second: int, third: int, fourth: int) -> int:
    """Returns the place of four ranks, ascending, among the 1,820 multisets of four ranks."""
    return (
        first
        + second * (second + 1) // 2
        + third * (third + 1) * (third + 2) // 6
        + fourth * (fourth + 1) * (fourth + 2) * (fourth + 3) // 24
    )


def empty_knowledge() -> NDArray[Any]:
    """Returns tables that know nothing: all tosses and kept hands alike, all scores equal."""
    tables = np.zeros(1, KNOWLEDGE)
    tables["toss_chance"] = 1.0
    tables["keep_chance"] = 1.0
    tables["peg_roles"] = -1
    return tables


def read_knowledge(file: Any) -> NDArray[Any]:
    """Returns the tables in an `.npz` file, a read-only array (1,) of dtype KNOWLEDGE."""
    tables = empty_knowledge()
    with np.load(file) as data:
        for name in data.files:
            tables[name][0] = data[name]
    tables.flags.writeable = False
    return tables


@lru_cache(maxsize=1)
def load_knowledge() -> NDArray[Any]:
    """Returns the shipped tables, a read-only array (1,) of dtype KNOWLEDGE."""
    with (files("cribai.analysis") / "knowledge.npz").open("rb") as file:
        return read_knowledge(file)
