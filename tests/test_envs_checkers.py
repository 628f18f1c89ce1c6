"""The checkers of Gymnasium, Stable-Baselines3 and PettingZoo, with their default arguments."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)
from stable_baselines3.common.env_checker import check_env as check_sb3_env

import cribai.envs.pettingzoo as table
import cribai.envs.table_env
from env_play import OBSERVATIONS, TWO_PLAYERS
from plain_presets import PLAIN

pytestmark = pytest.mark.slow

IDS = ("cribai/Cribbage-v0", "cribai/Discard-v0", "cribai/Pegging-v0")

all_observations = pytest.mark.parametrize("observation", OBSERVATIONS)
all_presets = pytest.mark.parametrize("rules", PLAIN)


class NoWindow:
    """Stands for the window, which needs a screen."""

    def show(self, frame: NDArray[Any]) -> None:
        assert frame.shape == (640, 960, 3)

    def close(self) -> None:
        pass


@pytest.fixture
def without_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cribai.envs.table_env, "Window", NoWindow)
    monkeypatch.setattr(table, "Window", NoWindow)


@pytest.mark.usefixtures("without_screen")
@pytest.mark.filterwarnings("ignore:Your observation plays has an unconventional shape:UserWarning")
@pytest.mark.parametrize("name", IDS)
@all_observations
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_gymnasium_and_stable_baselines_find_no_fault(
    name: str, observation: str, rules: str
) -> None:
    env = gymnasium.make(name, rules=rules, observation=observation)
    check_env(env.unwrapped)
    check_sb3_env(gymnasium.make(name, rules=rules, observation=observation))


def test_checkers_find_a_fault_when_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gymnasium.make("cribai/Cribbage-v0", observation="flat").unwrapped
    monkeypatch.setattr(env.encoding, "encode_one", lambda _: env.observation_space.sample() + 2)
    with pytest.raises(AssertionError):
        check_env(env, skip_render_check=True)


@all_presets
@all_observations
# PettingZoo would rather have plain arrays, but recommends dicts for action masks.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably:UserWarning")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
def test_pettingzoo_finds_no_fault(rules: str, observation: str) -> None:
    make: Callable[..., Any] = partial(table.env, rules=rules, observation=observation)
    api_test(make(), num_cycles=200)
    seed_test(make, num_cycles=50)
    make_parallel: Callable[..., Any] = partial(
        table.parallel_env, rules=rules, observation=observation
    )
    parallel_api_test(make_parallel(), num_cycles=200)
    parallel_seed_test(make_parallel, num_cycles=50)


@pytest.mark.usefixtures("without_screen")
@all_presets
def test_pettingzoo_renders_every_mode(rules: str) -> None:
    render_test(partial(table.env, rules=rules))
