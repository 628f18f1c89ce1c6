"""Checks for the tests of anyone's agent or engine.

`check_agent("my_package.my_module:MyAgent")`: whether an agent keeps the contract that tournaments
and environments rely on. `check_rules(adapter)`: whether an engine plays by the rules of cribbage.
"""

import pickle
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, ask, make_agent
from cribai.conformance import EngineAdapter, check_rules
from cribai.errors import AgentError, IllegalActionError
from cribai.game_batch import GameBatch
from cribai.rules import Rules, get_rules
from cribai.views import ViewBatch

__all__ = ["EngineAdapter", "check_agent", "check_rules"]

_PARTS: Final = (1, 8)  # where batches are cut to see whether the answers depend on it
_NUM_EXPLAINED: Final = 20

_Answers = list[tuple[ViewBatch, NDArray[np.int64]]]


def check_agent(
    agent: str | Agent, *, rules: str | Rules = "standard", games: int = 20, seed: int = 1
) -> None:
    """Lets an agent play all seats of some games and checks whatever it answers.

    Its actions must be legal, also when only one is, and come as an integer array with one entry
    for each view, which is left as it was. A copy made by pickling must answer the same, whether
    the views come together, in parts or in another order: chance has to be drawn from each view's
    random key. What it explains must be legal actions, best first.

    Args:
        agent: An agent, or the spec of one; one without a name gets that of its class.
        rules: The rules to play by.
        games: How many games, played in lockstep.
        seed: Seed of the deals.

    Raises:
        AgentError: The agent breaks the contract; the message says where.
    """
    if isinstance(agent, str):
        agent = make_agent(agent)
    if not isinstance(agent, Agent):
        raise AgentError(f"{agent!r} is no agent; subclass cribai.Agent, or give an agent's spec.")
    agent.name = name = agent.name or type(agent).__name__
    try:
        pickled = pickle.dumps(agent)
        twins: list[Agent] = [pickle.loads(pickled) for _ in range(2)]  # noqa: S301
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AgentError(
            f"The agent {name!r} cannot be copied by pickling: {error};"
            " keep only data in it, and define its class in a module."
        ) from error
    agent.check_rules(get_rules(rules))
    answers = _play(agent, name, get_rules(rules), games, seed)
    for views, actions in answers:
        _compare(name, views, actions, _answer(twins[0], name, views), "a copy by pickling answers")
        parts = np.split(np.arange(len(views))[::-1], _PARTS)
        again = np.full(len(views), -1, np.int64)
        for part in filter(len, parts):
            again[part] = _answer(twins[1], name, ViewBatch(views.array[part], views.rules))
        _compare(name, views, actions, again, "batched otherwise it answers")
    _check_explanations(agent, name, answers)


def _play(agent: Agent, name: str, rules: Rules, games: int, seed: int) -> _Answers:
    """Plays games to their end and returns what the agent was asked and what it answered."""
    batch = GameBatch.start(games, rules, seed=seed)
    answers = []
    while not batch.over.all():
        views = batch.views()
        actions = _answer(agent, name, views)
        batch.step(actions)
        answers.append((views, actions))
    sides = [rules.side_of(player) for player in range(rules.num_players)]
    agent.games_ended(batch.games, batch.scores[:, sides])
    return answers


def _answer(agent: Agent, name: str, views: ViewBatch) -> NDArray[np.int64]:
    """Returns an agent's actions, checked."""
    before = views.array.tobytes()
    try:
        actions = ask(agent, views)
    except IllegalActionError as error:
        raise AgentError(f"The agent {name!r} chose what is illegal: {error}") from error
    if views.array.tobytes() != before:
        raise AgentError(f"The agent {name!r} changed the views it was given; let it copy them.")
    masks = views.action_masks()
    in_range = (actions >= 0) & (actions < masks.shape[1])
    legal = in_range & (masks[np.arange(len(views)), np.where(in_range, actions, 0)] == 1)
    if not legal.all():
        place = int(legal.argmin())
        raise AgentError(
            f"The agent {name!r} answered {actions[place]} where only"
            f" {views[place].legal_actions} are legal ({views[place]})."
        )
    return actions


def _compare(
    name: str, views: ViewBatch, actions: NDArray[Any], others: NDArray[Any], how: str
) -> None:
    if (actions != others).any():
        place = int((actions != others).argmax())
        raise AgentError(
            f"The agent {name!r} answered {actions[place]} and {how} {others[place]}"
            f" ({views[place]}); draw chance from the view's key, and treat each view alone."
        )


def _check_explanations(agent: Agent, name: str, answers: _Answers) -> None:
    for views, _ in answers[:_NUM_EXPLAINED]:
        view = views[0]
        ranked = agent.explain(view)
        actions = [entry.action for entry in ranked]
        values = [entry.value for entry in ranked]
        if not set(actions) <= set(view.legal_actions) or len(set(actions)) < len(actions):
            raise AgentError(
                f"The agent {name!r} explains the actions {actions} where {view.legal_actions}"
                " are legal; rank legal actions, each once."
            )
        if values != sorted(values, reverse=True):
            raise AgentError(f"The agent {name!r} ranks by {values}, which is not best first.")
