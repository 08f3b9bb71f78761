# SPDX-License-Identifier: Apache-2.0

"""World files: what the shipped ones are meant to show, geometry, and what is refused."""

from __future__ import annotations

from collections import deque
from pathlib import Path
import random

from mnm_ros.core.errors import FileError
from mnm_ros.driving.grid import Grid
from mnm_ros.simulation.diff_drive import scenario_of
from mnm_ros.simulation.world import Cell, load, shipped, World
import pytest


def distances(world: World, setting: int) -> dict[Cell, int]:
    """Return the moves from home to each cell that can be reached."""
    closed = {cell for door, is_open in world.settings[setting].items() if not is_open
              for cell in world.doors[door]}
    found, queue = {world.home: 0}, deque([world.home])
    while queue:
        column, row = cell = queue.popleft()
        for after in ((column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)):
            if after not in found and after not in closed and not world.is_wall(after):
                found[after] = found[cell] + 1
                queue.append(after)
    return found


def test_all_are_covered() -> None:
    assert shipped() == ('furnished_flat', 'one_room', 'two_room_flat')


@pytest.mark.parametrize('name', shipped())
def test_first_line_says_what_it_shows(name: str) -> None:
    first, second = load(name).path.read_text().splitlines()[:2]
    assert first.startswith('# ') and len(first) <= 99 and second.startswith('name: ')


def test_the_far_room_is_near_only_through_the_door() -> None:
    world = load('two_room_flat')
    (door,) = world.doors['D']
    beyond = [(door[0] + 1, door[1]), (door[0] + 2, door[1])]
    open_, closed, again = (distances(world, setting) for setting in range(3))
    assert open_ == again and len(open_) == 12
    assert set(open_) - set(closed) == {door}
    assert max(open_[cell] for cell in beyond) <= 4
    assert min(closed[cell] for cell in beyond) >= 9


def test_one_room() -> None:
    world = load('one_room')
    assert sorted(distances(world, 0).values()) == [0, 1, 1, 2, 2, 2, 3, 3, 4]
    assert world.settings == ({},) and not world.doors


def test_the_furnished_flat() -> None:
    """The cells of the driver are those of the moves; legs are no part of the map."""
    world = load('furnished_flat')
    assert world.persons == {'P'} and world.grid == Grid(0.05, 0.05, 0.5, 9, 6)
    assert world.home_pose[:2] == pytest.approx((2.3, 0.8)) and len(world.legs) == 4
    assert world.legs < world.walls and not world.carpet & world.walls
    assert world.described(world.settings[2]) == 'B open, D open, P there'
    scenario = scenario_of(world, 0.17)
    found = []
    for setting in scenario.settings:
        known, queue = {setting.cmp.start}, deque([setting.cmp.start])
        while queue:
            here = queue.popleft()
            for action in range(4):
                (there, _), = setting.cmp.transitions(here, action)
                queue.extend({there} - known)
                known.add(there)
        found.append(known)
    assert [len(known) for known in found] == [44, 44, 41, 44]
    assert found[0] - found[2] == {20, 28, 29}, 'where the person stands'
    # A leg is in the way from one cell to the next, and two are in the middle of cells.
    assert scenario.settings[0].cmp.transitions(5, 0) == ((5, 1.0),)
    assert not {7, 16} & found[0]


def test_the_origin_is_the_lower_left_corner(tmp_path: Path) -> None:
    path = tmp_path / 'plan.yaml'
    path.write_text('cell_size: 2\nrows: ["..#", "S.A", "A.."]\nsettings: [{A: closed}]\n')
    world = load(str(path))
    assert (world.name, world.size, world.home) == ('plan', (3, 3), (0, 1))
    assert world.walls == {(2, 2)} and world.doors == {'A': {(2, 1), (0, 0)}}
    assert world.settings == ({'A': False},)
    assert world.centre(world.home) == (1.0, 3.0)
    assert world.is_wall((-1, 1)) and world.is_wall((0, 3)) and not world.is_wall((2, 1))


