# SPDX-License-Identifier: Apache-2.0

"""
Lays places on a map, and straight ways between them.

Home is a place, and so is each side of each opening between rooms; the others fill what is left.
Two places whose areas touch are joined if the straight way between them is free. Where it is not,
and no short way leads round, a place is put between them. At last places that are close to another
one and see no more than that one are taken away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
import math

from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.plan.home import CORNER
from mnm_ros.plan.rooms import depth_of, is_free, label_at, Labels, Line
from mnm_ros.plan.spread import Pixels, Spread
import numpy as np
from numpy.typing import NDArray

_DETOUR = 3        # edges: a way round that is no longer needs no place on the straight way
_ROUNDS = 12       # in which places are put between two that see each other not
_BESIDE = (0.5, 0.4, 0.6, 0.7, 0.8, 1.0, 1.2)    # m from an opening, where its sides get places
_APART = 0.4       # of the spacing: nearer places on the sides of two openings are one
_TOLD = 3          # areas that are left out
_LEAST_AREA = 1.0  # m^2 of an area that is listed as left out
_CLOSE = 0.4       # of the spacing: of two places that are so near, one may be needless

Pairs = NDArray[np.int64]
"""The numbers of two places a row."""


class Layout:
    """Places on a map, and the straight ways between them."""

    def __init__(self, map_: Map, home: Point, radius: float) -> None:
        from scipy import ndimage
        self._map, self._home, self._radius = map_, home, radius
        self._room = depth_of(is_free(map_))
        self._areas, _ = ndimage.label(self._room > radius / map_.resolution + CORNER)
        row, column = self._near(home)[0]
        self._area = int(self._areas[row, column])
        self._spread = Spread(self._room, self._areas == self._area)
        self._home_pixel = self._spread.pixel(row, column)

    def _near(self, point: Point) -> list[tuple[int, int]]:
        """Return rows and columns of pixels at a point where a robot may be, nearest first."""
        at = self._map.pixels([point])[0, ::-1]
        first = np.maximum(np.floor(at).astype(int) - 1, 0)
        near = np.argwhere(self._areas[first[0]:first[0] + 3, first[1]:first[1] + 3]) + first
        order = np.argsort(np.hypot(*(near + 0.5 - at).T), kind='stable')
        return [(row, column) for row, column in near[order].tolist()]

    def laid(self, lines: Sequence[Line], labels: Labels,
             spacing: float) -> tuple[list[Point], Pairs]:
        """
        Return places in m, home first, and the pairs that a free way joins.

        :param lines: across the openings between rooms.
        :param labels: the room of each pixel.
        :param spacing: of neighbours in m.
        """
        spread = self._spread
        spread.add([self._home_pixel, *self._sides(lines, spacing)])
        spread.fill(spacing / self._map.resolution, self._home_pixel)
        seen: dict[tuple[int, int], bool] = {}
        for _ in range(_ROUNDS):
            joined, blocked, between = self._ways(seen)
            added = self._between(joined, blocked, between)
            if not added:
                break
            spread.add(added)
        joined, *_ = self._ways(seen)
        points = self._points()
        return _connected(points, self._pruned(points, joined, labels, _CLOSE * spacing))

    def _points(self) -> list[Point]:
        """Return the places in m; home is exactly where it was asked for."""
        found = self._map.points(self._spread.centres(self._spread.places)).round(3).tolist()
        return [self._home, *((x, y) for x, y in found[1:])]

    def _sides(self, lines: Sequence[Line], spacing: float) -> Iterator[int]:
        """Yield a pixel on each side of each line, unless another one is near and in sight."""
        chosen = _Points(_APART * spacing)
        chosen.add(self._home)
        for line in lines:
            for pixel in self._beside(line):
                (x, y), = self._map.points(self._spread.centres([pixel])).tolist()
                if not any(self._sees((x, y), other) for other in chosen.near((x, y))):
                    chosen.add((x, y))
                    yield pixel

    def _beside(self, line: Line) -> Iterator[int]:
        """Yield the best pixel on each side of a line that is seen from its middle, if any is."""
        (x, y), (to_x, to_y) = line
        length = math.dist(*line) or 1.0
        middle = (x + to_x) / 2, (y + to_y) / 2
        for side in (1, -1):
            for far in _BESIDE:
                point = (middle[0] + side * far * (y - to_y) / length,
                         middle[1] + side * far * (to_x - x) / length)
                pixel = self._pixel(point)
                if pixel is not None and self._sees(middle, point):
                    yield pixel
                    break

    def _pixel(self, point: Point) -> int | None:
        """Return the pixel of a point in the area of home; None elsewhere."""
        (column, row), = np.floor(self._map.pixels([point])).astype(int).tolist()
        inside = 0 <= column < self._map.width and 0 <= row < self._map.height
        return self._spread.pixel(row, column) if (
            inside and self._areas[row, column] == self._area) else None

    def _sees(self, one: Point, other: Point) -> bool:
        return bool(self._map.is_free([one], [other], 0.0)[0])

    def _ways(self, seen: dict[tuple[int, int], bool]) -> tuple[Pairs, Pairs, Pixels]:
        """
        Return pairs of neighbours that a free way joins, the others, and a pixel between these.

        :param seen: what is known of pairs already, which is added to.
        """
        borders = self._spread.borders()
        pairs = [(one, other) for one, other in borders.places.tolist()]
        new = [pair for pair in pairs if pair not in seen]
        if new:
            seen.update(zip(new, self.free(np.array(self._points())[new]).tolist()))
        free = np.array([seen[pair] for pair in pairs], np.bool_)
        return borders.places[free], borders.places[~free], borders.widest[~free]

    def _between(self, joined: Pairs, blocked: Pairs, between: Pixels) -> list[int]:
        """Return pixels for places between neighbours that no short way joins."""
        beside = _neighbours(joined)
        taken = {*self._spread.places}
        added: list[int] = []
        for (one, other), pixel in zip(blocked.tolist(), between.tolist()):
            if pixel in taken or _within(beside, one, other, _DETOUR):
                continue
            taken.add(pixel)
            added.append(pixel)
            # So that the next pair is not joined a second time.
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
        return added

    def _pruned(self, points: list[Point], joined: Pairs, labels: Labels, close: float) -> Pairs:
        """Return the pairs without places that are close to one that sees all that they see."""
        beside = _neighbours(joined)
        ends = np.array(points)[joined]
        lengths = np.hypot(*(ends[:, 0] - ends[:, 1]).T)
        for pair in joined[np.argsort(lengths, kind='stable')][:int(np.sum(lengths < close))]:
            for kept, gone in (pair.tolist(), pair[::-1].tolist()):
                if gone == 0 or gone not in beside.get(kept, ()) or label_at(
                        self._map, labels, points[kept]) != label_at(
                            self._map, labels, points[gone]):
                    continue
                new = sorted(beside[gone] - beside[kept] - {kept})
                if not self.free([(points[kept], points[each]) for each in new]).all():
                    continue
                for each in beside.pop(gone):
                    beside[each].discard(gone)
                for each in new:
                    beside[each].add(kept)
                    beside[kept].add(each)
                break
        return np.array(sorted((one, other) for one, others in beside.items() for other in others
                               if one < other), np.int64).reshape(-1, 2)

    def free(self, ways: Sequence[Line] | NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which straight ways a robot may drive along, shape (ways,)."""
        ends = np.reshape(ways, (-1, 2, 2))
        return self._map.is_free(ends[:, 0], ends[:, 1], self._radius)

    def neighbours(self, point: Point, places: Sequence[Point]) -> list[int]:
        """Return the indices of the places to which a further place at a point is joined."""
        spread = Spread(self._room, self._areas == self._area)
        owners: list[int] = []    # -1 is the point
        pixels: list[int] = []
        for number, place in enumerate([point, *places], -1):
            near = [at for at in self._near(place) if self._areas[at] == self._area]
            if near:
                owners.append(number)
                pixels.append(spread.pixel(*near[0]))
        if owners[:1] != [-1]:
            return []
        spread.add(pixels)
        borders = spread.borders().places
        beside = [owners[other] for one, other in borders.tolist() if one == 0]
        free = self.free([(point, places[other]) for other in beside])
        return [other for other, joined in zip(beside, free.tolist()) if joined]

    def left_out(self) -> list[str]:
        """Return a sentence about areas that are free, but not reached from home."""
        areas = np.bincount(self._areas.ravel()) * self._map.resolution ** 2
        areas[[0, self._area]] = 0.0
        large = [int(area) for area in np.argsort(-areas) if areas[area] >= _LEAST_AREA]
        if not large:
            return []
        told = []
        for area in large[:_TOLD]:
            deep = np.where(self._areas == area, self._room, 0.0)
            row, column = np.unravel_index(np.argmax(deep), deep.shape)
            (x, y), = self._map.points([(column + 0.5, row + 0.5)]).tolist()
            told.append(f'{areas[area]:.1f} m^2 at ({x:.2f}, {y:.2f})')
        more = f' and {len(large) - _TOLD} more' if len(large) > _TOLD else ''
        return [f'left out, because no way from home is wide enough: {", ".join(told)}{more}; '
                '--home there begins there']

    def clearance(self, points: Sequence[Point]) -> NDArray[np.float64]:
        """Return how far points are from what is not free in m, at least; not above 0 off it."""
        columns, rows = np.floor(self._map.pixels(points) + 1e-9).astype(int).T
        inside = (columns >= 0) & (columns < self._map.width) & (
            (rows >= 0) & (rows < self._map.height))
        room = np.zeros(len(points))
        room[inside] = self._room[rows[inside], columns[inside]]
        return (room - CORNER) * self._map.resolution


