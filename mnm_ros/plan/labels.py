# SPDX-License-Identifier: Apache-2.0

"""Finds places for labels in a picture, so that no label covers another one or a mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import math

from mnm_ros.driving.occupancy import Point

_WIDE = 0.62    # of a letter, by the size of the font
_HIGH = 1.1
_TILE = 8       # sizes of the unit: how large the tiles are in which boxes are searched

Box = tuple[float, float, float, float]
"""Left, upper, right and lower side, y pointing down."""

AROUND = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))


class Labels:
    """
    The content of a picture, and where labels may still be.

    :param unit: the size of a small mark.
    :param within: the picture.
    """

    def __init__(self, unit: float, within: Box) -> None:
        self._within = within
        self._tile = _TILE * unit
        self._boxes: dict[tuple[int, int], list[Box]] = {}
        self._points: dict[tuple[int, int], list[Point]] = {}

    def mark(self, at: Point, radius: float) -> None:
        """Let no label be within a radius of a point."""
        x, y = at
        self._add((x - radius, y - radius, x + radius, y + radius))

    def line(self, start: Point, end: Point, step: float) -> None:
        """Let labels avoid a line if they can."""
        count = max(1, math.ceil(math.dist(start, end) / step))
        for part in range(count + 1):
            x, y = (a + (b - a) * part / count for a, b in zip(start, end))
            self._points.setdefault((int(x // self._tile), int(y // self._tile)), []).append(
                (x, y))

    def place(self, text: str, size: float, at: Iterable[Point]) -> Point | None:
        """
        Return the best middle of a label, which is taken then; None if it is free at none.

        :param size: of the font.
        :param at: where it may be, the best first.
        """
        half = _WIDE * size * max(len(text), 1) / 2, _HIGH * size / 2
        best: tuple[int, Box, Point] | None = None
        for x, y in at:
            box = x - half[0], y - half[1], x + half[0], y + half[1]
            if best is not None and best[0] == 0:
                break
            if not _inside(box, self._within) or any(
                    _overlap(box, other) for tile in self._tiles(box)
                    for other in self._boxes.get(tile, ())):
                continue
            crossed = sum(box[0] <= px <= box[2] and box[1] <= py <= box[3]
                          for tile in self._tiles(box) for px, py in self._points.get(tile, ()))
            if best is None or crossed < best[0]:
                best = crossed, box, (x, y)
        if best is None:
            return None
        self._add(best[1])
        return best[2]

    def _add(self, box: Box) -> None:
        for tile in self._tiles(box):
            self._boxes.setdefault(tile, []).append(box)

    def _tiles(self, box: Box) -> Iterator[tuple[int, int]]:
        left, upper, right, lower = (int(side // self._tile) for side in box)
        for column in range(left, right + 1):
            for row in range(upper, lower + 1):
                yield column, row


def around(at: Point, text: str, size: float, gap: float) -> Iterator[Point]:
    """Yield the middles of labels beside a mark, at a distance from it."""
    wide, high = _WIDE * size * len(text) / 2 + gap, _HIGH * size / 2 + gap
    yield from ((at[0] + right * wide, at[1] + down * high) for right, down in AROUND)


def near(at: Point, size: float, rings: int = 6) -> Iterator[Point]:
    """Yield a point and others around it, farther and farther away."""
    yield at
    for ring in range(1, rings + 1):
        for turn in range(6 * ring):
            angle = math.tau * turn / (6 * ring)
            yield (at[0] + 0.8 * ring * size * math.cos(angle),
                   at[1] + 0.8 * ring * size * math.sin(angle))


def _inside(one: Box, other: Box) -> bool:
    return (one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2]
            and one[3] <= other[3])


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
