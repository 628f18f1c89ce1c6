"""`cribai replay`: records verified and shown, and one sentence for what is damaged."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from command import run
from cribai.cards import RANKS, parse_card, parse_cards
from cribai.events import EventKind
from cribai.game import Deal, Game
from cribai.records import record_game, write_records
from cribai.rules import PRESETS
from plain_presets import PLAIN

DEAL = Deal((parse_cards("6C 7D 8H JS 2C KD"), parse_cards("5C 5D TH 4S QC AD")), parse_card("JD"))
ENDINGS = (EventKind.WIN, EventKind.TIE)
SHOWN = """\
record 1: standard, seed 1, pair 0, game 0; player 0 greedy, player 1 random
deal 1, 58-107
  player 0, dealer, has 2C 6C 7D 8H JS KD
  player 1 has AD 4S 5C 5D TH QC
           player 1 toss AD QC
           player 0 toss 2C KD
           player 0 starter JD
   60-107  player 0 heels: heels for two
           player 1 lay 5C: five
   62-107  player 0 lay JS: fifteen for two
           player 1 lay 5D: twenty
           player 0 lay 8H: twenty-eight
   63-107  player 0 go point: go for one
           player 1 lay 4S: four
           player 0 lay 6C: ten
           player 1 lay TH: twenty
           player 0 lay 7D: twenty-seven
   64-107  player 0 last card: last card for one
   64-117  player 1 show hand 4S 5C 5D TH: fifteen two, fifteen four, fifteen six, \
fifteen eight, and a pair is ten
   71-117  player 0 show hand 6C 7D 8H JS: fifteen two, a run of three is five, \
and a pair is seven
   74-117  player 0 show crib AD QC 2C KD: a run of three is three
"""


def played(rules: str, seed: int) -> Game:
    game = Game(rules, seed=seed)
    return play_on(game)


def play_on(game: Game) -> Game:
    chance = random.Random(game.seed)
    while not game.is_over:
        game.push(chance.choice(game.legal_actions))
    return game


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A file of one game for each preset."""
    path = tmp_path / "games.jsonl"
    write_records(
        path,
        [record_game(game, ["random"] * game.rules.num_players) for game in
         (played(rules, seed) for seed, rules in enumerate(PLAIN))],
    )  # fmt: skip
    return path


def test_shows_deals_calls_and_scores(tmp_path: Path) -> None:
    game = Game(seed=1, first_dealer=0, deals=[DEAL], scores=(58, 107))
    for cards in ("QC AD", "2C KD", "5C", "JS", "5D", "8H", "4S", "6C", "TH", "7D"):
        game.push_cards(*parse_cards(cards))
    path = tmp_path / "games.jsonl"
    write_records(path, [record_game(play_on(game), ["greedy", "random"])])
    finished = run("replay", str(path))
    assert (finished.status, finished.stderr) == (0, "")
    lines = [line for line in finished.stdout.splitlines() if not line.endswith(": go")]
    assert "\n".join(lines).startswith(SHOWN)
    assert lines[len(SHOWN.splitlines())] == "deal 2, 74-117"
    outcome = game.outcome()
    name = ("player 0 (greedy)", "player 1 (random)")[outcome.winner]
    skunk = ("", ", a skunk", ", a double skunk")[max(outcome.skunks)]
    assert lines[-3:] == [
        f"{name} wins {outcome.scores[0]}-{outcome.scores[1]}{skunk}",
        "",
        "1 record verified",
    ]


def test_every_preset(games: Path) -> None:
    finished = run("replay", str(games))
    assert (finished.status, finished.stderr) == (0, "")
    for number, rules in enumerate(PLAIN, 1):
        assert f"record {number}: {rules}, seed {number - 1}, " in finished.stdout
    assert " (random) and player " in finished.stdout
    assert finished.stdout.endswith("\n5 records verified\n")


def test_quiet(games: Path) -> None:
    finished = run("replay", str(games), "--quiet")
    assert (finished.status, finished.stdout, finished.stderr) == (0, "5 records verified\n", "")


