"""The rules of a game as data: the one home of 121, 31, 15, the skunk lines and the deal's sizes.

The engine reads every such number from here. Presets are found by name. What a win is worth in a
match is in `match_points`.
"""

from dataclasses import dataclass, fields, replace
from math import comb
from typing import Any, Final

from cribai.cards import DECK_SIZE, MAX_JOKERS, NUM_RANKS
from cribai.errors import RulesError

MAX_PLAYERS: Final = 4
MAX_DEALT: Final = 9
MAX_CRIB: Final = 10
MAX_PLAYS: Final = 20
MAX_TARGET: Final = 10_000
MAX_DECKS: Final = 2
MAX_STARTERS: Final = 2
MAX_BID: Final = 12
"""The highest bid for the crib. Few cribs of four cards from one deck are worth more; larger ones,
with jokers or two decks often are, and may be bid for no higher."""

FOR_TWO: Final = ("chosen_starter", "two_cribs", "bid", "muggins", "pone_start")
"""What only two players play."""

SENSELESS: Final = (
    ("two_cribs", "bid", "each player has a crib already"),
    ("muggins", "bid", "a bid is settled by what the crib is worth"),
    ("lowball", "muggins", "nobody would claim points"),
    ("lowball", "bid", "nobody would bid for points"),
    ("lowball", "stinkhole", "who reaches the target does not win"),
)
"""Fields that do not go together, and why."""


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
        target: The score that ends the game, as a rule for its winner.
        skunk_line: A loser at this score or less is skunked; None for no skunks.
        double_skunk_line: A loser at this score or less is skunked twice; None for none.
        fifteen: The total that scores in the show, and the count that scores in pegging.
        thirty_one: The count that pegging may not pass, and that scores when it is reached.
        num_decks: Decks that are shuffled together, 1 or 2.
        lowball: Whether the first to reach the target loses.
        num_starters: Starters turned, 1 or 2; of two the first before the toss.
        draw_before_toss: Whether players may throw away cards and draw new ones before the toss.
        draw_after_toss: Whether they may do so after it.
        chosen_starter: Whether each player's starter is a card that his opponent gives him.
        two_cribs: Whether each player has a crib of his own, and the deal in which the target is
            reached is played to its end.
        bid: Whether players bid for the crib.
        bid_takes_whole: Whether a bid that is met scores the whole crib, not the crib less the bid.
        missed_bid_gives: Whether a missed bid lets the opponent score the crib; else the bidder
            goes back by his bid, as far as 0.
        wild_kings: Whether a king counts as any rank.
        muggins: Whether players announce what they count and opponents claim what was missed.
        stinkhole: Whether one point short of the target the point for a go or the last card does
            not score.
        pone_start: Points that the pone has when the game starts.

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
    num_decks: int = 1
    lowball: bool = False
    num_starters: int = 1
    draw_before_toss: bool = False
    draw_after_toss: bool = False
    chosen_starter: bool = False
    two_cribs: bool = False
    bid: bool = False
    bid_takes_whole: bool = False
    missed_bid_gives: bool = False
    wild_kings: bool = False
    muggins: bool = False
    stinkhole: bool = False
    pone_start: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            self._check_type(field.name, type(field.default))
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
        self._require(self.cards_kept >= 1, "cards_dealt", "such that a card is left to lay")
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
        self._require(1 <= self.num_decks <= MAX_DECKS, "num_decks", f"1 to {MAX_DECKS}")
        self._require(
            1 <= self.num_starters <= MAX_STARTERS, "num_starters", f"1 to {MAX_STARTERS}"
        )
        if self.cards_needed > self.deck_size:
            raise RulesError(
                f"A deal needs {self.cards_needed} cards and the deck has {self.deck_size};"
                " deal fewer cards."
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

        self._check_variants()

    def _check_variants(self) -> None:
        for name in FOR_TWO:
            if getattr(self, name) and self.num_players != 2:
                raise RulesError(
                    f"{name} is for two players, not {self.num_players};"
                    " set num_players to 2 or leave it out."
                )
        for first, second, why in SENSELESS:
            if getattr(self, first) and getattr(self, second):
                raise RulesError(f"{first} and {second} do not go together, {why}; drop one.")
        if self.chosen_starter and self.num_starters > 1:
            raise RulesError(
                "chosen_starter needs num_starters 1: each player is given one card; set it to 1."
            )
        if self.lowball and self.num_sides != 2:
            raise RulesError(
                f"lowball needs two sides, not {self.num_sides}: one loses, the other wins;"
                " choose two players or partnerships."
            )
        if self.lowball and self.skunk_line is not None:
            raise RulesError(
                "lowball has no skunks, for the loser is at the target; set skunk_line to none."
            )
        for name in ("bid_takes_whole", "missed_bid_gives"):
            if getattr(self, name) and not self.bid:
                raise RulesError(f"{name} says how bids are settled; set bid to true as well.")
        if self.draw_after_toss and self.cards_kept + self.num_given < 2:
            raise RulesError(
                "draw_after_toss needs a hand of two cards or more, for one stays; toss fewer."
            )
        self._require(0 <= self.pone_start < self.target, "pone_start", "0 or more, below target")

    def _check_type(self, name: str, expected: type) -> None:
        value = getattr(self, name)
        if name.endswith("skunk_line"):
            if value is None:
                return
            expected = int
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise RulesError(f"{name} is {value!r}; it must be of type {expected.__name__}.")

    def _require(self, holds: bool, name: str, what: str) -> None:
        if not holds:
            raise RulesError(f"{name} is {getattr(self, name)}; it must be {what}.")

    @property
    def num_cribs(self) -> int:
        """Cribs in a deal; each player tosses to each of them."""
        return 2 if self.two_cribs else 1

    @property
    def num_given(self) -> int:
        """Cards that each player gives to his opponent as a starter."""
        return int(self.chosen_starter)

    @property
    def cards_kept(self) -> int:
        """Cards that each player keeps for pegging and the show."""
        return self.cards_dealt - self.num_cribs * self.cards_tossed - self.num_given

    @property
    def crib_size(self) -> int:
        """Cards in a crib, the starter not among them."""
        return self.num_players * self.cards_tossed + self.crib_from_deck

    @property
    def deck_size(self) -> int:
        """Cards in all decks together."""
        return self.num_decks * DECK_SIZE + self.num_jokers

    @property
    def num_turned(self) -> int:
        """Starters that come from the deck."""
        return 0 if self.chosen_starter else self.num_starters

    @property
    def num_stock(self) -> int:
        """Cards that may be drawn in a deal, all players together."""
        before = self.cards_dealt - 1 if self.draw_before_toss else 0
        after = self.cards_kept + self.num_given - 1 if self.draw_after_toss else 0
        return self.num_players * (before + after)

    @property
    def cards_needed(self) -> int:
        """Cards that a deal may use: the hands, those to cribs, starters and the stock."""
        hands = self.num_players * self.cards_dealt
        return hands + self.num_cribs * self.crib_from_deck + self.num_turned + self.num_stock

    @property
    def num_sides(self) -> int:
        """Sides that keep a score: the players, or two when they play in partnerships."""
        return 2 if self.partnerships else self.num_players

    @property
    def is_varied(self) -> bool:
        """Whether a deal has more than a toss and lays under one starter, or more than one deck."""
        names = ("draw_before_toss", "draw_after_toss", "chosen_starter", "two_cribs", "bid")
        more = any(getattr(self, name) for name in (*names, "wild_kings", "muggins"))
        return more or self.num_starters > 1 or self.num_decks > 1

    @property
    def most_shown(self) -> int:
        """A number that no hand or crib passes in the show; up to 29 it is reached.

        Equal sums of values above zero never contain each other, so that half of the cards make
        the most fifteens (Sperner's theorem); pairs, runs and a flush are bounded one by one.
        """
        hand = max(self.cards_kept, self.crib_size)
        cards = hand + self.num_starters
        is_usual = (self.num_decks, self.fifteen, self.wild_kings) == (1, 15, False)
        if cards <= 5 and is_usual:
            return 29
        fifteens = max(
            (2 << jokers) * comb(cards - jokers, (cards - jokers) // 2)
            for jokers in range(min(self.num_jokers, cards) + 1)
        )
        runs = max(cards, 3) * int(3 ** (cards // 3))
        return fifteens + cards * (cards - 1) + runs + cards + hand

    @property
    def num_tosses(self) -> int:
        """Actions of the discard: ways to choose the tossed cards from those dealt."""
        return comb(self.cards_dealt, self.cards_tossed)

    @property
    def kings_start(self) -> int:
        """The first action that lays a kept king under a rank, 13 for each slot."""
        return self.num_tosses + self.cards_kept

    @property
    def throws_start(self) -> int:
        """The first action that throws cards away; bit i of what follows is the i-th card."""
        return self.kings_start + (NUM_RANKS * self.cards_kept if self.wild_kings else 0)

    @property
    def gifts_start(self) -> int:
        """The first action that gives a card away, one for each place of the hand."""
        if self.draw_before_toss:
            return self.throws_start + (1 << self.cards_dealt) - 1
        if self.draw_after_toss:
            return self.throws_start + (1 << self.cards_kept + self.num_given) - 1
        return self.throws_start

    @property
    def bids_start(self) -> int:
        """The action that bids nothing; the bids follow."""
        return self.gifts_start + (self.cards_kept + 1 if self.chosen_starter else 0)

    @property
    def announcements_start(self) -> int:
        """The action that announces no points; more points follow."""
        return self.bids_start + (MAX_BID + 1 if self.bid else 0)

    @property
    def claims_start(self) -> int:
        """The action that claims no points; more points follow."""
        return self.announcements_start + (self.most_shown + 1 if self.muggins else 0)

    @property
    def num_actions(self) -> int:
        """Actions in all: the tosses, one for each kept card, then what the variants add."""
        return self.claims_start + (self.most_shown + 1 if self.muggins else 0)

    def start_scores(self, first_dealer: int) -> tuple[int, ...]:
        """Returns the scores by side at the start of a game that a player deals first."""
        has_start = [side != first_dealer for side in range(self.num_sides)]
        return tuple(self.pone_start if has else 0 for has in has_start)

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
_FIVE_CARD: Final = Rules(
    name="five_card", cards_dealt=5, target=61, skunk_line=30, double_skunk_line=None
)
PRESETS: Final = {
    rules.name: rules
    for rules in (
        STANDARD,
        Rules(name="short", target=61, skunk_line=30, double_skunk_line=None),
        Rules(name="to_241", target=241, skunk_line=210, double_skunk_line=180),
        Rules(name="to_361", target=361, skunk_line=330, double_skunk_line=300),
        Rules(name="three_player", num_players=3, cards_dealt=5, cards_tossed=1, crib_from_deck=1),
        Rules(name="four_player", num_players=4, partnerships=True, cards_dealt=5, cards_tossed=1),
        _FIVE_CARD,
        replace(_FIVE_CARD, name="five_card_classic", pone_start=3),
        Rules(name="lowball", lowball=True, target=60, skunk_line=None, double_skunk_line=None),
        Rules(name="jokers", num_jokers=2),
        Rules(name="two_starters", num_starters=2),
        Rules(name="two_decks", num_decks=2, cards_dealt=7),
        Rules(name="draw", draw_before_toss=True, draw_after_toss=True),
        Rules(name="chosen_starter", chosen_starter=True, cards_dealt=7),
        Rules(name="two_cribs", two_cribs=True, cards_dealt=8),
        Rules(name="bid", bid=True),
        Rules(name="wild_kings", wild_kings=True),
        Rules(name="muggins", muggins=True),
        Rules(name="stinkhole", stinkhole=True),
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
