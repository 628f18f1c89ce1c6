"""What each lay is worth: the deal searched to its end against what the opponent may hold."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.beliefs import BELIEF, believe
from cribai.analysis.knowledge import DEALER, PONE, TARGET, WIN
from cribai.analysis.pegging import CAUTIOUS, SEARCH, lay_value
from cribai.analysis.positions import MAX_SHOW, POINTS, STANDING, weigh_points
from cribai.analysis.tosses import AVERAGE_SHOW
from cribai.analysis.tossing import CRIB, crib_chances, weigh_cribs
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import TABLE_BASE, show_points

KEPT: Final = 4

SAMPLES: Final = 80
HORIZON: Final = 45
DOUBT: Final = 0.02
GREED: Final = 1.5
"""How lays are answered if nothing else is asked for; see LAYS."""

LAYS: Final = np.dtype(
    [
        # How to answer: what is played for, the target, how near to it the end is near, how many
        # hands of the opponent are searched, how he replies (see `pegging`) and how he is believed
        # to have kept and laid (see `beliefs`).
        ("stake", np.int64),
        ("target", np.int64),
        ("horizon", np.int64),
        ("samples", np.int64),
        ("replies", np.int64),
        ("doubt", np.float64),
        ("greed", np.float64),
        # The answer, by kept card: whether it was considered (of equal ranks the lowest is), and
        # what it is worth. A lone choice is not searched.
        ("num_choices", np.int64),
        ("considered", np.int8, KEPT),
        ("worths", np.float64, KEPT),
        # Scratch.
        ("belief", BELIEF),
        ("search", SEARCH),
        ("standing", STANDING),
        ("crib", CRIB),
        ("chances", np.float64, MAX_SHOW),
        ("known", np.int64, (1, 16)),
    ],
    align=True,
)


def new_lays(
    *,
    stake: int = WIN,
    target: int = TARGET,
    horizon: int = HORIZON,
    samples: int = SAMPLES,
    replies: int = CAUTIOUS,
    doubt: float = DOUBT,
    greed: float = GREED,
) -> NDArray[Any]:
    """Returns a LAYS record in an array (1,) that says how to answer, without an answer."""
    lays = np.zeros(1, LAYS)
    lays["stake"] = stake
    lays["target"] = target
    lays["horizon"] = horizon
    lays["samples"] = samples
    lays["replies"] = replies
    lays["doubt"] = doubt
    lays["greed"] = greed
    return lays


@kernel
def value_lays(view: Any, rules: Any, tables: Any, lays: Any) -> None:
    """Values the cards that may be laid, in the six-card game for two.

    Args:
        view: VIEW record with a card to be laid.
        rules: RULES record.
        tables: KNOWLEDGE record.
        lays: LAYS record with how to answer. Modified in place: the answer. Worths are in points
            pegged more than the opponent when points are played for.
    """
    hand = 0
    num_held = 0
    last = -1
    lays["num_choices"] = 0
    for slot in range(KEPT):
        lays["considered"][slot] = 0
        lays["worths"][slot] = 0.0
        if (view["played"] >> slot) & 1 == 0:
            rank = int(view["hand"][slot]) >> 2
            hand |= (rank + 1) << (4 * num_held)
            num_held += 1
            if (view["playable"] >> slot) & 1 and rank != last:
                lays["considered"][slot] = 1
                lays["num_choices"] += 1
                last = rank
    if lays["num_choices"] <= 1:
        return
    take_standing(view, rules, tables, lays)
    standing = lays["standing"]
    search = lays["search"]
    search["replies"] = lays["replies"]
    belief = lays["belief"]
    believe(view, tables, lays, belief)
    samples = lays["samples"]
    step = belief["total"] / samples
    reached = 0.0
    due = step * (float(view["key"] >> np.uint64(11)) / 2.0**53)
    total = 0.0
    for number in range(belief["num_hands"]):
        weight = belief["weights"][number]
        if belief["num_hands"] > samples:
            # Systematic sampling: hands are met in proportion to their weights.
            reached += weight
            weight = 0.0
            while due < reached:
                weight += 1.0
                due += step
            if weight == 0.0:
                continue
        total += weight
        reply = belief["hands"][number]
        if standing["stake"] != POINTS:
            standing["other_hand"] = _other_show(view, rules, reply)
        place = 0
        for slot in range(KEPT):
            if (view["played"] >> slot) & 1 == 0:
                if lays["considered"][slot]:
                    lays["worths"][slot] += weight * lay_value(
                        search,
                        standing,
                        tables,
                        hand,
                        reply,
                        place,
                        int(view["series"]),
                        int(view["series_length"]),
                        int(view["count"]),
                    )
                place += 1
    for slot in range(KEPT):
        lays["worths"][slot] /= total


@inlined
def best_slot(lays: Any) -> int:
    """Returns the kept card of greatest worth, the highest of equals."""
    best = -1
    for slot in range(KEPT):
        if lays["considered"][slot] and (best < 0 or lays["worths"][slot] >= lays["worths"][best]):
            best = slot
    return best


@inlined
def take_standing(view: Any, rules: Any, tables: Any, lays: Any) -> None:
    """Writes into the standing what points pegged from here on will be worth."""
    standing = lays["standing"]
    shift = TARGET - lays["target"]
    own = view["scores"][0] + shift
    other = view["scores"][1] + shift
    role = DEALER if view["dealer"] == 0 else PONE
    standing["stake"] = lays["stake"]
    standing["own_score"] = own
    standing["other_score"] = other
    standing["own_deals"] = role
    if lays["stake"] == POINTS:
        standing["own_weight"] = 1.0
        standing["other_weight"] = 1.0
    elif max(own, other) >= TARGET - lays["horizon"]:
        _expect_show(view, rules, tables, lays)
    else:
        own_after = own + AVERAGE_SHOW[role]
        other_after = other + AVERAGE_SHOW[1 - role]
        weigh_points(standing, tables, lays["stake"], own_after, other_after)


@inlined
def _other_show(view: Any, rules: Any, reply: int) -> int:
    """Returns what the opponent's hand shows, by ranks, if he has yet to lay a packed hand."""
    index = 0
    while reply:
        index = index * TABLE_BASE + (reply & 15) - 1
        reply >>= 4
    for i in range(int(view["num_plays"])):
        if view["play_players"][i] == 1:
            index = index * TABLE_BASE + (view["play_cards"][i] >> 2)
    return int(rules["table"][index * TABLE_BASE + (view["starter"] >> 2)])


@inlined
def _expect_show(view: Any, rules: Any, tables: Any, lays: Any) -> None:
    """Writes what the player's hand will show, and what the crib may, into the standing."""
    standing = lays["standing"]
    known = lays["known"]
    starter = int(view["starter"])
    first = int(view["tossed"][0])
    second = int(view["tossed"][1])
    for i in range(KEPT):
        known[0, i] = view["hand"][i]
    standing["own_hand"] = show_points(known, 0, KEPT, starter, False, rules)
    known[0, KEPT] = first
    known[0, KEPT + 1] = second
    known[0, KEPT + 2] = starter
    number = KEPT + 3
    for i in range(int(view["num_plays"])):
        if view["play_players"][i] == 1:
            known[0, number] = view["play_cards"][i]
            number += 1
    other_role = 1 - standing["own_deals"]
    weigh_cribs(known[0], number, tables["toss_chance"][other_role], lays["crib"])
    crib_chances(lays["crib"], first, second, starter, rules["table"], lays["chances"])
    number = 0
    for points in range(MAX_SHOW):
        if lays["chances"][points] > 0.0:
            standing["crib_points"][number] = points
            standing["crib_chances"][number] = lays["chances"][points]
            number += 1
    standing["num_cribs"] = number
