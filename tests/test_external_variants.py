"""Foreign bots under every preset: what they are told and may answer, and nothing hidden."""

import json
import random
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from cribai import (
    PRESETS,
    AgentError,
    GameBatch,
    IllegalActionError,
    Rules,
    View,
    make_agent,
    parse_card,
)
from cribai.agent import ask
from cribai.cards import RANKS
from cribai.engine import state as engine
from cribai.testing import check_agent
from cribai.tournament.external import ExternalAgent
from cribai.tournament.external.decisions import read_action, view_fields
from cribai.tournament.external.messages import act_line
from external_bots import BOTS, RANDOM_BOT, ROOT, foreign
from hidden_cards import hide
from test_variants_games import VARIANTS
from test_views import positions

pytestmark = foreign
variants = pytest.mark.parametrize("rules", VARIANTS, ids=lambda rules: rules.name)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node here")

BASE = {
    *("game", "deal", "decision", "key", "seat", "role", "dealer", "scores", "phase", "hand"),
    *("tossed", "starter", "plays", "series", "count", "num_left", "go_counts", "legal_actions"),
}
WORDS = {
    "toss": "toss",
    "play": "play",
    "draw": "throw",
    "give": "give",
    "bid": "bid",
    "announce": "announce",
    "claim": "claim",
}


def added_fields(rules: Rules) -> set[str]:
    """The fields that rules add to a view."""
    fields: set[str] = set()
    fields |= {"starters"} if rules.num_starters > 1 or rules.chosen_starter else set()
    fields |= {"thrown", "num_thrown"} if rules.draw_before_toss or rules.draw_after_toss else set()
    fields |= {"given"} if rules.chosen_starter else set()
    fields |= {"bids", "crib_owner"} if rules.bid else set()
    fields |= {"play_ranks"} if rules.wild_kings else set()
    muggins = {"shown", "shown_player", "shown_is_crib", "announced"}
    return fields | (muggins if rules.muggins else set())


def some_views(rules: Rules) -> Iterator[tuple[View, dict[str, Any]]]:
    """Views of random games, and as bots see them."""
    for batch in positions(rules, 4, every=2):
        for view in batch.views():
            yield view, json.loads(json.dumps(view_fields(view)))


# ------------------------------------------------------------------------------- bots that play


@pytest.mark.parametrize("rules", PRESETS)
def test_the_bot_in_python_plays_every_preset(rules: str) -> None:
    with closing(ExternalAgent(RANDOM_BOT, batch=512)) as agent:
        check_agent(agent, rules=rules, games=2)
        assert not agent.failures


@needs_node
def test_the_bot_in_javascript_plays_as_greedy_or_refuses() -> None:
    greedy = make_agent("greedy")
    with closing(ExternalAgent(f"node {shlex.quote(str(BOTS / 'greedy_bot.js'))}")) as agent:
        for name, rules in PRESETS.items():
            if rules.is_varied or rules.lowball:
                refusal = f"play by the rules '{name}': I do not know .*; choose other rules"
                with pytest.raises(AgentError, match=refusal):
                    agent.check_rules(rules)
                continue
            for batch in positions(rules, 2, every=3):
                assert ask(agent, batch.views()).tolist() == greedy.act(batch.views()).tolist()
        assert not agent.failures


# -------------------------------------------------------------------------- what crosses the pipe


@variants
def test_every_legal_action_comes_back(rules: Rules) -> None:
    seen = set()
    for view, fields in some_views(rules):
        seen.add(fields["phase"])
        assert [entry["action"] for entry in fields["legal_actions"]] == view.legal_actions
        for entry in fields["legal_actions"]:
            action = entry["action"]
            assert read_action(action, view) == action
            assert set(entry) - {"as"} == {"action", WORDS[fields["phase"]]}
            assert ("as" in entry) == (view.rank_of(action) is not None)
            said = read_action({name: entry[name] for name in entry if name != "action"}, view)
            # Like cards of two decks are one choice in words.
            assert view.cards_of(said) == view.cards_of(action)
            assert view.rank_of(said) == view.rank_of(action)
            assert said == action or rules.num_decks == 2
    expected = {"toss", "play"}
    expected |= {"draw"} if rules.num_stock else set()
    expected |= {"give"} if rules.chosen_starter else set()
    expected |= {"bid"} if rules.bid else set()
    expected |= {"announce"} if rules.muggins else set()
    # Where hands may be worth hundreds, a random announcement is hardly ever too low.
    expected |= {"claim"} if rules.name == "muggins" else seen & {"claim"}
    assert seen == expected


