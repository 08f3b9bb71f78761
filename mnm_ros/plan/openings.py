# SPDX-License-Identifier: Apache-2.0

"""
Finds the openings between rooms: where a map is narrow relative to the rooms on both sides.

The distance from the walls is flooded from its peaks downwards, as a watershed. Where two basins
meet they stay apart if the place is narrow relative to the lower peak of both, and become one
otherwise. The result is a line from wall to wall across each opening. SciPy is imported where it
is needed, because nodes that may have no plan import this room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import math
from typing import NamedTuple

from mnm_ros.driving.occupancy import Map
from mnm_ros.plan.gates import gates
from mnm_ros.plan.rooms import depth_of, drawn, is_free, labelled, Labels, Line, sides
import numpy as np
from numpy.typing import NDArray

NARROW = 0.8
"""An opening divides rooms if it is at most this part as wide as the narrower one of both."""

NARROW_DOOR = 0.85
"""The same of an opening that is no wider than a door."""

FURNITURE = 3.0
"""m across: what stands alone within a room, is compact and no larger divides nothing."""

_HIGHEST = 2.5     # m from the walls; what is farther is as good as this
_ROOM = 0.4        # m from the walls, that the middle of a room is
_SMALL = 0.8       # m across: what is no larger divides nothing, whatever its shape
_THIN = 0.35       # m: what is no wider is no furniture, but a piece of a wall
_FILLED = 0.5      # of the rectangle around it, that furniture is
_WING = 4.0        # m^2 of what is behind a gate
_GAP = 0.3         # m: what is no wider is no opening
_WIDER = 1.15      # by how much one side of an opening is wider than itself
_STEPS = 2         # levels of the flood for each pixel of distance

_AROUND = np.ones((3, 3), np.bool_)
_DIRECTIONS = 36    # in which the shortest way across an opening is looked for
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
    lines: list[Line] = []
    for border, _ in _borders(basins):
        line = _across(map_, free, depth, border)
        if _widens(map_, free, line) and not any(_same(line, other) for other in lines):
            lines.append(line)
    for line in lines:
        columns, rows = drawn(map_, line).T
        free[rows, columns] = False
    wide = [line for line in gates(map_, free)
            if not any(_same(line, other) for other in lines)]
    labels = labelled(map_, [*lines, *wide])
    areas = np.bincount(labels.ravel()) * map_.resolution ** 2
    return [line for line in (*lines, *wide) if math.dist(*line) > _GAP
            and len({0, *sides(map_, labels, line)}) == 3
            and (line in lines or min(areas[side] for side in sides(map_, labels, line)) > _WING)]


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


class _Basins:
    """Basins that may become one; each has its peak."""

    def __init__(self) -> None:
        self.peaks = [0.0]
        self._into = [0]

    def add(self, count: int, peak: float) -> range:
        first = len(self.peaks)
        self.peaks += [peak] * count
        self._into += range(first, first + count)
        return range(first, first + count)

    def root(self, basin: int) -> int:
        while self._into[basin] != basin:
            self._into[basin] = self._into[self._into[basin]]
            basin = self._into[basin]
        return basin

    def meet(self, one: int, other: int, saddle: float, door: float) -> None:
        """Let two basins that meet at a height become one unless that is narrow."""
        one, other = sorted((self.root(one), self.root(other)), key=lambda each: self.peaks[each])
        part = NARROW_DOOR if 2 * saddle <= door else NARROW
        if one != other and saddle > part * self.peaks[one]:
            self._into[one] = other

    def roots(self) -> Labels:
        return np.array([self.root(basin) for basin in range(len(self.peaks))], np.int32)


def flooded(depth: NDArray[np.float64], door: float) -> Labels:
    """
    Return the number of the basin of each pixel, 0 where nothing is free.

    :param depth: the distance of each pixel from the walls in pixels.
    :param door: the width of a door in pixels.
    """
    wide = depth.shape[1] + 2
    around = np.array([row * wide + column for row in (-1, 0, 1) for column in (-1, 0, 1)
                       if row or column], np.int32)
    levels = np.pad(np.floor(depth * _STEPS).astype(np.int16), 1)
    labels, basins = _summits(levels), _Basins()
    highest = int(levels.max())
    basins.add(int(labels.max()), highest / _STEPS)
    levels = levels.ravel()
    order = np.flatnonzero((levels > 0) & (levels < highest)).astype(np.int32)
    order = order[np.argsort(-levels[order], kind='stable')]
    ends = np.flatnonzero(np.diff(levels[order])) + 1
    places = np.full(len(levels), -1, np.int32)    # of the pixels of one level in their list
    for pixels in np.split(order, ends) if len(order) else ():
        height = float(levels[pixels[0]]) / _STEPS
        pending = _reached(labels, pixels, around)
        if len(pending):
            count, parts = _parts(places, pending, around)
            labels[pending] = np.array(basins.add(count, height), np.int32)[parts]
        own, beside = labels[pixels], labels[pixels[:, np.newaxis] + around]
        at, which = np.nonzero((beside > 0) & (beside != own[:, np.newaxis]))
        pairs = np.unique(np.stack([own[at], beside[at, which]], axis=1), axis=0)
        for one, other in pairs.tolist():
            basins.meet(one, other, height, door)
    return basins.roots()[labels].reshape(-1, wide)[1:-1, 1:-1]


def _summits(levels: NDArray[np.int16]) -> Labels:
    """Return labels, without rows and columns, of what is highest, which may be most of a map."""
    from scipy import ndimage
    return np.asarray(ndimage.label(levels == levels.max(), _AROUND)[0], np.int32).ravel() if (
        levels.any()) else np.zeros(levels.size, np.int32)


def _reached(labels: Labels, pixels: NDArray[np.int32], around: NDArray[np.int32],
             ) -> NDArray[np.int32]:
    """Spread labels over pixels step by step; return the pixels that none has reached."""
    while len(pixels):
        found = labels[pixels[:, np.newaxis] + around].max(axis=1)
        reached = found > 0
        if not reached.any():
            break
        labels[pixels[reached]] = found[reached]
        pixels = pixels[~reached]
    return pixels


def _parts(places: NDArray[np.int32], pixels: NDArray[np.int32], around: NDArray[np.int32],
           ) -> tuple[int, NDArray[np.int32]]:
    """Return how many connected parts pixels have, and the part of each."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    places[pixels] = np.arange(len(pixels))
    beside = places[pixels[:, np.newaxis] + around]
    places[pixels] = -1
    start, which = np.nonzero(beside >= 0)
    graph = coo_matrix((np.ones(len(start), np.int8), (start, beside[start, which])),
                       (len(pixels), len(pixels)))
    count, parts = connected_components(graph, directed=False)
    return count, parts


