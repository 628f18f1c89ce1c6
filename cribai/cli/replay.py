"""`cribai replay`: verify game records on the engine and show them deal by deal."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cribai.cli.output import Json, print_json

if TYPE_CHECKING:
    from cribai.events import Event
    from cribai.game import Game
    from cribai.records import GameRecord


def replay(
    file: Annotated[Path, typer.Argument(help="The records, one JSON object a line.")],
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Verify, and leave out what was played.")
    ] = False,
    json: Json = False,
) -> None:
    """Verify game records and show them deal by deal, with the calls and the running scores."""
    from cribai.errors import RecordError
    from cribai.records import replay_records

    games = []
    number = 0
    for number, (record, game) in enumerate(replay_records(file), 1):
        if json:
            games.append(_summary(record, game) | ({} if quiet else {"deals": _deals(game)}))
        elif not quiet:
            print(f"record {number}: {_title(record)}")
            print("\n".join(_lines(record, game)), end="\n\n")
    if number == 0:
        raise RecordError(f"{file} holds no records; name a file of game records.")
    if json:
        print_json({"file": str(file), "records": number, "verified": True, "games": games})
    else:
        print(f"{number} record{'s' * (number > 1)} verified")


def _running_scores(game: "Game") -> Iterator[tuple["Event", tuple[int, ...]]]:
    """Yields the events in order with the scores by side after each."""
    scores = list(game.start_scores)
    for event in game.events:
        side = game.rules.side_of(event.player)
        total = scores[side] + event.points
        scores[side] = total if game.rules.two_cribs else min(total, game.rules.target)
        yield event, tuple(scores)


def _summary(record: "GameRecord", game: "Game") -> dict[str, Any]:
    outcome = game.outcome()
    return {
        "rules": record.rules.to_dict(),
        "seats": record.seats,
        "seed": record.seed,
        "pair": record.pair,
        "game": record.game,
        "first_dealer": record.first_dealer,
        "start_scores": record.start_scores,
        "scores": record.scores,
        "winner": record.winner,
        "skunks": outcome.skunks if outcome else (),
    }


def _deals(game: "Game") -> list[dict[str, Any]]:
    from cribai.cards import RANKS, card_text, cards_text

    deals: list[dict[str, Any]] = [
        {
            "dealer": _dealer(game, number),
            "hands": [cards_text(hand) for hand in deal.hands],
            "to_crib": cards_text(deal.to_crib),
            "starter": None if deal.starter is None else card_text(deal.starter),
            "events": [],
        }
        for number, deal in enumerate(game.dealt)
    ]
    for event, scores in _running_scores(game):
        deals[event.deal]["events"].append(
            {
                "kind": event.kind.name.lower(),
                "player": event.player,
                "points": event.points,
                "cards": cards_text(event.cards),
                "call": event.call,
                "rank": None if event.rank is None else RANKS[event.rank],
                "scores": scores,
            }
        )
    return deals


def _lines(record: "GameRecord", game: "Game") -> Iterator[str]:
    """Yields the game as text, a line an event, led by the scores where they change."""
    from cribai.cards import cards_text
    from cribai.events import EventKind

    width = len(_score(game.rules.num_sides * (game.rules.target,)))
    shown = -1
    before = game.start_scores
    for event, scores in _running_scores(game):
        if event.deal != shown:
            shown = event.deal
            yield f"deal {shown + 1}, {_score(before)}"
            for seat, hand in enumerate(game.dealt[shown].hands):
                role = ", dealer," if seat == _dealer(game, shown) else ""
                yield f"  player {seat}{role} has {cards_text(sorted(hand))}"
        if event.kind not in (EventKind.WIN, EventKind.TIE):
            change = "" if scores == before else _score(scores)
            yield f"  {change:>{width}}  {event}"
        before = scores
    yield _ending(record)


def _ending(record: "GameRecord") -> str:
    rules = record.rules
    if record.winner is None:
        return f"a tie, {_score(record.scores)}"
    winners = [
        f"player {seat} ({spec})"
        for seat, spec in enumerate(record.seats)
        if rules.side_of(seat) == record.winner
    ]
    skunk = max(rules.skunk_level(score) for score in record.scores)
    how = ("", ", a skunk", ", a double skunk")[skunk]
    verb = "wins" if len(winners) == 1 else "win"
    return f"{' and '.join(winners)} {verb} {_score(record.scores)}{how}"


def _title(record: "GameRecord") -> str:
    seats = ", ".join(f"player {seat} {spec}" for seat, spec in enumerate(record.seats))
    return (
        f"{record.rules.name}, seed {record.seed}, pair {record.pair}, game {record.game}; {seats}"
    )


def _dealer(game: "Game", deal: int) -> int:
    return (game.first_dealer + deal) % game.rules.num_players


def _score(scores: tuple[int, ...]) -> str:
    return "-".join(map(str, scores))
