"""The round robin and the entrants' labels."""

import pytest

from cribai import ConfigError
from cribai.tournament.schedule import labels, round_robin


def test_everyone_plays_everyone_once() -> None:
    assert round_robin(2) == [(0, 1)]
    assert round_robin(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("number", [0, 1])
def test_too_few(number: int) -> None:
    with pytest.raises(ConfigError, match=f"at least two agents and has {number}"):
        round_robin(number)


def test_labels() -> None:
    assert labels(["greedy", "random"]) == ["greedy", "random"]
    assert labels(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
