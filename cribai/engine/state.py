"""The engine's records: a game's state, the rules as kernels read them, and the event log.

All are numpy structured dtypes. Varied rules, see `Rules.is_varied`, have larger states and views:
that keeps the standard game's small, and by the type the compiler leaves out the variants' steps.
Kernels receive single records and never slices of plain arrays: numba counts references for an
array at every call, which costs more than most of the rules (the show's table look-up took 27 ns
with counted references and 4 ns without).
"""

from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import DECK_SIZE, KING, MAX_JOKERS, NO_CARD, NUM_RANKS
from cribai.engine.jit import VARIED_MARK
from cribai.engine.parts import VALUES
from cribai.engine.scoring import TABLE_SIZE, rank_table
from cribai.rules import (
    MAX_CRIB,
    MAX_DEALT,
    MAX_DECKS,
    MAX_PLAYERS,
    MAX_PLAYS,
    MAX_STARTERS,
    Rules,
)

NUM_PHASES: Final = 9
DISCARD, DEAL, PLAY, OVER, DRAW, GIVE, BID, ANNOUNCE, CLAIM = range(NUM_PHASES)
"""Phases: a toss is due, a new deal is due, a card is due, the game has ended; in variants, cards
may be thrown away for new ones, a starter is to be given, a bid is due, points are to be announced,
what was missed may be claimed."""

NO_GO: Final = 127
"""The go count of a player who has not said go in this deal."""

NO_PLAYER: Final = -1
NO_BID: Final = -1
"""The bid of a player who has not bid in this deal."""

NUM_TALLIES: Final = 6
PONE_PEGGING, PONE_HAND, DEALER_PEGGING, DEALER_HAND, DEALER_CRIB, DEALER_HEELS = range(NUM_TALLIES)
"""Sources of points by role, places in the tallies; "pone" is any player who does not deal."""

MAX_DECK: Final = MAX_DECKS * DECK_SIZE + MAX_JOKERS
MAX_CRIBS: Final = 2
MAX_COUNTS: Final = MAX_PLAYERS + MAX_CRIBS  # hands and cribs in a show
MAX_THROWN: Final = 2 * MAX_DEALT - 3  # all but one as dealt, all but one after the toss
MAX_TOSSES: Final = 126  # C(9, 4), the most ways to choose cards from nine.

VARIED_SHAPES: Final = {
    "num_crib": MAX_CRIBS,  # one crib in row 0, or each player's own in the row of his seat
    "crib": (MAX_CRIBS, MAX_CRIB),
    "deck": MAX_DECK,
}
"""The fields that are larger in the states of varied rules."""


def _with(fields: list[Any], shapes: dict[str, Any]) -> list[Any]:
    return [
        (name, kind, *[shapes.get(name, *shape)] * bool(shape)) for name, kind, *shape in fields
    ]


