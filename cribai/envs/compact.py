"""The compact encoding: a small vector for networks, ranks in place of cards."""

from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.cards import JOKER_RANK, NO_CARD, NUM_SUITS
from cribai.engine.jit import kernel
from cribai.engine.parts import VALUES
from cribai.engine.scoring import extend_series, play_points
from cribai.engine.state import DISCARD, compiled_rules
from cribai.engine.viewing import write_mask
from cribai.envs.observation import Encoding
from cribai.errors import ConfigError
from cribai.rules import Rules
from cribai.views import View, ViewBatch

_NO_CARD: Final = NO_CARD

NUM_RECENT: Final = 5
"""Cards of the series that the compact encoding gives one by one; longer runs are rare."""


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

    Suits are kept as far as flushes and nobs need them; `decode` is not possible. Rules by which a
    deal has more to decide or to see than tosses and lays under one starter are refused.

    Raises:
        ConfigError: The rules are such.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        if rules.is_varied:
            raise ConfigError(
                f"A compact observation does not hold all that the rules {rules.name!r} ask for;"
                " choose the observation 'dict' or 'flat'."
            )
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
