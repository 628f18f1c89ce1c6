"""Observations: views as arrays for learners, and the views back from them.

Every encoding turns a batch of views into arrays of fixed shape. `dict` and `flat` lose nothing but
book-keeping (numbers of game, deal and decision, seat, random key): `decode` gives the view back.
`compact` is smaller and made for networks: ranks in place of cards, and what each lay would peg.
"""

from abc import ABC, abstractmethod
from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.cards import JOKER_RANK, NO_CARD, NUM_RANKS, NUM_SUITS
from cribai.engine.jit import kernel
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points
from cribai.engine.state import DEAL, DISCARD, NO_GO, NO_PLAYER, OVER, PLAY, VIEW, compiled_rules
from cribai.engine.viewing import write_mask
from cribai.errors import ConfigError
from cribai.rules import Rules
from cribai.views import View, ViewBatch

ACTION_MASK: Final = "action_mask"
_NO_CARD: Final = NO_CARD

NUM_RECENT: Final = 5
"""Cards of the series that the compact encoding gives one by one; longer runs are rare."""


class Encoding(ABC):
    """A way to turn views into observations.

    Attributes:
        rules: The rules of the games.
        space: The space of one observation.
    """

    space: spaces.Space[Any]

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    @abstractmethod
    def encode(self, views: ViewBatch) -> Any:
        """Returns new observations of views, a row of each array for each."""

    def encode_one(self, views: ViewBatch) -> Any:
        """Returns a new observation of the only view of a batch."""
        return self.encode(views)[0]

    @abstractmethod
    def decode(self, observation: Any) -> View:
        """Returns the view of one observation, its book-keeping fields zero.

        A game that ended by an illegal action looks like one that waits for another player.

        Raises:
            ConfigError: The encoding does not keep everything.
        """


