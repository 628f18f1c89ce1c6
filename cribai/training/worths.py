"""What the lays of roots were worth, from how their games went or by the analysis' search."""

from typing import Any, Final

from cribai.analysis.knowledge import WIN
from cribai.analysis.lays import value_lays
from cribai.analysis.pegging import CAUTIOUS, lay_value
from cribai.analysis.positions import after_pegging, game_over
from cribai.engine.jit import inlined, kernel
from cribai.engine.scoring import show_points
from cribai.engine.viewing import write_view
from cribai.training.features import KEPT
from cribai.training.stakes import point_unit

MOST_POINTS: Final = 25.0
"""What a lay is taken to be worth at most, in points, so that no single one upsets the learner."""


@inlined
def take_show(state: Any, rules: Any, standing: Any, root: Any) -> None:
    """Writes what a deal's hands and crib will show into a standing.

    Args:
        state: STATE record with the starter turned; who deals may have changed since.
        rules: RULES record.
        standing: STANDING record. Modified in place.
        root: ROOT record, whose player's standing it is.
    """
    starter = int(state["starter"])
    player = root["player"]
    standing["stake"] = WIN
    standing["own_score"] = root["own_score"]
    standing["other_score"] = root["other_score"]
    standing["own_deals"] = root["own_deals"]
    standing["own_hand"] = show_points(state["hands"], player, KEPT, starter, False, rules)
    standing["other_hand"] = show_points(state["hands"], 1 - player, KEPT, starter, False, rules)
    standing["num_cribs"] = 1
    standing["crib_points"][0] = show_points(state["crib"], 0, KEPT, starter, True, rules)
    standing["crib_chances"][0] = 1.0


@inlined
def root_unit(standing: Any, stakes: Any) -> float:
    """Returns what a point is worth at a standing; see `cribai.training.stakes.point_unit`."""
    return float(
        point_unit(
            stakes,
            standing["own_deals"],
            standing["own_score"],
            standing["other_score"],
            standing["own_hand"],
        )
    )


@inlined
def write_target(targets: Any, masks: Any, number: int, rank: int, points: float) -> None:
    """Writes what a lay of a root was worth, MOST_POINTS at most either way.

    Args:
        targets: float32 array (k, 13). Modified in place.
        masks: float32 array (k, 13). Modified in place: 1 where a target is given.
        number: The root.
        rank: The rank laid.
        points: Its worth.
    """
    targets[number, rank] = min(max(points, -MOST_POINTS), MOST_POINTS)
    masks[number, rank] = 1.0


@kernel
def value_roots(
    states: Any,
    rules: Any,
    tables: Any,
    stakes: Any,
    standings: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    targets: Any,
    masks: Any,
    wins: Any,
) -> None:
    """Values the lays of the roots from how their games went.

    Args:
        states: STATE array, all played out.
        rules: RULES array (1,).
        tables: KNOWLEDGE array (1,).
        stakes: STAKES array (1,).
        standings: STANDING array (1,). Scratch.
        counts: COUNTS array (1,).
        roots: ROOT array.
        branches: BRANCH array.
        targets: float32 array (k, 13). Modified in place: what was laid.
        masks: float32 array (k, 13). Modified in place: 1 where a target is given.
        wins: float32 array (k,). Modified in place: the chance to win after the best lay.
    """
    standing = standings[0]
    for place in range(counts[0]["branches"]):
        branch = branches[place]
        number = branch["root"]
        rank = branch["rank"]
        root = roots[number]
        state = states[branch["state"]]
        player = root["player"]
        take_show(state, rules[0], standing, root)
        own = state["pegged"][player] - root["own_pegged"]
        other = state["pegged"][1 - player] - root["other_pegged"]
        worth = game_over(standing, tables[0], own, other)
        if worth == 0.0:
            worth = after_pegging(standing, tables[0], own, other)
        before = after_pegging(standing, tables[0], 0, 0)
        if rank == root["best"]:
            wins[number] = 0.5 * (worth + 1.0)
        points = (worth - before) / root_unit(standing, stakes[0])
        write_target(targets, masks, number, rank, points)


