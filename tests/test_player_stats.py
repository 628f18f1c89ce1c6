"""What each agent did, against an oracle that goes through results and records game by game."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import command
import reference
from cribai import PRESETS, STANDARD, make_agent
from cribai.cards import card_text, cards_text
from cribai.records import GameRecord, read_records
from cribai.tournament.games_file import write_games_file
from cribai.tournament.hands import Hands, exact_scores
from cribai.tournament.match import play_pairs
from cribai.tournament.player_stats import longest_run, player_page
from cribai.tournament.run import Tournament, read_tournament, run_tournament
from cribai.tournament.schedule import labels
from cribai.tournament.store import Store
from tournaments import BRIEF_OPTIONS, make_config

pytestmark = pytest.mark.slow

AGENTS = ["random", "greedy", "random"]
PONE = {"pegging": 0, "hand": 1}
DEALER = {"pegging": 2, "hand": 3, "crib": 4, "heels": 5}
"""Columns of the tallies of results, by role."""


@dataclass
class Seen:
    """What the oracle has counted of an agent, over all or against one opponent."""

    counts: Counter[str] = field(default_factory=Counter)
    points: Counter[int] = field(default_factory=Counter)
    times: Counter[int] = field(default_factory=Counter)
    streak: int = 0
    longest: int = 0
    hands: Counter[int] = field(default_factory=Counter)
    best: tuple[tuple[int, ...], int, int] = ((), -1, -1)

    def add_result(self, result: Any, side: int) -> None:
        self.counts["games"] += 1
        level = int(result["skunk"])
        if result["winner"] == side:
            self.counts["wins"] += 1
            self.counts["skunks_given"] += level >= 1
            self.counts["double_skunks_given"] += level == 2
            self.streak += 1
            self.longest = max(self.longest, self.streak)
        else:
            self.counts["losses"] += 1
            self.counts["skunks_taken"] += level >= 1
            self.counts["double_skunks_taken"] += level == 2
            self.streak = 0
        self.counts["deals"] += int(result["num_deals"])
        for source in range(6):
            self.points[source] += int(result["points"][side, source])
            self.times[source] += int(result["times"][side, source])

    def add_hand(self, cards: tuple[int, ...], starter: int) -> None:
        points = reference.show_points(cards, [starter], is_crib=False)
        self.hands[points] += 1
        if points > self.best[2]:
            self.best = (cards, starter, points)

    def figures(self) -> dict[str, Any]:
        names = ("games", "wins", "losses", "ties", "skunks_given", "double_skunks_given")
        names += ("skunks_taken", "double_skunks_taken")
        roles = {"dealer": DEALER, "pone": PONE}
        by_role = {
            role: {name: self.points[place] / self.times[place] for name, place in places.items()}
            for role, places in roles.items()
        }
        for parts in by_role.values():
            parts["total"] = sum(parts.values())
        seen = sum(self.hands.values())
        scores = [self.hands[score] for score in range(max(30, *(s + 1 for s in self.hands)))]
        cards, starter, points = self.best
        return {name: self.counts[name] for name in names} | {
            "longest_streak": self.longest,
            "points_per_deal": sum(self.points.values()) / self.counts["deals"],
            "points_by_role": by_role,
            "hands": {
                "seen": seen,
                "mean": sum(score * number for score, number in self.hands.items()) / seen,
                "scores": scores,
                "best": {
                    "cards": cards_text(cards),
                    "starter": card_text(starter),
                    "points": points,
                },
            },
        }


def side_of(record: GameRecord, seat: int) -> int:
    """Which agent of the match, 0 or 1, had a seat."""
    sides = record.rules.num_sides
    if sides == 2:
        return (seat + record.game) % 2
    is_lone = seat == record.pair % sides
    return int(is_lone) if record.game else int(not is_lone)


def kept_hands(record: GameRecord) -> list[tuple[int, tuple[int, ...], int]]:
    """Side, kept cards and starter of every hand, deal by deal and seat by seat."""
    rules = record.rules
    tosses = list(combinations(range(rules.cards_dealt), rules.cards_tossed))
    found = []
    for number, deal in enumerate(record.deals):
        dealer = (record.first_dealer + number) % rules.num_players
        order = [(dealer + 1 + turn) % rules.num_players for turn in range(rules.num_players)]
        for seat, hand in enumerate(deal.cards.hands):
            tossed = tosses[deal.actions[order.index(seat)]]
            kept = tuple(c for place, c in enumerate(sorted(hand)) if place not in tossed)
            found.append((side_of(record, seat), kept, deal.cards.starter))
    return found


def keep(folder: Path, **changes: Any) -> tuple[Store, Tournament]:
    config = make_config(**{"agents": AGENTS, "rules": "standard", "pairs": 12} | changes)
    store = Store.create(config.model_copy(update={"out": folder}))
    return store, run_tournament(config, store)


def without_agent(figures: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in figures.items()
        if name not in ("agent", "opponent", "opponents")
    }


PLAIN = [name for name, rules in PRESETS.items() if not rules.is_varied]


@pytest.mark.parametrize("rules", [*PLAIN, "five_kept_of_54"])
def test_figures_are_those_of_the_games(tmp_path: Path, rules: str) -> None:
    own = replace(STANDARD, name="five_kept_of_54", cards_dealt=7, num_jokers=2)
    setting = rules if rules in PRESETS else own.to_dict()
    path = tmp_path / "games.jsonl"
    store, tournament = keep(
        tmp_path / "run", rules=setting, chunk=5, games_file=path, pairs=14, seed=3
    )
    write_games_file(path, store, tournament)
    names = labels(AGENTS)
    seen: dict[tuple[str, str | None], Seen] = defaultdict(Seen)
    records = iter(read_records(path))
    for pairing in combinations(range(3), 2):
        a, b = (make_agent(AGENTS[entrant]) for entrant in pairing)
        results = play_pairs(a, b, tournament.config.rules, seed=3, num_pairs=14)
        for own_side, other_side in ((0, 1), (1, 0)):
            of = names[pairing[own_side]]
            seen[of, None].streak = 0  # no streak goes on in the next match
            for result in results:
                seen[of, None].add_result(result, own_side)
                seen[of, names[pairing[other_side]]].add_result(result, own_side)
        for _ in results:
            for side, cards, starter in kept_hands(next(records)):
                seen[names[pairing[side]], None].add_hand(cards, starter)
                seen[names[pairing[side]], names[pairing[1 - side]]].add_hand(cards, starter)
    assert next(records, None) is None

    told: list[int] = []
    page = player_page(tournament, store, told.append)
    assert sum(told) == tournament.num_games == 3 * 28
    page_json = page.to_dict()
    assert json.loads(json.dumps(page_json, allow_nan=False)) == page_json
    assert [row["agent"] for row in page_json["agents"]] == names
    for row in page_json["agents"]:
        assert without_agent(row) == seen[row["agent"], None].figures()
        others = [name for name in names if name != row["agent"]]
        assert [part["opponent"] for part in row["opponents"]] == others
        for part in row["opponents"]:
            assert without_agent(part) == seen[row["agent"], part["opponent"]].figures()
        assert sum(row["hands"]["scores"]) == row["hands"]["seen"]
    is_usual = tournament.config.rules.cards_kept == 4 and tournament.config.rules.num_jokers == 0
    assert (page.exact_scores is not None) == is_usual


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["two_starters", "two_cribs"])
def test_hands_of_varied_rules_are_not_read(tmp_path: Path, rules: str) -> None:
    path = tmp_path / "games.jsonl"
    store, tournament = keep(
        tmp_path / "run", rules=rules, games_file=path, agents=["random", "greedy"]
    )
    page = player_page(tournament, store)
    assert not page.is_recorded
    assert page.exact_scores is None
    for player in page.agents:
        assert player.overall.hands is None
        assert player.overall.games == player.overall.wins + player.overall.losses + (
            player.overall.ties
        )


def test_skunks_are_given_and_taken(tmp_path: Path) -> None:
    """What one gives the other takes, and this happens both ways."""
    harsh = {"skunk_line": 110, "double_skunk_line": 90}
    store, tournament = keep(tmp_path, agents=["random", "random"], pairs=60, rules=harsh)
    one, other = (player.overall for player in player_page(tournament, store).agents)
    assert one.skunks_given == other.skunks_taken > other.double_skunks_taken > 0
    assert one.skunks_taken == other.skunks_given > 0
    assert one.double_skunks_given == other.double_skunks_taken
    assert (one.wins, one.losses) == (other.losses, other.wins)


def test_longest_run() -> None:
    generator = np.random.default_rng(1)
    for length in range(40):
        won = generator.integers(3, size=length) > 0
        runs = "".join("x" if win else " " for win in won).split()
        assert longest_run(won) == max(map(len, runs), default=0)


@pytest.mark.parametrize(
    "changes",
    [
        {"chunk": 5},
        {"until": 0.2, "pairs": 200, "chunk": 4},
        {"format": "sprt", "agents": AGENTS[:2], "pairs": 500, "chunk": 3},
        {"focus": True, "pairs": 40, "chunk": 4},
        {"format": "acc", "acc": {"games": 8, "best_of": 3}},
        {"format": "gauntlet"},
    ],
    ids=lambda changes: "-".join(map(str, changes)),
)
def test_a_run_is_read_as_it_was_played(tmp_path: Path, changes: dict[str, Any]) -> None:
    short = {"target": 31, "skunk_line": 20, "double_skunk_line": 10}
    store, tournament = keep(tmp_path, **({"rules": short} | changes))
    _, config = Store.open(tmp_path)
    again = read_tournament(config, store)
    assert again.hash == tournament.hash
    assert player_page(again, store) == player_page(tournament, store)
    page = player_page(again, store)
    for player in page.agents:
        met = player.by_opponent.values()
        for name in ("games", "wins", "losses", "skunks_given", "skunks_taken"):
            assert getattr(player.overall, name) == sum(getattr(part, name) for part in met)
        assert player.overall.longest_streak == max(part.longest_streak for part in met)
    assert sum(player.overall.games for player in page.agents) == 2 * again.num_games


def test_reading_changes_nothing(tmp_path: Path) -> None:
    store, _ = keep(tmp_path, games_file=tmp_path / "games.jsonl")
    draft = tmp_path / "chunks" / ".draft"
    draft.touch()  # of a run that is writing at this moment
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    _, config = Store.open(tmp_path)
    player_page(read_tournament(config, store), store)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_missing_chunk_ends_a_streak(tmp_path: Path) -> None:
    # The second agent wins nearly all games.
    store, _ = keep(tmp_path, agents=["random", "greedy"], pairs=30, chunk=10)
    (store.folder / "results.json").touch()  # It has ended.
    _, config = Store.open(tmp_path)

    def streak() -> int:
        tournament = read_tournament(config, store)
        return player_page(tournament, store).agents[1].overall.longest_streak

    assert streak() > 40
    (tmp_path / "chunks" / "0000-00000010-10.npz").unlink()
    assert 10 < streak() <= 20
    assert read_tournament(config, store).num_missing == 1


def test_exact_scores() -> None:
    exact = exact_scores(STANDARD)
    assert exact is not None
    assert len(exact) == 30
    assert sum(exact) == 12_994_800
    mean = sum(score * number for score, number in enumerate(exact)) / sum(exact)
    assert mean == pytest.approx(4.769152, abs=5e-7)
    assert exact_scores(PRESETS["four_player"]) == exact
    assert exact_scores(PRESETS["five_card"]) is None
    assert exact_scores(replace(STANDARD, num_jokers=1)) is None
    assert exact_scores(replace(STANDARD, fifteen=16)) != exact


def test_hands_add_up() -> None:
    generator = np.random.default_rng(2)
    cards = np.array([generator.permutation(52)[:5] for _ in range(300)], np.int8)
    hands, starters = np.sort(cards[:, :4], axis=1), cards[:, 4].copy()
    whole = Hands.from_cards(hands, starters, STANDARD)
    parts = [
        Hands.from_cards(hands[part], starters[part], STANDARD)
        for part in (slice(0, 70), slice(70, 70), slice(70, 300))
    ]
    assert parts[0] + parts[1] + parts[2] == whole
    assert parts[1] == Hands()
    assert (parts[1].seen, parts[1].mean, parts[1].best) == (0, 0, None)


def test_of_equal_hands_the_first_is_the_best() -> None:
    one, other = (
        Hands.from_cards(np.array([hand], np.int8), np.array([starter], np.int8), STANDARD)
        for hand, starter in (([16, 17, 18, 43], 19), ([16, 17, 19, 42], 18))
    )
    assert (one.points_of_best, other.points_of_best) == (29, 29)
    assert (one + other).best == one.best != other.best == (other + one).best


# ---------------------------------------------------------------------------------- the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty present folder; no command says a word on compilation."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cribai.cli.compiling.announce_compiling", lambda *_: None)
    return tmp_path


def play(*words: str, record: bool = True) -> dict[str, Any]:
    games_file = ("--games-file", "games.jsonl") if record else ()
    return command.run("tournament", *words, "--out", "here", *games_file, "--json").json


@pytest.mark.usefixtures("folder")
def test_json() -> None:
    results = play(*AGENTS, "--pairs", "6")
    page = command.run("stats", "here", "--json").json
    assert {key: page[key] for key in ("recorded", "exact_scores", "agents")} == results["players"]
    assert (page["folder"], page["rules"], page["games"]) == ("here", "standard", 36)
    assert (page["finished"], page["missing_chunks"], page["recorded"]) == (True, 0, True)
    assert sum(page["exact_scores"]) == 12_994_800
    only = command.run("stats", "here", "--agent", "random#2", "--json").json
    assert only["agents"] == page["agents"][2:]


@pytest.mark.usefixtures("folder")
def test_tables() -> None:
    play(*AGENTS, "--pairs", "6")
    shown = command.run("stats", "here")
    assert (shown.status, shown.stderr) == (0, "")
    assert max(map(len, shown.stdout.splitlines())) <= 80
    words = " ".join(shown.stdout.split())
    agents = command.run("stats", "here", "--json").json["agents"]
    for row in agents:
        cells = (row["games"], row["wins"], row["losses"], row["ties"], row["longest_streak"])
        assert f"{row['agent']} {' '.join(map(str, cells))}" in words
        hands = row["hands"]
        assert f"{hands['seen']} {hands['mean']:.2f} {hands['best']['cards']}" in words
        for points in row["points_by_role"].values():
            assert f"{points['total']:.2f}" in words
    assert "7.76471%" in words  # hands of no points
    assert "0.00003%" in words  # hands of 29
    assert "not ended" not in words
    lines = command.run("stats", "here", "--agent", "greedy").stdout.splitlines()
    assert any(line.startswith("greedy ") for line in lines)
    assert not any(line.startswith("random") for line in lines)


def test_hands_of_another_size(folder: Path) -> None:
    play("greedy", "random", "--pairs", "6", "--rules", "five_card")
    assert command.run("stats", "here", "--json").json["exact_scores"] is None
    shown = command.run("stats", "here").stdout
    assert "hand scores" in shown
    assert "exactly" not in shown
    assert "every hand with every starter" not in (folder / "here" / "report.html").read_text()


def test_without_records(folder: Path) -> None:
    play("greedy", "random", *BRIEF_OPTIONS, "--pairs", "6", record=False)
    line = "The best hand and the histogram of hands need recorded games: play with --games-file"
    page = command.run("stats", "here", "--json").json
    assert (page["recorded"], page["exact_scores"]) == (False, None)
    assert [row["hands"] for row in page["agents"]] == [None, None]
    shown = command.run("stats", "here")
    assert (shown.status, shown.stderr) == (0, "")
    assert line in " ".join(shown.stdout.split())
    assert "hand scores" not in shown.stdout
    for name in ("summary.md", "report.html"):
        assert line in (folder / "here" / name).read_text()


def test_report(folder: Path) -> None:
    results = play("greedy", "random", "--pairs", "6")
    hands = results["players"]["agents"][0]["hands"]
    page = (folder / "here" / "report.html").read_text()
    assert '<h2 id="players">' in page
    assert f"Scores of the hands that greedy kept, mean {hands['mean']:.2f}" in page
    text = (folder / "here" / "summary.md").read_text()
    best = hands["best"]
    cells = f"| {hands['mean']:.2f} | {best['points']}: {best['cards']}, {best['starter']} |"
    assert cells in text


def test_an_unfinished_run(folder: Path) -> None:
    play(*AGENTS, *BRIEF_OPTIONS, "--pairs", "12", "--set", "chunk=4")
    run_folder = folder / "here"
    (run_folder / "results.json").unlink()
    lost = [*run_folder.glob("chunks/0002-*"), *run_folder.glob("chunks/0001-00000004*")]
    for path in lost:
        path.unlink()
    page = command.run("stats", "here", "--json").json
    assert (page["finished"], page["games"]) == (False, 40)
    assert [row["games"] for row in page["agents"]] == [40, 24, 16]
    shown = " ".join(command.run("stats", "here").stdout.split())
    assert "The run has not ended" in shown
    assert "cribai tournament --resume here goes on" in shown
    for path in run_folder.glob("chunks/*"):
        path.unlink()
    complaint = command.run("stats", "here").complaint
    assert "'here' has played no games yet" in complaint


def test_damaged_chunks_are_left_out(folder: Path) -> None:
    play("greedy", "random", *BRIEF_OPTIONS, "--pairs", "12", "--set", "chunk=4")
    path = folder / "here" / "chunks" / "0000-00000004-4.jsonl"
    path.write_text(path.read_text().replace("5", "6"))
    page = command.run("stats", "here", "--json").json
    assert (page["finished"], page["missing_chunks"], page["games"]) == (True, 1, 16)
    assert "1 chunks failed or are damaged" in command.run("stats", "here").stdout


def test_bad_input(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "other").mkdir()
    (folder / "other" / "config.toml").write_text("colour = 3\n")
    for name in ("none", "empty"):
        complaint = command.run("stats", name).complaint
        assert f"The folder '{name}' holds no run; name one that has a config.toml." == complaint
    assert "colour" in command.run("stats", "other").complaint
    play(*AGENTS, *BRIEF_OPTIONS, "--pairs", "3", record=False)
    complaint = command.run("stats", "here", "--agent", "gredy").complaint
    assert complaint == "The agent 'gredy' did not play; name one of random, greedy, random#2."
