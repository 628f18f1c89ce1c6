"""Matches: any batch and any parts give the same games, seats are mirrored, offenders are named."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import PRESETS, Agent, AgentError, Game, Rules, RulesError, View, ViewBatch, make_agent
from cribai.agent import SimpleAgent
from cribai.engine.simulate import RESULT
from cribai.tournament.match import play_pairs, seatings
from cribai.tournament.stats import Stats
from plain_presets import PLAIN

ALL_RULES = [
    *PLAIN.values(),
    Rules(name="four alone", num_players=4, cards_dealt=5, cards_tossed=1),
]
all_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
SHORT_MATCH = replace(PRESETS["short"], name="brief", target=11, skunk_line=5)


def play(a: str, b: str, rules: Rules, **keywords: Any) -> NDArray[Any]:
    return play_pairs(make_agent(a), make_agent(b), rules, **{"seed": 3, **keywords})


class Keeper(Agent):
    """Plays at random, and keeps what it is shown and told."""

    name = "keeper"

    def __init__(self) -> None:
        self.player = make_agent("random")
        self.hands: dict[tuple[int, int, int], tuple[bytes, int]] = {}
        self.ended: dict[int, tuple[int, ...]] = {}

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        for view in views:
            if view.is_discard:
                dealer = (view.player + view.dealer) % view.rules.num_players
                hand = view.record["hand"].tobytes()
                self.hands[view.game, view.deal, view.player] = hand, dealer
        return self.player.act(views)

    def games_ended(self, games: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        for game, row in zip(games.tolist(), scores.tolist(), strict=True):
            assert game not in self.ended
            self.ended[game] = tuple(row)


class Scripted(Agent):
    """Returns whatever a function makes of the random agent's actions."""

    def __init__(self, change: Any) -> None:
        self.player = make_agent("random")
        self.change = change

    def act(self, views: ViewBatch) -> Any:
        return self.change(views, self.player.act(views))


@all_rules
def test_batch_size_is_irrelevant(rules: Rules) -> None:
    results = play("random", "greedy", rules, num_pairs=25)
    assert results.dtype == RESULT
    assert results["pair"].tolist() == [pair for pair in range(25) for _ in range(2)]
    assert results["game"].tolist() == [0, 1] * 25
    for batch_size in (1, 7, 4096):
        again = play("random", "greedy", rules, num_pairs=25, batch_size=batch_size)
        assert again.tobytes() == results.tobytes()


@all_rules
def test_parts_join(rules: Rules) -> None:
    whole = play("greedy", "random", rules, num_pairs=100)
    parts = [
        play("greedy", "random", rules, num_pairs=37, batch_size=10),
        play("greedy", "random", rules, first_pair=37, num_pairs=63),
        play("greedy", "random", rules, first_pair=100, num_pairs=0),
    ]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.kernels
@pytest.mark.parametrize(
    "rules",
    [
        SHORT_MATCH,
        replace(PRESETS["three_player"], target=21, skunk_line=None, double_skunk_line=None),
    ],
    ids=["two", "three"],
)
def test_results_are_those_of_single_games(rules: Rules) -> None:
    check_against_single_games(rules, num_pairs=2)


@all_rules
def test_results_are_those_of_single_games_of_presets(rules: Rules) -> None:
    check_against_single_games(rules, num_pairs=6)


def check_against_single_games(rules: Rules, num_pairs: int) -> None:
    agents = make_agent("greedy"), make_agent("random")
    results = play_pairs(*agents, rules, seed=8, num_pairs=num_pairs, batch_size=3)
    for result in results:
        pair, number = int(result["pair"]), int(result["game"])
        game = Game(rules, seed=8, pair=pair, game=number)
        lone = 0 if rules.num_sides == 2 else pair % rules.num_sides
        sides = [0 if (side == lone) == (number == 0) else 1 for side in range(rules.num_sides)]
        points, times = np.zeros((2, 2, 6), np.int64)
        while not game.is_over:
            view = game.view()
            agent = agents[sides[rules.side_of(view.player)]]
            game.push(int(agent.act(ViewBatch(np.array([view.record]), rules))[0]))
        for seat in range(rules.num_players):
            points[sides[rules.side_of(seat)]] += game._state["points"][seat]
            times[sides[rules.side_of(seat)]] += game._state["times"][seat]
        outcome = game.outcome()
        assert outcome is not None
        best = [
            max(score for side, score in enumerate(outcome.scores) if sides[side] == agent)
            for agent in (0, 1)
        ]
        assert result["scores"].tolist() == best
        assert result["winner"] == sides[outcome.winner]
        assert result["skunk"] == rules.skunk_level(min(best))
        assert result["first_dealer"] == sides[rules.side_of(game.first_dealer)]
        assert result["first_dealer_won"] == (outcome.winner == rules.side_of(game.first_dealer))
        assert result["num_deals"] == game.deal_number + 1
        assert (result["points"] == points).all()
        assert (result["times"] == times).all()


@all_rules
def test_pairs_have_the_same_deals(rules: Rules) -> None:
    a, b = Keeper(), Keeper()
    play_pairs(a, b, rules, seed=5, num_pairs=20)
    assert not a.hands.keys() & b.hands.keys()
    hands = a.hands | b.hands
    twins = [key for key in hands if key[0] % 2 == 0 and (key[0] + 1, *key[1:]) in hands]
    assert {key[0] for key in twins} == set(range(0, 40, 2))
    for game, deal, player in twins:
        assert hands[game, deal, player] == hands[game + 1, deal, player]
    # Nobody has a seat in both games of a pair, unless the sides are uneven.
    if rules.num_sides == 2:
        assert not any((game ^ 1, deal, player) in a.hands for game, deal, player in a.hands)


