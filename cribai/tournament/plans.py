"""Plans: what is played next, given what has been played so far.

A plan is a function of the results alone, and is asked only when all that it wanted has been
played. So the same configuration gives the same tournament with any number of workers, in any order
of work, and after any interruption.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from cribai.errors import ConfigError
from cribai.tournament.chunks import Chunk, Played, split
from cribai.tournament.config import TournamentConfig
from cribai.tournament.ratings import rate
from cribai.tournament.schedule import Pairing, gauntlet, round_robin
from cribai.tournament.sprt import Hypothesis
from cribai.tournament.stats import Stats

ROUND: Final = 8
"""Chunks of a match between two looks at its results, so that workers have something to do."""


class Plan(ABC):
    """What is played.

    Args:
        config: The configuration, its agents named.

    Attributes:
        config: The configuration.
        pairings: The matches so far, by number.
    """

    def __init__(self, config: TournamentConfig) -> None:
        self.config = config
        self.pairings: list[Pairing] = []

    @abstractmethod
    def next_chunks(self, played: Sequence[Played]) -> list[Chunk]:
        """Returns what to play next; nothing when the tournament is over.

        Args:
            played: What was played so far, by match.
        """

    def num_counted(self, played: Played) -> int:
        """Returns how many of a match's chunks count, from the first; the others came too late."""
        return len(played.chunks)

    def most_games(self) -> int | None:
        """Returns the number of games that will be played at most; None when it is not known."""
        return 2 * self.config.pairs * len(self.pairings)

    def status(self, played: Sequence[Played]) -> str:  # noqa: ARG002
        """Returns a few words on how it stands, for the progress bar."""
        return ""

    def chunks(self, match: int, first_pair: int, num_pairs: int) -> list[Chunk]:
        """Returns the chunks of some pairs of a match."""
        a, b = (self.config.agents[entrant] for entrant in self.pairings[match])
        return split(match, a, b, first_pair, num_pairs, self.config.chunk)


class FixedPlan(Plan):
    """So many pairs in every match."""

    def __init__(self, config: TournamentConfig, pairings: list[Pairing]) -> None:
        super().__init__(config)
        self.pairings = pairings

    def next_chunks(self, played: Sequence[Played]) -> list[Chunk]:
        """Returns everything at once; see `Plan.next_chunks`."""
        if any(match.chunks for match in played):
            return []
        return [
            chunk
            for match in range(len(self.pairings))
            for chunk in self.chunks(match, 0, self.config.pairs)
        ]


class UntilPlan(FixedPlan):
    """Matches that end when enough is known, by looks at every chunk in order."""

    def next_chunks(self, played: Sequence[Played]) -> list[Chunk]:
        """Returns the next chunks of matches that go on; see `Plan.next_chunks`."""
        found = []
        for number, match in enumerate(played):
            left = self.config.pairs - match.num_pairs
            if left > 0 and self.end_of(match) is None:
                size = min(left, ROUND * self.config.chunk)
                found += self.chunks(number, match.num_pairs, size)
        return found

    def num_counted(self, played: Played) -> int:
        """Returns the chunks up to the one after which enough was known; see `Plan`."""
        end = self.end_of(played)
        return len(played.chunks) if end is None else end

    def end_of(self, played: Played) -> int | None:
        """Returns the number of chunks after which enough is known, or None."""
        total: Stats | None = None
        for number, part in enumerate(played.stats, 1):
            if part is not None:
                total = part if total is None else total + part
            if total is not None and self.is_enough(total):
                return number
        return None

    def is_enough(self, stats: Stats) -> bool:
        """Tells whether the win rate's interval is as narrow as is wanted."""
        low, high = stats.win_rate_interval
        return stats.pairs > 1 and high - low <= 2 * (self.config.until or 0.0)


