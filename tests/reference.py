"""The slow oracle: the rules of cribbage written once more, to be read rather than to be fast.

Nothing here comes from the package under test. Tests play the same cards through both and compare.

A card is the integer ``4 * rank + suit``: ranks 0 (ace) to 12 (king), suits C, D, H, S = 0 to 3.
Cards 52 to 55 are jokers: worth nothing, without a suit, pairs among themselves, and just below
the ace in a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product

RANKS = "A23456789TJQK"
SUITS = "CDHS"
JACK = 10
KING = 12
JOKER = 13
NEVER_STUCK = 32


def parse(text: str) -> list[int]:
    """The cards of a text such as ``"5H TD"``."""
    return [4 * RANKS.index(word[0]) + SUITS.index(word[1]) for word in text.split()]


def rank(card: int) -> int:
    """0 for the ace to 12 for the king, 13 for a joker."""
    return card // 4


def value(card: int) -> int:
    """What the card adds to a count."""
    return 0 if rank(card) == JOKER else min(rank(card) + 1, 10)


def suit(card: int) -> str | None:
    """The letter of the card's suit; a joker has none."""
    return None if rank(card) == JOKER else SUITS[card % 4]


def step(card: int) -> int:
    """The card's place on the ladder of runs: a joker stands just below the ace."""
    return -1 if rank(card) == JOKER else rank(card)


# ---------------------------------------------------------------------------------- the show


