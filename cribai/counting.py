"""The score explained as a player calls it: "fifteen two, fifteen four, and a pair is six".

The points come from the engine's scorer; this module only names them. The call goes through the
fifteens one by one, then runs, pairs, flush and nobs, each with the total that it brings; a run
takes in the pairs among its cards, as in "a double run of three is eight". Before it come the wild
kings that count as other cards, as in "the king of clubs as the five of hearts".
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from cribai.cards import (
    DECK_SIZE,
    MAX_JOKERS,
    NUM_RANKS,
    RANK_NAMES,
    SUIT_NAMES,
    rank_of,
    suit_of,
)
from cribai.engine.parts import (
    FIFTEENS,
    FLUSH,
    NOBS,
    NUM_PARTS,
    PAIRS,
    RUN_ORDER,
    RUNS,
    rank_parts,
    show_parts,
)
from cribai.engine.scoring import (
    NUM_PLAY_PARTS,
    PLAY_FIFTEEN,
    PLAY_PAIRS,
    PLAY_RUN,
    PLAY_THIRTY_ONE,
    extend_series,
    play_parts,
)
from cribai.engine.wild_kings import name_kings
from cribai.errors import CardError
from cribai.rules import STANDARD, Rules

_UNITS: Final = (
    "nothing", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS: Final = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_KINDS: Final = {2: "a pair", 3: "a pair royal", 4: "a double pair royal"}
_MULTIPLES: Final = {2: "double", 3: "triple", 4: "quadruple"}
_LONE_NOBS: Final = "one for nobs"
_MAX_CALLED: Final = 8
"""Fifteens that are called one by one: five cards hold no more of them."""


@dataclass(frozen=True, slots=True)
class Show:
    """What a hand or crib scores in the show, by parts, and how a player calls it.

    Attributes:
        points: The sum of the parts.
        fifteens: Two for each combination of cards that totals fifteen.
        pairs: Two for each pair.
        runs: The length of each run, for each way to choose its cards.
        flush: One a card.
        nobs: One for each jack in the hand and each starter of its suit.
        call: The count in words.
    """

    points: int
    fifteens: int
    pairs: int
    runs: int
    flush: int
    nobs: int
    call: str


def count_show(
    hand: Sequence[int],
    *starters: int,
    is_crib: bool = False,
    rules: Rules = STANDARD,
) -> Show:
    """Returns what a hand or crib of any size scores with starters, or without one.

    Wild kings count as the cards that make it score most; the parts and the call are theirs.

    Raises:
        CardError: There are no cards, or a number is no card.
    """
    if not hand:
        raise CardError("There are no cards to score; name at least one.")
    held = [*hand, *starters]
    _require_cards(held)
    cards = np.array(held, np.int64)
    if rules.wild_kings:
        name_kings(cards, len(hand), len(held), is_crib, rules.fifteen)
    parts = np.zeros(NUM_PARTS, np.int64)
    show_parts(cards, len(hand), len(held), is_crib, rules.fifteen, parts)
    counted = cards.tolist()
    named = [
        f"the {_card_name(king)} as the {_card_name(card)}"
        for king, card in zip(held, counted, strict=True)
        if king != card
    ]
    return Show(
        points=int(parts.sum()),
        fifteens=int(parts[FIFTEENS]),
        pairs=int(parts[PAIRS]),
        runs=int(parts[RUNS]),
        flush=int(parts[FLUSH]),
        nobs=int(parts[NOBS]),
        call=", ".join([*named, _call(counted, parts.tolist(), rules)]),
    )


def count_play(series: Sequence[int], count: int, rules: Rules = STANDARD) -> tuple[int, str]:
    """Returns what the last card of a series pegs, go and last card apart, and its name in words.

    Args:
        series: The cards since the count was last reset, the one just laid last.
        count: The count with it.
        rules: The rules.

    Raises:
        CardError: A number is no card.
    """
    _require_cards(series)
    packed = 0
    for card in series:
        packed = extend_series(packed, card)
    parts = np.zeros(NUM_PLAY_PARTS, np.int64)
    play_parts(packed, len(series), count, rules.fifteen, rules.thirty_one, parts)
    names = []
    if parts[PLAY_FIFTEEN]:
        names.append(number_word(rules.fifteen))
    if parts[PLAY_THIRTY_ONE]:
        names.append(number_word(rules.thirty_one))
    if parts[PLAY_PAIRS]:
        same = next(
            size for size in range(2, len(series) + 1) if size * (size - 1) == parts[PLAY_PAIRS]
        )
        names.append(_kind_name(same).removeprefix("a "))
    if parts[PLAY_RUN]:
        names.append(f"run of {number_word(int(parts[PLAY_RUN]))}")
    return int(parts.sum()), " and ".join(names)


def number_word(number: int) -> str:
    """Returns a number from 0 to 99 in words, zero as "nothing"; larger ones in digits."""
    if number < len(_UNITS):
        return _UNITS[number]
    if number < 100:
        tens, units = divmod(number, 10)
        return _TENS[tens] + (f"-{_UNITS[units]}" if units else "")
    return str(number)


def _require_cards(cards: Sequence[int]) -> None:
    for card in cards:
        if not 0 <= card < DECK_SIZE + MAX_JOKERS:
            raise CardError(
                f"{card} is not a card; cards are the numbers 0 to {DECK_SIZE + MAX_JOKERS - 1}."
            )


def _call(cards: Sequence[int], parts: Sequence[int], rules: Rules) -> str:
    """Returns the count in words; its last word is the sum of the parts, a lone nobs apart."""
    fifteen = number_word(rules.fifteen)
    num_fifteens = parts[FIFTEENS] // 2
    items = _items(cards, parts, rules)
    total = parts[FIFTEENS]
    spoken = [f"{fifteen} {number_word(2 * number)}" for number in range(1, num_fifteens + 1)]
    if num_fifteens > _MAX_CALLED:
        spoken = [f"{number_word(num_fifteens)} {fifteen}s is {number_word(total)}"]
    if not spoken and items == [(_LONE_NOBS, 1)]:
        return _LONE_NOBS
    for name, points in items:
        total += points
        spoken.append(f"{name} is {number_word(total)}")
    if items and len(spoken) > 1:
        spoken[-1] = f"and {spoken[-1]}"
    return ", ".join(spoken) or number_word(0)


def _items(cards: Sequence[int], parts: Sequence[int], rules: Rules) -> list[tuple[str, int]]:
    """Returns what there is beside fifteens, in the order called, by name and points."""
    counts = Counter(int(RUN_ORDER[rank_of(card)]) for card in cards)
    items: list[tuple[str, int]] = []
    in_runs: set[int] = set()
    for run in _runs(counts):
        in_runs.update(run)
        multiples = sorted(counts[order] for order in run if counts[order] > 1)
        names = [_MULTIPLES.get(number, f"{number}-fold") for number in multiples]
        name = " ".join(["a", *names, "run of", number_word(len(run))])
        items.append((name, _points_among(cards, run, rules)))
    for order, number in sorted(counts.items(), reverse=True):
        if number > 1 and order not in in_runs:
            items.append((_kind_name(number), _points_among(cards, [order], rules)))
    if parts[FLUSH]:
        items.append((f"a flush of {number_word(parts[FLUSH])}", parts[FLUSH]))
    if parts[NOBS]:
        items.append((f"{number_word(parts[NOBS])} for nobs", parts[NOBS]))
    return items


def _points_among(cards: Sequence[int], orders: Sequence[int], rules: Rules) -> int:
    """Returns the scorer's points for the runs and pairs among the cards of some ranks."""
    chosen = np.array([card for card in cards if RUN_ORDER[rank_of(card)] in orders], np.int64)
    parts = np.zeros(NUM_PARTS, np.int64)
    rank_parts(chosen, len(chosen), rules.fifteen, parts)
    return int(parts[RUNS] + parts[PAIRS])


def _runs(counts: Counter[int]) -> list[list[int]]:
    """Returns the ranks of each run, as their places in runs."""
    runs: list[list[int]] = []
    run: list[int] = []
    for order in range(NUM_RANKS + 2):
        if counts[order]:
            run.append(order)
            continue
        if len(run) >= 3:
            runs.append(run)
        run = []
    return runs


def _card_name(card: int) -> str:
    return f"{RANK_NAMES[rank_of(card)]} of {SUIT_NAMES[suit_of(card)]}"


def _kind_name(number: int) -> str:
    return _KINDS.get(number, f"{number_word(number)} of a kind")
