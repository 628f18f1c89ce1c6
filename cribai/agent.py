"""Agents: the protocol that tournaments, environments and training drive, and how they are found.

An agent answers a batch of views with a batch of actions. It sees views only, never states. Chance
is drawn from each view's random key, so that results do not depend on how decisions are batched.
"""

import importlib
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from cribai.errors import AgentError, CribaiError
from cribai.rules import Rules
from cribai.views import View, ViewBatch

ENTRY_POINT_GROUP = "cribai.agents"
FAMILY_GROUP = "cribai.agent_families"
"""Entry points that read whole specs, for agents whose options are written otherwise."""

FORFEIT = -1
"""In place of an action: the game is given up."""


@dataclass(frozen=True, slots=True)
class RankedAction:
    """An action with what an agent thinks of it.

    Attributes:
        action: The action.
        value: What the agent maximises, in its own units.
        parts: The value's parts, or other figures, by name.
    """

    action: int
    value: float
    parts: dict[str, float] = field(default_factory=dict)


class Agent(ABC):
    """A player of cribbage: from views to actions.

    Attributes:
        name: What reports call the agent; `make_agent` sets it to the spec.
        may_forfeit: Whether `act` may answer FORFEIT, as an agent does that asks a program which
            can fail; only tournaments take such agents.
    """

    name: str = ""
    may_forfeit: bool = False

    @abstractmethod
    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns a legal action for each view.

        Args:
            views: The decisions, in any number and order, of any games.

        Returns:
            int64 array (len(views),).
        """

    def check_rules(self, rules: Rules) -> None:  # noqa: B027 -- most agents play by any rules
        """Refuses rules that the agent does not play by; tournaments ask before they begin.

        Raises:
            AgentError: The agent does not play by these rules.
        """

    def explain(self, view: View) -> list[RankedAction]:  # noqa: ARG002
        """Returns the legal actions with their values, best first; none when it has no values."""
        return []

    def games_ended(  # noqa: B027 -- to be overridden where there is a memory
        self, games: NDArray[np.int64], scores: NDArray[np.int64]
    ) -> None:
        """Told when games end; an agent with a memory may drop them.

        Args:
            games: int64 array (n,), the games' numbers as in the views.
            scores: int64 array (n, players), the final scores of each seat's side.
        """


class SimpleAgent(Agent):
    """An agent that thinks about one readable view at a time: write two methods and it plays."""

    @abstractmethod
    def choose_discard(self, view: View) -> Sequence[int]:
        """Returns the cards of `view.hand` to toss."""

    @abstractmethod
    def choose_play(self, view: View) -> int:
        """Returns the card of `view.legal_cards` to lay."""

    def choose_otherwise(self, view: View) -> int:
        """Returns the action of a decision that only variants have.

        By default nothing is thrown away or bid, the lowest card is given, and counts are true.
        """
        if view.is_announcement:
            return view.action_of_number(view.shown_worth)
        if view.is_claim:
            return view.action_of_number(view.shown_worth - view.announced)
        return view.legal_actions[0]

    @final
    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Asks for each view in turn; see `Agent.act`."""
        actions = np.empty(len(views), np.int64)
        for index, view in enumerate(views):
            if view.is_discard:
                actions[index] = view.action_of(*self.choose_discard(view))
            elif view.is_play:
                actions[index] = view.action_of(self.choose_play(view))
            else:
                actions[index] = self.choose_otherwise(view)
        return actions


def agent_entry_points() -> dict[str, EntryPoint]:
    """Returns the installed agents' entry points by spec name, sorted."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    return dict(sorted(found.items()))


def make_agent(spec: str) -> Agent:
    """Returns a new agent from its spec.

    A spec is an installed agent's name or `module:Class`, then options: `"greedy"`,
    `"expectimax:objective=win,samples=20"`, `"my_module:MyAgent:depth=2"`. An option's value is
    read as a number or true or false where it is one, and as text otherwise; commas separate
    options. A spec that begins with `external` names a program, see `cribai.tournament.external`.

    Raises:
        AgentError: The spec names no agent, or the agent does not take its options.
    """
    family = re.match(r"\w*", spec.strip())[0]  # type: ignore[index]
    for point in entry_points(group=FAMILY_GROUP, name=family):
        return point.load()(spec.strip())  # type: ignore[no-any-return]
    name, *rest = spec.strip().split(":")
    points = agent_entry_points()
    if name in points:
        factory = _load(spec, points[name].load)
    elif rest and "=" not in rest[0]:
        class_name = rest.pop(0)
        factory = _load(spec, lambda: getattr(importlib.import_module(name), class_name))
    else:
        raise AgentError(
            f"Unknown agent {name!r}; installed are {', '.join(points) or 'none'},"
            " or write module:Class."
        )
    options = _parse_options(spec, ":".join(rest))
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        raise AgentError(f"The agent {spec!r} cannot be made: {error}; mend its options.") from None
    try:
        agent = factory(**options)
    except CribaiError:
        raise
    except (TypeError, ValueError, OSError) as error:
        raise AgentError(f"The agent {spec!r} cannot be made: {error}.") from error
    if not isinstance(agent, Agent):
        raise AgentError(
            f"{spec!r} makes a {type(agent).__name__}, which is no cribai Agent;"
            " subclass cribai.Agent."
        )
    agent.name = spec.strip()
    return agent


def _load(spec: str, load: Callable[[], Any]) -> Callable[..., Any]:
    try:
        factory = load()
    except (ImportError, AttributeError) as error:
        raise AgentError(f"The agent {spec!r} cannot be loaded: {error}.") from error
    if not callable(factory):
        raise AgentError(f"The agent {spec!r} names something that makes no agent; name a class.")
    return factory  # type: ignore[no-any-return]


def _parse_options(spec: str, text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key.strip().isidentifier() or key.strip() in options:
            raise AgentError(
                f"The option {item!r} of agent {spec!r} is not name=value, each name once."
            )
        options[key.strip()] = _parse_value(value.strip())
    return options


def _parse_value(text: str) -> int | float | bool | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def ask(agent: Agent, views: ViewBatch) -> NDArray[np.int64]:
    """Returns an agent's actions for a batch, checked for shape and type but not for legality.

    Raises:
        AgentError: The answer is not one integer for each view.
    """
    actions = np.asarray(agent.act(views))
    if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
        raise AgentError(
            f"The agent {agent.name!r} answered {len(views)} views with {actions.dtype} of shape"
            f" {actions.shape}; return an integer array of shape ({len(views)},)."
        )
    return actions.astype(np.int64, copy=False)
