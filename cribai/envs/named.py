"""The dict encoding: named arrays of small integers, and the views back from them."""

from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.cards import KING, NO_CARD, NUM_RANKS, NUM_SUITS, rank_of
from cribai.engine.jit import is_varied, kernel
from cribai.engine.scoring import extend_series
from cribai.engine.state import (
    DEAL,
    DISCARD,
    NO_BID,
    NO_GO,
    NO_PLAYER,
    OVER,
    PLAY,
    compiled_rules,
    view_dtype,
)
from cribai.engine.viewing import write_mask
from cribai.envs.bounds import most_score
from cribai.envs.observation import ACTION_MASK, Encoding
from cribai.envs.variant_fields import VARIANT_FIELDS, cards_of_set, num_cards, num_ranks
from cribai.rules import Rules
from cribai.views import PREPARATIONS, View, ViewBatch

_NO_CARD: Final = NO_CARD


class DictEncoding(Encoding):
    """Named arrays of small integers.

    With p players, d different cards, k cards kept by each, and r ranks (13, or 14 with jokers):

    - `action_mask` (actions,) int8: 1 for each legal action; all 0 when no decision is due.
    - `hand` (d,) int8: 1 for each card held, 2 for two equal ones: those dealt, then those kept and
      not yet laid.
    - `tossed` (d,) int8: the same for the cards that the viewer tossed in this deal.
    - `starter` (d,) int8: 1 for the starter, once it is turned; of several the last turned, of
      given ones the dealer's.
    - `plays` (p * k, r + 4 + p + 1) int8: a row for each card laid in this deal, in order: its rank
      and its suit, one of each 1, who laid it in turn order from the viewer, and whether it is of
      the present series. Rows beyond the cards laid are 0.
    - `count` (1,) int8: the running total, 0 to 31.
    - `scores` (p,) int16: each player's side's score, in turn order from the viewer. It passes the
      target only where each player has a crib.
    - `num_left` (p,) int8: cards that each has yet to lay.
    - `go_counts` (p,) int8: the lowest count at which each said go in this deal; 31 where none did.
    - `dealer` (p,) int8: 1 for who deals.

    Variants add those of these that their rules need, of q cards to draw for each player:

    - `slots_laid` (k,) int8, with two decks: 1 for each kept card that is laid, in sorted order.
    - `phase` (9,) int8: 1 for the phase, as `cribai.engine.state` numbers them.
    - `starters` (2, d) int8, of two turned: 1 for each in its row; (p, d) of given ones: each
      player's.
    - `given` (d,) int8: 1 for the card that the viewer gave.
    - `num_thrown` (p,) int8: how many cards each threw away in this deal.
    - `thrown` (q, r + 4) int8: a row for each card that the viewer threw away: its rank and suit.
    - `tosses` (cards tossed, r + 4) int8, with two cribs: the same for the cards that he tossed,
      those to his own crib first.
    - `bids` (p,) int8: one more than each player's bid, 0 before.
    - `crib_owner` (p,) int8, with bids: 1 for whose the crib is, once that is known.
    - `play_ranks` (p * k, r) int8, with wild kings: the rank under which each card was laid.
    - `announced` (1,) int16: the points announced for what is being counted.
    - `shown` (cards in a hand or crib, r + 4) int8: a row for each card that is being counted.
    - `shown_player` (p,) int8: 1 for whose they are.
    - `shown_is_crib` (1,) int8: 1 if they are a crib.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        players, cards, copies = rules.num_players, num_cards(rules), rules.num_decks
        self._num_ranks = num_ranks(rules)
        self._variant_fields = tuple(field for field in VARIANT_FIELDS if field.is_in(rules))
        int8, int16 = np.dtype(np.int8), np.dtype(np.int16)
        self._shapes: dict[str, tuple[tuple[int, ...], int, np.dtype[Any]]] = {
            ACTION_MASK: ((rules.num_actions,), 1, int8),
            "hand": ((cards,), copies, int8),
            "tossed": ((cards,), copies, int8),
            "starter": ((cards,), 1, int8),
            "plays": (
                (players * rules.cards_kept, self._num_ranks + NUM_SUITS + players + 1),
                1,
                int8,
            ),
            "count": ((1,), rules.thirty_one, int8),
            "scores": ((players,), most_score(rules), int16),
            "num_left": ((players,), rules.cards_kept, int8),
            "go_counts": ((players,), rules.thirty_one, int8),
            "dealer": ((players,), 1, int8),
        }
        self._usual = [(shape, dtype) for shape, _, dtype in self._shapes.values()]
        for field in self._variant_fields:
            self._shapes[field.name] = (
                field.shape(rules),
                field.high(rules),
                np.dtype(field.dtype),
            )
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
            self._arrays = [((self._number, *shape), dtype) for shape, dtype in self._usual]
        fields = [np.zeros(shape, dtype) for shape, dtype in self._arrays]
        _write_fields(views.array, compiled_rules(self.rules), self._num_ranks, *fields)
        for field in self._variant_fields:
            values = field.write(views.array, self.rules)
            fields.append(np.array(values, field.dtype, order="C"))
        return fields

    def decode(self, observation: Any) -> View:
        """Returns the view of one observation; see `Encoding.decode`."""
        rules = self.rules
        view = _empty_view(rules)
        plays = [self._read_play(row) for row in observation["plays"] if row.any()]
        for place, (card, player, _) in enumerate(plays):
            view["play_cards"][place] = card
            view["play_players"][place] = player
        view["num_plays"] = len(plays)
        view["series_length"] = sum(in_series for _, _, in_series in plays)
        laid = [card for card, player, _ in plays if player == 0]
        kept = sorted([*cards_of_set(observation["hand"]), *laid])
        view["hand"][: len(kept)] = kept
        # Of two equal cards either may be laid; then a field of the observation tells.
        view["played"] = _bits(card in laid for card in kept)
        tossed = cards_of_set(observation["tossed"])
        view["tossed"][: len(tossed)] = tossed
        starters = cards_of_set(observation["starter"])
        view["starter"] = starters[0] if starters else NO_CARD
        view["count"] = observation["count"][0]
        view["dealer"] = np.flatnonzero(observation["dealer"])[0]
        for place in range(rules.num_players):
            view["scores"][place] = observation["scores"][place]
            view["num_left"][place] = observation["num_left"][place]
            if observation["go_counts"][place] < rules.thirty_one:
                view["go_counts"][place] = observation["go_counts"][place]
        if max(observation["scores"]) >= rules.target:
            view["phase"] = OVER
        elif starters:
            view["phase"] = PLAY if view["num_left"].any() else DEAL
        else:
            view["phase"] = DISCARD
        mask = observation[ACTION_MASK]
        view["num_legal"] = mask.sum()
        view["playable"] = _bits(mask[rules.num_tosses : rules.kings_start])
        for field in self._variant_fields:
            field.put(view, observation[field.name], rules)
        if rules.is_varied:
            _complete(view, mask, rules)
        for place in range(len(plays) - view["series_length"], len(plays)):
            is_named = rules.wild_kings
            card = 4 * view["play_ranks"][place] if is_named else view["play_cards"][place]
            view["series"] = extend_series(int(view["series"]), int(card))
        return View(view, rules)

    def _read_play(self, row: NDArray[np.int8]) -> tuple[int, int, bool]:
        """Returns the card laid, who laid it, and whether it is of the present series."""
        ranks = self._num_ranks
        rank = int(row[:ranks].argmax())
        suit = int(row[ranks : ranks + NUM_SUITS].argmax())
        player = int(row[ranks + NUM_SUITS : -1].argmax())
        return 4 * rank + suit, player, bool(row[-1])


def _empty_view(rules: Rules) -> Any:
    """Returns a VIEW record in which nothing is seen."""
    view = np.zeros(1, view_dtype(rules))[0]
    players = rules.num_players
    for name in ("hand", "tossed", "play_cards"):
        view[name] = NO_CARD
    view["play_players"] = NO_PLAYER
    view["go_counts"] = NO_GO
    if rules.is_varied:
        for name in ("thrown", "given", "shown", "play_ranks"):
            view[name] = NO_CARD
        view["starters"][:players] = NO_CARD
        view["bids"][:players] = NO_BID
        view["shown_player"] = NO_PLAYER
    return view


def _complete(view: Any, mask: NDArray[Any], rules: Rules) -> None:
    """Completes the record of a varied game by what follows from its other fields.

    Args:
        view: VIEW record. Modified in place.
        mask: The legal actions, (actions,).
        rules: The rules.
    """
    kept = [int(card) for card in view["hand"] if card != NO_CARD]
    if not rules.chosen_starter and rules.num_starters == 1:
        view["starters"][: rules.num_players, 0] = view["starter"]
    if not rules.bid:
        # When a deal is due, the next dealer is named already.
        ago = view["phase"] == DEAL
        view["crib_owner"] = (view["dealer"] - ago) % rules.num_players
    if view["num_legal"]:
        is_early = view["phase"] in PREPARATIONS
        view["hand_size"] = len(kept) if is_early else rules.cards_kept + rules.num_given
    if rules.wild_kings:
        lays = mask[rules.kings_start : rules.throws_start].reshape(rules.cards_kept, NUM_RANKS)
        view["playable"] |= _bits(lays.any(axis=1))
        if view["num_legal"] and view["phase"] == PLAY:
            view["kings"] = _bits([rank_of(card) == KING for card in kept])
    else:
        view["play_ranks"] = [rank_of(card) for card in view["play_cards"]]


def _bits(marks: Any) -> int:
    """Returns a number with a bit for each mark."""
    return sum(1 << place for place, mark in enumerate(marks) if mark)


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
    num_cribs = int(rules[0]["num_cribs"]) if is_varied(rules[0]) else 1
    player_column = num_ranks + NUM_SUITS
    series_column = player_column + num_players
    for row in range(views.shape[0]):
        view = views[row]
        write_mask(view, rules[0], masks, row)
        slots = int(view["played"])
        for slot in range(rules[0]["cards_dealt"]):
            card = view["hand"][slot]
            if card != _NO_CARD and not (slots >> slot) & 1:
                hand[row, card] = 1 + (hand[row, card] if is_varied(rules[0]) else 0)
        for slot in range(rules[0]["cards_tossed"] * num_cribs):
            card = view["tossed"][slot]
            if card != _NO_CARD:
                tossed[row, card] = 1 + (tossed[row, card] if is_varied(rules[0]) else 0)
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
