"""What the network sees of a lay: one float32 row for each view of the six-card game for two.

Suits are left out, which do not matter in the play; what the own hand will show is given instead.
The engineered part tells what each rank would peg now, what a reply would peg on average, and what
points are worth to each side at the score; see `cribai.training.stakes`.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import DEALER, PONE, TARGET
from cribai.analysis.positions import MAX_SHOW
from cribai.cards import NO_CARD, NUM_RANKS
from cribai.engine.jit import inlined, kernel
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points, show_points
from cribai.engine.state import compiled_rules
from cribai.training.stakes import MAX_PEGGED, load_stakes, pegged_worth, point_unit
from cribai.views import ViewBatch

ENCODING_VERSION: Final = 1
"""Changes whenever a column changes its meaning; weights trained by another version are refused."""

KEPT: Final = 4
MAX_HELD: Final = 3
NUM_RECENT: Final = 7
MAX_COUNT: Final = 31
NUM_VALUES: Final = 10
NEAR: Final = 30
"""Distances to the target up to this one are given one by one."""

FIELDS: Final = {
    "held": MAX_HELD * NUM_RANKS,  # at least one, two, three of each rank
    "tossed": NUM_RANKS,
    "starter": NUM_RANKS,
    "unseen": NUM_RANKS,  # over four
    "series": NUM_RECENT * NUM_RANKS,  # the last cards of the series, the last first
    "count": MAX_COUNT,
    "own_laid": NUM_RANKS,
    "other_laid": NUM_RANKS,
    "plays": NUM_RECENT * NUM_RANKS,  # the cards laid in this deal, the first first
    "play_players": NUM_RECENT,  # 1 where the opponent laid it
    "own_left": KEPT,
    "other_left": KEPT + 1,
    "is_dealer": 1,
    "excluded": NUM_VALUES,  # values that the opponent's go's rule out
    "legal": NUM_RANKS,
    "points": NUM_RANKS,  # what each legal rank would peg now, over four
    "replies": NUM_RANKS,  # what one unseen card would peg in reply on average, over two
    "fits": NUM_RANKS,  # share of the unseen cards that could be laid in reply
    "distances": 2,  # to the target, over it; the own first
    "own_distance": NEAR,  # one by one when near
    "other_distance": NEAR,
    "after_hand": NEAR + 1,  # the own distance once the hand is counted; 0 is out
    "own_hand": 1,  # what it will show, over ten
    "gains": MAX_PEGGED,  # what each of so many points is worth to the own side, in units
    "losses": MAX_PEGGED,  # and to the other
    "worths": 3,  # of the game if nothing more is pegged, of ten units, of a point to both
    "turns": 3,  # cards in the series, whether its last is the own, whether the opponent said go
    "now": NUM_RANKS,  # what the points of each legal rank are worth, in units
    "then": NUM_RANKS,  # what the points of one unseen card in reply would be worth on average
    "out": 6,  # whether the own hand goes out, also with two more; the other's chances, 0 to 3 more
}

COLUMNS: Final[dict[str, slice]] = {}
_start = 0
for _name, _size in FIELDS.items():
    COLUMNS[_name] = slice(_start, _start + _size)
    _start += _size

NUM_INPUTS: Final = _start

(
    _HELD,
    _TOSSED,
    _STARTER,
    _UNSEEN,
    _SERIES,
    _COUNT,
    _OWN_LAID,
    _OTHER_LAID,
    _PLAYS,
    _PLAYERS,
    _OWN_LEFT,
    _OTHER_LEFT,
    _IS_DEALER,
    _EXCLUDED,
    _LEGAL,
    _POINTS,
    _REPLIES,
    _FITS,
    _DISTANCES,
    _OWN_DISTANCE,
    _OTHER_DISTANCE,
    _AFTER_HAND,
    _OWN_HAND,
    _GAINS,
    _LOSSES,
    _WORTHS,
    _TURNS,
    _NOW,
    _THEN,
    _OUT,
) = (place.start for place in COLUMNS.values())

SCRATCH: Final = np.dtype(
    [
        ("hand", np.int64, (1, KEPT)),
        ("unseen", np.int64, NUM_RANKS),
    ],
    align=True,
)
"""What `write_features` needs room for."""

_NO_CARD: Final = NO_CARD
_THIRTY_ONE: Final = 31
_FIFTEEN: Final = 15


@inlined
def write_features(view: Any, rules: Any, stakes: Any, scratch: Any, out: Any, row: int) -> None:
    """Writes the row of one view.

    Args:
        view: VIEW record with a card to be laid.
        rules: RULES record.
        stakes: STAKES record.
        scratch: SCRATCH record. Modified in place.
        out: float32 array (n, NUM_INPUTS). Modified in place: the row.
        row: Which.
    """
    for column in range(NUM_INPUTS):
        out[row, column] = 0.0
    unseen = scratch["unseen"]
    for rank in range(NUM_RANKS):
        unseen[rank] = 4
    played = int(view["played"])
    playable = int(view["playable"])
    starter = int(view["starter"])
    num_left = 0
    same = 0
    last = -1
    for slot in range(KEPT):
        rank = int(view["hand"][slot]) >> 2
        scratch["hand"][0, slot] = view["hand"][slot]
        unseen[rank] -= 1
        if (played >> slot) & 1:
            out[row, _OWN_LAID + rank] += 0.5
            continue
        same = same + 1 if rank == last else 0
        last = rank
        num_left += 1
        if same < MAX_HELD:
            out[row, _HELD + same * NUM_RANKS + rank] = 1.0
        if (playable >> slot) & 1:
            out[row, _LEGAL + rank] = 1.0
    for i in range(2):
        rank = int(view["tossed"][i]) >> 2
        unseen[rank] -= 1
        out[row, _TOSSED + rank] += 0.5
    unseen[starter >> 2] -= 1
    out[row, _STARTER + (starter >> 2)] = 1.0
    num_plays = int(view["num_plays"])
    length = int(view["series_length"])
    for i in range(num_plays):
        rank = int(view["play_cards"][i]) >> 2
        if i < NUM_RECENT:
            out[row, _PLAYS + i * NUM_RANKS + rank] = 1.0
        if view["play_players"][i] != 0:
            unseen[rank] -= 1
            out[row, _OTHER_LAID + rank] += 0.5
            if i < NUM_RECENT:
                out[row, _PLAYERS + i] = 1.0
    for i in range(min(length, NUM_RECENT)):
        rank = int(view["play_cards"][num_plays - 1 - i]) >> 2
        out[row, _SERIES + i * NUM_RANKS + rank] = 1.0
    count = int(view["count"])
    out[row, _COUNT + count] = 1.0
    other_left = int(view["num_left"][1])
    out[row, _OWN_LEFT + num_left - 1] = 1.0
    out[row, _OTHER_LEFT + other_left] = 1.0
    role = DEALER if view["dealer"] == 0 else PONE
    out[row, _IS_DEALER] = role
    # A go at a count rules out what would have fitted under thirty-one.
    excluded = _THIRTY_ONE - int(view["go_counts"][1])
    for value in range(1, min(excluded, NUM_VALUES) + 1):
        out[row, _EXCLUDED + value - 1] = 1.0
    shift = TARGET - rules["target"]
    own = view["scores"][0] + shift
    other = view["scores"][1] + shift
    own_distance = TARGET - own
    other_distance = TARGET - other
    out[row, _DISTANCES] = own_distance / TARGET
    out[row, _DISTANCES + 1] = other_distance / TARGET
    if own_distance <= NEAR:
        out[row, _OWN_DISTANCE + own_distance - 1] = 1.0
    if other_distance <= NEAR:
        out[row, _OTHER_DISTANCE + other_distance - 1] = 1.0
    hand = show_points(scratch["hand"], 0, KEPT, starter, False, rules)
    out[row, _OWN_HAND] = 0.1 * hand
    after_hand = max(own_distance - hand, 0)
    if after_hand <= NEAR:
        out[row, _AFTER_HAND + after_hand] = 1.0
    unit = point_unit(stakes, role, own, other, hand)
    worth = pegged_worth(stakes, role, own, other, hand)
    for number in range(1, MAX_PEGGED + 1):
        up = pegged_worth(stakes, role, own + number, other, hand) - worth
        down = worth - pegged_worth(stakes, role, own, other + number, hand)
        out[row, _GAINS + number - 1] = up / (number * unit)
        out[row, _LOSSES + number - 1] = down / (number * unit)
    out[row, _WORTHS] = worth
    out[row, _WORTHS + 1] = 10.0 * unit
    both = pegged_worth(stakes, role, own + 1, other + 1, hand)
    out[row, _WORTHS + 2] = (both - worth) / unit
    num_unseen = 0
    for rank in range(NUM_RANKS):
        out[row, _UNSEEN + rank] = 0.25 * unseen[rank]
        if VALUES[rank] > excluded:
            num_unseen += unseen[rank]
    series = int(view["series"])
    for rank in range(NUM_RANKS):
        if out[row, _LEGAL + rank] == 0.0:
            continue
        reached = count + VALUES[rank]
        extended = extend_series(series, 4 * rank)
        points = play_points(extended, length + 1, reached, _FIFTEEN, _THIRTY_ONE)
        out[row, _POINTS + rank] = 0.25 * points
        gained = pegged_worth(stakes, role, own + points, other, hand)
        out[row, _NOW + rank] = (gained - worth) / unit
        if reached == _THIRTY_ONE or other_left == 0:
            continue
        total = 0
        fitting = 0
        lost = 0.0
        for reply in range(NUM_RANKS):
            number = unseen[reply]
            after = reached + VALUES[reply]
            if number > 0 and VALUES[reply] > excluded and after <= _THIRTY_ONE:
                pegged = play_points(
                    extend_series(extended, 4 * reply), length + 2, after, _FIFTEEN, _THIRTY_ONE
                )
                fitting += number
                total += number * pegged
                if pegged > 0:
                    left = pegged_worth(stakes, role, own + points, other + pegged, hand)
                    lost += number * (gained - left)
        if num_unseen > 0:
            out[row, _REPLIES + rank] = 0.5 * total / num_unseen
            out[row, _FITS + rank] = fitting / num_unseen
            out[row, _THEN + rank] = lost / (num_unseen * unit)
    if hand >= own_distance:
        out[row, _OUT] = 1.0
    if hand + 2 >= own_distance:
        out[row, _OUT + 1] = 1.0
    for shown in range(MAX_SHOW):
        chance = stakes["hands"][1 - role, shown]
        for pegged in range(4):
            if shown + pegged >= other_distance:
                out[row, _OUT + 2 + pegged] += chance
    out[row, _TURNS] = length / NUM_RECENT
    if length > 0 and view["play_players"][num_plays - 1] == 0:
        out[row, _TURNS + 1] = 1.0
    if excluded > 0:
        out[row, _TURNS + 2] = 1.0


@kernel
def _write_rows(views: Any, rules: Any, stakes: Any, scratch: Any, places: Any, out: Any) -> None:
    for row in range(places.shape[0]):
        write_features(views[places[row]], rules[0], stakes[0], scratch[0], out, row)


def lay_features(
    views: ViewBatch, places: NDArray[np.int64], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Returns the rows of some views with a card to be laid, float32 array (n, NUM_INPUTS).

    Args:
        views: Views of the six-card game for two, to 121 or fewer.
        places: int64 array (n,), which of them.
        out: float32 array (>= n, NUM_INPUTS). Modified in place: the first n rows; new by default.
    """
    if out is None:
        out = np.empty((len(places), NUM_INPUTS), np.float32)
    rules = compiled_rules(views.rules)
    _write_rows(views.array, rules, load_stakes(), np.zeros(1, SCRATCH), places, out)
    return out