class _Border(NamedTuple):
    """Pixels, rows and columns, where two basins touch."""

    pixels: NDArray[np.int64]
    basins: tuple[int, int]


def merged(basins: Labels, depth: NDArray[np.float64], smallest: float, least: float) -> Labels:
    """
    Return basins without those that are no rooms, each added to where its widest opening leads.

    :param smallest: pixels of a room.
    :param least: the depth that the middle of a room has.
    """
    areas = np.bincount(basins.ravel()).astype(np.float64)
    peaks = np.zeros(len(areas))
    np.maximum.at(peaks, basins.ravel(), depth.ravel())
    saddles: dict[int, dict[int, float]] = {}
    for border, (one, other) in _borders(basins, parts=False):
        saddle = float(depth[tuple(border.T)].max())
        for this, neighbour in ((one, other), (other, one)):
            saddles.setdefault(this, {})[neighbour] = saddle
    into = np.arange(len(areas), dtype=np.int32)
    small = sorted((label for label in saddles if areas[label] < smallest or peaks[label] < least),
                   key=lambda label: areas[label])
    for label in small:
        ends = saddles[label]
        if not ends or areas[label] >= smallest and peaks[label] >= least:
            continue    # it is alone, or what was added has made a room of it
        del saddles[label]
        other = max(ends, key=lambda each: (ends[each], areas[each]))
        into[into == label] = other
        areas[other], peaks[other] = areas[other] + areas[label], max(peaks[other], peaks[label])
        for neighbour, saddle in ends.items():
            del saddles[neighbour][label]
            if neighbour != other:
                for this, end in ((neighbour, other), (other, neighbour)):
                    saddles[this][end] = max(saddle, saddles[this].get(end, 0.0))
    return into[basins]


def _borders(basins: Labels, parts: bool = True) -> Iterator[_Border]:
    """Yield each border between two basins, each connected part of it alone if ``parts``."""
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
        if not parts:
            yield _Border(of_pair, (first, second))
            continue
        low = of_pair.min(axis=0)
        drawn = np.zeros(of_pair.max(axis=0) - low + 1, np.bool_)
        drawn[tuple((of_pair - low).T)] = True
        labels, count = ndimage.label(drawn, _AROUND)
        for part in range(1, count + 1):
            yield _Border(np.argwhere(labels == part) + low, (first, second))


def _same(one: Line, other: Line) -> bool:
    """Return whether two lines are across the same opening, whose border has two parts."""
    middles = [((x + to_x) / 2, (y + to_y) / 2) for (x, y), (to_x, to_y) in (one, other)]
    return math.dist(*middles) < min(math.dist(*one), math.dist(*other)) / 2


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