_STATE_FIELDS: Final[list[Any]] = [
    # Base of the random numbers of this game's deals, and of its agents' keys.
    ("deal_key", np.uint64),
    ("agent_key", np.uint64),
    ("series", np.int64),  # packed, see `scoring.extend_series`
    ("num_decisions", np.int32),  # decisions taken in the game so far
    ("num_deals", np.int32),  # deals begun; the present one is number num_deals - 1
    ("scores", np.int16, MAX_PLAYERS),  # by side
    ("played", np.int16, MAX_PLAYERS),  # bit i: the player's i-th kept card is laid
    ("playable", np.int16),  # bit i: the actor may lay his i-th kept card
    ("pegged", np.int16, MAX_PLAYERS),  # pegging points of each player in this deal
    ("points", np.int16, (MAX_PLAYERS, NUM_TALLIES)),  # by player and source, see NUM_TALLIES
    ("times", np.int16, (MAX_PLAYERS, NUM_TALLIES)),  # how often that source was counted
    ("phase", np.int8),
    ("dealer", np.int8),
    ("actor", np.int8),  # the player whose decision is due, NO_PLAYER when none is
    ("winner", np.int8),  # the side that won, NO_PLAYER before
    ("first_dealer", np.int8),
    ("count", np.int8),
    ("starter", np.int8),  # NO_CARD until it is turned
    ("last_player", np.int8),  # who laid the last card of the series
    ("num_plays", np.int8),  # cards laid in this deal
    ("series_length", np.int8),  # cards laid since the count was last reset
    ("num_crib", np.int8, 1),
    ("num_left", np.int8, MAX_PLAYERS),  # cards not yet laid
    ("go_counts", np.int8, MAX_PLAYERS),  # lowest count at which a player had to say go
    ("said_go", np.int8),  # bit i: player i has said go in this series
    ("hands", np.int8, (MAX_PLAYERS, MAX_DEALT)),  # sorted: as dealt, then as kept
    ("tosses", np.int8, (MAX_PLAYERS, MAX_DEALT)),  # sorted: what each player tossed
    ("crib", np.int8, (1, MAX_CRIB)),  # one row, so that it is scored like the hands
    ("play_cards", np.int8, MAX_PLAYS),  # cards laid in this deal, in order
    ("play_players", np.int8, MAX_PLAYS),  # who laid them
    ("deck", np.int8, DECK_SIZE + MAX_JOKERS),  # the shuffled front of the deck is what was dealt
]

_VARIED_STATE_FIELDS: Final[list[Any]] = [
    ("announced", np.int16),  # points announced for what is being counted
    ("kings", np.int16),  # bit i: the actor's i-th kept card is a king to be named
    ("hand_size", np.int8),  # cards in the actor's hand before the play
    ("crib_owner", np.int8),  # who counts the crib, NO_PLAYER while bids are due
    ("show_step", np.int8),  # what is being counted, in the order of the show
    ("bids", np.int8, MAX_PLAYERS),  # NO_BID before
    ("num_thrown", np.int8, MAX_PLAYERS),
    ("thrown", np.int8, (MAX_PLAYERS, MAX_THROWN)),  # what each player threw away in this deal
    ("given", np.int8, MAX_PLAYERS),  # what each player gave, NO_CARD before
    ("starters", np.int8, (MAX_PLAYERS, MAX_STARTERS)),  # each player's, NO_CARD before
    ("play_ranks", np.int8, MAX_PLAYS),  # the ranks under which cards were laid
    ("worths", np.int16, MAX_COUNTS),  # what hands and cribs are worth, in the show's order
    ("shown", np.int8, (1, MAX_CRIB)),  # the cards being counted, NO_CARD beyond
]

STATE: Final = np.dtype(_STATE_FIELDS, align=True)
VARIED_STATE: Final = np.dtype(
    [*_with(_STATE_FIELDS, VARIED_SHAPES), *_VARIED_STATE_FIELDS], align=True
)
"""The same for varied rules: a crib for each player, two decks, and what the variants add."""

VARIANT_NUMBERS: Final = (
    "lowball", "num_starters", "draw_before_toss", "draw_after_toss", "chosen_starter", "two_cribs",
    "bid", "bid_takes_whole", "missed_bid_gives", "wild_kings", "muggins", "stinkhole",
    "pone_start", "is_varied", "num_cribs", "num_given", "num_turned", "num_stock", "cards_needed",
    "most_shown", "kings_start", "throws_start", "gifts_start", "bids_start",
    "announcements_start", "claims_start", "num_actions",
)  # fmt: skip
"""What the rules' record holds for the variants, by the names in `Rules`."""

