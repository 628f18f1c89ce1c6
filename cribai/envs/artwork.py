"""What lies on a drawn table: cloth, cards, name plates, count. All are cached; none is changed.

Each piece is drawn at `FINE` times its size and reduced, which smooths its edges, so that a frame
only pastes. Pieces with a shadow have `MARGIN` pixels of it on every side.
"""

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from cribai.cards import JOKER_RANK, RANKS, rank_of, suit_of
from cribai.envs.scene import SUIT_SYMBOLS

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

FINE: Final = 4
MARGIN: Final = 8
STAR: Final = "★"

GOLD: Final = (255, 206, 84)
CREAM: Final = (246, 240, 222)
INK: Final = (28, 30, 38)
RED: Final = (196, 30, 46)
SIDE_COLORS: Final = ((214, 48, 49), (52, 120, 246), (30, 170, 96), (240, 190, 40))

Color = tuple[int, ...]

_LEFT, _MID, _RIGHT = 0.36, 0.5, 0.64
_CORNERS = ((_LEFT, 0.19), (_RIGHT, 0.19), (_LEFT, 0.81), (_RIGHT, 0.81))
_SIXES = (*_CORNERS, (_LEFT, 0.5), (_RIGHT, 0.5))
_EIGHTS = (*_CORNERS, (_LEFT, 0.397), (_RIGHT, 0.397), (_LEFT, 0.603), (_RIGHT, 0.603))
_PIPS: Final = (
    ((_MID, 0.5),),
    ((_MID, 0.19), (_MID, 0.81)),
    ((_MID, 0.19), (_MID, 0.5), (_MID, 0.81)),
    _CORNERS,
    (*_CORNERS, (_MID, 0.5)),
    _SIXES,
    (*_SIXES, (_MID, 0.345)),
    (*_SIXES, (_MID, 0.345), (_MID, 0.655)),
    (*_EIGHTS, (_MID, 0.5)),
    (*_EIGHTS, (_MID, 0.293), (_MID, 0.707)),
)
"""Where the pips lie, as parts of a card's width and height, from ace to ten."""


@cache
def font(size: int, style: str = "Sans-Bold") -> "ImageFont.FreeTypeFont":
    """Returns a font of the family that matplotlib brings along; it has the suits' symbols."""
    import matplotlib as mpl
    from PIL import ImageFont

    path = Path(mpl.get_data_path(), "fonts", "ttf", f"DejaVu{style}.ttf")
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def height_of(width: int) -> int:
    """Returns the height of a card of a width."""
    return round(1.4 * width)


@cache
def cloth(width: int, height: int) -> "Image.Image":
    """Returns green baize, lit from above its middle."""
    from PIL import Image

    y, x = np.mgrid[0:height, 0:width]
    distance = np.hypot((x / width - 0.5) * 1.1, y / height - 0.55)
    light = 1.12 - 0.85 * distance**1.6
    fibres = np.random.default_rng(1).normal(0, 0.022, (height, width))
    pixels = np.array([26, 112, 70]) * (light + fibres)[:, :, None]
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8), "RGB")


