"""A bot that runs and has said hello: one conversation by the protocol."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from cribai.rules import Rules
from cribai.tournament.external.messages import (
    act_line,
    games_ended_line,
    hello_line,
    quit_line,
    read_actions,
    read_hello,
    read_rules,
    rules_line,
)
from cribai.tournament.external.process import GRACE, BotError, BotProcess
from cribai.views import View

_QUIT_LIMIT: Final = 0.1  # seconds to tell a bot to end

_Answer = TypeVar("_Answer")


class Bot:
    """A running bot.

    Whatever goes wrong ends it, since nothing that it says afterwards could be trusted to be the
    answer to what it was asked.

    Args:
        words: The program and its arguments.
        rules: The rules of the hello.
        limit: Seconds until it has answered the hello.

    Attributes:
        rules: The rules that it was told last.
        refusal: Why it does not play by them; empty if it does.
        name: What it calls itself.
        batches: Whether it takes several views at once.

    Raises:
        BotError: It does not start, or does not say hello.
    """

    def __init__(self, words: Sequence[str], rules: Rules, limit: float) -> None:
        self._process = BotProcess(words)
        self._num_asked = 0
        hello = self._ask(hello_line(rules), limit, read_hello)
        self.rules = rules
        self.refusal = hello.refusal
        self.name = hello.name
        self.batches = hello.batches

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it may be asked; not when it was ended, or started by another process."""
        return self._process.is_usable

    def change_rules(self, rules: Rules, limit: float) -> None:
        """Tells the rules of the games that follow.

        Raises:
            BotError: The bot failed; it is ended.
        """
        self.refusal = self._ask(rules_line(rules), limit, read_rules)
        self.rules = rules

    def act(self, views: Sequence[View], limit: float) -> list[Any]:
        """Returns the bot's answers to views, see `decisions.read_action`.

        Raises:
            BotError: The bot failed; it is ended.
        """
        self._num_asked += 1
        number = self._num_asked
        return self._ask(
            act_line(number, views), limit, lambda line: read_actions(line, number, len(views))
        )

    def games_ended(
        self, games: NDArray[np.int64], scores: NDArray[np.int64], limit: float
    ) -> None:
        """Tells that games are over.

        Raises:
            BotError: The bot failed; it is ended.
        """
        self._guard(lambda: self._process.send(games_ended_line(games, scores), limit))

    def close(self) -> None:
        """Ends the bot, in peace if it lets."""
        if self.is_usable:
            try:
                self._process.send(quit_line(), _QUIT_LIMIT)
            except BotError:
                self._process.stop()
        self._process.stop(GRACE)

    def _ask(self, line: bytes, limit: float, read: Callable[[bytes], _Answer]) -> _Answer:
        return self._guard(lambda: read(self._process.exchange(line, limit)))

    def _guard(self, talk: Callable[[], _Answer]) -> _Answer:
        try:
            return talk()
        except BaseException as error:  # An interrupt, too, leaves an answer open.
            self._process.stop()
            if isinstance(error, BotError):
                error.words = self._process.last_words
            raise
