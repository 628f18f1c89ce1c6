"""The page of results: whole, safe to open, and legible at any number of agents."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import combinations, product
from math import log10
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cribai.tournament.charts import Scale, scale_of
from cribai.tournament.figures import bracket
from cribai.tournament.formats import chance, percents, plus_minus, signed
from cribai.tournament.html import report_html

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
SHORT = ("greedy", "random", "expectimax:preset=fast")
STRANGE = "<script>alert(1)</script>&\"'{{ x }}"
EDGES = list(range(-130, 131, 10))
SOURCES = {"dealer": ("pegging", "hand", "crib", "heels"), "pone": ("pegging", "hand")}


def many(number: int) -> list[str]:
    return [f"expectimax:preset=fast,samples={20 * place}" for place in range(number)]


def points(random: Random) -> dict[str, dict[str, float]]:
    means = {"pegging": 3.2, "hand": 7.6, "crib": 4.8, "heels": 0.15}
    table = {}
    for role, sources in SOURCES.items():
        parts = {name: means[name] * random.uniform(0.8, 1.1) for name in sources}
        table[role] = parts | {"total": sum(parts.values())}
    return table


def around(number: float, width: float) -> list[float]:
    return [number - width, number + width]


def match_of(a: str, b: str, rate: float, random: Random, games: int = 8000) -> dict[str, Any]:
    margin = 60 * (rate - 0.5)
    counts = [0] * (len(EDGES) - 1)
    for _ in range(300):
        counts[min(max(int((random.gauss(margin, 25) + 130) // 10), 1), 24)] += games // 300
    match: dict[str, Any] = {"a": a, "b": b, "pairs": games // 2, "games": games}
    for name, number in (
        ("win_rate", rate),
        ("margin", margin),
        ("skunk_rate", rate / 5),
        ("skunked_rate", (1 - rate) / 5),
        ("double_skunk_rate", rate / 60),
        ("double_skunked_rate", (1 - rate) / 60),
        ("first_dealer_win_rate", 0.55),
        ("match_points_ahead", rate - 0.5),
    ):
        match[name] = number
        match[f"{name}_interval"] = around(number, 0.5 if name == "margin" else 0.009)
    return match | {
        "match_points": [round(games * rate), round(games * (1 - rate))],
        "ties": 0,
        "tie_rate": 0.0,
        "tie_rate_interval": [0.0, 0.0005],
        "pairs_by_half_wins": [10, 0, 20, 0, games // 2 - 30],
        "deals_per_game": 8.93,
        "points_per_deal": points(random),
        "points_per_deal_intervals": {},
        "luck_adjusted": {
            "win_rate": rate + 0.004,
            "interval": around(rate + 0.004, 0.005),
            "luck": -0.0123,
            "variance_reduction": 3.21,
        },
        "likelihood_of_superiority": 0.9321,
        "opponent_points_per_deal": points(random),
        "margins": {"edges": EDGES, "games": counts},
        "forfeits": [0, 0],
        "forfeit_reasons": [{}, {}],
        "first_failures": [{}, {}],
    }


def made_up(agents: Sequence[str], luck: bool = True) -> dict[str, Any]:
    """Returns results as a round robin would leave them, the later agents the stronger."""
    random = Random(1)
    elo = {name: 12.5 * place + random.uniform(0, 5) for place, name in enumerate(agents)}
    elo[agents[0]] = 0.0
    matches = []
    for a, b in combinations(agents, 2):
        rate = 1 / (1 + 10 ** ((elo[b] - elo[a]) / 400)) + random.uniform(-0.005, 0.005)
        matches.append(match_of(a, b, rate, random))
        if not luck:
            matches[-1]["luck_adjusted"] = None
    ratings = [
        {
            "agent": name,
            "elo": elo[name],
            "standard_error": 3.0 if elo[name] else 0.0,
            "interval": around(elo[name], 6.0 if elo[name] else 0.0),
            "games": 8000 * (len(agents) - 1),
            "win_rate": 0.5,
        }
        for name in sorted(agents, key=lambda name: -elo[name])
    ]
    total = 8000 * len(matches)
    curves: dict[str, list[list[float]]] = {name: [] for name in agents}
    for name, step in product(agents, range(1, 21)):
        width = 60 / step**0.5 if elo[name] else 0.0
        at = elo[name] + random.gauss(0, width / 2)
        curves[name].append([at, *around(at, width)])
    overall = [
        {
            "agent": name,
            "games": 8000 * (len(agents) - 1),
            "win_rate": 0.5 + elo[name] / 2000,
            "margin": elo[name] / 30,
            "skunk_rate": 0.08 + elo[name] / 5000,
            "skunked_rate": 0.11 - elo[name] / 5000,
            "double_skunk_rate": 0.004,
            "double_skunked_rate": 0.003,
            "match_points": [4321, 5432],
            "points_per_deal": points(random),
            "forfeits": 0,
        }
        for name in agents
    ]
    return {
        "agents": list(agents),
        "format": "round_robin",
        "rules": "standard",
        "pairs": 4000,
        "seed": 1,
        "match_points": "plain",
        "hash": "0123456789abcdef" * 4,
        "games": total,
        "games_per_second": 31234.5,
        "matches": matches,
        "overall": overall,
        "ratings": ratings,
        "warnings": [],
        "convergence": {"games": [total * step // 20 for step in range(1, 21)], "elo": curves},
        "failed": [],
        "configuration": {"agents": list(agents), "pairs": 4000, "sprt": {"alpha": 0.05}},
        "command": "cribai tournament " + " ".join(agents),
    }


def sequential() -> dict[str, Any]:
    return made_up(SHORT[:2]) | {
        "format": "sprt",
        "sprt": {
            "h0": 0.5,
            "h1": 0.5125,
            "alpha": 0.05,
            "beta": 0.05,
            "bounds": [-2.944, 2.944],
            "log_likelihood_ratio": 3.017,
            "decision": "h1",
        },
    }


def congress() -> dict[str, Any]:
    agents = [f"agent{place}" for place in range(1, 10)]

    def meeting(a: int, b: int, games: tuple[int, int]) -> dict[str, Any]:
        winner = a if games[0] > games[1] else b
        return {
            "a": agents[a - 1],
            "b": agents[b - 1],
            "games": list(games),
            "winner": agents[winner - 1],
        }

    rounds = [
        [
            meeting(1, 8, (3, 1)),
            meeting(2, 7, (0, 3)),
            meeting(3, 6, (3, 2)),
            meeting(4, 5, (2, 3)),
        ],
        [meeting(1, 7, (3, 0)), meeting(3, 5, (1, 3))],
        [meeting(1, 5, (2, 3))],
    ]
    standings = [
        {"agent": name, "points": 99 - place, "wins": 40 - place, "spread": -7, "games": 88}
        for place, name in enumerate(agents)
    ]
    acc = {"qualifiers": 8, "standings": standings, "knock_out": rounds, "champion": "agent5"}
    return made_up(agents) | {"format": "acc", "acc": acc}


def forfeited() -> dict[str, Any]:
    results = made_up((*SHORT[:2], STRANGE))
    match = results["matches"][1]
    match["forfeits"] = [0, 17]
    match["forfeit_reasons"] = [{}, {"timeout": 12, "bad_reply": 5}]
    match["first_failures"] = [{}, {"timeout": "seed 1, pair 3: no reply in 2 s"}]
    return results | {
        "warnings": [f"{STRANGE} beats greedy, and greedy beats it"],
        "failed": ["chunk 3 of greedy v random: <lost> worker"],
    }


def one_pair() -> dict[str, Any]:
    results = made_up(SHORT[:2], luck=False)
    (match,) = results["matches"]
    match |= {"games": 2, "pairs": 1, "margin_interval": [None, None], "win_rate": 0.0}
    match["win_rate_interval"] = [0.0, 0.793]
    for row in results["ratings"]:
        row["interval"] = [None, None]
    return results | {
        "games": 2,
        "games_per_second": None,
        "convergence": {"games": [2, 2], "elo": {name: [[0.0, None, None]] * 2 for name in SHORT}},
    }


def nothing_played() -> dict[str, Any]:
    results = made_up(SHORT[:2])
    return results | {
        "games": 0,
        "games_per_second": None,
        "matches": [{"a": "greedy", "b": "random", "pairs": 0, "games": 0}],
        "overall": [],
        "ratings": [],
        "convergence": {"games": [], "elo": {"greedy": [], "random": []}},
        "failed": ["chunk 1 of greedy v random: the worker was killed"],
    }


RESULTS = {
    "two": made_up(SHORT[:2]),
    "three": made_up(SHORT),
    "twenty": made_up(many(20)),
    "no luck": made_up(SHORT, luck=False),
    "sprt": sequential(),
    "acc": congress(),
    "forfeits": forfeited(),
    "one pair": one_pair(),
    "nothing": nothing_played(),
    "own rules": made_up(SHORT) | {"rules": {"name": "to_61", "target": 61}},
}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: report_html(json.loads(json.dumps(results))) for name, results in RESULTS.items()}


@pytest.fixture(params=RESULTS)
def named(request: pytest.FixtureRequest, pages: dict[str, str]) -> tuple[dict[str, Any], str]:
    return RESULTS[request.param], pages[request.param]


class Reader(HTMLParser):
    """Checks that elements are closed in order, and keeps attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def drawings(page: str) -> Iterator[ET.Element]:
    for drawing in re.findall(r"<svg(?:(?!</?svg).)*(?:<svg.*?</svg>.*?)?</svg>", page, re.DOTALL):
        yield ET.fromstring(drawing)


