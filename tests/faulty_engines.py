"""The slow oracle as an engine under the conformance fixtures, and the faults to put into it.

A fault replaces functions of the oracle or methods of its game; `conformance_faults.py` lists them
with the fixtures that have to notice.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from unittest import mock

import reference
from cribai.conformance import DealtCards, EngineAdapter
from reference import ReferenceGame, rank, suit, value

FILLER = reference.Deal(
    [reference.parse("AC 2C 3C 4C 5C 6C"), reference.parse("AD 2D 3D 4D 5D 6D")], [], 51
)
TRUE = {name: getattr(reference, name) for name in dir(reference) if name.endswith("_points")}
TRUE_DEAL, TRUE_TURN = ReferenceGame._deal, ReferenceGame._turn_starter
TRUE_AWARD, TRUE_PLAY = ReferenceGame._award, ReferenceGame.play


def parse(cards: Sequence[str]) -> list[int]:
    return reference.parse(" ".join(cards))


def text(card: int) -> str:
    return reference.RANKS[rank(card)] + reference.SUITS[card % 4]


class OracleAdapter(EngineAdapter):
    """The slow oracle; where `limited`, it starts from 0-0 with seat 0 as the dealer only."""

    def __init__(self, *, limited: bool = False, may_pass: bool = False) -> None:
        self.limited = limited
        self.may_pass = may_pass

    def show_points(self, hand: Sequence[str], starter: str, is_crib: bool) -> int:
        return reference.show_points(parse(hand), parse([starter]), is_crib)

    def play_points(self, series: Sequence[str]) -> int:
        return reference.play_points(parse(series))

    def start(self, deals: Sequence[DealtCards], dealer: int, scores: tuple[int, int]) -> None:
        if self.limited and (dealer, scores) != (0, (0, 0)):
            raise NotImplementedError("starts from 0-0 only")
        given = [
            reference.Deal([parse(hand) for hand in deal.hands], [], parse([deal.starter])[0])
            for deal in deals
        ]
        self.game = ReferenceGame(
            lambda number: given[number] if number < len(given) else FILLER,
            first_dealer=dealer,
            scores=scores,
        )

    def toss(self, tosses: tuple[Sequence[str], Sequence[str]]) -> None:
        dealer = self.game.dealer
        for seat in (1 - dealer, dealer):
            self.game.toss(parse(tosses[seat]))

    def lay(self, card: str) -> None:
        self.game.play(parse([card])[0])

    def actor(self) -> int | None:
        return self.game.actor

    def legal_moves(self) -> Collection[str]:
        return [text(card) for card in self.game.legal_cards()] + ["go"] * self.may_pass

    def scores(self) -> tuple[int, int]:
        first, second = self.game.scores
        return first, second

    def winner(self) -> int | None:
        return self.game.winner


@dataclass(frozen=True)
class Fault:
    """What to replace, by name, and the fixtures that must fail for it."""

    replaced: dict[str, Callable[..., Any]]
    caught_by: tuple[str, ...]
    may_pass: bool = False

    @contextmanager
    def engine(self, *, limited: bool = False) -> Iterator[OracleAdapter]:
        """The oracle with the fault, as long as the context lasts."""
        with ExitStack() as stack:
            for name, function in self.replaced.items():
                owner = ReferenceGame if hasattr(ReferenceGame, name) else reference
                stack.enter_context(mock.patch.object(owner, name, function))
            # What the oracle remembers was found without the fault, and is not to outlast it.
            reference.rank_parts.cache_clear()
            stack.callback(reference.rank_parts.cache_clear)
            yield OracleAdapter(limited=limited, may_pass=self.may_pass)


# ---------------------------------------------------------------------------------- the show


def flush_with_any_four(hand: Sequence[int], starters: Sequence[int], is_crib: bool) -> int:
    suits = [suit(card) for card in [*hand, *starters]]
    most = max(suits.count(one) for one in suits)
    return most if most >= 4 + is_crib else 0


def nobs_of_any_suit(hand: Sequence[int], _: Sequence[int]) -> int:
    return sum(rank(card) == reference.JACK for card in hand)


def nobs_for_the_starter(hand: Sequence[int], starters: Sequence[int]) -> int:
    return int(TRUE["nobs_points"](hand, starters)) or nobs_of_any_suit(starters, hand)


def fifteens_of_two_cards(cards: Sequence[int]) -> int:
    return sum(2 for pair in combinations(cards, 2) if sum(map(value, pair)) == 15)


def one_pair_a_rank(cards: Sequence[int]) -> int:
    ranks = [rank(card) for card in cards]
    return sum(2 for one in set(ranks) if ranks.count(one) > 1)


def runs_of_distinct_ranks(cards: Sequence[int]) -> int:
    return int(TRUE["run_points"](list({rank(card): card for card in cards}.values())))


def runs_within_runs(cards: Sequence[int]) -> int:
    return sum(len(chosen) for chosen in reference.subsets(cards) if reference.is_run(chosen))


def runs_around_the_corner(cards: Sequence[int]) -> int:
    ranks = {rank(card) for card in cards}
    return int(TRUE["run_points"](cards)) + (3 if {11, 12, 0} <= ranks else 0)


# ---------------------------------------------------------------------------------- the play


def last_run(series: Sequence[int], is_run: Callable[[Sequence[int]], bool]) -> int:
    return max((len(series) - n for n in range(len(series)) if is_run(series[n:])), default=0)


def pegging_runs(is_run: Callable[[Sequence[int]], bool]) -> Callable[[Sequence[int]], int]:
    """The points of a card when this decides what a run is."""

    def play_points(series: Sequence[int]) -> int:
        others = TRUE["play_points"](series) - last_run(series, reference.is_run)
        return int(others + last_run(series, is_run))

    return play_points


def run_in_order(cards: Sequence[int]) -> bool:
    ranks = [rank(card) for card in cards]
    return reference.is_run(cards) and ranks in (sorted(ranks), sorted(ranks, reverse=True))


def run_through_pairs(cards: Sequence[int]) -> bool:
    return reference.is_run(list({rank(card): card for card in cards}.values()))


def run_only_from_the_start(series: Sequence[int]) -> int:
    run = last_run(series, reference.is_run)
    return int(TRUE["play_points"](series)) - (run if run < len(series) else 0)


def run_spoiled_by_duplicates(series: Sequence[int]) -> int:
    run = last_run(series, reference.is_run)
    spoiled = len({rank(card) for card in series}) < len(series)
    return int(TRUE["play_points"](series)) - (run if spoiled else 0)


def run_only_grows_by_one(series: Sequence[int]) -> int:
    run = last_run(series, reference.is_run)
    skipped = run > 3 and last_run(series[:-1], reference.is_run) != run - 1
    return int(TRUE["play_points"](series)) - (run if skipped else 0)


def pairs_across_other_cards(series: Sequence[int]) -> int:
    ranks = [rank(card) for card in series]
    again = ranks.count(ranks[-1])
    others = int(TRUE["play_points"](series))
    return others if ranks[-2:] == ranks[-1:] * 2 else others + again * (again - 1)


def best_part_only(series: Sequence[int]) -> int:
    count = sum(map(value, series))
    total = int(TRUE["play_points"](series))
    return max(total - 2, 2) if count in (15, 31) and total > 2 else total


def no_more_than_a_pair(series: Sequence[int]) -> int:
    ranks = [rank(card) for card in series]
    count = sum(map(value, series))
    return (
        2 * (count in (15, 31))
        + 2 * (ranks[-2:-1] == ranks[-1:])
        + last_run(series, reference.is_run)
    )


def thirty_one_is_one(series: Sequence[int]) -> int:
    return int(TRUE["play_points"](series)) - (sum(map(value, series)) == 31)


# ---------------------------------------------------------------------------------- the turn


def turning(*quirks: str) -> Callable[[ReferenceGame, int], None]:
    """What happens after a card is laid, with quirks."""

    def pass_turn_from(self: ReferenceGame, last: int) -> None:
        other = 1 - last
        if self.count < 31:
            if self._playable(other):
                self.actor = other
                return
            if "a point for every go" in quirks and self.unplayed[other]:
                self._award(last, 1, "go")
            if self._playable(last) and "the first go ends all" not in quirks:
                self.actor = last
                return
        left = any(self.unplayed)
        if self.count < 31 or "a go on thirty-one" in quirks:
            fifteen = self.count == 15 and "not with fifteen" in quirks
            none = "no go" in quirks if left else "no last card" in quirks or fifteen
            self._award(other if "the go to the other" in quirks else last, 1 - none, "go")
        if self.phase == "over":
            return
        self.series = []
        leaders = {
            "the layer leads": [last, other],
            "the pone leads": [1 - self.dealer, self.dealer],
            "seat 0 leads": [0, 1],
        }
        order = next((leaders[quirk] for quirk in quirks if quirk in leaders), [other, last])
        for player in order:
            if self.unplayed[player] or ("the lead without cards" in quirks and left):
                self.actor = player
                return
        self._show()

    return pass_turn_from


def play_across_series(self: ReferenceGame, card: int) -> None:
    def play_points(series: Sequence[int]) -> int:
        laid = [earlier for _, earlier in self.laid] + [card]
        here, there = (2 * (sum(map(value, cards)) in (15, 31)) for cards in (series, laid))
        return int(TRUE["play_points"](laid)) - there + here

    with mock.patch.object(reference, "play_points", play_points):
        TRUE_PLAY(self, card)


def lay_anything(self: ReferenceGame) -> list[int]:
    return [] if self.phase != "play" or self.actor is None else self.unplayed[self.actor]


# ---------------------------------------------------------------------------------- the deal


def dealer_leads(self: ReferenceGame) -> None:
    TRUE_TURN(self)
    if self.phase == "play":
        self.actor = self.dealer


def heels(quirk: str) -> Callable[[ReferenceGame, int, int, str], None]:
    """Awards of points, with a quirk for heels."""

    def award(self: ReferenceGame, player: int, points: int, why: str) -> None:
        if why != "heels":
            TRUE_AWARD(self, player, points, why)
        elif quirk == "to the pone":
            TRUE_AWARD(self, 1 - player, points, why)
        elif quirk == "do not win":
            self.scores[player] += points

    return award


def showing(*quirks: str) -> Callable[[ReferenceGame], None]:
    """The show, with quirks."""

    def show(self: ReferenceGame) -> None:
        pone, dealer = 1 - self.dealer, self.dealer
        hands = self.unplayed if "hands are empty" in quirks else self.hands
        order = [0, 1] if "by seat" in quirks else [pone, dealer]
        for player in reversed(order) if "dealer first" in quirks else order:
            self._award(player, reference.show_points(hands[player], [self.starter], False), "hand")
        crib = reference.show_points(self.crib, [self.starter], True)
        self._award(pone if "crib to the pone" in quirks else dealer, crib, "crib")
        if self.phase != "over":
            self._deal(self.deal_number + 1)

    return show


def award_past_the_target(self: ReferenceGame, player: int, points: int, why: str) -> None:
    self.scores[player] += points
    if why == "crib" and max(self.scores) >= 121:
        self._end(next(seat for seat, score in enumerate(self.scores) if score >= 121))


def award_past_the_target_at_the_show(
    self: ReferenceGame, player: int, points: int, why: str
) -> None:
    (award_past_the_target if why in ("hand", "crib") else TRUE_AWARD)(self, player, points, why)


def name_the_other(self: ReferenceGame, winner: int) -> None:
    self.winner = 1 - winner
    self.phase = "over"
    self.actor = None


def deal_always_by_the_first(self: ReferenceGame, number: int) -> None:
    TRUE_DEAL(self, number)
    self.dealer = self.first_dealer
    self.actor = 1 - self.dealer
