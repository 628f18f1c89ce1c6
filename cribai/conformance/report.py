"""`RulesReport`: which fixtures an engine passed, failed, or could not be put to."""

from collections import Counter
from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """What became of a fixture."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one fixture.

    Attributes:
        name: The fixture's name.
        rule: The rule that it is about.
        status: Whether it was passed.
        where: Where in a game it was decided; empty for the scorers and when passed.
        expected: What the rules say; empty unless failed.
        got: What the engine said; the reason when skipped.
    """

    name: str
    rule: str
    status: Status
    where: str = ""
    expected: str = ""
    got: str = ""

    def __str__(self) -> str:
        if self.status is Status.PASSED:
            return f"passed   {self.name}"
        if self.status is Status.SKIPPED:
            return f"skipped  {self.name}: {self.got}"
        place = f"{self.where}: " if self.where else ""
        return (
            f"FAILED   {self.name}\n"
            f"         {self.rule}\n"
            f"         {place}expected {self.expected}, got {self.got}"
        )


@dataclass(frozen=True, slots=True)
class RulesReport:
    """All findings about an engine; `str(report)` shows what failed, and why others were skipped.

    Attributes:
        findings: One for each fixture, in order.
    """

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def failures(self) -> list[Finding]:
        """The findings of fixtures that failed."""
        return self._of(Status.FAILED)

    @property
    def skipped(self) -> list[Finding]:
        """The findings of fixtures that the engine could not be put to."""
        return self._of(Status.SKIPPED)

    @property
    def passed(self) -> list[Finding]:
        """The findings of fixtures that were passed."""
        return self._of(Status.PASSED)

    def _of(self, status: Status) -> list[Finding]:
        return [finding for finding in self.findings if finding.status is status]

    def __str__(self) -> str:
        numbers = ", ".join(f"{len(self._of(status))} {status.value}" for status in Status)
        reasons = Counter(finding.got for finding in self.skipped)
        lines = [str(finding) for finding in self.failures]
        lines += [f"skipped  {number}: {reason}" for reason, number in reasons.items()]
        return "\n".join([*lines, numbers])
