"""Foreign bots: any program as an agent, by JSON lines over its standard streams.

The protocol is described in docs/external-bots.md.
"""

from cribai.agent import FORFEIT
from cribai.tournament.external.agent import ExternalAgent, parse_external

__all__ = ["FORFEIT", "ExternalAgent", "parse_external"]
