# SPDX-License-Identifier: Apache-2.0

"""
Plan files: everything about a floor plan in one YAML file that people can read and edit.

Read strictly: an error names the file, the line, what was found and what was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import json
import math
from pathlib import Path
import re
from typing import Any, TypeVar

from mnm_ros.core.errors import FileError
from mnm_ros.description_entries import MAX_STATES
from mnm_ros.driving.grid import FARTHEST, Grid
from mnm_ros.driving.occupancy import Map, OCCUPIED, Point
from mnm_ros.driving.pose import Pose
from mnm_ros.file_kinds import refuse_kind
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.located_yaml import Entry, Keys, MOST_BYTES, parsed, read
from mnm_ros.plan.floor_plan import by_number, Plan, Polygon
from mnm_ros.plan.rooms import Line
import numpy as np
from numpy.typing import NDArray

VERSION = 1

MOST_THINGS = 1000     # rooms, doors, openings or keep-outs
MOST_POINTS = 10_000   # of all keep-outs: to find what these cover takes seconds

_KEYS = ('plan', 'name', 'robot', 'home', 'grid', 'rooms', 'doors', 'openings', 'keep_outs',
         'names', 'map')
_PIXELS = {'.': 0, '#': 100, '?': -1, 'x': 0}
_EXPECTED = "pixels, each '.' free, '#' occupied, '?' unknown or 'x' free, but kept out of"
_HEAD = """\
# A floor plan for mnm_ros: what `mnm_ros map` has made of {source}. Edit names, and add rooms (a
# point in each), doors and openings (lines from wall to wall) and keep_outs (polygons); then let
# `mnm_ros map` check this file. Lengths are in m, angles in rad, in the frame of the map.
"""

_T = TypeVar('_T')


def is_plan(path: Path) -> bool:
    """Return whether a file is a plan, right or wrong, and no map; FileError if it is neither."""
    root = read(path, 'map or plan')
    refuse_kind(path, root.names, 'map of nav2', 'plan')
    return 'plan' in root.mapping('a plan or a map')


def load(path: Path) -> Plan:
    """
    Read a plan file.

    :raises FileError: with the file, the line, what was found and what was expected.
    """
    return _plan(read(path, 'plan'), path)


def _plan(root: Entry, path: Path) -> Plan:
    refuse_kind(path, root.names, 'plan')
    keys = root.mapping('a plan', _KEYS)
    what = f'{VERSION}, the version of the format'
    version = keys.required('plan', what)
    if version.integer(what) != VERSION:
        raise version.unexpected(what)
    map_, masked = _map(keys.required('map', 'resolution, origin and rows'))
    grid = _grid(keys.required('grid', 'cell, origin, columns and rows'))
    radius, clearance = _robot(keys.required('robot', 'radius and clearance'), grid.cell_size / 2)
    return Plan(
        _printable(keys['name'][1]) if 'name' in keys else printable(path.stem),
        map_, grid, _pose(keys.required('home', 'the home pose'), 'the home pose'),
        radius, clearance,
        _named(keys, 'rooms', _point), _named(keys, 'doors', _line),
        _keep_outs(keys), masked if masked.any() else None,
        _cell_names(keys, grid), path, _named(keys, 'openings', _line))


def _map(entry: Entry) -> tuple[Map, NDArray[np.bool_]]:
    keys = entry.mapping('the map', ('resolution', 'origin', 'rows'))
    what = 'the side of a pixel in m, from 0.001 to 100'
    resolution = keys.required('resolution', what).number(what, 0.001, 100)
    origin = _pose(keys.required('origin', 'its lower left corner'), 'its lower left corner')
    rows: list[str] = []
    for item in keys.required('rows', 'the rows of pixels').sequence('a list of rows of pixels'):
        row = item.text(f'a row of {_EXPECTED}, in quotes')
        unknown = set(row) - set(_PIXELS)
        if unknown:
            raise item.error(f"found '{min(unknown)}' in column {row.index(min(unknown)) + 1}, "
                             f'expected {_EXPECTED}')
        rows.append(row)
        if len(row) != len(rows[0]):
            raise item.error(f'found {len(row)} pixels, expected {len(rows[0])} as in the first '
                             'row')
    text = ''.join(reversed(rows)).encode('ascii')    # the first row is the upper one
    letters = np.frombuffer(text, np.uint8)
    values = np.zeros(256, np.int8)
    values[[*map(ord, _PIXELS)]] = [*_PIXELS.values()]
    masked = (letters == ord('x')).reshape(len(rows), -1)
    return Map(resolution, len(rows[0]), len(rows), origin, values[letters]), masked


def _robot(entry: Entry, most: float) -> tuple[float, float]:
    keys = entry.mapping('the robot', ('radius', 'clearance'))
    what = f'the radius of the robot in m, at most half a cell, {most:g}'
    radius = keys.required('radius', what).number(what, 0, most)
    what = f'how far from walls its ways are kept besides in m, at most {most - radius:g}'
    return radius, keys.required('clearance', what).number(what, 0, most - radius)


def _grid(entry: Entry) -> Grid:
    keys = entry.mapping('the grid', ('cell', 'origin', 'columns', 'rows'))
    what = 'the side of a cell in m, from 0.01 to 100'
    size = keys.required('cell', what).number(what, 0.01, 100)
    corner = 'its lower left corner'
    origin = _pose(keys.required('origin', corner), corner)
    columns, rows = (keys.required(name, what).integer(what, 1) for name, what in (
        ('columns', 'a number of cells of at least 1'), ('rows', 'a number of cells of at least 1')
        ))
    if columns * rows > MAX_STATES:
        raise entry.error(
            f'found {columns} x {rows} cells, expected at most {MAX_STATES:,} in all')
    return Grid(origin.x, origin.y, size, columns, rows, False, origin.yaw)


def numbers(entry: Entry, what: str, *most: float) -> list[float]:
    """Return a list of as many numbers as there are limits, none farther from 0 than its own."""
    items = entry.sequence(what)
    if len(items) != len(most):
        raise entry.error(f'found {len(items)} numbers, expected {what}')
    return [item.number(what, -each, each) for item, each in zip(items, most)]


def _pose(entry: Entry, what: str) -> Pose:
    return Pose(*numbers(
        entry, f'{what}, [x, y, yaw] in m and rad', FARTHEST, FARTHEST, math.pi))


def _point(entry: Entry) -> Point:
    x, y = numbers(entry, 'a point, [x, y] in m', FARTHEST, FARTHEST)
    return x, y


def _line(entry: Entry) -> Line:
    what = 'a line, [[x, y], [x, y]] in m'
    points = [_point(each) for each in entry.sequence(what)]
    if len(points) != 2 or points[0] == points[1]:
        raise entry.error(f'found {len(set(points))} different points, expected {what}')
    return points[0], points[1]


def _polygon(entry: Entry) -> Polygon:
    what = 'a polygon, [[x, y], [x, y], [x, y], ...] in m'
    points = tuple(_point(each) for each in entry.sequence(what))
    if len(points) < 3:
        raise entry.error(f'found {len(points)} points, expected {what}')
    return points


def _keep_outs(keys: Keys) -> dict[str, Polygon]:
    found = _named(keys, 'keep_outs', _polygon)
    count = sum(map(len, found.values()))
    if count > MOST_POINTS:
        raise keys['keep_outs'][1].error(
            f'found {count:,} points, expected at most {MOST_POINTS:,} of all keep-outs')
    return found


def _named(keys: Keys, what: str, read_one: Callable[[Entry], _T]) -> dict[str, _T]:
    """Return entries by their names."""
    entries = _mapping(keys, what, f'{what}, a mapping of names')
    if len(entries) > MOST_THINGS:
        raise keys[what][1].error(f'found {len(entries):,} {what}, expected at most '
                                  f'{MOST_THINGS:,}')
    return {_name(key): read_one(entry) for key, entry in entries.values()}


def _mapping(keys: Keys, name: str, what: str) -> Mapping[Any, tuple[Entry, Entry]]:
    """Return what a key holds, which may be missing; None stands for no entry."""
    there = name in keys and keys[name][1].found != 'nothing'
    return keys[name][1].mapping(what) if there else {}


def is_name(text: str) -> bool:
    """Whether rooms, doors and the like can be called so, as ``expected.name`` says."""
    return 0 < len(text.strip()) and len(text) <= 60 and text.isprintable() and (
        not text.isdecimal())


def printable(text: str) -> str:
    """Return a text with a question mark in place of each character that is not printable."""
    return ''.join(each if each.isprintable() else '?' for each in text)


def _printable(entry: Entry) -> str:
    what = 'the name of the plan, in printable characters'
    if not entry.text(what).isprintable():
        raise entry.unexpected(what)
    return entry.text(what)


def _name(entry: Entry) -> str:
    what = (f'{phrase("expected.name", ENGLISH)}, in quotes if it looks like a number or yes, no, '
            'on, off')
    name = entry.text(what)
    if not is_name(name):
        raise entry.unexpected(what)
    return name


def _cell_names(keys: Keys, grid: Grid) -> dict[int, str]:
    """Return the names of cells that the file lists by row and column."""
    found: dict[int, str] = {}
    for name, (key, entry) in _mapping(keys, 'names', 'names of cells').items():
        place = re.fullmatch(r'r(\d{1,5})c(\d{1,5})', str(name))
        row, column = map(int, place.groups()) if place else (-1, -1)
        if not (0 <= row < grid.rows and 0 <= column < grid.columns):
            raise key.unexpected(f'a cell, from r0c0 to r{grid.rows - 1}c{grid.columns - 1}')
        text = _name(entry)
        if text in found.values():
            raise entry.error(f"name '{text}' appears twice, expected distinct names")
        found[row * grid.columns + column] = text
    return found


def text_of(plan: Plan, source: str) -> str:
    """
    Return the text of a plan file.

    :param source: what the plan was made of.
    :raises FileError: if ``load`` would refuse the file.
    """
    text = ''.join(f'{line}\n' for line in _lines(plan, printable(source)))
    data = text.encode('utf-8', errors='replace')
    if len(data) > MOST_BYTES:
        raise FileError(f'{source}: a plan of {len(data):,} bytes, expected at most '
                        f'{MOST_BYTES:,}, hence a map with larger pixels')
    _plan(parsed(data, Path(source), 'plan'), Path(source))
    return text


def _lines(plan: Plan, source: str) -> Iterator[str]:
    grid, map_ = plan.grid, plan.map
    yield _HEAD.format(source=source)[:-1]
    yield f'plan: {VERSION}'
    yield f'name: {_quoted(plan.name)}'
    yield (f'robot: {{radius: {_number(plan.robot_radius)}, '
           f'clearance: {_number(plan.clearance)}}}')
    yield f'home: {_list(plan.home)}    # x, y and yaw'
    yield ''
    yield (f'grid: {{cell: {_number(grid.cell_size)}, '
           f'origin: {_list((grid.origin_x, grid.origin_y, grid.yaw))}, '
           f'columns: {grid.columns}, rows: {grid.rows}}}')
    yield ''
    yield from _entries('rooms', {name: _list(point) for name, point in plan.rooms.items()})
    yield from _entries('doors', {name: _list(line) for name, line in plan.doors.items()})
    if plan.openings:
        yield from _entries('openings', {name: _list(line)
                                         for name, line in plan.openings.items()})
    yield from _entries('keep_outs', {name: _list(each) for name, each in plan.keep_outs.items()})
    yield from _entries('names', {by_number(grid, cell): _quoted(name)
                                  for cell, name in plan.names.items()})
    yield ''
    yield f'map:    # {_EXPECTED}'
    yield f'  resolution: {_number(map_.resolution)}'
    yield f'  origin: {_list(map_.origin)}'
    yield '  rows:'
    rows = map_.pixel_rows
    letters = np.where(rows < 0, '?', np.where(rows >= OCCUPIED, '#', '.'))
    if plan.masked is not None:
        letters = np.where(plan.masked & (letters == '.'), 'x', letters)
    for row in letters[::-1]:
        yield f'  - "{"".join(row)}"'


def _entries(name: str, entries: Mapping[str, str]) -> Iterator[str]:
    yield f'{name}:' if entries else f'{name}: {{}}'
    yield from (f'  {_quoted(key)}: {entry}' for key, entry in entries.items())


def _quoted(text: str) -> str:
    plain = re.fullmatch(r'[A-Za-z][\w -]*\w|[A-Z]', text) and not re.fullmatch(
        r'(?i)y|n|yes|no|on|off|true|false|null', text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def _list(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f'[{", ".join(map(_list, value))}]'
    return _number(value)


def _number(value: object) -> str:
    return repr(round(float(str(value)), 5))