def test_well_formed(named: tuple[dict[str, Any], str]) -> None:
    _, page = named
    reader = read(page)
    assert reader.open == []
    identities = [value for _, name, value in reader.attributes if name == "id"]
    assert len(identities) == len(set(identities))
    for drawing in drawings(page):
        assert drawing.get("aria-hidden") == "true" or drawing.find("title") is not None
        assert "nan" not in ET.tostring(drawing, "unicode").lower()


def test_needs_nothing_but_itself(named: tuple[dict[str, Any], str]) -> None:
    _, page = named
    reader = read(page)
    assert "script" not in reader.tags
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)
    targets = {value for _, name, value in reader.attributes if name in ("href", "src")}
    identities = {f"#{value}" for _, name, value in reader.attributes if name == "id"}
    assert targets <= identities | {"data:,"}


def test_tells_all(named: tuple[dict[str, Any], str]) -> None:
    results, page = named
    text = " ".join("".join(read(page).text).split())
    for said in (*results["agents"], *results["failed"], *results["warnings"], results["hash"]):
        assert said in text
    assert results["command"] in text
    for match in results["matches"]:
        if match["games"]:
            for number in (match["win_rate"], match["skunk_rate"], match["first_dealer_win_rate"]):
                assert f"{number:.1%}"[:-1] in text
            for parts in (match["points_per_deal"], match["opponent_points_per_deal"]):
                assert f"{parts['dealer']['total']:.2f}" in text
    for row in results["ratings"]:
        assert signed(row["elo"], 1) in text


