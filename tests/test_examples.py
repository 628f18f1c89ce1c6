"""The examples run, small, and print what they promise; one really learns."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "experiments" / "examples"
WON = r"v random: [\d.]+% won \(([\d.]+)% to [\d.]+%\), \d+ pairs; trained for \d+ s"


def run(name: str, *words: str) -> str:
    """Runs an example in a process to itself, and returns what it printed."""
    finished = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(autouse=True)
def examples_are_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def low_end(output: str) -> float:
    """Returns the lower end of the interval of the part of games won."""
    found = re.search(WON, output)
    assert found, output
    return float(found[1]) / 100


def test_each_example_is_in_the_table() -> None:
    text = (EXAMPLES / "README.md").read_text()
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == set(re.findall(r"\[(\w+\.py)\]\(\1\)", text))


def test_random_loop() -> None:
    output = run("random_loop", "--steps", "2000", "--num-envs", "8")
    assert re.fullmatch(
        r"one game: \d+ games, [\d.]+% won, \d+ decisions/s\n"
        r"8 games in lockstep: \d+ games, [\d.]+% won, \d+ decisions/s\n",
        output,
    )


@pytest.mark.slow
@pytest.mark.parametrize("observation", ["compact", "flat"])
def test_ppo_vector(observation: str) -> None:
    low_end(run("ppo_vector", "--timesteps", "1", "--pairs", "20", "--observation", observation))


@pytest.mark.slow
@pytest.mark.parametrize("observation", ["flat", "dict", "compact"])
def test_maskable_ppo(observation: str) -> None:
    pytest.importorskip("sb3_contrib")
    low_end(run("maskable_ppo", "--timesteps", "1", "--pairs", "20", "--observation", observation))


@pytest.mark.slow
@pytest.mark.parametrize("observation", ["compact", "flat"])
def test_torchrl_ppo(observation: str) -> None:
    pytest.importorskip("torchrl")
    low_end(run("torchrl_ppo", "--timesteps", "1", "--pairs", "20", "--observation", observation))


@pytest.mark.slow
def test_rllib_wrapper() -> None:
    assert re.fullmatch(
        r"600 random legal steps, \d+ games ended\n", run("rllib_wrapper", "--steps", "600")
    )


@pytest.mark.slow
def test_rllib_trains() -> None:
    pytest.importorskip("ray.rllib")
    low_end(run("rllib_wrapper", "--iterations", "1", "--pairs", "20"))


def test_open_spiel_adapter() -> None:
    pytest.importorskip("pyspiel")
    output = run("open_spiel_adapter", "--deals", "2", "--simulations", "3")
    assert re.match(r"IS-MCTS v random: [+-][\d.]+ points a deal", output)


@pytest.mark.slow
def test_ppo_vector_learns_to_beat_random() -> None:
    assert low_end(run("ppo_vector", "--seed", "1", "--timesteps", "200000")) > 0.5


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize("observation", ["flat", "compact"])
def test_rllib_wrapper_is_an_environment(observation: str) -> None:
    from gymnasium.utils.env_checker import check_env

    env = import_module("rllib_wrapper").make_env({"observation": observation})
    assert set(env.observation_space.spaces) == {"action_mask", "observations"}
    check_env(env, skip_render_check=True)


def test_rllib_wrapper_masks_as_the_environment_does() -> None:
    env = import_module("rllib_wrapper").make_env({"observation": "flat"})
    found, info = env.reset(seed=3)
    ended = False
    while not ended:
        assert found["action_mask"].tolist() == info["action_mask"].tolist()
        action = int(np.flatnonzero(info["action_mask"])[-1])
        found, _, ended, _, info = env.step(action)
    assert not found["action_mask"].any()


def test_open_spiel_plays_the_deal_by_our_rules() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    import_module("open_spiel_adapter")
    game = pyspiel.load_game("cribai_deal", {"seed": 3, "deals": 2})
    pyspiel.random_sim_test(game, 2, False, False)


def test_open_spiel_resampling_keeps_what_the_player_knows_and_changes_the_rest() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    import_module("open_spiel_adapter")
    rng = np.random.default_rng(5)
    game = pyspiel.load_game("cribai_deal", {"seed": 5, "deals": 4})
    for deal in range(4):
        state = game.new_initial_state()
        state.apply_action(deal)
        while not state.is_terminal():
            player = state.current_player()
            twins = [state.resample_from_infostate(player, rng.random) for _ in range(5)]
            known = state.information_state_string(player)
            assert {twin.information_state_string(player) for twin in twins} == {known}
            assert all(twin.legal_actions() == state.legal_actions() for twin in twins)
            hidden = {twin.information_state_string(1 - player) for twin in twins}
            assert len(hidden) > 1
            state.apply_action(int(rng.choice(state.legal_actions())))
