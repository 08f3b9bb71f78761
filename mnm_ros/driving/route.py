# SPDX-License-Identifier: Apache-2.0

"""Shortest routes over cells that are free, or over moves that have succeeded before."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
import math

from mnm_ros.driving.grid import Grid

Edge = tuple[int | None, int]
"""A move from a cell, or from outside of the grid (None), to a cell."""


class Ways:
    """
    What is known about the moves between the cells of a grid.

    :ivar free: the cells that are free on a map; None without a map.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.free: frozenset[int] | None = None
        self._proven: set[Edge] = set()
        self._doubtful: set[Edge] = set()
        self._detours: dict[Edge, int] = {}

    def neighbour(self, cell: int, heading: int) -> int | None:
        """Return the next cell in a direction; None if it is off the grid or occupied."""
        there = self.grid.neighbour(cell, heading)
        return there if there is not None and self._may_enter(there) else None

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
        """Take note of a long way round; return for how many times in a row."""
        self._detours[cell, there] = self._detours.get((cell, there), 0) + 1
        return self._detours[cell, there]

    def next_cell(self, cell: int, goal: int, blocked: Collection[Edge]) -> int | None:
        """
        Return the first cell of a shortest route to the goal; None if there is no route.

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
                return route[0]
        return None

    def entry(self, x: float, y: float, blocked: Collection[Edge]) -> int | None:
        """Return the cell nearest to a point outside of the grid that may be entered, if any."""
        cells = [cell for cell in range(self.grid.columns * self.grid.rows)
                 if self._may_enter(cell) and (None, cell) not in blocked]
        return min(cells, default=None, key=lambda cell: math.dist(
            (x, y), self.grid.centre(cell)))

    def _around(self, cell: int, blocked: Collection[Edge]) -> Iterable[int]:
        for heading in range(4):
            there = self.neighbour(cell, heading)
            if there is not None and (cell, there) not in blocked:
                yield there

    def _may_enter(self, cell: int) -> bool:
        return self.free is None or cell in self.free


def shortest(
        start: int, goal: int, around: Callable[[int], Iterable[int]]) -> list[int] | None:
    """Return the cells of a shortest route after the start, or None; breadth-first search."""
    before: dict[int, int] = {start: start}
    queue = deque([start])
    while queue and goal not in before:
        cell = queue.popleft()
        for there in around(cell):
            if there not in before:
                before[there] = cell
                queue.append(there)
    if goal not in before:
        return None
    route = [goal]
    while route[-1] != start:
        route.append(before[route[-1]])
    return route[-2::-1]
