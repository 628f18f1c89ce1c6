"""What a view shows: the fields of a VIEW record, readably.

Fields by player are in turn order from the viewer: place 0 is his own, 1 his left's.
"""

from functools import cached_property
from typing import Any, Final

from cribai.cards import NO_CARD, rank_of
from cribai.counting import count_show
from cribai.engine.state import (
    ANNOUNCE,
    BID,
    CLAIM,
    DEAL,
    DISCARD,
    DRAW,
    GIVE,
    NO_BID,
    NO_GO,
    NO_PLAYER,
    OVER,
    PLAY,
)
from cribai.rules import Rules

PHASES: Final = {
    DISCARD: "toss",
    DEAL: "deal",
    PLAY: "play",
    OVER: "over",
    DRAW: "draw",
    GIVE: "give",
    BID: "bid",
    ANNOUNCE: "announce",
    CLAIM: "claim",
}
"""The phases of a game in words."""


class Sight:
    """What one player sees; cards are integers (see `cribai.cards`).

    Args:
        record: One record of dtype `cribai.engine.state.VIEW`.
        rules: The rules of the game.
    """

    def __init__(self, record: Any, rules: Rules) -> None:
        self.record = record
        self.rules = rules

    @property
    def game(self) -> int:
        """The caller's number of the game."""
        return int(self.record["game"])

    @property
    def deal(self) -> int:
        """Number of the deal in the game, from 0."""
        return int(self.record["deal"])

    @property
    def decision(self) -> int:
        """Decisions taken in the game before this one."""
        return int(self.record["decision"])

    @property
    def key(self) -> int:
        """The decision's random key, 64 bits; chance drawn from it ignores the batch's size."""
        return int(self.record["key"])

    @property
    def player(self) -> int:
        """The viewer's seat."""
        return int(self.record["player"])

    @property
    def is_due(self) -> bool:
        """Whether the viewer's decision is due; environments also show views when none is."""
        return int(self.record["num_legal"]) > 0

    @property
    def phase(self) -> str:
        """The phase of the game in a word, see `PHASES`."""
        return PHASES[int(self.record["phase"])]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return int(self.record["phase"]) == OVER

    @property
    def is_discard(self) -> bool:
        """Whether the deal's tosses are being made."""
        return int(self.record["phase"]) == DISCARD

    @property
    def is_play(self) -> bool:
        """Whether the deal's cards are being laid."""
        return int(self.record["phase"]) == PLAY

    @property
    def is_draw(self) -> bool:
        """Whether cards may be thrown away for new ones."""
        return int(self.record["phase"]) == DRAW

    @property
    def is_gift(self) -> bool:
        """Whether players are giving each other starters."""
        return int(self.record["phase"]) == GIVE

    @property
    def is_bid(self) -> bool:
        """Whether players are bidding for the crib."""
        return int(self.record["phase"]) == BID

    @property
    def is_announcement(self) -> bool:
        """Whether a player is announcing what his hand or crib counts."""
        return int(self.record["phase"]) == ANNOUNCE

    @property
    def is_claim(self) -> bool:
        """Whether a player is claiming what his opponent missed."""
        return int(self.record["phase"]) == CLAIM

    @property
    def is_dealer(self) -> bool:
        """Whether the viewer deals, and so, unless players bid for it, owns the crib."""
        return int(self.record["dealer"]) == 0

    @property
    def owns_crib(self) -> bool:
        """Whether the viewer counts the crib, or a crib of his own; false while bids are due."""
        return self.rules.two_cribs or self.crib_owner == 0

    @property
    def crib_owner(self) -> int | None:
        """Who counts the crib, in turn order from the viewer.

        None while bids are due, and where each player has a crib of his own.
        """
        if self.rules.two_cribs:
            return None
        owner = int(self.record["crib_owner"]) if self.rules.bid else self.dealer
        return None if owner == NO_PLAYER else owner

    @property
    def dealer(self) -> int:
        """The dealer, in turn order from the viewer."""
        return int(self.record["dealer"])

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of each player's side, in turn order from the viewer."""
        return tuple(int(score) for score in self.record["scores"][: self.rules.num_players])

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The viewer's cards, sorted: those dealt before the toss, then all those kept."""
        return tuple(int(card) for card in self.record["hand"] if card != NO_CARD)

    @property
    def hand(self) -> tuple[int, ...]:
        """The cards in the viewer's hand, sorted: those dealt, then those kept and not yet laid."""
        played = int(self.record["played"])
        if self.is_discard:
            return self.kept
        return tuple(card for slot, card in enumerate(self.kept) if not played >> slot & 1)

    @property
    def tossed(self) -> tuple[int, ...]:
        """What the viewer tossed in this deal; empty before."""
        return tuple(int(card) for card in self.record["tossed"] if card != NO_CARD)

    @property
    def starter(self) -> int | None:
        """The viewer's starter, the last turned of two, or None before."""
        return self.starters[-1] if self.starters else None

    @property
    def starters(self) -> tuple[int, ...]:
        """The starters that count in the viewer's hand, as far as they are turned."""
        return self.starters_of(0)

    def starters_of(self, player: int) -> tuple[int, ...]:
        """Returns the starters that count in a player's hand, as far as they are turned.

        Args:
            player: In turn order from the viewer.
        """
        names = (
            self.record["starters"][player] if self.rules.is_varied else [self.record["starter"]]
        )
        return tuple(int(card) for card in names if card != NO_CARD)

    @property
    def bids_made(self) -> tuple[int | None, ...]:
        """The players' bids in turn order from the viewer, 0 for a pass, None before."""
        bids = self.record["bids"][: self.rules.num_players] if self.rules.bid else ()
        return tuple(None if bid == NO_BID else int(bid) for bid in bids)

    @property
    def thrown(self) -> tuple[int, ...]:
        """What the viewer threw away in this deal; what he drew instead is in his hand."""
        if not self.rules.num_stock:
            return ()
        return tuple(int(card) for card in self.record["thrown"] if card != NO_CARD)

    @property
    def num_thrown(self) -> tuple[int, ...]:
        """How many cards each player threw away, in turn order from the viewer."""
        players = self.rules.num_players
        numbers = self.record["num_thrown"][:players] if self.rules.num_stock else [0] * players
        return tuple(int(number) for number in numbers)

    @property
    def given(self) -> int | None:
        """The card that the viewer gave his opponent in this deal, or None."""
        if not self.rules.chosen_starter or self.record["given"] == NO_CARD:
            return None
        return int(self.record["given"])

    @property
    def announced(self) -> int:
        """The points announced for what is being counted; 0 before."""
        return int(self.record["announced"]) if self.rules.muggins else 0

    @property
    def shown(self) -> tuple[int, ...]:
        """The hand or crib that is being counted; empty when none is."""
        if not self.rules.muggins:
            return ()
        return tuple(int(card) for card in self.record["shown"] if card != NO_CARD)

    @property
    def shown_player(self) -> int | None:
        """Whose hand or crib is being counted, in turn order from the viewer; None when none is."""
        player = int(self.record["shown_player"]) if self.rules.muggins else NO_PLAYER
        return None if player == NO_PLAYER else player

    @property
    def shown_is_crib(self) -> bool:
        """Whether it is a crib that is being counted."""
        return self.rules.muggins and bool(self.record["shown_is_crib"])

    @property
    def shown_worth(self) -> int:
        """The points in the hand or crib that is being counted; 0 when none is."""
        player = self.shown_player
        if player is None:
            return 0
        is_crib = self.shown_is_crib
        if is_crib and not self.rules.two_cribs:
            player = self.dealer
        starters = self.starters_of(player)
        return count_show(self.shown, *starters, is_crib=is_crib, rules=self.rules).points

    @property
    def count(self) -> int:
        """The running total of the series, at most `rules.thirty_one`."""
        return int(self.record["count"])

    @cached_property
    def plays(self) -> tuple[tuple[int, int], ...]:
        """The cards laid in this deal in order, as (player in turn order from the viewer, card)."""
        num_plays = int(self.record["num_plays"])
        players = self.record["play_players"][:num_plays]
        cards = self.record["play_cards"][:num_plays]
        return tuple((int(player), int(card)) for player, card in zip(players, cards, strict=True))

    @property
    def play_ranks(self) -> tuple[int, ...]:
        """The ranks under which the cards of `plays` were laid; only a wild king has another."""
        if not self.rules.wild_kings:
            return tuple(rank_of(card) for _, card in self.plays)
        return tuple(int(rank) for rank in self.record["play_ranks"][: len(self.plays)])

    @property
    def series(self) -> tuple[int, ...]:
        """The cards laid since the count was last reset."""
        length = int(self.record["series_length"])
        return tuple(card for _, card in self.plays[len(self.plays) - length :])

    @property
    def num_left(self) -> tuple[int, ...]:
        """How many cards each player has yet to lay, in turn order from the viewer."""
        return tuple(int(number) for number in self.record["num_left"][: self.rules.num_players])

    @property
    def go_counts(self) -> tuple[int | None, ...]:
        """The lowest count at which each player had to say go in this deal, or None.

        A go at count c means that the player holds no card of value `rules.thirty_one` - c or less
        from then on; a wild king can count as little as an ace.
        """
        counts = self.record["go_counts"][: self.rules.num_players]
        return tuple(None if count == NO_GO else int(count) for count in counts)