def test_json(games: Path) -> None:
    result = run("replay", str(games), "--json").json
    assert {key: result[key] for key in ("file", "records", "verified")} == {
        "file": str(games),
        "records": 5,
        "verified": True,
    }
    for seed, (rules, shown) in enumerate(zip(PLAIN.values(), result["games"], strict=True)):
        game = played(rules.name, seed)
        outcome = game.outcome()
        assert shown["rules"] == rules.to_dict()
        assert shown["seats"] == ["random"] * rules.num_players
        assert (shown["seed"], shown["pair"], shown["game"]) == (seed, 0, 0)
        assert shown["first_dealer"] == game.first_dealer
        assert (shown["winner"], shown["scores"]) == (outcome.winner, list(outcome.scores))
        assert shown["skunks"] == list(outcome.skunks)
        assert len(shown["deals"]) == len(game.dealt)
        events = [event for deal in shown["deals"] for event in deal["events"]]
        assert len(events) == len(game.events)
        assert [event["call"] for event in events] == [event.call for event in game.events]
        assert events[-1]["kind"] == "win"
        assert events[-1]["scores"] == list(outcome.scores)
        assert parse_card(shown["deals"][0]["starter"]) == game.dealt[0].starter
        assert shown["deals"][0]["dealer"] == game.first_dealer


def test_quiet_json(games: Path) -> None:
    result = run("replay", str(games), "--json", "-q").json
    assert result["records"] == len(result["games"]) == 5
    assert all("deals" not in game for game in result["games"])


@pytest.mark.slow
def test_variants(tmp_path: Path) -> None:
    path = tmp_path / "variants.jsonl"
    games = [played(name, 1) for name in PRESETS if name not in PLAIN]
    write_records(path, [record_game(game, ["random", "random"]) for game in games])
    text = run("replay", str(path)).stdout
    for game, shown in zip(games, run("replay", str(path), "--json").json["games"], strict=True):
        assert all(str(event) in text for event in game.events if event.kind not in ENDINGS)
        events = [event for deal in shown["deals"] for event in deal["events"]]
        assert events[-1]["scores"] == shown["scores"] == list(game.scores)
        assert all(min(event["scores"]) >= 0 for event in events)
        named = [None if event.rank is None else RANKS[event.rank] for event in game.events]
        assert [event["rank"] for event in events] == named
        assert any(named) == game.rules.wild_kings


@pytest.mark.parametrize("options", [(), ("--json",), ("--quiet",)])
def test_damage(games: Path, options: tuple[str, ...]) -> None:
    lines = games.read_text().splitlines()
    values = json.loads(lines[1])
    values["deals"][1]["actions"][2] = 0
    games.write_text("\n".join([lines[0], json.dumps(values), *lines[2:]]))
    finished = run("replay", str(games), *options)
    assert finished.complaint.startswith(
        f"{games}, line 2: Deal 2, decision 3: Action 0 is illegal; the legal ones are ["
    )
    if options:
        assert finished.stdout == ""
    else:
        assert "verified" not in finished.stdout


def test_truncated_file(games: Path) -> None:
    games.write_bytes(games.read_bytes()[:-20])
    assert run("replay", str(games), "-q").complaint.startswith(
        f"{games}, line 5: The record is not JSON ("
    )


def test_no_records(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert run("replay", str(empty)).complaint == (
        f"{empty} holds no records; name a file of game records."
    )


def test_no_file(tmp_path: Path) -> None:
    for path, why in (
        (tmp_path / "missing.jsonl", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        assert run("replay", str(path), "--json").complaint == (
            f"Cannot use the file or folder {str(path)!r}: {why}; mend the path or its permissions."
        )


@pytest.mark.slow
def test_as_a_process(games: Path) -> None:
    command = [sys.executable, "-m", "cribai", "replay", "--json"]
    good = subprocess.run([*command, str(games)], capture_output=True, check=False)
    assert (good.returncode, good.stderr) == (0, b"")
    assert json.loads(good.stdout)["verified"] is True
    bad = subprocess.run([*command, "missing.jsonl"], capture_output=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert bad.stderr.startswith(b"cribai: Cannot use the file or folder 'missing.jsonl': ")
    assert bad.stderr.count(b"\n") == 1
