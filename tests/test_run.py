"""Tournaments from configuration to results: what is checked, forfeited, and left out."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cribai import AgentError, ConfigError
from cribai.tournament.run import check, most_games, run_tournament, with_agents
from cribai.tournament.store import Store
from external_bots import BOT
from tournaments import make_config, play

pytestmark = pytest.mark.slow

PYTHON = [sys.executable, "-I", "-S"]


@pytest.fixture
def bot(tmp_path: Path) -> Any:
    """Makes the spec of the bot of the external tests with a fault."""
    path = tmp_path / "bot.py"
    path.write_text(BOT)

    def spec(fault: str, **options: Any) -> str:
        values = ",".join(f"{k}={v}" for k, v in ({"batch": 4, "restarts": 1} | options).items())
        return f"external[{values}]:{shlex.join([*PYTHON, str(path), fault, ''])}"

    return spec


def test_all_that_are_installed() -> None:
    config = with_agents(make_config(agents=[]))
    assert config.agents == (
        *("expectimax", "forgetful", "greedy", "policy", "policy+search", "random"),
    )
    assert with_agents(make_config()).agents == ("random", "greedy")
    assert most_games(config) == 15 * 40


def test_what_cannot_be_played_is_refused_before_it_begins(tmp_path: Path, bot: Any) -> None:
    for changes, error, words in (
        ({"agents": ["random", "nobody"]}, AgentError, "Unknown agent 'nobody'"),
        ({"anchor": "nobody"}, ConfigError, "'nobody' does not play; name one of random, greedy"),
        ({"agents": ["random", bot("one by one")]}, AgentError, "I know the standard game only"),
        ({"agents": ["random", bot("dying at start")]}, AgentError, "SomeError: no luck today"),
    ):
        with pytest.raises(error, match=words):
            check(make_config(**changes))
    check(make_config(anchor="greedy"))
    assert [path.name for path in tmp_path.iterdir()] == ["bot.py"]


def test_all_that_plays_is_told(tmp_path: Path) -> None:
    told: list[Any] = []

    class Progress:
        def games(self, number: int) -> None:
            told.append(number)

        def status(self, text: str) -> None:
            told.append(text)

    config = make_config(format="sprt", pairs=300, chunk=5)
    store = Store.create(config.model_copy(update={"out": tmp_path}))
    tournament = run_tournament(config, store, Progress())
    games = sum(item for item in told if isinstance(item, int))
    assert games == 2 * tournament.played[0].num_pairs
    texts = [item for item in told if isinstance(item, str)]
    assert texts
    assert all(text.startswith("LLR ") for text in texts)
    # What was kept is told as well.
    told.clear()
    run_tournament(config, store, Progress())
    assert sum(item for item in told if isinstance(item, int)) == games


def test_the_hash_is_of_the_games_that_count(tmp_path: Path) -> None:
    hashes = {
        play(make_config(**changes), tmp_path / str(number))[0].hash
        for number, changes in enumerate(({}, {"seed": 1}, {"pairs": 21}, {"rules": "short"}))
    }
    assert len(hashes) == 4


FORFEITS = [
    ("silent", {"timeout": 8, "abandoned": 12}),
    ("dying", {"crash": 8, "abandoned": 12}),
    ("not JSON", {"garbled": 8, "abandoned": 12}),
    ("wrong length", {"garbled": 8, "abandoned": 12}),
]


@pytest.mark.parametrize(("fault", "reasons"), FORFEITS, ids=[row[0] for row in FORFEITS])
@pytest.mark.parametrize("rules", [None, "three_player"])
def test_hostile_bots_lose_and_the_tournament_ends(
    tmp_path: Path, bot: Any, fault: str, reasons: dict[str, int], rules: str | None
) -> None:
    changes: dict[str, Any] = {} if rules is None else {"rules": rules}
    spec = bot(fault, limit=0.03 if fault == "silent" else 5)
    config = make_config(agents=["random", spec], pairs=10, **changes)
    tournament, summary = play(config, tmp_path / "run")
    (match,) = summary["matches"]
    assert match["forfeits"] == [0, 20]
    assert match["win_rate"] == 1
    assert match["skunk_rate"] == 0
    assert match["forfeit_reasons"] == [{}, reasons]
    firsts = match["first_failures"][1]
    assert firsts.keys() == reasons.keys()
    assert all(what.startswith("The external bot ") for what in firsts.values())
    assert [row["forfeits"] for row in summary["overall"]] == [0, 20]
    assert summary["failed"] == []
    games = Store(tmp_path / "run").games(tournament.played[0].chunks[0])
    assert games["forfeit"].tolist() == [1] * 20
    assert games["a_won"].all()


def test_illegal_actions_forfeit_their_games_alone(tmp_path: Path, bot: Any) -> None:
    path = tmp_path / "bot.py"
    spec = bot("")
    path.write_text(
        BOT.replace(
            'view["legal_actions"][0]',
            '999 if view["game"] // 2 == 3 else view["legal_actions"][0]',
        )
    )
    games_file = tmp_path / "games.jsonl"
    config = make_config(agents=[spec, "random"], pairs=10, chunk=4, games_file=games_file)
    tournament, summary = play(config, tmp_path / "run")
    (match,) = summary["matches"]
    assert match["forfeits"] == [2, 0]
    assert match["forfeit_reasons"] == [{"illegal": 2}, {}]
    assert re.search("game [67], deal 0, decision [01]", match["first_failures"][0]["illegal"])
    store = Store(tmp_path / "run")
    games = np.concatenate([store.games(chunk) for chunk in tournament.counted(0)])
    assert np.flatnonzero(games["forfeit"] == 0).tolist() == [6, 7]
    assert games["a_won"][6:8].tolist() == [0, 0]
    # Forfeited games have no record, and a chunk is whole without it.
    assert len(list(store.record_lines(tournament.counted(0)))) == 18
    again = run_tournament(config, store)
    assert again.games_per_second == 0
    assert again.hash == tournament.hash


def test_a_chunk_of_forfeits_alone_is_kept(tmp_path: Path, bot: Any) -> None:
    config = make_config(
        agents=["random", bot("dying", restarts=0)], pairs=4, games_file=tmp_path / "games.jsonl"
    )
    tournament, _ = play(config, tmp_path / "run")
    store = Store(tmp_path / "run")
    assert list(store.record_lines(tournament.counted(0))) == []
    assert run_tournament(config, store).games_per_second == 0


def test_a_bot_that_later_does_not_start_forfeits(tmp_path: Path, bot: Any) -> None:
    path = tmp_path / "bot.py"
    spec = bot("")
    starts = tmp_path / "starts"
    starts.mkdir()
    path.write_text(
        f"import os, pathlib, sys\n"
        f"starts = pathlib.Path({str(starts)!r})\n"
        f"(starts / str(os.getpid())).touch()\n"
        f"if len(list(starts.iterdir())) > 3: sys.exit('Error: enough')\n{BOT}"
    )
    config = make_config(agents=["random", spec], pairs=30, chunk=10)
    check(config)  # one start, another before the clock is started, the third is the first chunk's
    _, summary = play(config, tmp_path / "run")
    (match,) = summary["matches"]
    assert match["forfeits"] == [0, 40]
    assert match["forfeit_reasons"][1]["crash"] > 0
    assert "Error: enough" in match["first_failures"][1]["crash"]


def test_forfeits_of_games_that_came_too_late_do_not_count(tmp_path: Path, bot: Any) -> None:
    config = make_config(
        agents=["random", bot("dying", restarts=0)],
        format="sprt",
        pairs=200,
        chunk=5,
        **{"sprt.h1": 0.9},
    )
    tournament, summary = play(config, tmp_path / "run")
    (match,) = summary["matches"]
    assert 2 * tournament.played[0].num_pairs > match["games"]
    assert sum(match["forfeit_reasons"][1].values()) == match["forfeits"][1] == match["games"]


@pytest.mark.parametrize("name", ["Raising", "Quitting"])
def test_failures_are_told_and_the_rest_counts(tmp_path: Path, name: str) -> None:
    agents = ["greedy", "random", f"hostile_agents:{name}:pair=13"]
    config = make_config(agents=agents, chunk=5)
    tournament, summary = play(config, tmp_path)
    assert [match["games"] for match in summary["matches"]] == [40, 30, 30]
    assert summary["games"] == 100
    assert len(summary["failed"]) == 2
    assert "pairs 10 to 14, failed 2 times" in summary["failed"][0]
    assert [len(list(tournament.counted(match))) for match in range(3)] == [4, 3, 3]
    assert len(summary["ratings"]) == 3


def test_a_match_that_could_not_be_played_has_no_results(tmp_path: Path) -> None:
    agents = ["greedy", "random", "hostile_agents:Raising:pair=0"]
    _, summary = play(make_config(agents=agents), tmp_path)
    assert [match["games"] for match in summary["matches"]] == [40, 0, 0]
    assert summary["ratings"] == []
    assert len(summary["failed"]) == 2
