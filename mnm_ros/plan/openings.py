# SPDX-License-Identifier: Apache-2.0

"""
Finds the openings between rooms: where a map is narrow relative to the rooms on both sides.

``basins`` divides a map into rooms, and ``gates`` where pieces of walls stand out. The result is a
line from wall to wall across each opening. SciPy is imported where it is needed, because nodes
that may have no plan import this room.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
import math

from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.plan.basins import borders, flooded, merged
from mnm_ros.plan.gates import gates
from mnm_ros.plan.rooms import depth_of, drawn, is_free, labelled, Line, sides
import numpy as np
from numpy.typing import NDArray

FURNITURE = 3.0
"""m across: what stands alone within a room, is compact and no larger divides nothing."""

_HIGHEST = 2.5     # m from the walls; what is farther is as good as this
_ROOM = 0.4        # m from the walls, that the middle of a room is
_SMALL = 0.8       # m across: what is no larger divides nothing, whatever its shape
_THIN = 0.35       # m: what is no wider is no furniture, but a piece of a wall
_FILLED = 0.5      # of the rectangle around it, that furniture is
_WING = 4.0        # m^2 of what is behind a gate
_TILE = 2.0        # m: lines are compared with those in tiles nearby
_GAP = 0.3         # m: what is no wider is no opening
_WIDER = 1.15      # by how much one side of an opening is wider than itself

_AROUND = np.ones((3, 3), np.bool_)
_DIRECTIONS = 36    # in which the shortest way across an opening is searched for
_COARSE = 3         # of them, each is tried first
_NEAR = 0.35        # m around the border of two rooms, where the line of their opening may be
_MIDDLE = 0.7       # of the distance from the walls; what is nearer to one is no middle


def find_openings(map_: Map, door: float, smallest: float) -> list[Line]:
    """
    Return a line across each opening between two rooms.

    :param door: up to which width in m an opening is a door.
    :param smallest: from which area in m^2 on what is behind an opening is a room.
    """
    free = without_furniture(is_free(map_), map_.resolution)
    depth = depth_of(free)
    basins = flooded(np.minimum(depth, _HIGHEST / map_.resolution), door / map_.resolution)
    basins = merged(basins, depth, smallest / map_.resolution ** 2, _ROOM / map_.resolution)
    lines = _distinct(
        line for border, _ in borders(basins)
        if _widens(map_, free, line := _across(map_, free, depth, border)))
    for line in lines:
        columns, rows = drawn(map_, line).T
        free[rows, columns] = False
    every = _distinct([*lines, *gates(map_, free)])
    while len(kept := _dividing(map_, every, {*every} - {*lines})) < len(every):
        every = kept    # a line that is gone may have ended two openings
    return kept


def _dividing(map_: Map, lines: list[Line], between_walls: Container[Line]) -> list[Line]:
    """
    Return the lines that have different rooms on both sides.

    What is behind a gate and too small for a room becomes part of the room at its widest gate.

    :param between_walls: those of the lines that are gates.
    """
    labels = labelled(map_, lines)
    areas = np.bincount(labels.ravel()) * map_.resolution ** 2
    rooms = np.arange(len(areas))    # the room that each one became a part of
    on_sides = {line: [*sides(map_, labels, line)] for line in lines}
    for line in sorted(lines, key=lambda each: math.dist(*each), reverse=True):
        one, other = rooms[on_sides[line]]
        if 0 < min(one, other) and one != other and (math.dist(*line) <= _GAP or (
                line in between_walls and min(areas[one], areas[other]) <= _WING)):
            rooms[rooms == other] = one
            areas[one] += areas[other]
    return [line for line in lines if len({0, *rooms[on_sides[line]].tolist()}) == 3]


def without_furniture(free: NDArray[np.bool_], resolution: float) -> NDArray[np.bool_]:
    """Return what is free if furniture that touches no wall is none; pixels have a side in m."""
    from scipy import ndimage
    inside, count = ndimage.label(free)    # a crate may be no more than its outline
    enclosed = np.zeros(count + 1, np.bool_)
    for number, around in enumerate(ndimage.find_objects(inside), 1):
        enclosed[number] = math.hypot(
            *(each.stop - each.start for each in around)) * resolution <= FURNITURE
    if count:
        enclosed[1 + int(np.argmax(np.bincount(inside.ravel())[1:]))] = False    # a small flat
    free = free & ~enclosed[inside]
    labels, count = ndimage.label(np.pad(~free, 1, constant_values=True), _AROUND)
    areas = np.bincount(labels.ravel())
    gone = np.zeros(count + 1, np.bool_)
    for number, around in enumerate(ndimage.find_objects(labels), 1):
        height, width = ((each.stop - each.start) * resolution for each in around)
        across = math.hypot(width, height)
        compact = (min(width, height) > _THIN
                   and areas[number] * resolution ** 2 >= _FILLED * width * height)
        gone[number] = across <= (FURNITURE if compact else _SMALL)
    gone[labels[0, 0]] = False    # around a small map
    return np.asarray(free | gone[labels[1:-1, 1:-1]])


def _distinct(lines: Iterable[Line]) -> list[Line]:
    """Return lines without those across the opening of one before, whose border has two parts."""
    kept: list[Line] = []
    tiles: dict[tuple[int, int], list[tuple[Point, float]]] = {}    # middles and half of lengths
    for line in lines:
        (x, y), (to_x, to_y) = line
        middle, half = ((x + to_x) / 2, (y + to_y) / 2), math.dist(*line) / 2
        reach = math.ceil(half / _TILE)
        column, row = (int(at // _TILE) for at in middle)
        if not any(math.dist(middle, other) < min(half, far)
                   for right in range(column - reach, column + reach + 1)
                   for up in range(row - reach, row + reach + 1)
                   for other, far in tiles.get((right, up), ())):
            kept.append(line)
            tiles.setdefault((column, row), []).append((middle, half))
    return kept


def _widens(map_: Map, free: NDArray[np.bool_], line: Line) -> bool:
    """Return whether there is more room on one side of a line than on it, unlike in a corridor."""
    (x, y), (to_x, to_y) = map_.pixels(line)
    length = math.hypot(to_x - x, to_y - y) or 1.0
    way = np.array([to_y - y, to_x - x]) / length
    away = np.array([way[1], -way[0]]) * (_NEAR / map_.resolution + length / 4)
    middle = np.array([(y + to_y) / 2, (x + to_x) / 2])
    most = _WIDER * length
    for side in (1, -1):
        start = np.floor(middle + side * away).astype(np.int64)[np.newaxis]
        if not ((start >= 0) & (start < free.shape)).all() or not free[tuple(start[0])]:
            continue
        if sum(float(_run(free, start, turn * way, most)[0]) for turn in (1, -1)) >= most:
            return True
    return False


def _across(map_: Map, free: NDArray[np.bool_], depth: NDArray[np.float64],
            border: NDArray[np.int64]) -> Line:
    """Return the shortest line from wall to wall near the middle of a border."""
    rows, columns = border.T
    best = int(np.argmax(depth[rows, columns]))
    row, column = rows[best], columns[best]
    reach = math.ceil(_NEAR / map_.resolution)
    at = np.argwhere(np.ones((2 * reach + 1, 2 * reach + 1), np.bool_)) - reach + (row, column)
    at = at[::2]    # as on a chessboard, with the middle
    at = at[((at >= 0) & (at < free.shape)).all(axis=1)]
    deep = depth[at[:, 0], at[:, 1]]
    at = at[(deep >= _MIDDLE * depth[row, column]) & free[at[:, 0], at[:, 1]]]
    most = 3 * float(depth[row, column]) + 3
    while True:    # the shortest line is mostly twice as long as the depth
        coarse = min(_lines(map_, free, at, (row, column), most, range(0, _DIRECTIONS, _COARSE)))
        width, _, _, line = min(coarse, *_lines(map_, free, at, (row, column), most, (
            coarse[2] + turn for turn in range(1 - _COARSE, _COARSE) if turn)))
        if width < most or most > sum(free.shape):
            return line
        most *= 2


def _lines(map_: Map, free: NDArray[np.bool_], at: NDArray[np.int64], near: tuple[int, int],
           most: float, directions: Iterable[int]) -> Iterator[tuple[float, float, int, Line]]:
    """
    Yield the shortest line in each direction: its width, how far from ``near``, where, and itself.

    :param most: pixels from which on a width is not exact.
    :param directions: of ``_DIRECTIONS`` in half a turn.
    """
    for number in directions:
        angle = math.pi * number / _DIRECTIONS
        way = np.array([math.sin(angle), math.cos(angle)])
        ahead, behind = _run(free, at, way, most), _run(free, at, -way, most)
        width = ahead + behind
        # Of equal ones, the one that is nearest to the border.
        off = np.hypot(*(at - near).T)
        pick = int(np.lexsort((off, width))[0])
        ends = at[pick] + 0.5 + np.outer((ahead[pick], -behind[pick]), way)
        (x, y), (to_x, to_y) = map_.points(ends[:, ::-1]).round(3).tolist()
        yield float(width[pick]), float(off[pick]), number, ((x, y), (to_x, to_y))


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
