"""What each toss of a hand is worth at the score: points by parts, and the worth of the game.

Far from the end a point is worth what board position says; near it the deal is played out over a
library of deals, so that the order in which hands count decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import DEALER, LIBRARY_SIZE, PONE, TARGET, WIN, load_knowledge
from cribai.analysis.policy import (
    CRIB_MEAN,
    HAND,
    NUM_TOSS_PARTS,
    OTHER_PEGS,
    OWN_PEGS,
    VALUE,
    toss_parts,
)
from cribai.analysis.positions import (
    MAX_SHOW,
    POINTS,
    STANDING,
    before_deal,
    show_worths,
    weigh_points,
)
from cribai.analysis.tossing import (
    CRIB,
    FIRST_SLOT,
    NUM_TOSSES,
    SECOND_SLOT,
    crib_distributions,
    weigh_cribs,
)
from cribai.cards import DECK_SIZE, JACK, cards_text, rank_of
from cribai.engine.jit import kernel
from cribai.engine.scoring import rank_table
from cribai.errors import CardError, RulesError

AVERAGE_PEGS: Final = np.array([2.2, 3.45], np.float64)
AVERAGE_SHOW: Final = np.array([8.1, 12.75], np.float64)
"""What a role, pone or dealer, gains in a deal on average: by pegging, and by hand with crib."""

AVERAGE_HAND: Final = 8.0
"""Of that, what the dealer's hand shows; the rest is the crib."""

HEELS_POINTS: Final = 2

TOSSES: Final = np.dtype(
    [
        # The question: six sorted cards, the role, what is played for, the scores of a game to 121;
        # how near to 121 the end is near, over how many deals it is then played out, and whether
        # the crib is averaged anew or read from a table.
        ("cards", np.int64, 6),
        ("role", np.int64),
        ("stake", np.int64),
        ("own_score", np.int64),
        ("other_score", np.int64),
        ("horizon", np.int64),
        ("num_deals", np.int64),
        ("exact_cribs", np.int64),
        # The answer, by toss.
        ("worths", np.float64, NUM_TOSSES),
        ("parts", np.float64, (NUM_TOSSES, NUM_TOSS_PARTS)),
        ("hands", np.float64, (NUM_TOSSES, MAX_SHOW)),
        # Scratch.
        ("crib", CRIB),
        ("standing", STANDING),
        ("show_worths", np.float64, (MAX_SHOW, MAX_SHOW)),
        ("cribs", np.float64, (NUM_TOSSES, MAX_SHOW)),
    ],
    align=True,
)


@kernel
def value_tosses(tables: Any, rule_table: Any, tosses: Any) -> None:
    """Values the fifteen tosses of a hand.

    Args:
        tables: KNOWLEDGE record.
        rule_table: `rank_table(15)`.
        tosses: TOSSES record with the question. Modified in place: the answer. Worths are in points
            when points are played for.
    """
    role = tosses["role"]
    parts = tosses["parts"]
    crib = tosses["crib"]
    exact = tosses["exact_cribs"] == 1
    toss_parts(tosses["cards"], role, exact, tables, rule_table, crib, tosses["hands"], parts)
    stake = tosses["stake"]
    if stake == POINTS:
        for toss in range(NUM_TOSSES):
            tosses["worths"][toss] = parts[toss, VALUE]
        return
    own_score = tosses["own_score"]
    other_score = tosses["other_score"]
    near = max(own_score, other_score) >= TARGET - tosses["horizon"]
    standing = tosses["standing"]
    standing["stake"] = stake
    standing["own_score"] = own_score
    standing["other_score"] = other_score
    standing["own_deals"] = role
    if near:
        show_worths(tables, standing, tosses["num_deals"], tosses["show_worths"])
        if not exact:
            weigh_cribs(tosses["cards"], 6, tables["toss_chance"][1 - role], crib)
        crib_distributions(crib, tosses["cards"], rule_table, tosses["cribs"])
    weigh_points(
        standing,
        tables,
        stake,
        own_score + AVERAGE_PEGS[role] + AVERAGE_SHOW[role],
        other_score + AVERAGE_PEGS[1 - role] + AVERAGE_SHOW[1 - role],
    )
    for toss in range(NUM_TOSSES):
        own = parts[toss, OWN_PEGS] - AVERAGE_PEGS[role]
        other = parts[toss, OTHER_PEGS] - AVERAGE_PEGS[1 - role]
        worth = 0.0
        if near:
            for hand in range(MAX_SHOW):
                chance = tosses["hands"][toss, hand]
                if chance > 0.0:
                    for points in range(MAX_SHOW):
                        both = chance * tosses["cribs"][toss, points]
                        worth += both * tosses["show_worths"][hand, points]
        else:
            worth = before_deal(tables, stake, own_score, other_score, role)
            own += parts[toss, HAND] - AVERAGE_SHOW[role]
            if role == DEALER:
                own += parts[toss, CRIB_MEAN]
            else:
                other += parts[toss, CRIB_MEAN] - (AVERAGE_SHOW[DEALER] - AVERAGE_HAND)
        worth += standing["own_weight"] * own - standing["other_weight"] * other
        tosses["worths"][toss] = worth