def _connected(points: list[Point], pairs: Pairs) -> tuple[list[Point], Pairs]:
    """Return the places that ways join with home, and the pairs among these."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    count = len(points)
    _, part = connected_components(coo_matrix(
        (np.ones(len(pairs)), tuple(pairs.T)), (count, count)), directed=False)
    kept = part == part[0]
    number = np.cumsum(kept) - 1
    return ([point for point, keep in zip(points, kept) if keep],
            number[pairs[kept[pairs[:, 0]]]].reshape(-1, 2))


def _neighbours(pairs: Pairs) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for one, other in pairs.tolist():
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def _within(beside: Mapping[int, set[int]], start: int, end: int, most: int) -> bool:
    """Return whether at most so many edges lead from one place to another."""
    found = front = {start}
    for _ in range(most):
        front = {after for place in front for after in beside.get(place, ())} - found
        if end in front:
            return True
        found = found | front
    return False


class _Points:
    """Points of which those near to another one are found at once."""

    def __init__(self, apart: float) -> None:
        """Begin without points; those that are less than ``apart`` from each other are near."""
        self._apart = apart
        self._tiles: dict[tuple[int, int], list[Point]] = {}

    def add(self, point: Point) -> None:
        self._tiles.setdefault(self._tile(point), []).append(point)

    def near(self, point: Point) -> Iterator[Point]:
        column, row = self._tile(point)
        for right, up in product((-1, 0, 1), (-1, 0, 1)):
            for other in self._tiles.get((column + right, row + up), ()):
                if math.dist(point, other) < self._apart:
                    yield other

    def _tile(self, point: Point) -> tuple[int, int]:
        return int(point[0] // self._apart), int(point[1] // self._apart)