def test_a_disc_is_free_where_no_point_of_it_is_in_a_wall() -> None:
    """Compare with random points of the disc."""
    world, draw = load('two_room_flat'), random.Random(1)
    closed = world.doors['D']
    seen = set()
    for _ in range(2000):
        x, y, radius = draw.uniform(-1, 4), draw.uniform(-1, 3), draw.uniform(0.01, 0.6)
        free = world.is_free(x, y, radius, closed)
        inside = [(dx, dy) for dx, dy in (
            (draw.uniform(-radius, radius), draw.uniform(-radius, radius)) for _ in range(60))
            if dx * dx + dy * dy < radius * radius]
        blocked = [
            cell for cell in (((x + dx) // 0.5, (y + dy) // 0.5) for dx, dy in inside)
            if cell in closed or world.is_wall(cell)]
        assert not (free and blocked), (x, y, radius, blocked)
        seen.add(free)
    assert seen == {True, False}
    assert world.is_free(0.75, 0.75, 0.25, ()), 'touching walls is free'
    assert not world.is_free(0.75, 0.75, 0.2501, ())
    assert world.is_free(0.9, 1.6, 0.14, ()) and not world.is_free(0.9, 1.6, 0.142, ()), 'corner'
    assert world.is_free(1.75, 1.75, 0.2, ()) and not world.is_free(1.75, 1.75, 0.2, closed)


def rows(*lines: str, more: str = '') -> str:
    """Return a world with the first row on line 3 and ``more`` after the last."""
    listed = '\n'.join(f'  - "{line}"' for line in lines)
    return f'cell_size: 0.5\nrows:\n{listed}\n{more}'


MALFORMED = [
    ('a person ajar', rows('SP', more='settings:\n  - P: away\n  - P: open'),
     ":6: found 'open', expected away or there, as before"),
    ('grid too fine', rows('S.', more='grid: {cell_size: 0.2, x: 0, y: 0}'),
     ':4: found 0.2, expected the width of a cell of the driver in m, at least 0.5'),
    ('home outside of the grid', rows('S.', more='grid: {cell_size: 0.5, x: 0.5, y: 0}'),
     ':4: home, at 0.25, 0.25, is outside of it, expected inside'),
    ('unknown cell', rows('S.', '.x'), ":4: found 'x' in row '.x', expected '.', '#', 'S' or a"),
    ('ragged rows', rows('S..', '..'), ":4: row '..' has 2 cells, expected 3 as in the first"),
    ('no S', rows('..'), ":3: found 0 cells 'S', expected exactly 1"),
    ('two S', rows('SS'), ":3: found 2 cells 'S', expected exactly 1"),
    ('empty row', rows('S', ''), ":4: found '', expected a row of"),
    ('no rows', 'cell_size: 1\n', ':1: rows is missing, expected a list of strings'),
    ('rows is text', 'cell_size: 1\nrows: S.\n', ":2: found 'S.', expected a list of strings"),
    ('rows empty', 'cell_size: 1\nrows: []\n', ':2: found an empty list, expected a list of at'),
    ('no size', 'rows: [S]\n', ':1: cell_size is missing, expected the width of a cell in m'),
    ('size 0', 'cell_size: 0\nrows: [S]\n', ':1: found 0, expected the width of a cell in m'),
    ('size nan', 'cell_size: .nan\nrows: [S]\n', ':1: found .nan, expected the width'),
    ('size is text', 'cell_size: 50 cm\nrows: [S]\n', ":1: found '50 cm', expected the width"),
    ('no settings', rows('SD'), ':1: settings is missing, expected a list of settings of the'),
    ('settings without doors', rows('S.', more='settings: [{}]'), ':4: there are no doors, exp'),
    ('settings empty', rows('SD', more='settings: []'), ':4: found an empty list, expected a'),
    ('settings a mapping', rows('SD', more='settings: {D: open}'), ':4: found a mapping, exp'),
    ('door missing', rows('SDE', more='settings:\n  - {D: open, E: open}\n  - {D: open}'),
     ':6: E is missing, expected open or closed for each of the doors D, E'),
    ('door unknown', rows('SD', more='settings: [{D: open, E: open}]'),
     ":4: unknown key 'E' in a setting, expected D"),
    ('door ajar', rows('SD', more='settings:\n  - D: ajar'),
     ":5: found 'ajar', expected open or closed"),
    ('door true', rows('SD', more='settings:\n  - D: true'),
     ':5: found true, expected open or closed'),
    ('unknown key', rows('S', more='slip: 0.1'),
     ":4: unknown key 'slip' in a world, expected name, cell_size, rows, settings"),
    ('key twice', rows('S', more='cell_size: 1'), ':4: key cell_size appears twice'),
    ('not a mapping', '- S\n', ':1: found a list, expected a world, a mapping'),
    ('empty file', '', ':1: found nothing, expected a world, a mapping'),
    ('unclosed bracket', 'cell_size: 1\nrows: [S\n', ':3: not YAML: '),
]


@pytest.mark.parametrize(
    ('text', 'expected'), [pytest.param(*row, id=name) for name, *row in MALFORMED])
def test_malformed(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / 'bad.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(FileError) as refusal:
        load(str(path))
    assert str(refusal.value).startswith(f'{path}{expected}')


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no world is called 'flat', expected a path or one of "
                                        'furnished_flat, one_room, two_room_flat'):
        load('flat')
    with pytest.raises(FileError, match='cannot be read .* expected a world file'):
        load(str(tmp_path / 'none.yaml'))
