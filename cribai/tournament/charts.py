"""Charts of the report, drawn as SVG from numbers.

Places along a chart are percentages of its width, so that a chart takes whatever width the page
gives it while its text keeps its size. Colours come from the page's style sheet, by class.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

from markupsafe import Markup

Bounds = Sequence[float | None]
"""An interval as results have it: the bounds are None where there are none."""

ROW: Final = 34
"""Height of a row with a dot or a bar, in pixels."""

BAR: Final = 22
"""Height of a row with a bar among others of one agent, in pixels."""

LABELLED: Final = 6.0
"""Least width of a part of a bar that bears its number, in percent of the chart's."""

CURVE: Final = 1000
"""Width and height of the plane in which curves are drawn before they are stretched."""


class Scale(NamedTuple):
    """The numbers along an axis.

    Attributes:
        low: The number at its beginning.
        high: The number at its end.
    """

    low: float
    high: float

    def at(self, number: float) -> float:
        """Returns the place of a number in percent, at the border when it is beyond."""
        return 100 * min(max((number - self.low) / (self.high - self.low), 0.0), 1.0)

    def ticks(self, most: int = 7) -> list[float]:
        """Returns round numbers on the axis, evenly spaced.

        Args:
            most: How many at most, nearly.
        """
        rough = (self.high - self.low) / most
        power = 10.0 ** floor(log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(number * step, 10) for number in range(first, last + 1)]


class Mark(NamedTuple):
    """A dot with whiskers.

    Attributes:
        number: What the dot shows.
        interval: Where the whiskers end.
        kind: Class of the colour.
    """

    number: float
    interval: Bounds
    kind: str = "main"


class Part(NamedTuple):
    """A part of a bar.

    Attributes:
        name: What it stands for.
        number: Its length.
        kind: Class of the colour.
    """

    name: str
    number: float
    kind: str


class Curve(NamedTuple):
    """A line with a band around it.

    Attributes:
        label: What it shows.
        kind: Class of the colour.
        points: Numbers, each with its bounds.
    """

    label: str
    kind: str
    points: Sequence[Bounds]


def scale_of(numbers: Iterable[float | None], margin: float = 0.05, span: float = 1e-6) -> Scale:
    """Returns a scale that holds all numbers.

    Args:
        numbers: The numbers; None is passed over.
        margin: Room on either side, as a share of the span.
        span: The least span.
    """
    known = [number for number in numbers if number is not None] or [0.0]
    low, high = min(known), max(known)
    short = max(span - (high - low), 0.0) / 2
    room = margin * max(high - low, span)
    return Scale(low - short - room, high + short + room)


def dots(
    scale: Scale, marks: Sequence[Mark], title: str, grid: Sequence[float] = (), height: int = ROW
) -> Markup:
    """Returns a row of dots with whiskers.

    Args:
        scale: The axis.
        marks: The dots, from top to bottom.
        title: What is said to who cannot see it, and to who points at it.
        grid: Where lines cross the row.
        height: Its height in pixels.
    """
    found = [_grid(scale, grid)]
    for place, mark in enumerate(marks, 1):
        y = _number(100 * place / (len(marks) + 1))
        low, high = mark.interval
        if low is not None and high is not None:
            found.append(_whiskers(scale, low, high, y, mark.kind))
        found.append(
            Markup('<circle class="fill {}" cx="{}%" cy="{}%" r="4"/>').format(
                mark.kind, _number(scale.at(mark.number)), y
            )
        )
    return _svg(found, title, height)


def bars(
    scale: Scale, sides: Sequence[Sequence[Part]], title: str, grid: Sequence[float]
) -> Markup:
    """Returns a row of stacked bars that begin at 0.

    Args:
        scale: The axis.
        sides: The parts of each bar, from 0 on; the first bar points to higher numbers, the second
            to lower ones.
        title: What is said to who cannot see it.
        grid: Where lines cross the row.
    """
    found = [_grid(scale, grid)]
    for side, sign in zip(sides, (1, -1), strict=False):
        begin = 0.0
        for part in side:
            end = begin + sign * part.number
            low, high = sorted((scale.at(begin), scale.at(end)))
            found.append(_part(part, low, high - low))
            begin = end
    return _svg(found, title, BAR)


def _part(part: Part, low: float, width: float) -> Markup:
    what = Markup("<title>{} {:.2f}</title>").format(part.name, part.number)
    rect = Markup('<rect class="fill {}" x="{}%" y="12%" width="{}%" height="76%">{}</rect>')
    found = rect.format(part.kind, _number(low), _number(width), what)
    if part.kind.startswith("source") and width >= LABELLED:
        text = Markup('<text class="on" x="{}%" y="50%" dy=".35em">{:.1f}</text>')
        found += text.format(_number(low + width / 2), part.number)
    return found


