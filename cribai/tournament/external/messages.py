"""The messages of the protocol: what cribai says to a bot, and how it reads the answers.

Views and actions within them are made and read in `decisions`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.rules import Rules
from cribai.tournament.external.decisions import shown, view_fields
from cribai.tournament.external.process import GARBLED, BotError
from cribai.views import View

PROTOCOL: Final = 1
_MAX_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class Hello:
    """A bot's answer to the hello.

    Attributes:
        name: What it calls itself.
        batches: Whether it takes several views at once.
        refusal: Why it does not play by the rules; empty if it does.
    """

    name: str
    batches: bool
    refusal: str


# ------------------------------------------------------------------------------- from cribai


def hello_line(rules: Rules) -> bytes:
    """Returns the first message of all."""
    return _line("hello", protocol=PROTOCOL, rules=rules.to_dict(), num_actions=rules.num_actions)


def rules_line(rules: Rules) -> bytes:
    """Returns the message that the next views are of games by other rules."""
    return _line("rules", rules=rules.to_dict(), num_actions=rules.num_actions)


def act_line(number: int, views: Sequence[View]) -> bytes:
    """Returns the message that asks for actions.

    Args:
        number: What the answer has to repeat.
        views: The decisions.
    """
    return _line("act", id=number, views=[view_fields(view) for view in views])


def games_ended_line(games: NDArray[np.int64], scores: NDArray[np.int64]) -> bytes:
    """Returns the message that games are over; see `Agent.games_ended`."""
    return _line("games_ended", games=games.tolist(), scores=scores.tolist())


def quit_line() -> bytes:
    """Returns the last message of all."""
    return _line("quit")


def _line(kind: str, **content: Any) -> bytes:
    return json.dumps({"type": kind, **content}, separators=(",", ":")).encode() + b"\n"


# -------------------------------------------------------------------------------- from the bot


def read_hello(line: bytes) -> Hello:
    """Returns what a bot answered to the hello.

    Raises:
        BotError: It is no hello, or of another version of the protocol.
    """
    message = _read(line, "hello")
    protocol = message.get("protocol")
    if protocol != PROTOCOL:
        raise BotError(
            GARBLED,
            f"speaks version {shown(protocol)} of the protocol where cribai speaks {PROTOCOL}",
            "take a version of the bot and of cribai that fit",
        )
    name = message.get("name")
    batches = message.get("batch")
    if not (isinstance(name, str) and name.strip() and isinstance(batches, bool)):
        what = 'said hello without a text as "name", or without true or false as "batch"'
        raise BotError(GARBLED, f"{what}: {_cut(line)}")
    return Hello(name.strip()[:_MAX_NAME], batches, _refusal(message))


def read_rules(line: bytes) -> str:
    """Returns why a bot does not play by the rules that it was told; empty if it does.

    Raises:
        BotError: It answered something else.
    """
    return _refusal(_read(line, "rules"))


def read_actions(line: bytes, number: int, num_views: int) -> list[Any]:
    """Returns what a bot answered to each view, for `read_action` of `decisions` to read.

    Args:
        line: The answer.
        number: The number of the message that it answers.
        num_views: The views in that message.

    Raises:
        BotError: It answers another message, or another number of views.
    """
    message = _read(line, "actions")
    if message.get("id") != number:
        raise BotError(
            GARBLED, f"answered the message {shown(message.get('id'))} when asked {number}"
        )
    actions = message.get("actions")
    if not isinstance(actions, list):
        raise BotError(GARBLED, f'answered without a list of "actions": {_cut(line)}')
    if len(actions) != num_views:
        raise BotError(GARBLED, f"answered {num_views} views with {len(actions)} actions")
    return actions


def _read(line: bytes, kind: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise BotError(GARBLED, f"wrote a line that is not JSON: {_cut(line)}") from None
    if not isinstance(message, dict) or message.get("type") != kind:
        raise BotError(GARBLED, f'wrote a message that is not of type "{kind}": {_cut(line)}')
    return message


def _refusal(message: dict[str, Any]) -> str:
    refusal = message.get("refuses", "")
    return refusal.strip() if isinstance(refusal, str) else shown(refusal)


def _cut(line: bytes) -> str:
    return shown(line.decode(errors="replace"))
