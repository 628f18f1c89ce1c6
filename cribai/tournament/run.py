"""A tournament from its configuration to its results: every match of the schedule in turn."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.agent import agent_entry_points, make_agent
from cribai.engine.simulate import GAMES_PER_PAIR
from cribai.tournament.config import TournamentConfig
from cribai.tournament.match import play_pairs
from cribai.tournament.schedule import labels, round_robin
from cribai.tournament.stats import Stats


@dataclass(frozen=True)
class Match:
    """The results of two entrants' match.

    Attributes:
        a: Label of the first, from whose view the statistics are.
        b: Label of the second.
        results: RESULT array (2 * pairs,), by pair and game.
    """

    a: str
    b: str
    results: NDArray[Any]

    @cached_property
    def stats(self) -> Stats:
        """The statistics as seen by `a`."""
        return Stats.from_results(self.results)


@dataclass(frozen=True)
class Tournament:
    """The results of a tournament.

    Attributes:
        config: What was played, its agents named.
        agents: Labels of the entrants.
        matches: The matches in the order of the schedule.
        games_per_second: Games a second, each match's first pair apart, in which agents compile.
    """

    config: TournamentConfig
    agents: tuple[str, ...]
    matches: tuple[Match, ...]
    games_per_second: float

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all results by match, pair and game; equal results have equal hashes."""
        digest = hashlib.sha256()
        for match in self.matches:
            digest.update(match.results.tobytes())
        return digest.hexdigest()


def with_agents(config: TournamentConfig) -> TournamentConfig:
    """Returns the configuration with all installed agents named when it names none."""
    return config.model_copy(update={"agents": config.agents or tuple(agent_entry_points())})


def num_games(config: TournamentConfig) -> int:
    """Returns the number of games that a tournament with named agents plays."""
    return len(round_robin(len(config.agents))) * GAMES_PER_PAIR * config.pairs


def run_tournament(
    config: TournamentConfig, progress: Callable[[int], object] | None = None
) -> Tournament:
    """Plays a tournament: a round robin, every match on the same deals.

    Args:
        config: What to play.
        progress: Called with the number of games that have ended since the last call.

    Raises:
        AgentError: An agent is unknown, or broke the agent protocol.
        ConfigError: There are fewer than two agents.
    """
    config = with_agents(config)
    pairings = round_robin(len(config.agents))
    agents = [make_agent(spec) for spec in config.agents]
    names = labels(config.agents)
    matches = []
    num_timed = 0
    seconds = 0.0
    for a, b in pairings:
        play = partial(
            play_pairs,
            agents[a],
            agents[b],
            config.rules,
            seed=config.seed,
            batch_size=config.batch_size,
            progress=progress,
        )
        start = perf_counter()
        parts = [play(first_pair=0, num_pairs=1)]
        if config.pairs > 1:
            start = perf_counter()  # By now everything is compiled.
            parts.append(play(first_pair=1, num_pairs=config.pairs - 1))
        seconds += perf_counter() - start
        num_timed += len(parts[-1])
        matches.append(Match(names[a], names[b], np.concatenate(parts)))
    return Tournament(config, tuple(names), tuple(matches), num_timed / seconds)
