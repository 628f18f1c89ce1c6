"""Draws the table of a view: where everything lies. What lies there is in `artwork`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from cribai.envs import artwork
from cribai.envs.artwork import CREAM, MARGIN, height_of
from cribai.envs.pegboard import pegged_board
from cribai.envs.scene import Scene, symbols_text
from cribai.views import View

if TYPE_CHECKING:
    from PIL import Image

Point = tuple[float, float]

WIDTH: Final = 960
HEIGHT: Final = 640
HAND_WIDTH: Final = 82
BACK_WIDTH: Final = 50
CRIB_WIDTH: Final = 42
PLATE_WIDTH: Final = 200

YOU, LEFT, ACROSS, RIGHT = range(4)
"""Places at the table, where the viewer sits at the bottom."""


@dataclass(frozen=True, slots=True)
class Spots:
    """Where the things of one place at the table lie.

    Attributes:
        plate: Top left corner of the name plate.
        hand: Middle of the hand.
        laid: Middle of the row of laid cards.
        crib: Middle of the crib when this player deals.
    """

    plate: Point
    hand: Point
    laid: Point
    crib: Point


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything lies for a number of players.

    Attributes:
        spots: By player in turn order from the viewer, with their places at the table.
        laid_width: Width of laid cards.
        laid_room: Width of a row of them.
        deck: Middle of the deck.
        deck_width: Width of its cards.
        caption: Middle of the word for it.
        count: Middle of the count.
        count_radius: Radius of the count.
    """

    spots: tuple[tuple[int, Spots], ...]
    laid_width: int
    laid_room: int
    deck: Point
    deck_width: int
    caption: Point
    count: Point
    count_radius: int


def _own_spots(laid_y: float) -> Spots:
    return Spots((14, 574), (480, 564), (480, laid_y), (862, 562))


_SIDE_LEFT: Final = Spots((14, 214), (51, 348), (197, 348), (68, 460))
_SIDE_RIGHT: Final = Spots((746, 214), (909, 348), (763, 348), (892, 460))
_FACING: Final = Spots((14, 142), (480, 174), (480, 273), (858, 172))
_PARTNER: Final = Spots((170, 146), (480, 171), (480, 257), (660, 168))

LAYOUTS: Final = {
    2: Layout(
        spots=((YOU, _own_spots(404)), (ACROSS, _FACING)),
        laid_width=66,
        laid_room=560,
        deck=(112, 340),
        deck_width=84,
        caption=(112, 416),
        count=(848, 340),
        count_radius=58,
    ),
    3: Layout(
        spots=((YOU, _own_spots(428)), (LEFT, _SIDE_LEFT), (RIGHT, _SIDE_RIGHT)),
        laid_width=62,
        laid_room=186,
        deck=(412, 248),
        deck_width=84,
        caption=(412, 324),
        count=(556, 248),
        count_radius=58,
    ),
    4: Layout(
        spots=(
            (YOU, _own_spots(438)),
            (LEFT, _SIDE_LEFT),
            (ACROSS, _PARTNER),
            (RIGHT, _SIDE_RIGHT),
        ),
        laid_width=58,
        laid_room=186,
        deck=(424, 348),
        deck_width=58,
        caption=(362, 348),
        count=(546, 348),
        count_radius=42,
    ),
}


def draw(scene: Scene) -> NDArray[np.uint8]:
    """Returns the drawn table, (HEIGHT, WIDTH, 3)."""
    image = artwork.cloth(WIDTH, HEIGHT).copy()
    layout = LAYOUTS[scene.view.rules.num_players]
    board = pegged_board(scene.view.rules, scene.side_scores)
    _paste(image, board, (WIDTH / 2, 6 + 112 / 2))
    _draw_deck(image, scene, layout)
    for player, (place, spots) in enumerate(layout.spots):
        _draw_plate(image, scene, player, spots)
        _draw_laid(image, scene, player, place, layout)
        if player in scene.crib_owners:
            _draw_crib(image, scene.num_crib(player), spots)
    for player, (place, spots) in enumerate(layout.spots):
        if player:
            _draw_backs(image, scene.num_held(player), place, spots)
        if scene.says_go(player):
            sign = artwork.button("GO", (214, 48, 49), CREAM)
            _paste(image, sign, (spots.plate[0] + PLATE_WIDTH - 14, spots.plate[1]))
    _draw_hand(image, scene, layout.spots[0][1])
    if not scene.is_early:
        disc = artwork.count_disc(
            scene.view.count, scene.view.rules.thirty_one, layout.count_radius
        )
        _paste(image, disc, layout.count)
    if scene.is_over:
        _draw_banner(image, scene)
    return np.asarray(image, np.uint8).copy()


def _paste(image: "Image.Image", piece: "Image.Image", middle: Point) -> None:
    corner = (round(middle[0] - piece.width / 2), round(middle[1] - piece.height / 2))
    image.paste(piece, corner, piece)


def _row(number: int, width: float, step: float, room: float) -> tuple[list[float], float]:
    """Offsets from the middle of cards side by side, overlapping if need be, and their step."""
    if number > 1:
        step = min(step, (room - width) / (number - 1))
    return [(i - (number - 1) / 2) * step for i in range(number)], step


def _write(image: "Image.Image", text: str, at: Point, size: int = 12, anchor: str = "mm") -> None:
    from PIL import ImageDraw

    pen = ImageDraw.Draw(image)
    letters = artwork.font(size, "Sans")
    pen.text((at[0] + 1, at[1] + 1), text, (10, 50, 30), letters, anchor)
    pen.text(at, text, (224, 234, 214), letters, anchor)


