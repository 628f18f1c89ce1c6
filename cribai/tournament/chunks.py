"""Chunks: the parts in which a match is played, wherever that is, and what comes of each."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, make_agent
from cribai.analysis.luck import covers_luck
from cribai.engine.simulate import TIE
from cribai.rules import Rules
from cribai.tournament.luck import LuckWatcher
from cribai.tournament.match import Watcher, play_pairs
from cribai.tournament.recording import Recorder
from cribai.tournament.stats import Stats

GAME: Final = np.dtype(
    [
        # A game as it is kept, packed and little-endian; its place in the chunk is its number.
        ("scores", "<i2", 2),  # of `a` and `b`
        ("num_deals", "<u2"),
        ("a_won", "<i1"),  # 1 if `a` won, 0 if `b` did, TIE if nobody
        ("skunk", "u1"),
        ("a_dealt_first", "u1"),
        ("forfeit", "<i1"),
    ]
)


FEW_GAMES: Final = 64
"""Matches of a knock-out are shorter, and are decided by the order of their games."""


def winners(games: NDArray[Any]) -> NDArray[np.int8]:
    """Returns who won games that were kept, int8 array (n,): 0, 1 or TIE.

    Args:
        games: GAME array (n,).
    """
    a_won = games["a_won"]
    return np.where(a_won == TIE, TIE, 1 - a_won).astype(np.int8)


class Chunk(NamedTuple):
    """Some pairs of a match.

    Attributes:
        match: Number of the match.
        a: Spec of the first agent.
        b: Spec of the second.
        first_pair: Number of the first pair.
        num_pairs: How many pairs.
    """

    match: int
    a: str
    b: str
    first_pair: int
    num_pairs: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What all chunks of a tournament are played by.

    Attributes:
        rules: The rules.
        seed: Seed of the deals.
        batch_size: Games alive at once.
        luck: Whether to measure luck.
        records: Whether to keep every game.
    """

    rules: Rules
    seed: int
    batch_size: int
    luck: bool
    records: bool

    @property
    def knows_luck(self) -> bool:
        """Whether luck is wanted and known for the rules."""
        return self.luck and covers_luck(self.rules)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a chunk.

    Attributes:
        games: GAME array (2 * num_pairs,).
        stats: Their statistics.
        records: Every game as a line of JSON; None if records were not wanted.
        failures: By agent, 0 or 1, why games were forfeited and how often.
        first_failures: By agent, what happened first, by reason.
    """

    games: NDArray[Any]
    stats: Stats
    records: tuple[str, ...] | None = None
    failures: tuple[dict[str, int], dict[str, int]] = ({}, {})
    first_failures: tuple[dict[str, str], dict[str, str]] = ({}, {})

    def light(self) -> "Outcome":
        """Returns what is to be held in memory when the rest is in a store."""
        games = self.games if len(self.games) <= FEW_GAMES else self.games[:0].copy()
        return replace(self, games=games, records=None)


@dataclass(frozen=True, slots=True)
class Failure:
    """A chunk that could not be played.

    Attributes:
        seed: Seed of the deals.
        what: What went wrong.
    """

    seed: int
    what: str


@dataclass(slots=True)
class Played:
    """What has come of the chunks of one match so far, in the order of the pairs.

    Attributes:
        chunks: The chunks.
        stats: Their statistics; None where one failed.
        winners: Of each game 0 or 1, or TIE, of chunks of few games; nothing for others.
        failures: Chunks that failed.
        forfeits: By chunk and agent, why games were forfeited and how often.
        first_failures: By chunk and agent, what happened first, by reason.
    """

    chunks: list[Chunk] = field(default_factory=list)
    stats: list[Stats | None] = field(default_factory=list)
    winners: list[tuple[int, ...]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    forfeits: list[tuple[dict[str, int], dict[str, int]]] = field(default_factory=list)
    first_failures: list[tuple[dict[str, str], dict[str, str]]] = field(default_factory=list)

    def add(self, chunk: Chunk, outcome: Outcome | Failure) -> None:
        """Takes what came of the next chunk."""
        self.chunks.append(chunk)
        if isinstance(outcome, Failure):
            self.stats.append(None)
            self.winners.append(())
            self.forfeits.append(({}, {}))
            self.first_failures.append(({}, {}))
            self.failures.append(outcome)
            return
        self.stats.append(outcome.stats)
        self.winners.append(tuple(winners(outcome.games).tolist()))
        self.forfeits.append(outcome.failures)
        self.first_failures.append(outcome.first_failures)

    @property
    def num_pairs(self) -> int:
        """Pairs that were begun, failed ones too."""
        return sum(chunk.num_pairs for chunk in self.chunks)

    def total(self, num_chunks: int | None = None) -> Stats | None:
        """Returns the statistics of the first chunks together; None when none was played."""
        return add(self.stats[:num_chunks])

    def reasons(self, num_chunks: int, side: int) -> tuple[dict[str, int], dict[str, str]]:
        """Returns why an agent forfeited games of the first chunks, and what happened first."""
        counts: Counter[str] = Counter()
        firsts: dict[str, str] = {}
        for forfeits, first in zip(
            self.forfeits[:num_chunks], self.first_failures[:num_chunks], strict=True
        ):
            counts.update(forfeits[side])
            firsts = first[side] | firsts
        return dict(counts), firsts


def add(parts: Sequence[Stats | None]) -> Stats | None:
    """Returns statistics joined, those left out that failed; None when nothing is left."""
    total: Stats | None = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def split(match: int, a: str, b: str, first_pair: int, num_pairs: int, size: int) -> list[Chunk]:
    """Returns the chunks, of a size or smaller, of some pairs of a match."""
    return [
        Chunk(match, a, b, start, min(size, first_pair + num_pairs - start))
        for start in range(first_pair, first_pair + num_pairs, size)
    ]


class Players:
    """The agents of one match at a time, so that one with a memory meets each game once.

    Attributes:
        programs: Agents that ask programs, open for the chunk that is played.
    """

    def __init__(self) -> None:
        self.programs: list[Any] = []
        self._proven: dict[str, Agent] = {}
        self._match: tuple[object, ...] = ()
        self._made: dict[int, Agent] = {}

    def get(self, chunk: Chunk, stack: ExitStack, run: object = None) -> tuple[Agent, Agent]:
        """Returns the agents; one that asks a program is new for each chunk, and closed after it.

        Args:
            chunk: The chunk to play.
            stack: Closes programs.
            run: Names the tournament, where a process may play in more than one.

        Raises:
            AgentError: An agent cannot be made.
        """
        match = run, chunk.match, chunk.a, chunk.b
        if match != self._match:
            self.forget()
            self._match = match
        return self._agent(chunk.a, 0, stack), self._agent(chunk.b, 1, stack)

    def forget(self) -> None:
        """Drops the agents: what they remember is not to be met again."""
        self._made.clear()

    def _agent(self, spec: str, side: int, stack: ExitStack) -> Agent:
        if side in self._made:
            return self._made[side]
        # A program that once has started forfeits games if it later does not; so does a copy.
        agent = deepcopy(self._proven[spec]) if spec in self._proven else make_agent(spec)
        if agent.may_forfeit:
            self._proven.setdefault(spec, agent)
            self.programs.append(agent)
            stack.callback(self._close, agent)
        else:
            self._made[side] = agent
        return agent

    def _close(self, program: Any) -> None:
        program.close()
        self.programs.remove(program)


def play_chunk(
    chunk: Chunk,
    terms: Terms,
    players: Players,
    progress: Callable[[int], object] | None = None,
    run: object = None,
) -> Outcome:
    """Plays a chunk.

    Args:
        chunk: The chunk.
        terms: What it is played by.
        players: Who plays; forgotten when they fail.
        progress: Called with a number of games that have ended.
        run: Names the tournament, where a process may play in more than one.

    Raises:
        AgentError: An agent cannot be made or broke the agent protocol.
        RuntimeError: An agent tried to end the process.
    """
    try:
        return _play_chunk(chunk, terms, players, progress, run)
    except SystemExit as end:
        players.forget()
        raise RuntimeError(f"an agent called for the end of the process: {end!r}") from end
    except BaseException:
        players.forget()
        raise


def _play_chunk(
    chunk: Chunk,
    terms: Terms,
    players: Players,
    progress: Callable[[int], object] | None,
    run: object,
) -> Outcome:
    with ExitStack() as stack:
        agents = players.get(chunk, stack, run)
        luck = (
            LuckWatcher(terms.rules, chunk.first_pair, chunk.num_pairs)
            if terms.knows_luck
            else None
        )
        recorder = Recorder((chunk.a, chunk.b), terms.rules, terms.seed) if terms.records else None
        watchers: list[Watcher] = [watcher for watcher in (luck, recorder) if watcher is not None]
        results = play_pairs(
            *agents,
            terms.rules,
            seed=terms.seed,
            first_pair=chunk.first_pair,
            num_pairs=chunk.num_pairs,
            batch_size=terms.batch_size,
            progress=progress,
            watchers=watchers,
        )
        reasons = tuple(dict(getattr(agent, "failures", Counter())) for agent in agents)
        firsts = tuple(dict(getattr(agent, "first_failures", {})) for agent in agents)
    return Outcome(
        games=_packed(results),
        stats=Stats.from_results(results, None if luck is None else luck.values),
        records=None if recorder is None else recorder.lines(),
        failures=reasons,  # type: ignore[arg-type]
        first_failures=firsts,  # type: ignore[arg-type]
    )


def _packed(results: NDArray[Any]) -> NDArray[Any]:
    games = np.zeros(len(results), GAME)
    games["scores"] = results["scores"]
    games["num_deals"] = results["num_deals"]
    games["a_won"] = np.where(results["winner"] == TIE, TIE, results["winner"] == 0)
    games["skunk"] = results["skunk"]
    games["a_dealt_first"] = results["first_dealer"] == 0
    games["forfeit"] = results["forfeit"]
    return games
