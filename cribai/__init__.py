"""cribai: train, pit and study cribbage players over one compiled rules engine.

The public names load their modules when first used, so that the command line starts without numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cribai.agent import Agent, RankedAction, SimpleAgent, agent_entry_points, make_agent
    from cribai.cards import NO_CARD, card_text, cards_text, parse_card, parse_cards
    from cribai.counting import Show, count_play, count_show
    from cribai.deal import Deal
    from cribai.errors import (
        AgentError,
        CardError,
        ConfigError,
        CribaiError,
        IllegalActionError,
        RecordError,
        RulesError,
    )
    from cribai.events import Event, EventKind
    from cribai.game import Game, Outcome, Skunk
    from cribai.game_batch import GameBatch
    from cribai.match_points import MATCH_POINTS, MatchPoints, get_match_points
    from cribai.records import GameRecord, read_records, record_game, replay, write_records
    from cribai.rules import PRESETS, STANDARD, Rules, get_rules
    from cribai.views import View, ViewBatch

__version__ = "0.1.0"

__all__ = [
    "MATCH_POINTS",
    "NO_CARD",
    "PRESETS",
    "STANDARD",
    "Agent",
    "AgentError",
    "CardError",
    "ConfigError",
    "CribaiError",
    "Deal",
    "Event",
    "EventKind",
    "Game",
    "GameBatch",
    "GameRecord",
    "IllegalActionError",
    "MatchPoints",
    "Outcome",
    "RankedAction",
    "RecordError",
    "Rules",
    "RulesError",
    "Show",
    "SimpleAgent",
    "Skunk",
    "View",
    "ViewBatch",
    "agent_entry_points",
    "card_text",
    "cards_text",
    "count_play",
    "count_show",
    "get_match_points",
    "get_rules",
    "make_agent",
    "parse_card",
    "parse_cards",
    "read_records",
    "record_game",
    "replay",
    "write_records",
]

_MODULES = {
    "agent": ("Agent", "RankedAction", "SimpleAgent", "agent_entry_points", "make_agent"),
    "cards": ("NO_CARD", "card_text", "cards_text", "parse_card", "parse_cards"),
    "counting": ("Show", "count_play", "count_show"),
    "errors": (
        "AgentError",
        "CardError",
        "ConfigError",
        "CribaiError",
        "IllegalActionError",
        "RecordError",
        "RulesError",
    ),
    "events": ("Event", "EventKind"),
    "deal": ("Deal",),
    "game": ("Game", "Outcome", "Skunk"),
    "game_batch": ("GameBatch",),
    "records": ("GameRecord", "read_records", "record_game", "replay", "write_records"),
    "match_points": ("MATCH_POINTS", "MatchPoints", "get_match_points"),
    "rules": ("PRESETS", "STANDARD", "Rules", "get_rules"),
    "views": ("View", "ViewBatch"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cribai' has no attribute {name!r}")
    value = getattr(import_module(f"cribai.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
