"""Game records as JSON lines, one game a line: write, read, replay, verify.

A record holds the cards that were dealt, since a seed gives the same deals only as long as the
generator stays the same, and every action; the engine replays both and must arrive at the scores.
A checksum finds the damage that the engine cannot, such as a card that changed its suit: it is the
CRC-32, in eight hexadecimal digits, of the rest of the record as ASCII JSON with sorted keys and no
blanks.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final
from zlib import crc32

from cribai.cards import card_text, cards_text, parse_card, parse_cards
from cribai.deal import Deal
from cribai.errors import CribaiError, IllegalActionError, RecordError
from cribai.events import DECISIONS
from cribai.game import Game
from cribai.game_batch import MAX_NUMBER, MAX_SEED
from cribai.rules import STANDARD, Rules

FORMAT: Final = 2
"""Version of the format; it changes whenever the keys or their meaning do."""

OLD_FORMAT: Final = 1
"""The version without variants, which is still read, and written again as it was."""

_KEYS: Final = (
    "format", "rules", "seats", "seed", "pair", "game", "first_dealer", "start_scores", "deals",
    "scores", "winner", "checksum",
)  # fmt: skip
_DEAL_KEYS: Final = {
    OLD_FORMAT: ("hands", "to_crib", "starter", "actions"),
    FORMAT: ("hands", "to_crib", "starter", "second_starter", "stock", "actions"),
}
_OLD_RULES_KEYS: Final = (
    "name", "num_players", "partnerships", "cards_dealt", "cards_tossed", "crib_from_deck",
    "num_jokers", "target", "skunk_line", "double_skunk_line", "fifteen", "thirty_one",
)  # fmt: skip
_RULES_KEYS: Final = {OLD_FORMAT: _OLD_RULES_KEYS, FORMAT: tuple(STANDARD.to_dict())}

_MAX_SCORE: Final = 2**15 - 1
"""The highest score that the engine can hold."""


@dataclass(frozen=True, slots=True)
class DealRecord:
    """One deal of a record.

    Attributes:
        cards: The cards dealt.
        actions: The actions taken in the deal, in order.
    """

    cards: Deal
    actions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game, checked when made for all that can be told without playing it.

    Attributes:
        rules: The rules.
        seats: The agents' specs by seat.
        seed: Seed of the match.
        pair: Number of the pair.
        game: Number of the game in its pair.
        first_dealer: The seat that dealt first.
        start_scores: The scores that the game started from, by side.
        deals: The deals in order.
        scores: The final scores by side.
        winner: The side that won; None for a tie.
        format: Version of the format.

    Raises:
        RecordError: The values fit no game.
    """

    rules: Rules
    seats: tuple[str, ...]
    seed: int
    pair: int
    game: int
    first_dealer: int
    start_scores: tuple[int, ...]
    deals: tuple[DealRecord, ...]
    scores: tuple[int, ...]
    winner: int | None
    format: int = FORMAT

    def __post_init__(self) -> None:
        rules = self.rules
        _require_format(self.format)
        if len(self.seats) != rules.num_players:
            raise _misfit("seats", self.seats, f"{rules.num_players} agent specs")
        for text in (rules.name, *self.seats):
            # A record is shown on terminals, which obey control characters.
            if not text.isprintable():
                raise _misfit("a name", text, "printable text")
        self._require_range("seed", MAX_SEED)
        self._require_range("pair", MAX_NUMBER)
        self._require_range("game", MAX_NUMBER)
        self._require_range("first_dealer", rules.num_players - 1)
        if self.winner is not None:
            self._require_range("winner", rules.num_sides - 1)
        self._require_scores("start_scores", rules.target - 1)
        # Only a deal that is played to its end takes scores past the target.
        self._require_scores("scores", _MAX_SCORE if rules.two_cribs else rules.target)
        for number, deal in enumerate(self.deals, 1):
            try:
                deal.cards.cards(rules)
            except CribaiError as error:
                raise RecordError(f"Deal {number}: {error}") from None
            for action in deal.actions:
                if not 0 <= action < rules.num_actions:
                    raise _misfit(
                        f"an action of deal {number}", action, f"0 to {rules.num_actions - 1}"
                    )

    def _require_range(self, name: str, most: int) -> None:
        if not 0 <= getattr(self, name) <= most:
            raise _misfit(name, getattr(self, name), f"0 to {most}")

    def _require_scores(self, name: str, most: int) -> None:
        scores = getattr(self, name)
        sides = self.rules.num_sides
        if len(scores) != sides or not all(0 <= score <= most for score in scores):
            raise _misfit(name, scores, f"{sides} scores from 0 to {most}")


