"""The congress's tournament: standings, the knock-out, and matches decided game by game."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from cribai.tournament.acc import AccPlan, Meeting, Standing, summarize_acc
from cribai.tournament.chunks import Chunk, Failure, Outcome, Played
from cribai.tournament.plans import make_plan
from tournaments import make_config, of_games, outcome, play, with_ties

AGENTS = ["random", "greedy"] * 4
GAMES = 2


def make(number: int, **settings: Any) -> AccPlan:
    values = {f"acc.{key}": value for key, value in ({"games": GAMES} | settings).items()}
    plan = make_plan(make_config(agents=AGENTS[:number], format="acc", **values))
    assert isinstance(plan, AccPlan)
    return plan


def qualify(plan: AccPlan, results: dict[tuple[int, int], Outcome]) -> list[Played]:
    """Plays the qualifying round; where nothing else is said, the lower place wins twice."""
    played = [Played() for _ in plan.pairings]
    for chunk in plan.next_chunks(played):
        pairing = plan.pairings[chunk.match]
        played[chunk.match].add(chunk, results.get((pairing.a, pairing.b), outcome([2])))
    return played


def knock_out(
    plan: AccPlan, played: list[Played], games: dict[tuple[int, int], str]
) -> list[list[tuple[int, int]]]:
    """Plays the knock-out; a match's games are said by who won each, and else the lower place."""
    rounds = []
    while chunks := plan.next_chunks(played):
        played += [Played() for _ in range(len(plan.pairings) - len(played))]
        rounds.append([tuple(plan.pairings[chunk.match]) for chunk in chunks])
        for chunk in chunks:
            a, b = plan.pairings[chunk.match]
            played[chunk.match].add(chunk, won(games.get((a, b), str(a) * 6), a))
    return rounds


def won(winners: str, a: int) -> Outcome:
    return of_games([(121, 100) if winner == str(a) else (100, 121) for winner in winners])


def seeds(plan: AccPlan, played: Sequence[Played]) -> list[int]:
    return [standing.entrant for standing in plan.standings(played)]


def test_points_by_hand() -> None:
    plan = make(3)
    played = qualify(
        plan,
        {
            (0, 1): of_games([(121, 90), (100, 121)]),  # a skunk and a plain loss
            (0, 2): of_games([(55, 121), (121, 120)]),  # lost by a double skunk, and won by a point
            (1, 2): of_games([(121, 91), (121, 91)]),
        },
    )
    assert plan.standings(played) == [
        Standing(entrant=1, points=6, wins=3, spread=-31 + 21 + 60, games=4),
        Standing(entrant=0, points=5, wins=2, spread=31 - 21 - 66 + 1, games=4),
        Standing(entrant=2, points=3, wins=1, spread=66 - 1 - 60, games=4),
    ]


def test_ties_are_broken_by_games_then_by_spread() -> None:
    # Two skunks are 6 points as are three wins; the three wins go before.
    plan = make(4, games=6)
    plain, skunk, loss, flat = (121, 100), (121, 80), (100, 121), (80, 121)
    played = qualify(
        plan,
        {
            (0, 1): of_games([skunk, skunk, loss, loss, loss, flat]),
            (0, 2): of_games([loss] * 6),
            (0, 3): of_games([loss] * 6),
            (1, 2): of_games([loss] * 6),
            (1, 3): of_games([loss] * 6),
            (2, 3): of_games([plain, plain, plain, loss, loss, (120, 121)]),
        },
    )
    table = {row.entrant: row for row in plan.standings(played)}
    assert (table[0].points, table[0].wins) == (6, 2)
    assert (table[1].points, table[1].wins) == (3 * 2 + 3, 4)
    # Entrants 2 and 3 have won 15 games each and 30 points; 3 lost by less.
    assert table[2][1:3] == table[3][1:3] == (30, 15)
    assert table[2].spread > table[3].spread
    assert seeds(plan, played) == [2, 3, 1, 0]


@pytest.mark.parametrize(("rules", "sign"), [("short", 1), ("lowball", -1)])
def test_spread_in_lowball_is_what_the_others_have_more(rules: str, sign: int) -> None:
    plan = make_plan(make_config(agents=AGENTS[:2], rules=rules, format="acc", **{"acc.games": 2}))
    assert isinstance(plan, AccPlan)
    played = qualify(plan, {(0, 1): of_games([(30, 60), (60, 50)])})
    spreads = {row.entrant: row.spread for row in plan.standings(played)}
    assert spreads == {0: -20 * sign, 1: 20 * sign}


