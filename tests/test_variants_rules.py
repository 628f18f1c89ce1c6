"""The fields of the variants: what goes together, what is refused, and the actions they add."""

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import pytest

from cribai import PRESETS, STANDARD, AgentError, Game, Rules, RulesError, make_agent
from cribai.counting import count_show
from cribai.rules import MAX_BID

pytestmark = pytest.mark.kernels

REFUSED = [
    ({"two_cribs": True, "bid": True, "cards_dealt": 8}, "two_cribs and bid do not go together"),
    ({"muggins": True, "bid": True}, "muggins and bid do not go together"),
    ({"chosen_starter": True, "num_starters": 2}, "chosen_starter needs num_starters 1"),
    ({"bid_takes_whole": True}, "set bid to true as well"),
    ({"missed_bid_gives": True}, "set bid to true as well"),
    ({"num_decks": 3}, "num_decks is 3; it must be 1 to 2"),
    ({"num_starters": 0}, "num_starters is 0; it must be 1 to 2"),
    ({"pone_start": 121}, "pone_start is 121"),
    ({"two_cribs": True, "cards_dealt": 4}, "such that a card is left to lay"),
    ({"cards_tossed": 5, "draw_after_toss": True}, "one stays; toss fewer"),
    ({"bid": 1}, "bid is 1; it must be of type bool"),
    (
        {
            "num_players": 4,
            "cards_dealt": 6,
            "draw_before_toss": True,
            "draw_after_toss": True,
        },
        "A deal needs 57 cards and the deck has 52; deal fewer cards.",
    ),
]
LOWBALL = {"lowball": True, "skunk_line": None, "double_skunk_line": None}


@pytest.mark.parametrize(("fields", "sentence"), REFUSED)
def test_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(**fields)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["chosen_starter", "two_cribs", "bid", "muggins", "pone_start"])
def test_for_two_players_only(name: str) -> None:
    value: Any = 3 if name == "pone_start" else True
    with pytest.raises(RulesError, match=f"{name} is for two players, not 3"):
        Rules(num_players=3, cards_dealt=6, cards_tossed=1, **{name: value})


@pytest.mark.parametrize("other", ["muggins", "bid", "stinkhole"])
def test_lowball_wants_no_points(other: str) -> None:
    with pytest.raises(RulesError, match=f"lowball and {other} do not go together"):
        Rules(**LOWBALL, **{other: True})
    with pytest.raises(RulesError, match="lowball has no skunks"):
        Rules(lowball=True)
    with pytest.raises(RulesError, match="lowball needs two sides, not 3"):
        Rules(num_players=3, cards_dealt=5, cards_tossed=1, **LOWBALL)


def test_sensible_combinations_are_rules() -> None:
    everything = Rules(
        **LOWBALL,
        num_jokers=4,
        num_decks=2,
        num_starters=2,
        draw_before_toss=True,
        draw_after_toss=True,
        two_cribs=True,
        wild_kings=True,
        cards_dealt=9,
    )
    game = Game(everything, seed=1)
    assert len(game.hands[0]) == 9
    Rules(muggins=True, num_starters=2, stinkhole=True, draw_before_toss=True, two_cribs=True)
    Rules(bid=True, chosen_starter=True, wild_kings=True, num_jokers=2, pone_start=3)


def test_actions_follow_each_other() -> None:
    rules = Rules(
        draw_before_toss=True, chosen_starter=True, bid=True, wild_kings=True, num_jokers=1
    )
    starts = (rules.kings_start, rules.throws_start, rules.gifts_start, rules.bids_start)
    kept = 6 - 2 - 1
    assert starts == (18, 18 + 13 * kept, 57 + 2**6 - 1, 120 + kept + 1)
    assert rules.announcements_start == rules.num_actions == 124 + MAX_BID + 1
    muggins = PRESETS["muggins"]
    assert (muggins.announcements_start, muggins.claims_start, muggins.num_actions) == (19, 49, 79)


def test_rules_without_variants_keep_their_actions() -> None:
    assert STANDARD.num_actions == 19
    assert PRESETS["jokers"].num_actions == PRESETS["lowball"].num_actions == 19
    assert not any(PRESETS[name].is_varied for name in ("standard", "jokers", "lowball"))


@pytest.mark.parametrize("num_jokers", [0, 4])
def test_no_five_cards_show_more_than_29(num_jokers: int) -> None:
    """One deck, fours of each rank; a flush and nobs add at most six, a flush with no pair."""
    rules = replace(STANDARD, num_jokers=num_jokers)
    assert rules.most_shown == 29
    ranks = range(14 if num_jokers else 13)
    most = 0
    for chosen in combinations_with_replacement(ranks, 5):
        if max(chosen.count(rank) for rank in chosen) < 5:
            used: dict[int, int] = {}
            cards = []
            for rank in chosen:
                used[rank] = used.get(rank, -1) + 1
                cards.append(4 * rank + used[rank])
            shown = count_show(cards[:4], cards[4], rules=rules)
            points = shown.fifteens + shown.pairs + shown.runs
            # Suits may be chosen for nobs, or for a flush where no rank comes twice.
            most = max(most, points + int(10 in chosen) + 5 * (len(used) == 5))
    assert most == 29


@pytest.mark.parametrize("name", [name for name in PRESETS if PRESETS[name].is_varied])
@pytest.mark.parametrize("agent", ["expectimax", "policy"])
def test_agents_with_an_analysis_say_what_they_do_not_play(agent: str, name: str) -> None:
    with pytest.raises(AgentError, match="six-card game for two players") as caught:
        make_agent(agent).check_rules(PRESETS[name])
    assert repr(name) in str(caught.value)
