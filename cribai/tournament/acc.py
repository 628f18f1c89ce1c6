"""A tournament after the American Cribbage Congress: a qualifying round, then a knock-out.

In the qualifying round everyone meets everyone; a win counts 2 game points and a skunk 3. Ties are
broken by games won, then by spread, the sum of the margins (ACC tournament rules), which in lowball
are the points that the others have more. The best go on
to a knock-out in which the first meets the last and so on; a match is the best of five games,
without skunks, the deal alternating between the two games of a pair. The congress knows no tied
games; where the rules of play do, such a game gives no game points and counts for nobody.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from cribai.engine.simulate import GAMES_PER_PAIR, TIE
from cribai.errors import ConfigError
from cribai.match_points import get_match_points
from cribai.tournament.chunks import Chunk, Played
from cribai.tournament.config import TournamentConfig
from cribai.tournament.plans import Plan
from cribai.tournament.schedule import Pairing, round_robin
from cribai.tournament.stats import Stats

ACC_POINTS: Final = get_match_points("acc")


class Standing(NamedTuple):
    """How an entrant stands after the qualifying round.

    Attributes:
        entrant: Place in the list of entrants.
        points: Game points.
        wins: Games won.
        spread: Sum of the margins, in lowball those of the opponents.
        games: Games played.
    """

    entrant: int
    points: int
    wins: int
    spread: int
    games: int


class Meeting(NamedTuple):
    """A match of the knock-out.

    Attributes:
        a: The entrant who stood higher after the qualifying round.
        b: The other.
        games: Games won by each.
        winner: Who won the match.
    """

    a: int
    b: int
    games: tuple[int, int]
    winner: int


class AccPlan(Plan):
    """The qualifying round, then the knock-out round by round."""

    def __init__(self, config: TournamentConfig) -> None:
        super().__init__(config)
        number = len(config.agents)
        self.pairings = round_robin(number)
        self._num_qualifying = len(self.pairings)
        wanted = config.acc.qualifiers
        if wanted > number:
            raise ConfigError(
                f"acc.qualifiers is {wanted} and there are {number} entrants; name more agents or"
                " let fewer qualify."
            )
        self.num_qualifiers = wanted or 2 ** (max(number - 1, 2).bit_length() - 1)
        self._sign = -1 if config.rules.lowball else 1
        self._match_pairs = -(-config.acc.best_of // GAMES_PER_PAIR)

    def next_chunks(self, played: Sequence[Played]) -> list[Chunk]:
        """Returns the qualifying round, then each round of the knock-out; see `Plan`."""
        if not any(match.chunks for match in played):
            pairs = self.config.acc.games // GAMES_PER_PAIR
            return [
                chunk
                for match in range(self._num_qualifying)
                for chunk in self.chunks(match, 0, pairs)
            ]
        rounds = self.bracket(played)
        del self.pairings[self._num_qualifying + sum(map(len, rounds)) :]
        field = self._field(played)
        if len(field) == 1:
            return []
        found = []
        for place in range(len(field) // 2):
            match = len(self.pairings)
            self.pairings.append(Pairing(*sorted((field[place], field[-1 - place]))))
            # Other deals than in the qualifying round and in the other matches.
            first = self.config.acc.games + match * self._match_pairs
            found += self.chunks(match, first, self._match_pairs)
        return found

    def most_games(self) -> int:
        """Returns the games of the qualifying round and of all matches of the knock-out."""
        qualifying = self.config.acc.games * self._num_qualifying
        return qualifying + (self.num_qualifiers - 1) * self._match_pairs * GAMES_PER_PAIR

    def standings(self, played: Sequence[Played]) -> list[Standing]:
        """Returns the entrants after the qualifying round, the best first."""
        table = [[0, 0, 0, 0] for _ in self.config.agents]
        for pairing, match in zip(self.pairings[: self._num_qualifying], played, strict=False):
            stats = match.total()
            if stats is not None:
                _count(table[pairing.a], stats, self._sign)
                _count(table[pairing.b], stats.flipped(), self._sign)
        standings = [Standing(entrant, *row) for entrant, row in enumerate(table)]
        return sorted(standings, key=lambda row: (-row.points, -row.wins, -row.spread))

    def bracket(self, played: Sequence[Played]) -> list[list[Meeting]]:
        """Returns the knock-out as far as it was played, by round."""
        rank = {row.entrant: place for place, row in enumerate(self.standings(played))}
        field = sorted(rank, key=rank.__getitem__)[: self.num_qualifiers]
        rounds = []
        match = self._num_qualifying
        while len(field) > 1 and match < len(played) and played[match].chunks:
            meetings = []
            for place in range(len(field) // 2):
                high, low = field[place], field[-1 - place]
                meetings.append(self._meeting(played[match + place], high, low))
            match += len(meetings)
            rounds.append(meetings)
            field = sorted((meeting.winner for meeting in meetings), key=rank.__getitem__)
        return rounds

    def _field(self, played: Sequence[Played]) -> list[int]:
        """Returns the entrants still in the knock-out, the best first."""
        rank = {row.entrant: place for place, row in enumerate(self.standings(played))}
        rounds = self.bracket(played)
        if not rounds:
            return sorted(rank, key=rank.__getitem__)[: self.num_qualifiers]
        return sorted((meeting.winner for meeting in rounds[-1]), key=rank.__getitem__)

    def _meeting(self, played: Played, high: int, low: int) -> Meeting:
        """Returns a match by its games in order, up to the one that decides it."""
        needed = self.config.acc.best_of // 2 + 1
        won = [0, 0]
        for winner in (game for games in played.winners for game in games):
            if max(won) == needed:
                break
            if winner != TIE:
                # In the match the entrants have the order of the list of entrants.
                won[sorted((high, low))[winner] != high] += 1
        # Ties and games that could not be played may leave the match to who stood higher.
        return Meeting(high, low, (won[0], won[1]), low if won[1] > won[0] else high)


def _count(row: list[int], stats: Stats, sign: int) -> None:
    for place, number in enumerate(
        (stats.match_points(ACC_POINTS)[0], sum(stats.wins), sign * stats.margin, stats.games)
    ):
        row[place] += number


def summarize_acc(plan: AccPlan, played: Sequence[Played], labels: Sequence[str]) -> dict[str, Any]:
    """Returns the standings and the knock-out as a JSON object."""
    bracket = plan.bracket(played)
    return {
        "qualifiers": plan.num_qualifiers,
        "standings": [
            {
                "agent": labels[row.entrant],
                **{k: v for k, v in row._asdict().items() if k != "entrant"},
            }
            for row in plan.standings(played)
        ],
        "knock_out": [
            [
                {
                    "a": labels[meeting.a],
                    "b": labels[meeting.b],
                    "games": list(meeting.games),
                    "winner": labels[meeting.winner],
                }
                for meeting in meetings
            ]
            for meetings in bracket
        ],
        "champion": labels[bracket[-1][0].winner] if bracket else None,
    }
