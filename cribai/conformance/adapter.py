"""`EngineAdapter`: what the fixtures ask of an engine, in cards as text and seats 0 and 1."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DealtCards:
    """The cards of one deal, as text such as "5H" or "TD".

    Attributes:
        hands: The six cards of seat 0 and of seat 1.
        starter: The card that will be turned.
    """

    hands: tuple[tuple[str, ...], tuple[str, ...]]
    starter: str


class EngineAdapter:
    """Subclass it for an engine of the two-player game to 121, and pass it to `check_rules`.

    Leave out what the engine cannot do: a method that raises `NotImplementedError`, as all do here,
    has the fixtures that need it skipped. The two scorers and the game stand each on their own.
    """

    def show_points(self, hand: Sequence[str], starter: str, is_crib: bool) -> int:
        """Returns what four cards and the starter are worth at the show."""
        raise NotImplementedError("The adapter has no show_points.")

    def play_points(self, series: Sequence[str]) -> int:
        """Returns what the last card of a series pegs, neither go nor last card included."""
        raise NotImplementedError("The adapter has no play_points.")

    def start(self, deals: Sequence[DealtCards], dealer: int, scores: tuple[int, int]) -> None:
        """Starts a new game and deals its first deal, in place of any game before.

        An engine that always starts from 0-0, or with a fixed seat as the dealer, raises
        `NotImplementedError` for the rest; then whole deals are played that lead to the scores and
        the dealer wanted, from `start(deals, 0, (0, 0))`.

        Args:
            deals: The deals in order; what is dealt after them does not matter.
            dealer: The seat that deals first.
            scores: The scores to start from, by seat.
        """
        raise NotImplementedError("The adapter has no start.")

    def toss(self, tosses: tuple[Sequence[str], Sequence[str]]) -> None:
        """Tosses two cards from each seat's hand and turns the starter."""
        raise NotImplementedError("The adapter has no toss.")

    def lay(self, card: str) -> None:
        """Lays a card of the player to act.

        Whatever then needs no choice is done as well, up to the next card to be laid, the next toss
        or the end of the game: goes, which are moves in some engines, the show and the next deal.
        """
        raise NotImplementedError("The adapter has no lay.")

    def actor(self) -> int | None:
        """Returns the seat that has to lay a card; None, or anything, once the game is over."""
        raise NotImplementedError("The adapter has no actor.")

    def legal_moves(self) -> Collection[str]:
        """Returns the cards that the player to act may lay, and "go" too if he may pass instead."""
        raise NotImplementedError("The adapter has no legal_moves.")

    def scores(self) -> tuple[int, int]:
        """Returns the scores by seat; the winner's may pass 121."""
        raise NotImplementedError("The adapter has no scores.")

    def winner(self) -> int | None:
        """Returns the seat that has won, or None while the game goes on."""
        raise NotImplementedError("The adapter has no winner.")
