"""Tournaments: matches of mirrored pairs, their statistics, and what is kept and shown of them."""

from cribai.tournament.config import TournamentConfig
from cribai.tournament.match import play_pairs
from cribai.tournament.run import Match, Tournament, run_tournament
from cribai.tournament.stats import Interval, Stats

__all__ = [
    "Interval",
    "Match",
    "Stats",
    "Tournament",
    "TournamentConfig",
    "play_pairs",
    "run_tournament",
]