@variants
def test_a_view_has_what_its_rules_add(rules: Rules) -> None:
    for view, fields in some_views(rules):
        assert set(fields) == BASE | added_fields(rules)
        if "starters" in fields:
            starters = [list(map(parse_card, cards)) for cards in fields["starters"]]
            assert starters == [list(view.starters_of(place)) for place in range(2)]
        if "thrown" in fields:
            assert len(fields["thrown"]) == fields["num_thrown"][0]
            assert tuple(map(parse_card, fields["thrown"])) == view.thrown
        if "given" in fields:
            given = fields["given"]
            assert (None if given is None else parse_card(given)) == view.given
        if "bids" in fields:
            assert fields["bids"] == list(view.bids_made)
            assert (fields["crib_owner"] is None) == (fields["phase"] == "bid")
            assert (fields["crib_owner"] == 0) == view.owns_crib
        if "play_ranks" in fields:
            for (_, card), named, rank in zip(
                fields["plays"], fields["play_ranks"], view.play_ranks, strict=True
            ):
                assert (named is not None) == (card[0] == "K")
                assert named is None or RANKS.index(named) == rank
        if "shown" in fields:
            is_shown = fields["phase"] in ("announce", "claim")
            assert (fields["shown"] != []) == is_shown
            assert (fields["shown_player"] is not None) == is_shown
            assert fields["shown_is_crib"] <= is_shown
            assert (fields["announced"] is not None) == (fields["phase"] == "claim")


@variants
def test_nothing_hidden_crosses_the_pipe(rules: Rules) -> None:
    chance = random.Random(2)
    num_views = 0
    for batch in positions(rules, 6, every=2):
        others = [hide(state, rules, int(state["actor"]), chance) for state in batch.states]
        covered = GameBatch(np.array(others, engine.state_dtype(rules)), rules, batch.games)
        lines = [act_line(1, list(views)) for views in (batch.views(), covered.views())]
        assert lines[0] == lines[1]
        num_views += len(others)
    assert num_views > 60


# ------------------------------------------------------------------------- answers that are none


def due(rules: str, phase: str) -> View:
    """A decision of a phase."""
    batch = GameBatch.start(8, rules, seed=2)
    while True:
        for view in batch.views():
            if view.phase == phase:
                return view
        batch.step([view.legal_actions[0] for view in batch.views()])


ILLEGAL = [
    ("draw", "draw", {"throw": "5H"}, "does not say which cards to throw"),
    ("draw", "draw", {"toss": ["5H"]}, "does not say which cards to throw"),
    ("chosen_starter", "give", {"give": ["5H"]}, "does not say which cards to give"),
    ("bid", "bid", {"bid": "3"}, "does not say how many points to bid"),
    ("bid", "bid", {"bid": True}, "does not say how many points to bid"),
    ("bid", "bid", {"bid": 13}, "The number 13 is illegal here"),
    ("muggins", "announce", {"claim": 3}, "does not say how many points to announce"),
    ("muggins", "announce", {"announce": 30}, "The number 30 is illegal here"),
    ("muggins", "claim", {"announce": 3}, "does not say how many points to claim"),
]


@pytest.mark.parametrize(("rules", "phase", "answer", "message"), ILLEGAL)
def test_answers_that_are_illegal(rules: str, phase: str, answer: Any, message: str) -> None:
    with pytest.raises(IllegalActionError, match=message):
        read_action(answer, due(rules, phase))


def test_all_cards_cannot_be_thrown_away() -> None:
    view = due("draw", "draw")
    cards = view_fields(view)["hand"]
    assert view.cards_of(read_action({"throw": cards[1:][::-1]}, view)) == view.hand[1:]
    with pytest.raises(IllegalActionError, match="keep one card or more"):
        read_action({"throw": cards}, view)


def test_kings_are_laid_as_ranks() -> None:
    for view, fields in some_views(PRESETS["wild_kings"]):
        kings = [entry for entry in fields["legal_actions"] if "as" in entry]
        if not kings:
            continue
        king = kings[0]["play"]
        highest = [entry for entry in kings if entry["play"] == king][-1]
        assert read_action({"play": king}, view) == highest["action"]
        for rank in ("10", "k", 7, "J1", ""):
            with pytest.raises(IllegalActionError, match="is not a rank; lay a king as one of"):
                read_action({"play": king, "as": rank}, view)
        return
    pytest.fail("no king could be laid")


# ------------------------------------------------------------------------------------- documents


def test_the_document_names_all_phases_and_fields() -> None:
    text = (ROOT / "docs" / "external-bots.md").read_text()
    fields = set().union(BASE, *map(added_fields, PRESETS.values()))
    assert all(f"`{field}`" in text for field in fields)
    assert all(f'`"{phase}"`' in text for phase in WORDS)
    assert all(f'"{word}":' in text for word in WORDS.values())


def test_the_document_shows_the_rules_in_full() -> None:
    text = (ROOT / "docs" / "external-bots.md").read_text()
    blocks = re.findall(r"^```\n(\{.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown = [message for message in map(json.loads, blocks) if "rules" in message]
    assert len(shown) == 2
    for message in shown:
        rules = Rules.from_dict(message["rules"])
        assert rules == PRESETS[rules.name]
        assert message["rules"] == rules.to_dict()
        assert message["num_actions"] == rules.num_actions
