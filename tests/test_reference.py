"""The oracle itself, against worked examples, exact counts and whole deals played by hand."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from pathlib import Path
from typing import Any

import pytest

from reference import (
    Deal,
    ReferenceGame,
    best_kings,
    flush_points,
    is_run,
    nobs_points,
    parse,
    play_points,
    run_points,
    show_parts,
    show_points,
)

HERE = Path(__file__).parent
DECK = range(52)


def cases(name: str) -> list[Any]:
    text = (HERE / "cases" / f"{name}.json").read_text(encoding="utf-8")
    return list(json.loads(text)["cases"])


def filler(used: set[int], num_cards: int) -> list[int]:
    """Cards that no one has, for the places where any card will do; never a jack."""
    free = [card for card in DECK if card not in used and card // 4 != 10][:num_cards]
    used.update(free)
    return free


def start(
    *kept: str, starter: str = "", tossed: int = 2, first_dealer: int = 0, **options: Any
) -> ReferenceGame:
    """A game of one deal, tossed already: what each seat keeps, in order from the dealer's left."""
    used = set(parse(" ".join([*kept, starter])))
    hands: list[list[int]] = [[] for _ in kept]
    seats = [(first_dealer + i) % len(kept) for i in range(1, len(kept) + 1)]
    tosses = {}
    for seat, text in zip(seats, kept, strict=True):
        tosses[seat] = filler(used, tossed)
        hands[seat] = parse(text) + tosses[seat]
    to_crib = filler(used, options.get("crib_from_deck", 0))
    turned = parse(starter)[0] if starter else filler(used, 1)[0]
    game = ReferenceGame(
        [Deal(hands, to_crib, turned)],
        first_dealer=first_dealer,
        num_players=len(kept),
        cards_dealt=len(hands[0]),
        cards_tossed=tossed,
        **options,
    )
    for seat in seats if tossed else []:
        assert game.actor == seat
        game.toss(tosses[seat])
    return game


def lay(game: ReferenceGame, text: str) -> None:
    for card in parse(text):
        game.play(card)


def pegged(game: ReferenceGame) -> list[tuple[int, int, str]]:
    return [entry for entry in game.log if entry[2] in ("play", "go", "last")]


# ---------------------------------------------------------------------------------- the show


@pytest.mark.parametrize("case", cases("show"), ids=lambda case: case["why"])
def test_show_case(case: dict[str, Any]) -> None:
    hand, starters = parse(case["hand"]), parse(case["starter"])
    assert show_points(hand, starters, False) == case["hand_points"]
    assert show_points(hand, starters, True) == case["crib_points"]


def test_show_parts() -> None:
    expected = {"fifteens": 16, "pairs": 12, "runs": 0, "flush": 0, "nobs": 1}
    assert show_parts(parse("5C 5D 5H JS"), parse("5S"), False) == expected
    expected = {"fifteens": 4, "pairs": 2, "runs": 6, "flush": 0, "nobs": 0}
    assert show_parts(parse("7C 8D 8H KS"), parse("9C"), False) == expected


