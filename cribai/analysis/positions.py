"""Board position: what the scores before, during and after a deal are worth.

Worth is counted for the player: the prize for winning (1 when only the win counts) less the prize
for losing, averaged. The chance to win is (worth + 1) / 2 when only the win counts. Scores count to
121; a game to fewer is one that began above zero.
"""

from typing import Any, Final

import numpy as np

from cribai.analysis.knowledge import (
    ACC,
    LIBRARY_SIZE,
    MAX_PEGS,
    PLAIN,
    QUADRUPLE,
    TARGET,
    WIN,
    load_knowledge,
)
from cribai.engine.jit import inlined
from cribai.errors import RulesError
from cribai.match_points import get_match_points

MAX_SHOW: Final = 30

POINTS: Final = -1
"""The stake of one who plays for points: what matters is the difference, weighted."""

STANDING: Final = np.dtype(
    [
        ("stake", np.int64),  # WIN and so on, or POINTS
        ("own_weight", np.float64),  # when playing for points: what one is worth to each side
        ("other_weight", np.float64),
        ("own_score", np.int64),  # scores before the points under consideration
        ("other_score", np.int64),
        ("own_deals", np.int64),
        ("own_hand", np.int64),  # what the hands will show
        ("other_hand", np.int64),
        ("num_cribs", np.int64),  # and what the crib may
        ("crib_points", np.int64, MAX_SHOW),
        ("crib_chances", np.float64, MAX_SHOW),
    ],
    align=True,
)


@inlined
def before_deal(tables: Any, stake: int, own: int, other: int, own_deals: int) -> float:
    """Returns the worth of scores below the target before a deal."""
    if own_deals:
        return tables["worth"][stake, own, other]
    return -tables["worth"][stake, other, own]


@inlined
def after_crib(tables: Any, stake: int, own: int, other: int, own_deals: int, crib: int) -> float:
    """Returns the worth of scores below the target when only the crib is left to count.

    Args:
        tables: KNOWLEDGE record.
        stake: What is played for.
        own: The player's score.
        other: The opponent's.
        own_deals: 1 if the player has this crib, 0 if the opponent has.
        crib: What it scores.
    """
    if own_deals:
        if own + crib >= TARGET:
            return tables["prize"][stake, other]
        return -tables["worth"][stake, other, own + crib]
    if other + crib >= TARGET:
        return -tables["prize"][stake, own]
    return tables["worth"][stake, own, other + crib]


@inlined
def after_pegging(standing: Any, tables: Any, own: int, other: int) -> float:
    """Returns the worth of the points pegged once all cards are laid; the show is still to come.

    Args:
        standing: STANDING record.
        tables: KNOWLEDGE record.
        own: Points that the player has pegged since the standing.
        other: Points that the opponent has pegged.
    """
    stake = standing["stake"]
    if stake == POINTS:
        return standing["own_weight"] * own - standing["other_weight"] * other
    own += standing["own_score"]
    other += standing["other_score"]
    own_deals = standing["own_deals"]
    if own_deals:
        other += standing["other_hand"]
        if other >= TARGET:
            return -tables["prize"][stake, own]
    own += standing["own_hand"]
    if own >= TARGET:
        return tables["prize"][stake, other]
    if not own_deals:
        other += standing["other_hand"]
        if other >= TARGET:
            return -tables["prize"][stake, own]
    worth = 0.0
    for i in range(standing["num_cribs"]):
        worth += standing["crib_chances"][i] * after_crib(
            tables, stake, own, other, own_deals, standing["crib_points"][i]
        )
    return worth


@inlined
def game_over(standing: Any, tables: Any, own: int, other: int) -> float:
    """Returns the prize if points pegged end the game, else 0.

    Args:
        standing: STANDING record.
        tables: KNOWLEDGE record.
        own: Points that the player has pegged since the standing.
        other: Points that the opponent has pegged.
    """
    if standing["stake"] == POINTS:
        return 0.0
    if standing["own_score"] + own >= TARGET:
        return tables["prize"][standing["stake"], standing["other_score"] + other]
    if standing["other_score"] + other >= TARGET:
        return -tables["prize"][standing["stake"], standing["own_score"] + own]
    return 0.0


@inlined
def weigh_points(standing: Any, tables: Any, stake: int, own: float, other: float) -> None:
    """Turns a standing far from the end into one for points, each weighted by what it is worth.

    Args:
        standing: STANDING record. Modified in place: `stake` and the weights.
        tables: KNOWLEDGE record.
        stake: What is played for.
        own: The player's average score after the deal.
        other: The opponent's.
    """
    next_deals = 1 - standing["own_deals"]
    step = 3
    own_at = min(max(int(own), step), TARGET - 1 - step)
    other_at = min(max(int(other), step), TARGET - 1 - step)
    up = before_deal(tables, stake, own_at + step, other_at, next_deals)
    down = before_deal(tables, stake, own_at - step, other_at, next_deals)
    standing["own_weight"] = max((up - down) / (2 * step), 1e-6)
    up = before_deal(tables, stake, own_at, other_at + step, next_deals)
    down = before_deal(tables, stake, own_at, other_at - step, next_deals)
    standing["other_weight"] = max((down - up) / (2 * step), 1e-6)
    standing["stake"] = POINTS


