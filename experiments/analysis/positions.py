"""Solves what scores are worth before a deal, from whole deals in the order that points fell."""

from typing import Any

import numpy as np

from cribai.analysis.knowledge import DEALER, TARGET
from cribai.engine.jit import inlined, kernel


def solve_positions(deals: dict[str, Any], prize: Any, number: int) -> Any:
    """Returns the worth to the dealer by his score and the pone's, float64 array (121, 121).

    Args:
        deals: What `deals.play_deals` returns.
        prize: float64 array (121,), what winning is worth by the loser's score.
        number: How many deals to average over.
    """
    names = ("roles", "points", "heels", "hands", "cribs")
    worth = np.zeros((TARGET, TARGET))
    _solve(*(np.ascontiguousarray(deals[name][:number]) for name in names), prize, worth)
    return worth


@kernel
def _solve(
    roles: Any, points: Any, heels: Any, hands: Any, cribs: Any, prize: Any, worth: Any
) -> None:
    # A deal only adds to the scores, so the highest sums come first; in the few deals that add
    # nothing the roles alone change, and an even chance stands in for the worth not yet known.
    number = len(cribs)
    for total in range(2 * (TARGET - 1), -1, -1):
        for dealer in range(max(0, total - TARGET + 1), min(TARGET - 1, total) + 1):
            pone = total - dealer
            result = 0.0
            for deal in range(number):
                result += _result(
                    deal, roles, points, heels, hands, cribs, prize, worth, dealer, pone
                )
            worth[dealer, pone] = result / number


@inlined
def _result(
    deal: int,
    roles: Any,
    points: Any,
    heels: Any,
    hands: Any,
    cribs: Any,
    prize: Any,
    worth: Any,
    dealer: int,
    pone: int,
) -> float:
    dealer += 2 * heels[deal]
    if dealer >= TARGET:
        return prize[pone]
    for place in range(roles.shape[1]):
        if roles[deal, place] < 0:
            break
        if roles[deal, place] == DEALER:
            dealer += points[deal, place]
            if dealer >= TARGET:
                return prize[pone]
        else:
            pone += points[deal, place]
            if pone >= TARGET:
                return -prize[dealer]
    pone += hands[deal, 0]
    if pone >= TARGET:
        return -prize[dealer]
    dealer += hands[deal, 1]
    if dealer < TARGET:
        dealer += cribs[deal]
    if dealer >= TARGET:
        return prize[pone]
    return -worth[pone, dealer]
