"""OpenSpiel's cribbage under the conformance fixtures."""

from collections.abc import Collection, Sequence
from typing import Any

import pyspiel

from cribai.conformance import DealtCards, EngineAdapter
from reference import RANKS, SUITS

PASS = 52 + 52 * 52


def number_of(card: str) -> int:
    """OpenSpiel numbers cards by suit first: clubs, diamonds, hearts, spades; then by rank."""
    return 13 * SUITS.index(card[1]) + RANKS.index(card[0])


class OpenSpielAdapter(EngineAdapter):
    """A game that starts from 0-0 with seat 0 as the dealer; the cards are dealt as chance."""

    def start(self, deals: Sequence[DealtCards], dealer: int, scores: tuple[int, int]) -> None:
        if (dealer, scores) != (0, (0, 0)):
            raise NotImplementedError("OpenSpiel starts from 0-0 with seat 0 as the dealer.")
        self.state: Any = pyspiel.load_game("cribbage(players=2)").new_initial_state()
        self.deals = list(deals)
        self._deal()

    def toss(self, tosses: tuple[Sequence[str], Sequence[str]]) -> None:
        for cards in tosses:  # by seat
            one, other = map(number_of, cards)
            ways = {52 + 52 * one + other, 52 + 52 * other + one}
            (action,) = ways & set(self.state.legal_actions())
            self.state.apply_action(action)
        self.state.apply_action(number_of(self.starter))

    def lay(self, card: str) -> None:
        self.state.apply_action(number_of(card))
        while not self.state.is_terminal() and self.state.legal_actions() == [PASS]:
            self.state.apply_action(PASS)
        if self.state.is_chance_node() and self.deals:
            self._deal()

    def actor(self) -> int:
        return int(self.state.current_player())

    def legal_moves(self) -> Collection[str]:
        return [
            "go" if move == PASS else RANKS[move % 13] + SUITS[move // 13]
            for move in self.state.legal_actions()
        ]

    def scores(self) -> tuple[int, int]:
        (line,) = (line for line in str(self.state).splitlines() if line.startswith("Scores:"))
        first, second = line.split()[1:]
        return int(first), int(second)

    def winner(self) -> int | None:
        if not self.state.is_terminal():
            return None
        first, second = self.state.returns()
        return 0 if first > second else 1

    def _deal(self) -> None:
        deal = self.deals.pop(0)
        self.starter = deal.starter
        for hand in deal.hands:
            for card in hand:
                self.state.apply_action(number_of(card))
