"""`cribai score`: the points of a hand by part, and the call; or of several hands and their sum."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

import typer

from cribai.cli.output import Json, print_json

MAX_STARTERS = 2


def score(
    hand: Annotated[str, typer.Argument(help='The hand, such as "5C 5D 5H JS".')],
    starter: Annotated[
        str,
        typer.Argument(help='The starter, or two as "5S 6S"; leave it out to score without one.'),
    ] = "",
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Another hand with the same starter, as in Criboku; may be given again."
            " The points of all hands are added up."
        ),
    ] = None,
    crib: Annotated[
        bool, typer.Option("--crib", help="Score as a crib: a flush needs the starter.")
    ] = False,
    rules: Annotated[str, typer.Option(help="Name of the rules.")] = "standard",
    json: Json = False,
) -> None:
    """Score a hand or crib of any size, by parts, as a player calls it."""
    from dataclasses import asdict

    from cribai.cards import DECK_SIZE, cards_text, parse_cards
    from cribai.counting import count_show
    from cribai.errors import CardError
    from cribai.rules import get_rules

    played = get_rules(rules)
    num_decks = played.deck_size // DECK_SIZE
    hands = [parse_cards(text, num_decks) for text in (hand, *(also or ()))]
    starters = parse_cards(starter, num_decks)
    if len(starters) > MAX_STARTERS:
        raise CardError(f"{starter!r} has {len(starters)} starters; name two at most.")
    if crib and also:
        raise CardError("A crib is scored alone; leave out --crib or --also.")
    _require_copies(hands, starters, num_decks)
    shows = [count_show(cards, *starters, is_crib=crib, rules=played) for cards in hands]
    total = sum(show.points for show in shows)
    if also and json:
        print_json({"points": total, "hands": [asdict(show) for show in shows]})
    elif also:
        texts = [cards_text(cards) for cards in hands]
        width = max(map(len, texts))
        for text, show in zip(texts, shows, strict=True):
            print(f"{text:<{width}} {show.points:>4}  {show.call}")
        print(f"{'points':<{width}} {total:>4}")
    elif json:
        print_json(asdict(shows[0]))
    else:
        for part in ("fifteens", "pairs", "runs", "flush", "nobs"):
            print(f"{part:<9}{getattr(shows[0], part):>4}")
        print(f"{'points':<9}{total:>4}")
        print(shows[0].call)


def _require_copies(
    hands: Iterable[tuple[int, ...]], starters: tuple[int, ...], num_decks: int
) -> None:
    """Checks that no card is named in more places than the decks hold it.

    Raises:
        CardError: One is.
    """
    from cribai.cards import card_text
    from cribai.errors import CardError

    most = "once" if num_decks == 1 else f"{num_decks} times at most"
    named = Counter(card for cards in (*hands, starters) for card in cards)
    for card, number in named.items():
        if number > num_decks:
            text = card_text(card)
            where = (
                f"The starter {text} is in the hand too"
                if card in starters
                else f"The card {text} is in several hands"
            )
            raise CardError(f"{where}; name each card {most}.")
