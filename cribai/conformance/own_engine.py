"""`CribaiAdapter`: cribai's own engine under the fixtures, and the example of an adapter."""

from collections.abc import Collection, Iterable, Sequence

from cribai.cards import card_text, parse_card, value_of
from cribai.conformance.adapter import DealtCards, EngineAdapter
from cribai.counting import count_play, count_show
from cribai.deal import Deal
from cribai.game import Game


class CribaiAdapter(EngineAdapter):
    """Puts `cribai.Game` and the scorers behind the methods that the fixtures ask for."""

    def show_points(self, hand: Sequence[str], starter: str, is_crib: bool) -> int:
        """Returns what four cards and the starter are worth at the show."""
        return count_show(_cards(hand), parse_card(starter), is_crib=is_crib).points

    def play_points(self, series: Sequence[str]) -> int:
        """Returns what the last card of a series pegs."""
        cards = _cards(series)
        return count_play(cards, sum(map(value_of, cards)))[0]

    def start(self, deals: Sequence[DealtCards], dealer: int, scores: tuple[int, int]) -> None:
        """Starts a new game on these deals."""
        self.game = Game(
            seed=1,
            first_dealer=dealer,
            scores=scores,
            deals=[
                Deal(tuple(map(_cards, deal.hands)), parse_card(deal.starter)) for deal in deals
            ],
        )

    def toss(self, tosses: tuple[Sequence[str], Sequence[str]]) -> None:
        """Tosses for the pone, then for the dealer."""
        dealer = self.game.dealer
        for seat in (1 - dealer, dealer):
            self.game.push_cards(*_cards(tosses[seat]))

    def lay(self, card: str) -> None:
        """Lays a card of the player to act."""
        self.game.push_cards(parse_card(card))

    def actor(self) -> int | None:
        """Returns the seat that has to lay a card."""
        return self.game.actor

    def legal_moves(self) -> Collection[str]:
        """Returns the cards that may be laid; a go is no move here."""
        return [card_text(card) for card in self.game.view().legal_cards]

    def scores(self) -> tuple[int, int]:
        """Returns the scores by seat."""
        first, second = self.game.scores
        return first, second

    def winner(self) -> int | None:
        """Returns the seat that has won, or None while the game goes on."""
        outcome = self.game.outcome()
        return None if outcome is None else outcome.winner


def _cards(texts: Iterable[str]) -> tuple[int, ...]:
    return tuple(map(parse_card, texts))