_RULES_FIELDS: Final[list[Any]] = [
    ("num_players", np.int64),
    ("sides", np.int64, MAX_PLAYERS),  # the side each player scores for
    ("cards_dealt", np.int64),
    ("cards_tossed", np.int64),
    ("cards_kept", np.int64),
    ("crib_from_deck", np.int64),
    ("num_tosses", np.int64),
    ("deck_size", np.int64),
    ("target", np.int64),
    ("fifteen", np.int64),
    ("thirty_one", np.int64),
    *((name, np.int64) for name in VARIANT_NUMBERS),
    ("least_values", np.int64, NUM_RANKS + 1),  # the least that a card of a rank may count
    ("toss_slots", np.int8, (MAX_TOSSES, MAX_DEALT)),  # hand places that each toss takes
    ("deck", np.int8, MAX_DECK),  # the deck before shuffling
    ("table", np.int8, TABLE_SIZE),  # `scoring.rank_table`
]

RULES: Final = np.dtype(_RULES_FIELDS, align=True)
VARIED_RULES: Final = np.dtype([*_RULES_FIELDS, (VARIED_MARK, np.int8)], align=True)
"""The same for varied rules, see `Rules.is_varied`: to the compiler another type."""

_VIEW_FIELDS: Final[list[Any]] = [
    # Fields by player are in turn order from the viewer: place 0 is his own, 1 his left's.
    ("game", np.int64),  # the caller's number of the game
    ("key", np.uint64),  # random key of this decision
    ("series", np.int64),  # the series packed, see `scoring.extend_series`
    ("decision", np.int32),  # decisions taken in the game before this one
    ("deal", np.int32),  # number of the deal in the game, from 0
    ("scores", np.int16, MAX_PLAYERS),  # of each player's side
    ("playable", np.int16),  # bit i: the i-th kept card may be laid
    ("played", np.int16),  # bit i: the i-th kept card is laid
    ("num_legal", np.int16),  # legal actions
    ("phase", np.int8),
    ("player", np.int8),  # the viewer's seat
    ("dealer", np.int8),  # the dealer, in turn order from the viewer
    ("count", np.int8),
    ("starter", np.int8),  # NO_CARD before it is turned
    ("num_plays", np.int8),  # cards laid in this deal
    ("series_length", np.int8),  # the last of them that form the series
    ("num_left", np.int8, MAX_PLAYERS),  # cards not yet laid
    ("go_counts", np.int8, MAX_PLAYERS),  # lowest count at which each said go, or NO_GO
    ("hand", np.int8, MAX_DEALT),  # sorted: as dealt, then as kept; NO_CARD beyond
    ("tossed", np.int8, MAX_DEALT),  # the viewer's own toss; NO_CARD beyond and before
    ("play_cards", np.int8, MAX_PLAYS),  # cards laid in this deal, in order
    ("play_players", np.int8, MAX_PLAYS),  # who laid them, in turn order from the viewer
]

_VARIED_VIEW_FIELDS: Final[list[Any]] = [
    ("announced", np.int16),  # points announced for what is being counted
    ("kings", np.int16),  # bit i: the i-th kept card is a king to be named
    ("hand_size", np.int8),  # cards in the actor's hand before the play
    ("crib_owner", np.int8),  # in turn order from the viewer, NO_PLAYER while bids are due
    ("bids", np.int8, MAX_PLAYERS),  # NO_BID before
    ("num_thrown", np.int8, MAX_PLAYERS),  # how many cards each player threw away in this deal
    ("thrown", np.int8, MAX_THROWN),  # the viewer's own; NO_CARD beyond
    ("given", np.int8),  # what the viewer gave, NO_CARD before
    ("starters", np.int8, (MAX_PLAYERS, MAX_STARTERS)),  # each player's, NO_CARD before
    ("play_ranks", np.int8, MAX_PLAYS),  # the ranks under which cards were laid
    ("shown", np.int8, MAX_CRIB),  # the cards being counted, NO_CARD beyond
    ("shown_player", np.int8),  # whose they are, NO_PLAYER when nothing is counted
    ("shown_is_crib", np.int8),
]

