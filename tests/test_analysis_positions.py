"""Board position: what scores are worth before, during and after a deal, in order of counting."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import MATCH_POINTS, RulesError
from cribai.analysis.knowledge import (
    ACC,
    DEALER,
    KNOWLEDGE,
    LIBRARY_SIZE,
    PLAIN,
    PONE,
    QUADRUPLE,
    TARGET,
    WIN,
    load_knowledge,
)
from cribai.analysis.positions import (
    POINTS,
    STANDING,
    after_crib,
    after_pegging,
    before_deal,
    game_over,
    match_points_ahead,
    show_worths,
    weigh_points,
    win_probability,
)

STAKES = {"win": WIN, "plain": PLAIN, "quadruple": QUADRUPLE, "acc": ACC}
OWN, OTHER = range(2)

both_deals = pytest.mark.parametrize("own_deals", [0, 1], ids=["pone", "dealer"])


def made_up(seed: int) -> Any:
    """Board positions and prizes without rhyme or reason, so that each place of a table counts."""
    chance = np.random.default_rng(seed)
    tables = load_knowledge().copy()[0]
    assert tables.dtype == KNOWLEDGE
    tables["worth"] = chance.uniform(-1, 1, tables["worth"].shape)
    tables["prize"] = chance.uniform(1, 3, tables["prize"].shape)
    tables["heels"] = chance.random(LIBRARY_SIZE) < 0.3
    return tables


def standing_of(stake: int, own_deals: int, own: int = 0, other: int = 0) -> Any:
    standing = np.zeros(1, STANDING)[0]
    standing["stake"] = stake
    standing["own_deals"] = own_deals
    standing["own_score"], standing["other_score"] = own, other
    return standing


class Counting:
    """Points added one after another until someone gets there."""

    def __init__(self, tables: Any, stake: int, own: int, other: int) -> None:
        self.tables = tables
        self.stake = stake
        self.scores = [own, other]
        self.worth: float | None = None

    def add(self, player: int, points: int) -> None:
        if self.worth is None:
            self.scores[player] += points
            if self.scores[player] >= TARGET:
                prize = float(self.tables["prize"][self.stake, self.scores[1 - player]])
                self.worth = prize if player == OWN else -prize

    def before_deal_of(self, dealer: int) -> float:
        """What the game is worth now, this player dealing next."""
        if self.worth is not None:
            return self.worth
        worth = float(
            self.tables["worth"][self.stake, self.scores[dealer], self.scores[1 - dealer]]
        )
        return worth if dealer == OWN else -worth


# ------------------------------------------------------------------------------- for all to ask


@pytest.fixture(scope="module")
def some_scores() -> list[tuple[int, int]]:
    chance = random.Random(1)
    edges = [(0, 0), (120, 120), (0, 120), (120, 0), (60, 61), (90, 91)]
    return edges + [(chance.randrange(TARGET), chance.randrange(TARGET)) for _ in range(300)]


def test_someone_wins(some_scores: list[tuple[int, int]]) -> None:
    """What one side has, the other lacks."""
    for own, other in some_scores:
        for is_dealer in (True, False):
            chance = win_probability(own, other, is_dealer=is_dealer)
            assert 0 <= chance <= 1
            others = win_probability(other, own, is_dealer=not is_dealer)
            assert chance + others == pytest.approx(1)
            for name in MATCH_POINTS:
                ahead = match_points_ahead(own, other, is_dealer=is_dealer, table=name)
                behind = match_points_ahead(other, own, is_dealer=not is_dealer, table=name)
                assert ahead == pytest.approx(-behind)
                assert abs(ahead) <= MATCH_POINTS[name].double_skunk


@pytest.mark.parametrize("is_dealer", [True, False])
def test_points_help(is_dealer: bool) -> None:
    for other in (0, 45, 90, 119):
        chances = [win_probability(own, other, is_dealer=is_dealer) for own in range(TARGET)]
        assert chances == sorted(chances)
        assert chances[-1] - chances[0] > 0.3
        for table in MATCH_POINTS:
            ahead = [
                match_points_ahead(own, other, is_dealer=is_dealer, table=table)
                for own in range(TARGET)
            ]
            assert ahead == sorted(ahead)


def test_known_chances() -> None:
    assert 0.55 < win_probability(0, 0, is_dealer=True) < 0.57
    assert 0.43 < win_probability(0, 0, is_dealer=False) < 0.45
    # At 116 against 116 the pone counts first.
    assert win_probability(116, 116, is_dealer=False) > 0.7
    assert win_probability(30, 0, is_dealer=True) > 0.75


def test_match_points_by_table() -> None:
    """A side far ahead may skunk: 2 for 1, 3 or 4 for two skunks, and 3 for 2 in the ACC's."""
    ahead = {
        table: match_points_ahead(115, 40, is_dealer=True, table=table) for table in MATCH_POINTS
    }
    assert match_points_ahead(115, 40, is_dealer=True) == ahead["plain"]
    assert 1.9 < ahead["plain"] < ahead["quadruple"] < 4
    assert 2.9 < ahead["acc"] <= 3
    chance = win_probability(100, 100, is_dealer=True)
    assert match_points_ahead(100, 100, is_dealer=True) == pytest.approx(2 * chance - 1, abs=1e-6)