def tied(winners: str, a: int) -> Outcome:
    """Games by who won each, "-" for nobody."""
    return with_ties([None if winner == "-" else winner == str(a) for winner in winners])


def test_a_tie_gives_no_game_points() -> None:
    plan = make(3)
    played = qualify(
        plan,
        {(0, 1): tied("-0", 0), (0, 2): tied("--", 0), (1, 2): tied("1-", 1)},
    )
    assert plan.standings(played) == [
        Standing(entrant=0, points=2, wins=1, spread=11, games=4),
        Standing(entrant=1, points=2, wins=1, spread=0, games=4),
        Standing(entrant=2, points=0, wins=0, spread=-11, games=4),
    ]


@pytest.mark.parametrize(
    ("winners", "games", "winner"),
    [
        ("-00-01", (3, 0), 0),
        ("1-10--", (1, 2), 1),
        ("10----", (1, 1), 0),
        ("------", (0, 0), 0),
        ("---111", (0, 3), 1),
    ],
)
def test_tied_games_of_a_match_count_for_nobody(
    winners: str, games: tuple[int, int], winner: int
) -> None:
    plan = make(2)
    played = qualify(plan, {})
    (chunk,) = plan.next_chunks(played)
    played.append(Played())
    played[1].add(chunk, tied(winners, 0))
    assert plan.bracket(played) == [[Meeting(0, 1, games, winner)]]


def test_more_games_go_before_more_spread() -> None:
    plan = make(3, games=6)
    played = qualify(
        plan,
        {
            (0, 1): of_games([(121, 80), (121, 80)] + [(120, 121)] * 3 + [(120, 121)]),
            (0, 2): of_games([(121, 100)] * 6),
            (1, 2): of_games([(121, 100)] * 5 + [(100, 121)]),
        },
    )
    table = {row.entrant: row for row in plan.standings(played)}
    assert (table[0].points, table[1].points) == (18, 18)
    assert (table[0].wins, table[1].wins) == (8, 9)
    assert table[0].spread > table[1].spread
    assert seeds(plan, played) == [1, 0, 2]


@pytest.mark.parametrize(
    ("number", "wanted", "qualifiers"),
    [(2, 0, 2), (3, 0, 2), (4, 0, 2), (5, 0, 4), (8, 0, 4), (8, 8, 8), (4, 4, 4), (5, 2, 2)],
)
def test_qualifiers(number: int, wanted: int, qualifiers: int) -> None:
    plan = make(number, qualifiers=wanted)
    assert plan.num_qualifiers == qualifiers
    pairs = number * (number - 1) // 2
    assert plan.most_games() == pairs * GAMES + (qualifiers - 1) * 6
    played = qualify(plan, {})
    knock_out(plan, played, {})
    assert sum(len(match.winners[0]) for match in played) == plan.most_games()


def test_the_first_meets_the_last() -> None:
    plan = make(8, qualifiers=8)
    # The higher the place, the better: 7 is first.
    played = qualify(plan, {pair: outcome([0]) for pair in combinations(range(8), 2)})
    assert seeds(plan, played) == [7, 6, 5, 4, 3, 2, 1, 0]
    upset = {(0, 7): "000777", (1, 6): "666111", (2, 5): "555222", (3, 4): "444333"}
    rounds = knock_out(plan, played, upset)
    # The last seed beats the first, and takes the last place of those who are left.
    assert rounds == [[(0, 7), (1, 6), (2, 5), (3, 4)], [(0, 6), (4, 5)], [(0, 4)]]
    bracket = plan.bracket(played)
    assert bracket[0] == [
        Meeting(7, 0, (0, 3), 0),
        Meeting(6, 1, (3, 0), 6),
        Meeting(5, 2, (3, 0), 5),
        Meeting(4, 3, (3, 0), 4),
    ]
    assert bracket[1] == [Meeting(6, 0, (0, 3), 0), Meeting(5, 4, (0, 3), 4)]
    assert bracket[2] == [Meeting(4, 0, (0, 3), 0)]
    assert plan.next_chunks(played) == []
    labels = [f"agent {place}" for place in range(8)]
    summary = summarize_acc(plan, played, labels)
    assert summary["champion"] == "agent 0"
    assert summary["qualifiers"] == 8
    assert summary["standings"][0]["agent"] == "agent 7"
    assert summary["knock_out"][2] == [
        {"a": "agent 4", "b": "agent 0", "games": [0, 3], "winner": "agent 0"}
    ]


