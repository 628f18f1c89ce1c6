"""A tournament's results as one JSON object, from which every report is drawn."""

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.config import parse_overrides
from cribai.engine.simulate import NUM_AGENTS
from cribai.errors import ConfigError
from cribai.match_points import get_match_points
from cribai.tournament.acc import AccPlan, summarize_acc
from cribai.tournament.chunks import winners
from cribai.tournament.intervals import Interval
from cribai.tournament.luck import luck_adjusted
from cribai.tournament.plans import SprtPlan
from cribai.tournament.player_stats import player_page
from cribai.tournament.ratings import Ratings, likelihood_of_superiority, rate
from cribai.tournament.run import Tournament
from cribai.tournament.stats import MOST_HALF_WINS, Stats, half_wins_by_pair
from cribai.tournament.store import Store

NUM_POINTS: Final = 20
"""Looks at the ratings on the way, for the curve of how they converged."""

BIN: Final = 10
"""Points of margin in a column of the histogram."""


def summarize(
    tournament: Tournament, store: Store, progress: Callable[[int], object] | None = None
) -> dict[str, Any]:
    """Returns the results as a JSON object; what has no bound is null.

    Args:
        tournament: What was played.
        store: Where its games are.
        progress: Called with a number of games whose records have been read.
    """
    config = tournament.config
    settings = config.settings()
    matches = [Match(tournament, store, number) for number in range(len(tournament.played))]
    ratings = _rate(tournament, [match.stats for match in matches])
    summary = {
        "agents": list(tournament.agents),
        "format": config.format,
        "rules": settings["rules"],
        "pairs": config.pairs,
        "seed": config.seed,
        "match_points": config.match_points,
        "hash": tournament.hash,
        "games": sum(match.stats.games for match in matches if match.stats),
        "games_per_second": tournament.games_per_second,
        "matches": [match.summary() for match in matches],
        "overall": _overall(tournament, matches),
        "players": player_page(tournament, store, progress).to_dict(),
        "ratings": [] if ratings is None else _ratings(ratings),
        "warnings": [] if ratings is None else _warnings(ratings),
        "convergence": _convergence(tournament, matches),
        "failed": [failure.what for played in tournament.played for failure in played.failures],
        "configuration": settings,
        "command": command(tournament),
    }
    if isinstance(tournament.plan, SprtPlan):
        summary["sprt"] = _sprt(tournament.plan, matches[0].stats)
    if isinstance(tournament.plan, AccPlan):
        summary["acc"] = summarize_acc(tournament.plan, tournament.played, tournament.agents)
    return summary


def command(tournament: Tournament) -> str:
    """Returns a command that plays the tournament again."""
    config = tournament.config
    settings = {key: value for key, value in config.settings().items() if key != "agents"}
    defaults = type(config)().settings()
    words = ["cribai", "tournament", *config.agents]
    for key, value in settings.items():
        if value != defaults.get(key) and key not in ("workers", "executor", "address"):
            parts = value.items() if isinstance(value, dict) else [(None, value)]
            for part, inner in parts:
                name = key if part is None else f"{key}.{part}"
                words += ["--set", f"{name}={_setting(inner)}"]
    return shlex.join(words)