def test_same_page_again(named: tuple[dict[str, Any], str]) -> None:
    results, page = named
    assert report_html(results) == page


def test_names_are_text(pages: dict[str, str]) -> None:
    assert "<script" not in pages["forfeits"]
    assert "&lt;script&gt;alert(1)" in pages["forfeits"]
    assert "&lt;lost&gt; worker" in pages["forfeits"]


def test_sections(pages: dict[str, str]) -> None:
    def sections(name: str) -> list[str]:
        return re.findall(r'<h2 id="(\w+)"', pages[name])

    usual = ["ratings", "matches", "luck", "skunks", "margins", "points", "convergence"]
    assert sections("three") == [*usual, "configuration"]
    assert sections("sprt") == ["sprt", *usual, "configuration"]
    assert sections("acc") == ["acc", *usual, "configuration"]
    assert sections("forfeits") == [*usual, "forfeits", "configuration"]
    assert "luck" not in sections("no luck")
    assert "convergence" not in sections("one pair")
    assert sections("nothing") == ["ratings", "matches", "configuration"]


def test_many_agents(pages: dict[str, str]) -> None:
    page = pages["twenty"]
    assert len(page) < 1_500_000
    assert page.count("Margins of ") == 12
    assert "12 closest of 190 matches" in page
    cells = re.findall(
        r'<td class="(?:won|lost)" style="--s: [\d.]+" title="[^"]+">[\d.]+</td>', page
    )
    assert len(cells) == 20 * 19


