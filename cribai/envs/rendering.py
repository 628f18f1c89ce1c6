"""Render modes: the table as the viewing player sees it, as text, as an image, in a window.

All start from a view, so they show nothing that its player may not know.
"""

from textwrap import wrap
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from cribai.cards import RANKS
from cribai.envs.scene import Scene, named_text, symbol_text, symbols_text
from cribai.errors import ConfigError
from cribai.views import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_BACK: Final = "##"
_LINE: Final = 88
_FILE_BACKENDS: Final = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
"""The backends of matplotlib that only write files."""


def render_text(view: View) -> str:
    """Returns the table as text: scores, hands, crib, starter, laid cards, series, legal actions.

    Face-down cards are shown as ##; an arrow marks the viewer when an action is his. Legal actions
    are numbered as `push` and `step` take them.
    """
    scene = Scene(view)
    rules = view.rules
    lines = [f"{rules.name} to {rules.target}, deal {view.deal + 1}", "", *_player_lines(scene), ""]
    lines += [f"  {name:<8} {what}".rstrip() for name, what in _table_rows(scene)]
    if scene.is_over:
        lines += ["", f"  {scene.verdict}, {scene.result}"]
    elif scene.legal_actions:
        lines += ["", *_action_lines(scene)]
    else:
        lines += ["", "  Another player is to act."]
    return "\n".join(lines)


def draw_table(view: View) -> NDArray[np.uint8]:
    """Returns the table as an image, uint8 array (640, 960, 3); equal views give equal images."""
    from cribai.envs import drawing

    return drawing.draw_view(view)


class Window:
    """A window that shows frames, opened with the first of them.

    It belongs to matplotlib, with the backend that is set there.

    Raises:
        ConfigError: The backend of matplotlib shows no windows.
    """

    def __init__(self) -> None:
        _require_gui()
        self._opened: tuple[Figure, AxesImage] | None = None

    def show(self, frame: NDArray[np.uint8]) -> None:
        """Shows a frame, in a new window if the last one was closed.

        Args:
            frame: Image of shape (height, width, 3).

        Raises:
            ConfigError: The backend of matplotlib cannot open a window here.
        """
        import matplotlib.pyplot as plt

        if self._opened is None or not plt.fignum_exists(self._opened[0].number):
            self._opened = _open_figure(frame)
        figure, picture = self._opened
        picture.set_data(frame)
        figure.canvas.draw_idle()
        # The event loop draws; a pause of pyplot would also take the focus from other windows.
        figure.canvas.start_event_loop(0.001)

    def close(self) -> None:
        """Closes the window; nothing happens when there is none."""
        import matplotlib.pyplot as plt

        if self._opened is not None:
            plt.close(self._opened[0])
        self._opened = None


def _open_figure(frame: NDArray[np.uint8]) -> "tuple[Figure, AxesImage]":
    """Opens a window that a frame fills."""
    import matplotlib.pyplot as plt

    height, width, _ = frame.shape
    try:
        figure = plt.figure(figsize=(width / 100, height / 100), dpi=100)
    except ImportError as error:  # a GUI backend without its toolkit or without a display
        raise _no_window() from error
    if figure.canvas.manager is not None:
        figure.canvas.manager.set_window_title("cribai")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    picture = axes.imshow(frame)
    figure.show()
    return figure, picture


def _require_gui() -> None:
    import matplotlib as mpl

    backend = mpl.get_backend().lower()
    if backend in _FILE_BACKENDS or backend.endswith("inline"):
        raise _no_window()


def _no_window() -> ConfigError:
    import matplotlib as mpl

    return ConfigError(
        "render_mode='human' needs a window and the matplotlib backend"
        f" {mpl.get_backend()!r} opens none; use render_mode='ansi' or 'rgb_array', or set"
        " a matplotlib GUI backend."
    )