class DictEncoding(Encoding):
    """Named arrays of small integers.

    With p players, d cards in the deck, k cards kept by each, and r ranks (13, or 14 with jokers):

    - `action_mask` (actions,) int8: 1 for each legal action; all 0 when no decision is due.
    - `hand` (d,) int8: 1 for each card held: those dealt, then those kept and not yet laid.
    - `tossed` (d,) int8: 1 for each card that the viewer tossed in this deal.
    - `starter` (d,) int8: 1 for the starter, once it is turned.
    - `plays` (p * k, r + 4 + p + 1) int8: a row for each card laid in this deal, in order: its rank
      and its suit, one of each 1, who laid it in turn order from the viewer, and whether it is of
      the present series. Rows beyond the cards laid are 0.
    - `count` (1,) int8: the running total, 0 to 31.
    - `scores` (p,) int16: each player's side's score, in turn order from the viewer.
    - `num_left` (p,) int8: cards that each has yet to lay.
    - `go_counts` (p,) int8: the lowest count at which each said go in this deal; 31 where none did.
    - `dealer` (p,) int8: 1 for who deals.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        players, deck = rules.num_players, rules.deck_size
        self._num_ranks = NUM_RANKS + (rules.num_jokers > 0)
        int8, int16 = np.dtype(np.int8), np.dtype(np.int16)
        self._shapes: dict[str, tuple[tuple[int, ...], int, np.dtype[Any]]] = {
            ACTION_MASK: ((rules.num_actions,), 1, int8),
            "hand": ((deck,), 1, int8),
            "tossed": ((deck,), 1, int8),
            "starter": ((deck,), 1, int8),
            "plays": (
                (players * rules.cards_kept, self._num_ranks + NUM_SUITS + players + 1),
                1,
                int8,
            ),
            "count": ((1,), rules.thirty_one, int8),
            "scores": ((players,), rules.target, int16),
            "num_left": ((players,), rules.cards_kept, int8),
            "go_counts": ((players,), rules.thirty_one, int8),
            "dealer": ((players,), 1, int8),
        }
        self._number = 0
        self._arrays: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self.space = spaces.Dict(
            {
                name: spaces.Box(0, high, shape, dtype.type)
                for name, (shape, high, dtype) in self._shapes.items()
            }
        )

    @property
    def limits(self) -> dict[str, tuple[tuple[int, ...], int]]:
        """The shape and the greatest value of each field."""
        return {name: (shape, high) for name, (shape, high, _) in self._shapes.items()}

    def encode(self, views: ViewBatch) -> dict[str, NDArray[Any]]:
        """Returns new observations of views; see `Encoding.encode`."""
        return dict(zip(self._shapes, self._fields(views), strict=True))

    def encode_one(self, views: ViewBatch) -> dict[str, NDArray[Any]]:
        """Returns a new observation of the only view; see `Encoding.encode_one`."""
        return dict(zip(self._shapes, [field[0] for field in self._fields(views)], strict=True))

    def _fields(self, views: ViewBatch) -> list[NDArray[Any]]:
        if len(views) != self._number:
            self._number = len(views)
            self._arrays = [
                ((self._number, *shape), dtype) for shape, _, dtype in self._shapes.values()
            ]
        fields = [np.zeros(shape, dtype) for shape, dtype in self._arrays]
        rules = compiled_rules(self.rules)
        _write_fields(views.array, rules, self._num_ranks, *fields)
        return fields

    def decode(self, observation: Any) -> View:
        """Returns the view of one observation; see `Encoding.decode`."""
        rules = self.rules
        view = np.zeros(1, VIEW)[0]
        for name in ("hand", "tossed", "play_cards"):
            view[name] = NO_CARD
        view["play_players"] = NO_PLAYER
        view["go_counts"] = NO_GO
        plays = [self._read_play(row) for row in observation["plays"] if row.any()]
        for place, (card, player, in_series) in enumerate(plays):
            view["play_cards"][place] = card
            view["play_players"][place] = player
            if in_series:
                view["series"] = extend_series(int(view["series"]), card)
                view["series_length"] += 1
        view["num_plays"] = len(plays)
        held = np.flatnonzero(observation["hand"]).tolist()
        laid = [card for card, player, _ in plays if player == 0]
        kept = sorted([*held, *laid])
        view["hand"][: len(kept)] = kept
        view["played"] = sum(1 << slot for slot, card in enumerate(kept) if card in laid)
        tossed = np.flatnonzero(observation["tossed"]).tolist()
        view["tossed"][: len(tossed)] = tossed
        starters = np.flatnonzero(observation["starter"]).tolist()
        view["starter"] = starters[0] if starters else NO_CARD
        view["count"] = observation["count"][0]
        view["dealer"] = np.flatnonzero(observation["dealer"])[0]
        for place in range(rules.num_players):
            view["scores"][place] = observation["scores"][place]
            view["num_left"][place] = observation["num_left"][place]
            if observation["go_counts"][place] < rules.thirty_one:
                view["go_counts"][place] = observation["go_counts"][place]
        mask = observation[ACTION_MASK]
        view["num_legal"] = mask.sum()
        lays = mask[rules.num_tosses :]
        view["playable"] = sum(1 << slot for slot in range(rules.cards_kept) if lays[slot])
        if max(observation["scores"]) >= rules.target:
            view["phase"] = OVER
        elif starters:
            view["phase"] = PLAY if view["num_left"].any() else DEAL
        else:
            view["phase"] = DISCARD
        return View(view, rules)

    def _read_play(self, row: NDArray[np.int8]) -> tuple[int, int, bool]:
        """Returns the card laid, who laid it, and whether it is of the present series."""
        ranks = self._num_ranks
        rank = int(row[:ranks].argmax())
        suit = int(row[ranks : ranks + NUM_SUITS].argmax())
        player = int(row[ranks + NUM_SUITS : -1].argmax())
        return 4 * rank + suit, player, bool(row[-1])


class FlatEncoding(Encoding):
    """One float32 vector: the fields of `DictEncoding` in order, each number from 0 to 1.

    Attributes:
        slices: Where each field lies.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self._fields = DictEncoding(rules)
        self.slices: dict[str, slice] = {}
        highs: list[float] = []
        for name, (shape, high) in self._fields.limits.items():
            size = int(np.prod(shape))
            self.slices[name] = slice(len(highs), len(highs) + size)
            highs += [high] * size
        self._highs = np.array(highs)
        self._scale = (1 / self._highs).astype(np.float32)
        self.space = spaces.Box(0, 1, (len(highs),), np.float32)

    def encode(self, views: ViewBatch) -> NDArray[np.float32]:
        """Returns new observations of views; see `Encoding.encode`."""
        fields = self._fields.encode(views).values()
        found = np.concatenate(
            [field.reshape(len(views), -1) for field in fields], axis=1, dtype=np.float32
        )
        found *= self._scale
        return found

    def decode(self, observation: Any) -> View:
        """Returns the view of one observation; see `Encoding.decode`."""
        values = np.rint(np.asarray(observation, np.float64) * self._highs).astype(np.int64)
        return self._fields.decode(
            {
                name: values[self.slices[name]].reshape(shape)
                for name, (shape, _) in self._fields.limits.items()
            }
        )