@pytest.mark.parametrize("scores", [(121, 0), (0, 121), (-1, 0), (0, -1)])
def test_scores_are_checked(scores: tuple[int, int]) -> None:
    bad = next(score for score in scores if score)
    message = rf"^The score {bad} is not from 0 to 120\.$"
    with pytest.raises(RulesError, match=message):
        win_probability(*scores, is_dealer=True)
    with pytest.raises(RulesError, match=message):
        match_points_ahead(*scores, is_dealer=False)


def test_tables_are_checked() -> None:
    with pytest.raises(RulesError, match=r"^Unknown match points 'chess'; the tables are plain,"):
        match_points_ahead(0, 0, is_dealer=True, table="chess")


# -------------------------------------------------------------------------- after parts of a deal


@both_deals
def test_before_a_deal(own_deals: int) -> None:
    tables = made_up(1)
    for stake in STAKES.values():
        for own, other in ((0, 0), (7, 100), (120, 3)):
            counting = Counting(tables, stake, own, other)
            expected = counting.before_deal_of(OWN if own_deals else OTHER)
            assert before_deal(tables, stake, own, other, own_deals) == expected


@both_deals
def test_after_the_crib(own_deals: int) -> None:
    tables = made_up(2)
    chance = random.Random(2)
    num_out = 0
    for _ in range(300):
        stake = chance.choice(list(STAKES.values()))
        own, other, crib = (
            chance.randrange(95, 121),
            chance.randrange(95, 121),
            chance.randrange(30),
        )
        counting = Counting(tables, stake, own, other)
        counting.add(OWN if own_deals else OTHER, crib)
        num_out += counting.worth is not None
        expected = counting.before_deal_of(OTHER if own_deals else OWN)
        assert after_crib(tables, stake, own, other, own_deals, crib) == expected
    assert 50 < num_out < 250


@both_deals
def test_after_the_pegging(own_deals: int) -> None:
    """The pone's hand, the dealer's, the crib; whoever gets there first has won."""
    tables = made_up(3)
    chance = random.Random(3)
    ends = set()
    for _ in range(500):
        stake = chance.choice(list(STAKES.values()))
        own, other = chance.randrange(100, 115), chance.randrange(100, 115)
        own_pegs, other_pegs = chance.randrange(121 - own), chance.randrange(121 - other)
        standing = standing_of(stake, own_deals, own, other)
        standing["own_hand"], standing["other_hand"] = chance.randrange(25), chance.randrange(25)
        cribs = chance.sample(range(30), 3)
        standing["num_cribs"] = 3
        standing["crib_points"][:3] = cribs
        standing["crib_chances"][:3] = (0.5, 0.3, 0.2)
        standing["crib_points"][3], standing["crib_chances"][3] = 29, 9  # past the end
        expected = 0.0
        for crib, share in zip(cribs, (0.5, 0.3, 0.2), strict=True):
            counting = Counting(tables, stake, own + own_pegs, other + other_pegs)
            hands = {OWN: int(standing["own_hand"]), OTHER: int(standing["other_hand"])}
            dealer = OWN if own_deals else OTHER
            for player in (1 - dealer, dealer):
                counting.add(player, hands[player])
                if counting.worth is not None:
                    ends.add((player, "hand"))
            counting.add(dealer, crib)
            expected += share * counting.before_deal_of(1 - dealer)
        found = after_pegging(standing, tables, own_pegs, other_pegs)
        assert found == pytest.approx(expected, abs=1e-12)
    assert ends == {(OWN, "hand"), (OTHER, "hand")}


def test_pone_counts_first() -> None:
    """Twenty-four in the dealer's hand are never counted once the pone is out."""
    tables = load_knowledge()[0]
    standing = standing_of(WIN, 1, own=119, other=117)
    standing["own_hand"], standing["other_hand"] = 24, 4
    standing["num_cribs"], standing["crib_chances"][0] = 1, 1.0
    assert after_pegging(standing, tables, 0, 0) == -1
    standing["other_hand"] = 3
    assert after_pegging(standing, tables, 0, 0) == 1
    # One for last card, pegged by the pone, is as good as one in his hand; the dealer's two win.
    assert after_pegging(standing, tables, 0, 1) == -1
    standing["own_deals"] = 0
    standing["other_hand"] = 24
    assert after_pegging(standing, tables, 0, 0) == 1
    # A skunk is counted by the score that the loser had reached by then.
    standing = standing_of(PLAIN, 1, own=80, other=110)
    standing["own_hand"], standing["other_hand"] = 24, 11
    assert after_pegging(standing, tables, 0, 0) == -2
    assert after_pegging(standing, tables, 10, 0) == -2
    assert after_pegging(standing, tables, 11, 0) == -1


