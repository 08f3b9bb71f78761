# SPDX-License-Identifier: Apache-2.0

"""
The grid that fits a map best: size, origin and rotation.

A map is examined along the rows and columns of a grid, on points so close to each other that all
origins of one rotation are at some of them. Those that seem best are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import math

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.description_entries import MAX_STATES
from mnm_ros.driving.grid import centres, Grid, Ways
from mnm_ros.driving.occupancy import blocks, Map
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.language import Phrase, PhraseError
from mnm_ros.plan.floor_plan import corners, crossing, moves_to, passable
from mnm_ros.plan.home import HALF_PIXEL
from mnm_ros.plan.rooms import depth_of, is_free, Line
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

_COMPARED = 12        # grids of one size and rotation that are compared exactly
_NEARLY = 0.95        # of the most cells; among such grids fewer cut doors are better
_ENOUGH = 0.9         # of the area that any size covers; of such sizes the largest is taken
_STRAIGHT = 1.0       # deg, to which a direction of walls is 0
_SAME = 1e-9
_BLURRED = 8          # pixels, no fewer than a blurred one is made of


@dataclass(frozen=True)
class Fit:
    """
    A grid, and what it is worth.

    :ivar cells: those reached from home.
    :ivar cut: the doors, by their numbers, through which no way leads.
    :ivar off: how far home is from the centre of its cell in m.
    """

    grid: Grid
    cells: frozenset[int]
    cut: tuple[int, ...]
    off: float


@dataclass(frozen=True)
class Wish:
    """
    The requirements on a grid.

    :ivar home: where RESET leads.
    :ivar radius: of the robot with its clearance in m.
    :ivar slack: how near home may be to the border of its cell: a fraction of the cell, and in m.
    """

    home: Pose
    radius: float
    slack: tuple[float, float] = (0.1, 0.05)


def wall_direction(map_: Map) -> float:
    """Return by which angle most walls are turned against the map, from -45 to 45 degrees, rad."""
    taken, total = ~is_free(map_), 0j
    for first, last in blocks(map_.height, map_.width):
        low = max(first - _BLURRED, 0)
        smooth = ndimage.gaussian_filter(taken[low:last + _BLURRED].astype(np.float64), 1.5)
        up, right = (each[first - low:last - low] for each in np.gradient(smooth))
        total += np.sum(np.hypot(up, right) ** 2 * np.exp(4j * np.arctan2(up, right)))
    turned = np.angle(total) / 4
    return 0.0 if abs(turned) < math.radians(_STRAIGHT) else float(turned)


def best_fit(map_: Map, wish: Wish, doors: Sequence[Line], sizes: Iterable[float],
             yaws: Iterable[float]) -> Fit:
    """
    Return the best grid.

    Of one size, that with the fewest cut doors among those that reach nearly the most cells; then
    the one with most cells, and with home nearest to a centre. Of several sizes the largest that
    cuts as few doors as any, and covers nearly as much as any.

    :param map_: with keep-outs as what is not free.
    :raises InvalidValueError: if home is in no free cell of any, or all have too many.
    """
    angles = [*dict.fromkeys(yaws)]
    found, refusal = [], None
    for size in possible(map_, wish.radius, sizes):
        try:
            fits = [fit for yaw in angles for fit in _fits(map_, wish, doors, size, yaw)]
        except _TooManyCellsError as error:
            refusal = refusal or error
            continue
        if fits:
            found.append(_best(fits))
    if refusal and not found:
        raise refusal
    if not found:
        raise PhraseError(Phrase.of('objections.home_in_no_cell', x=wish.home.x, y=wish.home.y,
                                    radius=wish.radius))
    fewest = min(len(fit.cut) for fit in found)
    areas = [covered_area(map_, fit) if len(fit.cut) == fewest else 0.0 for fit in found]
    return next(fit for fit, area in zip(found, areas) if area >= _ENOUGH * max(areas))


def possible(map_: Map, radius: float, sizes: Iterable[float]) -> list[float]:
    """
    Return the sizes of cells in which the robot fits, unless they are surely too many on the map.

    :param radius: of the robot with its clearance in m.
    :raises InvalidValueError: if there are none.
    """
    sizes = [*sizes]
    wide = [size for size in sizes if size >= 2 * radius]
    if not wide:
        raise InvalidValueError(
            f'cells of {", ".join(f"{size:g}" for size in sizes)} m, expected a side of at least '
            f'{2 * radius:g} m, twice the radius of the robot and its clearance')
    across = {size: [int(pixels * map_.resolution / size) for pixels in (map_.width, map_.height)]
              for size in wide}
    found = [size for size in wide if math.prod(across[size]) <= MAX_STATES]
    if not found:
        raise _too_many(wide[0], *across[wide[0]])
    return found


def covered_area(map_: Map, fit: Fit) -> float:
    """
    Return how much of what is free is in cells that are reached, in m^2.

    What a wall divides from the centre of its cell does not count: a robot there would be taken
    for one at the centre.
    """
    grid, free = fit.grid, is_free(map_)
    cells = np.full(free.shape, -1, np.int32)
    for first, last in blocks(*free.shape):
        at = np.argwhere(free[first:last]) + (first, 0)
        along = (map_.points(at[:, ::-1] + 0.5) - (grid.origin_x, grid.origin_y)
                 ) @ _turn(grid.yaw).T
        columns, rows = np.floor(along / grid.cell_size).astype(np.int64).T
        inside = (0 <= columns) & (columns < grid.columns) & (0 <= rows) & (rows < grid.rows)
        cells[at[inside, 0], at[inside, 1]] = (rows * grid.columns + columns)[inside]
    numbers = np.arange(free.size, dtype=np.int32).reshape(free.shape)
    beside = (cells[:, :-1] == cells[:, 1:]) & (cells[:, 1:] >= 0)
    above = (cells[:-1] == cells[1:]) & (cells[1:] >= 0)
    parts = _components([(numbers[:, :-1][beside], numbers[:, 1:][beside]),
                         (numbers[:-1][above], numbers[1:][above])],
                        free.size).reshape(free.shape)
    middle = np.floor(map_.pixels(centres(grid, np.array(sorted(fit.cells))))).astype(np.int64)
    kept = np.isin(parts, parts[middle[:, 1], middle[:, 0]]) & (cells >= 0)
    return float(np.sum(kept)) * map_.resolution ** 2


def _components(edges: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
                count: int) -> NDArray[np.int32]:
    """Return the number of the connected part that each of so many nodes is in."""
    start, end = (np.concatenate(each) for each in zip(*edges))
    graph = coo_matrix((np.ones(len(start), np.int8), (start, end)), (count, count))
    return np.asarray(connected_components(graph, directed=False)[1])


def _best(fits: Sequence[Fit]) -> Fit:
    most = max(len(fit.cells) for fit in fits)
    return min((fit for fit in fits if len(fit.cells) >= _NEARLY * most),
               key=lambda fit: (len(fit.cut), -len(fit.cells), round(fit.off, 3),
                                abs(fit.grid.yaw)))


def _fits(map_: Map, wish: Wish, doors: Sequence[Line], size: float, yaw: float) -> list[Fit]:
    """Return the grids of a size and a rotation that seem best."""
    lattice = _Lattice(map_, wish, size, yaw)
    best = sorted(lattice.counts(), key=lambda row: (-row[0], row[1]))[:_COMPARED]
    found = []
    for _, _, column, row in best:
        fit = evaluated(map_, wish, doors, lattice.grid(column, row))
        if fit is not None:
            found.append(fit)
    return found


def evaluated(map_: Map, wish: Wish, doors: Sequence[Line], grid: Grid) -> Fit | None:
    """Return what a grid is worth, and without what is not reached; None if home is not free."""
    cell = grid.cell_at(wish.home.x, wish.home.y)
    if cell is None:
        return None
    ways = Ways(grid)
    ways.read(map_, wish.radius)
    cells = frozenset(moves_to(ways, cell))
    if not cells:
        return None
    cut = tuple(number for number, line in enumerate(doors) if not any(
        edge[0] in cells and passable(ways, edge) for edge in crossing(grid, line)))
    trimmed, cells = _trimmed(grid, cells)
    return Fit(trimmed, cells, cut, math.dist(wish.home[:2], grid.centre(cell)))


def _trimmed(grid: Grid, cells: frozenset[int]) -> tuple[Grid, frozenset[int]]:
    """Return the grid with no more rows and columns than there are cells in, and these."""
    rows, columns = np.divmod(np.array([*cells]), grid.columns)
    left, low = int(columns.min()), int(rows.min())
    cos, sin = math.cos(grid.yaw), math.sin(grid.yaw)
    right, up = left * grid.cell_size, low * grid.cell_size
    width = int(columns.max()) - left + 1
    trimmed = Grid(round(grid.origin_x + cos * right - sin * up, 4),
                   round(grid.origin_y + sin * right + cos * up, 4), grid.cell_size,
                   width, int(rows.max()) - low + 1, False, round(grid.yaw, 5))
    return trimmed, frozenset(((rows - low) * width + columns - left).tolist())


def over(map_: Map, centre: tuple[float, float], size: float, yaw: float) -> Grid:
    """
    Return the grid over a whole map that has the centre of a cell at a point in m.

    :raises InvalidValueError: if it has too many cells.
    """
    turn = _turn(yaw)
    turned = (corners(map_) - centre) @ turn.T / size
    low, high = np.floor(turned.min(axis=0) + 0.5), np.ceil(turned.max(axis=0) - 0.5)
    columns, rows = (high - low + 1).astype(int).tolist()
    corner = np.array(centre) + (low - 0.5) * size @ turn
    return _checked(Grid(float(corner[0]), float(corner[1]), size, columns, rows, False,
                         wrapped(yaw)))


def _turn(yaw: float) -> NDArray[np.float64]:
    """Return the matrix from x and y to what is along the rows and columns of a grid."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    return np.array([[cos, sin], [-sin, cos]])


