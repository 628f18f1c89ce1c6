"""How the variants look: their decisions and cards in text, and pictures that show them."""

from collections.abc import Iterator

import numpy as np
import pytest

from cribai import PRESETS, Game, Rules, View
from cribai.cards import rank_of
from cribai.engine import state as engine
from cribai.envs.rendering import draw_table, render_text
from cribai.envs.scene import Scene, symbol_text
from env_play import some_quick
from plain_presets import PLAIN
from test_envs_rendering import changed, finished, row_of

pytestmark = pytest.mark.slow

presets = pytest.mark.parametrize(
    "name", some_quick([name for name in PRESETS if name not in PLAIN], "draw", "muggins")
)


def views_of(rules: str | Rules, seed: int = 3, action: int = -1) -> Iterator[View]:
    """Every view of the first deal of a game."""
    game = Game(rules, seed=seed)
    while not game.is_over and game.deal_number == 0:
        yield game.view()
        game.push(game.legal_actions[action])


def symbols(cards: tuple[int, ...]) -> str:
    return " ".join(map(symbol_text, cards))


def cells(text: str, name: str) -> str:
    return row_of(text, name)[len(name) + 2 :].strip()


@presets
def test_every_decision_is_told(name: str) -> None:
    for view in views_of(name):
        text = render_text(view)
        scene = Scene(view)
        assert f"  {scene.decision} " in text
        for action in view.legal_actions[:: max(1, len(view.legal_actions) // 8)]:
            assert f" {action} " in text


def test_both_starters_are_told() -> None:
    views = list(views_of("two_starters"))
    assert cells(render_text(views[0]), "starter") == symbols(views[0].starters)
    assert "series" not in render_text(views[0])
    later = views[3]
    assert len(later.starters) == 2
    assert cells(render_text(later), "starters") == ", ".join(map(symbol_text, later.starters))
    assert "series" in render_text(later)


def test_given_starters_are_told_by_player() -> None:
    views = list(views_of("chosen_starter"))
    giving = next(view for view in views if view.is_gift)
    assert "give" in render_text(giving)
    assert "  starter" not in render_text(giving)
    after = next(view for view in views if view.is_play)
    text = render_text(after)
    assert after.given is not None
    assert cells(text, "given") == symbol_text(after.given)
    own, other = after.starters[0], after.starters_of(1)[0]
    expected = f"{symbol_text(own)} yours, {symbol_text(other)} Opponent's"
    assert cells(text, "starters") == expected


def test_both_cribs_are_told() -> None:
    views = list(views_of("two_cribs"))
    texts = [[line for line in render_text(v).splitlines() if "  crib " in line] for v in views[:3]]
    assert ["0 cards, yours" in lines[0] for lines in texts] == [True, False, True]
    assert "2 cards, yours" in texts[1][0]
    assert "0 cards, Opponent's" in texts[1][1]
    assert Scene(views[1]).prompt == "toss 2 to the opponent's crib"
    assert Scene(views[0]).prompt == "toss 2 to your crib"


def test_bids_are_told() -> None:
    views = list(views_of("bid", action=0))
    assert cells(render_text(views[0]), "crib") == "(0 cards, bid for)"
    assert cells(render_text(views[1]), "notes") == "Opponent no bid"
    game = Game("bid", seed=3)
    game.push(game.view().action_of_number(4))
    assert cells(render_text(game.view()), "notes") == "Opponent bid 4"
    game.push(game.view().action_of_number(6))
    text = render_text(game.view())
    assert cells(text, "notes") == "You bid 4; Opponent bid 6"
    assert "Opponent's" in row_of(text, "crib")


def test_cards_thrown_away_are_told() -> None:
    game = Game("draw", seed=3)
    hand = game.view().kept
    game.push(game.view().action_of(*hand[:2]))
    game.push(game.view().action_of())
    text = render_text(game.view())
    assert cells(text, "thrown") == symbols(hand[:2])
    assert cells(text, "notes") == "You threw 2"


def named_king() -> View:
    """A view after a king was laid as a five."""
    for seed in range(50):
        game = Game("wild_kings", seed=seed)
        while game.view().is_discard:
            game.push(game.legal_actions[0])
        view = game.view()
        kings = [card for card in view.legal_cards if rank_of(card) == 12]
        if kings:
            game.push(view.action_of(kings[0], rank=4))
            return game.view()
    raise AssertionError("no king was held")


def test_named_kings_are_told() -> None:
    view = named_king()
    king = symbol_text(view.plays[0][1])
    text = render_text(view)
    assert f"Opponent {king}=5" in cells(text, "series")
    assert cells(text, "count") == "5 of 31"
    assert Scene(view).counts == (5,)
    plain = changed(view, play_ranks=12)
    assert (draw_table(view) != draw_table(plain)).any()


def test_counting_is_told() -> None:
    views = list(views_of("muggins", action=0))
    announcing = next(view for view in views if view.is_announcement)
    text = render_text(announcing)
    assert cells(text, "counted") == f"{symbols(announcing.shown)} (yours, a hand)"
    assert Scene(announcing).prompt == "announce what your hand is worth"
    claiming = next(view for view in views if view.is_claim)
    text = render_text(claiming)
    assert cells(text, "points") == "0 announced"
    assert "(Opponent's, a hand)" in cells(text, "counted")
    assert Scene(claiming).prompt == "0 announced for this hand: claim what was missed"
    crib = next(view for view in views if view.is_claim and view.record["shown_is_crib"])
    text = render_text(crib)
    assert cells(text, "counted") == f"{symbols(crib.shown)} (Opponent's, a crib)"


def test_the_lower_score_wins_at_lowball() -> None:
    view = next(views_of("lowball"))
    won = finished(view, (45, 60))
    assert render_text(won).splitlines()[-1] == "  You win, 45-60"
    assert Scene(finished(view, (60, 45))).verdict == "Opponent wins"


@presets
def test_pictures_show_each_step(name: str) -> None:
    """Where the text changes, the picture does, but for numbers that only the text lists."""
    views = list(views_of(name, action=0))
    frames = [draw_table(view) for view in views[::2]]
    assert all(frame.shape == (640, 960, 3) for frame in frames)
    assert len({frame.tobytes() for frame in frames}) > len(frames) / 2


def test_pictures_show_starters_cribs_and_bids() -> None:
    two = next(view for view in views_of("two_starters") if view.is_play)
    other = two.record["starters"].copy()
    other[0, 0] = next(card for card in range(52) if card not in other and card not in two.kept)
    assert (draw_table(two) != draw_table(changed(two, starters=other))).any()
    bid = next(view for view in views_of("bid") if view.is_play)
    for field in ("crib_owner", "bids"):
        value = 1 - bid.record["crib_owner"] if field == "crib_owner" else np.array([3, 5])
        assert (draw_table(bid) != draw_table(changed(bid, **{field: value}))).any()
    shown = next(view for view in views_of("muggins", action=0) if view.record["shown_is_crib"])
    hidden = changed(shown, phase=engine.PLAY, shown=[-1] * 10, shown_player=-1)
    assert (draw_table(shown) != draw_table(hidden)).any()