@pytest.mark.parametrize(
    ("winners", "games", "winner"),
    [
        ("000111", (3, 0), 0),
        ("110001", (3, 2), 0),
        ("010110", (2, 3), 1),
        ("111000", (0, 3), 1),
        ("011010", (2, 3), 1),
    ],
)
def test_the_first_to_win_three_wins(winners: str, games: tuple[int, int], winner: int) -> None:
    plan = make(2)
    played = qualify(plan, {})
    knock_out(plan, played, {(0, 1): winners})
    assert plan.bracket(played) == [[Meeting(0, 1, games, winner)]]


@pytest.mark.parametrize("best_of", [1, 3, 63])
def test_matches_of_other_lengths(best_of: int) -> None:
    plan = make(2, best_of=best_of)
    played = qualify(plan, {})
    (chunk,) = plan.next_chunks(played)
    assert chunk.num_pairs == (best_of + 1) // 2
    played.append(Played())
    # What is held of a chunk in memory must do.
    played[1].add(chunk, outcome([0] * chunk.num_pairs).light())
    needed = (best_of + 1) // 2
    assert plan.bracket(played) == [[Meeting(0, 1, (0, needed), 1)]]


def test_a_match_in_several_chunks() -> None:
    plan = make_plan(make_config(format="acc", chunk=1, **{"acc.games": 2}))
    assert isinstance(plan, AccPlan)
    played = qualify(plan, {})
    chunks = plan.next_chunks(played)
    assert len(chunks) == 3
    played.append(Played())
    for chunk, winners in zip(chunks, ("01", "10", "11"), strict=True):
        played[1].add(chunk, won(winners, 0))
    assert plan.bracket(played) == [[Meeting(0, 1, (2, 3), 1)]]


def test_the_knock_out_has_deals_of_its_own() -> None:
    plan = make(8, qualifiers=8, games=6)
    played = qualify(plan, {})
    knock_out(plan, played, {})
    qualifying = range(6)
    later = [chunk for match in played[28:] for chunk in match.chunks]
    deals = [
        pair
        for chunk in later
        for pair in range(chunk.first_pair, chunk.first_pair + chunk.num_pairs)
    ]
    assert len(later) == 7
    assert len(set(deals)) == len(deals) == 21
    assert not set(deals) & set(qualifying)


def test_who_stood_higher_wins_a_match_that_could_not_be_played() -> None:
    plan = make(4, qualifiers=4)
    played = qualify(plan, {})
    chunks = plan.next_chunks(played)
    played += [Played(), Played()]
    played[6].add(chunks[0], Failure(0, "no"))
    played[7].add(chunks[1], won("222222", 1))
    assert plan.bracket(played) == [[Meeting(0, 3, (0, 0), 0), Meeting(1, 2, (0, 3), 2)]]
    (final,) = plan.next_chunks(played)
    assert (final.match, final.num_pairs) == (8, 3)
    assert plan.pairings[8] == (0, 2)


def test_failures_leave_the_standings_to_the_others() -> None:
    plan = make(3)
    played = [Played() for _ in plan.pairings]
    for chunk in plan.next_chunks(played):
        played[chunk.match].add(chunk, Failure(0, "no") if chunk.match == 0 else outcome([2]))
    assert [(row.entrant, row.games, row.points) for row in plan.standings(played)] == [
        (0, 2, 4),
        (1, 2, 4),
        (2, 4, 0),
    ]


@pytest.mark.slow
def test_a_tournament_on_the_engine(tmp_path: Path) -> None:
    config = make_config(
        agents=["random", "greedy", "greedy"], format="acc", seed=3, **{"acc.games": 20}
    )
    tournament, summary = play(config, tmp_path)
    assert len(tournament.played) == 4
    first = tournament.played[3].chunks[0]
    assert isinstance(first, Chunk)
    assert first.first_pair >= 10
    acc = summary["acc"]
    assert [row["games"] for row in acc["standings"]] == [40, 40, 40]
    assert sum(row["wins"] for row in acc["standings"]) == 60
    assert sum(row["spread"] for row in acc["standings"]) == 0
    assert acc["standings"][2]["agent"] == "random"
    (((meeting,),), champion) = acc["knock_out"], acc["champion"]
    assert max(meeting["games"]) == 3
    assert {meeting["a"], meeting["b"]} == {"greedy", "greedy#2"}
    assert champion == meeting["winner"] in (meeting["a"], meeting["b"])
    assert summary["games"] == 60 + 6
