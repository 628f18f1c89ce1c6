"""What crosses the pipe to foreign bots and back."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from cribai import GameBatch, Rules
from cribai.cards import card_text
from cribai.engine import state as engine
from cribai.tournament.external.decisions import read_action, view_fields
from external_bots import (  # noqa: F401
    BOTS,
    ROOT,
    Make,
    command_of_bot,
    foreign,
    make_bots,
    nothing_is_left,
    some_views,
)
from hidden_cards import with_other_hidden_cards
from test_views import ALL_RULES, positions

pytestmark = foreign


def test_only_the_view_crosses_the_pipe(make: Make, tmp_path: Path) -> None:
    chance = random.Random(3)
    agents = [make("", tmp_path / name, batch=64) for name in ("one", "other")]
    num_changed = 0
    for rules in ALL_RULES:
        for batch in positions(rules, 3, every=3):
            others = np.array(
                [with_other_hidden_cards(state, rules, chance) for state in batch.states],
                engine.STATE,
            )
            num_changed += int((others["hands"] != batch.states["hands"]).any(axis=(1, 2)).sum())
            agents[0].act(batch.views())
            agents[1].act(GameBatch(others, rules, batch.games).views())
    assert num_changed > 100
    one, other = (tmp_path / name for name in ("one", "other"))
    assert one.stat().st_size > 100_000
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.name)
def test_a_view_as_bots_see_it(rules: Rules) -> None:
    for batch in positions(rules, 4, every=2):
        for view in batch.views():
            fields = json.loads(json.dumps(view_fields(view)))
            assert int(fields["key"]) == view.key
            assert fields["hand"] == [card_text(card) for card in view.hand]
            assert fields["plays"] == [[place, card_text(card)] for place, card in view.plays]
            assert fields["scores"] == list(view.scores)
            assert fields["go_counts"] == list(view.go_counts)
            assert fields["dealer"] == view.dealer
            assert (fields["role"] == "dealer") == view.is_dealer
            assert [entry["action"] for entry in fields["legal_actions"]] == view.legal_actions
            for entry in fields["legal_actions"]:
                assert read_action(entry, view) == entry["action"]
                assert read_action(entry["action"], view) == entry["action"]
                if view.is_discard:
                    backwards = {"toss": entry["toss"][::-1]}
                    assert read_action(backwards, view) == entry["action"]


def test_the_document_shows_the_bot_and_the_messages() -> None:
    text = (ROOT / "docs" / "external-bots.md").read_text()
    assert f"```python\n{(BOTS / 'random_bot.py').read_text()}```" in text
    blocks = re.findall(r"^```\n(\{.*?)^```$", text, re.MULTILINE | re.DOTALL)
    messages = [json.JSONDecoder().decode(block) for block in blocks]
    kinds = {message["type"] for message in messages}
    assert kinds == {"hello", "rules", "act", "actions", "games_ended", "quit"}
    shown = [view for message in messages for view in message.get("views", [])]
    assert {view["phase"] for view in shown} == {"toss", "play"}
    fields = set(view_fields(some_views(1)[0]))
    assert all(set(view) == fields for view in shown)
    for field in fields:
        assert f"`{field}`" in text
