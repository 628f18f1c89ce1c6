"""The errors that cribai raises on purpose, each a sentence naming the input and the mend.

All are `ValueError`s under one base, so that the command line can turn any of them into one line
and exit status 2 while a programmer's mistake still shows its traceback.
"""


class CribaiError(ValueError):
    """Base of every error raised for input that cribai cannot accept."""


class CardError(CribaiError):
    """Text that is no card, a duplicate card, or the wrong number of cards."""


class RulesError(CribaiError):
    """Rules that no game can be played by, or an unknown preset."""


class IllegalActionError(CribaiError):
    """An action that the rules do not allow here, or any action once the game is over."""


class AgentError(CribaiError):
    """An agent that cannot be made, or that broke the agent protocol."""


class RecordError(CribaiError):
    """A game record that is damaged, or that the engine does not reproduce."""


class ConfigError(CribaiError):
    """A configuration file or override that does not fit the settings it is for."""
