"""Rules as data: presets, what is refused and how it is said, skunk lines, match points."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cribai.errors import RulesError
from cribai.match_points import MATCH_POINTS, MatchPoints, get_match_points
from cribai.rules import PRESETS, STANDARD, Rules, get_rules


def test_presets() -> None:
    assert list(PRESETS)[:3] == ["standard", "short", "to_241"]
    sizes = {
        name: (r.num_players, r.cards_dealt, r.cards_kept, r.crib_size, r.num_sides, r.target)
        for name, r in PRESETS.items()
    }
    assert sizes == {
        "standard": (2, 6, 4, 4, 2, 121),
        "short": (2, 6, 4, 4, 2, 61),
        "to_241": (2, 6, 4, 4, 2, 241),
        "to_361": (2, 6, 4, 4, 2, 361),
        "three_player": (3, 5, 4, 4, 3, 121),
        "four_player": (4, 5, 4, 4, 2, 121),
        "five_card": (2, 5, 3, 4, 2, 61),
        "five_card_classic": (2, 5, 3, 4, 2, 61),
        "lowball": (2, 6, 4, 4, 2, 60),
        "jokers": (2, 6, 4, 4, 2, 121),
        "two_starters": (2, 6, 4, 4, 2, 121),
        "two_decks": (2, 7, 5, 4, 2, 121),
        "draw": (2, 6, 4, 4, 2, 121),
        "chosen_starter": (2, 7, 4, 4, 2, 121),
        "two_cribs": (2, 8, 4, 4, 2, 121),
        "bid": (2, 6, 4, 4, 2, 121),
        "wild_kings": (2, 6, 4, 4, 2, 121),
        "muggins": (2, 6, 4, 4, 2, 121),
        "stinkhole": (2, 6, 4, 4, 2, 121),
    }
    for name, rules in PRESETS.items():
        assert rules.name == name
        assert get_rules(name) is rules
    assert get_rules(STANDARD) is STANDARD


def test_unknown_preset() -> None:
    with pytest.raises(RulesError) as caught:
        get_rules("bridge")
    assert str(caught.value) == (f"Unknown rules 'bridge'; the presets are {', '.join(PRESETS)}.")


def test_actions() -> None:
    assert (STANDARD.num_tosses, STANDARD.num_actions) == (15, 19)
    three = PRESETS["three_player"]
    assert (three.num_tosses, three.num_actions) == (5, 9)


def test_sides() -> None:
    assert [STANDARD.side_of(player) for player in range(2)] == [0, 1]
    assert [PRESETS["three_player"].side_of(player) for player in range(3)] == [0, 1, 2]
    assert [PRESETS["four_player"].side_of(player) for player in range(4)] == [0, 1, 0, 1]


def test_rules_are_values() -> None:
    rules = Rules(name="standard")
    assert rules == STANDARD
    assert hash(rules) == hash(STANDARD)
    assert pickle.loads(pickle.dumps(rules)) == rules
    with pytest.raises(FrozenInstanceError):
        rules.target = 61  # type: ignore[misc]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"num_players": 1}, "num_players is 1; it must be 2 to 4."),
    ({"num_players": 5}, "num_players is 5; it must be 2 to 4."),
    (
        {"partnerships": True},
        "partnerships needs four players, not 2; set num_players to 4 or partnerships to false.",
    ),
    ({"cards_dealt": 1, "cards_tossed": 1}, "cards_dealt is 1; it must be 2 to 9."),
    ({"cards_dealt": 10}, "cards_dealt is 10; it must be 2 to 9."),
    ({"cards_tossed": 0}, "cards_tossed is 0; it must be at least 1 and below cards_dealt."),
    ({"cards_tossed": 6}, "cards_tossed is 6; it must be at least 1 and below cards_dealt."),
    ({"crib_from_deck": -1}, "crib_from_deck is -1; it must be 0 or more."),
    (
        {"crib_from_deck": 7},
        "cards_tossed is 2; it must be such that the crib has at most 10 cards.",
    ),
    (
        {"num_players": 3, "cards_dealt": 9},
        "cards_dealt is 9; it must be such that at most 20 cards are kept by all.",
    ),
    ({"num_jokers": -1}, "num_jokers is -1; it must be 0 to 4."),
    ({"num_jokers": 5}, "num_jokers is 5; it must be 0 to 4."),
    ({"target": 0, "skunk_line": None, "double_skunk_line": None}, "target is 0; it must be 1 to"),
    ({"target": 10_001}, "target is 10001; it must be 1 to 10000."),
    ({"target": 61}, "skunk_line is 90; it must be 0 or more and below target, or none."),
    ({"skunk_line": -1}, "skunk_line is -1; it must be 0 or more and below target, or none."),
    (
        {"double_skunk_line": 121},
        "double_skunk_line is 121; it must be 0 or more and below target, or none.",
    ),
    (
        {"double_skunk_line": 90},
        "double_skunk_line 90 must lie below skunk_line 90; lower it or leave it out.",
    ),
    (
        {"skunk_line": None},
        "double_skunk_line 60 must lie below skunk_line None; lower it or leave it out.",
    ),
    ({"thirty_one": 9}, "thirty_one is 9; it must be 10 to 100."),
    ({"thirty_one": 101}, "thirty_one is 101; it must be 10 to 100."),
    ({"fifteen": 1}, "fifteen is 1; it must be at least 2 and below thirty_one."),
    ({"fifteen": 31}, "fifteen is 31; it must be at least 2 and below thirty_one."),
    ({"name": 5}, "name is 5; it must be of type str."),
    ({"target": "121"}, "target is '121'; it must be of type int."),
    ({"target": True}, "target is True; it must be of type int."),
    ({"target": 121.0}, "target is 121.0; it must be of type int."),
    ({"target": None}, "target is None; it must be of type int."),
    ({"partnerships": 1}, "partnerships is 1; it must be of type bool."),
]


@pytest.mark.parametrize(("values", "sentence"), REFUSED)
def test_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(**values)
    assert str(caught.value).startswith(sentence)
    with pytest.raises(RulesError):
        replace(STANDARD, **values)


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_dict_and_back(rules: Rules) -> None:
    assert Rules.from_dict(rules.to_dict()) == rules


def test_absent_keys_have_defaults() -> None:
    assert Rules.from_dict({}) == Rules()
    assert Rules.from_dict({"target": 91, "skunk_line": 60, "double_skunk_line": None}).target == 91


def test_unknown_key() -> None:
    with pytest.raises(RulesError) as caught:
        Rules.from_dict({"tarket": 121})
    assert str(caught.value) == (
        f"Unknown rule 'tarket'; the rules are {', '.join(sorted(STANDARD.to_dict()))}."
    )


@pytest.mark.parametrize(("score", "level"), [(120, 0), (91, 0), (90, 1), (61, 1), (60, 2), (0, 2)])
def test_skunk_lines(score: int, level: int) -> None:
    assert STANDARD.skunk_level(score) == level


def test_skunk_lines_may_be_absent() -> None:
    short = PRESETS["short"]
    assert [short.skunk_level(score) for score in (31, 30, 0)] == [0, 1, 1]
    none = Rules(skunk_line=None, double_skunk_line=None)
    assert none.skunk_level(0) == 0


def test_match_points() -> None:
    worth = {
        name: [table.worth(level) for level in range(3)] for name, table in MATCH_POINTS.items()
    }
    assert worth == {"plain": [1, 2, 3], "quadruple": [1, 2, 4], "acc": [2, 3, 3]}
    for name, table in MATCH_POINTS.items():
        assert get_match_points(name) is table
        assert get_match_points(table) is table


def test_unknown_match_points() -> None:
    with pytest.raises(RulesError) as caught:
        get_match_points("double")
    assert str(caught.value) == (
        "Unknown match points 'double'; the tables are plain, quadruple, acc."
    )


@pytest.mark.parametrize("points", [(0, 1, 2), (-1, 1, 2), (2, 1, 3), (1, 3, 2)])
def test_match_points_must_not_fall(points: tuple[int, int, int]) -> None:
    with pytest.raises(RulesError, match="must be positive and must not fall"):
        MatchPoints("odd", *points)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.integers(-2, 130) | st.none()
            for name in STANDARD.to_dict()
            if name not in ("name", "partnerships")
        },
    )
)
def test_any_numbers_make_rules_or_an_error(values: dict[str, int | None]) -> None:
    try:
        rules = Rules.from_dict(dict(values))
    except RulesError:
        return
    needed = rules.num_players * rules.cards_dealt + rules.crib_from_deck + 1
    assert needed <= rules.deck_size
    assert 1 <= rules.cards_kept < rules.cards_dealt
