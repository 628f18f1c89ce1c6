"""Looking ahead in the play: the value of laying a card against one hand the opponent may hold.

A hand is packed as the run orders of its cards (ace 1 to king 13), four bits each, ascending from
the lowest bits; suits do not matter in the play. A search sees both hands and plays the deal's
pegging to its end; expectation over the hands that the opponent may hold is the caller's.
"""

from typing import Any, Final

import numpy as np

from cribai.analysis.positions import after_pegging, game_over
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import play_points

FIFTEEN: Final = 15
THIRTY_ONE: Final = 31
_SERIES_MASK: Final = (1 << 60) - 1

SEES_ALL, GREEDY, CAUTIOUS = range(3)
"""Models of the opponent's replies: he knows the player's hand and plays best against it; he lays
the card that pegs most now, the highest of equals; he weighs that against what a hand unknown to
him would peg in reply."""

WORST: Final = 1e9

FEAR: Final = 0.6
"""How much a cautious player minds a reply, beside its chance with one card of any rank."""


FRAME: Final = np.dtype(
    [
        ("hand", np.int64),
        ("reply", np.int64),
        ("series", np.int64),
        ("length", np.int64),
        ("count", np.int64),
        ("sign", np.int64),  # 1 on the player's turn, -1 on the opponent's
        ("own", np.int64),  # points pegged so far
        ("other", np.int64),
        ("alpha", np.float64),
        ("beta", np.float64),
        ("best", np.float64),
        ("place", np.int64),  # the card being tried, -1 when none is left
        ("first", np.int64),  # run order of the one tried first
        ("next_place", np.int64),
    ],
    align=True,
)

SEARCH: Final = np.dtype(
    [
        ("replies", np.int64),  # how the opponent replies
        ("frames", FRAME, 9),  # one for each card laid
    ],
    align=True,
)


@inlined
def value_of_order(order: int) -> int:
    """Returns what a card of a run order counts."""
    return min(order, 10)


@inlined
def without(hand: int, place: int) -> int:
    """Returns a packed hand less the card in a place."""
    low = hand & ((1 << (4 * place)) - 1)
    return low | ((hand >> (4 * (place + 1))) << (4 * place))


@inlined
def can_lay(hand: int, count: int) -> bool:
    """Tells whether the lowest card of a packed hand, if any, fits under thirty-one."""
    return hand != 0 and count + value_of_order(hand & 15) <= THIRTY_ONE


@inlined
def most_pegging(hand: int, series: int, length: int, count: int) -> int:
    """Returns the place of the card of a packed hand that pegs most now, the highest of equals."""
    most = -1
    chosen = 0
    place = 0
    while hand:
        order = hand & 15
        reached = count + value_of_order(order)
        if reached > THIRTY_ONE:
            break
        extended = ((series << 4) | order) & _SERIES_MASK
        points = play_points(extended, length + 1, reached, FIFTEEN, THIRTY_ONE)
        if points >= most:
            most = points
            chosen = place
        hand >>= 4
        place += 1
    return chosen


@inlined
def num_ranks_of(value: int) -> int:
    """Returns how many ranks count a value: one, or four that count ten."""
    if value == 10:
        return 4
    return 1 if 0 < value < 10 else 0


@inlined
def answers(series: int, length: int, count: int) -> int:
    """Returns the points that one card of each rank would peg in all if laid next.

    Pairs, fifteen, thirty-one and runs of three are seen; longer runs are not, for speed.
    """
    last = series & 15
    before = (series >> 4) & 15
    points = 2 * (num_ranks_of(FIFTEEN - count) + num_ranks_of(THIRTY_ONE - count))
    if count + value_of_order(last) <= THIRTY_ONE:
        points += 6 if before == last else 2
    if length < 2:
        return points
    apart = abs(last - before)
    low = min(last, before)
    if apart == 2 and count + value_of_order(low + 1) <= THIRTY_ONE:
        points += 3
    if apart == 1:
        if low > 1 and count + value_of_order(low - 1) <= THIRTY_ONE:
            points += 3
        if low < 12 and count + value_of_order(low + 2) <= THIRTY_ONE:
            points += 3
    return points


@inlined
def cautious_lay(hand: int, series: int, length: int, count: int, num_replies: int) -> int:
    """Returns the place of the card that pegs most now less what may be pegged in reply.

    Args:
        hand: Packed hand; a card of it fits.
        series: The packed series.
        length: Cards in it.
        count: The count.
        num_replies: Cards that the other holds, each of any rank alike.
    """
    most = -WORST
    chosen = 0
    place = 0
    while hand:
        order = hand & 15
        reached = count + value_of_order(order)
        if reached > THIRTY_ONE:
            break
        extended = ((series << 4) | order) & _SERIES_MASK
        value = float(play_points(extended, length + 1, reached, FIFTEEN, THIRTY_ONE))
        if reached < THIRTY_ONE:
            value -= FEAR * num_replies / 13.0 * answers(extended, length + 1, reached)
        if value >= most:
            most = value
            chosen = place
        hand >>= 4
        place += 1
    return chosen


