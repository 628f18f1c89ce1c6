"""Small tournaments, and chunks with results that were never played."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai import PRESETS
from cribai.config import load_config
from cribai.engine.simulate import TIE
from cribai.tournament.chunks import Chunk, Failure, Outcome, Played, Terms
from cribai.tournament.config import TournamentConfig
from cribai.tournament.executors import Executor
from cribai.tournament.plans import Plan
from cribai.tournament.run import Tournament, run_tournament
from cribai.tournament.stats import Stats
from cribai.tournament.store import Store
from cribai.tournament.summary import summarize
from test_stats import make_results

BRIEF: dict[str, Any] = {"target": 11, "skunk_line": 5, "double_skunk_line": "none"}
"""Rules of games of a deal or two, as a configuration has them."""

BRIEF_RULES = replace(PRESETS["standard"], target=11, skunk_line=5, double_skunk_line=None)

BRIEF_OPTIONS = [word for key, value in BRIEF.items() for word in ("--set", f"rules.{key}={value}")]


def make_config(**changes: Any) -> TournamentConfig:
    values = {"agents": ["random", "greedy"], "rules": BRIEF, "pairs": 20, "luck": False}
    return load_config(TournamentConfig, None, values | changes)


def make_terms(**changes: Any) -> Terms:
    return replace(Terms(BRIEF_RULES, 7, 64, luck=False, records=False), **changes)


def play(config: TournamentConfig, folder: Path) -> tuple[Tournament, dict[str, Any]]:
    """Plays a tournament anew in a folder."""
    store = Store.create(config.model_copy(update={"out": folder}))
    tournament = run_tournament(config, store)
    return tournament, summarize(tournament, store)


def outcomes(executor: Executor, chunks: Iterable[Chunk]) -> dict[Chunk, Outcome | Failure]:
    with closing(executor):
        return dict(executor.run(chunks))


def decided(plan: Plan, wins: Iterator[int] | Sequence[int]) -> list[Played]:
    """Plays out a plan whose pairs `a` wins by turns: 0, 1 or 2 games of each."""
    wins = iter(wins)
    played: list[Played] = []
    while True:
        played += [Played() for _ in range(len(plan.pairings) - len(played))]
        chunks = plan.next_chunks(played)
        played += [Played() for _ in range(len(plan.pairings) - len(played))]
        if not chunks:
            return played
        for chunk in chunks:
            played[chunk.match].add(chunk, outcome([next(wins) for _ in range(chunk.num_pairs)]))


def outcome(wins: Sequence[int], margin: int = 11) -> Outcome:
    """What comes of a chunk in whose pairs `a` wins so many games, the first before the second."""
    won = [game < number for number in wins for game in range(2)]
    return of_games([(121, 121 - margin) if a_won else (121 - margin, 121) for a_won in won])


def of_games(scores: Sequence[tuple[int, int]]) -> Outcome:
    """What comes of a chunk of games that end so."""
    return of_results(make_results(*scores))


def with_ties(a_won: Sequence[bool | None]) -> Outcome:
    """What comes of a chunk of games won by 11, or tied, by whether `a` won."""
    scores = {True: (121, 110), False: (110, 121), None: (121, 121)}
    results = make_results(*[scores[won] for won in a_won])
    results["winner"][[won is None for won in a_won]] = TIE
    return of_results(results)


def of_results(results: NDArray[Any]) -> Outcome:
    """What comes of a chunk of games of these results."""
    from cribai.tournament.chunks import GAME

    games: NDArray[Any] = np.zeros(len(results), GAME)
    games["scores"] = results["scores"]
    games["a_won"] = np.where(results["winner"] == TIE, TIE, results["winner"] == 0)
    return Outcome(games, Stats.from_results(results))


def environment() -> dict[str, str]:
    """The environment of a command that finds the agents of this folder."""
    paths = [os.environ.get("PYTHONPATH", ""), str(Path(__file__).parent)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "80"}


def command_line(*words: str) -> list[str]:
    return [sys.executable, "-m", "cribai", *words]