def test_show_of_ranks_is_exact() -> None:
    """All 12,994,800 hands with a starter, by their ranks: fifteens, pairs and runs."""
    sums: Counter[str] = Counter()
    histogram: Counter[int] = Counter()
    for ranks in combinations_with_replacement(range(13), 5):
        multiplicity = Counter(ranks)
        if max(multiplicity.values()) > 4:
            continue
        weight = 5 * prod(comb(4, many) for many in multiplicity.values())
        parts = show_parts([4 * rank for rank in ranks], [], False)
        points = {name: parts[name] for name in ("fifteens", "pairs", "runs")}
        for name in points:
            sums[name] += weight * points[name]
        histogram[sum(points.values())] += weight
    assert sums == {"fifteens": 33_865_560, "pairs": 15_288_000, "runs": 11_304_960}
    text = (HERE / "data" / "show_distribution_exact.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    column = "ranks_only_count_no_flush_no_nobs"
    expected = {int(row["score"]): int(row[column]) for row in rows if int(row[column])}
    assert histogram == expected


@pytest.mark.parametrize(("is_crib", "total"), [(False, 574_860), (True, 128_700)])
def test_flush_is_exact(is_crib: bool, total: int) -> None:
    points = 0
    for suit in range(4):
        for hand in combinations(range(suit, 52, 4), 4):
            starters = (card for card in DECK if card not in hand)
            points += sum(flush_points(hand, [starter], is_crib) for starter in starters)
    assert points == total


def test_flush_of_other_sizes() -> None:
    assert flush_points(parse("2H 6H QH"), parse("TC"), False) == 3
    assert flush_points(parse("2H 6H QH"), parse("TH"), False) == 4
    assert flush_points(parse("2H 6H"), parse("TH"), False) == 0
    two_starters = parse("TH 3C")
    assert flush_points(parse("2H 6H 8H QH"), two_starters, False) == 5
    assert flush_points(parse("2H 6H 8H QH"), two_starters, True) == 0
    assert flush_points(parse("2H 6H 8H QH"), parse("TH 3H"), True) == 6
    assert flush_points([*parse("2H 6H 8H"), 54], parse("TH"), False) == 0
    assert flush_points([52, 53, 54, 55], [], False) == 0


def test_nobs() -> None:
    assert nobs_points(parse("JH 2C 3D 4S"), parse("9H")) == 1
    assert nobs_points(parse("JH 2C 3D 4S"), parse("9S")) == 0
    assert nobs_points(parse("2H 3H 4H 6S"), parse("JH")) == 0
    assert nobs_points(parse("JC JD JH JS"), [52]) == 0


def test_runs_of_many_cards() -> None:
    assert run_points(parse("AC 2C 3C 4C 5C")) == 5
    assert run_points(parse("AC 2C 3C 5C 6C 7C")) == 6
    assert run_points(parse("3C 3D 4C 4D 5C 5D")) == 24
    assert run_points(parse("QC KC AC")) == 0


def test_jokers() -> None:
    joker, other = 52, 55
    assert is_run([joker, *parse("AC 2C")])
    assert not is_run([joker, *parse("QC KC")])
    assert show_parts([joker, other], parse("7H 8H"), False) == {
        "fifteens": 8,
        "pairs": 2,
        "runs": 0,
        "flush": 0,
        "nobs": 0,
    }
    assert play_points([joker, other]) == 2
    assert play_points([*parse("2H AH"), joker]) == 3
    assert play_points([*parse("7H 8H"), joker]) == 2


def test_wild_kings() -> None:
    assert best_kings(parse("5C 5D KH JS"), parse("5S"), False) == 29
    assert best_kings(parse("5C 5D 5H JS"), parse("KC"), False) == 29
    assert best_kings(parse("KC KD"), [], False) == 2
    assert best_kings(parse("KC"), parse("KD"), False) == 2 + 1
    assert best_kings(parse("2H 4H 8H KS"), parse("TH"), False) == 4 + 3 + 5
    assert best_kings(parse("2H 4H 8H KS"), parse("TC QH"), True) == 6 + 3
    assert best_kings(parse("5C 5D 5H JS"), parse("5S"), False) == 29


def test_many_fives() -> None:
    fives = parse("5C 5D 5H 5S 5C 5D 5H 5S")
    parts = show_parts([*fives[:5], 52, 53, 54, 55], [], False)
    assert (parts["fifteens"], parts["pairs"]) == (320, 32)
    parts = show_parts([*fives, 52], [], False)
    assert (parts["fifteens"], parts["pairs"]) == (224, 56)


# ---------------------------------------------------------------------------------- the play


@pytest.mark.parametrize("case", cases("pegging"), ids=lambda case: case["why"])
def test_pegging_case(case: dict[str, Any]) -> None:
    series = parse(case["cards"])
    points = [play_points(series[:laid]) for laid in range(1, len(series) + 1)]
    assert points == case["points"]


def test_stuck_player_has_no_choice_and_refused_card_changes_nothing() -> None:
    game = start("TC 7C KD 9S", "8D 2H AC QS")
    lay(game, "TC 8D 7C 2H")
    assert (game.count, game.actor) == (27, 0)  # the pone, with K and 9, is passed over
    assert game.go_counts == [32, 27]
    before = (list(game.series), [list(hand) for hand in game.unplayed], list(game.log))
    for card in parse("KD 9S QS TC 5H"):
        with pytest.raises(ValueError, match="cannot be played"):
            game.play(card)
    assert (game.series, game.unplayed, game.log) == before
    assert game.legal_cards() == parse("AC")
    lay(game, "AC")
    assert game.log == [(0, 1, "go")]
    assert game.go_counts == [28, 27]
    assert (game.count, game.series, game.actor) == (0, [], 1)


def test_heels_win_at_the_cut() -> None:
    game = start("5C 5D 5H 6C", "4C 4D 4H 6D", starter="JS", scores=(119, 120))
    assert (game.phase, game.winner, game.scores) == ("over", 0, [121, 120])
    assert game.log == [(0, 2, "heels")]
    assert (game.actor, game.legal_cards(), game.legal_tosses()) == (None, [], [])
    with pytest.raises(ValueError, match="cannot be played"):
        lay(game, "5C")


@pytest.mark.parametrize("dealer", [0, 1])
def test_heels_are_scored_once_and_the_game_goes_on(dealer: int) -> None:
    game = start("5C 5D 5H 6C", "4C 4D 4H 6D", starter="JS", first_dealer=dealer)
    assert (game.phase, game.actor, game.log) == ("play", 1 - dealer, [(dealer, 2, "heels")])


@pytest.mark.parametrize("dealer", [0, 1])
def test_after_thirty_one_the_player_to_the_left_of_its_maker_leads(dealer: int) -> None:
    pone = 1 - dealer
    game = start("TC JD 5H 2S", "KC 6D 5S 3H", first_dealer=dealer)
    lay(game, "TC KC 5H 6D")
    assert game.log == [(dealer, 2, "play")]  # 31 is two and not one and a go besides
    assert (game.count, game.actor) == (0, pone)
    assert game.go_counts == [32, 32]
    lay(game, "JD 5S 2S 3H")
    assert pegged(game) == [(dealer, 2, "play"), (dealer, 2, "play"), (dealer, 1, "last")]


@pytest.mark.parametrize("dealer", [0, 1])
def test_dealer_leads_after_thirty_one_by_the_pone(dealer: int) -> None:
    pone = 1 - dealer
    game = start("TC 4D 9S QH", "6C 2D KS 8H", first_dealer=dealer)
    lay(game, "TC 6C 4D 2D 9S")
    assert game.log == [(pone, 2, "play")]
    assert (game.count, game.actor) == (0, dealer)
    game = start("TC AD QH 8S", "KC 2D 9S 3H", first_dealer=dealer)
    lay(game, "TC KC QH")
    assert (game.count, game.actor) == (30, pone)
    lay(game, "AD")
    assert game.log == [(pone, 2, "play")]
    assert (game.count, game.actor) == (0, dealer)
    assert game.go_counts[dealer] == 30


def test_go_wins_the_game() -> None:
    game = start("KC 9C 8D 7H", "QD 8S 7C 6H", scores=(120, 120))
    lay(game, "KC QD 9C")
    assert game.log == [(1, 1, "go")]
    assert (game.phase, game.winner, game.scores) == ("over", 1, [120, 121])


def test_pone_counts_first_and_the_dealer_is_never_counted() -> None:
    game = start("9C 9D KH QS", "4C 4D 5H 5S", starter="6C", scores=(106, 115))
    lay(game, "KH 4C 9C 4D QS 5H 9D 5S")
    assert pegged(game) == [(0, 1, "go"), (0, 2, "play"), (0, 1, "last")]
    assert show_points(game.hands[0], [game.starter], False) == 24
    assert game.log[-1] == (1, 6, "hand")
    assert (game.phase, game.winner, game.scores) == ("over", 1, [110, 121])


def test_score_stops_at_the_target_and_the_crib_is_not_counted() -> None:
    game = start("9C 9D KH QS", "4C 4D 5H 5S", starter="6C", scores=(110, 0))
    lay(game, "KH 4C 9C 4D QS 5H 9D 5S")
    assert show_points(game.crib, [game.starter], True) > 0
    assert game.log[-2:] == [(1, 6, "hand"), (0, 24, "hand")]
    assert (game.phase, game.winner, game.scores) == ("over", 0, [121, 6])


def test_kept_cards_are_shown_although_all_were_laid() -> None:
    game = start("TC JD 5H 2S", "KC 6D 5S 3H", starter="QC")
    lay(game, "TC KC 5H 6D JD 5S 2S 3H")
    assert game.unplayed == [[], []]
    assert game.hands == [sorted(parse("KC 6D 5S 3H")), sorted(parse("TC JD 5H 2S"))]
    crib = show_points(game.crib, [game.starter], True)
    assert [entry for entry in game.log if entry not in pegged(game)] == [
        (1, 9, "hand"),  # three fifteens; ten, jack, queen
        (0, 4, "hand"),  # two fifteens
        (0, crib, "crib"),
    ]


def test_crib_needs_the_starter_for_its_flush() -> None:
    hands = [parse("2C 4C TD QD KD 9S"), parse("6C TC AD 3D 7S 8S")]
    cribs = []
    for starter in parse("9H 9C"):
        game = ReferenceGame([Deal(hands, [], starter)])
        game.toss(parse("6C TC"))
        game.toss(parse("2C 4C"))
        while game.phase == "play":
            game.play(game.legal_cards()[0])
        cribs.append([points for _, points, why in game.log if why == "crib"])
    assert cribs == [[4], [9]]  # 2 4 9 and 6 9 are fifteen with either nine


def test_nothing_reaches_back_across_a_reset() -> None:
    game = start("KC 9D 8S AH", "KD 2C 9H 7C")
    lay(game, "KC KD 9D 2C")
    assert game.log == [(0, 2, "play"), (0, 2, "play")]
    assert (game.count, game.series) == (0, [])
    lay(game, "8S 9H")
    assert game.log == [(0, 2, "play"), (0, 2, "play")]
    assert game.series == parse("8S 9H")


def test_last_card_that_makes_fifteen() -> None:
    game = start("KC 9D AS 2H", "KD 2C 6H 6C")
    lay(game, "KC KD 9D 2C AS 6H 2H 6C")
    assert pegged(game)[2:] == [(0, 2, "play"), (0, 1, "last")]


def test_last_card_that_makes_thirty_one() -> None:
    game = start("KC 9D QS 8H", "KD 2C 9H 4C")
    lay(game, "KC KD 9D 2C QS 9H 8H 4C")
    assert pegged(game)[2:] == [(0, 2, "play")]


def test_after_a_go_the_other_plays_on_alone_and_scores() -> None:
    game = start("KC 7D 9S QH", "TC AC AD AH")
    lay(game, "KC TC 7D AC")
    assert (game.count, game.actor, game.log) == (28, 0, [])  # no point for the go as yet
    lay(game, "AD")
    assert (game.actor, game.log) == (0, [(0, 2, "play")])
    lay(game, "AH")
    assert game.log == [(0, 2, "play"), (0, 6, "play"), (0, 1, "go")]
    assert game.go_counts == [32, 28]  # the dealer has no cards left and shows nothing
    assert (game.count, game.actor) == (0, 1)
    lay(game, "9S QH")  # the only player with cards lays both
    assert pegged(game)[3:] == [(1, 1, "last")]


# ------------------------------------------------------------------------------- other games


def test_tosses_are_in_order_of_the_sorted_hand() -> None:
    hands = [parse("KS 2C 3C 4C 5C 6C"), parse("QD AC 9H 7H 7C AD")]
    game = ReferenceGame([Deal(hands, [], parse("8S")[0])])
    assert (game.phase, game.actor) == ("discard", 1)  # the pone first
    assert game.legal_tosses() == list(combinations(parse("AC AD 7C 7H 9H QD"), 2))
    with pytest.raises(ValueError, match="cannot be tossed"):
        game.toss(parse("AC KS"))
    with pytest.raises(ValueError, match="cannot be played"):
        lay(game, "AC")
    game.toss(parse("QD 7C"))
    assert (game.phase, game.actor) == ("discard", 0)
    game.toss(parse("KS 2C"))
    assert (game.phase, game.actor) == ("play", 1)
    assert sorted(game.crib) == sorted(parse("QD 7C KS 2C"))


def test_three_players_pass_and_lead() -> None:
    game = start("TC 9C 8C AC", "TD 9D 3D 2D", "TH 7H 6H 5H", tossed=1, crib_from_deck=1)
    assert len(game.crib) == 4
    assert game.actor == 1
    lay(game, "TC TD 7H AC")
    assert (game.count, game.actor, game.log) == (28, 2, [(2, 2, "play")])
    lay(game, "2D")
    assert game.go_counts == [30, 30, 30]  # the one who laid last is stuck as well
    assert game.log[1:] == [(2, 1, "go")]
    assert (game.count, game.actor) == (0, 0)  # left of the one who laid last
    lay(game, "TH 9C 9D")
    assert (game.count, game.actor) == (28, 2)  # the two others are passed over
    assert game.go_counts == [28, 28, 30]
    lay(game, "3D")
    assert game.log[2:] == [(2, 2, "play"), (2, 2, "play")]
    lay(game, "6H 8C 5H")  # player 2 is out of cards
    assert pegged(game)[4:] == [(0, 1, "last")]


def test_three_players_show_from_the_dealers_left() -> None:
    kept = ("5C 5D 4C 6C", "5H 5S 4D 6D", "TC TD 4H 6H")
    game = start(*kept, starter="KC", tossed=1, crib_from_deck=1)
    while game.phase == "play":
        game.play(game.legal_cards()[0])
    shown = [(player, why) for player, _, why in game.log if why in ("hand", "crib")]
    assert shown == [(1, "hand"), (2, "hand"), (0, "hand"), (0, "crib")]


def test_four_players_score_for_their_side_and_the_lead_skips_an_empty_hand() -> None:
    kept = ("2C 2D 2H 2S", "TC TD TH TS", "KC KD KH KS", "QC QD QH QS")
    game = start(*kept, tossed=1, partnerships=True)
    lay(game, "2C TC KC")
    assert (game.count, game.actor, game.go_counts[0]) == (22, 1, 22)
    lay(game, "2D 2H 2S")
    assert game.log == [(1, 2, "play"), (1, 6, "play"), (1, 1, "go")]
    assert game.scores == [0, 9]
    assert game.go_counts == [22, 32, 24, 24]
    assert game.actor == 2
    lay(game, "TD KD QC")
    assert game.log[3:] == [(0, 1, "go")]
    assert game.scores == [1, 9]
    assert game.actor == 2  # player 1 has no cards
    lay(game, "TH KH QD")
    assert game.scores == [2, 9]


PLAYERS: dict[str, dict[str, Any]] = {
    "two": {},
    "two short": {"target": 61},
    "two five cards": {"cards_dealt": 5, "target": 61},
    "three": {"num_players": 3, "cards_dealt": 5, "cards_tossed": 1, "crib_from_deck": 1},
    "four": {"num_players": 4, "cards_dealt": 5, "cards_tossed": 1, "partnerships": True},
    "four alone": {"num_players": 4, "cards_dealt": 5, "cards_tossed": 1},
}


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("seed", range(5))
def test_random_games_hold_together(name: str, seed: int) -> None:
    options = PLAYERS[name]
    chance = random.Random(seed)
    num_players = options.get("num_players", 2)
    num_dealt = options.get("cards_dealt", 6)

    def deal(_: int) -> Deal:
        deck = chance.sample(DECK, 52)
        hands = [[deck.pop() for _ in range(num_dealt)] for _ in range(num_players)]
        to_crib = [deck.pop() for _ in range(options.get("crib_from_deck", 0))]
        return Deal(hands, to_crib, deck.pop())

    game = ReferenceGame(deal, first_dealer=1, **options)
    scores = game.scores[:]
    while game.phase != "over":
        assert game.actor is not None
        assert game.dealer == (1 + game.deal_number) % num_players
        if game.phase == "discard":
            game.toss(chance.choice(game.legal_tosses()))
        else:
            card = chance.choice(game.legal_cards())
            # A player who was stuck at some count has nothing that would have fitted.
            assert game.go_counts[game.actor] + min(card // 4 + 1, 10) > 31
            game.play(card)
        assert all(new >= old for new, old in zip(game.scores, scores, strict=True))
        scores = game.scores[:]
    assert game.winner is not None
    assert game.scores[game.winner] == game.target
    assert game.side(game.log[-1][0]) == game.winner
    for side, score in enumerate(game.scores):
        earned = sum(points for player, points, _ in game.log if game.side(player) == side)
        assert score == min(earned, game.target)
        assert side == game.winner or score < game.target
