"""What the network sees, against the readable view."""

from itertools import pairwise

import numpy as np
import pytest

from cribai import STANDARD, GameBatch, View, ViewBatch, count_show, get_rules, make_agent
from cribai.analysis.knowledge import LIBRARY_SIZE, load_knowledge
from cribai.analysis.positions import win_probability
from cribai.cards import NUM_RANKS, rank_of, value_of
from cribai.engine import state as engine
from cribai.training.features import COLUMNS, FIELDS, NEAR, NUM_INPUTS, NUM_RECENT, lay_features
from cribai.training.stakes import LEAST_UNIT, load_stakes, pegged_worth, point_unit


def lays(rules: str = "standard", num_games: int = 40, seed: int = 3) -> ViewBatch:
    """Views of lays in games of random play."""
    batch = GameBatch.start(num_games, rules, seed=seed)
    agent = make_agent("random")
    found = []
    while not batch.over.all():
        views = batch.views()
        found.append(views.array[views.array["phase"] == engine.PLAY])
        batch.step(agent.act(views))
    return ViewBatch(np.concatenate(found), get_rules(rules))


def ranks(cards: list[int] | tuple[int, ...]) -> np.ndarray:
    return np.bincount([rank_of(card) for card in cards], minlength=NUM_RANKS)


def one_by_one(cards: list[int]) -> np.ndarray:
    found = np.zeros((NUM_RECENT, NUM_RANKS))
    for place, card in enumerate(cards[:NUM_RECENT]):
        found[place, rank_of(card)] = 1
    return found.ravel()


def excluded_value(view: View) -> int:
    return 0 if view.go_counts[1] is None else 31 - view.go_counts[1]


def replies(view: View, unseen: np.ndarray, card: int) -> tuple[float, float, float]:
    """Points of a reply by one unseen card on average, that it fits, and what it costs."""
    least = excluded_value(view) + 1
    possible = {
        rank: number for rank, number in enumerate(unseen) if min(rank + 1, 10) >= least and number
    }
    reached = view.count + value_of(card)
    if reached == 31 or view.num_left[1] == 0 or not possible:
        return 0.0, 0.0, 0.0
    total = fitting = cost = 0
    own = view.play_points(card)
    for rank, number in possible.items():
        if reached + min(rank + 1, 10) > 31:
            continue
        series = [*view.series, card, 4 * rank]
        fitting += number
        total += number * pegged(series)
        cost += number * (worth_of(view, own, 0) - worth_of(view, own, pegged(series)))
    number = sum(possible.values())
    return total / number, fitting / number, cost / number


def worth_of(view: View, gained: int, lost: int) -> float:
    """The worth of points pegged, in units."""
    shift = 121 - view.rules.target
    own, other = (score + shift for score in view.scores)
    hand = count_show(view.kept, view.starter).points
    place = (load_stakes()[0], int(view.is_dealer))
    unit = point_unit(*place, own, other, hand)
    return float(pegged_worth(*place, own + gained, other + lost, hand) / unit)


def out_chances(view: View, distances: list[int], hand: int) -> np.ndarray:
    shown = load_knowledge()[0]["hands"][:, 1 - int(view.is_dealer)]
    return np.array(
        [hand >= distances[0], hand + 2 >= distances[0]]
        + [(shown + more >= distances[1]).mean() for more in range(4)]
    )


def pegged(series: list[int]) -> int:
    """What the last card of a series pegs, from the rules."""
    count = sum(value_of(card) for card in series)
    points = 2 * (count == 15) + 2 * (count == 31)
    same = 1
    while same < len(series) and rank_of(series[-1 - same]) == rank_of(series[-1]):
        same += 1
    points += same * (same - 1)
    for length in range(len(series), 2, -1):
        run = sorted(rank_of(card) for card in series[-length:])
        if all(b == a + 1 for a, b in pairwise(run)):
            return points + length
    return points


