"""What every encoding is: views in, arrays of fixed shape out, and the views back."""

from abc import ABC, abstractmethod
from typing import Any, Final

from gymnasium import spaces

from cribai.rules import Rules
from cribai.views import View, ViewBatch

ACTION_MASK: Final = "action_mask"


class Encoding(ABC):
    """A way to turn views into observations.

    Attributes:
        rules: The rules of the games.
        space: The space of one observation.
    """

    space: spaces.Space[Any]

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def __reduce__(self) -> tuple[Any, ...]:
        # All of it follows from the rules; the functions of variants' fields cannot be pickled.
        return type(self), (self.rules,)

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
