"""Observations: views as arrays for learners, and the views back from them.

`dict` and `flat` lose nothing but book-keeping (numbers of game, deal and decision, seat, random
key): `decode` gives the view back. `compact` is smaller and made for networks: ranks in place of
cards, and what each lay would peg.
"""

from typing import Final

from cribai.envs.compact import CompactEncoding
from cribai.envs.flat import FlatEncoding
from cribai.envs.named import DictEncoding
from cribai.envs.observation import ACTION_MASK, Encoding
from cribai.errors import ConfigError
from cribai.rules import Rules

__all__ = ["ACTION_MASK", "ENCODINGS", "Encoding", "make_encoding"]

ENCODINGS: Final[dict[str, type[Encoding]]] = {
    "dict": DictEncoding,
    "flat": FlatEncoding,
    "compact": CompactEncoding,
}


def make_encoding(name: str, rules: Rules) -> Encoding:
    """Returns an encoding by name.

    Raises:
        ConfigError: No encoding has the name.
    """
    if name not in ENCODINGS:
        raise ConfigError(f"Unknown observation {name!r}; choose one of {', '.join(ENCODINGS)}.")
    return ENCODINGS[name](rules)