def test_first_failure_of_each_reason(pages: dict[str, str]) -> None:
    text = " ".join(read(pages["forfeits"]).text)
    assert "no reply in 2 s" in text
    assert "bad reply" in text


def test_decision(pages: dict[str, str]) -> None:
    text = " ".join("".join(read(pages["sprt"]).text).split())
    assert "Accepted: greedy beats random at a rate of 51.25%, not 50.00%" in text
    results = sequential()
    results["sprt"] |= {"decision": None, "log_likelihood_ratio": None}
    assert "Undecided" in report_html(results)


def test_bracket_follows_winners() -> None:
    boxes = bracket(congress()["acc"]["knock_out"])
    places = {(box.column, box.row): box for box in boxes}
    assert [(box.column, box.row) for box in boxes] == [
        *((1, row) for row in range(1, 5)),
        (2, 1),
        (2, 3),
        (3, 1),
    ]
    for (column, row), box in places.items():
        if column > 1:
            half = box.span // 2
            feeders = (places[column - 1, row], places[column - 1, row + half])
            assert [feeder.meeting["winner"] for feeder in feeders] == [
                box.meeting["a"],
                box.meeting["b"],
            ]
            assert [feeder.joint for feeder in feeders] == ["down", "up"]
    assert bracket([]) == []


def test_scales() -> None:
    assert Scale(0, 100).ticks(5) == [0, 20, 40, 60, 80, 100]
    assert Scale(-0.31, 0.29).ticks() == [-0.3, -0.2, -0.1, 0, 0.1, 0.2]
    assert [Scale(0, 10).at(number) for number in (-5, 0, 5, 20)] == [0, 0, 50, 100]
    assert scale_of([None, 3.0], margin=0, span=2) == (2, 4)
    assert scale_of([], span=2, margin=0) == (-1, 1)
    for number in range(-6, 7):
        span = 10.0**number
        assert 2 <= len(Scale(0, span).ticks()) <= 8
        assert log10(Scale(0, span).ticks()[1]) < number


def test_formats() -> None:
    assert signed(-1234.5, 1) == "\N{MINUS SIGN}1,234.5"
    assert signed(0.04, 1) == signed(-0.04, 1) == "0.0"
    assert signed(2.5, 2) == "+2.50"
    assert [chance(share) for share in (0.0, 0.5, 1.0)] == ["< 0.1%", "50.0%", "> 99.9%"]
    assert percents([0.25, 0.5]) == "25.0\N{EN DASH}50.0%"
    assert percents([None, None]) == "no bounds"
    assert plus_minus([-2.0, 3.0]) == "\u00b12.5"
    assert plus_minus([None, None]) == "\N{EN DASH}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
@pytest.mark.parametrize("name", ["twenty", "acc", "forfeits"])
def test_phone(name: str, pages: dict[str, str], tmp_path: Path) -> None:
    """Nothing but scrolling tables is wider than a phone's screen."""
    inner, outer = tmp_path / "inner.html", tmp_path / "outer.html"
    measure = "<script>document.title = document.documentElement.scrollWidth</script>"
    inner.write_text(pages[name].replace("</body>", f"{measure}</body>"))
    # A window cannot be as narrow as a phone, but a frame can.
    outer.write_text(
        '<iframe width="390" height="800" src="inner.html" onload="document.title ='
        ' this.contentDocument.title"></iframe>'
    )
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
    command += ["--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--dump-dom", outer.as_uri()]
    page = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert re.findall(r"<title>(.*?)</title>", page) == ["390"]
