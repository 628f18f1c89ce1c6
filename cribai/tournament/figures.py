"""Figures of the report: what each shows of the JSON object of results."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from cribai.tournament import charts
from cribai.tournament.charts import Curve, Mark, Part, Scale, scale_of
from cribai.tournament.formats import DASH, percent, percents, plus_minus, signed

Summary = Mapping[str, Any]

Row = tuple[Summary, list[Markup]]
"""What a row shows, and its drawings."""

COLOURS: Final = 6
"""Agents up to which ratings converge in one chart, each in its colour."""

CLOSEST: Final = 12
"""Matches that are drawn one by one: the closest."""

ROUND_ELO: Final = 50.0
"""Least span of a scale of ratings."""


class Chart(NamedTuple):
    """Rows of one scale, with the labels under them.

    Attributes:
        rows: The rows.
        axis: The labels.
    """

    rows: list[Row]
    axis: Markup


def rating_chart(ratings: Sequence[Summary]) -> Chart | None:
    """Returns the ratings as dots with whiskers."""
    if not ratings:
        return None
    numbers = chain.from_iterable((0, row["elo"], *row["interval"]) for row in ratings)
    scale = scale_of(numbers, span=ROUND_ELO)
    ticks = scale.ticks()
    rows: list[Row] = []
    for row in ratings:
        what = f"{row['agent']}: {signed(row['elo'], 1)} {plus_minus(row['interval'])} Elo"
        rows.append((row, [charts.dots(scale, [Mark(row["elo"], row["interval"])], what, ticks)]))
    return Chart(rows, charts.axis(scale, [(tick, signed(tick)) for tick in ticks]))


class Cell(NamedTuple):
    """A win rate in the matrix.

    Attributes:
        win_rate: That of the row's agent.
        title: What it says in words.
        kind: Class of the colour.
        strength: Of the colour, from 0 at a half to 1.
    """

    win_rate: float
    title: str
    kind: str
    strength: float


def matrix(order: Sequence[str], matches: Sequence[Summary]) -> list[list[Cell | None]]:
    """Returns the win rates of rows against columns; of two that met twice, the longer match."""
    cells: dict[tuple[str, str], Cell] = {}
    for match in sorted(matches, key=lambda match: match["games"]):
        low, high = match["win_rate_interval"]
        turned = [None if bound is None else 1 - bound for bound in (high, low)]
        for a, b, rate, interval in (
            (match["a"], match["b"], match["win_rate"], (low, high)),
            (match["b"], match["a"], 1 - match["win_rate"], turned),
        ):
            what = f"{a} beats {b} in {percent(rate, 2)} ({percents(interval, 2)})"
            what += f" of {match['games']:,} games"
            kind = "won" if rate > 0.5 else "lost"
            cells[a, b] = Cell(rate, what, kind, round(abs(2 * rate - 1), 3))
    return [[cells.get((row, column)) for column in order] for row in order]


def win_rate_charts(matches: Sequence[Summary]) -> Chart | None:
    """Returns the win rates of matches as dots with whiskers."""
    if not matches:
        return None
    scale = Scale(0, 1)
    rows: list[Row] = []
    for match in matches:
        mark = Mark(match["win_rate"], match["win_rate_interval"])
        what = f"{percent(mark.number)} ({percents(mark.interval)})"
        rows.append((match, [charts.dots(scale, [mark], what, (0.5,), charts.BAR)]))
    return Chart(rows, charts.axis(scale, [(0.5, "50%")]))


def skunk_chart(overall: Sequence[Summary]) -> Chart | None:
    """Returns the skunks that each agent gave, to the right, and took, to the left."""
    if not overall:
        return None
    most = max(max(row["skunk_rate"], row["skunked_rate"]) for row in overall)
    scale = scale_of((-most, most), margin=0.03, span=0.02)
    ticks = scale.ticks()
    rows: list[Row] = []
    for row in overall:
        sides = [
            [
                Part(f"double skunks {what}, %", 100 * row[f"double_{name}"], f"{kind} deep"),
                Part(f"single skunks {what}, %", 100 * (row[name] - row[f"double_{name}"]), kind),
            ]
            for what, name, kind in (
                ("given", "skunk_rate", "won"),
                ("taken", "skunked_rate", "lost"),
            )
        ]
        what = (
            f"{row['agent']}: skunks given {percent(row['skunk_rate'])}, taken"
            f" {percent(row['skunked_rate'])}"
        )
        wide = Scale(100 * scale.low, 100 * scale.high)
        rows.append((row, [charts.bars(wide, sides, what, [100 * tick for tick in ticks])]))
    labels = [(tick, percent(abs(tick), 0 if most > 0.05 else 1)) for tick in ticks]
    return Chart(rows, charts.axis(scale, labels))


def closest(matches: Sequence[Summary]) -> list[Summary]:
    """Returns the matches that are drawn one by one, in their order."""
    close = sorted(matches, key=lambda match: abs(match["win_rate"] - 0.5))[:CLOSEST]
    chosen = {id(match) for match in close}
    return [match for match in matches if id(match) in chosen]


def margin_charts(matches: Sequence[Summary]) -> list[tuple[Summary, Markup]]:
    """Returns the margins of the closest matches as histograms of one scale."""
    shown = closest(matches)
    if not shown:
        return []
    used = [
        place
        for match in shown
        for place, games in enumerate(match["margins"]["games"])
        if games > 0
    ]
    edges = shown[0]["margins"]["edges"]
    # As far to the left as to the right, so that 0 is in the middle.
    far = min(min(used), len(edges) - 2 - max(used)) if used else 0
    part = slice(far, len(edges) - 1 - far)
    peak = max(max(match["margins"]["games"]) / match["games"] for match in shown)
    return [
        (
            match,
            charts.histogram(
                edges[far : len(edges) - far],
                match["margins"]["games"][part],
                1.05 * peak,
                match["margin"],
                f"Margins of {match['a']} against {match['b']}, mean {signed(match['margin'], 2)}",
            ),
        )
        for match in shown
    ]


def points_chart(overall: Sequence[Summary]) -> Chart | None:
    """Returns the points that each agent made in a deal, by role and source, as stacked bars."""
    roles = [points for row in overall for points in row["points_per_deal"].values()]
    if not roles:
        return None
    most = max(points["total"] for points in roles)
    scale = Scale(0, 1.02 * max(most, 1.0))
    ticks = scale.ticks()
    rows: list[Row] = []
    for row in overall:
        drawn = []
        for role, points in row["points_per_deal"].items():
            parts = [
                Part(f"{role}: {source}", number, f"source {source}")
                for source, number in points.items()
                if source != "total"
            ]
            said = ", ".join(f"{source} {number:.2f}" for source, number in points.items())
            drawn.append(charts.bars(scale, [parts], f"{row['agent']}, {role}: {said}", ticks))
        rows.append((row, drawn))
    return Chart(rows, charts.axis(scale, [(tick, f"{tick:g}") for tick in ticks]))


class Convergence(NamedTuple):
    """How the ratings converged: one chart, or one for each agent before those of all.

    Attributes:
        together: The chart of all agents; empty when there are too many.
        legend: The agents and the classes of their colours in it.
        backdrop: What the charts of one agent share.
        each: The agents and their charts.
    """

    together: Markup
    legend: list[tuple[str, str]]
    backdrop: Markup
    each: list[tuple[str, Markup]]


def convergence(summary: Summary, order: Sequence[str]) -> Convergence | None:
    """Returns how the ratings converged; None when there were too few games to tell."""
    # Of looks after the same number of games, the last.
    steps = sorted({games: step for step, games in enumerate(summary["games"])}.items())
    if len(steps) < 2:
        return None
    places = [games for games, _ in steps]
    points = {label: [summary["elo"][label][step] for _, step in steps] for label in order}
    late = [point for curve in points.values() for point in curve[len(steps) // 2 :]]
    numbers = [point[0] for curve in points.values() for point in curve]
    # The bands of the first few games may be far wider than all that follows.
    up = scale_of([*numbers, *chain.from_iterable(late)], span=ROUND_ELO)
    across = Scale(0, places[-1])
    if len(order) <= COLOURS:
        curves = [Curve(label, f"c{n}", points[label]) for n, label in enumerate(order)]
        what = f"Ratings after 0 to {places[-1]:,} games"
        legend = [(curve.label, curve.kind) for curve in curves]
        return Convergence(charts.lines(across, up, places, curves, what), legend, Markup(""), [])
    curves = [Curve(label, "main", points[label]) for label in order]
    each: list[tuple[str, Markup]] = [
        (curve.label, charts.line_among(across, up, places, curve, "all-curves"))
        for curve in curves
    ]
    return Convergence(
        Markup(""), [], charts.backdrop(across, up, places, curves, "all-curves"), each
    )


def luck_chart(matches: Sequence[Summary]) -> Chart | None:
    """Returns win rates as played and with luck taken out, as dots; of the closest matches."""
    shown = closest(matches)
    if not shown:
        return None
    pairs = [
        (
            Mark(match["win_rate"], match["win_rate_interval"], "plain"),
            Mark(match["luck_adjusted"]["win_rate"], match["luck_adjusted"]["interval"]),
        )
        for match in shown
    ]
    numbers = chain.from_iterable(
        (mark.number, *mark.interval) for marks in pairs for mark in marks
    )
    scale = scale_of(numbers, span=0.02)
    ticks = scale.ticks(4)
    rows: list[Row] = []
    for match, marks in zip(shown, pairs, strict=True):
        what = "; ".join(
            f"{name} {percent(mark.number, 2)} ({percents(mark.interval, 2)})"
            for name, mark in zip(("as played", "luck taken out"), marks, strict=True)
        )
        rows.append((match, [charts.dots(scale, marks, what, ticks)]))
    digits = 0 if scale.high - scale.low > 0.05 else 1
    return Chart(rows, charts.axis(scale, [(tick, percent(tick, digits)) for tick in ticks]))


def sprt(summary: Summary) -> dict[str, Any] | None:
    """Returns the sequential test with its chart; None when there was none."""
    test = summary.get("sprt")
    if not test:
        return None
    low, high = test["bounds"]
    ratio = test["log_likelihood_ratio"]
    scale = scale_of((low, high, ratio), margin=0.12)
    accepted, rejected = {"h0": ("h0", "h1"), "h1": ("h1", "h0")}.get(test["decision"], ("", ""))
    said = DASH if ratio is None else signed(ratio, 3)
    what = f"Log-likelihood ratio {said}, bounds {signed(low, 3)} and {signed(high, 3)}"
    labels = [(low, signed(low, 2)), (high, signed(high, 2))]
    return {
        **test,
        "accepted": test.get(accepted),
        "rejected": test.get(rejected),
        "said": said,
        "match": summary["matches"][0],
        "pairs": _pairs_by_wins(summary["matches"][0]),
        "gauge": charts.gauge(scale, low, high, ratio, what),
        "axis": charts.axis(scale, labels),
    }


def _pairs_by_wins(match: Summary) -> list[tuple[str, int]]:
    """Returns numbers of wins with how many pairs have so many; half ones only if there are any."""
    pairs = match.get("pairs_by_half_wins", [0] * 5)
    step = 1 if any(pairs[1::2]) else 2
    return list(zip(("0", "1/2", "1", "3/2", "2")[::step], pairs[::step], strict=True))


class Box(NamedTuple):
    """A match in the drawing of a knock-out.

    Attributes:
        meeting: The match.
        column: Its round, from 1.
        row: Where it begins, from 1.
        span: How many rows it takes.
        joint: Class of the line to the next round.
    """

    meeting: Summary
    column: int
    row: int
    span: int
    joint: str


def bracket(rounds: Sequence[Sequence[Summary]]) -> list[Box]:
    """Returns where the matches of a knock-out are drawn, so that no lines cross.

    Winners meet by their standing, so that a match follows those that its two entrants won.
    """
    boxes: list[Box] = []

    def place(number: int, meeting: Summary, row: int, joint: str) -> None:
        boxes.append(Box(meeting, number + 1, row, 2**number, joint))
        if number:
            before = {earlier["winner"]: earlier for earlier in rounds[number - 1]}
            place(number - 1, before[meeting["a"]], row, "down")
            place(number - 1, before[meeting["b"]], row + 2 ** (number - 1), "up")

    last = len(rounds) - 1
    for order, meeting in enumerate(rounds[last] if rounds else ()):
        place(last, meeting, 1 + order * 2**last, "")
    return sorted(boxes, key=lambda box: (box.column, box.row))
