"""`cribai analyze` and `cribai position`: ranked tosses, chances to win, and bad input."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from unittest.mock import patch

import pytest

from command import run
from cribai import MATCH_POINTS, cards_text, parse_cards
from cribai.analysis.positions import match_points_ahead, win_probability
from cribai.analysis.tosses import analyze_tosses

HAND = "5H 6S 9D KC TD 2C"
CARDS = parse_cards(HAND)
KEYS = ["toss", "keep", "hand", "crib", "pegging", "points", "win_probability"]


@pytest.fixture(autouse=True)
def announced(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs commands without a word on compilation, but for the test of that."""
    if "compiling" in request.node.name:
        yield
    else:
        with patch("cribai.cli.compiling.announce_compiling"):
            yield


# ------------------------------------------------------------------------------------- analyze


@pytest.mark.parametrize("role", ["dealer", "pone"])
@pytest.mark.parametrize("scores", [(0, 0), (60, 70), (119, 116)])
def test_json(role: str, scores: tuple[int, int]) -> None:
    own, other = scores
    result = run("analyze", HAND, f"--{role}", "--score", f"{own}-{other}", "--json").json
    assert (result["role"], result["score"], result["opponent_score"]) == (role, own, other)
    tosses = result["tosses"]
    expected = analyze_tosses(CARDS, is_dealer=role == "dealer", score=own, opponent_score=other)
    assert len(tosses) == len(expected) == 15
    for toss, analyzed in zip(tosses, expected, strict=True):
        assert set(KEYS) <= set(toss)
        assert tuple(parse_cards(toss["toss"])) == analyzed.toss
        assert tuple(parse_cards(toss["keep"])) == analyzed.keep
        for key in KEYS[2:]:
            assert toss[key] == getattr(analyzed, key)
        sign = 1 if role == "dealer" else -1
        total = toss["hand"] + sign * toss["crib"] + toss["pegging"]
        assert toss["points"] == pytest.approx(total)
    chances = [toss["win_probability"] for toss in tosses]
    assert chances == sorted(chances, reverse=True)
    assert 0 <= chances[-1] < chances[0] <= 1
    found = {frozenset(parse_cards(toss["toss"])) for toss in tosses}
    assert found == {frozenset(pair) for pair in combinations(CARDS, 2)}


def test_scores_start_at_nothing() -> None:
    plain = run("analyze", HAND, "--pone", "--json").json
    assert plain == run("analyze", HAND, "--pone", "--score", "0-0", "--json").json
    assert (
        plain == run("analyze", "2c,5h,6s,9d,10d,kc", "--pone", "--score", "0 - 0", "--json").json
    )


@pytest.mark.parametrize("role", ["dealer", "pone"])
def test_table(role: str) -> None:
    finished = run("analyze", HAND, f"--{role}", "--score", "100-95")
    assert (finished.status, finished.stderr) == (0, "")
    heading, *rows = [
        [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]
        for line in finished.stdout.splitlines()
        if line[0] in "│┃"
    ]
    assert heading == ["toss", "keep", "hand", "crib", "pegging", "points", "win"]
    expected = analyze_tosses(CARDS, is_dealer=role == "dealer", score=100, opponent_score=95)
    assert rows == [
        [
            cards_text(toss.toss),
            cards_text(toss.keep),
            f"{toss.hand:.2f}",
            f"{toss.crib:.2f}",
            f"{toss.pegging:.2f}",
            f"{toss.points:.2f}",
            f"{100 * toss.win_probability:.1f}%",
        ]
        for toss in expected
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["5H 6S 9D KC TD", "--dealer"], "not six different cards"),
        (["5H 6S 9D KC TD 2C 3C", "--dealer"], "not six different cards"),
        (["5H 6S 9D KC TD 5H", "--pone"], "The card 5H is named twice"),
        (["5H 6S 9D KC TD J1", "--pone"], "not six different cards"),
        (["", "--pone"], "not six different cards"),
        (["5H 6S 9D KC TD 2X", "--pone"], "2X"),
        ([HAND], "either --dealer or --pone"),
        ([HAND, "--dealer", "--pone"], "either --dealer or --pone"),
        ([HAND, "--dealer", "--score", "121-0"], "The score '121-0' is not two numbers"),
        ([HAND, "--dealer", "--score", "0-121"], "The score '0-121' is not two numbers"),
        ([HAND, "--dealer", "--score", "x"], "The score 'x' is not two numbers"),
        ([HAND, "--dealer", "--score", "60"], "The score '60' is not two numbers"),
        ([HAND, "--dealer", "--score", "60-"], "The score '60-' is not two numbers"),
        ([HAND, "--dealer", "--score", "1-2-3"], "The score '1-2-3' is not two numbers"),
        ([HAND, "--dealer", "--score", "1.5-2"], "The score '1.5-2' is not two numbers"),
        ([HAND, "--dealer", "--score", f"{'9' * 5000}-2"], "is not two numbers"),
    ],
)
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_bad_input(words: list[str], complaint: str, json: list[str]) -> None:
    finished = run("analyze", *words, *json)
    assert complaint in finished.complaint
    assert finished.complaint.endswith(".")
    assert finished.stdout == ""


def test_compiling_is_announced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    words = ("analyze", HAND, "--dealer", "--json")
    first = run(*words)
    assert first.stderr.startswith("Compiling ")
    assert first.stderr.count("\n") == first.stdout.count("\n") == 1
    (tmp_path / "analysis_1").mkdir()
    (tmp_path / "analysis_1" / "tosses._value-1.py311.nbi").touch()
    assert run(*words).stderr == ""


# ------------------------------------------------------------------------------------ position


@pytest.mark.parametrize("role", ["dealer", "pone"])
def test_position(role: str) -> None:
    is_dealer = role == "dealer"
    assert run("position", "60-70", f"--{role}", "--json").json == {
        "score": 60,
        "opponent_score": 70,
        "role": role,
        "win_probability": win_probability(60, 70, is_dealer=is_dealer),
        "match_points_ahead": {
            table: match_points_ahead(60, 70, is_dealer=is_dealer, table=table)
            for table in MATCH_POINTS
        },
    }
    finished = run("position", "60-70", f"--{role}")
    assert (finished.status, finished.stderr) == (0, "")
    first, *rest = finished.stdout.splitlines()
    assert first == f"win {100 * win_probability(60, 70, is_dealer=is_dealer):.1f}%"
    assert rest == [
        f"match points ahead, {table}:"
        f" {match_points_ahead(60, 70, is_dealer=is_dealer, table=table):+.3f}"
        for table in MATCH_POINTS
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["60-70"], "either --dealer or --pone"),
        (["60-70", "--dealer", "--pone"], "either --dealer or --pone"),
        (["121-0", "--dealer"], "The score '121-0' is not two numbers"),
        (["x", "--pone"], "The score 'x' is not two numbers"),
    ],
)
def test_bad_position(words: list[str], complaint: str) -> None:
    finished = run("position", *words, "--json")
    assert complaint in finished.complaint
    assert finished.complaint.endswith(".")
    assert finished.stdout == ""