@inlined
def num_cards(hand: int) -> int:
    """Returns how many cards a packed hand of up to four holds."""
    return (hand > 0) + (hand > 0xF) + (hand > 0xFF) + (hand > 0xFFF)


@inlined
def _enter(
    frame: Any,
    hand: int,
    reply: int,
    series: int,
    length: int,
    count: int,
    sign: int,
    own: int,
    other: int,
    alpha: float,
    beta: float,
    replies: int,
) -> None:
    """Writes a position into a frame, its cards yet to be tried."""
    frame["hand"] = hand
    frame["reply"] = reply
    frame["series"] = series
    frame["length"] = length
    frame["count"] = count
    frame["sign"] = sign
    frame["own"] = own
    frame["other"] = other
    frame["alpha"] = alpha
    frame["beta"] = beta
    frame["best"] = -WORST * sign
    # What pegs most now goes first: a good first lay lets the others be cut off early.
    if sign < 0 and replies == CAUTIOUS:
        frame["place"] = cautious_lay(hand, series, length, count, num_cards(reply))
    else:
        frame["place"] = most_pegging(hand, series, length, count)
    frame["first"] = (hand >> (4 * frame["place"])) & 15
    frame["next_place"] = 0


@inlined
def _improve(frame: Any, value: float, replies: int) -> None:
    """Takes the value of the card just tried and moves on to the next, if any is left to try."""
    if frame["sign"] > 0:
        frame["best"] = max(frame["best"], value)
        frame["alpha"] = max(frame["alpha"], value)
    else:
        frame["best"] = min(frame["best"], value)
        frame["beta"] = min(frame["beta"], value)
    tried = (frame["hand"] >> (4 * frame["place"])) & 15
    place = frame["next_place"]
    order = (frame["hand"] >> (4 * place)) & 15
    while order != 0 and (order == frame["first"] or (order == tried and place > 0)):
        place += 1
        order = (frame["hand"] >> (4 * place)) & 15
    if (
        order == 0
        or frame["count"] + value_of_order(order) > THIRTY_ONE
        or frame["alpha"] >= frame["beta"]
        or (frame["sign"] < 0 and replies != SEES_ALL)
    ):
        frame["place"] = -1
    else:
        frame["place"] = place
        frame["next_place"] = place + 1


@kernel
def lay_value(
    search: Any,
    standing: Any,
    tables: Any,
    hand: int,
    reply: int,
    place: int,
    series: int,
    length: int,
    count: int,
) -> float:
    """Returns the value to the player of laying a card, both sides playing the deal out.

    The search keeps its own stack: numba cannot keep recursive functions on disk.

    Args:
        search: SEARCH record. Modified in place: `frames`.
        standing: STANDING record: the scores, and what the show will bring.
        tables: KNOWLEDGE record.
        hand: The player's packed hand.
        reply: The opponent's.
        place: Place in the hand of the card laid; it fits.
        series: The packed series before it.
        length: Cards in it.
        count: The count before it.
    """
    replies = search["replies"]
    _enter(search["frames"][0], hand, reply, series, length, count, 1, 0, 0, -WORST, WORST, replies)
    search["frames"][0]["place"] = place
    depth = 0
    while True:
        frame = search["frames"][depth]
        place = frame["place"]
        if place < 0:
            value = frame["best"]
            depth -= 1
            _improve(search["frames"][depth], value, replies)
            if depth == 0:
                return value
            continue
        sign = frame["sign"]
        reply = frame["reply"]
        order = (frame["hand"] >> (4 * place)) & 15
        left = without(frame["hand"], place)
        series = ((frame["series"] << 4) | order) & _SERIES_MASK
        length = frame["length"] + 1
        count = frame["count"] + value_of_order(order)
        points = play_points(series, length, count, FIFTEEN, THIRTY_ONE)
        lays_again = False
        if count < THIRTY_ONE and not can_lay(reply, count):
            lays_again = can_lay(left, count)
            if not lays_again:
                points += 1
                count = THIRTY_ONE
        if count == THIRTY_ONE:
            series = 0
            length = 0
            count = 0
            lays_again = reply == 0
        own = frame["own"]
        other = frame["other"]
        if sign > 0:
            own += points
        else:
            other += points
        value = game_over(standing, tables, own, other)
        if value == 0.0 and left == 0 and reply == 0:
            value = after_pegging(standing, tables, own, other)
        elif value == 0.0:
            alpha = frame["alpha"]
            beta = frame["beta"]
            if depth == 0:
                alpha = -WORST
                beta = WORST
            depth += 1
            if lays_again:
                _enter(
                    search["frames"][depth], left, reply, series, length, count, sign, own, other,
                    alpha, beta, replies,
                )  # fmt: skip
            else:
                _enter(
                    search["frames"][depth], reply, left, series, length, count, -sign, own, other,
                    alpha, beta, replies,
                )  # fmt: skip
            continue
        if depth == 0:
            return value
        _improve(frame, value, replies)
