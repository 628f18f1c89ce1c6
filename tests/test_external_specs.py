"""Specs of foreign bots, and their options."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from cribai import AgentError
from cribai.tournament.external import ExternalAgent, parse_external
from external_bots import command_of_bot, foreign, make_bots, nothing_is_left, some_views  # noqa: F401

pytestmark = foreign


def test_a_spec(command: Callable[..., str]) -> None:
    for options in ("", "[]", "[limit=2,batch=1]", "[ start_limit = 4.5 , restarts=0 ]"):
        spec = f"external{options}:{command('a:b,c=d')}"
        with closing(parse_external(f" {spec} ")) as agent:
            assert agent.name == spec
            assert agent.act(some_views(2)).tolist() == [0, 0]
            if "limit" in options and "start" not in options:
                assert (agent.limit, agent.batch) == (2, 1)
            if "start" in options:
                assert (agent.start_limit, agent.restarts) == (4.5, 0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("external", "is not external:COMMAND"),
        ("external[limit=2]", "is not external:COMMAND"),
        ("externals:true", "is not external:COMMAND"),
        ("external:", "no command; write external:COMMAND"),
        ("external[speed=2]:true", "'speed=2' .* is unknown or given twice; the options are limit"),
        ("external[limit=1,limit=2]:true", "'limit=2' .* given twice"),
        ("external[limit]:true", "'limit' .* needs a number, such as limit=1"),
        ("external[batch=1.5]:true", "'batch=1.5' .* needs a number"),
        ("external[batch=0]:true", "batch .* is 0; it must be a whole number from 1 to 512"),
        ("external[limit=nan]:true", "limit .* is nan; it must be a number from 0.001 to 3600"),
        ("external[restarts=-1]:true", "restarts .* is -1; it must be"),
    ],
)
def test_specs_that_do_not_fit(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        parse_external(spec)


@pytest.mark.parametrize(
    ("option", "value"), [("limit", "2"), ("batch", True), ("batch", 2.0), ("start_limit", None)]
)
def test_options_that_do_not_fit(option: str, value: Any) -> None:
    with pytest.raises(AgentError, match=f"option {option} of an external bot is {value!r}"):
        ExternalAgent("true", **{option: value})
