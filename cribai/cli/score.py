"""`cribai score`: the points of a hand by part, and the call."""

from typing import Annotated

import typer

from cribai.cli.output import Json, print_json


def score(
    hand: Annotated[str, typer.Argument(help='The hand, such as "5C 5D 5H JS".')],
    starter: Annotated[
        str, typer.Argument(help="The starter; leave it out to score without one.")
    ] = "",
    crib: Annotated[
        bool, typer.Option("--crib", help="Score as a crib: a flush needs the starter.")
    ] = False,
    json: Json = False,
) -> None:
    """Score a hand or crib of any size, by parts, as a player calls it."""
    from dataclasses import asdict

    from cribai.cards import cards_text, parse_card, parse_cards
    from cribai.counting import count_show
    from cribai.errors import CardError

    cards = parse_cards(hand)
    cut = parse_card(starter) if starter.strip() else None
    if cut is not None and cut in cards:
        raise CardError(f"The starter {cards_text([cut])} is in the hand too; name each card once.")
    show = count_show(cards, cut, is_crib=crib)
    if json:
        print_json(asdict(show))
        return
    for part in ("fifteens", "pairs", "runs", "flush", "nobs"):
        print(f"{part:<9}{getattr(show, part):>4}")
    print(f"{'points':<9}{show.points:>4}")
    print(show.call)
