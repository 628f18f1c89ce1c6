"""Faults of engines, each with the conformance fixtures that have to catch it."""

from faulty_engines import (
    TRUE,
    Fault,
    award_past_the_target,
    award_past_the_target_at_the_show,
    best_part_only,
    deal_always_by_the_first,
    dealer_leads,
    fifteens_of_two_cards,
    flush_with_any_four,
    heels,
    lay_anything,
    name_the_other,
    no_more_than_a_pair,
    nobs_for_the_starter,
    nobs_of_any_suit,
    one_pair_a_rank,
    pairs_across_other_cards,
    pegging_runs,
    play_across_series,
    run_in_order,
    run_only_from_the_start,
    run_only_grows_by_one,
    run_spoiled_by_duplicates,
    run_through_pairs,
    runs_around_the_corner,
    runs_of_distinct_ranks,
    runs_within_runs,
    showing,
    thirty_one_is_one,
    turning,
)

FAULTS = {
    "a crib's flush of four": Fault(
        {"flush_points": lambda hand, starters, _: TRUE["flush_points"](hand, starters, False)},
        ("no four-card flush in a crib", "a crib of four alike"),
    ),
    "no flush in the crib": Fault(
        {"flush_points": lambda *hand: 0 if hand[2] else TRUE["flush_points"](*hand)},
        ("a crib's flush of five", "a crib of five alike"),
    ),
    "no flush of four": Fault(
        {"flush_points": lambda hand, starters, _: TRUE["flush_points"](hand, starters, True)},
        ("a hand's flush of four", "a hand of four alike"),
    ),
    "the starter follows no suit": Fault(
        {"flush_points": lambda hand, *_: TRUE["flush_points"](hand, [], False)},
        ("a hand's flush of five", "a crib's flush of five"),
    ),
    "the starter completes a flush": Fault(
        {"flush_points": flush_with_any_four}, ("no flush of three and the starter",)
    ),
    "nobs of any suit": Fault({"nobs_points": nobs_of_any_suit}, ("no nobs of another suit",)),
    "no nobs": Fault({"nobs_points": lambda *_: 0}, ("nobs", "the perfect hand")),
    "nobs for the starter": Fault(
        {"nobs_points": nobs_for_the_starter},
        ("no nobs for a jack turned", "heels and not nobs"),
    ),
    "fifteens of two cards": Fault(
        {"fifteen_points": fifteens_of_two_cards}, ("three fifteens in a hand",)
    ),
    "one pair a rank": Fault(
        {"pair_points": one_pair_a_rank},
        ("the perfect hand", "a pair and a pair royal", "a double pair royal"),
    ),
    "runs of distinct ranks": Fault(
        {"run_points": runs_of_distinct_ranks},
        (
            "a double run and fifteens",
            "fifteens, a pair and a double run",
            "a double double run with fours and fives",
            "a double double run with sevens and eights",
            "a double run with a pair",
        ),
    ),
    "runs within runs": Fault({"run_points": runs_within_runs}, ("a run of five",)),
    "runs around the corner": Fault(
        {"run_points": runs_around_the_corner}, ("no run around the corner",)
    ),
    "only the best part": Fault(
        {"play_points": best_part_only},
        ("fifteen with a run", "fifteen with a pair", "thirty-one with a run"),
    ),
    "no more than a pair": Fault(
        {"play_points": no_more_than_a_pair}, ("a pair and a pair royal", "a double pair royal")
    ),
    "pairs across other cards": Fault(
        {"play_points": pairs_across_other_cards}, ("no pair across another card",)
    ),
    "runs in order": Fault(
        {"play_points": pegging_runs(run_in_order)},
        ("a run out of order", "a run that grows", "a run that grows to seven"),
    ),
    "runs through pairs": Fault(
        {"play_points": pegging_runs(run_through_pairs)},
        ("a run broken by a pair", "a run broken by a pair in play"),
    ),
    "runs from the start of the series": Fault(
        {"play_points": run_only_from_the_start},
        ("a run after a card apart", "a run after an earlier pair"),
    ),
    "runs spoiled by an earlier duplicate": Fault(
        {"play_points": run_spoiled_by_duplicates},
        ("a run whose rank was laid before", "an earlier duplicate and a run in play"),
    ),
    "runs grow by one": Fault({"play_points": run_only_grows_by_one}, ("a run of four at once",)),
    "thirty-one is one": Fault({"play_points": thirty_one_is_one}, ("thirty-one is two",)),
    "thirty-one and a go": Fault(
        {"_pass_turn_from": turning("a go on thirty-one")},
        ("thirty-one is two", "the last card with thirty-one"),
    ),
    "a point for every go": Fault(
        {"_pass_turn_from": turning("a point for every go")}, ("a go counts once a series",)
    ),
    "the first go ends the series": Fault(
        {"_pass_turn_from": turning("the first go ends all")},
        ("a go leaves the others to lay on",),
    ),
    "no go": Fault(
        {"_pass_turn_from": turning("no go")},
        ("a go counts once a series", "the dealer's go point", "a go wins"),
    ),
    "the go to who says it": Fault(
        {"_pass_turn_from": turning("the go to the other")}, ("the dealer's go point",)
    ),
    "no last card": Fault(
        {"_pass_turn_from": turning("no last card")},
        ("the last card", "the last card wins before the count", "a whole deal"),
    ),
    "no last card with fifteen": Fault(
        {"_pass_turn_from": turning("not with fifteen")}, ("the last card with fifteen",)
    ),
    "the layer leads again": Fault(
        {"_pass_turn_from": turning("the layer leads")},
        (
            "the lead after the dealer's thirty-one",
            "the lead after the pone's thirty-one",
            "the lead after the pone's go point",
        ),
    ),
    "the pone leads every series": Fault(
        {"_pass_turn_from": turning("the pone leads")},
        ("the lead after the pone's thirty-one", "the lead after the pone's go point"),
    ),
    "the lead to who has no card": Fault(
        {"_pass_turn_from": turning("the lead without cards")},
        ("the lead of who alone holds cards",),
    ),
    "seat 0 leads every series": Fault(
        {"_pass_turn_from": turning("seat 0 leads")},
        ("the lead after the pone's thirty-one", "the lead after the dealer's thirty-one"),
    ),
    "pairs and runs across series": Fault(
        {"play": play_across_series},
        ("no pair across thirty-one", "no run across thirty-one"),
    ),
    "any card may be laid": Fault(
        {"legal_cards": lay_anything}, ("only what stays within thirty-one",)
    ),
    "a go by choice": Fault({}, ("no passing by choice",), may_pass=True),
    "the dealer leads": Fault({"_turn_starter": dealer_leads}, ("the pone leads",)),
    "no heels": Fault({"_award": heels("none")}, ("a jack turned is heels", "heels win")),
    "heels to the pone": Fault({"_award": heels("to the pone")}, ("a jack turned is heels",)),
    "heels do not win": Fault({"_award": heels("do not win")}, ("heels win",)),
    "hands empty at the show": Fault(
        {"_show": showing("hands are empty")},
        (
            "cards laid count at the show",
            "a second whole deal",
            "a third whole deal",
            "a fourth whole deal",
            "a fifth whole deal",
        ),
    ),
    "the crib to the pone": Fault(
        {"_show": showing("crib to the pone")}, ("the crib is the dealer's", "the crib wins last")
    ),
    "the dealer counts first": Fault(
        {"_show": showing("dealer first")},
        ("the pone counts first", "the count goes on to the dealer"),
    ),
    "the count by seat": Fault(
        {"_show": showing("by seat")}, ("the pone counts first", "the count goes on to the dealer")
    ),
    "play past the target": Fault(
        {"_award": award_past_the_target},
        ("heels win", "a pegged pair wins", "a go wins", "the pone counts first"),
    ),
    "all is counted before anyone wins": Fault(
        {"_award": award_past_the_target_at_the_show}, ("the pone counts first",)
    ),
    "the wrong winner": Fault({"_end": name_the_other}, ("the crib wins last", "a go wins")),
    "one dealer for the whole game": Fault(
        {"_deal": deal_always_by_the_first}, ("the deal passes",)
    ),
}
