"""What the network sees of a toss: the analysis' parts of it, the cards, and the scores."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import DEALER, PONE, TARGET, load_knowledge
from cribai.analysis.policy import CRIB_MEAN, HAND, OTHER_PEGS, OWN_PEGS
from cribai.analysis.positions import MAX_SHOW
from cribai.analysis.tosses import value_tosses
from cribai.analysis.tossing import FIRST_SLOT, NUM_TOSSES, SECOND_SLOT
from cribai.cards import NUM_RANKS
from cribai.engine.jit import inlined, kernel
from cribai.engine.state import compiled_rules
from cribai.training.features import MAX_HELD, NEAR
from cribai.views import View, ViewBatch

MAX_CANDIDATES: Final = 5
CANDIDATE_SLACK: Final = 1.0
"""Tosses that the analysis finds worse than its best by more points are not considered."""

LEAST_UNIT: Final = 0.02
NUM_OUT: Final = 8
_DEALT: Final = 6

TOSS_FIELDS: Final = {
    "kept": MAX_HELD * NUM_RANKS,  # at least one, two, three of each rank
    "tossed": NUM_RANKS,  # over two
    "suits": 2,  # whether the toss is of one suit, whether the kept cards are
    "is_dealer": 1,
    "parts": 6,  # hand, its spread, crib, own and other pegging, what it is worth below the best
    "out": NUM_OUT,  # chances that the hand comes within so many points of the target
    "distances": 2,  # to the target, over it; the own first
    "own_distance": NEAR,  # one by one when near
    "other_distance": NEAR,
    "weights": 3,  # what a point is worth to each side, in units, and ten units
    "worth": 1,  # of the best toss
}

TOSS_COLUMNS: Final[dict[str, slice]] = {}
_start = 0
for _name, _size in TOSS_FIELDS.items():
    TOSS_COLUMNS[_name] = slice(_start, _start + _size)
    _start += _size

NUM_TOSS_INPUTS: Final = _start

(
    _KEPT,
    _TOSSED,
    _SUITS,
    _IS_DEALER,
    _PARTS,
    _OUT,
    _DISTANCES,
    _OWN_DISTANCE,
    _OTHER_DISTANCE,
    _WEIGHTS,
    _WORTH,
) = (place.start for place in TOSS_COLUMNS.values())


BELOW_BEST: Final = _PARTS + 5
"""Column of how far a toss is below the best by the analysis, in points and not above zero."""


@inlined
def toss_unit(tosses: Any) -> float:
    """Returns what a point is worth at a TOSSES record's scores, on average of the sides."""
    standing = tosses["standing"]
    return float(max(0.5 * (standing["own_weight"] + standing["other_weight"]), LEAST_UNIT))


@inlined
def next_candidate(tosses: Any, taken: int) -> int:
    """Returns the best toss not taken yet, or -1 if none is near enough the best of all.

    Args:
        tosses: TOSSES record with the answer.
        taken: Bit t is set if toss t is taken.
    """
    most = -1e9
    best = -1
    chosen = -1
    for toss in range(NUM_TOSSES):
        if best < 0 or tosses["worths"][toss] > tosses["worths"][best]:
            best = toss
        if (taken >> toss) & 1 == 0 and tosses["worths"][toss] > most:
            most = tosses["worths"][toss]
            chosen = toss
    if chosen < 0 or tosses["worths"][best] - most > CANDIDATE_SLACK * toss_unit(tosses):
        return -1
    return chosen


