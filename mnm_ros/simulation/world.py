# SPDX-License-Identifier: Apache-2.0

"""
World files: the floor plans of ``diff_drive_sim``, of square cells, with doors.

The map frame has its origin at the lower left corner of the plan, x to the right, y upwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import floor
from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.driving.pose import Pose
from mnm_ros.located_yaml import Entry, read
from mnm_ros.simulation.config_files import files, find, floor_plan

__all__ = ['Cell', 'FileError', 'World', 'load', 'shipped']

Cell = tuple[int, int]
"""The column from the left and the row from the bottom, both from 0."""

_DOORS = frozenset('ABCDEFGHIJKLMNOPQRTUVWXYZ')
_STATES = {'open': True, 'closed': False}


@dataclass(frozen=True)
class World:
    """
    A floor plan.

    :ivar cell_size: the side of a cell in m.
    :ivar size: the numbers of columns and rows.
    :ivar home: the cell where the robot starts, heading east.
    :ivar walls: the cells that are never free, besides all those outside of the plan.
    :ivar doors: the cells of each door by its letter, in the order of the letters.
    :ivar settings: whether each door is open; one or more, in force one after the other.
    """

    name: str
    cell_size: float
    size: tuple[int, int]
    home: Cell
    walls: frozenset[Cell]
    doors: Mapping[str, frozenset[Cell]]
    settings: tuple[Mapping[str, bool], ...]
    path: Path

    def centre(self, cell: Cell) -> tuple[float, float]:
        """Return x and y of the centre of a cell in m."""
        column, row = cell
        return (column + 0.5) * self.cell_size, (row + 0.5) * self.cell_size

    @property
    def home_pose(self) -> Pose:
        """Return where the robot starts: in the middle of home, heading east."""
        return Pose(*self.centre(self.home), 0.0)

    def local(self, pose: Pose) -> Pose:
        """Return a pose as seen from the corner of the cell 0, 0 along the rows."""
        return pose

    @property
    def most_radius(self) -> float:
        """Return the radius of a robot that does not fit any more, in m."""
        return self.cell_size / 2

    def is_wall(self, cell: Cell) -> bool:
        """Whether a cell is a wall or outside of the plan."""
        column, row = cell
        columns, rows = self.size
        return cell in self.walls or not (0 <= column < columns and 0 <= row < rows)

    def touched(self, x: float, y: float, radius: float) -> Iterator[Cell]:
        """Yield the cells that a disc (m) overlaps; touching an edge does not count."""
        size = self.cell_size
        for row in range(floor((y - radius) / size), floor((y + radius) / size) + 1):
            away_y = max(row * size - y, 0.0, y - (row + 1) * size)
            for column in range(floor((x - radius) / size), floor((x + radius) / size) + 1):
                away_x = max(column * size - x, 0.0, x - (column + 1) * size)
                if away_x * away_x + away_y * away_y < radius * radius:
                    yield column, row

    def is_free(self, x: float, y: float, radius: float, closed: Collection[Cell]) -> bool:
        """Whether a disc (m) overlaps neither a wall nor one of the cells ``closed``."""
        return not any(
            cell in closed or self.is_wall(cell) for cell in self.touched(x, y, radius))

    def closed(self, doors: Mapping[str, bool]) -> frozenset[Cell]:
        """Return the cells of the doors that are not open, given whether each is."""
        return frozenset().union(*(
            self.doors[door] for door, is_open in doors.items() if not is_open))


def load(path_or_name: str) -> World:
    """
    Read a world file, given by its path or by the name of a shipped one.

    :raises FileError: with the file, the line and what was expected there.
    """
    path = find(path_or_name, 'world')
    root = read(path, 'world')
    top = root.mapping('a world', ('name', 'cell_size', 'rows', 'settings'))
    name = top['name'][1].text('the name of the world') if 'name' in top else path.stem
    what = 'the width of a cell in m, between 0.01 and 100'
    cell_size = top.required('cell_size', what).number(what, 0.01, 100)
    rows = floor_plan(top, _DOORS)
    cells = {(column, row): letter
             for row, letters in enumerate(reversed(rows))
             for column, letter in enumerate(letters)}
    home, = (cell for cell, letter in cells.items() if letter == 'S')
    doors = {letter: frozenset(cell for cell in cells if cells[cell] == letter)
             for letter in sorted(_DOORS & set(cells.values()))}
    settings: tuple[dict[str, bool], ...] = ({},)
    if doors:
        what = f'a list of settings of the doors {", ".join(doors)}'
        settings = _settings(top.required('settings', what), tuple(doors))
    elif 'settings' in top:
        raise top['settings'][0].error('there are no doors, expected no settings')
    walls = frozenset(cell for cell, letter in cells.items() if letter == '#')
    return World(name, cell_size, (len(rows[0]), len(rows)), home, walls, doors, settings, path)


def shipped() -> tuple[str, ...]:
    """Return the names of the worlds that come with the package, sorted."""
    return tuple(files('world'))


def _settings(entry: Entry, doors: tuple[str, ...]) -> tuple[dict[str, bool], ...]:
    settings = []
    for item in entry.sequence('a list of at least one setting'):
        keys, setting = item.mapping('a setting', doors), {}
        for door in doors:
            value = keys.required(door, f'open or closed for each of the doors {", ".join(doors)}')
            state = value.text('open or closed')
            if state not in _STATES:
                raise value.error(f"found '{state}', expected open or closed")
            setting[door] = _STATES[state]
        settings.append(setting)
    return tuple(settings)