class CompactEncoding(Encoding):
    """One float32 vector for networks: ranks in place of cards, and what each lay would peg.

    With p players and k cards kept by each, in order, each number from 0 to 1:

    - the action mask.
    - 14 each, a rank's cards over four: in the hand; tossed by the viewer; laid by him; laid by the
      others.
    - 14: the starter's rank.
    - 5 * 14: the ranks of the last five cards of the series, the last first.
    - 4 and 4: the hand's cards of each suit over the cards dealt; the starter's suit.
    - k: what laying each kept card would peg, over twelve; 0 where it may not be laid.
    - 1: the count over thirty-one.
    - p each: scores over the target; cards left to lay over k; go counts over thirty-one, 1 where
      none was said; who deals.
    - 1: whether the toss is still to be made.

    Suits are kept as far as flushes and nobs need them; `decode` is not possible.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        ranks = (5 + NUM_RECENT) * (JOKER_RANK + 1)
        numbers = rules.cards_kept + 2 + 4 * rules.num_players
        size = rules.num_actions + ranks + 2 * NUM_SUITS + numbers
        self.space = spaces.Box(0, 1, (size,), np.float32)

    def encode(self, views: ViewBatch) -> NDArray[np.float32]:
        """Returns new observations of views; see `Encoding.encode`."""
        found = np.zeros((len(views), *cast("tuple[int]", self.space.shape)), np.float32)
        rules = compiled_rules(self.rules)
        _write_compact(views.array, rules, found)
        return found

    def decode(self, observation: Any) -> View:  # noqa: ARG002
        """Refuses; see `Encoding.decode`."""
        raise ConfigError(
            "A compact observation does not keep everything and cannot be decoded;"
            " choose the observation 'dict' or 'flat'."
        )


ENCODINGS: Final[dict[str, type[Encoding]]] = {
    "dict": DictEncoding,
    "flat": FlatEncoding,
    "compact": CompactEncoding,
}


def make_encoding(name: str, rules: Rules) -> Encoding:
    """Returns an encoding by name.

    Raises:
        ConfigError: No encoding has the name.
    """
    if name not in ENCODINGS:
        raise ConfigError(f"Unknown observation {name!r}; choose one of {', '.join(ENCODINGS)}.")
    return ENCODINGS[name](rules)


@kernel
def _write_fields(
    views: Any,
    rules: Any,
    num_ranks: int,
    masks: Any,
    hand: Any,
    tossed: Any,
    starter: Any,
    plays: Any,
    count: Any,
    scores: Any,
    num_left: Any,
    go_counts: Any,
    dealer: Any,
) -> None:
    """Writes all fields into arrays of zeros, which are modified in place."""
    num_players = rules[0]["num_players"]
    thirty_one = rules[0]["thirty_one"]
    player_column = num_ranks + NUM_SUITS
    series_column = player_column + num_players
    for row in range(views.shape[0]):
        view = views[row]
        write_mask(view, rules[0], masks, row)
        slots = int(view["played"])
        for slot in range(rules[0]["cards_dealt"]):
            card = view["hand"][slot]
            if card != _NO_CARD and not (slots >> slot) & 1:
                hand[row, card] = 1
        for slot in range(rules[0]["cards_tossed"]):
            card = view["tossed"][slot]
            if card != _NO_CARD:
                tossed[row, card] = 1
        if view["starter"] != _NO_CARD:
            starter[row, view["starter"]] = 1
        num_plays = int(view["num_plays"])
        first_of_series = num_plays - view["series_length"]
        for place in range(num_plays):
            card = view["play_cards"][place]
            plays[row, place, card >> 2] = 1
            plays[row, place, num_ranks + (card & 3)] = 1
            plays[row, place, player_column + view["play_players"][place]] = 1
            plays[row, place, series_column] = place >= first_of_series
        count[row, 0] = view["count"]
        dealer[row, view["dealer"]] = 1
        for player in range(num_players):
            scores[row, player] = view["scores"][player]
            num_left[row, player] = view["num_left"][player]
            go_counts[row, player] = min(view["go_counts"][player], thirty_one)


@kernel
def _write_compact(views: Any, rules: Any, out: Any) -> None:
    """Writes compact observations into an array of zeros, which is modified in place."""
    width = JOKER_RANK + 1
    start = rules[0]["num_tosses"] + rules[0]["cards_kept"]
    recent = start + 5 * width
    suits = recent + NUM_RECENT * width
    num_players = rules[0]["num_players"]
    kept = rules[0]["cards_kept"]
    thirty_one = rules[0]["thirty_one"]
    for row in range(views.shape[0]):
        view = views[row]
        write_mask(view, rules[0], out, row)
        played = int(view["played"])
        for slot in range(rules[0]["cards_dealt"]):
            card = view["hand"][slot]
            if card == _NO_CARD:
                continue
            if (played >> slot) & 1:
                out[row, start + 2 * width + (card >> 2)] += 0.25
            else:
                out[row, start + (card >> 2)] += 0.25
            # Laid cards are still counted at the show.
            out[row, suits + (card & 3)] += 1.0 / rules[0]["cards_dealt"]
        for slot in range(rules[0]["cards_tossed"]):
            card = view["tossed"][slot]
            if card != _NO_CARD:
                out[row, start + width + (card >> 2)] += 0.25
        starter = view["starter"]
        if starter != _NO_CARD:
            out[row, start + 4 * width + (starter >> 2)] = 1.0
            out[row, suits + NUM_SUITS + (starter & 3)] = 1.0
        num_plays = int(view["num_plays"])
        for place in range(num_plays):
            if view["play_players"][place] != 0:
                out[row, start + 3 * width + (view["play_cards"][place] >> 2)] += 0.25
        for place in range(min(NUM_RECENT, int(view["series_length"]))):
            card = view["play_cards"][num_plays - 1 - place]
            out[row, recent + place * width + (card >> 2)] = 1.0
        column = suits + 2 * NUM_SUITS
        for slot in range(kept):
            if (view["playable"] >> slot) & 1:
                card = int(view["hand"][slot])
                points = play_points(
                    extend_series(view["series"], card),
                    view["series_length"] + 1,
                    view["count"] + VALUES[card >> 2],
                    rules[0]["fifteen"],
                    thirty_one,
                )
                out[row, column + slot] = min(points, 12) / 12.0
        column += kept
        out[row, column] = view["count"] / thirty_one
        column += 1
        for player in range(num_players):
            out[row, column + player] = view["scores"][player] / rules[0]["target"]
            out[row, column + num_players + player] = view["num_left"][player] / kept
            go_count = min(view["go_counts"][player], thirty_one)
            out[row, column + 2 * num_players + player] = go_count / thirty_one
        out[row, column + 3 * num_players + view["dealer"]] = 1.0
        out[row, column + 4 * num_players] = view["phase"] == DISCARD
