"""What follows from a view for whoever shows it: names, roles, the series by player, the result."""

from functools import cached_property
from typing import Final

from cribai.cards import JOKER_RANK, RANKS, card_text, rank_of, suit_of, value_of
from cribai.views import View

SUIT_SYMBOLS: Final = "♣♦♥♠"
_NAMES: Final = {
    2: ("You", "Opponent"),
    3: ("You", "Left", "Right"),
    4: ("You", "Left", "Across", "Right"),
}
_SKUNKS: Final = ("", "a skunk", "a double skunk")


def symbol_text(card: int) -> str:
    """Returns the text of a card with its suit's symbol, two letters wide."""
    if rank_of(card) == JOKER_RANK:
        return card_text(card)
    return RANKS[rank_of(card)] + SUIT_SYMBOLS[suit_of(card)]


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
        # The mask of a toss depends on the phase alone, so a waiting player has one too.
        waits = self.is_over or int(self.view.record["num_legal"]) == 0 or self._has_tossed
        return [] if waits else self.view.legal_actions

    @property
    def _has_tossed(self) -> bool:
        return self.view.is_discard and len(self.view.kept) < self.rules.cards_dealt

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
        return self.rules.cards_dealt if self.view.is_discard else self.view.num_left[player]

    @property
    def num_crib(self) -> int:
        """Cards in the crib, as far as the viewer can tell: others may have tossed already."""
        if self.view.is_discard:
            return self.rules.crib_from_deck + self.rules.cards_dealt - len(self.view.kept)
        return self.rules.crib_size

    @cached_property
    def counts(self) -> tuple[int | None, ...]:
        """The count that each laid card made, or None for cards of earlier series."""
        plays = self.view.plays
        start = len(plays) - len(self.view.series)
        counts: list[int | None] = [None] * start
        count = 0
        for _, card in plays[start:]:
            count += value_of(card)
            counts.append(count)
        return tuple(counts)

    def laid(self, player: int) -> list[tuple[int, int | None]]:
        """Returns a player's laid cards in order, each with the count it made in the series."""
        plays = zip(self.view.plays, self.counts, strict=True)
        return [(card, count) for (layer, card), count in plays if layer == player]

    def says_go(self, player: int) -> bool:
        """Returns whether a player is known to have no card for the present count."""
        known = self.view.go_counts[player]
        holds = self.num_held(player) > 0 and not self.is_over
        return known is not None and holds and 0 < known <= self.view.count

    @property
    def tossed_text(self) -> str:
        """What the viewer tossed, empty before."""
        return " ".join(map(symbol_text, self.view.tossed))

    @cached_property
    def verdict(self) -> str:
        """Who won, such as "You win", or "A tie"; empty while the game goes on."""
        if not self.is_over:
            return ""
        scores = self.view.scores
        winners = [player for player, score in enumerate(scores) if score == max(scores)]
        if len({self.side(player) for player in winners}) > 1:
            return "A tie"
        names = " and ".join(self.name(player) for player in winners)
        return f"{names} win{'' if 0 in winners or len(winners) > 1 else 's'}"

    @property
    def result(self) -> str:
        """The final scores, the highest first, and the skunk if there is one."""
        scores = sorted(self.side_scores, reverse=True)
        level = self.rules.skunk_level(scores[-1])
        return ", ".join(word for word in ("-".join(map(str, scores)), _SKUNKS[level]) if word)
