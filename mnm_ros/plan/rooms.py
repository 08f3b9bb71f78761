# SPDX-License-Identifier: Apache-2.0

"""
Rooms: what is free falls into rooms where lines from wall to wall cut it.

SciPy is imported where it is needed, because nodes that may have no plan import this module.
``openings`` finds the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
from string import ascii_uppercase

from mnm_ros.driving.occupancy import Map, OCCUPIED, Point
import numpy as np
from numpy.typing import NDArray

Line = tuple[Point, Point]

Labels = NDArray[np.int32]
"""The number of the room of each pixel, from 1 on; 0 for what is not free."""

_BESIDE = (1.5, 3.0, 5.0)    # pixels from a line, where the rooms on its sides are searched for


def is_free(map_: Map) -> NDArray[np.bool_]:
    """Return which pixels are known to be free."""
    return (map_.pixel_rows >= 0) & (map_.pixel_rows < OCCUPIED)


def depth_of(free: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how far each pixel is from one that is not free, as all around the map are."""
    from scipy import ndimage
    return np.asarray(ndimage.distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1])


def labelled(map_: Map, lines: Iterable[Line]) -> Labels:
    """Return the rooms into which lines cut what is free."""
    from scipy import ndimage
    free = is_free(map_)
    cut = free.copy()
    for line in lines:
        columns, rows = drawn(map_, line).T
        cut[rows, columns] = False
    labels = np.asarray(ndimage.label(cut)[0], np.int32)
    if labels.any():    # what is below a line belongs to the room beside it
        near = ndimage.distance_transform_edt(labels == 0, return_indices=True)[1]
        labels = np.where(free & ~cut, labels[tuple(near)], labels)
    return labels


def label_at(map_: Map, labels: Labels, point: Point) -> int:
    """Return the room of a point in m; 0 if there is none."""
    (column, row), = np.floor(map_.pixels([point]) + 1e-9).astype(int).tolist()
    inside = 0 <= column < map_.width and 0 <= row < map_.height
    return int(labels[row, column]) if inside else 0


def names_of(map_: Map, labels: Labels, rooms: Mapping[str, Point]) -> dict[int, str]:
    """Return the names of rooms by their numbers; of several in one room, the first."""
    found = {label_at(map_, labels, point): name for name, point in reversed([*rooms.items()])}
    return {label: name for label, name in found.items() if label}


def sides(map_: Map, labels: Labels, line: Line) -> tuple[int, int]:
    """Return the rooms on both sides of a line, 0 for none."""
    (x, y), (to_x, to_y) = line
    length = math.hypot(to_x - x, to_y - y) or 1.0
    found = []
    for side in (1, -1):
        away = [side * map_.resolution * pixels / length for pixels in _BESIDE]
        found.append(next(filter(None, (label_at(map_, labels, (
            (x + to_x) / 2 - each * (to_y - y), (y + to_y) / 2 + each * (to_x - x)))
            for each in away)), 0))
    return found[0], found[1]


def middle(map_: Map, labels: Labels, label: int) -> Point:
    """Return the point of a room that is farthest from its walls."""
    return middles(map_, labels, [label])[0]


def middles(map_: Map, labels: Labels, wanted: Iterable[int]) -> list[Point]:
    """Return the same of several rooms, which are searched for once."""
    from scipy import ndimage
    areas, found = ndimage.find_objects(labels), []
    for label in wanted:
        rows, columns = areas[label - 1]
        deep = depth_of(labels[rows, columns] == label)
        row, column = np.unravel_index(np.argmax(deep), deep.shape)
        (x, y), = map_.points([(columns.start + column + 0.5, rows.start + row + 0.5)]).tolist()
        found.append((round(x, 3), round(y, 3)))
    return found


def drawn(map_: Map, line: Line) -> NDArray[np.int64]:
    """Return the columns and rows of the pixels of a line, and of one more at its ends."""
    first, last = map_.pixels(line)
    length = float(np.hypot(*(last - first))) or 1.0
    along = np.arange(-1.0, length + 1.25, 0.25)[:, np.newaxis]
    pixels = np.floor(first + along * (last - first) / length).astype(np.int64)
    inside = ((pixels >= 0) & (pixels < (map_.width, map_.height))).all(axis=1)
    return np.unique(pixels[inside], axis=0)


def letters(count: int) -> list[str]:
    """Return so many names of rooms: A, B, .., Z, A2, B2 and so on."""
    return [ascii_uppercase[number % 26] + (str(number // 26 + 1) if number >= 26 else '')
            for number in range(count)]
