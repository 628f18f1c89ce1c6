"""What the tests of environments share: how to play, to compare, and to hide cards otherwise."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray

from cribai import PRESETS, Agent, GameBatch, Rules, ViewBatch, make_agent
from cribai.cards import rank_of
from hidden_cards import cards_in
from plain_presets import PLAIN

TWO_PLAYERS = ("standard", "short", "five_card")
OBSERVATIONS = ("dict", "flat", "compact")
ALL_RULES = (
    *PLAIN.values(),
    replace(PRESETS["standard"], name="jokers", num_jokers=4),
    replace(PRESETS["four_player"], name="no_partners", partnerships=False),
)


def some_quick(values: Iterable[Any], *names: str) -> list[Any]:
    """Parameters of a test, rules or their names, of which all but the named ones are slow."""
    return [
        value
        if (value.name if isinstance(value, Rules) else value) in names
        else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]


class Cunning(Agent):
    """Answers by the view's random key and remembers what it was asked and told."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.told: list[int] = []
        self.final_scores: list[list[int]] = []
        self._player = make_agent("random")

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        self.asked += views.array["game"].tolist()
        return self._player.act(views)

    def games_ended(self, games: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        self.told += games.tolist()
        self.final_scores += scores.tolist()


def assert_same(first: Any, second: Any, path: str = "") -> None:
    """Two outputs have the same structure, types and values throughout."""
    assert type(first) is type(second), path
    if isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for name in first:
            assert_same(first[name], second[name], f"{path}/{name}")
    elif isinstance(first, (tuple, list)):
        assert len(first) == len(second), path
        for place, pair in enumerate(zip(first, second, strict=True)):
            assert_same(*pair, f"{path}[{place}]")
    elif isinstance(first, np.ndarray):
        assert (first.dtype, first.shape) == (second.dtype, second.shape), path
        if first.dtype == object:
            assert_same(first.tolist(), second.tolist(), path)
        else:
            assert first.tobytes() == second.tobytes(), path
    else:
        assert first == second, path


def frozen(output: Any) -> bytes:
    """An output as bytes, equal for equal outputs alone."""
    if isinstance(output, dict):
        return b"{" + b",".join(k.encode() + b":" + frozen(v) for k, v in output.items()) + b"}"
    if isinstance(output, np.ndarray):
        return f"{output.dtype}{output.shape}".encode() + output.tobytes()
    return repr(output).encode()


def choose(mask: NDArray[Any], chance: np.random.Generator, cheats: float = 0.0) -> int:
    """A random legal action; now and then any."""
    legal = np.flatnonzero(mask)
    if legal.size == 0 or chance.random() < cheats:
        return int(chance.integers(len(mask)))
    return int(chance.choice(legal))


def play_episode(env: Any, seed: int | None, chance: np.random.Generator) -> list[Any]:
    """What an episode of random legal actions returned: of the reset, then of each step."""
    outputs: list[Any] = [env.reset(seed=seed)]
    while len(outputs) == 1 or not outputs[-1][2]:
        outputs.append(env.step(choose(outputs[-1][-1]["action_mask"], chance)))
    return outputs


def positions(rules: Rules, num_games: int, every: int, seed: int = 11) -> Iterator[GameBatch]:
    """Games at many points of their course, finished ones among them, played at random."""
    batch = GameBatch.start(num_games, rules, seed=seed)
    agent = make_agent("random")
    turn = 0
    while not batch.over.all():
        if turn % every == 0:
            yield batch
        batch.step(agent.act(batch.views()))
        turn += 1
    yield batch


def packed(records: Any) -> bytes:
    """The bytes of the fields without the padding among them, which copies leave undefined."""
    return bytes(repack_fields(records).tobytes())


def with_other_toss(state: Any, rules: Rules, viewer: int) -> Any:
    """The state with one of the seat's tossed cards exchanged for one of another rank."""
    other = state.copy()
    used = rules.num_players * rules.cards_dealt + rules.crib_from_deck + 1
    cards = cards_in(state["tosses"][viewer])
    dealt = set(state["deck"][:used].tolist())
    rank = rank_of(cards[0])
    free = set(range(rules.deck_size)) - dealt
    cards[0] = next(card for card in sorted(free) if rank_of(card) != rank)
    other["tosses"][viewer][: len(cards)] = sorted(cards)
    return other
