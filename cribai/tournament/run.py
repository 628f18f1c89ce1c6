"""A tournament from its configuration to its results, in rounds of chunks that a plan asks for."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

from cribai.agent import agent_entry_points, make_agent
from cribai.engine.simulate import GAMES_PER_PAIR
from cribai.errors import ConfigError
from cribai.tournament.chunks import Chunk, Failure, Outcome, Played, Terms
from cribai.tournament.config import TournamentConfig
from cribai.tournament.executors import Executor, SerialExecutor, make_executor
from cribai.tournament.plans import Plan, make_plan
from cribai.tournament.schedule import labels
from cribai.tournament.store import Store


class Progress(Protocol):
    """Who is told how a tournament goes on."""

    def games(self, number: int) -> object:
        """Told that games have ended."""

    def status(self, text: str) -> object:
        """Told in a few words how it stands."""


@dataclass(frozen=True)
class Tournament:
    """A tournament that has been played.

    Attributes:
        config: What was played, its agents named.
        agents: Labels of the entrants.
        plan: What decided on the matches.
        played: What has come of them, by match.
        hash: SHA-256 of the games that count, by match and pair; equal games have equal hashes.
        games_per_second: Games a second, compilation apart; 0 when none was played.
    """

    config: TournamentConfig
    agents: tuple[str, ...]
    plan: Plan
    played: tuple[Played, ...]
    hash: str
    games_per_second: float

    @property
    def num_games(self) -> int:
        """Games that count."""
        return sum(
            GAMES_PER_PAIR * chunk.num_pairs
            for match in range(len(self.played))
            for chunk in self.counted(match)
        )

    @property
    def num_missing(self) -> int:
        """Chunks that failed."""
        return sum(len(played.failures) for played in self.played)

    def counted(self, match: int) -> Iterator[Chunk]:
        """Yields the chunks of a match that count and did not fail."""
        played = self.played[match]
        for number in range(self.plan.num_counted(played)):
            if played.stats[number] is not None:
                yield played.chunks[number]


def with_agents(config: TournamentConfig) -> TournamentConfig:
    """Returns the configuration with all installed agents named when it names none."""
    return config.model_copy(update={"agents": config.agents or tuple(agent_entry_points())})


def check(config: TournamentConfig) -> None:
    """Makes the plan and every agent once, so that a tournament fails before it has begun.

    Raises:
        AgentError: An agent cannot be made, or does not play by the rules.
        ConfigError: The configuration makes no tournament.
    """
    make_plan(config)
    names = labels(config.agents)
    if config.anchor is not None and config.anchor not in names:
        raise ConfigError(
            f"The anchor {config.anchor!r} does not play; name one of {', '.join(names)}."
        )
    for spec in dict.fromkeys(config.agents):
        agent = make_agent(spec)
        try:
            agent.check_rules(config.rules)
        finally:
            if agent.may_forfeit:
                agent.close()  # type: ignore[attr-defined]


def most_games(config: TournamentConfig) -> int | None:
    """Returns the number of games that a tournament plays at most; None when it is not known."""
    return make_plan(config).most_games()


def run_tournament(
    config: TournamentConfig, store: Store, progress: Progress | None = None
) -> Tournament:
    """Plays a tournament, or what the store does not yet hold of it.

    Args:
        config: What to play, its agents named.
        store: Where what has been played is kept.
        progress: Who is told how it goes on.

    Raises:
        AgentError: An agent broke the agent protocol.
        ConfigError: The configuration makes no tournament.
        OSError: The store cannot be written to.
    """
    plan = make_plan(config)
    terms = Terms(
        config.rules, config.seed, config.batch_size, config.luck, config.games_file is not None
    )
    played: list[Played] = []
    clock = _Clock()
    with closing(_Lazy(config, terms)) as executor:
        while chunks := _next_round(plan, played):
            _play_round(chunks, played, executor, store, progress, clock)
            if progress is not None:
                progress.status(plan.status(played))
    return _as_played(config, plan, played, store, clock.rate)


def read_tournament(config: TournamentConfig, store: Store) -> Tournament:
    """Returns a tournament as far as a store holds it; its speed is not known and 0.

    A chunk that is not there has failed. Where the run has not ended, its latest round is the last.

    Args:
        config: What was played, its agents named.
        store: Where it is kept.

    Raises:
        ConfigError: The configuration makes no tournament.
    """
    plan = make_plan(config)
    played: list[Played] = []
    is_whole = True
    while (is_whole or store.has_ended) and (chunks := _next_round(plan, played)):
        for chunk in chunks:
            kept = store.load(chunk, with_records=config.games_file is not None)
            is_whole = is_whole and kept is not None
            missing = Failure(config.seed, "it is not kept whole")
            played[chunk.match].add(chunk, missing if kept is None else kept.light())
    return _as_played(config, plan, played, store, 0.0)


def _next_round(plan: Plan, played: list[Played]) -> list[Chunk]:
    """Returns what to play next, and makes room for it."""
    played += [Played() for _ in range(len(plan.pairings) - len(played))]
    chunks = plan.next_chunks(played)
    played += [Played() for _ in range(len(plan.pairings) - len(played))]
    return chunks


def _as_played(
    config: TournamentConfig, plan: Plan, played: Sequence[Played], store: Store, rate: float
) -> Tournament:
    names = tuple(labels(config.agents))
    tournament = Tournament(config, names, plan, tuple(played), "", rate)
    counted = (chunk for match in range(len(played)) for chunk in tournament.counted(match))
    return replace(tournament, hash=store.hash(counted))


def _play_round(
    chunks: Sequence[Chunk],
    played: Sequence[Played],
    executor: "_Lazy",
    store: Store,
    progress: Progress | None,
    clock: "_Clock",
) -> None:
    """Plays chunks, or takes them from the store, and adds them to what was played in order."""
    done: dict[Chunk, Outcome | Failure] = {}
    missing = []
    for chunk in chunks:
        kept = store.load(chunk, with_records=executor.terms.records)
        if kept is None:
            missing.append(chunk)
        else:
            done[chunk] = kept.light()
            if progress is not None:
                progress.games(len(kept.games))
    if missing:
        inner = executor.get(missing)
        with clock:
            for chunk, outcome in inner.run(missing, progress.games if progress else None):
                if isinstance(outcome, Outcome):
                    store.save(chunk, outcome)
                    clock.games += len(outcome.games)
                    outcome = outcome.light()
                done[chunk] = outcome
    for chunk in chunks:
        played[chunk.match].add(chunk, done[chunk])


class _Clock:
    """Games, and the time that they took."""

    def __init__(self) -> None:
        self.games = 0
        self.seconds = 0.0
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += perf_counter() - self._start

    @property
    def rate(self) -> float:
        """Games a second."""
        return self.games / self.seconds if self.games else 0.0


class _Lazy:
    """The executor, begun when there is something to play."""

    def __init__(self, config: TournamentConfig, terms: Terms) -> None:
        self.terms = terms
        self._config = config
        self._executor: Executor | None = None

    def get(self, chunks: Sequence[Chunk]) -> Executor:
        """Returns the executor; compiles what it needs first."""
        config = self._config
        if self._executor is None:
            self._executor = make_executor(
                config.executor, self.terms, workers=config.workers, address=config.address
            )
            if isinstance(self._executor, SerialExecutor):
                # One pair of each pairing compiles what is needed, before the clock starts.
                # Other agents play it, for those of the run are to meet each game once.
                firsts = {(chunk.a, chunk.b): chunk._replace(num_pairs=1) for chunk in chunks}
                for _ in SerialExecutor(self.terms).run(firsts.values()):
                    pass
        return self._executor

    def close(self) -> None:
        """Ends the executor, if it was begun."""
        if self._executor is not None:
            self._executor.close()
