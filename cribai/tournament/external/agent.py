"""`ExternalAgent`: a program as an agent, and the games that it forfeits."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import FORFEIT, Agent
from cribai.errors import AgentError, IllegalActionError
from cribai.rules import STANDARD, Rules
from cribai.tournament.external.bot import Bot
from cribai.tournament.external.decisions import read_action
from cribai.tournament.external.process import CRASH, GARBLED, TIMEOUT, BotError
from cribai.views import View, ViewBatch

ILLEGAL: Final = "illegal"
ABANDONED: Final = "abandoned"

REASONS: Final = (CRASH, TIMEOUT, GARBLED, ILLEGAL, ABANDONED)
"""Why games are forfeited; a bot is abandoned after too many failures in a row."""

MAX_LIMIT: Final = 3600.0
MAX_BATCH: Final = 512
MAX_RESTARTS: Final = 1000

_SPEC: Final = re.compile(r"external(?:\[([^\]]*)\])?:(.*)", re.DOTALL)
_OPTIONS: Final = {"limit": float, "start_limit": float, "batch": int, "restarts": int}
_MENDS: Final = {
    CRASH: "run the command by itself to see why",
    TIMEOUT: "let it flush its output, or allow it more time",
    GARBLED: "let it keep to the protocol",
}


class ExternalAgent(Agent):
    """A program that plays by JSON lines; see docs/external-bots.md.

    It is started at once, to see that it works. A copy made by pickling starts one of its own when
    first asked. Where the program fails, the games asked about are forfeited and it is started
    anew; an illegal action forfeits its own game only.

    Args:
        command: The program and its arguments, in words as a shell has them; no shell runs.
        limit: Seconds for each view; a message with n views has n times as long.
        start_limit: Seconds to start and say hello, or to answer new rules.
        batch: The most views in one message to a bot that takes several; so many games does a
            crash cost at most.
        restarts: How often in a row it is started anew without a good answer in between; after one
            more failure all games are forfeited at once.

    Attributes:
        failures: Views answered by FORFEIT, by reason, see REASONS.
        first_failures: What happened first, by reason.

    Raises:
        AgentError: An option is out of range, or the program does not start and say hello.
    """

    may_forfeit = True

    def __init__(
        self,
        command: str,
        *,
        limit: float = 5.0,
        start_limit: float = 10.0,
        batch: int = 64,
        restarts: int = 3,
    ) -> None:
        self.command = str(command)
        self.limit = _in_range("limit", limit, 0.001, MAX_LIMIT)
        self.start_limit = _in_range("start_limit", start_limit, 0.001, MAX_LIMIT)
        self.batch = int(_in_range("batch", batch, 1, MAX_BATCH))
        self.restarts = int(_in_range("restarts", restarts, 0, MAX_RESTARTS))
        self._words = _split(self.command)
        self._batches = False
        self._begin()
        try:
            self.name = self._bot_for(STANDARD).name
        except BotError as error:
            raise self._refused(error) from None

    def _begin(self) -> None:
        self.failures: Counter[str] = Counter()
        self.first_failures: dict[str, str] = {}
        self._bot: Bot | None = None
        self._num_failed = 0  # in a row
        self._is_proven = False
        self._open_error: BotError | None = None  # a failure that no view has paid for yet

    def __getstate__(self) -> dict[str, Any]:
        """Returns the settings; processes and failures stay."""
        names = ("name", "command", "limit", "start_limit", "batch", "restarts")
        return {name: getattr(self, name) for name in (*names, "_words", "_batches")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes the settings; the original has seen that the program starts."""
        self.__dict__.update(state)
        self._begin()
        self._is_proven = True

    @property
    def is_abandoned(self) -> bool:
        """Whether it has failed too often in a row to be asked again."""
        return self._num_failed > self.restarts

    def check_rules(self, rules: Rules) -> None:
        """Asks the bot whether it plays by these rules; see `Agent.check_rules`.

        Raises:
            AgentError: It does not, or fails before it has ever answered a view.
        """
        if self.is_abandoned or self._open_error is not None:
            return
        try:
            bot = self._bot_for(rules)
        except BotError as error:
            if not self._is_proven:
                raise self._refused(error) from None
            self._open_error = error
        else:
            self._check_accepted(bot)

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view, or FORFEIT; see `Agent.act`.

        Raises:
            AgentError: The bot does not play by the rules.
        """
        actions = np.full(len(views), FORFEIT, np.int64)
        place = 0
        while place < len(views):
            if self.is_abandoned:
                what = f"failed {self._num_failed} times in a row and is not asked again"
                self._forfeit(ABANDONED, what, len(views) - place)
                break
            chunk = [views[i] for i in range(place, min(place + self._size(), len(views)))]
            actions[place : place + len(chunk)] = self._answers(chunk, views.rules)
            place += len(chunk)
        return actions

    def games_ended(self, games: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        """Tells the bot; see `Agent.games_ended`."""
        if self._bot is None or not self._bot.is_usable:
            return
        try:
            self._bot.games_ended(games, scores, self.limit)
        except BotError as error:
            # Were it started anew in silence, results would depend on when its death is noticed.
            self._open_error = error

    def close(self) -> None:
        """Ends the program; it is started again when next asked."""
        self._open_error = None  # Whether its death was noticed before must not matter.
        if self._bot is not None:
            self._bot.close()
            self._bot = None

    def _size(self) -> int:
        """Returns how many views the next message may have."""
        return self.batch if self._batches else 1

    def _answers(self, views: Sequence[View], rules: Rules) -> list[int]:
        try:
            if self._open_error is not None:
                raise self._open_error
            bot = self._bot_for(rules)
            self._check_accepted(bot)
            answers = bot.act(views, self.limit * len(views))
        except BotError as error:
            self._open_error = None
            self._num_failed += 1
            self._forfeit(error.reason, f"{error}, when asked about {_where(views[0])}", len(views))
            return [FORFEIT] * len(views)
        self._is_proven = True
        self._num_failed = 0
        return [self._action(answer, view) for answer, view in zip(answers, views, strict=True)]

    def _action(self, answer: Any, view: View) -> int:
        try:
            return read_action(answer, view)
        except IllegalActionError as error:
            self._forfeit(ILLEGAL, f"chose what is illegal in {_where(view)} ({view}): {error}")
            return FORFEIT

    def _forfeit(self, reason: str, what: str, num_views: int = 1) -> None:
        self.failures[reason] += num_views
        self.first_failures.setdefault(
            reason, f"The external bot {self.command!r} {what.rstrip('.')}."
        )

    def _bot_for(self, rules: Rules) -> Bot:
        """Returns the bot, running and told the rules."""
        if self._bot is None or not self._bot.is_usable:
            self._bot = Bot(self._words, rules, self.start_limit)
            self._batches = self._bot.batches
        elif self._bot.rules != rules:
            self._bot.change_rules(rules, self.start_limit)
        return self._bot

    def _check_accepted(self, bot: Bot) -> None:
        if bot.refusal:
            raise AgentError(
                f"The external bot {self.command!r} does not play by the rules"
                f" {bot.rules.name!r}: {bot.refusal.rstrip('.')}; choose other rules."
            )

    def _refused(self, error: BotError) -> AgentError:
        mend = error.mend or _MENDS[error.reason]
        return AgentError(f"The external bot {self.command!r} {error}; {mend}.")


def parse_external(spec: str) -> ExternalAgent:
    """Returns the agent of a spec: `external:COMMAND`, or with options `external[NAME=VALUE]:...`.

    The options come before the command, in brackets and separated by commas, so that the command
    may hold colons and commas: `"external[limit=2,batch=1]:node bot.js --level 3"`.

    Raises:
        AgentError: The spec is of another form, or the agent cannot be made.
    """
    found = _SPEC.fullmatch(spec.strip())
    if found is None:
        raise AgentError(
            f"The agent {spec!r} is not external:COMMAND or external[NAME=VALUE,...]:COMMAND."
        )
    options: dict[str, Any] = {}
    for item in filter(None, (found[1] or "").split(",")):
        name, _, value = (part.strip() for part in item.partition("="))
        if name not in _OPTIONS or name in options:
            raise AgentError(
                f"The option {item!r} of agent {spec!r} is unknown or given twice; the options are"
                f" {', '.join(_OPTIONS)}."
            )
        try:
            options[name] = _OPTIONS[name](value)
        except ValueError:
            raise AgentError(
                f"The option {item!r} of agent {spec!r} needs a number, such as {name}=1."
            ) from None
    agent = ExternalAgent(found[2], **options)
    agent.name = spec.strip()
    return agent


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(
            f"The command {command!r} of an external bot cannot be split into words: {error};"
            " close its quotes."
        ) from None
    if not words:
        raise AgentError("An external bot has no command; write external:COMMAND.")
    return words


def _in_range(name: str, value: object, low: float, high: float) -> float:
    """Returns an option's value; where the least is a whole number, all are."""
    allowed = (int,) if isinstance(low, int) else (int, float)
    if isinstance(value, allowed) and not isinstance(value, bool) and low <= value <= high:
        return value
    kind = "a whole number" if isinstance(low, int) else "a number"
    raise AgentError(
        f"The option {name} of an external bot is {value!r}; it must be {kind} from {low:g} to"
        f" {high:g}."
    )


def _where(view: View) -> str:
    return f"game {view.game}, deal {view.deal}, decision {view.decision}"
