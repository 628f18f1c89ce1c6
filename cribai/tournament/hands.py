"""The hands that agents kept, from the records of their games, and what all hands are worth."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import DECK_SIZE, MAX_JOKERS, card_text, cards_text
from cribai.engine.scoring import TABLE_CARDS, rank_table, show_histogram, show_points_batch
from cribai.engine.simulate import NUM_AGENTS
from cribai.engine.state import compiled_rules
from cribai.rules import Rules
from cribai.tournament.match import seatings

NUM_SCORES: Final = 30
"""Scores that four cards and a starter can have, 0 to 29."""

BLOCK: Final = 512
"""Games whose hands are scored together."""

_CARDS: Final = {card_text(card): card for card in range(DECK_SIZE + MAX_JOKERS)}


@dataclass(frozen=True, slots=True)
class BestHand:
    """A hand that scored more than any before it.

    Attributes:
        cards: The kept cards, sorted.
        starter: The starter.
        points: What they score together.
    """

    cards: tuple[int, ...]
    starter: int
    points: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the hand as JSON has it, its cards as text."""
        return {
            "cards": cards_text(self.cards),
            "starter": card_text(self.starter),
            "points": self.points,
        }


@dataclass(frozen=True, slots=True)
class Hands:
    """Hands that were kept, scored with their starters; `+` joins those of parts.

    A hand counts whether or not its game lasted until the show.

    Attributes:
        scores: Hands by score from 0 on.
        best: The first of the best; None when there are no hands.
    """

    scores: tuple[int, ...] = (0,) * NUM_SCORES
    best: BestHand | None = None

    @classmethod
    def from_cards(
        cls, cards: NDArray[np.int8], starters: NDArray[np.int8], rules: Rules
    ) -> "Hands":
        """Returns hands by their cards.

        Args:
            cards: int8 array (n, kept), sorted.
            starters: int8 array (n,).
            rules: The rules.
        """
        if len(cards) == 0:
            return cls()
        points = np.zeros(len(cards), np.int64)
        show_points_batch(cards, starters, False, compiled_rules(rules), points)
        first = int(points.argmax())
        best = BestHand(tuple(cards[first].tolist()), int(starters[first]), int(points[first]))
        return cls(tuple(np.bincount(points, minlength=NUM_SCORES).tolist()), best)

    def __add__(self, other: "Hands") -> "Hands":
        scores = zip_longest(self.scores, other.scores, fillvalue=0)
        is_better = other.points_of_best > self.points_of_best
        return Hands(tuple(map(sum, scores)), other.best if is_better else self.best)

    @property
    def seen(self) -> int:
        """How many hands there are."""
        return sum(self.scores)

    @property
    def mean(self) -> float:
        """Mean of their scores; 0 when there are none."""
        return sum(score * number for score, number in enumerate(self.scores)) / max(self.seen, 1)

    @property
    def points_of_best(self) -> int:
        """What the best scores; -1 when there are none."""
        return -1 if self.best is None else self.best.points

    def to_dict(self) -> dict[str, Any]:
        """Returns the hands as JSON has them."""
        return {
            "seen": self.seen,
            "mean": self.mean,
            "scores": list(self.scores),
            "best": None if self.best is None else self.best.to_dict(),
        }


def read_hands(lines: Iterable[str], rules: Rules) -> Iterator[tuple[int, tuple[Hands, Hands]]]:
    """Yields the hands in records of games a block at a time: the games, the hands of `a` and `b`.

    Args:
        lines: The records, as the games' recorder wrote them; unchecked.
        rules: The rules of all of them.
    """
    lines = iter(lines)
    while block := list(islice(lines, BLOCK)):
        cards, starters, agents = _kept(block, rules)
        a, b = (
            Hands.from_cards(cards[agents == agent], starters[agents == agent], rules)
            for agent in range(NUM_AGENTS)
        )
        yield len(block), (a, b)


def _kept(
    lines: Iterable[str], rules: Rules
) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int8]]:
    """Returns kept hands, int8 array (n, kept), their starters and whose they are, each (n,)."""
    num_players = rules.num_players
    seatings_by_pair = seatings(rules)[:, :, :num_players].tolist()
    # Lists of texts and numbers: the parsed games, if they were kept, would slow the parser down.
    hands: list[str] = []
    starters: list[str] = []
    tosses: list[int] = []
    dealers: list[int] = []
    agents: list[int] = []
    for line in lines:
        game = json.loads(line)
        seats = seatings_by_pair[game["pair"] % len(seatings_by_pair)][game["game"]]
        for dealer, deal in enumerate(game["deals"], game["first_dealer"]):
            hands += deal["hands"]
            starters.append(deal["starter"])
            tosses += deal["actions"][:num_players]
            dealers.append(dealer % num_players)
            agents += seats
    # The player after the dealer tosses first, the dealer last.
    order = (np.arange(num_players) - np.array(dealers)[:, np.newaxis] - 1) % num_players
    by_seat = np.take_along_axis(np.array(tosses).reshape(order.shape), order, axis=1)
    dealt = np.array([_CARDS[word] for word in " ".join(hands).split()], np.int8)
    dealt = np.sort(dealt.reshape(*order.shape, rules.cards_dealt), axis=2)
    kept = np.take_along_axis(dealt, _kept_slots(rules)[by_seat], axis=2)
    return (
        kept.reshape(-1, rules.cards_kept),
        np.array([_CARDS[word] for word in starters], np.int8).repeat(num_players),
        np.array(agents, np.int8),
    )


def _kept_slots(rules: Rules) -> NDArray[np.int64]:
    """Returns the hand places that each toss leaves, int64 array (tosses, kept)."""
    slots = compiled_rules(rules)[0]["toss_slots"][: rules.num_tosses, : rules.cards_tossed]
    places = np.arange(rules.cards_dealt)
    return np.array([np.setdiff1d(places, tossed) for tossed in slots], np.int64)


def exact_scores(rules: Rules) -> tuple[int, ...] | None:
    """Returns all hands of four with each starter of the 52 cards by score, 12,994,800 in all.

    This is what cards kept at random would score.

    Args:
        rules: The rules; None is returned where hands or the deck have another size.
    """
    is_usual = rules.cards_kept == TABLE_CARDS - 1 and rules.deck_size == DECK_SIZE
    is_usual &= not rules.is_varied
    return _exact_scores(rules.fifteen) if is_usual else None


@lru_cache(maxsize=8)
def _exact_scores(fifteen: int) -> tuple[int, ...]:
    histogram = np.zeros(NUM_SCORES, np.int64)
    show_histogram(False, rank_table(fifteen), histogram)
    return tuple(histogram.tolist())