def _player_lines(scene: Scene) -> list[str]:
    """A line a player: who, role, score, hand and laid cards, in columns."""
    rows = [("", "", "score", "hand", "laid")]
    for player in range(scene.rules.num_players):
        laid = " ".join(named_text(card, named) for card, named, _ in scene.laid(player))
        if scene.says_go(player):
            laid = f"{laid} (go)".lstrip()
        score = str(scene.view.scores[player])
        rows.append((scene.name(player), scene.role(player), score, _held(scene, player), laid))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    who, what, points, cards, _ = widths
    lines = [
        f"  {name:<{who}}  {role:<{what}}  {score:>{points}}  {hand:<{cards}}  {laid}"
        for name, role, score, hand, laid in rows
    ]
    if scene.legal_actions:
        lines[1] = ">" + lines[1][1:]
    return [line.rstrip() for line in lines]


def _held(scene: Scene, player: int) -> str:
    if player == 0:
        return symbols_text(scene.view.hand)
    return " ".join([_BACK] * scene.num_held(player))


def _table_rows(scene: Scene) -> list[tuple[str, str]]:
    """What lies on the table beyond hands and laid cards, as (name, text)."""
    view = scene.view
    rows = [("crib", _crib(scene, owner)) for owner in scene.crib_owners]
    rows += [
        ("tossed", symbols_text(view.tossed)),
        ("thrown", symbols_text(view.thrown)),
        ("given", "" if view.given is None else symbol_text(view.given)),
        ("notes", _notes(scene)),
        ("starters" if len(scene.starters) > 1 else "starter", _starters(scene)),
    ]
    if view.starter is not None and not scene.is_early:
        rows.append(("series", _series(scene)))
        rows.append(("count", f"{view.count} of {scene.rules.thirty_one}"))
    if scene.counted:
        whose = scene.owner_text(int(view.record["shown_player"]))
        rows.append(("counted", f"{symbols_text(view.shown)} ({whose}, a {scene.counted})"))
    if view.is_claim:
        rows.append(("points", f"{view.announced} announced"))
    return [(name, text) for name, text in rows if text]


def _crib(scene: Scene, owner: int) -> str:
    number = scene.num_crib(owner)
    return f"{' '.join([_BACK] * number)} ({number} cards, {scene.owner_text(owner)})".lstrip()


def _notes(scene: Scene) -> str:
    """What each player bid and threw away."""
    notes = [(scene.name(player), scene.note(player)) for player in range(scene.rules.num_players)]
    return "; ".join(f"{name} {note}" for name, note in notes if note)


def _starters(scene: Scene) -> str:
    return ", ".join(f"{symbol_text(card)} {whose}".rstrip() for card, whose in scene.starters)


def _series(scene: Scene) -> str:
    """The cards of the series in order, each with its player."""
    start = len(scene.view.plays) - len(scene.view.series)
    plays = zip(scene.view.plays[start:], scene.named[start:], strict=True)
    texts = [f"{scene.name(player)} {named_text(card, named)}" for (player, card), named in plays]
    return ", ".join(texts) or "-"


def _action_lines(scene: Scene) -> list[str]:
    texts = [f"{action:>3} {_action(scene, action)}" for action in scene.legal_actions]
    # Blanks within an action are kept from the wrapping.
    wrapped = wrap("  ".join(text.replace(" ", "\0") for text in texts), _LINE)
    rows = [row.replace("\0", " ") for row in wrapped]
    return [f"  {scene.decision if i == 0 else '':<8} {row}" for i, row in enumerate(rows)]


def _action(scene: Scene, action: int) -> str:
    """What an action decides: the cards, a king's new rank, or the number."""
    view = scene.view
    if action >= scene.rules.bids_start:
        return str(view.number_of(action))
    cards, rank = view.cards_of(action), view.rank_of(action)
    if rank is not None:
        return named_text(cards[0], RANKS[rank])
    return symbols_text(cards) or "nothing"