def axis(scale: Scale, texts: Sequence[tuple[float, str]]) -> Markup:
    """Returns the labels under rows of one scale."""
    return _svg(
        (
            Markup('<text class="tick" x="{}%" y="13">{}</text>').format(
                _number(scale.at(number)), text
            )
            for number, text in texts
        ),
        None,
        18,
    )


def histogram(
    edges: Sequence[float], games: Sequence[int], peak: float, mean: float, title: str
) -> Markup:
    """Returns a histogram of margins, those lost and those won in different colours.

    Args:
        edges: The columns' bounds.
        games: Games in each column.
        peak: Share of the games at which a column fills the height.
        mean: Where a dashed line stands.
        title: What is said to who cannot see it.
    """
    scale = Scale(edges[0], edges[-1])
    total = sum(games) or 1
    found = []
    for low, high, number in zip(edges, edges[1:], games, strict=False):
        if number == 0:
            continue
        tall = 100 * number / total / peak
        what = f"{_signed(low)} to {_signed(high)}: {number:,} games, {number / total:.1%}"
        rect = '<rect class="fill {}" x="{}%" y="{}%" width="{}%" height="{}%"><title>{}</title>'
        found.append(
            Markup(rect + "</rect>").format(
                "lost" if high <= 0 else "won",
                _number(scale.at(low) + 0.2),
                _number(100 - tall),
                _number(scale.at(high) - scale.at(low) - 0.4),
                _number(tall),
                what,
            )
        )
    found.append(Markup('<line class="axis" x1="0" x2="100%" y1="100%" y2="100%"/>'))
    for kind, at in (("axis", 0.0), ("mean", mean)):
        line = Markup('<line class="{}" x1="{}%" x2="{}%" y1="0" y2="100%"/>')
        found.append(line.format(kind, *[_number(scale.at(at))] * 2))
    for edge in (edges[0], 0, edges[-1]):
        found.append(_tick_below(scale.at(edge), _signed(edge)))
    return _svg(found, title, 110)


def distribution(
    shares: Sequence[float], expected: Sequence[float], peak: float, title: str
) -> Markup:
    """Returns shares of the numbers from 0 on as columns, with those expected as dots.

    Args:
        shares: The share of each number.
        expected: The shares to compare them with; none for no dots.
        peak: The share at which a column fills the height.
        title: What is said to who cannot see it.
    """
    scale = Scale(-0.5, len(shares) - 0.5)
    found = []
    for number, share in enumerate(shares):
        rect = '<rect class="fill won" x="{}%" y="{}%" width="{}%" height="{}%">'
        found.append(
            Markup(rect + "<title>{}: {:.2%}</title></rect>").format(
                _number(scale.at(number - 0.4)),
                _number(100 - 100 * share / peak),
                _number(80 / len(shares)),
                _number(100 * share / peak),
                number,
                share,
            )
        )
    for number, share in enumerate(expected):
        dot = '<circle class="fill plain" cx="{}%" cy="{}%" r="2.5">'
        found.append(
            Markup(dot + "<title>{}: {:.2%}</title></circle>").format(
                _number(scale.at(number)), _number(100 - 100 * share / peak), number, share
            )
        )
    found.append(Markup('<line class="axis" x1="0" x2="100%" y1="100%" y2="100%"/>'))
    tick = Markup('<text class="tick" x="{}%" y="100%" dy="1.3em">{}</text>')
    found += [tick.format(_number(scale.at(number)), number) for number in range(0, len(shares), 4)]
    return _svg(found, title, 110)


def gauge(scale: Scale, low: float, high: float, number: float | None, title: str) -> Markup:
    """Returns where a number lies between two bounds, beyond which something is decided.

    Args:
        scale: The axis.
        low: The lower bound.
        high: The higher bound.
        number: The number; None when there is none.
        title: What is said to who cannot see it.
    """
    found = []
    for kind, begin, end in (("lost", scale.low, low), ("won", high, scale.high)):
        zone = Markup('<rect class="zone {}" x="{}%" y="0" width="{}%" height="100%"/>')
        start = scale.at(begin)
        found.append(zone.format(kind, _number(start), _number(scale.at(end) - start)))
    found.append(_grid(scale, (low, 0, high)))
    found.append(Markup('<line class="axis" x1="0" x2="100%" y1="100%" y2="100%"/>'))
    if number is not None:
        line = Markup('<line class="stroke main thick" x1="{}%" x2="{}%" y1="50%" y2="50%"/>')
        found.append(line.format(_number(scale.at(0)), _number(scale.at(number))))
        dot = Markup('<circle class="fill main" cx="{}%" cy="50%" r="7"/>')
        found.append(dot.format(_number(scale.at(number))))
    return _svg(found, title, 56)


