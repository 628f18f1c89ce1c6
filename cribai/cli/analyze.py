"""`cribai analyze`: the tosses of a hand, ranked."""

from typing import Annotated

import typer

from cribai.cli.output import Json, print_json


def analyze(
    hand: Annotated[str, typer.Argument(help='Six cards, such as "5H 6S 9D KC TD 2C".')],
    dealer: Annotated[bool, typer.Option("--dealer", help="The crib is yours.")] = False,
    pone: Annotated[bool, typer.Option("--pone", help="The crib is the opponent's.")] = False,
    score: Annotated[
        str, typer.Option(help="Your score and the opponent's, such as 60-70.")
    ] = "0-0",
    json: Json = False,
) -> None:
    """Rank the tosses of a hand by the chance to win, with what each is worth by parts."""
    from cribai.analysis.tosses import analyze_tosses, checked_hand
    from cribai.cards import cards_text, parse_cards
    from cribai.cli.compiling import announce_compiling
    from cribai.errors import CribaiError

    if dealer == pone:
        raise CribaiError("Say whose crib it is with either --dealer or --pone.")
    cards = checked_hand(parse_cards(hand))
    own, other = parse_score(score)
    announce_compiling("tosses._value")
    tosses = analyze_tosses(cards, is_dealer=dealer, score=own, opponent_score=other)
    if json:
        rows = [
            {
                "toss": cards_text(toss.toss),
                "keep": cards_text(toss.keep),
                "hand": toss.hand,
                "hand_variance": toss.hand_variance,
                "crib": toss.crib,
                "pegging": toss.pegging,
                "points": toss.points,
                "win_probability": toss.win_probability,
            }
            for toss in tosses
        ]
        role = "dealer" if dealer else "pone"
        print_json({"tosses": rows, "role": role, "score": own, "opponent_score": other})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("toss", "keep", "hand", "crib", "pegging", "points", "win")
    for toss in tosses:
        figures = (toss.hand, toss.crib, toss.pegging, toss.points)
        table.add_row(
            cards_text(toss.toss),
            cards_text(toss.keep),
            *(f"{figure:.2f}" for figure in figures),
            f"{100 * toss.win_probability:.1f}%",
        )
    Console().print(table)


def parse_score(text: str) -> tuple[int, int]:
    """Returns the two scores of a text such as "60-70".

    Raises:
        RulesError: It is not two scores from 0 to 120.
    """
    from cribai.analysis.knowledge import TARGET
    from cribai.errors import RulesError

    numbers = [number.strip() for number in text.split("-")]
    if len(numbers) == 2 and all(number.isdecimal() and len(number) < 10 for number in numbers):
        own, other = map(int, numbers)
        if max(own, other) < TARGET:
            return own, other
    raise RulesError(
        f"The score {text!r} is not two numbers from 0 to {TARGET - 1}, such as 60-70."
    )