VIEW: Final = np.dtype(_VIEW_FIELDS, align=True)
VARIED_VIEW: Final = np.dtype([*_VIEW_FIELDS, *_VARIED_VIEW_FIELDS], align=True)
"""The same for varied rules, with what the variants add."""

NUM_KINDS: Final = 17
(
    TOSS, TURN_STARTER, HEELS, LAY, GO, GO_POINT, LAST_CARD, SHOW_HAND, SHOW_CRIB, WIN,
    THROW, GIVE_CARD, MAKE_BID, MISS_BID, ANNOUNCE_POINTS, CLAIM_POINTS, TIE,
) = range(NUM_KINDS)  # fmt: skip
"""Kinds of events."""

NUM_EVENT_FIELDS: Final = 4
EVENT_KIND, EVENT_PLAYER, EVENT_POINTS, EVENT_DETAIL = range(NUM_EVENT_FIELDS)
"""Columns of an event; the detail is a card, a count, a number named or bits of a hand.

A king laid as another rank is its card plus NAMED times one more than the rank.
"""

NAMED: Final = 64

MAX_EVENTS: Final = 64

LOG: Final = np.dtype(
    [
        ("enabled", np.int64),  # zero: nothing is written
        ("num_events", np.int64),
        ("events", np.int16, (MAX_EVENTS, NUM_EVENT_FIELDS)),
    ],
    align=True,
)


def state_dtype(rules: Rules) -> np.dtype[Any]:
    """Returns the dtype of the states of games by some rules, STATE or VARIED_STATE."""
    return VARIED_STATE if rules.is_varied else STATE


def view_dtype(rules: Rules) -> np.dtype[Any]:
    """Returns the dtype of the views of games by some rules, VIEW or VARIED_VIEW."""
    return VARIED_VIEW if rules.is_varied else VIEW


_last_compiled: tuple[Rules | None, NDArray[Any]] = (None, np.zeros(0, RULES))


def compiled_rules(rules: Rules) -> NDArray[Any]:
    """Returns rules as the one record of a read-only array, shape (1,), RULES or VARIED_RULES."""
    global _last_compiled
    # Mostly asked for the very rules asked for last: to hash them takes a microsecond.
    last_rules, array = _last_compiled
    if last_rules is not rules:
        array = _compile_rules(rules)
        _last_compiled = (rules, array)
    return array


@lru_cache(maxsize=64)
def _compile_rules(rules: Rules) -> NDArray[Any]:
    array = np.zeros(1, VARIED_RULES if rules.is_varied else RULES)
    record = array[0]
    record["num_players"] = rules.num_players
    record["sides"][: rules.num_players] = [
        rules.side_of(player) for player in range(rules.num_players)
    ]
    for name in (
        "cards_dealt",
        "cards_tossed",
        "cards_kept",
        "crib_from_deck",
        "num_tosses",
        "deck_size",
        "target",
        "fifteen",
        "thirty_one",
        *VARIANT_NUMBERS,
    ):
        record[name] = getattr(rules, name)
    record["toss_slots"][:] = NO_CARD
    for action, slots in enumerate(combinations(range(rules.cards_dealt), rules.cards_tossed)):
        record["toss_slots"][action, : rules.cards_tossed] = slots
    record["deck"][:] = NO_CARD
    cards = [*rules.num_decks * tuple(range(DECK_SIZE)), *range(DECK_SIZE, 2 * DECK_SIZE)]
    record["deck"][: rules.deck_size] = cards[: rules.deck_size]
    record["least_values"] = VALUES
    if rules.wild_kings:
        record["least_values"][KING] = 1
    record["table"] = rank_table(rules.fifteen)
    array.flags.writeable = False
    return array


def new_log(enabled: bool) -> NDArray[Any]:
    """Returns an empty event log, shape (1,) of dtype LOG; nothing is written to a disabled one."""
    log = np.zeros(1, LOG)
    log["enabled"] = enabled
    return log
