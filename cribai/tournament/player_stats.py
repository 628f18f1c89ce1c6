"""What each agent did in a tournament, over all that it met and against each of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cribai.engine.simulate import NUM_AGENTS
from cribai.errors import ConfigError
from cribai.tournament.config import TournamentConfig
from cribai.tournament.hands import Hands, exact_scores, read_hands
from cribai.tournament.run import Tournament
from cribai.tournament.stats import Stats
from cribai.tournament.store import Store

NO_RECORDS: Final = (
    "The best hand and the histogram of hands need recorded games: play with --games-file"
    " FILE.jsonl, by rules of one starter and no decisions but tosses and lays."
)
"""What is said where hands are not known."""


def knows_hands(config: TournamentConfig) -> bool:
    """Tells whether the hands kept can be read: games were recorded, their rules not varied.

    See `cribai.Rules.is_varied`.
    """
    return config.games_file is not None and not config.rules.is_varied


@dataclass(frozen=True, slots=True)
class Figures:
    """What an agent did in games; in games of more than two, with all the seats that it had.

    Attributes:
        games: Games played.
        wins: Games won.
        losses: Games lost.
        ties: Games that nobody won.
        skunks_given: Games won by a skunk or a double skunk.
        double_skunks_given: Games won by a double skunk.
        skunks_taken: Games lost by a skunk or a double skunk.
        double_skunks_taken: Games lost by a double skunk.
        longest_streak: The most games won in a row within a match, by pair and game number.
        points_per_deal: Points of all sources, a deal.
        points_by_role: Mean points by role and source; see `Stats.points_per_deal`.
        hands: The hands kept; None when the games were not recorded.
    """

    games: int
    wins: int
    losses: int
    ties: int
    skunks_given: int
    double_skunks_given: int
    skunks_taken: int
    double_skunks_taken: int
    longest_streak: int
    points_per_deal: float
    points_by_role: dict[str, dict[str, float]]
    hands: Hands | None

    def to_dict(self) -> dict[str, Any]:
        """Returns the figures by name, as JSON has them."""
        return {
            "games": self.games,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "skunks_given": self.skunks_given,
            "double_skunks_given": self.double_skunks_given,
            "skunks_taken": self.skunks_taken,
            "double_skunks_taken": self.double_skunks_taken,
            "longest_streak": self.longest_streak,
            "points_per_deal": self.points_per_deal,
            "points_by_role": self.points_by_role,
            "hands": None if self.hands is None else self.hands.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class PlayerStats:
    """An agent's figures.

    Attributes:
        agent: Its label.
        overall: Over all that it met.
        by_opponent: Against each of them by label, in order of the entrants.
    """

    agent: str
    overall: Figures
    by_opponent: dict[str, Figures]

    def to_dict(self) -> dict[str, Any]:
        """Returns the figures as JSON has them, those over all by name beside the agent's."""
        opponents = [
            {"opponent": name} | figures.to_dict() for name, figures in self.by_opponent.items()
        ]
        return {"agent": self.agent} | self.overall.to_dict() | {"opponents": opponents}


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """The figures of all who played.

    Attributes:
        agents: Theirs, in order of the entrants.
        is_recorded: Whether games were recorded, so that hands are known.
        exact_scores: All hands by score, for comparison; None where hands are not known or of
            another size; see `cribai.tournament.hands.exact_scores`.
    """

    agents: tuple[PlayerStats, ...]
    is_recorded: bool
    exact_scores: tuple[int, ...] | None

    def only(self, name: str) -> "PlayerPage":
        """Returns the page of one agent, by its label."""
        found = tuple(player for player in self.agents if player.agent == name)
        return PlayerPage(found, self.is_recorded, self.exact_scores)

    def to_dict(self) -> dict[str, Any]:
        """Returns the page as JSON has it."""
        return {
            "recorded": self.is_recorded,
            "exact_scores": None if self.exact_scores is None else list(self.exact_scores),
            "agents": [player.to_dict() for player in self.agents],
        }


