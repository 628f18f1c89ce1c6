"""Render modes: what text and picture show, and that pictures follow the view alone."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from cribai import Deal, Game, Rules, View, get_rules, parse_cards
from cribai.cards import cards_text
from cribai.engine import state as engine
from cribai.envs.rendering import Window, draw_table, render_text
from cribai.errors import ConfigError
from plain_presets import PLAIN

SIZE = (640, 960, 3)

JOKERS = Rules(
    num_players=4,
    cards_dealt=6,
    cards_tossed=1,
    num_jokers=4,
    target=400,
    skunk_line=300,
    double_skunk_line=100,
)


def deal(yours: str, theirs: str, starter: str) -> Deal:
    """A deal in which seat 0, the pone, holds `yours`."""
    return Deal((parse_cards(yours), parse_cards(theirs)), parse_cards(starter)[0])


def playing(theirs: str = "2C 3C 9D 9S KH QS") -> Game:
    """A standard game after the tosses and two lays, seat 0 to act."""
    cards = deal("5H 5D JD QC KD 4S", theirs, "7D")
    game = Game(seed=1, first_dealer=1, deals=[cards], scores=(45, 78))
    game.push_cards(*parse_cards("KD 4S"))
    game.push_cards(*parse_cards("2C 3C"))
    game.push_cards(*parse_cards("JD"))
    game.push_cards(*parse_cards("9D"))
    return game


def changed(view: View, **fields: object) -> View:
    record = view.record.copy()
    for name, value in fields.items():
        if np.ndim(record[name]):
            record[name][: np.size(value)] = value
        else:
            record[name] = value
    return View(record, view.rules)


def finished(view: View, scores: tuple[int, ...]) -> View:
    """The view of a game that ended with these scores, in turn order."""
    record = view.record.copy()
    record["phase"], record["playable"], record["num_legal"] = engine.OVER, 0, 0
    record["scores"][: len(scores)] = scores
    return View(record, view.rules)


def views_of(rules: Rules) -> Iterator[View]:
    """Every view of the first deal of a game."""
    game = Game(rules, seed=3)
    while not game.is_over and game.deal_number == 0:
        yield game.view()
        game.push(game.legal_actions[-1])


def row_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line[2:].startswith(name))


# Text


def test_text_shows_table_in_pegging() -> None:
    text = render_text(playing().view())
    assert text.splitlines() == [
        "standard to 121, deal 1",
        "",
        "                    score  hand      laid",
        "> You       pone       45  5♦ 5♥ Q♣  J♦",
        "  Opponent  dealer     78  ## ## ##  9♦",
        "",
        "  crib     ## ## ## ## (4 cards, Opponent's)",
        "  tossed   4♠ K♦",
        "  starter  7♦",
        "  series   You J♦, Opponent 9♦",
        "  count    19 of 31",
        "",
        "  lay       15 5♦   16 5♥   18 Q♣",
    ]


def test_text_shows_tosses_by_number() -> None:
    view = Game(seed=3, first_dealer=0).view()
    text = render_text(view)
    assert row_of(text, "Opponent").split()[1:] == ["dealer", "0", *["##"] * 6]
    for action in view.legal_actions:
        cards = cards_text(view.cards_of(action)).translate(str.maketrans("CDHS", "♣♦♥♠"))
        assert f"{action:>3} {cards}" in text
    assert "starter" not in text


def test_text_is_the_same_for_any_hidden_cards() -> None:
    first = playing("2C 3C 9D 9S KH QS")
    second = playing("2C 3C 9D 8H 8S 8C")
    assert first.hands != second.hands
    assert render_text(first.view()) == render_text(second.view())
    assert np.array_equal(draw_table(first.view()), draw_table(second.view()))


def test_text_names_places_and_partner() -> None:
    text = render_text(Game("four_player", seed=3, first_dealer=3).view())
    rows = [line[2:].split()[0] for line in text.splitlines()[3:7]]
    assert rows == ["You", "Left", "Across", "Right"]
    assert "partner" in row_of(text, "Across")
    assert "dealer" in row_of(text, "Right")
    assert "Left" in render_text(Game("three_player", seed=3).view())


def test_go_is_shown() -> None:
    game = playing()
    before = game.view()
    game.push_cards(*parse_cards("5H"))
    view = game.view()
    assert (game.actor, view.count) == (0, 24)
    assert row_of(render_text(view), "Opponent").endswith("9♦ (go)")
    assert "(go)" not in render_text(before)
    silent = changed(view, go_counts=(engine.NO_GO, engine.NO_GO))
    assert not np.array_equal(draw_table(view), draw_table(silent))
    game.push_cards(*parse_cards("5D"))
    assert "(go)" not in render_text(game.view())  # a new series


@pytest.mark.parametrize("place", [0, 1])
def test_text_tells_result(place: int) -> None:
    scores = (121, 60) if place == 0 else (100, 121)
    text = render_text(finished(playing().view(), scores))
    winner = "You win, 121-60, a double skunk" if place == 0 else "Opponent wins, 121-100"
    assert text.splitlines()[-1] == f"  {winner}"
    assert ">" not in text
    assert "lay " not in text


def test_text_tells_which_partners_won() -> None:
    view = Game("four_player", seed=3).view()
    assert "You and Across win, 121-88, a skunk" in render_text(finished(view, (121, 88, 121, 88)))
    assert "Left and Right win" in render_text(finished(view, (99, 121, 99, 121)))


def test_text_of_player_who_waits_has_no_actions() -> None:
    view = Game(seed=3).view()
    record = view.record.copy()
    record["num_legal"] = 0
    text = render_text(View(record, view.rules))
    assert text.endswith("Another player is to act.")
    assert "toss" not in text
    assert ">" not in text


# Pictures


@pytest.mark.parametrize("rules", [*PLAIN.values(), JOKERS], ids=lambda rules: rules.name)
def test_every_view_draws(rules: Rules) -> None:
    frames = []
    for view in views_of(rules):
        assert render_text(view)
        frame = draw_table(view)
        assert frame.shape == SIZE
        assert frame.dtype == np.uint8
        frames.append(frame)
    assert len(frames) > 5
    for before, after in pairwise(frames):
        assert not np.array_equal(before, after)


def test_equal_views_give_equal_frames() -> None:
    frames = [draw_table(playing().view()) for _ in range(2)]
    assert np.array_equal(*frames)
    frames[0][:] = 0  # a frame is the caller's own
    assert np.array_equal(draw_table(playing().view()), frames[1])


@pytest.mark.parametrize("scores", [(46, 78), (45, 79), (0, 0), (120, 120)])
def test_frame_follows_scores(scores: tuple[int, int]) -> None:
    view = playing().view()
    before, after = draw_table(view), draw_table(changed(view, scores=scores))
    assert not np.array_equal(before[:124], after[:124])  # the board
    assert not np.array_equal(before[124:], after[124:])  # the plates


@pytest.mark.parametrize("preset", ["standard", "three_player", "four_player"])
def test_end_draws(preset: str) -> None:
    rules = get_rules(preset)
    view = Game(rules, seed=3).view()
    sides = [rules.side_of(player) for player in range(rules.num_players)]
    won = tuple(rules.target if side == 0 else 50 for side in sides)
    lost = tuple(rules.target if side == 1 else 50 for side in sides)
    frames = [draw_table(view), *(draw_table(finished(view, scores)) for scores in (won, lost))]
    assert all(frame.shape == SIZE for frame in frames)
    assert not any(np.array_equal(*pair) for pair in pairwise(frames))


@pytest.mark.parametrize("target", [1, 2, 6, 11, 31, 151, 152, 10_000])
def test_any_target_draws(target: int) -> None:
    rules = Rules(target=target, skunk_line=None, double_skunk_line=None)
    for score in {0, 1, target // 2, target - 1} & set(range(target)):
        view = Game(rules, seed=3, scores=(score, 0)).view()
        assert draw_table(view).shape == SIZE


def test_importing_stays_light() -> None:
    code = (
        "import sys, cribai.envs.rendering;"
        "assert not {'PIL', 'matplotlib'} & set(sys.modules), 'loaded early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Windows


@pytest.mark.parametrize("backend", ["agg", "SVG", "module://matplotlib_inline.backend_inline"])
def test_window_refuses_backend_without_gui(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpl, "get_backend", lambda: backend)
    with pytest.raises(ConfigError, match="use render_mode='ansi' or 'rgb_array', or set a"):
        Window()


@pytest.fixture
def gui(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Figure]]:
    """Makes a window possible without a screen; lists the figures that were shown."""
    shown: list[Figure] = []
    plt.switch_backend("agg")
    monkeypatch.setattr(mpl, "get_backend", lambda: "tkagg")
    monkeypatch.setattr(Figure, "show", lambda figure: shown.append(figure))
    yield shown
    plt.close("all")


def test_window_shows_frames(gui: list[Figure]) -> None:
    window = Window()
    assert plt.get_fignums() == []
    frame = draw_table(playing().view())
    window.show(frame)
    window.show(255 - frame)
    (figure,) = gui
    picture = figure.axes[0].images[0].get_array()
    assert np.array_equal(np.asarray(picture), 255 - frame)
    assert tuple(figure.get_size_inches() * figure.dpi) == (960, 640)
    window.close()
    window.close()
    assert plt.get_fignums() == []


def test_window_opens_again_when_closed(gui: list[Figure]) -> None:
    window = Window()
    frame = draw_table(playing().view())
    window.show(frame)
    plt.close(gui[0])
    window.show(frame)
    assert len(gui) == 2


def test_window_tells_of_missing_toolkit(
    gui: list[Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise ImportError("Cannot load backend")

    window = Window()
    monkeypatch.setattr(plt, "figure", fail)
    with pytest.raises(ConfigError, match="the matplotlib backend 'tkagg' opens none"):
        window.show(draw_table(playing().view()))
    assert gui == []
