"""What follows from a view for whoever shows it: names, roles, the series by player, the result."""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from cribai.cards import JOKER_RANK, RANKS, card_text, rank_of, suit_of, value_of
from cribai.engine.state import ANNOUNCE, BID, CLAIM, DISCARD, DRAW, GIVE, NO_PLAYER, PLAY
from cribai.views import PREPARATIONS, View

SUIT_SYMBOLS: Final = "♣♦♥♠"
_NAMES: Final = {
    2: ("You", "Opponent"),
    3: ("You", "Left", "Right"),
    4: ("You", "Left", "Across", "Right"),
}
_SKUNKS: Final = ("", "a skunk", "a double skunk")
_DECISIONS: Final = {
    DRAW: "throw",
    BID: "bid",
    DISCARD: "toss",
    GIVE: "give",
    PLAY: "lay",
    ANNOUNCE: "announce",
    CLAIM: "claim",
}


def symbol_text(card: int) -> str:
    """Returns the text of a card with its suit's symbol, two letters wide."""
    if rank_of(card) == JOKER_RANK:
        return card_text(card)
    return RANKS[rank_of(card)] + SUIT_SYMBOLS[suit_of(card)]


def symbols_text(cards: Iterable[int]) -> str:
    """Returns the texts of cards with their suits' symbols, separated by blanks."""
    return " ".join(map(symbol_text, cards))


def named_text(card: int, named: str) -> str:
    """Returns the text of a card and, for a wild king, of the rank that it has been given."""
    return f"{symbol_text(card)}={named}" if named else symbol_text(card)


