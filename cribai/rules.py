"""The rules of a game as data: the one home of 121, 31, 15, the skunk lines and the deal's sizes.

The engine reads every such number from here. Presets are found by name; match points, what a win,
a skunk and a double skunk are worth, are a separate small table.
"""

from dataclasses import dataclass, fields, replace
from math import comb
from typing import Any, Final

from cribai.cards import DECK_SIZE, MAX_JOKERS
from cribai.errors import RulesError

MAX_PLAYERS: Final = 4
MAX_DEALT: Final = 9
MAX_CRIB: Final = 10
MAX_PLAYS: Final = 20
MAX_TARGET: Final = 10_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game, checked when made.

    Attributes:
        name: What reports and records call these rules.
        num_players: Players at the table, 2 to 4.
        partnerships: Whether players opposite each other score together; with four players only.
        cards_dealt: Cards dealt to each player.
        cards_tossed: Cards that each player tosses to the crib.
        crib_from_deck: Cards dealt from the deck to the crib.
        num_jokers: Jokers in the deck, 0 to 4.
        target: The score that wins the game.
        skunk_line: A loser at this score or less is skunked; None for no skunks.
        double_skunk_line: A loser at this score or less is skunked twice; None for none.
        fifteen: The total that scores in the show, and the count that scores in pegging.
        thirty_one: The count that pegging may not pass, and that scores when it is reached.
        wild_kings: Whether each king counts in the show as the card that makes the hand score most.

    Raises:
        RulesError: No game can be played by these numbers.
    """

    name: str = "custom"
    num_players: int = 2
    partnerships: bool = False
    cards_dealt: int = 6
    cards_tossed: int = 2
    crib_from_deck: int = 0
    num_jokers: int = 0
    target: int = 121
    skunk_line: int | None = 90
    double_skunk_line: int | None = 60
    fifteen: int = 15
    thirty_one: int = 31
    wild_kings: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            self._check_type(field.name)
        self._require(2 <= self.num_players <= MAX_PLAYERS, "num_players", f"2 to {MAX_PLAYERS}")
        if self.partnerships and self.num_players != 4:
            raise RulesError(
                f"partnerships needs four players, not {self.num_players};"
                " set num_players to 4 or partnerships to false."
            )
        self._require(2 <= self.cards_dealt <= MAX_DEALT, "cards_dealt", f"2 to {MAX_DEALT}")
        self._require(
            1 <= self.cards_tossed < self.cards_dealt,
            "cards_tossed",
            "at least 1 and below cards_dealt",
        )
        self._require(self.crib_from_deck >= 0, "crib_from_deck", "0 or more")
        self._require(
            self.crib_size <= MAX_CRIB,
            "cards_tossed",
            f"such that the crib has at most {MAX_CRIB} cards",
        )
        self._require(
            self.num_players * self.cards_kept <= MAX_PLAYS,
            "cards_dealt",
            f"such that at most {MAX_PLAYS} cards are kept by all",
        )
        self._require(0 <= self.num_jokers <= MAX_JOKERS, "num_jokers", f"0 to {MAX_JOKERS}")
        needed = self.num_players * self.cards_dealt + self.crib_from_deck + 1
        if needed > self.deck_size:
            raise RulesError(
                f"A deal needs {needed} cards and the deck has {self.deck_size}; deal fewer cards."
            )
        self._require(1 <= self.target <= MAX_TARGET, "target", f"1 to {MAX_TARGET}")
        for line in ("skunk_line", "double_skunk_line"):
            score = getattr(self, line)
            self._require(
                score is None or 0 <= score < self.target,
                line,
                "0 or more and below target, or none",
            )
        if (
            self.double_skunk_line is not None
            and not (self.skunk_line or 0) > self.double_skunk_line
        ):
            raise RulesError(
                f"double_skunk_line {self.double_skunk_line} must lie below skunk_line"
                f" {self.skunk_line}; lower it or leave it out."
            )
        self._require(10 <= self.thirty_one <= 100, "thirty_one", "10 to 100")
        self._require(
            2 <= self.fifteen < self.thirty_one, "fifteen", "at least 2 and below thirty_one"
        )

    def _check_type(self, name: str) -> None:
        value = getattr(self, name)
        expected: type = {"name": str, "partnerships": bool, "wild_kings": bool}.get(name, int)
        if value is None and name.endswith("skunk_line"):
            return
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise RulesError(f"{name} is {value!r}; it must be of type {expected.__name__}.")

    def _require(self, holds: bool, name: str, what: str) -> None:
        if not holds:
            raise RulesError(f"{name} is {getattr(self, name)}; it must be {what}.")

    @property
    def cards_kept(self) -> int:
        """Cards that each player keeps for pegging and the show."""
        return self.cards_dealt - self.cards_tossed

    @property
    def crib_size(self) -> int:
        """Cards in the crib, the starter not among them."""
        return self.num_players * self.cards_tossed + self.crib_from_deck

    @property
    def deck_size(self) -> int:
        """Cards in the deck."""
        return DECK_SIZE + self.num_jokers

    @property
    def num_sides(self) -> int:
        """Sides that keep a score: the players, or two when they play in partnerships."""
        return 2 if self.partnerships else self.num_players

    @property
    def num_tosses(self) -> int:
        """Actions of the discard: ways to choose the tossed cards from those dealt."""
        return comb(self.cards_dealt, self.cards_tossed)

    @property
    def num_actions(self) -> int:
        """Actions in all: the tosses, then one for each kept card."""
        return self.num_tosses + self.cards_kept

    def side_of(self, player: int) -> int:
        """Returns the side that a player scores for."""
        return player % self.num_sides

    def skunk_level(self, score: int) -> int:
        """Returns what a loser at a score suffers: 0 a plain loss, 1 a skunk, 2 a double skunk."""
        lines = (self.skunk_line, self.double_skunk_line)
        return sum(line is not None and score <= line for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields by name, as records and configurations store them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Rules":
        """Returns the rules with these fields, absent ones at their defaults.

        Raises:
            RulesError: A key is no field of the rules, or the values do not make a game.
        """
        known = {field.name for field in fields(cls)}
        for key in values:
            if key not in known:
                raise RulesError(f"Unknown rule {key!r}; the rules are {', '.join(sorted(known))}.")
        return cls(**values)


STANDARD: Final = Rules(name="standard")
PRESETS: Final = {
    rules.name: rules
    for rules in (
        STANDARD,
        replace(STANDARD, name="short", target=61, skunk_line=30, double_skunk_line=None),
        replace(
            STANDARD,
            name="three_player",
            num_players=3,
            cards_dealt=5,
            cards_tossed=1,
            crib_from_deck=1,
        ),
        replace(
            STANDARD,
            name="four_player",
            num_players=4,
            partnerships=True,
            cards_dealt=5,
            cards_tossed=1,
        ),
        replace(
            STANDARD,
            name="five_card",
            cards_dealt=5,
            target=61,
            skunk_line=30,
            double_skunk_line=None,
        ),
    )
}


def get_rules(rules: "str | Rules") -> Rules:
    """Returns rules by preset name; rules themselves pass through.

    Raises:
        RulesError: No preset has the name.
    """
    if isinstance(rules, Rules):
        return rules
    try:
        return PRESETS[rules]
    except KeyError:
        raise RulesError(
            f"Unknown rules {rules!r}; the presets are {', '.join(PRESETS)}."
        ) from None


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
