"""Who plays whom, and the entrants' labels."""

from collections.abc import Callable

import pytest

from cribai import ConfigError
from cribai.tournament.schedule import Pairing, gauntlet, labels, round_robin


def test_everyone_plays_everyone_once() -> None:
    assert round_robin(2) == [(0, 1)]
    assert round_robin(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_the_first_plays_everyone() -> None:
    assert gauntlet(2) == [(0, 1)]
    assert gauntlet(4) == [(0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("schedule", [round_robin, gauntlet])
def test_too_few(schedule: Callable[[int], list[Pairing]], number: int) -> None:
    with pytest.raises(ConfigError, match=f"at least two agents and has {number}"):
        schedule(number)


def test_labels() -> None:
    assert labels(["greedy", "random"]) == ["greedy", "random"]
    assert labels(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
