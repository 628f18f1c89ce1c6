"""Conformance: whether an engine of cribbage, anyone's, plays by the rules.

An `EngineAdapter` stands before the engine, and `check_rules` puts it to the fixtures: small facts
of the show, of pegging and of whole games, each about one rule.
"""

from cribai.conformance.adapter import DealtCards, EngineAdapter
from cribai.conformance.fixtures import load_fixtures
from cribai.conformance.own_engine import CribaiAdapter
from cribai.conformance.report import Finding, RulesReport, Status
from cribai.conformance.runner import check_rules

__all__ = [
    "CribaiAdapter",
    "DealtCards",
    "EngineAdapter",
    "Finding",
    "RulesReport",
    "Status",
    "check_rules",
    "load_fixtures",
]
