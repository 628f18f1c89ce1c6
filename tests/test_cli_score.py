"""`cribai score`: the points by part, the call, and one sentence for what is no hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import run
from cribai.rules import PRESETS, Rules

CASES = json.loads((Path(__file__).parent / "cases" / "show.json").read_text(encoding="utf-8"))


def test_json() -> None:
    assert run("score", "5C 5D 5H JS", "5S", "--json").json == {
        "points": 29,
        "fifteens": 16,
        "pairs": 12,
        "runs": 0,
        "flush": 0,
        "nobs": 1,
        "call": (
            "fifteen two, fifteen four, fifteen six, fifteen eight, fifteen ten, fifteen twelve,"
            " fifteen fourteen, fifteen sixteen, a double pair royal is twenty-eight,"
            " and one for nobs is twenty-nine"
        ),
    }


def test_text() -> None:
    finished = run("score", "7C 8D QH KS", "7S")
    assert (finished.status, finished.stderr) == (0, "")
    assert finished.stdout == (
        "fifteens    4\n"
        "pairs       2\n"
        "runs        0\n"
        "flush       0\n"
        "nobs        0\n"
        "points      6\n"
        "fifteen two, fifteen four, and a pair is six\n"
    )


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["why"])
def test_worked_examples(case: dict[str, Any]) -> None:
    words = ("score", case["hand"], case["starter"], "--json")
    assert run(*words).json["points"] == case["hand_points"]
    assert run(*words, "--crib").json["points"] == case["crib_points"]


def test_hands_of_other_sizes() -> None:
    assert run("score", "5C", "--json").json["points"] == 0
    assert run("score", "5c,5d", "--json").json["pairs"] == 2
    large = run("score", "AC 2D 3H 4S 5C 6D 7H 8S 9C 10D", "JH", "--json").json
    assert large["runs"] == 11
    assert run("score", "J1 J2 5C KD", "--json").json["fifteens"] == 8


def test_two_starters() -> None:
    assert run("score", "5C 5D 5H JS", "5S 6S", "--json").json == {
        "points": 30,
        "fifteens": 16,
        "pairs": 12,
        "runs": 0,
        "flush": 0,
        "nobs": 2,
        "call": (
            "fifteen two, fifteen four, fifteen six, fifteen eight, fifteen ten, fifteen twelve,"
            " fifteen fourteen, fifteen sixteen, a double pair royal is twenty-eight,"
            " and two for nobs is thirty"
        ),
    }
    assert run("score", "4H 6H 8H QH", "2H,TC", "--json").json["flush"] == 5
    assert run("score", "4H 6H 8H QH", "2H TC", "--crib", "--json").json["flush"] == 0


def test_several_hands_with_one_starter() -> None:
    """Criboku: no dealer and no crib, and the points added up."""
    words = ("score", "5C 5D 5H JS", "5S", "--also", "7C 8D", "--also", "2H 6H TH JH")
    finished = run(*words)
    assert (finished.status, finished.stderr) == (0, "")
    lines = finished.stdout.splitlines()
    assert lines[0].startswith("5C 5D 5H JS   29  fifteen two, fifteen four, ")
    assert lines[1:] == [
        "7C 8D          2  fifteen two",
        "2H 6H TH JH    8  fifteen two, fifteen four, and a flush of four is eight",
        "points        39",
    ]
    counted = run(*words, "--json").json
    assert counted["points"] == 39
    assert [hand["points"] for hand in counted["hands"]] == [29, 2, 8]
    assert counted["hands"][0] == run(*words[:3], "--json").json


def test_a_jack_as_starter_is_no_heels() -> None:
    assert run("score", "2C 4D 8S QC", "JH", "--also", "2D 4S 8C QH", "--json").json["points"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("AC 5H",), "The card 5H is in several hands; name each card once."),
        (("AC 5S",), "The starter 5S is in the hand too; name each card once."),
        (("",), "There are no cards to score; name at least one."),
        (("7C 8D", "--crib"), "A crib is scored alone; leave out --crib or --also."),
    ],
)
def test_refusals_of_several_hands(words: tuple[str, ...], sentence: str) -> None:
    for options in ((), ("--json",)):
        finished = run("score", "5C 5D 5H JS", "5S", *options, "--also", *words)
        assert finished.complaint == sentence
        assert finished.stdout == ""


def test_rules_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rules that no preset of the package need have.
    monkeypatch.setitem(PRESETS, "wild", Rules(name="wild", wild_kings=True))
    words = ("score", "5C 5D 5H JS", "KS")
    assert run(*words, "--json").json["points"] == 21
    wild = run(*words, "--rules", "wild", "--json").json
    assert wild["points"] == 29
    assert wild["call"].startswith("the king of spades as the five of spades, fifteen two, ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("5C 5D 5H 1S", "5S"),
            (
                "'1S' is not a card; write a rank of A23456789TJQK and a suit of CDHS,"
                " such as 5H or TD."
            ),
        ),
        (
            ("5C 5D 5H JS", "rubbish"),
            (
                "'rubbish' is not a card; write a rank of A23456789TJQK and a suit of CDHS,"
                " such as 5H or TD."
            ),
        ),
        (
            ("5C 5D 5H 5C", "5S"),
            "The card 5C is named twice in '5C 5D 5H 5C'; name each card once.",
        ),
        (("5C 5D 5H JS", "5C"), "The starter 5C is in the hand too; name each card once."),
        (("", "5C"), "There are no cards to score; name at least one."),
        (("5C 5D 5H JS", "5S 5S"), "The card 5S is named twice in '5S 5S'; name each card once."),
        (("5C 5D 5H JS", "5S 6S 7S"), "'5S 6S 7S' has 3 starters; name two at most."),
        (("5C 5D", "5S", "--rules", "rubbish"), "Unknown rules 'rubbish'; the presets are "),
    ],
)
def test_refusals(words: tuple[str, ...], sentence: str) -> None:
    for options in ((), ("--json",), ("--crib",)):
        finished = run("score", *words, *options)
        assert finished.complaint.startswith(sentence)
        assert finished.stdout == ""


def test_usage() -> None:
    for words in (("score",), ("score", "5C", "5D", "5H"), ("score", "5C", "--rubbish")):
        finished = run(*words)
        assert finished.status == 2
        assert finished.stdout == ""
        assert "Usage: " in finished.stderr
        assert "Traceback" not in finished.stderr


@pytest.mark.slow
def test_as_a_process() -> None:
    command = [sys.executable, "-m", "cribai", "score", "--json"]
    good = subprocess.run([*command, "5C 5D 5H JS", "5S"], capture_output=True, check=False)
    assert (good.returncode, good.stderr) == (0, b"")
    assert json.loads(good.stdout)["points"] == 29
    bad = subprocess.run([*command, "5C 5C"], capture_output=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert bad.stderr == (b"cribai: The card 5C is named twice in '5C 5C'; name each card once.\n")
