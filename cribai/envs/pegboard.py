"""The pegging board of a drawn table: two streets, joined at the right, and a finishing hole.

Each side has a track of its own, out along the upper street and home along the lower one, with the
holes in groups of five. A view tells the present scores only, so there is one peg a side.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np

from cribai.envs.artwork import CREAM, FINE, MARGIN, SIDE_COLORS, Color, blank, font, framed
from cribai.rules import Rules

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

WIDTH: Final = 936
HEIGHT: Final = 112
_FIRST: Final = 58
_LAST: Final = 856
_MIDDLE: Final = HEIGHT / 2
_TURN: Final = _LAST + 10
_END: Final = 32
_GROUP: Final = 5
_GAP: Final = 0.6
_MOST_HOLES: Final = 150
_GROOVE: Final = (88, 52, 26)


@dataclass(frozen=True, slots=True)
class Board:
    """Where the holes of a board lie.

    Attributes:
        target: The score of the finishing hole.
        num_sides: Tracks.
    """

    target: int
    num_sides: int

    @property
    def points_per_hole(self) -> int:
        """Points that a hole stands for: one, or more where the target is too far for that."""
        return ceil((self.target - 1) / _MOST_HOLES) or 1

    @property
    def num_holes(self) -> int:
        """Holes of a track between start and finish."""
        return ceil((self.target - 1) / self.points_per_hole)

    @property
    def street(self) -> int:
        """Holes of a track along one street, whole groups."""
        return max(1, ceil(self.num_holes / (2 * _GROUP))) * _GROUP

    @property
    def pitch(self) -> float:
        """Distance of neighbouring holes."""
        return (_LAST - _FIRST) / (self.street - 1 + _GAP * (self.street // _GROUP - 1))

    def radius(self, side: int) -> float:
        """Returns how far a side's track runs from the board's middle."""
        step = {2: 14, 3: 11}.get(self.num_sides, 7.5)
        return 15 + (self.num_sides - 1 - side) * step

    def x_of(self, place: float) -> float:
        """Returns where the place-th hole of the upper street lies, from 0."""
        return _FIRST + self.pitch * (place + _GAP * (place // _GROUP))

    def hole(self, side: int, number: int) -> tuple[float, float]:
        """Returns the middle of a side's hole; 0 is the start."""
        if number > self.num_holes:
            return (_END, _MIDDLE + (self.radius(0) + self.radius(self.num_sides - 1)) / 2)
        if number == 0:
            return (_END, _MIDDLE - self.radius(side))
        if number <= self.street:
            return (self.x_of(number - 1), _MIDDLE - self.radius(side))
        return (self.x_of(2 * self.street - number), _MIDDLE + self.radius(side))

    def number(self, score: int) -> int:
        """Returns the number of the hole for a score."""
        if score >= self.target:
            return self.num_holes + 1
        return ceil(score / self.points_per_hole)


def _wood() -> "Image.Image":
    from PIL import Image

    y, x = np.mgrid[0 : HEIGHT * 2, 0 : WIDTH * 2]
    bend = 9 * np.sin(x / 310 + 0.6) + 5 * np.sin(x / 127)
    rings = np.sin((y + bend) / 7.5) + 0.6 * np.sin((y + 1.7 * bend) / 3.1 + x / 400)
    fibres = np.random.default_rng(2).normal(0, 1, (HEIGHT * 2, 1))
    grain = 1 + 0.035 * rings + 0.02 * fibres - 0.0006 * np.abs(y - HEIGHT)
    pixels = np.array([186, 128, 72]) * grain[:, :, None]
    image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8), "RGB")
    return image.resize((WIDTH * FINE, HEIGHT * FINE)).convert("RGBA")


def _draw_track(
    pen: "ImageDraw.ImageDraw", board: Board, side: int, color: Color, width: float
) -> None:
    radius = board.radius(side) * FINE
    line = round(width * FINE)
    for y in (_MIDDLE * FINE - radius, _MIDDLE * FINE + radius):
        pen.rectangle((_END * FINE, y - line / 2, _TURN * FINE, y + line / 2), color)
    x, y, reach = _TURN * FINE, _MIDDLE * FINE, radius + line / 2
    pen.arc((x - reach, y - reach, x + reach, y + reach), -90, 90, color, line)


def _draw_homes(pen: "ImageDraw.ImageDraw", board: Board) -> None:
    """Joins the ends of all tracks at the finishing hole."""
    x, low, high = _END, board.radius(board.num_sides - 1) - 1.7, board.radius(0) + 1.7
    box = (x - 1.7, _MIDDLE + low, x + 1.7, _MIDDLE + high)
    pen.rectangle(tuple(part * FINE for part in box), _GROOVE)


def _draw_hole(pen: "ImageDraw.ImageDraw", at: tuple[float, float], radius: float) -> None:
    x, y = at[0] * FINE, at[1] * FINE
    for size, shift, color in ((radius + 0.6, 0.5, (222, 172, 116)), (radius, 0, (48, 26, 12))):
        reach, y_low = size * FINE, y + shift * FINE
        pen.ellipse((x - reach, y_low - reach, x + reach, y_low + reach), color)


