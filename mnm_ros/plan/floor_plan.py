# SPDX-License-Identifier: Apache-2.0

"""A floor plan: a map with a grid, a home, rooms, doors and keep-outs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nlargest
from pathlib import Path
from typing import Any

from mnm_ros.driving.grid import Edge, Grid, Ways
from mnm_ros.driving.occupancy import blocks, Map, OCCUPIED, Point, Points
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.rooms import label_at, labelled, Labels, Line, names_of
import numpy as np
from numpy.typing import NDArray

Polygon = Sequence[Point]

MOST_WALLS = 2000    # lines; noise makes many short ones

_UNKNOWN = -1
_TOUCHED = 0.499    # pixels between a line and the middle of one that it touches


@dataclass(frozen=True)
class Plan:
    """
    A floor plan; lengths are in m and angles in rad, in the frame of the map.

    :ivar map: without keep-outs.
    :ivar robot_radius: of the robot that it was made for.
    :ivar clearance: how far from walls its ways are kept besides.
    :ivar rooms: a point in each.
    :ivar doors: a line from wall to wall across each.
    :ivar openings: the same between rooms that no door divides.
    :ivar keep_outs: polygons, the last point joined to the first.
    :ivar masked: of each pixel of the map, the lowest row first, whether a filter mask keeps
        robots out of it; None for no mask.
    :ivar names: of cells, in place of those by their rooms.
    """

    name: str
    map: Map    # noqa: A003
    grid: Grid
    home: Pose
    robot_radius: float
    clearance: float = 0.05
    rooms: Mapping[str, Point] = field(default_factory=dict)
    doors: Mapping[str, Line] = field(default_factory=dict)
    keep_outs: Mapping[str, Polygon] = field(default_factory=dict)
    masked: NDArray[np.bool_] | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    path: Path = Path()
    openings: Mapping[str, Line] = field(default_factory=dict)

    @property
    def lines(self) -> list[Line]:
        """Return the lines that divide rooms: doors, then openings."""
        return [*self.doors.values(), *self.openings.values()]

    @cached_property
    def kept_out(self) -> NDArray[np.bool_]:
        """Return of each pixel whether anything keeps robots out of it."""
        found = np.zeros((self.map.height, self.map.width), np.bool_)
        if self.masked is not None:
            found |= self.masked
        for polygon in self.keep_outs.values():
            found |= covered(self.map, polygon)
        return found

    @cached_property
    def driven_map(self) -> Map:
        """
        Return the map by which is driven: what robots are kept out of is as if it were unknown.

        It is never driven into then, and a robot that was put there may leave it, unlike a wall.
        """
        rows = np.where(self.kept_out, _UNKNOWN, self.map.pixel_rows).astype(np.int8)
        return replace(self.map, values=rows.ravel())

    @property
    def ways_radius(self) -> float:
        """Return how far around ways everything has to be free."""
        return self.robot_radius + self.clearance

    @cached_property
    def ways(self) -> Ways:
        """Return the ways between cells, to read them: a drive would be remembered in them."""
        ways = Ways(self.grid)
        ways.read(self.driven_map, self.ways_radius)
        return ways

    @property
    def home_cell(self) -> int | None:
        """Return the cell of home; None outside of the grid."""
        return self.grid.cell_at(self.home.x, self.home.y)

    @cached_property
    def reached(self) -> frozenset[int]:
        """Return the cells to which free ways lead from home."""
        return frozenset(moves_to(self.ways, self.home_cell))

    @cached_property
    def room_labels(self) -> Labels:
        """Return which room each pixel of the map belongs to, by numbers."""
        return labelled(self.map, self.lines)

    @cached_property
    def room_names(self) -> dict[int, str]:
        """Return the names of rooms by their numbers."""
        return names_of(self.map, self.room_labels, self.rooms)

    def room_at(self, point: Point) -> str | None:
        """Return the name of the room of a point."""
        return self.room_names.get(label_at(self.map, self.room_labels, point))

    @cached_property
    def cell_names(self) -> dict[int, str]:
        """Return what people call each cell: 'kitchen 3', or 'r0c4' where no room is."""
        found: dict[int, str] = {}
        counts: dict[str, int] = {}
        for cell in range(self.grid.columns * self.grid.rows):
            room = self.room_at(self.grid.centre(cell))
            if room is not None and cell in self.reached:
                counts[room] = counts.get(room, 0) + 1
                found[cell] = f'{room} {counts[room]}'
            else:
                found[cell] = by_number(self.grid, cell)
        return {**found, **self.names}

    def through(self, door: str) -> list[Edge]:
        """Return the moves between neighbouring cells whose straight way crosses a door."""
        return crossing(self.grid, self.doors[door])


def by_number(grid: Grid, cell: int) -> str:
    """Return the name of a cell by its row and column."""
    row, column = divmod(cell, grid.columns)
    return f'r{row}c{column}'


def moves_to(ways: Ways, home: int | None) -> dict[int, int]:
    """Return how many moves each cell is away to which free ways lead from home, if it is free."""
    if home is None or not ways.is_free(home):
        return {}
    found, waiting = {home: 0}, deque([home])
    while waiting:
        cell = waiting.popleft()
        for heading in range(4):
            there = ways.neighbour(cell, heading)
            if there is not None and there not in found:
                found[there] = found[cell] + 1
                waiting.append(there)
    return found


def passable(ways: Ways, edge: Edge) -> bool:
    """Whether the map lets a move lead from one cell to a neighbouring one."""
    here, there = edge
    return here is not None and any(
        ways.neighbour(here, heading) == there for heading in range(4))


def crossing(grid: Grid, line: Line) -> list[Edge]:
    """Return the moves between neighbouring cells whose straight way crosses a line."""
    (ax, ay), (bx, by) = (grid.within(*end) for end in line)
    size = grid.cell_size
    columns, rows = ((np.clip(np.floor(np.sort(ends) / size - 0.5) + (0, 1), 0, most - 1))
                     for ends, most in (((ax, bx), grid.columns), ((ay, by), grid.rows)))
    found: list[Edge] = []
    for row in range(int(rows[0]), int(rows[1]) + 1):
        for column in range(int(columns[0]), int(columns[1]) + 1):
            x, y = (column + 0.5) * size, (row + 0.5) * size
            for right, up in ((1, 0), (0, 1)):
                if column + right < grid.columns and row + up < grid.rows and _cross(
                        (x, y), (x + right * size, y + up * size), (ax, ay), (bx, by)):
                    cell, there = (row * grid.columns + column,
                                   (row + up) * grid.columns + column + right)
                    found += [(cell, there), (there, cell)]
    return found


def _cross(first: Point, last: Point, start: Point, end: Point) -> bool:
    """Whether two straight lines cross; a line begins on, and ends before, another one."""
    def side(point: Point, a: Point, b: Point) -> bool:
        return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) >= 0

    return (side(first, start, end) != side(last, start, end)
            and side(start, first, last) != side(end, first, last))


def covered(map_: Map, polygon: Polygon) -> NDArray[np.bool_]:
    """Return which pixels of a map a polygon covers, or its border passes; the lowest first."""
    height, width = map_.height, map_.width
    crossed = np.zeros((height, width + 1), np.bool_)
    touched = np.zeros((height, width), np.bool_)
    starts = map_.pixels(polygon)
    edges = np.hstack([starts, np.roll(starts, -1, axis=0)])
    for at, row in _repeated(edges[:, 1::2], height):
        ax, ay, bx, by = edges[at].T
        middle = row + 0.5
        within = (ay > middle) != (by > middle)    # where a ray to the right crosses the border
        x = (bx - ax)[within] * (middle - ay)[within] / (by - ay)[within] + ax[within]
        # Of two that end in the same pixel, each counts.
        np.logical_xor.at(crossed, (row[within], np.clip(np.ceil(x - 0.5), 0, width).astype(int)),
                          True)
        ends = np.clip(np.sort(_columns(edges[at], middle)) + (-0.5, 0.5), -1, width + 1)
        for near, column in _repeated(ends, width):
            ax, ay, bx, by = edges[at[near]].T
            squared = np.maximum((bx - ax) ** 2 + (by - ay) ** 2, 1e-12)
            x, y = column + 0.5 - ax, middle[near] - ay
            part = np.clip((x * (bx - ax) + y * (by - ay)) / squared, 0, 1)
            close = np.hypot(x - part * (bx - ax), y - part * (by - ay)) < _TOUCHED
            touched[row[near][close], column[close]] = True
    # A pixel is inside if the border is crossed an odd number of times on its right.
    odd = np.logical_xor.accumulate(crossed[:, ::-1], axis=1)[:, ::-1]
    return touched | odd[:, 1:]


def _repeated(ends: NDArray[np.float64], most: int) -> Iterator[
        tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """
    Yield, in pieces, the number of each range once for each pixel in or beside it, and the pixel.

    :param ends: the ends of ranges of pixels, shape (ranges, 2), in any order.
    :param most: how many pixels there are.
    """
    first, last = (np.clip(np.floor(each), 0, most).astype(np.int64) for each in (
        ends.min(axis=1) - 1, ends.max(axis=1) + 2))
    counts = np.cumsum(last - first)
    for begin, end in blocks(int(counts[-1]), 1):
        at = np.searchsorted(counts, np.arange(begin, end), side='right')
        yield at, last[at] - counts[at] + np.arange(begin, end)


def _columns(edges: NDArray[np.float64], middle: NDArray[np.floating[Any]]) -> NDArray[
        np.float64]:
    """Return between which x edges are within half a pixel of a height, shape (edges, 2)."""
    ax, ay, bx, by = edges.T[:, :, np.newaxis]
    rise = np.where(ay == by, 1.0, by - ay)
    parts = np.clip((middle[:, np.newaxis] + (-0.5, 0.5) - ay) / rise, 0, 1)
    return np.asarray(ax + (bx - ax) * np.where(ay == by, (0.0, 1.0), parts))


def walls(map_: Map) -> tuple[tuple[float, float, float, float], ...]:
    """Return the longest lines between what is occupied and what is not, as x1, y1, x2, y2."""
    taken = np.pad(map_.pixel_rows >= OCCUPIED, 1).astype(np.int8)
    found: list[tuple[int, int, int, int]] = []
    for turned in (False, True):
        borders = np.diff(taken.T if turned else taken, axis=0) != 0
        for at, border in enumerate(borders):
            ends = np.flatnonzero(np.diff(np.pad(border.astype(np.int8), 1))) - 1
            found += [(at, first, at, last) if turned else (first, at, last, at)
                      for first, last in zip(ends[::2].tolist(), ends[1::2].tolist())]
    found = nlargest(MOST_WALLS, found, key=lambda line: line[2] - line[0] + line[3] - line[1])
    ends = map_.points(np.reshape(found, (-1, 2)).astype(np.float64)).round(3)
    return tuple((x, y, to_x, to_y) for x, y, to_x, to_y in ends.reshape(-1, 4).tolist())


def corners(map_: Map) -> Points:
    """Return the corners of a map in m."""
    return map_.points([(0, 0), (map_.width, 0), (0, map_.height), (map_.width, map_.height)])


def bounds(points: Iterable[Point]) -> tuple[Point, Point]:
    """Return the lower left and the upper right corner around points."""
    xs, ys = zip(*points)
    return (min(xs), min(ys)), (max(xs), max(ys))