class _Part(NamedTuple):
    """A match as one of its agents sees it."""

    stats: Stats
    streak: int
    hands: Hands | None


def check_player(tournament: Tournament, name: str) -> None:
    """Refuses an agent that did not play, before any records are read.

    Raises:
        ConfigError: It did not play.
    """
    met = {
        entrant
        for match, pairing in enumerate(tournament.plan.pairings)
        for entrant in pairing
        if any(tournament.counted(match))
    }
    names = [tournament.agents[entrant] for entrant in sorted(met)]
    if name not in names:
        raise ConfigError(f"The agent {name!r} did not play; name one of {', '.join(names)}.")


def player_page(
    tournament: Tournament, store: Store, progress: Callable[[int], object] | None = None
) -> PlayerPage:
    """Returns what each agent did in the games that count.

    Args:
        tournament: What was played.
        store: Where its games are, and their records if they were recorded.
        progress: Called with a number of games whose records have been read.
    """
    rules = tournament.config.rules
    is_recorded = knows_hands(tournament.config)
    parts: dict[int, dict[int, list[_Part]]] = {}
    for match, (a, b) in enumerate(tournament.plan.pairings):
        played = tournament.played[match]
        stats = played.total(tournament.plan.num_counted(played))
        if stats is None:
            continue
        streaks = _streaks(tournament, store, match)
        hands = _hands(tournament, store, match, progress) if is_recorded else (None, None)
        for own, other, seen, side in ((a, b, stats, 0), (b, a, stats.flipped(), 1)):
            part = _Part(seen, streaks[side], hands[side])
            parts.setdefault(own, {}).setdefault(other, []).append(part)
    names = tournament.agents
    return PlayerPage(
        tuple(
            PlayerStats(
                names[own],
                _figures([part for met in parts[own].values() for part in met]),
                {names[other]: _figures(parts[own][other]) for other in sorted(parts[own])},
            )
            for own in sorted(parts)
        ),
        is_recorded,
        exact_scores(rules) if is_recorded else None,
    )


def _figures(parts: Sequence[_Part]) -> Figures:
    stats = reduce(add, (part.stats for part in parts))
    hands = [part.hands for part in parts if part.hands is not None]
    wins, losses = sum(stats.wins), sum(stats.losses)
    return Figures(
        games=stats.games,
        wins=wins,
        losses=losses,
        ties=stats.games - wins - losses,
        skunks_given=sum(stats.wins[1:]),
        double_skunks_given=stats.wins[2],
        skunks_taken=sum(stats.losses[1:]),
        double_skunks_taken=stats.losses[2],
        longest_streak=max(part.streak for part in parts),
        points_per_deal=sum(stats.points[0]) / max(stats.deals, 1),
        points_by_role=stats.points_per_deal(),
        hands=reduce(add, hands) if hands else None,
    )


def _streaks(tournament: Tournament, store: Store, match: int) -> list[int]:
    """Returns the longest streaks of a match's agents; a chunk that is missing ends a streak."""
    won: list[NDArray[np.bool_]] = []
    end = 0
    for chunk in tournament.counted(match):
        if chunk.first_pair != end:
            won.append(np.zeros((1, NUM_AGENTS), np.bool_))
        a_won = store.games(chunk)["a_won"]
        # A tie ends the streaks of both.
        won.append(np.stack([a_won == 1, a_won == 0], axis=1))
        end = chunk.first_pair + chunk.num_pairs
    return [longest_run(side) for side in np.concatenate(won).T]


def longest_run(won: NDArray[np.bool_]) -> int:
    """Returns the most places in a row that are true."""
    lost = np.flatnonzero(~np.concatenate([[False], won, [False]]))
    return int(np.diff(lost).max()) - 1


def _hands(
    tournament: Tournament, store: Store, match: int, progress: Callable[[int], object] | None
) -> tuple[Hands, Hands]:
    totals = Hands(), Hands()
    lines = store.record_lines(tournament.counted(match))
    for games, (a, b) in read_hands(lines, tournament.config.rules):
        totals = totals[0] + a, totals[1] + b
        if progress is not None:
            progress(games)
    return totals