def _draw_numbers(pen: "ImageDraw.ImageDraw", board: Board) -> None:
    for number in range(10, board.num_holes + 1, 10):
        x, y = board.hole(board.num_sides - 1, number)
        inward = 8.5 if y < _MIDDLE else -8.5
        text = str(number * board.points_per_hole)
        pen.text((x * FINE, (y + inward) * FINE), text, (74, 42, 18), font(8 * FINE), "mm")


def _draw_line(pen: "ImageDraw.ImageDraw", board: Board, score: int, text: str) -> None:
    """Marks the line between a score that is skunked and the next one."""
    number = board.number(score)
    inner, outer = board.radius(board.num_sides - 1) - 5, board.radius(0) + 5
    if number == board.street:
        spots = [(_TURN + inner, _MIDDLE), (_TURN + outer, _MIDDLE)]
        label, anchor = (_TURN + outer + 2, _MIDDLE), "lm"
    else:
        sign = -1 if number < board.street else 1
        x = (board.hole(0, number)[0] + board.hole(0, number + 1)[0]) / 2
        spots = [(x, _MIDDLE + sign * inner), (x, _MIDDLE + sign * outer)]
        label, anchor = (x, _MIDDLE + sign * (outer + 6)), "mm"
    pen.line([(x * FINE, y * FINE) for x, y in spots], (150, 16, 24), 2 * FINE)
    pen.text((label[0] * FINE, label[1] * FINE), text, (150, 16, 24), font(9 * FINE), anchor)


@cache
def board_image(rules: Rules) -> "Image.Image":
    """Returns the board of the rules without pegs, with its shadow around it."""
    from PIL import Image, ImageDraw

    board = Board(rules.target, rules.num_sides)
    plate, pen = blank(WIDTH, HEIGHT)
    shape = Image.new("L", plate.size)
    box = (0, 0, plate.width - 1, plate.height - 1)
    ImageDraw.Draw(shape).rounded_rectangle(box, 16 * FINE, 255)
    plate.paste(_wood(), (0, 0), shape)
    pen.rounded_rectangle(box, 16 * FINE, None, (112, 68, 32), 2 * FINE)
    inset = tuple(part + sign * 4 * FINE for part, sign in zip(box, (1, 1, -1, -1), strict=True))
    pen.rounded_rectangle(inset, 12 * FINE, None, (216, 164, 104), FINE * 3 // 4)
    for side in range(board.num_sides):
        _draw_track(pen, board, side, _GROOVE, 3.4)
        _draw_track(pen, board, side, _faded(SIDE_COLORS[side]), 2.2)
    for side in range(board.num_sides):
        for number in range(board.num_holes + 1):
            _draw_hole(pen, board.hole(side, number), 2.3 if board.num_sides < 4 else 2)
    _draw_homes(pen, board)
    finish = board.hole(0, board.num_holes + 1)
    _draw_hole(pen, finish, 5)
    text = str(rules.target)
    pen.text((_END * FINE, _MIDDLE * FINE), text, (74, 42, 18), font(10 * FINE), "mm")
    _draw_numbers(pen, board)
    if rules.skunk_line is not None:
        _draw_line(pen, board, rules.skunk_line, "S")
    if rules.double_skunk_line is not None:
        _draw_line(pen, board, rules.double_skunk_line, "SS")
    return framed(plate)


def _faded(color: Color) -> Color:
    return tuple((part + 2 * wood) // 3 for part, wood in zip(color, _GROOVE, strict=True))


@cache
def _peg(color: Color, size: int) -> "Image.Image":
    image, pen = blank(size, size)
    end = image.width - 1
    dark = tuple(part * 6 // 10 for part in color)
    pen.ellipse((0, 0, end, end), dark, (30, 20, 12), FINE * 3 // 4)
    pen.ellipse((FINE, FINE, end - FINE, end - 2 * FINE), color)
    pen.ellipse((0.3 * end, 0.18 * end, 0.56 * end, 0.42 * end), CREAM)
    return framed(image, 150)


@cache
def _lit_track(board: Board, side: int) -> "Image.Image":
    """A side's track in its full colour, its holes left out, of which a frame takes a part."""
    image, pen = blank(WIDTH, HEIGHT)
    _draw_track(pen, board, side, SIDE_COLORS[side], 2.2)
    for number in range(board.num_holes + 1):
        _draw_hole(pen, board.hole(side, number), 2.3 if board.num_sides < 4 else 2)
    return image.reduce(FINE)


@lru_cache(64)
def pegged_board(rules: Rules, scores: tuple[int, ...]) -> "Image.Image":
    """Returns the board with a peg for each side's score and the way there in its colour."""
    image = board_image(rules).copy()
    board = Board(rules.target, rules.num_sides)
    for side, score in enumerate(scores):
        number = board.number(score)
        track = _lit_track(board, side)
        x = round(board.hole(side, number)[0])
        outward = (0, 0, x if 0 < number <= board.street else WIDTH, HEIGHT // 2)
        homeward = (x, HEIGHT // 2, WIDTH, HEIGHT)
        ways = [outward] * (number > 0) + [homeward] * (number > board.street)
        for way in ways:
            image.alpha_composite(track.crop(way), (way[0] + MARGIN, way[1] + MARGIN))
    for side, score in enumerate(scores):
        size = 13 if board.num_sides == 2 else 11
        peg = _peg(SIDE_COLORS[side], size)
        left, top = (round(middle - size / 2) for middle in board.hole(side, board.number(score)))
        image.alpha_composite(peg, (left, top))
    return image
