"""How lucky an agent was with the cards of a game, in win probability: a control variate for wins.

Luck is what chance gave less the average of what it could have given, just before it did. So it is
zero on average whatever the agents do, and wins less luck have the average of wins with less
variance (M. Zinkevich et al., "Optimal unbiased estimators for evaluating agent performance", AAAI
2006; N. Burch et al., "AIVAT: a new variance reduction technique for agent evaluation in imperfect
information games", AAAI 2018).

Chance acts twice in a deal. With D and P the dealer's and the pone's score before it, and all in
terms of the dealer's chance to win:

- Deal: the luck of each hand is the sum over the parts i of its best toss (hand, crib, pegging) of
  w_i(D, P) (x_i - E x_i). The parts x_i of any six ranks are in a table, E x_i is their average
  over all 20,358,520 hands, and w_i is what a point of the part adds to the chance.
- Starter: V less the average of V over the 40 starters that the twelve cards dealt leave. The
  agents have made the hands h and the crib c, and for what these show by ranks with the starter
  V = q(D, P) J(P + h_pone, D + h_dealer + c) + r(D, P). J is the chance once that has been added
  and pegging has yet to be, q is the chance that no one pegs out and r that the dealer does. Heels
  are added to D before, and V is 1 if they end the game. Points of flushes and nobs are weighed
  with w(D, P) of the hands and added to V.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cribai.analysis.knowledge import DEALER, PONE, TARGET, covers
from cribai.analysis.luck_tables import HAND_PART, NUM_HAND_PARTS, STEPS, dealt_index
from cribai.cards import DECK_SIZE, JACK, NO_CARD, NUM_RANKS, NUM_SUITS
from cribai.engine.jit import inlined, kernel
from cribai.engine.legality import num_bits
from cribai.engine.scoring import table_index
from cribai.engine.starters import HEELS_POINTS
from cribai.rules import Rules

UNITS: Final = 1_000_000
"""Luck is kept in millionths of a win, so that sums are the same in any order."""

_JACK: Final = JACK
_NO_CARD: Final = NO_CARD
_FULL_DECK: Final = (1 << DECK_SIZE) - 1
_ALL_SUITS: Final = (1 << NUM_SUITS) - 1
_ONE_SUIT: Final = _FULL_DECK // _ALL_SUITS
_FLUSH: Final = 4
_NUM_DEALT_CARDS: Final = 12
_NUM_STARTERS: Final = DECK_SIZE - _NUM_DEALT_CARDS

LUCK: Final = np.dtype(
    [
        ("luck", np.float64),  # of agent 0 so far
        ("num_deals", np.int64),  # deals noted
        ("starter_noted", np.int64),  # whether this deal's starter is
        ("pone_score", np.int64),  # before this deal, in a game to 121
        ("dealer_score", np.int64),
    ],
    align=True,
)


@inlined
def hand_luck(tables: Any, hands: Any, row: int, role: int, dealer: int, pone: int) -> float:
    """Returns what a hand as dealt adds to the dealer's chance to win, above the average hand.

    Args:
        tables: LUCK_TABLES record.
        hands: int array (n, >= 6), the hands, sorted.
        row: Which of them.
        role: PONE or DEALER, whose hand it is.
        dealer: The dealer's score before the deal, in a game to 121.
        pone: The pone's.
    """
    place = dealt_index(hands, row)
    luck = 0.0
    for part in range(NUM_HAND_PARTS):
        above = tables["dealt"][place, role, part] - tables["dealt_means"][role, part]
        luck += float(tables["weights"][dealer, pone, role, part]) * above
    return luck


@inlined
def suit_points(hands: Any, row: int, is_crib: bool) -> int:
    """Returns what four cards score by the starter's suit alone: flush and nobs, a byte a suit.

    Args:
        hands: int array (n, >= 4), hands or cribs.
        row: Which of them.
        is_crib: Whether it is the crib.
    """
    points = 0
    suits = 0
    for i in range(_FLUSH):
        card = int(hands[row, i])
        suit = card & 3
        suits |= 1 << suit
        points += int((card >> 2) == _JACK) << (8 * suit)
    if suits & (suits - 1) == 0:
        points += (_FLUSH + 1) << (8 * (int(hands[row, 0]) & 3))
        if not is_crib:
            for suit in range(NUM_SUITS):
                if suits != 1 << suit:
                    points += _FLUSH << (8 * suit)
    return points


@inlined
def rank_base(hands: Any, row: int) -> int:
    """Returns the place of four cards in the table of five ranks, rank 0 being the fifth.

    Args:
        hands: int array (n, >= 4), hands or cribs.
        row: Which of them.
    """
    return table_index(
        int(hands[row, 0]) >> 2,
        int(hands[row, 1]) >> 2,
        int(hands[row, 2]) >> 2,
        int(hands[row, 3]) >> 2,
    )


@inlined
def starter_luck(tables: Any, rules: Any, state: Any, dealer: int, pone: int) -> float:
    """Returns what the starter adds to the dealer's chance, above the 40 that could have been it.

    Args:
        tables: LUCK_TABLES record.
        rules: RULES record.
        state: STATE record from when the starter is turned until the next deal.
        dealer: The dealer's score before the deal, in a game to 121.
        pone: The pone's.
    """
    seat = int(state["dealer"])
    left = _FULL_DECK
    for i in range(_NUM_DEALT_CARDS):
        left &= ~(1 << int(state["deck"][i]))
    pone_base = rank_base(state["hands"], 1 - seat)
    dealer_base = rank_base(state["hands"], seat)
    crib_base = rank_base(state["crib"], 0)
    pone_suits = suit_points(state["hands"], 1 - seat, False)
    dealer_suits = suit_points(state["hands"], seat, False) + suit_points(state["crib"], 0, True)
    starter = int(state["starter"])
    heels = dealer + HEELS_POINTS
    others = 0.0
    jacks = 0.0
    turned = 0.0
    for rank in range(NUM_RANKS):
        pone_total = pone + int(rules["table"][pone_base + rank])
        dealer_total = heels if rank == _JACK else dealer
        dealer_total += int(rules["table"][dealer_base + rank])
        dealer_total += int(rules["table"][crib_base + rank])
        chance = float(tables["chance"][pone_total, dealer_total])
        number = num_bits((left >> (NUM_SUITS * rank)) & _ALL_SUITS)
        if rank == _JACK:
            jacks += number * chance
        else:
            others += number * chance
        if rank == starter >> 2:
            turned = chance
    no_one_out = float(tables["no_one_out"][dealer, pone])
    dealer_out = float(tables["dealer_out"][dealer, pone])
    no_one_out_after_heels = float(tables["no_one_out"][heels, pone])
    dealer_out_after_heels = float(tables["dealer_out"][heels, pone])
    num_jacks = num_bits((left >> (NUM_SUITS * _JACK)) & _ALL_SUITS)
    total = no_one_out * others + dealer_out * (_NUM_STARTERS - num_jacks)
    total += no_one_out_after_heels * jacks + dealer_out_after_heels * num_jacks
    if (starter >> 2) == _JACK:
        turned = no_one_out_after_heels * turned + dealer_out_after_heels
    else:
        turned = no_one_out * turned + dealer_out
    luck = turned - total / _NUM_STARTERS
    # What suits add is worth its weight, so that one starter of each rank is enough above.
    pone_points = 0.0
    dealer_points = 0.0
    for suit in range(NUM_SUITS):
        here = int(suit == starter & 3) - num_bits((left >> suit) & _ONE_SUIT) / _NUM_STARTERS
        pone_points += here * ((pone_suits >> (8 * suit)) & 255)
        dealer_points += here * ((dealer_suits >> (8 * suit)) & 255)
    pone_weight = STEPS * float(tables["weights"][dealer, pone, PONE, HAND_PART])
    dealer_weight = STEPS * float(tables["weights"][dealer, pone, DEALER, HAND_PART])
    return luck + pone_weight * pone_points + dealer_weight * dealer_points


@inlined
def note_deal(
    state: Any, rules: Any, seat_agents: Any, place: int, tables: Any, record: Any
) -> None:
    """Adds the luck of the deal that has just been laid out.

    Args:
        state: STATE record before the deal's first toss.
        rules: RULES record.
        seat_agents: int8 array (n, MAX_PLAYERS), the agent in each seat.
        place: The game's row in it.
        tables: LUCK_TABLES record.
        record: LUCK record of the game. Modified in place.
    """
    seat = int(state["dealer"])
    ahead = TARGET - rules["target"]
    dealer = int(state["scores"][seat]) + ahead
    pone = int(state["scores"][1 - seat]) + ahead
    luck = hand_luck(tables, state["hands"], seat, DEALER, dealer, pone)
    luck += hand_luck(tables, state["hands"], 1 - seat, PONE, dealer, pone)
    record["luck"] += luck if seat_agents[place, seat] == 0 else -luck
    record["num_deals"] = state["num_deals"]
    record["starter_noted"] = 0
    record["dealer_score"] = dealer
    record["pone_score"] = pone


@kernel
def begin_luck(
    states: Any, rules: Any, seat_agents: Any, places: Any, tables: Any, luck: Any
) -> None:
    """Forgets the luck of the games before and notes the first deal of the new ones.

    Args:
        states: STATE array (n,), the games just begun.
        rules: RULES array (1,), which `covers_luck`.
        seat_agents: int8 array (n, MAX_PLAYERS), the agent in each seat.
        places: int64 array (m,), which states.
        tables: LUCK_TABLES array (1,).
        luck: LUCK array (n,). Modified in place at the places.
    """
    for i in range(places.shape[0]):
        place = places[i]
        luck[place]["luck"] = 0.0
        note_deal(states[place], rules[0], seat_agents, place, tables[0], luck[place])


@kernel
def note_luck(
    states: Any, rules: Any, seat_agents: Any, places: Any, tables: Any, luck: Any
) -> None:
    """Adds the luck of the deals laid out and the starters turned by the last step.

    To be called after each step and before the next: a deal's luck is that of six cards, and of the
    scores before it. Games that have ended in the step count, their starter may have ended them.

    Args:
        states: STATE array (n,).
        rules: RULES array (1,), which `covers_luck`.
        seat_agents: int8 array (n, MAX_PLAYERS), the agent in each seat.
        places: int64 array (m,), the states that the step acted in.
        tables: LUCK_TABLES array (1,).
        luck: LUCK array (n,). Modified in place at the places.
    """
    for i in range(places.shape[0]):
        place = places[i]
        state = states[place]
        record = luck[place]
        if state["num_deals"] != record["num_deals"]:
            note_deal(state, rules[0], seat_agents, place, tables[0], record)
        elif record["starter_noted"] == 0 and state["starter"] != _NO_CARD:
            record["starter_noted"] = 1
            gain = starter_luck(
                tables[0], rules[0], state, record["dealer_score"], record["pone_score"]
            )
            record["luck"] += gain if seat_agents[place, state["dealer"]] == 0 else -gain


def covers_luck(rules: Rules) -> bool:
    """Tells whether luck is defined for rules: six cards, two players, a game to at most 121."""
    return covers(rules) and rules.target <= TARGET


def luck_units(luck: ArrayLike) -> NDArray[np.int64]:
    """Returns luck, in wins, as an int64 array of millionths of a win."""
    return np.rint(np.asarray(luck, np.float64) * UNITS).astype(np.int64)
