"""Numbers of the report as text."""

import re
from typing import Final

from markupsafe import Markup, escape

from cribai.tournament.charts import Bounds

MINUS: Final = "\N{MINUS SIGN}"
DASH: Final = "\N{EN DASH}"


def percent(share: float, digits: int = 1) -> str:
    """Returns a share in percent."""
    return f"{share:.{digits}%}".replace("-", MINUS)


def percents(interval: Bounds, digits: int = 1) -> str:
    """Returns an interval of shares in percent."""
    low, high = interval
    if low is None or high is None:
        return "no bounds"
    return f"{100 * low:.{digits}f}{DASH}{high:.{digits}%}".replace("-", MINUS)


def signed(number: float, digits: int = 0) -> str:
    """Returns a number with its sign."""
    found = f"{number:+,.{digits}f}"
    # What rounds to 0 has no sign.
    return (found if found.strip("+-0.,") else found[1:]).replace("-", MINUS)


def plus_minus(interval: Bounds, digits: int = 1) -> str:
    """Returns half of an interval's width; a dash when it has none."""
    low, high = interval
    return (
        DASH
        if low is None or high is None or low == high
        else f"\u00b1{(high - low) / 2:,.{digits}f}"
    )


def chance(share: float) -> str:
    """Returns a chance in percent, never quite 0 or 1."""
    return "> 99.9%" if share > 0.999 else "< 0.1%" if share < 0.001 else f"{share:.1%}"


def text(name: str) -> str:
    """Returns a setting's value as words."""
    return name.replace("_", " ")


def breakable(name: str) -> Markup:
    """Returns an agent's name for the page, to be broken after punctuation when it is long."""
    parts = re.split(r"(?<=[:,/;])(?=.)", name)
    return Markup("<wbr>").join(map(escape, parts))
