"""Trees of every way to peg some fixed deals: their leaves and points, counted once and for all.

A leaf is the end of the pegging, by the last card or by a win; its points are all that was pegged
on the way. The deals and counts are in golden/perft.json; hands are listed with the tossed cards
last.
"""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from cribai import Deal, Game, GameBatch, get_rules, parse_cards
from cribai.engine import state as engine
from reference import ReferenceGame

ROWS = json.loads((Path(__file__).parent / "golden" / "perft.json").read_text("utf-8"))
LARGEST = 20_000
ALL_SEATS_PEGGING = [engine.PONE_PEGGING, engine.DEALER_PEGGING]


def deal_of(row: dict[str, Any]) -> Deal:
    starter, *to_crib = parse_cards(row["starter_and_crib"])
    return Deal(tuple(parse_cards(hand) for hand in row["hands"]), starter, tuple(to_crib))


def tossed_game(row: dict[str, Any]) -> Game:
    """The row's game at its first play."""
    rules = get_rules(row["rules"])
    game = Game(rules, seed=0, first_dealer=0, deals=[deal_of(row)], scores=row["scores"])
    while game.is_discard:
        hand = parse_cards(row["hands"][game.view().player])
        game.push_cards(*hand[-rules.cards_tossed :])
    return game


def count_by_engine(batch: GameBatch) -> tuple[int, int]:
    """Leaves and points below states that are all in one deal, a whole generation at a time."""
    states = batch.states
    leaves = points = 0
    stack = [states]
    while stack:
        states = stack.pop()
        if len(states) > LARGEST:
            stack += np.array_split(states, 2)
            continue
        masks = GameBatch(states, batch.rules).views().action_masks()
        parents, actions = np.nonzero(masks)
        children = GameBatch(states[parents], batch.rules)
        children.step(actions)
        over = children.over
        pegging = ~over & (children.states["num_plays"] > 0)
        ended = children.states[~pegging]
        leaves += len(ended)
        points += int(pegged(ended).sum())
        if pegging.any():
            stack.append(children.states[pegging])
    return leaves, points


def pegged(states: NDArray[Any]) -> NDArray[np.int64]:
    """What all pegged in a first deal: tallied at its end, and still apart when a win cut it."""
    tallied = states["points"][:, :, ALL_SEATS_PEGGING].sum(axis=(1, 2), dtype=np.int64)
    complete = states["times"][:, :, ALL_SEATS_PEGGING].sum(axis=(1, 2)) > 0
    points: NDArray[np.int64] = np.where(complete, tallied, states["pegged"].sum(axis=1))
    return points


def count_by_reference(game: ReferenceGame) -> tuple[int, int]:
    if game.phase != "play":
        return 1, sum(points for _, points, why in game.log if why in ("play", "go", "last"))
    leaves = points = 0
    for card in game.legal_cards():
        child = copy.copy(game)
        child.scores = game.scores[:]
        child.log = game.log[:]
        child.unplayed = [hand[:] for hand in game.unplayed]
        child.series = game.series[:]
        child.laid = game.laid[:]
        child.go_counts = game.go_counts[:]
        child.play(card)
        below = count_by_reference(child)
        leaves += below[0]
        points += below[1]
    return leaves, points


def reference_game(row: dict[str, Any]) -> ReferenceGame:
    rules = get_rules(row["rules"])
    deal = deal_of(row)
    game = ReferenceGame(
        [reference.Deal(deal.hands, deal.to_crib, deal.starter)],
        num_players=rules.num_players,
        cards_dealt=rules.cards_dealt,
        cards_tossed=rules.cards_tossed,
        crib_from_deck=rules.crib_from_deck,
        target=rules.target,
        partnerships=rules.partnerships,
        scores=row["scores"],
    )
    while game.phase == "discard":
        assert game.actor is not None
        game.toss(deal.hands[game.actor][-rules.cards_tossed :])
    return game


def expected(row: dict[str, Any]) -> tuple[int, int]:
    return row["leaves"], row["points"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_engine_counts(row: dict[str, Any]) -> None:
    game = tossed_game(row)
    assert count_by_engine(game._batch) == expected(row)


@pytest.mark.kernels
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["leaves"] < 200], ids=lambda row: row["name"]
)
def test_engine_counts_small_trees(row: dict[str, Any]) -> None:
    game = tossed_game(row)
    assert count_by_engine(game._batch) == expected(row)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["leaves"] < 20_000], ids=lambda row: row["name"]
)
def test_oracle_counts(row: dict[str, Any]) -> None:
    assert count_by_reference(reference_game(row)) == expected(row)
