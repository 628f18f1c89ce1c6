"""Game records: round trips, what damage is found and how it is told, and files."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cribai.cards import card_text
from cribai.errors import RecordError, RulesError
from cribai.game import Deal, Game
from cribai.records import (
    FORMAT,
    DealRecord,
    GameRecord,
    from_json,
    read_records,
    record_game,
    replay,
    replay_records,
    to_json,
    write_records,
)
from cribai.rules import Rules
from plain_presets import PLAIN

GOLDEN = Path(__file__).parent / "golden" / "records.jsonl"
EVERY_RULES = [*PLAIN.values(), Rules(name="jokers", num_jokers=4)]


def played(rules: Rules | str = "standard", seed: int = 1, **options: Any) -> Game:
    game = Game(rules, seed=seed, **options)
    chance = random.Random(seed)
    while not game.is_over:
        game.push(chance.choice(game.legal_actions))
    return game


@lru_cache(maxsize=64)
def recorded(rules: Rules | str = "short", seed: int = 1) -> GameRecord:
    game = played(rules, seed, pair=seed, game=1)
    return record_game(game, ["random"] * game.rules.num_players)


def values_of(record: GameRecord) -> dict[str, Any]:
    return dict(json.loads(to_json(record)))


def signed(values: dict[str, Any]) -> str:
    """The line of a record that was changed by someone who knows how the checksum is made."""
    rest = {key: value for key, value in values.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return json.dumps(rest | {"checksum": f"{zlib.crc32(text.encode()):08x}"})


def refusal(act: Callable[[], Any]) -> str:
    """The sentence with which something is refused."""
    with pytest.raises(RecordError) as caught:
        act()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 500
    return sentence


# ------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("rules", EVERY_RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("seed", range(3))
def test_round_trip(rules: Rules, seed: int) -> None:
    game = played(rules, seed, pair=3, game=1)
    seats = [f"agent{seat}:depth=2" for seat in range(rules.num_players)]
    record = record_game(game, seats)
    line = to_json(record)
    assert "\n" not in line
    assert line.isascii()
    assert from_json(line) == record
    assert to_json(from_json(line)) == line
    again = replay(record)
    assert again.actions == game.actions
    assert again.events == game.events
    assert again.dealt == game.dealt
    assert again.outcome() == game.outcome()
    assert record_game(again, seats) == record


def test_what_a_record_holds() -> None:
    game = played("standard", 5, pair=2, game=1, first_dealer=1, scores=(3, 7))
    record = record_game(game, ("greedy", "my_module:MyAgent"))
    values = values_of(record)
    assert list(values) == [
        "format", "rules", "seats", "seed", "pair", "game", "first_dealer", "start_scores",
        "deals", "scores", "winner", "checksum",
    ]  # fmt: skip
    assert values["format"] == record.format == FORMAT == 2
    assert values["rules"] == game.rules.to_dict()
    assert values["seats"] == ["greedy", "my_module:MyAgent"]
    assert [values[key] for key in ("seed", "pair", "game", "first_dealer")] == [5, 2, 1, 1]
    assert values["start_scores"] == [3, 7]
    assert values["scores"] == list(game.scores)
    assert values["winner"] == game.outcome().winner
    assert [action for deal in values["deals"] for action in deal["actions"]] == game.actions
    for deal, dealt in zip(values["deals"], game.dealt, strict=True):
        assert list(deal) == [
            "hands", "to_crib", "starter", "second_starter", "stock", "actions"
        ]  # fmt: skip
        assert deal["hands"] == [" ".join(map(card_text, hand)) for hand in dealt.hands]
        assert deal["starter"] == card_text(dealt.starter)
        assert deal["to_crib"] == ""


def test_the_dealt_cards_decide_and_not_the_seed() -> None:
    record = replace(recorded(), seed=2**64 - 1, pair=2**62, game=0)
    assert replay(record).events == replay(recorded()).events
    assert from_json(to_json(record)) == record


def test_names_need_not_be_ascii() -> None:
    record = replace(recorded(), seats=("policy:checkpoint=réseau.pt", "日本"))
    assert from_json(to_json(record)) == record


def test_old_records_are_read_as_they_were() -> None:
    """The golden file was written once: what reads or plays it otherwise needs a new format."""
    lines = GOLDEN.read_text(encoding="ascii").splitlines()
    assert [to_json(record) for record in read_records(GOLDEN)] == lines
    assert [record.rules for record, _ in replay_records(GOLDEN)] == EVERY_RULES


# ------------------------------------------------------------------------------------ damage


def test_unfinished_games_are_not_recorded() -> None:
    game = Game(seed=1)
    assert refusal(lambda: record_game(game, ["a", "b"])) == (
        "The game is not over at (0, 0); record it when it has ended."
    )


def test_one_spec_for_each_seat() -> None:
    game = played("short")
    assert refusal(lambda: record_game(game, ["greedy"])) == (
        "Seats is ('greedy',); it must be 2 agent specs."
    )


@given(data=st.data())
def test_a_flipped_card_is_found(data: st.DataObject) -> None:
    values = values_of(recorded(seed=data.draw(st.integers(1, 3))))
    deal = data.draw(st.sampled_from(values["deals"]))
    other = card_text(data.draw(st.integers(0, 51)))
    if data.draw(st.booleans()):
        seat = data.draw(st.integers(0, 1))
        cards = deal["hands"][seat].split()
        place = data.draw(st.integers(0, len(cards) - 1))
        changed = cards[place] != other
        cards[place] = other
        deal["hands"][seat] = " ".join(cards)
    else:
        changed = deal["starter"] != other
        deal["starter"] = other
    if changed:
        refusal(lambda: from_json(json.dumps(values)))
    else:
        assert to_json(from_json(json.dumps(values))) == json.dumps(values)


@given(data=st.data())
def test_a_dropped_or_added_key_is_named(data: st.DataObject) -> None:
    values = values_of(recorded(seed=data.draw(st.integers(1, 3))))
    where, part = data.draw(
        st.sampled_from(
            [
                ("The record", values),
                ("The record's rules", values["rules"]),
                ("The record's deal 1", values["deals"][0]),
                (f"The record's deal {len(values['deals'])}", values["deals"][-1]),
            ]
        )
    )
    key = data.draw(st.sampled_from(sorted(part)))
    value = part.pop(key)
    assert refusal(lambda: from_json(json.dumps(values))) == (
        f"{where} has no key {key!r}; restore or drop the record."
    )
    part[key] = value
    part["colour"] = 1
    assert refusal(lambda: from_json(json.dumps(values))).startswith(
        f"{where} has the unknown key 'colour'; the keys are "
    )


@given(st.integers(1, 3), st.data())
def test_a_truncated_line_is_found(seed: int, data: st.DataObject) -> None:
    line = to_json(recorded(seed=seed))
    length = data.draw(st.integers(0, len(line) - 1))
    assert refusal(lambda: from_json(line[:length])).startswith("The record is not JSON (")


@given(st.integers(1, 3), st.data())
def test_a_changed_character_is_found_or_harmless(seed: int, data: st.DataObject) -> None:
    record = recorded(seed=seed)
    line = to_json(record)
    place = data.draw(st.integers(0, len(line) - 1))
    character = data.draw(st.characters(max_codepoint=0x2FF))
    changed = line[:place] + character + line[place + 1 :]
    try:
        read = from_json(changed)
    except RecordError:
        return
    # Only blanks between the values may differ.
    assert read == record
    assert json.loads(changed) == json.loads(line)


@given(
    st.sampled_from(["scores", "start_scores", "winner", "first_dealer", "seed", "pair", "game"]),
    st.integers(-2, 200),
    st.booleans(),
)
def test_a_changed_number_is_found(key: str, number: int, signs: bool) -> None:
    record = recorded()
    values = values_of(record)
    old = values[key]
    values[key] = [number, *old[1:]] if isinstance(old, list) else number
    if values[key] == old:
        return
    if signs and key in ("seed", "pair", "game") and number >= 0:
        # Nothing else in the record depends on them.
        assert replay(from_json(signed(values))).scores == record.scores
        return
    if key == "start_scores":
        # The winner's points beyond the target are not counted, so his may replay all the same.
        signs = False
    refusal(lambda: replay(from_json(signed(values) if signs else json.dumps(values))))


@given(st.sampled_from(EVERY_RULES), st.data())
def test_a_changed_action_is_found(rules: Rules, data: st.DataObject) -> None:
    record = recorded(rules)
    values = values_of(record)
    deal = data.draw(st.integers(0, len(values["deals"]) - 1))
    actions = values["deals"][deal]["actions"]
    place = data.draw(st.integers(0, len(actions) - 1))
    actions[place] = data.draw(
        st.integers(-3, rules.num_actions + 2).filter(lambda action: action != actions[place])
    )
    refusal(lambda: from_json(json.dumps(values)))


def forged(**changes: Any) -> Callable[[], Game]:
    return lambda: replay(replace(recorded(), **changes))


def with_actions(deal: int, actions: tuple[int, ...]) -> Callable[[], Game]:
    deals = list(recorded().deals)
    deals[deal] = replace(deals[deal], actions=actions)
    return forged(deals=tuple(deals))


def test_the_engine_names_deal_and_decision() -> None:
    record = recorded()
    second = record.deals[1].actions
    last = len(record.deals)
    wrong_scores = tuple(score - 1 for score in record.scores)
    mend = "; restore or drop the record."
    assert refusal(with_actions(1, (*second[:3], 0, *second[4:]))).startswith(
        "Deal 2, decision 4: Action 0 is illegal; the legal ones are [15, 16, 17, 18] (dealer at "
    )
    assert refusal(with_actions(0, (15,))).startswith(
        "Deal 1, decision 1: Action 15 is illegal; the legal ones are [0, 1, 2,"
    )
    assert refusal(with_actions(1, second[:-1])) == (
        f"Deal 2, decision {len(second)}: the action is missing{mend}"
    )
    assert refusal(with_actions(1, (*second, 7))) == (
        f"Deal 2, decision {len(second) + 1}: action 7 comes after the deal ended{mend}"
    )
    assert refusal(with_actions(last - 1, (*record.deals[-1].actions, 7))) == (
        f"Deal {last}, decision {len(record.deals[-1].actions) + 1}:"
        f" action 7 comes after the game ended{mend}"
    )
    assert refusal(forged(deals=record.deals[:-1])) == (
        f"Deal {last}, decision 1: the deal is missing and the game is not over{mend}"
    )
    assert refusal(forged(deals=())) == (
        f"Deal 1, decision 1: the deal is missing and the game is not over{mend}"
    )
    assert refusal(forged(deals=(*record.deals, record.deals[0]))) == (
        f"Deal {last}, decision {len(record.deals[-1].actions)}:"
        f" the game ends here and deals follow{mend}"
    )
    assert refusal(forged(scores=wrong_scores)) == (
        f"Deal {last}, decision {len(record.deals[-1].actions)}: the scores stated,"
        f" {list(wrong_scores)}, must be {list(record.scores)}{mend}"
    )
    assert refusal(forged(winner=1 - record.winner)) == (
        f"Deal {last}, decision {len(record.deals[-1].actions)}: the winner stated,"
        f" {1 - record.winner}, must be {record.winner}{mend}"
    )


def test_heels_of_a_first_starter_end_the_game_in_a_deal_without_actions() -> None:
    cards = list(range(52))
    cards.remove(40)
    hands = (tuple(cards[:12:2]), tuple(cards[1:12:2]))
    opening = Deal(hands, cards[20], second_starter=cards[21])
    jack = Deal(hands, 40, second_starter=cards[21])
    rules = Rules(num_starters=2, target=121)
    # In a first deal nobody reaches 118 to 120 by himself: the second dealer is put there.
    for score in range(60, 121):
        game = Game(rules, seed=1, first_dealer=0, deals=[opening, jack], scores=(0, score))
        while not game.is_over and game.deal_number == 0:
            game.push(game.legal_actions[0])
        if game.is_over and game.deal_number == 1:
            break
    record = record_game(game, ["a", "b"])
    assert [len(deal.actions) > 0 for deal in record.deals] == [True, False]
    assert record.winner == 1
    assert replay(record).events == game.events
    line = signed(values_of(replace(record, deals=(*record.deals, record.deals[0]))))
    assert "Deal 2, decision 0: the game ends here and deals follow" in refusal(
        lambda: replay(from_json(line))
    )


def test_two_cribs_go_past_the_highest_target() -> None:
    rules = Rules(two_cribs=True, cards_dealt=8, target=10_000)
    record = record_game(played(rules, scores=(9_990, 9_999)), ["a", "b"])
    assert max(record.scores) > 10_000
    assert replay(from_json(to_json(record))).scores == record.scores


def test_the_place_is_named_though_the_checksum_is_wrong_too() -> None:
    values = values_of(recorded())
    values["deals"][0]["actions"][0] = 15
    assert refusal(lambda: from_json(json.dumps(values))).startswith("Deal 1, decision 1: ")


def test_a_change_that_the_engine_cannot_see() -> None:
    values = values_of(recorded())
    values["seats"][0] = "someone else"
    assert " so it was changed after it was written; restore or drop the record." in refusal(
        lambda: from_json(json.dumps(values))
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"format": 3},
            "The record is of format 3 and this version of cribai reads formats 1 and 2;",
        ),
        ({"format": "1"}, "Format is '1'; it must be an integer."),
        ({"rules": "standard"}, "The record's rules is 'standard'; it must be a JSON object."),
        ({"seats": "greedy"}, "Seats is 'greedy'; it must be a list."),
        ({"seats": ["greedy", 1]}, "A seat's agent is 1; it must be a text."),
        ({"seats": ["greedy"]}, "Seats is ('greedy',); it must be 2 agent specs."),
        ({"seats": ["a", "\x1b[2J"]}, r"A name is '\x1b[2J'; it must be printable text."),
        ({"seats": ["a", "\ud800"]}, r"A name is '\ud800'; it must be printable text."),
        ({"seed": 1.0}, "Seed is 1.0; it must be an integer."),
        ({"seed": True}, "Seed is True; it must be an integer."),
        ({"seed": None}, "Seed is None; it must be an integer."),
        ({"seed": 2**64}, "Seed is 18446744073709551616; it must be 0 to 18446744073709551615."),
        ({"pair": -1}, "Pair is -1; it must be 0 to "),
        ({"game": 10**400}, "Game is 1000"),
        ({"first_dealer": 2}, "First_dealer is 2; it must be 0 to 1."),
        ({"winner": -1}, "Winner is -1; it must be 0 to 1."),
        ({"winner": "0"}, "Winner is '0'; it must be an integer."),
        ({"scores": [61]}, "Scores is (61,); it must be 2 scores from 0 to 61."),
        ({"scores": [61, 62]}, "Scores is (61, 62); it must be 2 scores from 0 to 61."),
        ({"scores": [61, "5"]}, "A number of scores is '5'; it must be an integer."),
        ({"start_scores": [0, 61]}, "Start_scores is (0, 61); it must be 2 scores from 0 to 60."),
        ({"deals": {}}, "Deals is {}; it must be a list."),
        ({"deals": [5]}, "The record's deal 1 is 5; it must be a JSON object."),
        ({"checksum": 5}, "The checksum is 5 and the rest of the record gives "),
    ],
)
def test_wrong_values(change: dict[str, Any], sentence: str) -> None:
    values = values_of(recorded()) | change
    assert refusal(lambda: from_json(json.dumps(values))).startswith(sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hands": "5H"}, "Hands of deal 2 is '5H'; it must be a list."),
        ({"hands": [5, 5]}, "A hand of deal 2 is 5; it must be a text."),
        ({"starter": None}, "Deal 2: A deal of short turns 1 starters and has 0 cards to draw"),
        ({"starter": "1H"}, "'1H' is not a card; write a rank of"),
        ({"starter": "J1"}, "Deal 2: The deal "),
        ({"to_crib": "AC"}, "Deal 2: A deal of short has 2 hands of 6 and 0 cards to the crib"),
        ({"hands": ["AC AD AH AS 2C", "3C"]}, "Deal 2: A deal of short has 2 hands of 6"),
        ({"hands": ["AC AC AH AS 2C 2D"] * 2}, "The card AC is named twice in"),
        ({"hands": ["AC AD AH AS 2C 2D"] * 2}, "Deal 2: The deal AC AD AH AS 2C 2D AC"),
        ({"actions": 5}, "Actions of deal 2 is 5; it must be a list."),
        ({"actions": ["5"]}, "A number of actions of deal 2 is '5'; it must be an integer."),
        ({"actions": [19]}, "An action of deal 2 is 19; it must be 0 to 18."),
        ({"actions": [-1]}, "An action of deal 2 is -1; it must be 0 to 18."),
    ],
)
def test_wrong_deals(change: dict[str, Any], sentence: str) -> None:
    values = values_of(recorded())
    values["deals"][1] |= change
    assert refusal(lambda: from_json(json.dumps(values))).startswith(sentence)


def test_wrong_rules() -> None:
    values = values_of(recorded())
    values["rules"]["target"] = 0
    assert refusal(lambda: from_json(json.dumps(values))) == "target is 0; it must be 1 to 10000."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The record is not JSON ("),
        ("null", "The record is None; it must be a JSON object."),
        ("[]", "The record is []; it must be a JSON object."),
        ("{}", "The record has no key 'format'; restore or drop the record."),
        ('{"format": 1, "format": 1}', "A key comes twice among ['format', 'format']; keep each"),
        ("[" * 100_000, "The record is not JSON ("),
        ("9" * 5000, "The record is not JSON ("),
        ('{"format": NaN}', "Format is nan; it must be an integer."),
    ],
)
def test_no_record(text: str, sentence: str) -> None:
    assert refusal(lambda: from_json(text)).startswith(sentence)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_any_json_in_any_place_is_a_record_or_an_error(value: Any) -> None:
    line = to_json(recorded())
    for key in json.loads(line):
        values = json.loads(line)
        if values[key] != value:
            values[key] = value
            refusal(lambda values=values: from_json(json.dumps(values)))


def test_a_record_made_by_hand_is_checked_too() -> None:
    record = recorded()
    cards = Deal(((0, 1), (2, 3)), 99)
    assert refusal(lambda: replace(record, deals=(DealRecord(cards, ()),))).startswith(
        "Deal 1: 99 is not a card"
    )
    assert refusal(lambda: replace(record, format=0)).startswith("The record is of format 0")


# ------------------------------------------------------------------------------------- files


def test_write_and_read(tmp_path: Path) -> None:
    records = [recorded(rules, seed) for rules in EVERY_RULES for seed in (1, 2)]
    path = tmp_path / "games.jsonl"
    write_records(path, iter(records))
    assert list(read_records(path)) == records
    assert list(read_records(str(path))) == records
    assert path.read_bytes().count(b"\n") == len(records)
    assert [record for record, _ in replay_records(path)] == records
    assert [path] == list(tmp_path.iterdir())
    write_records(path, [])
    assert list(read_records(path)) == []


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f"{to_json(recorded())}\nrubbish\n")
    records = read_records(path)
    assert next(records) == recorded()
    refusal(lambda: next(records))


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, RulesError])
def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, error: type[BaseException]) -> None:
    def broken() -> Iterator[GameRecord]:
        yield recorded(seed=2)
        raise error

    path = tmp_path / "games.jsonl"
    with pytest.raises(error):
        write_records(path, broken())
    assert list(tmp_path.iterdir()) == []
    write_records(path, [recorded()])
    before = path.read_bytes()
    with pytest.raises(error):
        write_records(path, broken())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_where_a_file_cannot_be_put(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").mkdir()
    with pytest.raises(OSError, match=r"games\.jsonl"):
        write_records(tmp_path / "games.jsonl", [recorded()])
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    with pytest.raises(FileNotFoundError):
        write_records(tmp_path / "missing" / "games.jsonl", [recorded()])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"\n", "The record is not JSON ("),
        (b"\xff\xfe\n", "the line is not UTF-8 text; restore it."),
        (b"\0\n", "The record is not JSON ("),
        (b"{}\n", "The record has no key 'format'"),
    ],
)
def test_damage_names_file_and_line(tmp_path: Path, line: bytes, words: str) -> None:
    path = tmp_path / "games.jsonl"
    good = f"{to_json(recorded())}\n".encode()
    path.write_bytes(good + good + line + good)
    for read in (read_records, replay_records):
        assert refusal(lambda read=read: list(read(path))).startswith(f"{path}, line 3: {words}")


def test_replay_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    values = values_of(recorded())
    values["scores"] = [value - 1 for value in values["scores"]]
    path.write_text(f"{to_json(recorded())}\n{signed(values)}\n")
    assert len(list(read_records(path))) == 2
    assert refusal(lambda: list(replay_records(path))).startswith(f"{path}, line 2: Deal ")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(read_records(tmp_path / "games.jsonl"))


def test_windows_line_ends_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(f"{to_json(recorded())}\r\n".encode() * 2)
    assert list(read_records(path)) == [recorded()] * 2
