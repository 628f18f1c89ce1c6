"""Foreign bots: any program as an agent, by JSON lines over its standard streams.

The protocol is described in docs/external-bots.md.
"""

from cribai.tournament.external.agent import FORFEIT, ExternalAgent, parse_external

__all__ = ["FORFEIT", "ExternalAgent", "parse_external"]
