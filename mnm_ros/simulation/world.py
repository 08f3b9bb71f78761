# SPDX-License-Identifier: Apache-2.0

"""
World files: the floor plans of ``diff_drive_sim``, of square cells, with doors and persons.

The map frame has its origin at the lower left corner of the plan, x to the right, y upwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import ClassVar

from mnm_ros.core.errors import FileError
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.pose import Pose
from mnm_ros.file_kinds import refuse_kind
from mnm_ros.located_yaml import Entry, Keys, read
from mnm_ros.simulation.config_files import files, find, floor_plan

__all__ = ['Cell', 'FileError', 'World', 'load', 'shipped']

Cell = tuple[int, int]
"""The column from the left and the row from the bottom, both from 0."""

_DOORS = frozenset('ABCDEFGHIJKLMNOPQRTUVWXYZ')
_STATES = {'open': True, 'closed': False}
_PRESENCES = {'away': True, 'there': False}
_LEG, _CARPET = 'i', ':'
_FURNITURE = {_LEG: 'the leg of a table', _CARPET: 'carpet'}


@dataclass(frozen=True)
class World:
    """
    A floor plan.

    :ivar cell_size: the side of a cell in m.
    :ivar size: the numbers of columns and rows.
    :ivar home: the cell in which the robot starts, heading east.
    :ivar walls: the cells that are never free, besides all those outside of the plan.
    :ivar doors: the cells of each door by its letter, in the order of the letters; a person is a
        door that is open while it is away.
    :ivar settings: whether each door is open; one or more, in force one after the other.
    :ivar legs: the cells of ``walls`` with what is too thin for a map.
    :ivar carpet: the free cells where wheels grip less.
    :ivar persons: the letters of ``doors`` that are persons.
    :ivar coarser: the cells between which the robot is driven; None for those of the plan.
    :cvar kind: the parameter of ``diff_drive_sim`` that names its file.
    :cvar driver: the node that drives the robot in it.
    """

    kind: ClassVar[str] = 'world'
    driver: ClassVar[str] = 'grid_driver'
    name: str
    cell_size: float
    size: tuple[int, int]
    home: Cell
    walls: frozenset[Cell]
    doors: Mapping[str, frozenset[Cell]]
    settings: tuple[Mapping[str, bool], ...]
    path: Path
    legs: frozenset[Cell] = frozenset()
    carpet: frozenset[Cell] = frozenset()
    persons: frozenset[str] = frozenset()
    coarser: Grid | None = None

    @property
    def grid(self) -> Grid:
        """Return the cells between which the robot is driven."""
        return self.coarser or Grid(0.0, 0.0, self.cell_size, *self.size)

    @property
    def home_pose(self) -> Pose:
        """Return where the robot starts: in the middle of a cell of ``grid``, heading east."""
        x, y = self.centre(self.home)
        cell = self.grid.cell_at(x, y)
        return Pose(*((x, y) if cell is None else self.grid.centre(cell)), 0.0)

    @property
    def corner(self) -> Pose:
        """Return the corner of the cell 0, 0, in the direction of the rows."""
        return Pose(0.0, 0.0, 0.0)

    def local(self, pose: Pose) -> Pose:
        """Return a pose as seen from the corner."""
        return pose

    def described(self, doors: Mapping[str, bool]) -> str:
        """Return in words whether each door is open, and each person away."""
        return ', '.join(f'{door} {word}' for door, is_open in doors.items() for word, means in (
            _PRESENCES if door in self.persons else _STATES).items() if means is is_open)

    def centre(self, cell: Cell) -> tuple[float, float]:
        """Return x and y of the centre of a cell in m."""
        column, row = cell
        return (column + 0.5) * self.cell_size, (row + 0.5) * self.cell_size

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
        """Return the cells of the doors that are not open, according to ``doors``."""
        return frozenset().union(*(
            self.doors[door] for door, is_open in doors.items() if not is_open))


def load(path_or_name: str) -> World:
    """
    Read a world file, from its path or from the name of a shipped one.

    :raises FileError: with the file, the line and what was expected there.
    """
    path = find(path_or_name, 'world')
    root = read(path, 'world')
    refuse_kind(path, root.names, 'world')
    top = root.mapping('a world', ('name', 'cell_size', 'rows', 'settings', 'grid'))
    name = top['name'][1].text('the name of the world') if 'name' in top else path.stem
    what = 'the width of a cell in m, between 0.01 and 100'
    cell_size = top.required('cell_size', what).number(what, 0.01, 100)
    rows = floor_plan(top, _DOORS, _FURNITURE)
    cells: dict[str, set[Cell]] = {}
    for row, letters in enumerate(reversed(rows)):
        for column, letter in enumerate(letters):
            cells.setdefault(letter, set()).add((column, row))
    of = {letter: frozenset(found) for letter, found in cells.items()}
    home, = of['S']
    doors = {letter: of[letter] for letter in sorted(_DOORS & set(of))}
    settings: tuple[dict[str, bool], ...] = ({},)
    persons: frozenset[str] = frozenset()
    if doors:
        what = f'a list of settings of the doors {", ".join(doors)}'
        settings, persons = _settings(top.required('settings', what), tuple(doors))
    elif 'settings' in top:
        raise top['settings'][0].error('there are no doors, expected no settings')
    size, none = (len(rows[0]), len(rows)), frozenset[Cell]()
    legs = of.get(_LEG, none)
    return World(name, cell_size, size, home, of.get('#', none) | legs, doors, settings, path,
                 legs, of.get(_CARPET, none), persons, _grid(top, cell_size, size, home))


def shipped() -> tuple[str, ...]:
    """Return the names of the worlds that come with the package, sorted."""
    return tuple(files('world'))


def _settings(entry: Entry, doors: tuple[str, ...],
              ) -> tuple[tuple[dict[str, bool], ...], frozenset[str]]:
    """Return the settings, and which of the doors are persons."""
    settings, persons = [], dict[str, bool]()
    for item in entry.sequence('a list of at least one setting'):
        keys, setting = item.mapping('a setting', doors), {}
        for door in doors:
            value = keys.required(door, f'open or closed for each of the doors {", ".join(doors)}')
            state = value.text('open or closed')
            is_person = persons.setdefault(door, state in _PRESENCES)
            words = _PRESENCES if is_person else _STATES
            if state not in words:
                raise value.error(f"found '{state}', expected " + (
                    'away or there, as before' if is_person else
                    'open or closed, or away or there for a person'))
            setting[door] = words[state]
        settings.append(setting)
    return tuple(settings), frozenset(door for door in doors if persons[door])


def _grid(top: Keys, cell_size: float, size: Cell, home: Cell) -> Grid | None:
    """Return the cells of ``grid``, as many as fit; None if there is no such key."""
    if 'grid' not in top:
        return None
    entry = top['grid'][1]
    keys = entry.mapping('the cells of the driver', ('cell_size', 'x', 'y'))
    what = f'the width of a cell of the driver in m, at least {cell_size:g}'
    side = keys.required('cell_size', what).number(what, cell_size, 100)
    x, y = (keys.required(axis, what).number(what, 0, 1e6) for axis, what in (
        ('x', 'x of the lower left corner in m'), ('y', 'y of the lower left corner in m')))
    columns, rows = (int((cells * cell_size - origin) / side + 1e-9)
                     for cells, origin in zip(size, (x, y)))
    grid = Grid(x, y, side, max(columns, 0), max(rows, 0))
    at = [(part + 0.5) * cell_size for part in home]
    if grid.cell_at(*at) is None:
        raise entry.error(f'home, at {at[0]:g}, {at[1]:g}, is outside of it, expected inside')
    return grid
