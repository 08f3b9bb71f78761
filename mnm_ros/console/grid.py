# SPDX-License-Identifier: Apache-2.0

"""Pictures of worlds whose states lie on a grid: of scenarios, worlds and robots' own."""

from __future__ import annotations

from collections.abc import Sequence

from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.world import World

Cell = tuple[str, tuple[int, ...]]
"""The letter of a cell, which is ``#`` for a wall, and its states: several if they have headings.
"""

Picture = tuple[tuple[Cell, ...], ...]
"""Rows from the top."""

_SPARSE = 20      # cells for each state that has a place; a picture of more would be all but empty
_TOLERANCE = 0.1  # of a cell, by which a state may be off its centre


def pictures(scenario: Scenario, world: World | None) -> tuple[Picture, ...]:
    """Return the picture of each setting, which is empty for a setting that is no grid."""
    if world is not None:
        return (_picture(_rows(world), range(world.size[1] - 1, -1, -1)),) * len(world.settings)
    return tuple(_picture(setting.rows, range(len(setting.rows)))
                 for setting in scenario.settings)


def described(description: RobotDescription) -> Picture:
    """Return a picture by the places of states; empty if they do not lie on a grid."""
    places = description.positions
    if not places:
        return ()
    columns = _indices([x for x, _ in places.values()])
    rows = _indices([y for _, y in places.values()])
    if columns is None or rows is None:
        return ()
    width, height = max(columns) + 1, max(rows) + 1
    if width * height > _SPARSE * len(places):
        return ()
    states: dict[tuple[int, int], tuple[int, ...]] = {}
    for state, column, row in zip(places, columns, rows):
        states[row, column] = (*states.get((row, column), ()), state)
    nothing = '#' if description.walls else ' '
    return tuple(
        tuple(('.', states[row, column]) if (row, column) in states else (nothing, ())
              for column in range(width))
        for row in reversed(range(height)))


def window(picture: Picture, rows: int, columns: int, around: int | None) -> Picture:
    """Return the part of a picture that fits, with a state in its middle if that can be."""
    row, column = next(
        ((row, column) for row, cells in enumerate(picture)
         for column, (_, states) in enumerate(cells) if around in states), (0, 0))
    top = max(0, min(row - rows // 2, len(picture) - rows))
    left = max(0, min(column - columns // 2, len(picture[0]) - columns if picture else 0))
    return tuple(cells[left:left + columns] for cells in picture[top:top + rows])


def _indices(coordinates: Sequence[float]) -> list[int] | None:
    """Return on which line of a grid each coordinate is, from 0 on; None if there is no grid."""
    distinct = sorted({*coordinates})
    gaps = [right - left for left, right in zip(distinct, distinct[1:])]
    gaps = [gap for gap in gaps if gap > 1e-6 * max(1.0, abs(distinct[-1]), abs(distinct[0]))]
    size = min(gaps, default=1.0)
    lines = [(value - distinct[0]) / size for value in coordinates]
    if any(abs(line - round(line)) > _TOLERANCE for line in lines):
        return None
    return [round(line) for line in lines]


def _rows(world: World) -> list[str]:
    columns, rows = world.size
    doors = {cell: door for door, cells in world.doors.items() for cell in cells}
    letters = {**dict.fromkeys(world.walls, '#'), **doors, world.home: 'S'}
    return [''.join(letters.get((column, row), '.') for column in range(columns))
            for row in reversed(range(rows))]


def _picture(rows: Sequence[str], numbers: Sequence[int]) -> Picture:
    return tuple(
        tuple((letter, () if letter == '#' else (number * len(row) + column,))
              for column, letter in enumerate(row))
        for number, row in zip(numbers, rows, strict=True))