def test_games_end_by_pegging() -> None:
    tables = made_up(4)
    for stake in STAKES.values():
        standing = standing_of(stake, 1, own=118, other=119)
        assert game_over(standing, tables, 2, 1) == 0
        assert game_over(standing, tables, 3, 1) == tables["prize"][stake, 120]
        assert game_over(standing, tables, 3, 0) == tables["prize"][stake, 119]
        assert game_over(standing, tables, 12, 0) == tables["prize"][stake, 119]
        assert game_over(standing, tables, 1, 2) == -tables["prize"][stake, 119]
    points = standing_of(POINTS, 1, own=118, other=119)
    assert game_over(points, tables, 9, 9) == 0


def test_played_for_points() -> None:
    standing = standing_of(POINTS, 1, own=118, other=119)
    standing["own_weight"], standing["other_weight"] = 0.5, 0.25
    assert after_pegging(standing, made_up(5), 6, 4) == 2.0


@both_deals
def test_points_are_weighed_by_position(own_deals: int) -> None:
    """A point is worth the slope of the table where the deal is expected to end."""
    tables = load_knowledge()[0]
    for own, other in ((12.3, 20.0), (80.9, 60.2), (100.0, 119.9), (131.5, 90.0), (2.0, 1.0)):
        standing = standing_of(WIN, own_deals, 0, 0)
        weigh_points(standing, tables, PLAIN, own, other)
        assert standing["stake"] == POINTS
        x, y = (min(max(int(score), 3), 117) for score in (own, other))

        def worth(own: int, other: int) -> float:
            return Counting(tables, PLAIN, own, other).before_deal_of(OTHER if own_deals else OWN)

        own_weight = (worth(x + 3, y) - worth(x - 3, y)) / 6
        other_weight = (worth(x, y - 3) - worth(x, y + 3)) / 6
        assert standing["own_weight"] == pytest.approx(max(own_weight, 1e-6))
        assert standing["other_weight"] == pytest.approx(max(other_weight, 1e-6))
        assert standing["own_weight"] > 0
        assert standing["other_weight"] > 0


# ----------------------------------------------------------------------- a deal of the library


def pegs(tables: Any, deal: int) -> Iterator[tuple[int, int]]:
    """Who pegged how much in a deal of the library, in order."""
    for role, points in zip(tables["peg_roles"][deal], tables["peg_points"][deal], strict=True):
        if role >= 0:
            yield int(role), int(points)


def replayed(
    tables: Any, stake: int, own_deals: int, own: int, other: int, num_deals: int
) -> NDArray[np.float64]:
    """The worth of a deal by the own hand's points and the crib's, averaged over the library."""
    player_of = {DEALER: OWN, PONE: OTHER} if own_deals else {DEALER: OTHER, PONE: OWN}
    worths = np.zeros((30, 30))
    for deal in range(0, LIBRARY_SIZE // num_deals * num_deals, LIBRARY_SIZE // num_deals):
        for hand in range(30):
            for crib in range(30):
                counting = Counting(tables, stake, own, other)
                counting.add(player_of[DEALER], 2 * int(tables["heels"][deal]))
                for role, points in pegs(tables, deal):
                    counting.add(player_of[role], points)
                for role in (PONE, DEALER):
                    player = player_of[role]
                    shown = hand if player == OWN else int(tables["hands"][deal, role])
                    counting.add(player, shown)
                counting.add(player_of[DEALER], crib)
                worths[hand, crib] += counting.before_deal_of(player_of[PONE])
    return worths / num_deals


@both_deals
@pytest.mark.parametrize(
    ("stake", "own", "other", "num_deals"),
    [(WIN, 110, 108, 16), (PLAIN, 85, 112, 9), (ACC, 118, 117, 16), (QUADRUPLE, 20, 0, 8)],
)
def test_deals_are_played_out(
    own_deals: int, stake: int, own: int, other: int, num_deals: int
) -> None:
    tables = made_up(6)
    standing = standing_of(stake, own_deals, own, other)
    found = np.full((30, 30), np.nan)
    show_worths(tables, standing, num_deals, found)
    expected = replayed(tables, stake, own_deals, own, other, num_deals)
    assert found == pytest.approx(expected, abs=1e-12)
    assert standing == standing_of(stake, own_deals, own, other)


@both_deals
@pytest.mark.parametrize(("own", "other"), [(0, 0), (60, 75), (98, 104), (112, 101), (117, 117)])
def test_the_library_bears_out_the_table(own: int, other: int, own_deals: int) -> None:
    """Its deals, played out from some scores, bring what board position says of them."""
    tables = load_knowledge()[0]
    worths = np.zeros((30, 30))
    show_worths(tables, standing_of(WIN, own_deals, own, other), LIBRARY_SIZE, worths)
    own_hands = tables["hands"][:, DEALER if own_deals else PONE]
    mean = worths[own_hands][:, tables["cribs"]].mean()
    assert mean == pytest.approx(before_deal(tables, WIN, own, other, own_deals), abs=0.15)
