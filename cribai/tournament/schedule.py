"""Who plays whom, every match on the same deals."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from cribai.errors import ConfigError


class Pairing(NamedTuple):
    """The places of a match's agents in the list of entrants."""

    a: int
    b: int


def round_robin(num_entrants: int) -> list[Pairing]:
    """Returns a match for every two entrants, in order of the list.

    Raises:
        ConfigError: There are fewer than two.
    """
    if num_entrants < 2:
        raise ConfigError(
            f"A tournament needs at least two agents and has {num_entrants}; name more of them."
        )
    return [Pairing(a, b) for a, b in combinations(range(num_entrants), 2)]


def gauntlet(num_entrants: int) -> list[Pairing]:
    """Returns a match of the first entrant against each of the others, in order of the list.

    Raises:
        ConfigError: There are fewer than two.
    """
    return [pairing for pairing in round_robin(num_entrants) if pairing.a == 0]


def labels(specs: Sequence[str]) -> list[str]:
    """Returns what reports call the entrants: their specs, numbered from the second of equals."""
    seen: Counter[str] = Counter()
    names = []
    for spec in specs:
        seen[spec] += 1
        names.append(spec if seen[spec] == 1 else f"{spec}#{seen[spec]}")
    return names