def expected_row(view: View) -> dict[str, np.ndarray]:
    held = ranks(view.hand)
    own = [card for player, card in view.plays if player == 0]
    other = [card for player, card in view.plays if player == 1]
    unseen = 4 - ranks([*view.kept, *view.tossed, *other, view.starter])
    legal = (ranks(view.legal_cards) > 0).astype(float)
    points, reply, fits, now, then = (np.zeros(NUM_RANKS) for _ in range(5))
    for card in view.legal_cards:
        points[rank_of(card)] = view.play_points(card) / 4
        mean, share, cost = replies(view, unseen, card)
        reply[rank_of(card)], fits[rank_of(card)], then[rank_of(card)] = mean / 2, share, cost
        now[rank_of(card)] = worth_of(view, view.play_points(card), 0) - worth_of(view, 0, 0)
    distances = [121 - (score + 121 - view.rules.target) for score in view.scores]
    hand = count_show(view.kept, view.starter).points
    near = np.eye(NEAR + 1)
    return {
        "held": np.concatenate([held >= 1, held >= 2, held >= 3]),
        "tossed": ranks(view.tossed) / 2,
        "starter": ranks([view.starter]),
        "unseen": unseen / 4,
        "series": one_by_one(list(view.series)[::-1]),
        "count": np.eye(31)[view.count],
        "own_laid": ranks(own) / 2,
        "other_laid": ranks(other) / 2,
        "plays": one_by_one([card for _, card in view.plays]),
        "play_players": np.array(
            [*(player for player, _ in view.plays), *[0] * NUM_RECENT][:NUM_RECENT]
        ),
        "own_left": np.eye(4)[view.num_left[0] - 1],
        "other_left": np.eye(5)[view.num_left[1]],
        "is_dealer": np.array([view.is_dealer]),
        "excluded": np.arange(1, 11) <= excluded_value(view),
        "legal": legal,
        "points": points,
        "replies": reply,
        "fits": fits,
        "distances": np.array(distances) / 121,
        "own_distance": near[distances[0], 1:] if distances[0] <= NEAR else np.zeros(NEAR),
        "other_distance": near[distances[1], 1:] if distances[1] <= NEAR else np.zeros(NEAR),
        "after_hand": (
            near[max(distances[0] - hand, 0)] if distances[0] - hand <= NEAR else np.zeros(NEAR + 1)
        ),
        "own_hand": np.array([hand / 10]),
        "now": now,
        "then": then,
        "out": out_chances(view, distances, hand),
        "turns": np.array(
            [
                len(view.series) / NUM_RECENT,
                bool(view.series) and view.plays[-1][0] == 0,
                view.go_counts[1] is not None,
            ]
        ),
    }


@pytest.mark.parametrize("rules", ["standard", "short"])
def test_rows(rules: str) -> None:
    views = lays(rules, num_games=10)
    rows = lay_features(views, np.arange(len(views)))
    assert rows.shape == (len(views), NUM_INPUTS)
    for view, row in zip(views, rows, strict=True):
        for name, values in expected_row(view).items():
            assert row[COLUMNS[name]] == pytest.approx(values.astype(float), abs=1e-5), (name, view)


def test_fields_fill_the_row() -> None:
    assert sum(FIELDS.values()) == NUM_INPUTS
    assert [place.stop - place.start for place in COLUMNS.values()] == list(FIELDS.values())


def worth_by_hand(role: int, own: int, other: int, hand: int) -> float:
    """The worth after the pegging, averaged over the library's hands and cribs."""
    if own >= 121:
        return 1.0
    if other >= 121:
        return -1.0
    tables = load_knowledge()[0]
    hands = np.bincount(tables["hands"][:, 1 - role]) / LIBRARY_SIZE
    cribs = np.bincount(tables["cribs"]) / LIBRARY_SIZE
    total = 0.0
    for shown, chance in enumerate(hands):
        for crib, likely in enumerate(cribs):
            scores = [own, other]
            counts = [(0, hand), (1, shown), (1, crib)]
            if role == 1:
                counts = [(1, shown), (0, hand), (0, crib)]
            for side, points in counts:
                scores[side] += points
                if scores[side] >= 121:
                    worth = 1.0 if side == 0 else -1.0
                    break
            else:
                worth = 2 * win_probability(*scores, is_dealer=role == 0) - 1
            total += chance * likely * worth
    return total


@pytest.mark.parametrize(
    "place",
    [(0, 0, 0, 8), (1, 60, 75, 4), (0, 119, 118, 6), (1, 119, 118, 6), (1, 112, 120, 12),
     (0, 110, 100, 12)],
)  # fmt: skip
def test_stakes(place: tuple[int, int, int, int]) -> None:
    stakes = load_stakes()[0]
    role, own, other, hand = place
    for gained, lost in ((0, 0), (1, 0), (0, 2), (3, 4)):
        found = pegged_worth(stakes, role, own + gained, other + lost, hand)
        expected = worth_by_hand(role, own + gained, other + lost, hand)
        assert found == pytest.approx(expected, abs=1e-5)


def test_points_matter_as_the_score_has_it() -> None:
    views = lays(num_games=6)
    rows = lay_features(views, np.arange(len(views)))
    stakes = load_stakes()[0]
    for view, row in zip(views, rows, strict=True):
        own, other = view.scores
        hand = count_show(view.kept, view.starter).points
        role = int(view.is_dealer)
        unit = point_unit(stakes, role, own, other, hand)
        worth = pegged_worth(stakes, role, own, other, hand)
        assert unit >= LEAST_UNIT
        assert row[COLUMNS["worths"]][:2] == pytest.approx([worth, 10 * unit], abs=1e-5)
        for points in (1, 8):
            up = pegged_worth(stakes, role, own + points, other, hand) - worth
            assert row[COLUMNS["gains"]][points - 1] * points * unit == pytest.approx(up, abs=1e-4)
            down = worth - pegged_worth(stakes, role, own, other + points, hand)
            lost = row[COLUMNS["losses"]][points - 1] * points * unit
            assert lost == pytest.approx(down, abs=1e-4)


def test_rows_may_be_written_into_an_array() -> None:
    views = lays(num_games=3)
    places = np.array([5, 2, 9])
    out = np.full((8, NUM_INPUTS), 7, np.float32)
    assert lay_features(views, places, out) is out
    assert (out[:3] == lay_features(views, places)).all()
    assert (out[3:] == 7).all()
    assert views.rules is not STANDARD or len(views) > 9
