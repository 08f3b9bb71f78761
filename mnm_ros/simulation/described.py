# SPDX-License-Identifier: Apache-2.0

"""What simulated robots say about themselves: of grids, the places of the cells and the walls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mnm_ros.robot_description import MAX_STATES, RobotDescription, Wall
from mnm_ros.simulation.scenario import Scenario

Cell = tuple[int, int]    # row from the top, column


def describe(scenario: Scenario, setting: int) -> RobotDescription:
    """Return what a scenario is while one of its settings is in force."""
    return _grid(scenario.actions, scenario.start, scenario.settings[setting].rows)


def describe_gym(env: Any, actions: Sequence[str], home: int | None) -> RobotDescription:
    """Return what an environment of Gymnasium is; places are known of those on a grid."""
    inner, name = env.unwrapped, env.spec.name if env.spec else ''
    rows, columns = 0, 0
    if name == 'FrozenLake':
        rows, columns = inner.nrow, inner.ncol
    elif name == 'CliffWalking':
        rows, columns = inner.shape
    if rows * columns != int(env.observation_space.n):
        return RobotDescription(tuple(actions), home)
    return _grid(actions, home, ('.' * columns,) * rows)


def _grid(actions: Sequence[str], home: int | None, rows: Sequence[str]) -> RobotDescription:
    """
    Return a description with the places of cells, unless there are none or too many.

    A cell is 1 m wide, the lower left corner is the origin, and the frame is of nothing else.
    """
    height, width = len(rows), len(rows[0]) if rows else 0
    if not 0 < width * height <= MAX_STATES:
        return RobotDescription(tuple(actions), home)
    free = {(row, column) for row, cells in enumerate(rows)
            for column, cell in enumerate(cells) if cell != '#'}
    return RobotDescription(
        tuple(actions), home, '',
        {row * width + column: f'r{row}c{column}' for row, column in sorted(free)},
        {row * width + column: (column + 0.5, height - row - 0.5) for row, column in sorted(free)},
        tuple(sorted(_walls(free, height))))


def _walls(free: set[Cell], height: int) -> Iterator[Wall]:
    """Yield the sides of free cells beyond which no cell is free."""
    for row, column in free:
        left, right = float(column), column + 1.0
        below, above = height - row - 1.0, float(height - row)
        for neighbour, wall in (
                ((row - 1, column), (left, above, right, above)),
                ((row + 1, column), (left, below, right, below)),
                ((row, column - 1), (left, below, left, above)),
                ((row, column + 1), (right, below, right, above))):
            if neighbour not in free:
                yield wall