def subsets(cards: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of at least one of the cards; equal cards are different choices."""
    for size in range(1, len(cards) + 1):
        yield from combinations(cards, size)


def is_run(cards: Sequence[int]) -> bool:
    """Whether three cards or more, in any order, are neighbours without a gap or a repeat."""
    steps = sorted(step(card) for card in cards)
    return len(steps) >= 3 and steps == list(range(steps[0], steps[0] + len(steps)))


def fifteen_points(cards: Sequence[int]) -> int:
    """Two for every choice of cards that adds up to fifteen."""
    return sum(2 for chosen in subsets(cards) if sum(map(value, chosen)) == 15)


def pair_points(cards: Sequence[int]) -> int:
    """Two for every two cards of one rank."""
    return sum(2 for one, other in combinations(cards, 2) if rank(one) == rank(other))


def run_points(cards: Sequence[int]) -> int:
    """The length of every run that no other card could make longer."""
    steps = {step(card) for card in cards}
    points = 0
    for chosen in subsets(cards):
        if is_run(chosen):
            below = min(map(step, chosen)) - 1
            above = max(map(step, chosen)) + 1
            if below not in steps and above not in steps:
                points += len(chosen)
    return points


@lru_cache(maxsize=1 << 16)
def rank_parts(ranks: tuple[int, ...]) -> dict[str, int]:
    """The points that do not depend on suits."""
    cards = [4 * rank for rank in ranks]
    return {
        "fifteens": fifteen_points(cards),
        "pairs": pair_points(cards),
        "runs": run_points(cards),
    }


def flush_points(hand: Sequence[int], starters: Sequence[int], is_crib: bool) -> int:
    """One a card when the whole hand is of one suit, and one for each starter that follows suit.

    In the crib there must be a starter, and every one has to follow suit, or there is no flush.
    """
    suits = {suit(card) for card in hand}
    if len(hand) < 3 or len(suits) != 1 or None in suits:
        return 0
    followers = [card for card in starters if suit(card) in suits]
    if is_crib and (not starters or len(followers) != len(starters)):
        return 0
    return len(hand) + len(followers)


def nobs_points(hand: Sequence[int], starters: Sequence[int]) -> int:
    """One for a jack in the hand of a starter's suit."""
    jacks = [suit(card) for card in hand if rank(card) == JACK]
    return sum(jacks.count(suit(starter)) for starter in starters)


def best_kings(hand: Sequence[int], starters: Sequence[int], is_crib: bool) -> int:
    """The points of the best cards that wild kings can count as, by trying every card for each."""
    plain, plain_starters = without_kings(hand), without_kings(starters)
    # Which of the kings in the hand is which card is all one, and so it is among the starters.
    choices = product(
        combinations_with_replacement(range(52), len(hand) - len(plain)),
        combinations_with_replacement(range(52), len(starters) - len(plain_starters)),
    )
    return max(
        show_points([*plain, *named], [*plain_starters, *named_starters], is_crib)
        for named, named_starters in choices
    )


def without_kings(cards: Sequence[int]) -> list[int]:
    """The cards that are no kings."""
    return [card for card in cards if rank(card) != KING]


def show_parts(hand: Sequence[int], starters: Sequence[int], is_crib: bool) -> dict[str, int]:
    """The points of a hand at the show, by what they are for."""
    return {
        **rank_parts(tuple(sorted(map(rank, [*hand, *starters])))),
        "flush": flush_points(hand, starters, is_crib),
        "nobs": nobs_points(hand, starters),
    }


def show_points(hand: Sequence[int], starters: Sequence[int], is_crib: bool) -> int:
    """The points of a hand at the show."""
    return sum(show_parts(hand, starters, is_crib).values())


# ---------------------------------------------------------------------------------- the play


def play_points(series: Sequence[int]) -> int:
    """What the last card of a series earns when it is laid; go and last card are not included."""
    count = sum(map(value, series))
    endings = [series[start:] for start in range(len(series))]
    alike = [ending for ending in endings if len({rank(card) for card in ending}) == 1]
    runs = [ending for ending in endings if is_run(ending)]
    points = 2 if count in (15, 31) else 0
    points += pair_points(max(alike, key=len))
    points += max(map(len, runs), default=0)
    return points


# ---------------------------------------------------------------------------------- the game


@dataclass(frozen=True)
class Deal:
    """The cards of one deal: a hand for each seat, the deck's cards for the crib, the starter."""

    hands: Sequence[Sequence[int]]
    to_crib: Sequence[int]
    starter: int


class ReferenceGame:
    """One game, from the first toss to the last point, on cards that are given.

    ``deals`` is called with the deal number (0, 1, ...) or is a list of deals. A list that runs
    out ends the game without a winner, which lets a test look at a single deal.
    """

    def __init__(
        self,
        deals: Callable[[int], Deal] | Sequence[Deal],
        *,
        first_dealer: int = 0,
        num_players: int = 2,
        cards_dealt: int = 6,
        cards_tossed: int = 2,
        crib_from_deck: int = 0,
        target: int = 121,
        partnerships: bool = False,
        scores: Sequence[int] | None = None,
    ) -> None:
        self.deals = deals
        self.num_players = num_players
        self.cards_dealt = cards_dealt
        self.cards_tossed = cards_tossed
        self.crib_from_deck = crib_from_deck
        self.target = target
        self.num_sides = 2 if partnerships else num_players
        self.scores = list(scores) if scores is not None else [0] * self.num_sides
        self.winner: int | None = None  # a side
        self.log: list[tuple[int, int, str]] = []  # player, points, why
        self.first_dealer = first_dealer
        self.phase = ""
        self.actor: int | None = None
        self._deal(0)

    def side(self, player: int) -> int:
        """The side that the player's points go to."""
        return player % self.num_sides

    @property
    def count(self) -> int:
        """The running total of the series."""
        return sum(map(value, self.series))

    def legal_tosses(self) -> list[tuple[int, ...]]:
        """Every choice the player to act has for the crib, in order of the sorted hand."""
        if self.phase != "discard" or self.actor is None:
            return []
        return list(combinations(self.hands[self.actor], self.cards_tossed))

    def legal_cards(self) -> list[int]:
        """The cards that the player to act may lay, sorted."""
        if self.phase != "play" or self.actor is None:
            return []
        return self._playable(self.actor)

    def toss(self, cards: Iterable[int]) -> None:
        """Send cards of the player to act to the crib."""
        tossed = tuple(sorted(cards))
        if self.actor is None or tossed not in self.legal_tosses():
            raise ValueError(f"{tossed} cannot be tossed")
        for card in tossed:
            self.hands[self.actor].remove(card)
            self.crib.append(card)
        if self.actor == self.dealer:
            self._turn_starter()
        else:
            self.actor = self._clockwise_after(self.actor)[0]

    def play(self, card: int) -> None:
        """Lay a card of the player to act."""
        if self.actor is None or card not in self.legal_cards():
            raise ValueError(f"card {card} cannot be played")
        self.unplayed[self.actor].remove(card)
        self.series.append(card)
        self.laid.append((self.actor, card))
        self._award(self.actor, play_points(self.series), "play")
        if self.phase != "over":
            self._pass_turn_from(self.actor)

    def _clockwise_after(self, player: int) -> list[int]:
        """All players, from the given player's left around to the player."""
        return [(player + i) % self.num_players for i in range(1, self.num_players + 1)]

    def _playable(self, player: int) -> list[int]:
        return [card for card in self.unplayed[player] if self.count + value(card) <= 31]

    def _award(self, player: int, points: int, why: str) -> None:
        """Score the points, and end the game at once when they suffice."""
        if points == 0 or self.phase == "over":
            return
        side = self.side(player)
        self.log.append((player, points, why))
        self.scores[side] = min(self.scores[side] + points, self.target)
        if self.scores[side] == self.target:
            self._end(side)

    def _end(self, winner: int | None) -> None:
        self.winner = winner
        self.phase = "over"
        self.actor = None

    def _deal(self, deal_number: int) -> None:
        deal = self.deals(deal_number) if callable(self.deals) else self.deals[deal_number]
        if [len(hand) for hand in deal.hands] != [self.cards_dealt] * self.num_players:
            raise ValueError("wrong number of cards dealt")
        if len(deal.to_crib) != self.crib_from_deck:
            raise ValueError("wrong number of cards from the deck to the crib")
        self.deal_number = deal_number
        self.dealer = (self.first_dealer + deal_number) % self.num_players
        self.hands = [sorted(hand) for hand in deal.hands]  # six cards, then the four kept
        self.crib = list(deal.to_crib)
        self.starter = deal.starter  # face down until the last toss
        self.unplayed: list[list[int]] = [[] for _ in self.hands]
        self.series: list[int] = []
        self.laid: list[tuple[int, int]] = []  # player and card, over the whole deal
        self.go_counts = [NEVER_STUCK] * self.num_players
        self.phase = "discard"
        self.actor = self._clockwise_after(self.dealer)[0]

    def _turn_starter(self) -> None:
        self.phase = "play"
        self.unplayed = [list(hand) for hand in self.hands]
        self.actor = self._clockwise_after(self.dealer)[0]
        if rank(self.starter) == JACK:
            self._award(self.dealer, 2, "heels")

    def _pass_turn_from(self, last: int) -> None:
        """Find who plays next after ``last`` laid a card, and score go or last card."""
        if self.count < 31:
            for player in self._clockwise_after(last):
                if self._playable(player):
                    self.actor = player
                    return
                if self.unplayed[player]:
                    self.go_counts[player] = min(self.go_counts[player], self.count)
            self._award(last, 1, "go" if any(self.unplayed) else "last")
            if self.phase == "over":
                return
        self.series = []
        for player in self._clockwise_after(last):
            if self.unplayed[player]:
                self.actor = player
                return
        self._show()

    def _show(self) -> None:
        for player in self._clockwise_after(self.dealer):
            self._award(player, show_points(self.hands[player], [self.starter], False), "hand")
        self._award(self.dealer, show_points(self.crib, [self.starter], True), "crib")
        if self.phase == "over":
            return
        if not callable(self.deals) and self.deal_number + 1 == len(self.deals):
            self._end(None)
        else:
            self._deal(self.deal_number + 1)
