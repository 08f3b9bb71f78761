# SPDX-License-Identifier: Apache-2.0

"""Poses as states: the cells of a grid, with or without a heading, and the ways between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, nsmallest
import math

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.occupancy import Map, Point, Points
from mnm_ros.driving.path import free_arc, smooth_part, SmoothPart
from mnm_ros.driving.pose import Pose, wrapped
import numpy as np
from numpy.typing import NDArray

OUTSIDE = -2
"""The state of every pose outside of the grid."""

FARTHEST = 1e8
"""Larger coordinates, in m, are none; those of UTM reach 1e7."""

Edge = tuple[int | None, int]
"""A move from a cell, or from outside of the grid (None), to a cell."""

QUARTER = math.pi / 2

_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))    # columns and rows by heading
_ROOMS = 0.5, 0.3   # of a cell, before and after a corner, for an arc
_TIGHT = 1 / 8      # of a cell, the least radius of an arc for which it is not better to stop
_OFF = 1 / 8        # of a cell, from whose centre straight ways to the next one are free
_NEAREST = 16       # cells to which a robot that is in none is driven, if the way there is free


@dataclass(frozen=True)
class Grid:
    """
    Square cells, counted from the lower left corner along x, then along y.

    A state is a cell, ``row * columns + column``, or ``cell * 4 + heading`` with the headings
    0 east (along x), 1 north (along y), 2 west and 3 south, or OUTSIDE.

    :ivar origin_x, origin_y: the lower left corner in m.
    :ivar cell_size: the side of a cell in m.
    :ivar yaw: by which the grid is turned about that corner in rad; x and y above are its own.
    """

    origin_x: float
    origin_y: float
    cell_size: float
    columns: int
    rows: int
    with_heading: bool = False
    yaw: float = 0.0

    def cell_at(self, x: float, y: float) -> int | None:
        """Return the cell that contains a point; None outside of the grid."""
        right, up = self.within(x, y)
        return self._cell(math.floor(right / self.cell_size), math.floor(up / self.cell_size))

    def within(self, x: float, y: float) -> tuple[float, float]:
        """Return how far a point is from the lower left corner along the rows and columns in m."""
        right, up = x - self.origin_x, y - self.origin_y
        if not self.yaw:
            return right, up
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return cos * right + sin * up, cos * up - sin * right

    def centre(self, cell: int) -> tuple[float, float]:
        """Return the centre of a cell in m; ValueError if there is no such cell."""
        if not 0 <= cell < self.columns * self.rows:
            raise InvalidValueError(f'cell {cell}, expected 0 .. {self.columns * self.rows - 1}')
        row, column = divmod(cell, self.columns)
        right, up = (column + 0.5) * self.cell_size, (row + 0.5) * self.cell_size
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return (self.origin_x + (cos * right - sin * up), self.origin_y + (sin * right + cos * up))

    def neighbour(self, cell: int, heading: int) -> int | None:
        """Return the next cell in the direction of a heading; None at the edge of the grid."""
        row, column = divmod(cell, self.columns)
        right, up = _STEPS[heading]
        return self._cell(column + right, row + up)

    def state(self, cell: int | None, heading: int) -> int:
        """Return the state for a cell (None: outside of the grid) and a heading."""
        if cell is None:
            return OUTSIDE
        return cell * 4 + heading if self.with_heading else cell

    def state_at(self, pose: Pose) -> int:
        """Return the state of a pose."""
        return self.state(self.cell_at(pose.x, pose.y), self.heading_at(pose.yaw))

    def heading_at(self, yaw: float) -> int:
        """Return the heading 0 .. 3 that is nearest to an angle in rad."""
        return round((yaw - self.yaw) / QUARTER) % 4

    def yaw_of(self, heading: int) -> float:
        """Return the angle of a heading in rad."""
        return wrapped(self.yaw + heading * QUARTER)

    def distance_beyond(self, cell: int, x: float, y: float) -> float:
        """Return how far a point is outside the border of a cell in m; negative inside."""
        right, up = self.within(x, y)
        row, column = divmod(cell, self.columns)
        return max(abs(right - (column + 0.5) * self.cell_size),
                   abs(up - (row + 0.5) * self.cell_size)) - self.cell_size / 2

    def is_deep(self, cell: int | None, pose: Pose, depth: float) -> bool:
        """Whether a pose is this part of a cell, or more, within the border of one."""
        return cell is not None and (
            self.distance_beyond(cell, pose.x, pose.y) <= -depth * self.cell_size)

    def distance_outside(self, x: float, y: float) -> float:
        """Return how far a point is outside of the grid in m; 0 inside."""
        right, up = self.within(x, y)
        return max(0.0, -right, -up, right - self.columns * self.cell_size,
                   up - self.rows * self.cell_size)

    def astray(self, pose: Pose, farthest: float) -> str:
        """Return why nothing is driven from a pose, so far outside in m; '' if it may be."""
        outside = self.distance_outside(pose.x, pose.y)
        return '' if outside <= farthest else (
            f'the robot is {outside:.3g} m outside of the grid, expected at most {farthest:g} m')

    def _cell(self, column: int, row: int) -> int | None:
        inside = 0 <= column < self.columns and 0 <= row < self.rows
        return row * self.columns + column if inside else None


class Place:
    """
    The state of a robot with noisy poses: it changes only well outside a border.

    :param margin: how far outside, as a fraction of a cell or of a quarter turn.
    :ivar cell: None outside of the grid.
    :ivar heading: 0 .. 3.
    """

    def __init__(self, grid: Grid, margin: float) -> None:
        self.cell: int | None = None
        self.heading = 0
        self._grid = grid
        self._margin = margin
        self._known = False

    @property
    def state(self) -> int:
        """Return the state of the last pose."""
        return self._grid.state(self.cell, self.heading)

    def update(self, pose: Pose) -> int:
        """Take a pose; return its state."""
        if not self._known or self._has_left(pose):
            self.cell = self._grid.cell_at(pose.x, pose.y)
        turned = abs(wrapped(pose.yaw - self._grid.yaw_of(self.heading)))
        if not self._known or turned > (0.5 + self._margin) * QUARTER:
            self.heading = self._grid.heading_at(pose.yaw)
        self._known = True
        return self.state

    def _has_left(self, pose: Pose) -> bool:
        margin = self._margin * self._grid.cell_size
        if self.cell is not None:
            return self._grid.distance_beyond(self.cell, pose.x, pose.y) > margin
        grid = self._grid
        return all(margin <= along < cells * grid.cell_size - margin for along, cells in zip(
            grid.within(pose.x, pose.y), (grid.columns, grid.rows)))


def free_cells(grid: Grid, map_: Map, radius: float = 0.0) -> frozenset[int]:
    """Return the cells in which a robot of that radius in m, at the centre, is free on the map."""
    cells = np.arange(grid.columns * grid.rows)
    return frozenset(cells[_may_go(grid, map_, radius, cells, cells)].tolist())


def closed_edges(
        grid: Grid, map_: Map, radius: float, free: frozenset[int]) -> frozenset[Edge]:
    """
    Return the moves between free cells next to each other that are not free on the map.

    A robot of that radius in m would not be, at every point between the two centres: there is a
    wall on the border, or beside a door that is too narrow.
    """
    cells = np.fromiter(free, np.int64, len(free))
    is_free = np.zeros(grid.columns * grid.rows, np.bool_)
    is_free[cells] = True
    closed = set()
    for step, begin in ((1, cells[cells % grid.columns < grid.columns - 1]),
                        (grid.columns, cells[cells < len(is_free) - grid.columns])):
        here = begin[is_free[begin + step]]
        for cell in here[~_may_go(grid, map_, radius, here, here + step)].tolist():
            closed |= {(cell, cell + step), (cell + step, cell)}
    return frozenset(closed)


def _may_go(grid: Grid, map_: Map, radius: float, cells: NDArray[np.int64],
            there: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each way from the centre of one cell to that of another is free on the map."""
    return map_.is_free(centres(grid, cells), centres(grid, there), radius)