@cache
def _ink(text: str, size: int, style: str) -> "Image.Image":
    """Text as a mask cropped to its ink, since glyphs are not centred in their own boxes."""
    from PIL import Image, ImageDraw

    mask = Image.new("L", (size * (len(text) + 1), size * 2))
    ImageDraw.Draw(mask).text((size // 4, size // 4), text, 255, font(size, style))
    return mask.crop(mask.getbbox())


def stamp(
    image: "Image.Image",
    text: str,
    center: tuple[float, float],
    size: float,
    color: Color,
    style: str = "Sans-Bold",
    widest: float = 1e9,
    turned: bool = False,
) -> None:
    """Draws text with its ink centred on a point.

    Args:
        image: Where to draw. Modified in place.
        text: What to draw.
        center: The middle of the ink.
        size: The font's size.
        color: RGB or RGBA.
        style: The font of the family.
        widest: The ink is narrowed to this width.
        turned: Whether it stands on its head.
    """
    mask = _ink(text, round(size), style)
    if mask.width > widest:
        mask = mask.resize((round(widest), mask.height))
    if turned:
        mask = mask.rotate(180)
    corner = (round(center[0] - mask.width / 2), round(center[1] - mask.height / 2))
    image.paste(color, (*corner, corner[0] + mask.width, corner[1] + mask.height), mask)


def framed(piece: "Image.Image", shadow: int = 90) -> "Image.Image":
    """Returns a finely drawn piece at its size, with its shadow around it."""
    from PIL import Image, ImageFilter

    margin = MARGIN * FINE
    size = (piece.width + 2 * margin, piece.height + 2 * margin)
    dark = Image.new("L", size)
    dark.paste(
        piece.getchannel("A").point(lambda a: a * shadow // 255), (margin, margin + 2 * FINE)
    )
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    image.putalpha(dark.filter(ImageFilter.GaussianBlur(2.2 * FINE)))
    image.alpha_composite(piece, (margin, margin))
    return image.reduce(FINE)


def blank(width: float, height: float) -> "tuple[Image.Image, ImageDraw.ImageDraw]":
    """Returns a clear image FINE times a size, and the pen for it."""
    from PIL import Image, ImageDraw

    image = Image.new("RGBA", (round(width * FINE), round(height * FINE)), (0, 0, 0, 0))
    return image, ImageDraw.Draw(image)


def _card_paper(width: int) -> "Image.Image":
    image, pen = blank(width, height_of(width))
    box = (0, 0, image.width - 1, image.height - 1)
    pen.rounded_rectangle(box, 0.09 * image.width, (253, 252, 247), (120, 118, 112), FINE * 3 // 4)
    return image


def _color_of(card: int) -> Color:
    return RED if suit_of(card) in (1, 2) else INK


def _draw_corners(image: "Image.Image", card: int) -> None:
    width, height = image.size
    joker = rank_of(card) == JOKER_RANK
    rank = STAR if joker else RANKS[rank_of(card)].replace("T", "10")
    color = _color_of(card)
    for turned in (False, True):

        def place(x: float, y: float, turned: bool = turned) -> tuple[float, float]:
            return (width - x, height - y) if turned else (x, y)

        at = place(0.125 * width, 0.1 * height)
        stamp(image, rank, at, 0.235 * width, color, widest=0.19 * width, turned=turned)
        if not joker:
            at = place(0.125 * width, 0.225 * height)
            symbol = SUIT_SYMBOLS[suit_of(card)]
            stamp(image, symbol, at, 0.21 * width, color, "Sans", turned=turned)


def _draw_pips(image: "Image.Image", card: int) -> None:
    width, height = image.size
    pips = _PIPS[rank_of(card)]
    size = (0.75 if len(pips) == 1 else 0.28 if len(pips) < 9 else 0.25) * width
    for x, y in pips:
        at = (x * width, y * height)
        symbol = SUIT_SYMBOLS[suit_of(card)]
        stamp(image, symbol, at, size, _color_of(card), "Sans", turned=y > 0.5)


def _draw_crown(pen: "ImageDraw.ImageDraw", center: float, top: float, size: float, n: int) -> None:
    """A crown of n points, each with a pearl, on a band."""
    left, base = center - size / 2, top + 0.5 * size
    outline = [(left + 0.08 * size, base)]
    for i in range(2 * n - 1):
        outline.append((left + size * i / (2 * n - 2), top + (i % 2) * 0.3 * size))
    dark, pearl = (120, 84, 16), 0.06 * size
    pen.polygon([*outline, (left + 0.92 * size, base)], (226, 172, 48), dark, FINE // 2)
    pen.rectangle((left + 0.08 * size, base, left + 0.92 * size, base + 0.12 * size), dark)
    for x, y in outline[1::2]:
        pen.ellipse((x - pearl, y - pearl, x + pearl, y + pearl), (226, 172, 48), dark, FINE // 2)


def _draw_court(image: "Image.Image", card: int) -> None:
    from PIL import Image, ImageDraw

    width, height = image.size
    color = _color_of(card)
    tint = (253, 232, 224) if color == RED else (224, 232, 247)
    panel = Image.new("RGBA", (round(0.52 * width), round(0.8 * height)), tint)
    pen = ImageDraw.Draw(panel)
    w, h = panel.size
    pen.ellipse((-0.25 * w, 0.5 * h - 0.75 * w, 1.25 * w, 0.5 * h + 0.75 * w), (255, 253, 246))
    rank, symbol = RANKS[rank_of(card)], SUIT_SYMBOLS[suit_of(card)]
    stamp(panel, rank, (w / 2, 0.53 * h), 0.98 * w, color, "Serif-Bold", widest=0.84 * w)
    stamp(panel, symbol, (w / 2, 0.86 * h), 0.42 * w, color, "Sans", turned=True)
    if rank == "J":
        stamp(panel, symbol, (w / 2, 0.16 * h), 0.42 * w, color, "Sans")
    else:
        points, size = (5, 0.66 * w) if rank == "K" else (3, 0.5 * w)
        _draw_crown(pen, w / 2, 0.22 * h - 0.5 * size, size, points)
    pen.rectangle((0, 0, w - 1, h - 1), None, (196, 150, 60), FINE * 3 // 4)
    image.paste(panel, (round(0.24 * width), round(0.1 * height)))


def _draw_joker(image: "Image.Image", card: int) -> None:
    width, height = image.size
    stamp(image, STAR, (width / 2, 0.44 * height), 0.62 * width, _color_of(card), "Sans")
    stamp(image, "JOKER", (width / 2, 0.68 * height), 0.15 * width, _color_of(card))


@cache
def card_face(card: int, width: int, look: str = "plain") -> "Image.Image":
    """Returns a card's face with its shadow.

    Args:
        card: The card.
        width: Its width, without the shadow.
        look: "plain", "bright" with a golden rim, or "dim".
    """
    from PIL import Image, ImageDraw

    image = _card_paper(width)
    _draw_corners(image, card)
    rank = rank_of(card)
    draw = _draw_pips if rank < len(_PIPS) else _draw_joker if rank == JOKER_RANK else _draw_court
    draw(image, card)
    if look == "dim":
        shade = Image.new("RGBA", image.size, (30, 60, 48, 255))
        shade.putalpha(image.getchannel("A"))
        image = Image.blend(image, shade, 0.42)
    if look == "bright":
        box = (0, 0, image.width - 1, image.height - 1)
        rim = ImageDraw.Draw(image)
        rim.rounded_rectangle(box, 0.09 * image.width, None, GOLD, 3 * FINE)
    return framed(image)


@cache
def card_back(width: int, angle: int = 0) -> "Image.Image":
    """Returns a card's back with its shadow, turned by an angle of 0 or 90 degrees."""
    from PIL import Image, ImageDraw

    image = _card_paper(width)
    w, h = image.size
    rim = round(0.07 * w)
    weave = Image.new("RGBA", (w - 2 * rim, h - 2 * rim), (136, 26, 44, 255))
    pen = ImageDraw.Draw(weave)
    step = w // 7
    for x in range(-2 * h, w + 2 * h, step):
        pen.line((x, 0, x + h, h), (196, 92, 100), FINE // 2)
        pen.line((x, 0, x - h, h), (196, 92, 100), FINE // 2)
    pen.rectangle((0, 0, weave.width - 1, weave.height - 1), None, (224, 150, 140), FINE // 2)
    middle = (weave.width / 2, weave.height / 2)
    radius = 0.24 * w
    box = (middle[0] - radius, middle[1] - radius, middle[0] + radius, middle[1] + radius)
    pen.ellipse(box, (112, 18, 36), (232, 190, 120), FINE * 3 // 4)
    stamp(weave, STAR, middle, 0.34 * w, (232, 190, 120), "Sans")
    corners = Image.new("L", weave.size)
    ImageDraw.Draw(corners).rounded_rectangle(
        (0, 0, weave.width - 1, weave.height - 1), 0.05 * w, 255
    )
    image.paste(weave, (rim, rim), corners)
    return framed(image.rotate(angle, expand=True))


@cache
def card_place(width: int) -> "Image.Image":
    """Returns the outline of a card that is yet to come."""
    image, pen = blank(width, height_of(width))
    box = (0, 0, image.width - 1, image.height - 1)
    pen.rounded_rectangle(box, 0.09 * image.width, (0, 0, 0, 30), (236, 244, 226, 110), FINE)
    return framed(image, 0)


@lru_cache(256)
def name_plate(name: str, role: str, score: int, color: Color, to_act: bool) -> "Image.Image":
    """Returns a player's plate, 200 by 52 and its shadow: colour, name, role and score."""
    image, pen = blank(200, 52)
    rim = GOLD if to_act else (210, 200, 170)
    box = (0, 0, image.width - 1, image.height - 1)
    pen.rounded_rectangle(box, 10 * FINE, (22, 40, 34, 232), rim, (5 if to_act else 2) * FINE // 2)
    pen.ellipse(tuple(FINE * part for part in (13, 18, 29, 34)), color, CREAM, FINE)
    middle = 26 if not role else 18
    pen.text((39 * FINE, middle * FINE), name, CREAM, font(15 * FINE), "lm")
    pen.text((39 * FINE, 37 * FINE), role, (190, 206, 190), font(11 * FINE, "Sans"), "lm")
    size = 23 if score < 1000 else 16
    pen.text((186 * FINE, 26 * FINE), str(score), CREAM, font(size * FINE), "rm")
    return framed(image)


@cache
def button(text: str, color: Color, ink: Color) -> "Image.Image":
    """Returns a round button with a word, such as the dealer's."""
    wide = max(26, 12 * len(text))
    image, pen = blank(wide, 26)
    box = (0, 0, image.width - 1, image.height - 1)
    pen.rounded_rectangle(box, 13 * FINE, color, (90, 80, 60), FINE)
    stamp(image, text, (image.width / 2, image.height / 2), 13 * FINE, ink)
    return framed(image)


@cache
def pill(text: str) -> "Image.Image":
    """Returns the small golden plate on a laid card that tells the count it made."""
    image, pen = blank(26, 17)
    box = (0, 0, image.width - 1, image.height - 1)
    pen.rounded_rectangle(box, 8 * FINE, GOLD, (120, 84, 16), FINE * 3 // 4)
    stamp(image, text, (image.width / 2, image.height / 2), 12 * FINE, INK)
    return framed(image)


@lru_cache(256)
def count_disc(count: int, limit: int, radius: int) -> "Image.Image":
    """Returns the count in large figures within a ring that fills up to the limit."""
    image, pen = blank(2 * radius, 2 * radius)
    box = (0, 0, image.width - 1, image.height - 1)
    pen.ellipse(box, (16, 44, 34, 225), (228, 226, 200, 150), FINE)
    inner = tuple(part + sign * 4 * FINE for part, sign in zip(box, (1, 1, -1, -1), strict=True))
    pen.arc(inner, 0, 360, (60, 92, 76), 6 * FINE)
    if count:
        pen.arc(inner, -90, -90 + 360 * min(count, limit) / limit, GOLD, 6 * FINE)
    middle = image.width / 2
    stamp(image, str(count), (middle, 0.9 * middle), 0.72 * radius * FINE, CREAM)
    word = f"of {limit}"
    stamp(image, word, (middle, 1.48 * middle), 0.24 * radius * FINE, (190, 206, 190), "Sans")
    return framed(image)


@lru_cache(16)
def banner(title: str, below: str) -> "Image.Image":
    """Returns the sign that tells how the game ended, with the result below."""
    image, pen = blank(470, 104)
    box = (0, 0, image.width - 1, image.height - 1)
    pen.rounded_rectangle(box, 18 * FINE, (16, 28, 24, 238), GOLD, 3 * FINE)
    middle = image.width / 2
    pen.text((middle, 41 * FINE), title, GOLD, font(33 * FINE), "mm")
    pen.text((middle, 77 * FINE), below, CREAM, font(17 * FINE, "Sans"), "mm")
    return framed(image, 140)