@dataclass(frozen=True, slots=True)
class Toss:
    """One toss and what it is worth.

    Attributes:
        toss: The cards tossed.
        keep: The cards kept.
        hand: Average points of the kept hand over the 46 starters.
        hand_variance: Their variance.
        hand_chances: Chance of each number of points, 0 to 29.
        crib: Average points of the crib, whoever owns it.
        pegging: Points pegged more than the opponent, on average.
        points: Hand, crib for the dealer or against the pone, and pegging.
        heels: Average points of the dealer for heels, the same for all tosses and not in `points`.
        win_probability: Chance to win the game.
    """

    toss: tuple[int, ...]
    keep: tuple[int, ...]
    hand: float
    hand_variance: float
    hand_chances: tuple[float, ...]
    crib: float
    pegging: float
    points: float
    heels: float
    win_probability: float


def analyze_tosses(
    cards: Sequence[int], *, is_dealer: bool, score: int = 0, opponent_score: int = 0
) -> list[Toss]:
    """Returns the fifteen tosses of a six-card hand in the game to 121, the likeliest to win first.

    Raises:
        CardError: The cards are not six different cards.
        RulesError: A score is not 0 to 120.
    """
    hand = checked_hand(cards)
    record = _valued(hand, is_dealer, score, opponent_score)
    jacks = 4 - sum(rank_of(card) == JACK for card in hand)
    points = np.arange(MAX_SHOW)
    found = []
    for number in np.argsort(-record["worths"], kind="stable").tolist():
        slots = (int(FIRST_SLOT[number]), int(SECOND_SLOT[number]))
        chances = record["hands"][number]
        parts = record["parts"][number]
        found.append(
            Toss(
                toss=tuple(hand[slot] for slot in slots),
                keep=tuple(card for slot, card in enumerate(hand) if slot not in slots),
                hand=float(parts[HAND]),
                hand_variance=float((chances * points**2).sum() - parts[HAND] ** 2),
                hand_chances=tuple(chances.tolist()),
                crib=float(parts[CRIB_MEAN]),
                pegging=float(parts[OWN_PEGS] - parts[OTHER_PEGS]),
                points=float(parts[VALUE]),
                heels=HEELS_POINTS * jacks / 46,
                win_probability=float(_chance(record["worths"][number])),
            )
        )
    return found


def toss_values(
    cards: Sequence[int], *, is_dealer: bool, score: int = 0, opponent_score: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns what `analyze_tosses` says of each toss, by action and without the parts.

    Returns:
        float64 arrays (15,) of points and of chances to win.

    Raises:
        CardError: The cards are not six different cards.
        RulesError: A score is not 0 to 120.
    """
    record = _valued(checked_hand(cards), is_dealer, score, opponent_score)
    return record["parts"][:, VALUE].copy(), _chance(record["worths"])


def _valued(hand: list[int], is_dealer: bool, score: int, opponent_score: int) -> Any:
    """Returns a TOSSES record with its answer."""
    for number in (score, opponent_score):
        if not 0 <= number < TARGET:
            raise RulesError(f"The score {number} is not from 0 to {TARGET - 1}.")
    tosses = new_tosses()
    record = tosses[0]
    record["cards"] = hand
    record["role"] = DEALER if is_dealer else PONE
    record["stake"] = WIN
    record["own_score"] = score
    record["other_score"] = opponent_score
    _value(load_knowledge(), rank_table(15), tosses)
    return record


def _chance(worth: Any) -> Any:
    return np.clip((worth + 1) / 2, 0, 1)


def checked_hand(cards: Sequence[int]) -> list[int]:
    """Returns six different cards, sorted.

    Raises:
        CardError: They are not six different cards of the ordinary deck.
    """
    hand = sorted(cards)
    if len(hand) != 6 or len(set(hand)) != 6 or not all(0 <= card < DECK_SIZE for card in hand):
        raise CardError(f"The hand {cards_text(hand)!r} is not six different cards; name six.")
    return hand


def new_tosses(horizon: int = 60, num_deals: int = LIBRARY_SIZE) -> NDArray[Any]:
    """Returns an empty TOSSES record in an array (1,), its accuracy set."""
    tosses = np.zeros(1, TOSSES)
    tosses["horizon"] = horizon
    tosses["num_deals"] = num_deals
    tosses["exact_cribs"] = 1
    return tosses


@kernel
def _value(knowledge: Any, rule_table: Any, tosses: Any) -> None:
    value_tosses(knowledge[0], rule_table, tosses[0])