def record_game(game: Game, seats: Sequence[str]) -> GameRecord:
    """Returns the record of a finished game.

    Args:
        game: The game.
        seats: The agents' specs by seat.

    Raises:
        RecordError: The game is not over, or the specs are not one for each seat.
    """
    outcome = game.outcome()
    if outcome is None:
        raise RecordError(f"The game is not over at {game.scores}; record it when it has ended.")
    actions: list[list[int]] = [[] for _ in game.dealt]
    decided = (event.deal for event in game.events if event.kind in DECISIONS)
    for deal, action in zip(decided, game.actions, strict=True):
        actions[deal].append(action)
    return GameRecord(
        rules=game.rules,
        seats=tuple(seats),
        seed=int(game.seed),
        pair=int(game.pair),
        game=int(game.game),
        first_dealer=game.first_dealer,
        start_scores=game.start_scores,
        deals=tuple(
            DealRecord(cards, tuple(taken))
            for cards, taken in zip(game.dealt, actions, strict=True)
        ),
        scores=outcome.scores,
        winner=outcome.winner,
    )


def replay(record: GameRecord) -> Game:
    """Returns the game of a record, played again on the engine.

    Raises:
        RecordError: The engine does not arrive at what the record says; the sentence names the
            deal and the decision in it, both counted from 1.
    """
    game = Game(
        record.rules,
        seed=record.seed,
        pair=record.pair,
        game=record.game,
        first_dealer=record.first_dealer,
        deals=[deal.cards for deal in record.deals],
        scores=record.start_scores,
    )
    for number, deal in enumerate(record.deals):
        for place, action in enumerate(deal.actions, 1):
            if game.is_over or game.deal_number != number:
                what = "game" if game.is_over else "deal"
                raise _disagreement(number, place, f"action {action} comes after the {what} ended")
            try:
                game.push(action)
            except IllegalActionError as error:
                raise RecordError(f"Deal {number + 1}, decision {place}: {error}") from None
        if not game.is_over and game.deal_number == number:
            raise _disagreement(number, len(deal.actions) + 1, "the action is missing")
        # Heels of a first starter may have ended the game in the next deal, before any decision.
        is_last = game.is_over and game.deal_number == number
        if is_last and number + 1 < len(record.deals):
            raise _disagreement(number, len(deal.actions), "the game ends here and deals follow")
    if game.deal_number == len(record.deals):
        raise _disagreement(len(record.deals), 1, "the deal is missing and the game is not over")
    last = record.deals[-1]
    for name in ("scores", "winner"):
        played = getattr(game.outcome(), name)
        stated = getattr(record, name)
        if played != stated:
            what = f"the {name} stated, {json.dumps(stated)}, must be {json.dumps(played)}"
            raise _disagreement(len(record.deals) - 1, len(last.actions), what)
    return game


def to_json(record: GameRecord) -> str:
    """Returns a record as one line of JSON, without the line's end."""
    keys = _DEAL_KEYS[record.format]
    values = {
        "format": record.format,
        "rules": {key: getattr(record.rules, key) for key in _RULES_KEYS[record.format]},
        "seats": list(record.seats),
        "seed": record.seed,
        "pair": record.pair,
        "game": record.game,
        "first_dealer": record.first_dealer,
        "start_scores": list(record.start_scores),
        "deals": [
            {key: value for key, value in _deal_values(deal).items() if key in keys}
            for deal in record.deals
        ],
        "scores": list(record.scores),
        "winner": record.winner,
    }
    return json.dumps(values | {"checksum": _checksum(values)})


def _deal_values(deal: DealRecord) -> dict[str, Any]:
    cards = deal.cards
    return {
        "hands": [cards_text(hand) for hand in cards.hands],
        "to_crib": cards_text(cards.to_crib),
        "starter": None if cards.starter is None else card_text(cards.starter),
        "second_starter": None if cards.second_starter is None else card_text(cards.second_starter),
        "stock": cards_text(cards.stock),
        "actions": list(deal.actions),
    }


def from_json(text: str) -> GameRecord:
    """Returns the record that a line of JSON holds.

    Raises:
        RecordError: The line is no record, or it was changed after it was written. Where the
            engine can tell what was changed, the sentence names the place; see `replay`.
    """
    try:
        values = _parse(text)
        record = _read_game(values)
    except RecordError:
        raise
    except CribaiError as error:
        raise RecordError(str(error)) from None
    stated = values.pop("checksum")
    checksum = _checksum(values)
    if stated != checksum:
        replay(record)  # The engine may be able to say what was changed.
        raise RecordError(
            f"The checksum is {short_repr(stated)} and the rest of the record gives {checksum!r},"
            " so it was changed after it was written; restore or drop the record."
        )
    return record


def write_records(path: str | os.PathLike[str], records: Iterable[GameRecord]) -> None:
    """Writes records to a file, one a line; the file appears whole or not at all."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with draft.open("w", encoding="ascii", newline="\n") as file:
            for record in records:
                file.write(f"{to_json(record)}\n")
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def read_records(path: str | os.PathLike[str]) -> Iterator[GameRecord]:
    """Yields the records of a file in order, each checked as by `from_json` but not replayed.

    Raises:
        RecordError: A line is damaged; the sentence names the file and the line.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = from_json(line.decode())
            except UnicodeDecodeError:
                raise _at_line(path, number, "the line is not UTF-8 text; restore it.") from None
            except RecordError as error:
                raise _at_line(path, number, str(error)) from None
            yield record