@inlined
def packed_hand(state: Any, player: int) -> int:
    """Returns the cards that a player has yet to lay, packed; see `cribai.analysis.pegging`."""
    hand = 0
    number = 0
    for slot in range(KEPT):
        if (int(state["played"][player]) >> slot) & 1 == 0:
            hand |= ((int(state["hands"][player, slot]) >> 2) + 1) << (4 * number)
            number += 1
    return hand


@kernel
def search_roots(
    states: Any,
    rules: Any,
    tables: Any,
    stakes: Any,
    standings: Any,
    search: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    targets: Any,
    masks: Any,
    wins: Any,
) -> None:
    """Values the lays of the roots by search; see `value_roots`.

    Args:
        states: STATE array, the roots' states as they were.
        rules: RULES array (1,).
        tables: KNOWLEDGE array (1,).
        stakes: STAKES array (1,).
        standings: STANDING array (1,). Scratch.
        search: SEARCH array (1,). Modified in place.
        counts: COUNTS array (1,).
        roots: ROOT array.
        branches: BRANCH array, one for each root.
        targets: float32 array (k, 13). Modified in place.
        masks: float32 array (k, 13). Modified in place.
        wins: float32 array (k,). Modified in place.
    """
    standing = standings[0]
    search[0]["replies"] = CAUTIOUS
    for place in range(counts[0]["branches"]):
        branch = branches[place]
        number = branch["root"]
        root = roots[number]
        state = states[branch["state"]]
        player = root["player"]
        take_show(state, rules[0], standing, root)
        before = after_pegging(standing, tables[0], 0, 0)
        hand = packed_hand(state, player)
        reply = packed_hand(state, 1 - player)
        held = -1
        for slot in range(KEPT):
            held += (int(state["played"][player]) >> slot) & 1 == 0
            if (int(state["playable"]) >> slot) & 1 == 0:
                continue
            rank = int(state["hands"][player, slot]) >> 2
            if masks[number, rank] > 0.0:
                continue
            worth = lay_value(
                search[0],
                standing,
                tables[0],
                hand,
                reply,
                held,
                int(state["series"]),
                int(state["series_length"]),
                int(state["count"]),
            )
            if rank == branch["rank"]:
                wins[number] = 0.5 * (worth + 1.0)
            points = (worth - before) / root_unit(standing, stakes[0])
            write_target(targets, masks, number, rank, points)


@kernel
def average_roots(
    states: Any,
    rules: Any,
    tables: Any,
    stakes: Any,
    standings: Any,
    views: Any,
    lays: Any,
    counts: Any,
    roots: Any,
    branches: Any,
    targets: Any,
    masks: Any,
) -> None:
    """Values the lays of the roots by search, averaged over the hands the opponent may hold.

    Args:
        states: STATE array, the roots' states as they were.
        rules: RULES array (1,).
        tables: KNOWLEDGE array (1,).
        stakes: STAKES array (1,).
        standings: STANDING array (1,). Scratch.
        views: VIEW array (1,). Scratch.
        lays: LAYS array (1,) with how to answer. Modified in place.
        counts: COUNTS array (1,).
        roots: ROOT array.
        branches: BRANCH array, one for each root.
        targets: float32 array (k, 13). Modified in place.
        masks: float32 array (k, 13). Modified in place.
    """
    for place in range(counts[0]["branches"]):
        branch = branches[place]
        number = branch["root"]
        state = states[branch["state"]]
        player = int(state["actor"])
        write_view(state, rules[0], player, 0, views[0])
        value_lays(views[0], rules[0], tables[0], lays[0])
        take_show(state, rules[0], standings[0], roots[number])
        unit = root_unit(standings[0], stakes[0])
        base = 0.0
        for slot in range(KEPT):
            if lays[0]["considered"][slot]:
                base = lays[0]["worths"][slot]
        for slot in range(KEPT):
            if lays[0]["considered"][slot]:
                rank = int(state["hands"][player, slot]) >> 2
                points = (lays[0]["worths"][slot] - base) / unit
                write_target(targets, masks, number, rank, points)