def lines(
    across: Scale, up: Scale, places: Sequence[float], curves: Sequence[Curve], title: str
) -> Markup:
    """Returns curves with their bands.

    Args:
        across: The horizontal axis.
        up: The vertical axis.
        places: Where the points of all curves are on the horizontal axis.
        curves: The curves.
        title: What is said to who cannot see it.
    """
    bands = [_band(across, up, places, curve) for curve in curves]
    strokes = [_stroke(across, up, places, curve) for curve in curves]
    plane = _plane(Markup("").join([*bands, *strokes]))
    return _svg([*_frame(across, up, 6, 6), plane], title, 340)


def backdrop(
    across: Scale, up: Scale, places: Sequence[float], curves: Sequence[Curve], name: str
) -> Markup:
    """Returns curves that are not seen themselves; `line_among` shows them by their name."""
    strokes = (_stroke(across, up, places, curve._replace(kind="faint")) for curve in curves)
    found = Markup('<svg class="unseen" aria-hidden="true"><defs><g id="{}">{}</g></defs></svg>')
    return found.format(name, Markup("").join(strokes))


def line_among(
    across: Scale, up: Scale, places: Sequence[float], curve: Curve, name: str
) -> Markup:
    """Returns a curve with its band before the curves of a `backdrop`."""
    inner = Markup('<use href="#{}"/>').format(name) + _band(across, up, places, curve)
    plane = _plane(inner + _stroke(across, up, places, curve))
    return _svg([*_frame(across, up, 3, 4), plane], curve.label, 120)


def _plane(inner: Markup) -> Markup:
    size = Markup('<svg viewBox="0 0 {0} {0}" preserveAspectRatio="none">{1}</svg>')
    return size.format(CURVE, inner)


def _frame(across: Scale, up: Scale, most_across: int, most_up: int) -> Iterator[Markup]:
    for number in up.ticks(most_up):
        y = _number(100 - up.at(number))
        kind = "zero" if number == 0 else "grid"
        yield Markup('<line class="{}" x1="0" x2="100%" y1="{}%" y2="{}%"/>').format(kind, y, y)
        text = Markup('<text class="tick end" x="-6" y="{}%" dy=".35em">{}</text>')
        yield text.format(y, _signed(number))
    for number in across.ticks(most_across):
        yield _tick_below(across.at(number), f"{number:,.0f}")


def _tick_below(place: float, text: str) -> Markup:
    side = "first" if place < 5 else "last" if place > 95 else ""
    found = Markup('<text class="tick {}" x="{}%" y="100%" dy="1.3em">{}</text>')
    return found.format(side, _number(place), text)


def _stroke(across: Scale, up: Scale, places: Sequence[float], curve: Curve) -> Markup:
    numbers = [point[0] for point in curve.points]
    return Markup('<polyline class="stroke {}" points="{}"/>').format(
        curve.kind, _points(across, up, zip(places, numbers, strict=True))
    )


def _band(across: Scale, up: Scale, places: Sequence[float], curve: Curve) -> Markup:
    lower = [(place, point[1]) for place, point in zip(places, curve.points, strict=True)]
    upper = [(place, point[2]) for place, point in zip(places, curve.points, strict=True)]
    return Markup('<polygon class="band {}" points="{}"/>').format(
        curve.kind, _points(across, up, [*lower, *reversed(upper)])
    )


def _points(across: Scale, up: Scale, points: Iterable[tuple[float, float | None]]) -> str:
    """Returns places in the plane of curves; a curve passes over what has no bound."""
    return " ".join(
        f"{CURVE * across.at(x) / 100:.0f},{CURVE - CURVE * up.at(y) / 100:.0f}"
        for x, y in points
        if y is not None
    )


def _whiskers(scale: Scale, low: float, high: float, y: str, kind: str) -> Markup:
    begin, end = _number(scale.at(low)), _number(scale.at(high))
    line = Markup('<line class="stroke {}" x1="{}%" x2="{}%" y1="{}%" y2="{}%"/>')
    return line.format(kind, begin, end, y, y)


def _grid(scale: Scale, numbers: Iterable[float]) -> Markup:
    line = Markup('<line class="{}" x1="{}%" x2="{}%" y1="0" y2="100%"/>')
    return Markup("").join(
        line.format("zero" if number == 0 else "grid", *[_number(scale.at(number))] * 2)
        for number in numbers
    )


def _svg(parts: Iterable[Markup], title: str | None, height: int) -> Markup:
    inner = Markup("").join(parts)
    if title is None:
        return Markup('<svg aria-hidden="true" height="{}">{}</svg>').format(height, inner)
    found = Markup('<svg role="img" height="{}"><title>{}</title>{}</svg>')
    return found.format(height, title, inner)


def _number(place: float) -> str:
    return f"{place:.2f}".rstrip("0").rstrip(".")


def _signed(number: float) -> str:
    return f"{number:+,.10g}".replace("-", "\N{MINUS SIGN}") if number else "0"