def _draw_plate(image: "Image.Image", scene: Scene, player: int, spots: Spots) -> None:
    plate = artwork.name_plate(
        scene.name(player),
        scene.role(player),
        scene.view.scores[player],
        artwork.SIDE_COLORS[scene.side(player)],
        player == 0 and bool(scene.legal_actions),
    )
    image.paste(plate, (round(spots.plate[0]) - MARGIN, round(spots.plate[1]) - MARGIN), plate)
    if player == scene.view.dealer:
        _paste(
            image, artwork.button("D", CREAM, artwork.INK), (spots.plate[0] + 12, spots.plate[1])
        )
    if note := scene.note(player):
        _write(image, note, (spots.plate[0] + PLATE_WIDTH / 2, spots.plate[1] - 8))


def _draw_deck(image: "Image.Image", scene: Scene, layout: Layout) -> None:
    x, y = layout.deck
    back = artwork.card_back(layout.deck_width)
    for shift in (4, 2, 0):
        _paste(image, back, (x + shift, y + shift))
    starters = scene.starters
    for place, (starter, _) in enumerate(starters):
        face = artwork.card_face(starter, layout.deck_width)
        _paste(image, face, (x - 2 + place * layout.deck_width / 2, y - 2))
    caption = ("deck", "starter", "starters")[len(starters)]
    whose = ", ".join(whose for _, whose in starters if whose)
    _write(image, whose or caption, layout.caption)


def _draw_backs(image: "Image.Image", number: int, place: int, spots: Spots) -> None:
    x, y = spots.hand
    if place == ACROSS:
        offsets, _ = _row(number, BACK_WIDTH, 32, 220)
        for offset in offsets:
            _paste(image, artwork.card_back(BACK_WIDTH), (x + offset, y))
        return
    offsets, _ = _row(number, BACK_WIDTH, 24, 142)
    for offset in offsets:
        _paste(image, artwork.card_back(BACK_WIDTH, 90), (x, y + offset))


def _draw_crib(image: "Image.Image", number: int, spots: Spots) -> None:
    x, y = spots.crib
    offsets, _ = _row(number, CRIB_WIDTH, 14, 96)
    if not number:
        _paste(image, artwork.card_place(CRIB_WIDTH), (x, y))
    for offset in offsets:
        _paste(image, artwork.card_back(CRIB_WIDTH), (x + offset, y))
    caption = f"crib: {number}" if number else "crib"
    _write(image, caption, (x, y + height_of(CRIB_WIDTH) / 2 + 12))


def _draw_laid(image: "Image.Image", scene: Scene, player: int, place: int, layout: Layout) -> None:
    """Draws a player's laid cards, those of the series bright, with the count that each made."""
    cards = scene.laid(player)
    width = layout.laid_width
    x, y = layout.spots[player][1].laid
    offsets, step = _row(len(cards), width, width + 8, layout.laid_room)
    if place in (LEFT, RIGHT) and cards:
        room = (len(cards) - 1) * step + width
        x += (room - layout.laid_room) / 2 * (1 if place == LEFT else -1)
    for offset, (card, _, made) in zip(offsets, cards, strict=True):
        look = "dim" if made is None else "bright"
        _paste(image, artwork.card_face(card, width, look), (x + offset, y))
    low = y + height_of(width) / 2 - 2
    for offset, (_, named, made) in zip(offsets, cards, strict=True):
        middle = x + offset - width / 2 + min(step, width) / 2
        if made is not None:
            _paste(image, artwork.pill(str(made)), (middle, low))
        if named:
            _paste(image, artwork.pill(f"={named}"), (middle, y))


def _draw_hand(image: "Image.Image", scene: Scene, spots: Spots) -> None:
    """Draws the viewer's hand, or what is being counted.

    Cards that may be laid stand out, others are dim.
    """
    view = scene.view
    x, y = spots.hand
    cards = view.shown or view.hand
    offsets, _ = _row(len(cards), HAND_WIDTH, HAND_WIDTH + 4, 516)
    playable = set(view.legal_cards) if scene.legal_actions else set()
    for offset, card in zip(offsets, cards, strict=True):
        dim = bool(playable) and card not in playable
        face = artwork.card_face(card, HAND_WIDTH, "dim" if dim else "plain")
        _paste(image, face, (x + offset, y - 10 * (card in playable)))
    if scene.prompt:
        _write(image, scene.prompt, (x, 480), 15)
    gone = {
        "tossed": view.tossed,
        "thrown": view.thrown,
        "given": () if view.given is None else (view.given,),
    }
    texts = [f"{name} {symbols_text(cards)}" for name, cards in gone.items() if cards]
    for place, text in enumerate(texts):
        _write(image, text.replace("T", "10"), (20, 552 - 18 * place), 13, "lm")


def _draw_banner(image: "Image.Image", scene: Scene) -> None:
    from PIL import Image

    veil = Image.new("RGBA", (WIDTH, HEIGHT - 124), (0, 20, 10, 90))
    image.paste(veil, (0, 124), veil)
    _paste(image, artwork.banner(scene.verdict, scene.result), (WIDTH / 2, 340))


def draw_view(view: View) -> NDArray[np.uint8]:
    """Returns the drawn table of a view, (HEIGHT, WIDTH, 3)."""
    return draw(Scene(view))