def _setting(value: Any) -> str:
    """Returns a value as --set reads it; text that looks like another value has quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    is_plain = not isinstance(value, str) or parse_overrides([f"key={text}"])["key"] == text
    return text if is_plain else json.dumps(text)


class Match:
    """A match of a tournament, its games that count.

    Args:
        tournament: The tournament.
        store: Where the games are.
        number: Number of the match.
    """

    def __init__(self, tournament: Tournament, store: Store, number: int) -> None:
        played = tournament.played[number]
        pairing = tournament.plan.pairings[number]
        self.entrants = (pairing.a, pairing.b)
        self.labels = (tournament.agents[pairing.a], tournament.agents[pairing.b])
        num_counted = tournament.plan.num_counted(played)
        self.stats = played.total(num_counted)
        self._points = get_match_points(tournament.config.match_points)
        reasons = [played.reasons(num_counted, side) for side in range(NUM_AGENTS)]
        self._forfeits = [counts for counts, _ in reasons]
        self._first_failures = [firsts for _, firsts in reasons]
        target = tournament.config.rules.target
        edges = np.arange(-(-target // BIN) * -BIN, target + BIN, BIN)
        self._edges = edges
        self._margins = np.zeros(len(edges) - 1, np.int64)
        half_wins = [np.zeros(0, np.int64)]
        for chunk in tournament.counted(number):
            games = store.games(chunk)
            margins = games["scores"][:, 0].astype(np.int64) - games["scores"][:, 1]
            self._margins += np.histogram(margins, edges)[0]
            half_wins.append(half_wins_by_pair(winners(games)))
        self.half_wins: NDArray[np.int64] = np.concatenate(half_wins)

    def at(self, share: float) -> Stats | None:
        """Returns the statistics of a share of the pairs, from the first: the wins alone."""
        half_wins = self.half_wins[: round(share * len(self.half_wins))]
        pairs = np.bincount(half_wins, minlength=MOST_HALF_WINS + 1).tolist()
        return Stats.from_half_wins(pairs) if len(half_wins) else None

    def summary(self) -> dict[str, Any]:
        """Returns the match as a JSON object, all as seen by `a`."""
        stats = self.stats
        if stats is None:
            return {"a": self.labels[0], "b": self.labels[1], "pairs": 0, "games": 0}
        return (
            {"a": self.labels[0], "b": self.labels[1]}
            | summarize_stats(stats, self._points.name)
            | {
                "likelihood_of_superiority": likelihood_of_superiority(stats),
                "opponent_points_per_deal": stats.flipped().points_per_deal(),
                "margins": {
                    "edges": self._edges.tolist(),
                    "games": self._margins.tolist(),
                },
                "forfeits": list(stats.forfeits),
                "forfeit_reasons": self._forfeits,
                "first_failures": self._first_failures,
            }
        )


def summarize_stats(stats: Stats, match_points: str) -> dict[str, Any]:
    """Returns statistics as a JSON object."""
    points = get_match_points(match_points)
    ahead, ahead_interval = stats.match_points_ahead(points)
    summary: dict[str, Any] = {"pairs": stats.pairs, "games": stats.games, "ties": stats.ties}
    for name, value, interval in (
        ("win_rate", stats.win_rate, stats.win_rate_interval),
        ("tie_rate", stats.tie_rate, stats.tie_rate_interval),
        ("margin", stats.margin_per_game, stats.margin_interval),
        ("skunk_rate", stats.skunk_rate, stats.skunk_rate_interval),
        ("skunked_rate", stats.skunked_rate, stats.skunked_rate_interval),
        ("double_skunk_rate", stats.double_skunk_rate, stats.double_skunk_rate_interval),
        ("double_skunked_rate", stats.double_skunked_rate, stats.double_skunked_rate_interval),
        (
            "first_dealer_win_rate",
            stats.first_dealer_win_rate,
            stats.first_dealer_win_rate_interval,
        ),
        ("match_points_ahead", ahead, ahead_interval),
    ):
        summary[name] = value
        summary[f"{name}_interval"] = bounds(interval)
    adjusted = luck_adjusted(stats)
    return summary | {
        "match_points": list(stats.match_points(points)),
        "pairs_by_half_wins": list(stats.pairs_by_half_wins),
        "deals_per_game": stats.deals_per_game,
        "points_per_deal": stats.points_per_deal(),
        "points_per_deal_intervals": {
            role: {name: bounds(interval) for name, interval in parts.items()}
            for role, parts in stats.points_per_deal_intervals().items()
        },
        "luck_adjusted": adjusted
        and {
            "win_rate": adjusted.win_rate,
            "interval": bounds(adjusted.interval),
            "luck": adjusted.luck,
            "variance_reduction": finite(adjusted.variance_reduction),
        },
    }


def bounds(interval: Interval) -> list[float | None]:
    """Returns an interval as JSON has it."""
    return [finite(bound) for bound in interval]


def finite(value: float) -> float | None:
    """Returns a number, or None for one that JSON does not have."""
    return value if isfinite(value) else None


def _overall(tournament: Tournament, matches: Sequence[Match]) -> list[dict[str, Any]]:
    """Returns each entrant against all it met; matches share their deals, so without intervals."""
    found = []
    for entrant, label in enumerate(tournament.agents):
        total: Stats | None = None
        for match in matches:
            if match.stats is None or entrant not in match.entrants:
                continue
            stats = match.stats if match.entrants[0] == entrant else match.stats.flipped()
            total = stats if total is None else total + stats
        if total is not None:
            own, others = total.match_points(get_match_points(tournament.config.match_points))
            found.append(
                {
                    "agent": label,
                    "games": total.games,
                    "ties": total.ties,
                    "tie_rate": total.tie_rate,
                    "win_rate": total.win_rate,
                    "margin": total.margin_per_game,
                    "skunk_rate": total.skunk_rate,
                    "skunked_rate": total.skunked_rate,
                    "double_skunk_rate": total.double_skunk_rate,
                    "double_skunked_rate": total.double_skunked_rate,
                    "match_points": [own, others],
                    "points_per_deal": total.points_per_deal(),
                    "forfeits": total.forfeits[0],
                }
            )
    return found


def anchor(tournament: Tournament) -> int:
    """Returns the entrant whose rating is 0: the one named, or `random`, or the first."""
    names = tournament.agents
    for name in (tournament.config.anchor, "random"):
        if name in names:
            return names.index(name)
    return 0


def _rate(tournament: Tournament, parts: Iterable[Stats | None]) -> Ratings | None:
    results = [
        (pairing.a, pairing.b, stats)
        for pairing, stats in zip(tournament.plan.pairings, parts, strict=True)
        if stats is not None
    ]
    # Entrants that met nobody, since all their chunks failed, have no rating.
    met = {entrant for a, b, _ in results for entrant in (a, b)}
    if len(met) < len(tournament.agents):
        return None
    try:
        return rate(tournament.agents, results, anchor(tournament))
    except ConfigError:
        return None  # Nor if what could be played does not join them.


def _ratings(ratings: Ratings) -> list[dict[str, Any]]:
    return [
        {
            "agent": rating.label,
            "elo": rating.elo,
            "standard_error": rating.standard_error,
            "interval": bounds(rating.interval),
            "games": rating.games,
            "win_rate": rating.win_rate,
        }
        for rating in ratings.ratings
    ]


def _warnings(ratings: Ratings) -> list[str]:
    found = []
    if ratings.separated:
        groups = " / ".join(", ".join(group) for group in ratings.separated)
        found.append(
            f"Some agents won or lost every game against the others ({groups}): their distance is"
            " not known, and half a win was added each way."
        )
    for a, b, c in ratings.cycles:
        found.append(f"{a} beats {b}, {b} beats {c} and {c} beats {a}: no rating says so.")
    if ratings.fit.rejected:
        found.append(
            "The win rates do not follow from one number an agent"
            f" (chi-square {ratings.fit.chi_square:.1f} on {ratings.fit.degrees} degrees of"
            f" freedom, p = {ratings.fit.p_value:.2g}): read the matrix."
        )
    return found


def _convergence(tournament: Tournament, matches: Sequence[Match]) -> dict[str, Any]:
    """Returns the ratings after growing shares of the pairs of every match."""
    games = []
    curves: dict[str, list[list[float | None]]] = {label: [] for label in tournament.agents}
    for step in range(1, NUM_POINTS + 1):
        share = step / NUM_POINTS
        parts = [match.at(share) for match in matches]
        if any(part is None for part in parts):
            continue
        ratings = _rate(tournament, parts)
        if ratings is None:
            continue
        games.append(sum(part.games for part in parts if part))
        for rating in ratings.ratings:
            curves[rating.label].append([rating.elo, *bounds(rating.interval)])
    return {"games": games, "elo": curves}


def _sprt(plan: SprtPlan, stats: Stats | None) -> dict[str, Any]:
    test = plan.test
    decision = None if stats is None else test.decision(stats)
    return {
        "h0": test.h0,
        "h1": test.h1,
        "alpha": test.alpha,
        "beta": test.beta,
        "bounds": list(test.bounds),
        "log_likelihood_ratio": None if stats is None else test.log_likelihood_ratio(stats),
        "decision": None if decision is None else str(decision),
    }