def _checked(grid: Grid) -> Grid:
    if grid.columns * grid.rows > MAX_STATES:
        raise _too_many(grid.cell_size, grid.columns, grid.rows)
    return grid


class _TooManyCellsError(PhraseError):
    """A grid has more cells than a robot side may have states."""


def _too_many(size: float, columns: int, rows: int) -> _TooManyCellsError:
    return _TooManyCellsError(Phrase.of(
        'objections.too_many_cells', size=size, columns=columns, rows=rows, most=MAX_STATES))


class _Lattice:
    """Whether a robot is free at points along the rows and columns of a grid, and between them."""

    def __init__(self, map_: Map, wish: Wish, size: float, yaw: float) -> None:
        self._wish, self._size, self._yaw = wish, size, yaw
        self._parts = max(2, math.ceil(size / map_.resolution - _SAME))    # points along a cell
        self._step = size / self._parts
        self._turn = _turn(yaw)
        turned = corners(map_) @ self._turn.T
        # One point of the lattice is home, so that home can be in the middle of a cell.
        home = self._turn @ np.array(wish.home[:2])
        low = np.ceil((home - turned.min(axis=0)) / self._step).astype(int)
        high = np.ceil((turned.max(axis=0) - home) / self._step).astype(int)
        self._home = low    # its column and row
        self._low = home - low * self._step
        self._count = low + high + 1
        free = self._free(map_)
        self._centres = free
        self._east = self._all(free, 1)
        self._north = self._all(free, 0)

    def _free(self, map_: Map) -> NDArray[np.bool_]:
        """Return whether a robot is free at each point."""
        depth = depth_of(is_free(map_))
        columns, rows = self._count.tolist()
        free = np.empty((rows, columns), np.bool_)
        for first, last in blocks(rows, columns):
            up, right = np.mgrid[first:last, 0:columns] * self._step
            points = (np.stack([right, up], axis=-1).reshape(-1, 2) + self._low) @ self._turn
            at = map_.pixels(points) - 0.5
            found = ndimage.map_coordinates(depth, at[:, ::-1].T, order=1, mode='constant')
            free[first:last].ravel()[:] = (
                found > self._wish.radius / map_.resolution + HALF_PIXEL)
        return free

    def _all(self, free: NDArray[np.bool_], axis: int) -> NDArray[np.bool_]:
        """Return whether all points from each one to that a cell further on are free."""
        taken = np.cumsum(np.insert(~free, 0, 0, axis=axis), axis=axis, dtype=np.int32)
        length = free.shape[axis] - self._parts
        if length <= 0:
            return np.zeros((0, 0), np.bool_)
        ahead = np.take(taken, np.arange(self._parts + 1, self._parts + 1 + length), axis=axis)
        return np.asarray(ahead == np.take(taken, np.arange(length), axis=axis))

    def counts(self) -> Iterable[tuple[int, float, int, int]]:
        """Yield cells reached, how far home is off, and the point that is the first centre."""
        part, least = self._wish.slack
        most = self._size / 2 - part * self._size - least
        for row in range(self._parts):
            for column in range(self._parts):
                off = [((at - first + self._parts // 2) % self._parts - self._parts // 2)
                       for at, first in zip(self._home, (column, row))]
                away = [number * self._step for number in off]
                if max(map(abs, away)) > max(most, 0) + _SAME:
                    continue
                home = [(int(at) - first - each) // self._parts for at, first, each in zip(
                    self._home, (column, row), off)]
                count = self._reached(column, row, home)
                if count:
                    yield count, math.hypot(*away), column, row

    def _reached(self, column: int, row: int, home: Sequence[int]) -> int:
        free, east, north = (each[row::self._parts, column::self._parts]
                             for each in (self._centres, self._east, self._north))
        if not all(0 <= at < most for at, most in zip(home, free.shape[::-1])) or not (
                free[home[1], home[0]]):
            return 0
        numbers = np.arange(free.size).reshape(free.shape)
        edges = []
        if east.size:
            width = min(east.shape[1], free.shape[1] - 1)
            here = numbers[:, :width][east[:, :width]]
            edges.append((here, here + 1))
        if north.size:
            height = min(north.shape[0], free.shape[0] - 1)
            here = numbers[:height][north[:height]]
            edges.append((here, here + free.shape[1]))
        if not edges:
            return 1
        labels = _components(edges, free.size)
        return int(np.sum(labels == labels[numbers[home[1], home[0]]]))

    def grid(self, column: int, row: int) -> Grid:
        """Return the grid whose first centre is a point, over the whole map."""
        corner = self._turn.T @ (self._low + (np.array((column, row)) * self._step
                                              - self._size / 2))
        columns, rows = (1 + (self._count - 1 - (column, row)) // self._parts).tolist()
        return _checked(Grid(float(corner[0]), float(corner[1]), self._size, columns, rows,
                             False, wrapped(self._yaw)))


def counts(map_: Map, wish: Wish, grid: Grid) -> tuple[int, int, int]:
    """Return how many cells the worst, the median and the best origin reach from home, nearly."""
    found = sorted(row[0] for row in _Lattice(map_, wish, grid.cell_size, grid.yaw).counts())
    return (found[0], found[len(found) // 2], found[-1]) if found else (0, 0, 0)