def centres(grid: Grid, cells: NDArray[np.int64]) -> Points:
    """Return the centres of cells in m, shape (cells, 2)."""
    rows, columns = np.divmod(cells, grid.columns)
    right, up = (columns + 0.5) * grid.cell_size, (rows + 0.5) * grid.cell_size
    cos, sin = math.cos(grid.yaw), math.sin(grid.yaw)
    return np.stack([grid.origin_x + (cos * right - sin * up),
                     grid.origin_y + (sin * right + cos * up)], axis=1)


class Ways:
    """
    The knowledge about the moves between the cells of a grid.

    :ivar free: the cells that are free on a map; None without a map.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.free: frozenset[int] | None = None
        self._closed: frozenset[Edge] = frozenset()
        self._map: Map | None = None
        self._radius = 0.0
        self._proven: set[Edge] = set()
        self._doubtful: set[Edge] = set()
        self._detours: dict[Edge, int] = {}

    def read(self, map_: Map, radius: float) -> bool:
        """Take a map for a robot of that radius in m; return whether other moves are free now."""
        before = self.free, self._closed
        self._map, self._radius = map_, radius
        self.free = free_cells(self.grid, map_, radius)
        self._closed = closed_edges(self.grid, map_, radius, self.free)
        return (self.free, self._closed) != before

    def is_free(self, cell: int | None) -> bool:
        """Whether moves may begin and end in a cell (None: outside of the grid)."""
        return cell is not None and (self.free is None or cell in self.free)

    def neighbour(self, cell: int, heading: int) -> int | None:
        """Return the next cell in a direction; None if no move leads there, by grid and map."""
        there = self.grid.neighbour(cell, heading)
        may_go = self.is_free(cell) and self.is_free(there) and (cell, there) not in self._closed
        return there if may_go else None

    def is_off(self, place: Point, cell: int, there: int) -> bool:
        """Whether a robot has to go to the centre of its cell before it goes to another one."""
        return self._map is not None and (
            math.dist(place, self.grid.centre(cell)) > _OFF * self.grid.cell_size
            and not self._map.is_free([place], [self.grid.centre(there)], self._radius).all())

    def away(self, pose: Pose, cell: int, *, forward: bool) -> Pose | None:
        """
        Return where a robot backs off to from what has held it up before the centre of its cell.

        To go back to the centre would lead on against it. None if the centre is not ahead, or if
        the robot is in another cell.
        """
        course, ahead = 1 if forward else -1, pose.ahead(self.grid.centre(cell))
        room = -self.grid.distance_beyond(cell, pose.x, pose.y)
        if room <= 0 or course * ahead <= _OFF * self.grid.cell_size:
            return None
        return pose.moved(-course * room / 2, 0.0)

    def succeeded(self, cell: int, there: int) -> None:
        """Remember that a move, and hence the one back, is possible."""
        edges = {(cell, there), (there, cell)}
        self._proven |= edges
        self._doubtful -= edges
        self._detours.pop((cell, there), None)

    def failed(self, cell: int, there: int) -> None:
        """Remember that a move has failed when it was last tried."""
        edges = {(cell, there), (there, cell)}
        self._proven -= edges
        self._doubtful |= edges

    def detoured(self, cell: int, there: int) -> int:
        """Count a long way round; return how many there were in a row."""
        self._detours[cell, there] = self._detours.get((cell, there), 0) + 1
        return self._detours[cell, there]

    def route(self, cell: int, goal: int, blocked: Collection[Edge]) -> list[int] | None:
        """
        Return the cells of a shortest route to the goal; None if there is no route.

        Without a map, the first choice is a route over moves that have succeeded before. The
        second is one without moves that failed when they were last tried, the third any route.

        :param blocked: the moves to avoid.
        """
        trusts: list[Callable[[Edge], bool]] = [
            lambda move: move not in self._doubtful, lambda move: True]
        if self.free is None:
            trusts.insert(0, lambda move: move in self._proven)
        for trusted in trusts:
            route = shortest(cell, goal, lambda at: (
                there for there in self._around(at, blocked)
                if trusted((at, there))))    # noqa: B023
            if route:
                return route
        return None

    def smooth_part(self, points: Sequence[Point]) -> SmoothPart:
        """
        Return ``smooth_part`` of the way along a route.

        An arc of half a cell keeps as far from the corner between the cells as a straight way
        does, and so a robot on it stays in the cells of the route. The map has to be free, too.
        """
        rooms = [room * self.grid.cell_size for room in _ROOMS]
        return smooth_part(points, rooms, self._may_drive)

    def curve(self, pose: Pose, there: int) -> tuple[tuple[Point, ...], float]:
        """
        Return the way of a robot that rolls on towards a cell beside it: an arc, and straight on.

        :return: its points between pose and centre, none if there is no room for it; and the
            radius of the arc in m.
        """
        along, up = math.cos(pose.yaw), math.sin(pose.yaw)
        (x, y), end, size = pose[:2], self.grid.centre(there), self.grid.cell_size
        radius = pose.ahead(end)
        beside = math.sqrt(max(0.0, math.dist((x, y), end) ** 2 - radius ** 2))
        if not _TIGHT * size <= radius <= size / 2 or beside < size / 2:
            return (), 0.0
        before, corner = ((x + way * along, y + way * up) for way in (-radius, radius))
        arc = free_arc(before, corner, end, min(radius, beside / 2), self._may_drive)
        return (tuple(arc), radius) if arc and self._may_drive([arc[-1], end]) else ((), 0.0)

    def _may_drive(self, way: Sequence[Point]) -> bool:
        """Whether a way is free on the map, if there is one."""
        return self._map is None or bool(
            self._map.is_free(way[:-1], way[1:], self._radius).all())

    def entry(self, x: float, y: float, cell: int | None, blocked: Collection[Edge]) -> int | None:
        """
        Return the cell nearest to a robot that is in no free cell, if ``Map.way_in`` allows one.

        :param x, y: where the robot is.
        :param cell: the one that is not free; None outside of the grid.
        """
        cells = (there for there in range(self.grid.columns * self.grid.rows)
                 if self.is_free(there) and (cell, there) not in blocked)
        nearest = nsmallest(_NEAREST, cells, key=lambda there: math.dist(
            (x, y), self.grid.centre(there)))
        index = 0 if self._map is None else self._map.way_in(
            (x, y), [self.grid.centre(there) for there in nearest], self._radius)
        return nearest[index] if nearest and index is not None else None

    def _around(self, cell: int, blocked: Collection[Edge]) -> Iterable[int]:
        for heading in range(4):
            there = self.neighbour(cell, heading)
            if there is not None and (cell, there) not in blocked:
                yield there


def shortest(
        start: int, goal: int, around: Callable[[int], Iterable[int]]) -> list[int] | None:
    """
    Return the cells of a route after the start, or None if there is none.

    Of the shortest routes it is one with the fewest turns, by the algorithm of Dijkstra.
    """
    at = start, 0    # a cell, and by how much its number is larger than that of the cell before
    least, before = {at: (0, 0)}, {at: at}
    queue = [((0, 0), at)]    # steps and turns
    while queue and at[0] != goal:
        (steps, turns), at = heappop(queue)
        cell, course = at
        for there in around(cell):
            after = there, there - cell
            cost = steps + 1, turns + (course not in (0, there - cell))
            if after not in least or cost < least[after]:
                least[after], before[after] = cost, at
                heappush(queue, (cost, after))
    if at[0] != goal:
        return None
    route = []
    while before[at] != at:
        route.append(at[0])
        at = before[at]
    return route[::-1]
