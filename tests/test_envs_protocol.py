"""The rest of the environments' interface: words for actions, opponents, options, arguments."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import (
    Agent,
    AgentError,
    CardError,
    CribaiError,
    Game,
    IllegalActionError,
    RulesError,
    ViewBatch,
)
from cribai.cards import NO_CARD
from cribai.envs.cribbage import CribbageEnv
from cribai.envs.pettingzoo import raw_env
from cribai.envs.single_deal import DiscardEnv, PeggingEnv
from cribai.envs.vector import CribbageVectorEnv
from cribai.errors import ConfigError
from env_play import TWO_PLAYERS, Cunning, assert_same, choose, play_episode

ENVS = (CribbageEnv, DiscardEnv, PeggingEnv)

all_envs = pytest.mark.parametrize("make", ENVS)


# ----------------------------------------------------------------------------------------- words


@all_envs
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_actions_are_told_and_read_in_words(make: Any, rules: str) -> None:
    env = make(rules)
    chance = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    ended = False
    while not ended:
        texts = set()
        for action in range(env.rules.num_actions):
            if not info["action_mask"][action]:
                with pytest.raises(IllegalActionError, match=f"Action {action} is illegal; the le"):
                    env.action_to_text(action)
                continue
            text = env.action_to_text(action)
            assert text.split()[0] == ("toss" if env.view().is_discard else "lay")
            assert env.text_to_action(text) == action
            assert env.text_to_action(f"  {text.upper()} ") == action
            texts.add(text)
        assert len(texts) == info["action_mask"].sum()
        _, _, ended, _, info = env.step(choose(info["action_mask"], chance))
    with pytest.raises(IllegalActionError, match="Action 0 is illegal"):
        env.action_to_text(0)
    with pytest.raises(IllegalActionError, match="is no action now"):
        env.text_to_action("lay 5H")


def test_words_for_a_known_hand() -> None:
    env = CribbageEnv(seats="first")
    env.reset(seed=7)
    hand = str(env.view()).split("hand ")[1].split()
    assert env.view().kept == Game(seed=7).hands[0]
    assert env.action_to_text(0) == f"toss {hand[0]} {hand[1]}"
    assert env.text_to_action(f"toss {hand[5]} {hand[4]}") == 14


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", IllegalActionError, "'' is no action now; write 'toss 5H JS'"),
        ("lay 5H", IllegalActionError, "'lay 5H' is no action now"),
        ("fold", IllegalActionError, "'fold' is no action now"),
        ("toss", IllegalActionError, "Cannot toss nothing from"),
        ("toss five", CardError, "five"),
        ("toss 5H", IllegalActionError, "Cannot toss 5H from"),
    ],
)
def test_wrong_words_are_refused(text: str, error: type[CribaiError], message: str) -> None:
    env = CribbageEnv()
    env.reset(seed=1)
    with pytest.raises(error, match=message):
        env.text_to_action(text)


@pytest.mark.parametrize("action", [1.0, "0", None, [0], np.array([0])])
def test_actions_that_are_no_integers_are_refused(action: Any) -> None:
    env = CribbageEnv()
    env.reset(seed=1)
    for use in (env.step, env.action_to_text):
        with pytest.raises(IllegalActionError, match="is no integer"):
            use(action)
    twin = env.clone()
    for integer in (0, np.int64(0), np.array(0), np.uint8(0)):
        assert_same(env.clone().step(integer), twin.clone().step(0))


# ----------------------------------------------------------------------------------------- state


@all_envs
@pytest.mark.parametrize("rules", TWO_PLAYERS)
def test_state_is_all_there_is_to_know(make: Any, rules: str) -> None:
    env = make(rules, opponent="random")
    chance = np.random.default_rng(2)
    _, info = env.reset(seed=2)
    ended = False
    while not ended:
        vector = env.state()
        assert env.state_space.contains(vector)
        assert "state" not in info
        assert_state(env.tables.states[0], vector, env.rules.deck_size)
        _, _, ended, _, info = env.step(choose(info["action_mask"], chance))
    assert env.state_space.contains(env.state())


def assert_state(state: Any, vector: NDArray[np.int16], deck: int) -> None:
    """The hidden cards are in it: both hands, both tosses, the starter before it is turned."""
    cards = vector[: 8 * deck].reshape(8, deck)
    laid = state["play_cards"][: state["num_plays"]].tolist()
    dealt = len(laid) + cards[:2].sum() + cards[4:6].sum()
    assert dealt == 2 * (dealt // 2)
    for seat in range(2):
        hand = {card for card in state["hands"][seat].tolist() if card != NO_CARD}
        assert set(np.flatnonzero(cards[seat])) == hand - set(laid)
        tossed = {card for card in state["tosses"][seat].tolist() if card != NO_CARD}
        assert set(np.flatnonzero(cards[4 + seat])) == tossed
        own = [
            card
            for card, player in zip(laid, state["play_players"].tolist(), strict=False)
            if player == seat
        ]
        assert [laid[place - 1] for place in sorted(filter(None, cards[2 + seat].tolist()))] == own
    assert not cards[6].any()
    assert np.flatnonzero(cards[7]).tolist() == [int(state["deck"][dealt])]
    is_turned = state["starter"] != NO_CARD
    numbers = [is_turned, state["count"], state["series_length"], *state["scores"][:2]]
    roles = [seat == state[role] for role in ("dealer", "actor") for seat in range(2)]
    assert vector[8 * deck :].tolist() == [int(number) for number in [*numbers, *roles]]


# ------------------------------------------------------------------------------------- opponents


def drive(env: Any, number: int) -> None:
    chance = np.random.default_rng(3)
    for _ in range(number):
        play_episode(env, None, chance)


@all_envs
def test_an_opponent_with_a_memory_is_told_of_each_game_once(make: Any) -> None:
    opponent = Cunning()
    env = make("short", opponent=opponent)
    for seed in (1, 1, 2):
        env.reset(seed=seed)  # begun and left
        env.step(int(env.action_masks().argmax()))
        env.reset()
        env.step(-1)  # lost by an illegal action
        drive(env, 3)
    env.reset()
    begun = list(dict.fromkeys(opponent.asked))
    assert len(set(opponent.told)) == len(opponent.told)
    assert set(begun) - set(opponent.told) <= {begun[-1]}
    # All fifteen were told of, also where the opponent had not been asked yet.
    assert len(opponent.told) == 15
    assert env.view().game not in opponent.told


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_opponents_of_vectors_are_told_of_each_game_once(mode: str) -> None:
    opponent = Cunning()
    env = CribbageVectorEnv(3, autoreset_mode=mode, rules="short", opponent=opponent)
    finished: list[list[int]] = []
    for seed in (1, 1):
        _, infos = env.reset(seed=seed)
        for _ in range(120):
            learners = env.tables.learners.copy()
            _, _, ended, _, infos = env.step(infos["action_mask"].argmax(axis=1))
            last = infos.get("final_info", infos)
            for row in np.flatnonzero(ended):
                scores = last["scores"][row].tolist()
                finished.append(scores if learners[row] == 0 else scores[::-1])
            if mode == "Disabled" and ended.any():
                _, infos = env.reset(options={"reset_mask": ended})
    assert len(finished) > 10
    assert len(set(opponent.told)) == len(opponent.told)
    # The games under way at the second seeding were left, and are told of too.
    assert len(finished) < len(opponent.told) <= len(finished) + 3
    told = list(map(tuple, opponent.final_scores))
    assert all(told.count(tuple(scores)) >= 1 for scores in finished)
    asked_after = {game for game in opponent.asked if game not in set(opponent.told)}
    assert len(asked_after) <= 3


class Faulty(Agent):
    """Answers with whatever it is made to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        return np.full(len(views), self.answer)