@inlined
def peg_out(tables: Any, deal: int, standing: Any, with_heels: bool) -> float:
    """Plays a deal of the library's pegging from a standing.

    Args:
        tables: KNOWLEDGE record.
        deal: Number of the deal.
        standing: STANDING record. Modified in place: the scores, up to the point that ends the
            game if one does.
        with_heels: Whether the starter is still to be turned.

    Returns:
        The prize if the game ended, else 0.
    """
    own_role = standing["own_deals"]
    if with_heels and tables["heels"][deal]:
        if own_role:
            standing["own_score"] += 2
        else:
            standing["other_score"] += 2
        prize = game_over(standing, tables, 0, 0)
        if prize != 0.0:
            return prize
    for i in range(MAX_PEGS):
        role = tables["peg_roles"][deal, i]
        if role < 0:
            break
        if role == own_role:
            standing["own_score"] += tables["peg_points"][deal, i]
        else:
            standing["other_score"] += tables["peg_points"][deal, i]
        prize = game_over(standing, tables, 0, 0)
        if prize != 0.0:
            return prize
    return 0.0


@inlined
def show_worths(tables: Any, standing: Any, num_deals: int, worths: Any) -> None:
    """Averages the worth of a deal yet to be played, by what the player's hand and the crib score.

    Args:
        tables: KNOWLEDGE record.
        standing: STANDING record before the starter is turned; its scores are the player's and the
            opponent's, its stake is not POINTS.
        num_deals: How many deals of the library to average over.
        worths: float64 array (30, 30). Modified in place: by the hand's and the crib's points.
    """
    stake = standing["stake"]
    own_deals = standing["own_deals"]
    own_before = standing["own_score"]
    other_before = standing["other_score"]
    worths[:] = 0.0
    for number in range(num_deals):
        deal = number * (LIBRARY_SIZE // num_deals)
        standing["own_score"] = own_before
        standing["other_score"] = other_before
        prize = peg_out(tables, deal, standing, True)
        if prize != 0.0:
            for hand in range(MAX_SHOW):
                for crib in range(MAX_SHOW):
                    worths[hand, crib] += prize
            continue
        other_hand = tables["hands"][deal, 1 - own_deals]
        for hand in range(MAX_SHOW):
            own = standing["own_score"] + hand
            other = standing["other_score"] + other_hand
            result = 0.0
            if own_deals:
                if other >= TARGET:
                    result = -tables["prize"][stake, standing["own_score"]]
                elif own >= TARGET:
                    result = tables["prize"][stake, other]
            elif own >= TARGET:
                result = tables["prize"][stake, standing["other_score"]]
            elif other >= TARGET:
                result = -tables["prize"][stake, own]
            for crib in range(MAX_SHOW):
                if result != 0.0:
                    worths[hand, crib] += result
                else:
                    worths[hand, crib] += after_crib(tables, stake, own, other, own_deals, crib)
    standing["own_score"] = own_before
    standing["other_score"] = other_before
    for hand in range(MAX_SHOW):
        for crib in range(MAX_SHOW):
            worths[hand, crib] /= num_deals


def win_probability(score: int, opponent_score: int, *, is_dealer: bool) -> float:
    """Returns the chance to win from scores before a deal, in the game to 121.

    Args:
        score: The player's score.
        opponent_score: The opponent's.
        is_dealer: Whether the player deals next.

    Raises:
        RulesError: A score is not 0 to 120.
    """
    return (_ahead(score, opponent_score, is_dealer, WIN) + 1) / 2


def match_points_ahead(
    score: int, opponent_score: int, *, is_dealer: bool, table: str = "plain"
) -> float:
    """Returns how many match points more the player wins than the opponent, on average.

    Args:
        score: The player's score before a deal.
        opponent_score: The opponent's.
        is_dealer: Whether the player deals next.
        table: Name of the match points, see `cribai.rules.MATCH_POINTS`.

    Raises:
        RulesError: A score is not 0 to 120, or no table has the name.
    """
    stakes = {"plain": PLAIN, "quadruple": QUADRUPLE, "acc": ACC}
    return _ahead(score, opponent_score, is_dealer, stakes[get_match_points(table).name])


def _ahead(score: int, opponent_score: int, is_dealer: bool, stake: int) -> float:
    for number in (score, opponent_score):
        if not 0 <= number < TARGET:
            raise RulesError(f"The score {number} is not from 0 to {TARGET - 1}.")
    worth = load_knowledge()[0]["worth"][stake]
    if is_dealer:
        return float(worth[score, opponent_score])
    return -float(worth[opponent_score, score])
