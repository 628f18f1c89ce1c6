"""Match points: what a win, a skunk and a double skunk are worth, a small table by name."""

from dataclasses import dataclass
from typing import Final

from cribai.errors import RulesError


@dataclass(frozen=True, slots=True)
class MatchPoints:
    """What a won game is worth in a match, by how far the loser got.

    Attributes:
        name: What reports call the table.
        win: Points for a plain win.
        skunk: Points when the loser is skunked.
        double_skunk: Points when the loser is skunked twice.
    """

    name: str
    win: int
    skunk: int
    double_skunk: int

    def worth(self, skunk_level: int) -> int:
        """Returns the points for a win with the loser at a skunk level of 0, 1 or 2."""
        return (self.win, self.skunk, self.double_skunk)[skunk_level]

    def __post_init__(self) -> None:
        if not 0 < self.win <= self.skunk <= self.double_skunk:
            raise RulesError(
                f"The match points {self.win}/{self.skunk}/{self.double_skunk} must be positive"
                " and must not fall."
            )


# ACC: the American Cribbage Congress scores a win 2 and any skunk 3 (its tournament rules).
MATCH_POINTS: Final = {
    points.name: points
    for points in (
        MatchPoints("plain", 1, 2, 3),
        MatchPoints("quadruple", 1, 2, 4),
        MatchPoints("acc", 2, 3, 3),
    )
}


def get_match_points(name: "str | MatchPoints") -> MatchPoints:
    """Returns a match-point table by name; a table itself passes through.

    Raises:
        RulesError: No table has the name.
    """
    if isinstance(name, MatchPoints):
        return name
    try:
        return MATCH_POINTS[name]
    except KeyError:
        raise RulesError(
            f"Unknown match points {name!r}; the tables are {', '.join(MATCH_POINTS)}."
        ) from None
