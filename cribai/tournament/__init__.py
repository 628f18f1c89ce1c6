"""Tournaments: matches of mirrored pairs, their statistics, and what is kept and shown of them."""

from cribai.tournament.config import TournamentConfig
from cribai.tournament.intervals import Interval
from cribai.tournament.match import play_pairs
from cribai.tournament.run import Tournament, read_tournament, run_tournament
from cribai.tournament.stats import Stats
from cribai.tournament.store import Store
from cribai.tournament.summary import summarize

__all__ = [
    "Interval",
    "Stats",
    "Store",
    "Tournament",
    "TournamentConfig",
    "play_pairs",
    "read_tournament",
    "run_tournament",
    "summarize",
]