@inlined
def write_toss_features(tosses: Any, toss: int, best: int, out: Any, row: int) -> None:
    """Writes the row of one toss.

    Args:
        tosses: TOSSES record with the answer, not for points.
        toss: Number of the toss.
        best: Number of the toss that the analysis finds best.
        out: float32 array (n, NUM_TOSS_INPUTS). Modified in place: the row.
        row: Which.
    """
    for column in range(NUM_TOSS_INPUTS):
        out[row, column] = 0.0
    same = 0
    last = -1
    kept_suits = 0
    tossed_suits = 0
    for slot in range(_DEALT):
        card = tosses["cards"][slot]
        rank = card >> 2
        if slot == FIRST_SLOT[toss] or slot == SECOND_SLOT[toss]:
            out[row, _TOSSED + rank] += 0.5
            tossed_suits |= 1 << (card & 3)
            continue
        kept_suits |= 1 << (card & 3)
        same = same + 1 if rank == last else 0
        last = rank
        if same < MAX_HELD:
            out[row, _KEPT + same * NUM_RANKS + rank] = 1.0
    if tossed_suits & (tossed_suits - 1) == 0:
        out[row, _SUITS] = 1.0
    if kept_suits & (kept_suits - 1) == 0:
        out[row, _SUITS + 1] = 1.0
    out[row, _IS_DEALER] = tosses["role"]
    standing = tosses["standing"]
    unit = toss_unit(tosses)
    own_distance = TARGET - tosses["own_score"]
    other_distance = TARGET - tosses["other_score"]
    square = 0.0
    for points in range(MAX_SHOW):
        chance = tosses["hands"][toss, points]
        square += chance * points * points
        for within in range(NUM_OUT):
            if points + within >= own_distance:
                out[row, _OUT + within] += chance
    hand = tosses["parts"][toss, HAND]
    out[row, _PARTS] = 0.1 * hand
    out[row, _PARTS + 1] = 0.2 * max(square - hand * hand, 0.0) ** 0.5
    out[row, _PARTS + 2] = 0.1 * tosses["parts"][toss, CRIB_MEAN]
    out[row, _PARTS + 3] = 0.25 * tosses["parts"][toss, OWN_PEGS]
    out[row, _PARTS + 4] = 0.25 * tosses["parts"][toss, OTHER_PEGS]
    out[row, BELOW_BEST] = (tosses["worths"][toss] - tosses["worths"][best]) / unit
    out[row, _DISTANCES] = own_distance / TARGET
    out[row, _DISTANCES + 1] = other_distance / TARGET
    if own_distance <= NEAR:
        out[row, _OWN_DISTANCE + own_distance - 1] = 1.0
    if other_distance <= NEAR:
        out[row, _OTHER_DISTANCE + other_distance - 1] = 1.0
    out[row, _WEIGHTS] = standing["own_weight"] / unit
    out[row, _WEIGHTS + 1] = standing["other_weight"] / unit
    out[row, _WEIGHTS + 2] = 10.0 * unit
    out[row, _WORTH] = tosses["worths"][best]


@inlined
def ask_analysis(view: Any, rules: Any, tables: Any, tosses: Any) -> None:
    """Values the tosses of a view by the analysis.

    Args:
        view: VIEW record with a toss to be made, to 121 or fewer.
        rules: RULES record.
        tables: KNOWLEDGE record.
        tosses: TOSSES record with how to answer. Modified in place: the question and the answer.
    """
    for card in range(_DEALT):
        tosses["cards"][card] = view["hand"][card]
    shift = TARGET - rules["target"]
    tosses["role"] = DEALER if view["dealer"] == 0 else PONE
    tosses["own_score"] = view["scores"][0] + shift
    tosses["other_score"] = view["scores"][1] + shift
    value_tosses(tables, rules["table"], tosses)


@kernel
def _write_candidates(
    views: Any,
    rules: Any,
    tables: Any,
    options: Any,
    places: Any,
    candidates: Any,
    rows: Any,
) -> None:
    tosses = options[0]
    for i in range(places.shape[0]):
        ask_analysis(views[places[i]], rules[0], tables[0], tosses)
        taken = 0
        best = 0
        for place in range(MAX_CANDIDATES):
            toss = next_candidate(tosses, taken)
            candidates[i, place] = toss
            if toss < 0:
                continue
            if place == 0:
                best = toss
            taken |= 1 << toss
            write_toss_features(tosses, toss, best, rows, i * MAX_CANDIDATES + place)


def toss_candidates(
    views: ViewBatch, places: NDArray[np.int64], options: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Returns the tosses that come into question in some views, with their features.

    Args:
        views: Views of the six-card game for two, to 121 or fewer.
        places: int64 array (n,), which of them; a toss is to be made there.
        options: TOSSES array (1,) with how the analysis answers. Modified in place.

    Returns:
        int64 array (n, MAX_CANDIDATES) of tosses, the analysis' best first and -1 beyond the last;
        float32 array (n * MAX_CANDIDATES, NUM_TOSS_INPUTS) of their rows.
    """
    candidates = np.empty((len(places), MAX_CANDIDATES), np.int64)
    rows = np.zeros((candidates.size, NUM_TOSS_INPUTS), np.float32)
    rules = compiled_rules(views.rules)
    _write_candidates(views.array, rules, load_knowledge(), options, places, candidates, rows)
    return candidates, rows


@kernel
def _ask_one(views: Any, rules: Any, tables: Any, options: Any) -> None:
    ask_analysis(views[0], rules[0], tables[0], options[0])


def analyzed(view: View, options: NDArray[Any]) -> Any:
    """Returns the TOSSES record of what the analysis says of a view's tosses.

    Args:
        view: A view with a toss to be made.
        options: TOSSES array (1,) with how the analysis answers. Modified in place.
    """
    array = np.array([view.record], view.record.dtype)
    _ask_one(array, compiled_rules(view.rules), load_knowledge(), options)
    return options[0]
