"""Looking ahead in the play: every search against plain recursion by the oracle's points."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from cribai import Game, View
from cribai.analysis.beliefs import BELIEF, believe
from cribai.analysis.knowledge import (
    ACC,
    DEALER,
    KNOWLEDGE,
    NUM_KEPT,
    PLAIN,
    PONE,
    QUADRUPLE,
    TARGET,
    WIN,
    kept_index,
    load_knowledge,
)
from cribai.analysis.lays import LAYS, value_lays
from cribai.analysis.pegging import CAUTIOUS, FEAR, GREEDY, SEARCH, SEES_ALL, lay_value
from cribai.analysis.positions import POINTS, STANDING
from cribai.engine.state import compiled_rules

pytestmark = pytest.mark.slow

Ranks = tuple[int, ...]
Ending = Callable[[Sequence[int], bool], float | None]
"""What is pegged is worth, by player, if the game or the play (True) is over; else None."""

REPLIES = {"sees all": SEES_ALL, "greedy": GREEDY, "cautious": CAUTIOUS}
OWN, OTHER = range(2)

each_reply = pytest.mark.parametrize("replies", REPLIES.values(), ids=REPLIES)


# ----------------------------------------------------------------------- the play, recursively


def total(series: Ranks) -> int:
    return sum(reference.value(4 * rank) for rank in series)


def fitting(hand: Ranks, series: Ranks) -> list[int]:
    """The ranks of a hand that may be laid, ascending."""
    return [rank for rank in sorted(set(hand)) if total((*series, rank)) <= 31]


@cache
def points_of(series: Ranks) -> int:
    return reference.play_points([4 * rank for rank in series])


@cache
def after_lay(
    hands: tuple[Ranks, Ranks], series: Ranks, player: int, rank: int
) -> tuple[tuple[Ranks, Ranks], Ranks, int | None, int]:
    """Hands, series, whose turn it is, None at the end, and the points, once a card is laid."""
    hand = list(hands[player])
    hand.remove(rank)
    hands = (tuple(hand), hands[OTHER]) if player == OWN else (hands[OWN], tuple(hand))
    series = (*series, rank)
    points = points_of(series)
    players = (1 - player, player)
    if total(series) < 31:
        for following in players:
            if fitting(hands[following], series):
                return hands, series, following, points
        points += 1
    for following in players:
        if hands[following]:
            return hands, (), following, points
    return hands, (), None, points


def greedy_reply(hand: Ranks, series: Ranks, num_answers: int) -> int:  # noqa: ARG001
    """The rank that pegs most now, the highest of equals."""
    return max(fitting(hand, series), key=lambda rank: (points_of((*series, rank)), rank))


@cache
def answers(series: Ranks) -> int:
    """What one card of each rank would peg next, as far as the last two cards show it."""
    points = 0
    for rank in fitting(tuple(range(13)), series):
        ending = [4 * card for card in (*series[-2:], rank)]
        points += 2 * (total((*series, rank)) in (15, 31))
        points += reference.pair_points([card for card in ending[-2:] if card == 4 * rank])
        if len({*ending}) == 1 and len(ending) == 3:
            points += 4
        points += 3 * reference.is_run(ending)
    return points


def cautious_reply(hand: Ranks, series: Ranks, num_answers: int) -> int:
    """The rank that pegs most, less what the cards held against it might peg at once."""

    def worth(rank: int) -> tuple[float, int]:
        extended = (*series, rank)
        fear = FEAR * num_answers * answers(extended) / 13 if total(extended) < 31 else 0
        return points_of(extended) - fear, rank

    return max(fitting(hand, series), key=worth)


def solve(
    hands: tuple[Ranks, Ranks],
    series: Ranks,
    player: int | None,
    pegged: tuple[int, int],
    ending: Ending,
    replies: int,
) -> float:
    """What a position is worth when the player does his best and the other replies in his way."""
    worth = ending(pegged, player is None)
    if worth is not None:
        return worth
    assert player is not None
    ranks = fitting(hands[player], series)
    if player == OTHER and replies == GREEDY:
        ranks = [greedy_reply(hands[OTHER], series, len(hands[OWN]))]
    if player == OTHER and replies == CAUTIOUS:
        ranks = [cautious_reply(hands[OTHER], series, len(hands[OWN]))]
    choose = max if player == OWN else min
    return choose(solve_lay(hands, series, player, rank, pegged, ending, replies) for rank in ranks)


def solve_lay(
    hands: tuple[Ranks, Ranks],
    series: Ranks,
    player: int,
    rank: int,
    pegged: tuple[int, int],
    ending: Ending,
    replies: int,
) -> float:
    hands, series, following, points = after_lay(hands, series, player, rank)
    pegged = (pegged[0] + points, pegged[1]) if player == OWN else (pegged[0], pegged[1] + points)
    return solve(hands, series, following, pegged, ending, replies)


def for_points(own_weight: float, other_weight: float) -> Ending:
    def ending(pegged: Sequence[int], over: bool) -> float | None:
        return own_weight * pegged[OWN] - other_weight * pegged[OTHER] if over else None

    return ending


def for_the_game(standing: Any, tables: Any) -> Ending:
    """The prize of whoever gets there first: pegging, pone's hand, dealer's hand, crib."""
    stake = int(standing["stake"])
    dealer = OWN if standing["own_deals"] else OTHER
    start = (int(standing["own_score"]), int(standing["other_score"]))
    hands = (int(standing["own_hand"]), int(standing["other_hand"]))
    number = int(standing["num_cribs"])
    cribs = list(
        zip(
            standing["crib_points"][:number].tolist(),
            standing["crib_chances"][:number].tolist(),
            strict=True,
        )
    )

    def prize(scores: Sequence[int]) -> float | None:
        for player, sign in ((OWN, 1), (OTHER, -1)):
            if scores[player] >= TARGET:
                return float(sign * tables["prize"][stake, scores[1 - player]])
        return None

    def ending(pegged: Sequence[int], over: bool) -> float | None:
        scores = [start[player] + pegged[player] for player in (OWN, OTHER)]
        won = prize(scores)
        if won is not None or not over:
            return won
        for player in (1 - dealer, dealer):
            scores[player] += hands[player]
            if (won := prize(scores)) is not None:
                return won
        worth = 0.0
        for points, chance in cribs:
            after = list(scores)
            after[dealer] += points
            won = prize(after)
            if won is None:  # the pone deals next
                sign = -1 if dealer == OWN else 1
                won = float(sign * tables["worth"][stake, after[1 - dealer], after[dealer]])
            worth += chance * won
        return worth

    return ending


# --------------------------------------------------------------------------------- the search


def packed(ranks: Ranks) -> int:
    """Ranks as the search takes them: run orders, four bits each, the lowest first."""
    return sum((rank + 1) << 4 * place for place, rank in enumerate(sorted(ranks)))


def searched(
    standing: Any, tables: Any, hands: tuple[Ranks, Ranks], series: Ranks, rank: int, replies: int
) -> float:
    search = np.zeros(1, SEARCH)[0]
    search["replies"] = replies
    return float(
        lay_value(
            search,
            standing,
            tables,
            packed(hands[OWN]),
            packed(hands[OTHER]),
            sorted(hands[OWN]).index(rank),
            packed_series(series),
            len(series),
            total(series),
        )
    )


def packed_series(series: Ranks) -> int:
    """Run orders, four bits each, the latest lowest."""
    return sum((rank + 1) << 4 * place for place, rank in enumerate(reversed(series)))


def dealt(
    chance: random.Random, own: int, other: int, deck_size: int
) -> tuple[tuple[Ranks, Ranks], Ranks]:
    """Hands of some sizes, and cards laid before that leave the player one that fits.

    A small deck has low cards only, and with them many runs.
    """
    while True:
        deck = [card // 4 for card in chance.sample(range(deck_size), own + other + 6)]
        hands = (tuple(sorted(deck[:own])), tuple(sorted(deck[own : own + other])))
        series: Ranks = ()
        for rank in deck[own + other :][: chance.randrange(7)]:
            series = (*series, rank) if total((*series, rank)) <= 31 else (rank,)
        if total(series) == 31:
            series = ()
        if fitting(hands[OWN], series):
            return hands, series


def endings(num_each: int, seed: int) -> Iterator[tuple[tuple[Ranks, Ranks], Ranks]]:
    chance = random.Random(seed)
    for own in range(1, 5):
        for other in range(5):
            for number in range(num_each):
                yield dealt(chance, own, other, deck_size=24 if number % 3 == 0 else 52)


def tables_made_up(seed: int) -> Any:
    """Board positions and prizes without rhyme or reason, so that each place of a table counts."""
    chance = np.random.default_rng(seed)
    tables = np.zeros(1, KNOWLEDGE)[0]
    tables["worth"] = chance.uniform(-1, 1, tables["worth"].shape)
    tables["prize"] = chance.uniform(1, 3, tables["prize"].shape)
    return tables


def standing_made_up(chance: random.Random, *, own_deals: int, stake: int) -> Any:
    standing = np.zeros(1, STANDING)[0]
    standing["stake"] = stake
    standing["own_deals"] = own_deals
    for name, low, high in (
        ("own_score", 100, 121),
        ("other_score", 100, 121),
        ("own_hand", 0, 13),
        ("other_hand", 0, 13),
    ):
        standing[name] = chance.randrange(low, high)
    cribs = chance.sample(range(20), 5)
    weights = [chance.random() for _ in cribs]
    standing["num_cribs"] = len(cribs)
    standing["crib_points"][: len(cribs)] = cribs
    standing["crib_chances"][: len(cribs)] = np.array(weights) / sum(weights)
    return standing


@each_reply
def test_searches_for_points(replies: int) -> None:
    tables = tables_made_up(1)
    standing = np.zeros(1, STANDING)[0]
    standing["stake"] = POINTS
    spread = set()
    for number, (hands, series) in enumerate(endings(20, seed=replies)):
        weights = (1.0, 1.0) if number % 2 else (0.7, 1.1)
        standing["own_weight"], standing["other_weight"] = weights
        for rank in fitting(hands[OWN], series):
            found = searched(standing, tables, hands, series, rank, replies)
            expected = solve_lay(hands, series, OWN, rank, (0, 0), for_points(*weights), replies)
            assert found == pytest.approx(expected, abs=1e-9), (hands, series, rank)
            spread.add(round(found, 3))
    assert len(spread) > 30


@each_reply
@pytest.mark.parametrize("own_deals", [0, 1])
def test_searches_for_the_game(own_deals: int, replies: int) -> None:
    """Near the end: who gets there first, in the order in which points fall."""
    tables = tables_made_up(2)
    chance = random.Random(3 + own_deals)
    num_pegged_out = 0
    for number, (hands, series) in enumerate(endings(12, seed=4 + replies)):
        stake = (WIN, PLAIN, QUADRUPLE, ACC)[number % 4]
        standing = standing_made_up(chance, own_deals=own_deals, stake=stake)
        ending = for_the_game(standing, tables)
        for rank in fitting(hands[OWN], series):
            found = searched(standing, tables, hands, series, rank, replies)
            expected = solve_lay(hands, series, OWN, rank, (0, 0), ending, replies)
            assert found == pytest.approx(expected, abs=1e-9), (hands, series, rank)
            num_pegged_out += abs(found) >= 1
    assert num_pegged_out > 50


def test_the_lay_that_wins() -> None:
    """A pone at 119 with 5 and 9 leads the nine: at fifteen or thirty-one the dealer is out."""
    standing = np.zeros(1, STANDING)[0]
    standing["stake"] = WIN
    standing["own_score"], standing["other_score"] = 119, 119
    standing["own_hand"], standing["other_hand"] = 2, 0
    standing["num_cribs"], standing["crib_chances"][0] = 1, 1.0
    tables = load_knowledge()[0]
    hands = ((4, 8), (9, 10))  # against ten and jack
    for replies in REPLIES.values():
        assert searched(standing, tables, hands, (), 4, replies) == -1
        assert searched(standing, tables, hands, (), 8, replies) == 1
    # The count decides: a dealer who needs one point shows after the pone.
    standing["other_score"] = 117
    standing["own_deals"] = 1
    standing["own_score"] = 118
    standing["own_hand"], standing["other_hand"] = 12, 4
    lone = ((12,), ())
    assert searched(standing, tables, lone, (), 12, SEES_ALL) == -1
    standing["other_hand"] = 3
    assert searched(standing, tables, lone, (), 12, SEES_ALL) == 1


def test_dealer_pegs_out_before_the_show() -> None:
    """A dealer at 120 with the last card wins, whatever the pone would have counted."""
    standing = np.zeros(1, STANDING)[0]
    standing["stake"], standing["own_deals"] = WIN, 1
    standing["own_score"], standing["other_score"] = 120, 120
    standing["other_hand"] = 29
    standing["num_cribs"], standing["crib_chances"][0] = 1, 1.0
    tables = load_knowledge()[0]
    assert searched(standing, tables, ((12,), ()), (), 12, SEES_ALL) == 1
    assert searched(standing, tables, ((12,), (3,)), (), 12, SEES_ALL) == -1


# ----------------------------------------------------------------- against all that may be held


def views_near_the_end(num_games: int, seed: int, *, rules: str = "standard") -> Iterator[View]:
    """Lays with a choice in the first deal of games that begin near their end."""
    chance = random.Random(seed)
    for number in range(num_games):
        target = 61 if rules == "short" else TARGET
        scores = [target - chance.randrange(1, 14) for _ in range(2)]
        game = Game(rules, seed=seed, pair=number, scores=scores)
        while not game.is_over and game.deal_number == 0:
            view = game.view()
            if not view.is_discard and len(view.legal_cards) > 1:
                yield view
            game.push(chance.choice(game.legal_actions))


@cache
def rank_points(ranks: Ranks) -> int:
    cards = [4 * rank for rank in ranks]
    parts = reference.show_parts(cards[1:], cards[:1], False)
    return parts["fifteens"] + parts["pairs"] + parts["runs"]


def expected_standing(view: View, stake: int, tables: Any) -> Any:
    """What the player's hand shows, and what the crib may by its ranks, seeing what he sees."""
    shift = TARGET - view.rules.target
    starter = view.starter
    assert starter is not None
    standing = np.zeros(1, STANDING)[0]
    standing["stake"] = stake
    standing["own_score"], standing["other_score"] = (score + shift for score in view.scores)
    standing["own_deals"] = view.is_dealer
    standing["own_hand"] = reference.show_points(view.kept, [starter], False)
    role = PONE if view.is_dealer else DEALER
    seen = {*view.kept, *view.tossed, starter, *(card for _, card in view.plays)}
    chances: NDArray[np.float64] = np.zeros(30)
    for pair in combinations([card for card in range(52) if card not in seen], 2):
        low, high = sorted(card // 4 for card in pair)
        weight = tables["toss_chance"][role, low, high, int(pair[0] % 4 == pair[1] % 4)]
        ranks = [card // 4 for card in (*view.tossed, *pair, starter)]
        chances[rank_points(tuple(sorted(ranks)))] += weight
    standing["num_cribs"] = 30
    standing["crib_points"] = np.arange(30)
    standing["crib_chances"] = chances / chances.sum()
    return standing


def hands_believed(view: View, tables: Any, lays: Any) -> list[tuple[Ranks, float]]:
    belief = np.zeros(1, BELIEF)[0]
    believe(view.record, tables, lays, belief)
    found = []
    for place in range(int(belief["num_hands"])):
        digits = [int(belief["hands"][place]) >> 4 * slot & 15 for slot in range(4)]
        ranks = tuple(digit - 1 for digit in digits if digit)
        found.append((ranks, float(belief["weights"][place])))
    return found


def expected_worth(
    view: View, rank: int, stake: int, hands: list[tuple[Ranks, float]], tables: Any, replies: int
) -> float:
    """The average over the hands believed of the solved ending; his hand shows by its ranks."""
    starter = view.starter
    assert starter is not None
    standing = expected_standing(view, stake, tables)
    held = tuple(card // 4 for card in view.hand)
    series = tuple(card // 4 for card in view.series)
    laid = [card // 4 for player, card in view.plays if player == 1]
    worth = weights = 0.0
    for hand, weight in hands:
        standing["other_hand"] = rank_points(tuple(sorted([*hand, *laid, starter // 4])))
        ending = for_the_game(standing, tables)
        worth += weight * solve_lay((held, hand), series, OWN, rank, (0, 0), ending, replies)
        weights += weight
    return worth / weights


def lays_for(view: View, stake: int, replies: int) -> Any:
    lays = np.zeros(1, LAYS)[0]
    lays["stake"] = stake
    lays["target"] = view.rules.target
    lays["horizon"] = 30
    lays["samples"] = NUM_KEPT
    lays["replies"] = replies
    lays["doubt"], lays["greed"] = 0.02, 1.5
    return lays


def check_worths(view: View, lays: Any, tables: Any, hands: list[tuple[Ranks, float]]) -> None:
    """The worths of the lays, and with them the best."""
    rules = compiled_rules(view.rules)[0]
    value_lays(view.record, rules, tables, lays)
    stake, replies = int(lays["stake"]), int(lays["replies"])
    considered = set()
    for slot in np.flatnonzero(lays["considered"]).tolist():
        rank = view.kept[slot] // 4
        considered.add(rank)
        expected = expected_worth(view, rank, stake, hands, tables, replies)
        assert lays["worths"][slot] == pytest.approx(expected, abs=1e-9), str(view)
    assert considered == {card // 4 for card in view.legal_cards}
    assert lays["num_choices"] == len(considered)


@each_reply
@pytest.mark.parametrize("rules", ["standard", "short"])
def test_lays_against_all_hands(rules: str, replies: int) -> None:
    """The late lays near the end of the game, against each hand as likely as it is believed."""
    tables = load_knowledge()[0]
    stakes = set()
    for number, view in enumerate(views_near_the_end(24, 5, rules=rules)):
        if view.num_left[1] > 2 or len({card // 4 for card in view.legal_cards}) < 2:
            continue
        stake = (WIN, PLAIN, ACC)[number % 3]
        stakes.add(stake)
        lays = lays_for(view, stake, replies)
        check_worths(view, lays, tables, hands_believed(view, tables, lays))
    assert len(stakes) == 3


@each_reply
def test_lays_against_one_hand(replies: int) -> None:
    """Sure of the opponent's hand, the lay that plain recursion finds best is chosen."""
    tables = load_knowledge().copy()[0]
    keep_chance = tables["keep_chance"].copy()
    chance = random.Random(6)
    num_views = num_matter = 0
    for view in views_near_the_end(40, 6):
        if len({card // 4 for card in view.legal_cards}) < 2 or len(view.hand) > 3:
            continue
        lays = lays_for(view, WIN, replies)
        hand, _ = chance.choice(hands_believed(view, tables, lays))
        laid = [card // 4 for player, card in view.plays if player == 1]
        role = PONE if view.is_dealer else DEALER
        tables["keep_chance"] = 0
        tables["keep_chance"][role, kept_index(*sorted([*hand, *laid]))] = 1
        lays["doubt"] = 0
        check_worths(view, lays, tables, [(hand, 1.0)])
        tables["keep_chance"] = keep_chance
        worths = lays["worths"][lays["considered"] == 1]
        num_views += 1
        num_matter += np.ptp(worths) > 0.01
    assert num_views > 30
    assert num_matter > 5