@all_envs
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (-1, "The agent 'Faulty' chose the illegal action -1"),
        (99, "The agent 'Faulty' chose the illegal action 99"),
        (0.5, "answered 1 views with float64"),
    ],
)
def test_opponents_that_break_the_protocol_are_named(make: Any, answer: Any, message: str) -> None:
    env = make(opponent=Faulty(answer))
    with pytest.raises(AgentError, match=message):
        drive(env, 1)


@pytest.mark.parametrize("make", [*ENVS, CribbageVectorEnv])
def test_opponents_are_agents_or_their_specs(make: Any) -> None:
    for opponent, message in (("nobody", "Unknown agent 'nobody'"), (5, "5 is no agent")):
        with pytest.raises(AgentError, match=message):
            make(opponent=opponent)
    assert isinstance(make(opponent="greedy").tables.opponent, Agent)


def test_opponents_that_do_not_play_by_the_rules_are_refused() -> None:
    with pytest.raises(AgentError):
        CribbageEnv("five_card", opponent="expectimax")


# ----------------------------------------------------------------------------- options, arguments


@pytest.mark.parametrize("make", ENVS)
@pytest.mark.parametrize("learner_deals", [True, False])
def test_options_set_scores_and_dealer(make: Any, learner_deals: bool) -> None:
    env = make()
    for _ in range(4):
        env.reset(options={"scores": (50, 7), "learner_deals": learner_deals})
        view = env.view()
        assert view.is_dealer == learner_deals
        heels = 2 * (view.starter is not None and view.starter // 4 == 10)
        assert view.scores == (50 + heels * learner_deals, 7 + heels * (not learner_deals))
    env.reset(seed=1)
    assert sum(env.view().scores) in (0, 2)  # options last for one episode


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": (121, 0)}, r"The option scores is \(121, 0\); give .* each from 0 to 120\."),
        ({"scores": (0, -1)}, "The option scores is"),
        ({"scores": (1,)}, "The option scores is"),
        ({"scores": 5}, "The option scores is 5"),
        ({"scores": (1.5, 2)}, "The option scores is"),
        ({"scores": ("1", "2")}, "The option scores is"),
        ({"learner_deals": "yes"}, "The option learner_deals is 'yes'; give True or False"),
        ({"dealer": 0}, "Unknown option 'dealer' of reset; the options are"),
    ],
)
@pytest.mark.parametrize("make", [*ENVS, CribbageVectorEnv])
def test_bad_options_are_refused_and_change_nothing(make: Any, options: Any, message: str) -> None:
    env = make()
    env.reset(seed=1)
    before = env.tables.states.tobytes()
    with pytest.raises(ConfigError, match=message):
        env.reset(seed=2, options=options)
    assert env.tables.states.tobytes() == before
    first = env.reset()
    again = make()
    again.reset(seed=1)
    assert_same(first, again.reset())