class Scene:
    """A view with what a picture or a text of it must say.

    Players are numbered in turn order from the viewer.

    Args:
        view: What the viewing player may know; of a finished game too, or of a player who waits.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.rules = view.rules

    @property
    def is_over(self) -> bool:
        """Whether the game has ended with a side at the target."""
        return self.view.is_over and max(self.view.scores) >= self.rules.target

    @cached_property
    def legal_actions(self) -> list[int]:
        """The legal actions; none when another player is to act or the game is over."""
        return self.view.legal_actions if self.view.is_due and not self.is_over else []

    @property
    def decision(self) -> str:
        """What is to decide, such as "toss"; empty when the deal or the game is over."""
        return _DECISIONS.get(int(self.view.record["phase"]), "")

    @property
    def is_early(self) -> bool:
        """Whether the play has not begun."""
        return int(self.view.record["phase"]) in PREPARATIONS

    @property
    def _is_before_tosses(self) -> bool:
        """Whether some are still to toss, as far as the viewer can tell."""
        return self.is_early and (self.view.is_discard or not self.view.tossed)

    @property
    def prompt(self) -> str:
        """What the viewer is asked for before and after the play; empty when he is not."""
        if not self.legal_actions:
            return ""
        rules, view = self.rules, self.view
        crib = "the crib"
        if rules.two_cribs:
            crib = "the opponent's crib" if view.tossed else "your crib"
        return {
            "throw": "throw cards away for new ones",
            "bid": "bid for the crib",
            "toss": f"toss {rules.cards_tossed} to {crib}",
            "give": "give the opponent a starter",
            "announce": f"announce what your {self.counted} is worth",
            "claim": f"{view.announced} announced for this {self.counted}: claim what was missed",
        }.get(self.decision, "")

    @property
    def counted(self) -> str:
        """Whether a "hand" or a "crib" is being counted; empty when neither is."""
        if not self.view.shown:
            return ""
        return "crib" if self.view.record["shown_is_crib"] else "hand"

    def name(self, player: int) -> str:
        """Returns what the viewer calls a player."""
        return _NAMES[self.rules.num_players][player]

    def role(self, player: int) -> str:
        """Returns whether a player deals, is the pone, or is the viewer's partner."""
        two = self.rules.num_players == 2
        deal = "dealer" if player == self.view.dealer else "pone" if two else ""
        partner = "partner" if self.rules.partnerships and player == 2 else ""
        return ", ".join(word for word in (deal, partner) if word)

    def side(self, player: int) -> int:
        """Returns the side of a player, by seat, so that colours stay when the viewer changes."""
        return self.rules.side_of((self.view.player + player) % self.rules.num_players)

    @property
    def side_scores(self) -> tuple[int, ...]:
        """The scores by side."""
        scores = {self.side(player): score for player, score in enumerate(self.view.scores)}
        return tuple(scores[side] for side in range(self.rules.num_sides))

    def num_held(self, player: int) -> int:
        """Returns how many cards a player holds, as far as the viewer can tell."""
        if player == 0:
            return len(self.view.hand)
        if self._is_before_tosses:
            return self.rules.cards_dealt
        if self.is_early:
            return self.rules.cards_kept + self.rules.num_given
        return self.view.num_left[player]

    @property
    def crib_owners(self) -> tuple[int, ...]:
        """Whose the cribs are, his of both first; NO_PLAYER while players bid for it."""
        if self.rules.two_cribs:
            return (0, 1)
        return (int(self.view.record["crib_owner"]) if self.rules.bid else self.view.dealer,)

    def num_crib(self, owner: int) -> int:
        """Returns the cards in a crib, as far as the viewer can tell: others may have tossed."""
        rules = self.rules
        if not self._is_before_tosses:
            return rules.crib_size
        tossed = len(self.view.tossed)
        if rules.two_cribs:
            own = min(tossed, rules.cards_tossed)
            tossed = own if owner == 0 else tossed - own
        return rules.crib_from_deck + tossed

    def owner_text(self, owner: int) -> str:
        """Returns whose something is, such as "yours"."""
        if owner == NO_PLAYER:
            return "bid for"
        return "yours" if owner == 0 else f"{self.name(owner)}'s"

    @property
    def starters(self) -> tuple[tuple[int, str], ...]:
        """The starters on the table as (card, whose, empty if all players')."""
        if not self.rules.chosen_starter:
            return tuple((card, "") for card in self.view.starters)
        players = range(self.rules.num_players)
        return tuple(
            (card, self.owner_text(player))
            for player in players
            for card in self.view.starters_of(player)
        )

    def note(self, player: int) -> str:
        """Returns what is known of a player's bid and of the cards that he threw away."""
        made = self.view.bids_made
        bid = made[player] if made else None
        thrown = self.view.num_thrown[player]
        words = ["" if bid is None else f"bid {bid}" if bid else "no bid"]
        words.append(f"threw {thrown}" if thrown else "")
        return ", ".join(word for word in words if word)

    @cached_property
    def counts(self) -> tuple[int | None, ...]:
        """The count that each laid card made, or None for cards of earlier series."""
        plays = self.view.plays
        start = len(plays) - len(self.view.series)
        counts: list[int | None] = [None] * start
        count = 0
        for rank in self.view.play_ranks[start:]:
            count += value_of(4 * rank)
            counts.append(count)
        return tuple(counts)

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The rank that each laid card was laid as, empty for its own."""
        plays = zip(self.view.plays, self.view.play_ranks, strict=True)
        return tuple("" if rank == rank_of(card) else RANKS[rank] for (_, card), rank in plays)

    def laid(self, player: int) -> list[tuple[int, str, int | None]]:
        """Returns a player's laid cards in order, with other rank and count made in the series."""
        plays = zip(self.view.plays, self.named, self.counts, strict=True)
        return [(card, named, count) for (layer, card), named, count in plays if layer == player]

    def says_go(self, player: int) -> bool:
        """Returns whether a player is known to have no card for the present count."""
        known = self.view.go_counts[player]
        holds = self.num_held(player) > 0 and not self.is_over
        return known is not None and holds and 0 < known <= self.view.count

    @cached_property
    def verdict(self) -> str:
        """Who won, such as "You win", or "A tie"; empty while the game goes on."""
        if not self.is_over:
            return ""
        scores = self.view.scores
        best = min(scores) if self.rules.lowball else max(scores)
        winners = [player for player, score in enumerate(scores) if score == best]
        if len({self.side(player) for player in winners}) > 1:
            return "A tie"
        names = " and ".join(self.name(player) for player in winners)
        return f"{names} win{'' if 0 in winners or len(winners) > 1 else 's'}"

    @property
    def result(self) -> str:
        """The final scores, the winner's first, and the skunk if there is one."""
        scores = sorted(self.side_scores, reverse=not self.rules.lowball)
        level = self.rules.skunk_level(scores[-1])
        return ", ".join(word for word in ("-".join(map(str, scores)), _SKUNKS[level]) if word)