class SprtPlan(UntilPlan):
    """One match that ends when the sequential test decides."""

    def __init__(self, config: TournamentConfig) -> None:
        if len(config.agents) != 2:
            raise ConfigError(
                f"A sequential test is between two agents, and {len(config.agents)} are named;"
                " name two."
            )
        super().__init__(config, [Pairing(0, 1)])
        self.test = config.sprt.test()

    def is_enough(self, stats: Stats) -> bool:
        """Tells whether the test has decided."""
        return self.test.decision(stats) is not None

    def decision(self, stats: Stats) -> Hypothesis | None:
        """Returns the hypothesis that the test accepts."""
        return self.test.decision(stats)

    def status(self, played: Sequence[Played]) -> str:
        """Returns the log-likelihood ratio between its bounds; see `Plan.status`."""
        stats = played[0].total() if played else None
        ratio = 0.0 if stats is None else self.test.log_likelihood_ratio(stats)
        low, high = self.test.bounds
        return f"LLR {ratio:+.2f} of {low:.2f} to {high:.2f}"


class FocusPlan(Plan):
    """A round robin whose pairs go where the ratings are least certain.

    A quarter of the pairs are spread evenly. Then one chunk at a time goes to the match from which
    most is to be learned: the information that a pair of its games gives, p (1 - p) for the win
    rate p, times the variance of the difference of its entrants' ratings.
    """

    def __init__(self, config: TournamentConfig) -> None:
        super().__init__(config)
        self.pairings = round_robin(len(config.agents))

    def next_chunks(self, played: Sequence[Played]) -> list[Chunk]:
        """Returns the even part, then a round of chunks at a time; see `Plan.next_chunks`."""
        config = self.config
        if not any(match.chunks for match in played):
            return [
                chunk
                for match in range(len(self.pairings))
                for chunk in self.chunks(match, 0, max(1, config.pairs // 4))
            ]
        left = config.pairs * len(self.pairings) - sum(match.num_pairs for match in played)
        found: list[Chunk] = []
        pairs = [match.num_pairs for match in played]
        gains = self._gains(played)
        for _ in range(ROUND):
            size = min(left, config.chunk)
            if size <= 0:
                break
            # A match with n pairs that gets m more learns the less the more it has.
            best = max(range(len(gains)), key=lambda match: gains[match] / pairs[match] ** 2)
            found += self.chunks(best, pairs[best], size)
            pairs[best] += size
            left -= size
        return found

    def _gains(self, played: Sequence[Played]) -> list[float]:
        """Returns for each match the variance of its entrants' difference, times its pairs."""
        totals = [match.total() for match in played]
        results = [
            (*pairing, stats)
            for pairing, stats in zip(self.pairings, totals, strict=True)
            if stats is not None
        ]
        labels = [str(number) for number in range(len(self.config.agents))]
        try:
            ratings = rate(labels, results).ratings
        except ConfigError:
            # Matches failed, and what is left does not join all: then evenly, as in the beginning.
            return [float(match.num_pairs) for match in played]
        errors = {int(rating.label): rating.standard_error for rating in ratings}
        gains = []
        for (a, b), stats, match in zip(self.pairings, totals, played, strict=True):
            rate_of_a = 0.5 if stats is None else min(max(stats.win_rate, 0.01), 0.99)
            variance = errors[a] ** 2 + errors[b] ** 2
            gains.append(variance * rate_of_a * (1 - rate_of_a) * match.num_pairs)
        return gains


def make_plan(config: TournamentConfig) -> Plan:
    """Returns the plan of a configuration with named agents.

    Raises:
        ConfigError: The format does not fit the number of agents or another setting.
    """
    if config.focus and (config.format != "round_robin" or config.until is not None):
        raise ConfigError("focus is for round robins without until; leave one of them out.")
    if config.until is not None and config.format in ("sprt", "acc"):
        raise ConfigError(
            f"until is for round robins and gauntlets, and the format is {config.format}; leave it"
            " out."
        )
    if config.format == "sprt":
        return SprtPlan(config)
    if config.format == "acc":
        from cribai.tournament.acc import AccPlan

        return AccPlan(config)
    if config.focus:
        return FocusPlan(config)
    number = len(config.agents)
    pairings = gauntlet(number) if config.format == "gauntlet" else round_robin(number)
    return FixedPlan(config, pairings) if config.until is None else UntilPlan(config, pairings)