@pytest.mark.parametrize(
    "mask", [[True], [1, 0], np.zeros(2, np.bool_), "all", np.ones((2, 1), np.bool_)]
)
def test_bad_reset_masks_are_refused(mask: Any) -> None:
    env = CribbageVectorEnv(2)
    with pytest.raises(ConfigError, match=r"reset_mask must be a bool array of shape \(2,\)"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3], []])
def test_vectors_take_one_seed_a_row(seeds: list[int]) -> None:
    with pytest.raises(ConfigError, match=f"{len(seeds)} seeds came for 2 rows; give one for each"):
        CribbageVectorEnv(2).reset(seed=seeds)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "bridge"}, "Unknown rules 'bridge'; the presets are standard"),
        ({"rules": "three_player"}, "have 3 players and this environment two; use cribai.envs"),
        ({"seats": "third"}, "Unknown seats 'third'; choose one of alternate, first, second"),
        ({"observation": "pixels"}, "Unknown observation 'pixels'; choose one of dict, flat"),
        ({"illegal_action": "ignore"}, "Unknown illegal_action 'ignore'; choose one of lose, r"),
        ({"render_mode": "video"}, "Unknown render_mode 'video'; choose one of ansi"),
    ],
)
@pytest.mark.parametrize("make", [*ENVS, CribbageVectorEnv])
def test_bad_arguments_are_refused_in_one_sentence(make: Any, options: Any, message: str) -> None:
    with pytest.raises((ConfigError, RulesError), match=message) as caught:
        make(**options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "The num_envs is 0; it must be an integer from 1 to"),
        ({"num_envs": "two"}, "The num_envs is 'two'; it must be an integer"),
        ({"autoreset_mode": "never"}, "Unknown autoreset_mode 'never'; choose one of NextStep"),
        ({"render_mode": "human"}, "Unknown render_mode 'human'; choose one of ansi, rgb_array"),
    ],
)
def test_bad_arguments_of_vectors_are_refused(options: Any, message: str) -> None:
    with pytest.raises((ConfigError, RulesError), match=message):
        CribbageVectorEnv(**options)


def arrays_in(output: Any) -> list[NDArray[Any]]:
    if isinstance(output, dict):
        return [array for value in output.values() for array in arrays_in(value)]
    return [output] if isinstance(output, np.ndarray) else []


@all_envs
@pytest.mark.parametrize("observation", ["dict", "flat", "compact"])
def test_outputs_share_no_memory(make: Any, observation: str) -> None:
    env = make(observation=observation, opponent="random")
    outputs = play_episode(env, 1, np.random.default_rng(4))
    arrays = [array for output in outputs for part in output for array in arrays_in(part)]
    arrays += [env.action_masks(), env.state(), env.view().action_mask]
    own = [env.tables.states, env.tables.episodes, env._views.array]
    for place, array in enumerate(arrays):
        assert not any(np.shares_memory(array, other) for other in (*arrays[:place], *own))


@all_envs
def test_nothing_is_due_before_the_first_reset(make: Any) -> None:
    env = make()
    assert not env.action_masks().any()
    assert not env.view().is_due
    with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
        env.step(0)


def test_ids_make_the_environments() -> None:
    for name, make in zip(("Cribbage", "Discard", "Pegging"), ENVS, strict=True):
        env = gymnasium.make(f"cribai/{name}-v0")
        assert type(env.unwrapped) is make
        assert env.spec is not None
        assert env.spec.max_episode_steps is None


def test_views_of_vectors_are_copies() -> None:
    env = CribbageVectorEnv(2)
    env.reset(seed=1)
    views = env.views
    views.array["hand"] = 0
    assert env.views.array["hand"].any()
    assert [view.is_due for view in env.views] == [True, True]


def test_tables_render_for_their_viewer() -> None:
    texts = set()
    for viewer in range(4):
        env = raw_env("four_player", render_mode="ansi", viewer=viewer)
        env.reset(seed=1)
        texts.add(env.render())
    assert len(texts) == 4
