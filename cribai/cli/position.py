"""`cribai position`: what the scores before a deal are worth."""

from typing import Annotated

import typer

from cribai.cli.analyze import parse_score
from cribai.cli.output import Json, print_json


def position(
    score: Annotated[str, typer.Argument(help="Your score and the opponent's, such as 60-70.")],
    dealer: Annotated[bool, typer.Option("--dealer", help="You deal next.")] = False,
    pone: Annotated[bool, typer.Option("--pone", help="The opponent deals next.")] = False,
    json: Json = False,
) -> None:
    """Show the chance to win from a score before a deal, and the match points to be had."""
    from cribai.analysis.positions import match_points_ahead, win_probability
    from cribai.errors import CribaiError
    from cribai.match_points import MATCH_POINTS

    if dealer == pone:
        raise CribaiError("Say who deals next with either --dealer or --pone.")
    own, other = parse_score(score)
    chance = win_probability(own, other, is_dealer=dealer)
    ahead = {
        name: match_points_ahead(own, other, is_dealer=dealer, table=name) for name in MATCH_POINTS
    }
    if json:
        role = "dealer" if dealer else "pone"
        print_json(
            {
                "score": own,
                "opponent_score": other,
                "role": role,
                "win_probability": chance,
                "match_points_ahead": ahead,
            }
        )
        return
    print(f"win {100 * chance:.1f}%")
    for name, points in ahead.items():
        print(f"match points ahead, {name}: {points:+.3f}")
