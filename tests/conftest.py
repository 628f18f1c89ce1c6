"""Settings for all tests, and the oracle's twin of a game."""

import os
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

from cribai import Game
from reference import Deal, ReferenceGame

WITHOUT_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"

settings.register_profile("local", deadline=None, max_examples=25 if WITHOUT_JIT else 100)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if "CI" in os.environ else "local")

if WITHOUT_JIT:
    # Hashes of NumPy integers wrap with a warning that compiled code does not give.
    np.seterr(over="ignore")


@pytest.fixture(scope="session")
def reference_of() -> Callable[[Game], ReferenceGame]:
    """Makes the oracle's game with the cards of a game just begun; step the game first, then it."""

    def start(game: Game) -> ReferenceGame:
        def deal(number: int) -> Deal:
            assert number == game.deal_number
            cards = game.deal()
            return Deal(cards.hands, cards.to_crib, cards.starter)

        rules = game.rules
        return ReferenceGame(
            deal,
            first_dealer=game.first_dealer,
            num_players=rules.num_players,
            cards_dealt=rules.cards_dealt,
            cards_tossed=rules.cards_tossed,
            crib_from_deck=rules.crib_from_deck,
            target=rules.target,
            partnerships=rules.partnerships,
            scores=game.scores,
        )

    return start