@all_rules
def test_identical_players_tie_every_pair(rules: Rules) -> None:
    results = play("greedy", "greedy", rules, num_pairs=200)
    assert (results["winner"].reshape(-1, 2).sum(axis=1) == 1).all()
    stats = Stats.from_results(results)
    assert stats.win_rate == 0.5
    assert stats.margin_per_game == 0
    assert tuple(stats.margin_interval) == (0, 0)
    assert stats.flipped() == stats


def test_equal_chances_with_uneven_sides() -> None:
    stats = Stats.from_results(play("random", "random", PRESETS["three_player"], num_pairs=4000))
    low, high = stats.win_rate_interval
    assert low < 0.5 < high
    assert high - low < 0.04


def test_seatings() -> None:
    assert seatings(PRESETS["standard"])[:, :, :2].tolist() == [[[0, 1], [1, 0]]]
    assert seatings(PRESETS["four_player"]).tolist() == [[[0, 1, 0, 1], [1, 0, 1, 0]]]
    three = seatings(PRESETS["three_player"])[:, :, :3].tolist()
    assert three == [[[0, 1, 1], [1, 0, 0]], [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 0, 1]]]


@all_rules
def test_agents_are_told_of_each_end_once(rules: Rules) -> None:
    a, b = Keeper(), Keeper()
    results = play_pairs(a, b, rules, seed=1, first_pair=4, num_pairs=20, batch_size=9)
    assert a.ended == b.ended
    assert sorted(a.ended) == list(range(8, 48))
    for scores, result in zip((a.ended[game] for game in range(8, 48)), results, strict=True):
        assert len(scores) == rules.num_players
        assert max(scores) == max(result["scores"]) == rules.target


def test_an_agent_may_play_itself() -> None:
    keeper = Keeper()
    play_pairs(keeper, keeper, SHORT_MATCH, seed=1, num_pairs=5)
    assert len(keeper.ended) == 10


def test_progress_counts_games() -> None:
    ended: list[int] = []
    play("random", "random", SHORT_MATCH, num_pairs=30, batch_size=4, progress=ended.append)
    assert sum(ended) == 60
    assert len(ended) > 10


def test_seeds_matter() -> None:
    first, second = (play("random", "random", SHORT_MATCH, num_pairs=9, seed=s) for s in (1, 2))
    assert first.tobytes() != second.tobytes()


@pytest.mark.parametrize("wrong", [-1, 19, 99])
@pytest.mark.parametrize("batch_size", [1, 64])
def test_illegal_actions_are_named(wrong: int, batch_size: int) -> None:
    def spoil(views: ViewBatch, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        game, deal = views.array["game"], views.array["deal"]
        return np.where((game == 2 * 7 + 1) & (deal == 2), wrong, actions)

    with pytest.raises(AgentError) as caught:
        play_pairs(
            make_agent("random"), Scripted(spoil), seed=4, num_pairs=20, batch_size=batch_size
        )
    message = str(caught.value)
    assert "'Scripted' chose an illegal action at seed 4, pair 7, game 1 (" in message
    assert f"{wrong} is not one of [0, 1," in message
    assert "hand " in message
    assert "play_pairs(a, b, rules, seed=4, first_pair=7, num_pairs=1)" in message
    with pytest.raises(AgentError, match="pair 7, game 1"):
        play_pairs(make_agent("random"), Scripted(spoil), seed=4, first_pair=7, num_pairs=1)


def test_cards_laid_already_are_illegal() -> None:
    def spoil(views: ViewBatch, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        # The first card again, which is masked once it is laid.
        return np.where(views.array["phase"] == 2, views.rules.num_tosses, actions)

    with pytest.raises(AgentError, match="15 is not one of"):
        play_pairs(Scripted(spoil), make_agent("random"), seed=0, num_pairs=1)


def test_illegal_cards_are_named() -> None:
    class Cheat(SimpleAgent):
        name = "cheat"

        def choose_discard(self, view: View) -> tuple[int, ...]:
            return view.hand[:3] if (view.game, view.deal) == (9, 1) else view.hand[:2]

        def choose_play(self, view: View) -> int:
            return view.legal_cards[0]

    with pytest.raises(AgentError) as caught:
        play_pairs(Cheat(), make_agent("random"), seed=6, num_pairs=10)
    message = str(caught.value)
    assert "'cheat' chose an illegal action at seed 6, pair 4, game 1 (" in message
    assert "Cannot toss" in message
    assert "first_pair=4, num_pairs=1) repeats it." in message


@pytest.mark.parametrize(
    "change",
    [
        lambda _, actions: actions[:-1],
        lambda _, actions: actions[:, np.newaxis],
        lambda _, actions: actions.astype(float),
        lambda _, actions: int(actions[0]),
        lambda *_: None,
    ],
)
def test_wrong_shapes_are_named(change: Any) -> None:
    with pytest.raises(AgentError, match="return an integer array of shape"):
        play_pairs(Scripted(change), make_agent("random"), seed=0, num_pairs=3)


def test_other_integers_and_layouts_will_do() -> None:
    plain = play("random", "random", SHORT_MATCH, num_pairs=9)
    for change in (
        lambda _, actions: actions.astype(np.int8),
        lambda _, actions: actions.tolist(),
        lambda _, actions: np.stack([actions, actions], axis=1)[:, 0],
    ):
        agents = Scripted(change), make_agent("random")
        again = play_pairs(*agents, SHORT_MATCH, seed=3, num_pairs=9)
        assert again.tobytes() == plain.tobytes()


@pytest.mark.parametrize("name", ["num_pairs", "first_pair", "batch_size"])
def test_numbers_are_checked(name: str) -> None:
    with pytest.raises(RulesError, match=f"The {name} is -1"):
        play("random", "random", SHORT_MATCH, **{"num_pairs": 1, name: -1})