def replay_records(path: str | os.PathLike[str]) -> Iterator[tuple[GameRecord, Game]]:
    """Yields the records of a file in order, each with its game played again on the engine.

    Raises:
        RecordError: A record is damaged, or is not what the engine plays; the sentence names the
            file and the line.
    """
    for number, record in enumerate(read_records(path), 1):
        try:
            game = replay(record)
        except RecordError as error:
            raise _at_line(path, number, str(error)) from None
        yield record, game


def _read_game(values: dict[str, Any]) -> GameRecord:
    # Another format has other keys: say that it is another rather than which keys are unknown.
    version = FORMAT
    if "format" in values:
        version = _integer(values["format"], "format")
        _require_format(version)
    _require_keys(values, _KEYS, "The record")
    _require_keys(values["rules"], _RULES_KEYS[version], "The record's rules")
    rules = Rules.from_dict(values["rules"])
    return GameRecord(
        rules=rules,
        seats=tuple(_text(spec, "a seat's agent") for spec in _list(values["seats"], "seats")),
        seed=_integer(values["seed"], "seed"),
        pair=_integer(values["pair"], "pair"),
        game=_integer(values["game"], "game"),
        first_dealer=_integer(values["first_dealer"], "first_dealer"),
        start_scores=_integers(values["start_scores"], "start_scores"),
        deals=tuple(
            _read_deal(deal, f"deal {number}", version, rules.num_decks)
            for number, deal in enumerate(_list(values["deals"], "deals"), 1)
        ),
        scores=_integers(values["scores"], "scores"),
        format=version,
        winner=None if values["winner"] is None else _integer(values["winner"], "winner"),
    )


def _read_deal(values: Any, where: str, version: int, num_decks: int) -> DealRecord:
    _require_keys(values, _DEAL_KEYS[version], f"The record's {where}")
    hands = _list(values["hands"], f"hands of {where}")
    cards = Deal(
        hands=tuple(parse_cards(_text(hand, f"a hand of {where}"), num_decks) for hand in hands),
        starter=_read_starter(values["starter"], f"starter of {where}"),
        to_crib=parse_cards(_text(values["to_crib"], f"to_crib of {where}"), num_decks),
        second_starter=_read_starter(values.get("second_starter"), f"second_starter of {where}"),
        stock=parse_cards(_text(values.get("stock", ""), f"stock of {where}"), num_decks),
    )
    return DealRecord(cards, _integers(values["actions"], f"actions of {where}"))


def _read_starter(value: Any, where: str) -> int | None:
    return None if value is None else parse_card(_text(value, where))


def _parse(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text, object_pairs_hook=_unique_keys)
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordError(f"The record is not JSON ({error}); restore or drop it.") from None
    return _require_object(values, "The record")


def _unique_keys(items: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(items)
    if len(values) != len(items):
        raise RecordError(
            f"A key comes twice among {short_repr([key for key, _ in items])}; keep each once."
        )
    return values


def _checksum(values: dict[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return f"{crc32(text.encode('ascii')):08x}"


def _require_format(version: int) -> None:
    if version not in (OLD_FORMAT, FORMAT):
        raise RecordError(
            f"The record is of format {short_repr(version)} and this version of cribai reads"
            f" formats {OLD_FORMAT} and {FORMAT}; install the version that wrote it."
        )


def _require_object(values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise _misfit(where, values, "a JSON object")
    return values


def _require_keys(values: Any, keys: Sequence[str], where: str) -> None:
    for key in _require_object(values, where):
        if key not in keys:
            raise RecordError(
                f"{where} has the unknown key {short_repr(key)}; the keys are {', '.join(keys)}."
            )
    for key in keys:
        if key not in values:
            raise RecordError(f"{where} has no key {key!r}; restore or drop the record.")


def _integer(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _misfit(where, value, "an integer")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _misfit(where, value, "a text")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _misfit(where, value, "a list")
    return value


def _integers(value: Any, where: str) -> tuple[int, ...]:
    return tuple(_integer(item, f"a number of {where}") for item in _list(value, where))


def _misfit(where: str, value: Any, what: str) -> RecordError:
    return RecordError(f"{where[0].upper()}{where[1:]} is {short_repr(value)}; it must be {what}.")


def _disagreement(deal: int, decision: int, what: str) -> RecordError:
    return RecordError(f"Deal {deal + 1}, decision {decision}: {what}; restore or drop the record.")


def _at_line(path: str | os.PathLike[str], number: int, what: str) -> RecordError:
    return RecordError(f"{os.fspath(path)}, line {number}: {what}")
