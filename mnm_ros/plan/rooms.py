# SPDX-License-Identifier: Apache-2.0

"""
Rooms and doors: what is free falls into rooms where lines across the narrow places cut it.

Doors are found by a morphological opening: discs as wide as the widest door fit into rooms, not
through doors. SciPy is imported where it is needed, as this module is imported by nodes that may
have no plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import math
from string import ascii_uppercase

from mnm_ros.driving.occupancy import Map, OCCUPIED, Point
import numpy as np
from numpy.typing import NDArray

Line = tuple[Point, Point]

Labels = NDArray[np.int32]
"""The number of the room of each pixel, from 1 on; 0 for what is not free."""

_AROUND = np.ones((3, 3), np.bool_)
_DIRECTIONS = 36     # in which the shortest way across a passage is looked for
_NEAR = 0.35         # m around the border of two rooms, where the line of their door may be
_MIDDLE = 0.7        # of the distance from the walls; what is nearer to one is no middle
_BESIDE = (1.5, 3.0, 5.0)    # pixels from a line, where the rooms on its sides are looked for


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
    within = labels == label
    (top, *_), (left, *_) = first = [np.flatnonzero(within.any(axis=axis)) for axis in (1, 0)]
    deep = depth_of(within[tuple(slice(at[0], at[-1] + 1) for at in first)])
    row, column = np.unravel_index(np.argmax(deep), deep.shape)
    (x, y), = map_.points([(left + column + 0.5, top + row + 0.5)]).tolist()
    return round(x, 3), round(y, 3)


def find_doors(map_: Map, widest: float, smallest: float) -> list[Line]:
    """
    Return a line across each narrow place between two rooms.

    :param widest: up to which width in m a narrow place is a door.
    :param smallest: from which area in m^2 on what is behind one is a room.
    """
    free = is_free(map_)
    depth = depth_of(free)
    basins = _basins(free, depth, widest / map_.resolution / 2 + 0.5)
    basins = _merged(basins, smallest / map_.resolution ** 2)
    lines = [_across(map_, free, depth, border) for border, _ in _borders(basins)]
    labels = labelled(map_, lines)
    return [line for line in lines if len({0, *sides(map_, labels, line)}) == 3]


def _basins(free: NDArray[np.bool_], depth: NDArray[np.float64], radius: float) -> Labels:
    """Return what is nearest to each place into which a disc fits, its radius in pixels."""
    from scipy import ndimage
    labels, count = ndimage.label(depth > radius, _AROUND)
    if not count:
        return np.zeros(free.shape, np.int32)
    away, near = ndimage.distance_transform_edt(labels == 0, return_indices=True)
    labels = np.where(free & (away < radius), labels[tuple(near)], 0)
    return _grown(free, np.asarray(labels, np.int32))


def _grown(free: NDArray[np.bool_], labels: Labels) -> Labels:
    """
    Return labels that have spread over all that is free and touches them, step by step.

    A step looks at what the last one has reached alone, because a corridor may have many pixels.
    """
    from scipy import ndimage
    wide = labels.shape[1] + 2
    around = np.array([row * wide + column for row in (-1, 0, 1) for column in (-1, 0, 1)])
    found = np.pad(labels, 1).ravel()
    open_ = np.pad(free & (labels == 0), 1).ravel()
    next_ = np.flatnonzero(open_ & np.pad(
        ndimage.binary_dilation(labels > 0, _AROUND), 1).ravel())
    while len(next_):
        beside = next_[:, np.newaxis] + around
        found[next_] = found[beside].max(axis=1)
        open_[next_] = False
        next_ = np.unique(beside[open_[beside]])
    return found.reshape(-1, wide)[1:-1, 1:-1]


def _borders(basins: Labels) -> Iterator[tuple[NDArray[np.int64], tuple[int, int]]]:
    """Yield the rows and columns of each border between two basins, and their numbers."""
    from scipy import ndimage
    found = []    # rows of the numbers of two basins, and of a place between them
    for axis in (0, 1):
        here, there = (basins[:-1], basins[1:]) if axis == 0 else (basins[:, :-1], basins[:, 1:])
        at = np.argwhere((here != there) & (here > 0) & (there > 0))
        both = np.stack([here[tuple(at.T)], there[tuple(at.T)]], axis=1)
        found.append(np.hstack([np.sort(both, axis=1), at]))
    pairs, which = np.unique(np.vstack(found)[:, :2], axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind='stable')
    places = np.vstack(found)[order, 2:]
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(pairs)))
    for (first, second), of_pair in zip(pairs.tolist(), np.split(places, ends[:-1])):
        low = of_pair.min(axis=0)
        drawn = np.zeros(of_pair.max(axis=0) - low + 1, np.bool_)
        drawn[tuple((of_pair - low).T)] = True
        parts, count = ndimage.label(drawn, _AROUND)
        for part in range(1, count + 1):
            yield np.argwhere(parts == part) + low, (first, second)


def _merged(basins: Labels, smallest: float) -> Labels:
    """Add each basin with too few pixels to the one that it has the longest border with."""
    while True:
        areas = np.bincount(basins.ravel())
        shared: dict[int, dict[int, int]] = {}
        for border, (one, other) in _borders(basins):
            for this, neighbour in ((one, other), (other, one)):
                ends = shared.setdefault(this, {})
                ends[neighbour] = ends.get(neighbour, 0) + len(border)
        small = min((label for label in shared if areas[label] < smallest),
                    key=lambda label: areas[label], default=None)
        if small is None:
            return basins
        into = max(shared[small], key=shared[small].__getitem__)
        basins = np.where(basins == small, into, basins).astype(np.int32)


def _across(map_: Map, free: NDArray[np.bool_], depth: NDArray[np.float64],
            border: NDArray[np.int64]) -> Line:
    """Return the shortest line from wall to wall near the middle of a border."""
    rows, columns = border.T
    best = int(np.argmax(depth[rows, columns]))
    row, column = rows[best], columns[best]
    reach = math.ceil(_NEAR / map_.resolution)
    at = np.argwhere(np.ones((2 * reach + 1, 2 * reach + 1), np.bool_)) - reach + (row, column)
    at = at[((at >= 0) & (at < free.shape)).all(axis=1)]
    deep = depth[at[:, 0], at[:, 1]]
    at = at[(deep >= _MIDDLE * depth[row, column]) & free[at[:, 0], at[:, 1]]]
    most = 3 * float(depth[row, column]) + 3
    while True:    # the shortest line is mostly twice as long as the depth
        width, _, line = min(_lines(map_, free, at, (row, column), most))
        if width < most or most > sum(free.shape):
            return line
        most *= 2


def _lines(map_: Map, free: NDArray[np.bool_], at: NDArray[np.int64], near: tuple[int, int],
           most: float) -> Iterator[tuple[float, float, Line]]:
    """
    Yield the shortest line in each direction: its width, how far from ``near`` it is, and itself.

    :param most: pixels from which on a width is not exact.
    """
    for number in range(_DIRECTIONS):
        angle = math.pi * number / _DIRECTIONS
        way = np.array([math.sin(angle), math.cos(angle)])
        ahead, behind = _run(free, at, way, most), _run(free, at, -way, most)
        width = ahead + behind
        # Of equal ones, the one that is nearest to the border.
        off = np.hypot(*(at - near).T)
        pick = int(np.lexsort((off, width))[0])
        ends = at[pick] + 0.5 + np.outer((ahead[pick], -behind[pick]), way)
        (x, y), (to_x, to_y) = map_.points(ends[:, ::-1]).round(3).tolist()
        yield float(width[pick]), float(off[pick]), ((x, y), (to_x, to_y))


def _run(free: NDArray[np.bool_], starts: NDArray[np.int64],
         way: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Return how far what is free reaches from the middle of each pixel; ``most`` is enough."""
    reached = 0.5 * np.arange(1, math.ceil(2 * most) + 1)
    at = np.floor(starts[:, np.newaxis] + 0.5 + reached[:, np.newaxis] * way).astype(np.int64)
    inside = ((at >= 0) & (at < free.shape)).all(axis=2)
    at[~inside] = 0
    going = inside & free[at[..., 0], at[..., 1]]
    ended = np.where(going.all(axis=1), len(reached), np.argmin(going, axis=1))
    return np.asarray(0.5 * ended)


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
