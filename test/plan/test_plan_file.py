# SPDX-License-Identifier: Apache-2.0

"""Plans in files, what follows from them, and what is said of plans that are wrong."""

from __future__ import annotations

from dataclasses import replace
import math
from pathlib import Path
import time
import xml.etree.ElementTree as ElementTree

from english import english_in
from flats import DOOR, flat
from mnm_ros.core.errors import FileError
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.occupancy import Map, Points
from mnm_ros.driving.pose import Pose
from mnm_ros.language import text_in
from mnm_ros.plan.findings import at_place, findings
from mnm_ros.plan.floor_plan import covered, crossing, Plan
from mnm_ros.plan.picture import rectangles, svg
from mnm_ros.plan.plan_file import is_plan, load, text_of
import numpy as np
import pytest
from tiers import strength

LINE = (2.05, -0.45), (2.05, 0.45)
PLAN = Plan('flat', flat(DOOR), Grid(-0.95, -1.25, 0.5, 11, 5), Pose(0.3, 0.0, 0.0), 0.15, 0.0,
            {'kitchen': (0.5, 0.0), 'hall': (3.5, 0.0)}, {'kitchen-hall': LINE},
            {'stairs': ((-0.8, 0.6), (-0.3, 0.6), (-0.3, 1.3), (-0.8, 1.3))},
            names={54: 'window: 1'})


def path_of(plan: Plan, folder: Path) -> Path:
    (folder / 'flat.plan.yaml').write_text(text_of(plan, 'flat.yaml'), encoding='utf-8')
    return folder / 'flat.plan.yaml'


def said(plan: Plan) -> list[str]:
    return [finding.text for finding in findings(plan)]


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    masked = np.zeros((PLAN.map.height, PLAN.map.width), np.bool_)
    masked[30:34, 60:70] = True
    for plan in (PLAN, replace(PLAN, masked=masked), replace(
            PLAN, rooms={}, doors={}, keep_outs={}, names={}, grid=replace(PLAN.grid, yaw=0.2))):
        path = path_of(plan, tmp_path)
        read = load(path)
        assert text_of(read, 'flat.yaml') == path.read_text(encoding='utf-8') and is_plan(path)
        for name in ('name', 'grid', 'home', 'robot_radius', 'rooms', 'doors', 'keep_outs',
                     'names'):
            assert getattr(read, name) == getattr(plan, name), name
        assert (read.map.pixel_rows == plan.map.pixel_rows).all()
        assert (read.kept_out == plan.kept_out).all() and read.reached == plan.reached


@pytest.mark.parametrize(('old', 'new', 'complaint'), [
    ('plan: 1', 'plan: 2', ':4: found 2, expected 1, the version of the format'),
    ('name: flat', 'nam: flat', ":5: unknown key 'nam' in a plan"),
    ('radius: 0.15', 'radius: 0.3', ':6: found 0.3, expected the radius of the robot'),
    ('clearance: 0.0', 'clearance: 0.11', ':6: found 0.11, expected how far from walls'),
    ('home: [0.3, 0.0, 0.0]', 'home: [0.3, 0.0]', ':7: found 2 numbers, expected the home pose'),
    ('home: [0.3, 0.0, 0.0]', 'home: [0.3, here, 0.0]', ":7: found 'here'"),
    ('cell: 0.5', 'cell: 0', ':9: found 0, expected the side of a cell'),
    ('columns: 11', 'columns: 0', ':9: found 0, expected a number of cells of at least 1'),
    ('columns: 11', 'columns: 11000', ':9: found 11000 x 5 cells, expected at most 10,000'),
    ('kitchen: [0.5, 0.0]', 'kitchen: 3', ':12: found 3, expected a point, [x, y] in m'),
    ('kitchen: [0.5, 0.0]', '7: [0.5, 0.0]', ':12: found 7, expected a name'),
    ('hall: [3.5, 0.0]', 'kitchen: [3.5, 0.0]', ':13: key kitchen appears twice'),
    ('[2.05, 0.45]]', '[2.05, -0.45]]', ':15: found 1 different points, expected a line'),
    (', [-0.3, 1.3], [-0.8, 1.3]', '', ':17: found 2 points, expected a polygon'),
    ('r4c10:', 'r5c0:', ":19: found 'r5c0', expected a cell, from r0c0 to r4c10"),
    ('"window: 1"', 'window\n  r0c0: window', ":20: name 'window' appears twice"),
    ('resolution: 0.05', 'resolution: -1', ':22: found -1, expected the side of a pixel'),
    ('  - "????', '  - "?o??', ":25: found 'o' in column 2, expected pixels, each '.' free"),
    ('?"\n  - "?', '"\n  - "?', 'pixels, expected 128 as in the first row'),
])
def test_mistakes_are_refused_with_their_line(
        tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = path_of(PLAN, tmp_path)
    text = path.read_text(encoding='utf-8')
    assert old in text
    count = 1 if old.startswith(' ') else -1
    text = text.replace(old, new, count) if count == 1 else new.join(text.rsplit(old, 1))
    path.write_text(text, encoding='utf-8')
    with pytest.raises(FileError) as refusal:
        load(path)
    assert complaint in str(refusal.value) and str(path) in str(refusal.value)


@pytest.mark.parametrize('name', ['plan', 'map', 'grid', 'home', 'robot'])
def test_what_is_missing_is_named(tmp_path: Path, name: str) -> None:
    path = path_of(PLAN, tmp_path)
    lines = path.read_text(encoding='utf-8').splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if line.startswith(f'{name}:'))
    last = next((at for at in range(first + 1, len(lines))
                 if not lines[at].startswith(' ')), len(lines))
    path.write_text(''.join(lines[:first] + lines[last:]), encoding='utf-8')
    with pytest.raises(FileError, match=f'{name} is missing, expected'):
        load(path)


def test_things_are_counted(tmp_path: Path) -> None:
    corners = tuple((each * 1e-4, 0.0) for each in range(10_001))
    plans = {
        'found 10,001 points, expected at most 10,000': {'keep_outs': {'much': corners}},
        'found 1,001 rooms, expected at most 1,000': {
            'rooms': {f'room {number}': (0.5, 0.0) for number in range(1001)}}}
    for complaint, changes in plans.items():
        with pytest.raises(FileError, match=complaint):
            text_of(replace(PLAN, **changes), 'flat.yaml')


@pytest.mark.parametrize('changes', [
    {'rooms': {'a\u202eb': (0.5, 0.0)}}, {'names': {54: 'a\x07b'}}, {'name': 'a\nb'},
    {'home': Pose(1e9, 0.0, 0.0)}, {'robot_radius': 0.3}])
def test_a_plan_that_could_not_be_read_again_is_not_written(changes: dict) -> None:
    with pytest.raises(FileError, match=r'^flat\.yaml:\d+: found .*, expected'):
        text_of(replace(PLAN, **changes), 'flat.yaml')


def test_what_it_was_made_of_is_named_in_one_line() -> None:
    text = text_of(PLAN, 'fl\nat\u202e.yaml')
    assert '`mnm_ros map` has made of fl?at?.yaml.' in text


def test_cells_are_named_by_their_rooms() -> None:
    names = PLAN.cell_names
    assert names[0] == 'kitchen 1' and names[10].startswith('hall ') and names[54] == 'window: 1'
    assert len({*names.values()}) == len(names)
    unreached = set(range(55)) - PLAN.reached - {54}
    assert unreached and all(names[cell] == f'r{cell // 11}c{cell % 11}' for cell in unreached)
    assert PLAN.room_at((0.4, 0.2)) == 'kitchen' and PLAN.room_at((99.0, 0.0)) is None
    at = at_place(PLAN, (3.0, 0.5))
    assert text_in('en', at) == '3.00, 0.50 in hall'
    assert text_in('de', at) == '3,00; 0,50 in hall'


def test_a_door_is_the_moves_through_it() -> None:
    ways = PLAN.ways
    through = PLAN.through('kitchen-hall')
    open_ = [(cell, there) for cell, there in through if there in {
        ways.neighbour(cell, heading) for heading in range(4)}]
    assert open_ and all({PLAN.room_at(PLAN.grid.centre(cell)) for cell in edge}
                         == {'kitchen', 'hall'} for edge in through)
    assert set(through) == {edge[::-1] for edge in through}
    turned = Grid(0.0, 0.0, 0.5, 4, 4, yaw=math.pi / 2)    # its rows go up, its columns left
    assert {*crossing(turned, ((-1.0, 0.1), (-1.0, 0.4)))} == {(4, 8), (8, 4)}


def test_what_is_kept_out_of_is_not_driven() -> None:
    free = replace(PLAN, keep_outs={})
    kept = set(free.reached) - PLAN.reached
    assert kept and all(free.grid.centre(cell)[0] < 0 < free.grid.centre(cell)[1]
                        for cell in kept)
    pixels = covered(PLAN.map, PLAN.keep_outs['stairs'])
    assert pixels.sum() * 0.05 ** 2 == pytest.approx(0.5 * 0.7, rel=0.15)
    assert (PLAN.driven_map.pixel_rows[pixels] == -1).all()


@pytest.mark.parametrize('seed', range(4))
def test_what_a_polygon_covers_is_what_each_pixel_finds(seed: int) -> None:
    """Compared with a walk along the border for each pixel, also where corners are in line."""
    random = np.random.default_rng(seed)
    for _ in range(strength(6, 20)):
        height, width = random.integers(5, 30, 2).tolist()
        map_ = Map(0.05, width, height, Pose(0.1, -0.2, 0.3 * (seed % 2)), [0] * height * width)
        polygon = random.normal(0.5, 0.8, (int(random.integers(3, 9)), 2))
        if seed > 1:
            polygon = np.round(polygon / 0.025) * 0.025
        corners = map_.pixels(polygon)
        expected = np.array([[_covers(corners, column + 0.5, row + 0.5)
                              for column in range(width)] for row in range(height)])
        assert (covered(map_, polygon.tolist()) == expected).all()


def _covers(corners: Points, x: float, y: float) -> bool:
    inside = False
    for (ax, ay), (bx, by) in zip(corners.tolist(), np.roll(corners, -1, axis=0).tolist()):
        if (ay > y) != (by > y):
            inside ^= x < (bx - ax) * (y - ay) / (by - ay) + ax
        squared = max((bx - ax) ** 2 + (by - ay) ** 2, 1e-12)
        part = min(max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / squared, 0), 1)
        if math.hypot(x - ax - part * (bx - ax), y - ay - part * (by - ay)) < 0.499:
            return True
    return inside


def test_many_corners_take_no_time() -> None:
    """Each edge is looked at near itself alone; at all pixels, this would take a minute."""
    map_ = Map(0.05, 1000, 1000, Pose(0.0, 0.0, 0.0), np.zeros(1_000_000, np.int8))
    around = np.linspace(0, math.tau, 10_000, endpoint=False)
    began = time.process_time()
    found = covered(map_, np.stack([25 + 20 * np.cos(around), 25 + 20 * np.sin(around)],
                                   axis=1).tolist())
    assert time.process_time() - began < 5.0
    assert found.sum() * 0.05 ** 2 == pytest.approx(math.pi * 20 ** 2, rel=0.01)


def test_a_thin_keep_out_covers_the_pixels_that_it_touches() -> None:
    line = covered(PLAN.map, ((0.0, 0.0), (1.0, 0.01), (1.0, 0.0)))
    assert 20 <= line.any(axis=0).sum() <= 23
    assert not covered(PLAN.map, ((90.0, 90.0), (91.0, 90.0), (91.0, 91.0))).any()


@pytest.mark.parametrize(('changes', 'complaint', 'fatal'), [
    ({'home': Pose(9.0, 9.0, 0.0)}, 'home (9.00, 9.00) is outside of the grid', True),
    ({'home': Pose(2.05, 0.8, 0.0)}, 'home (2.05, 0.80) is in a wall', True),
    ({'home': Pose(-0.5, 1.0, 0.0)}, 'home (-0.50, 1.00 in kitchen) is in a keep-out', True),
    ({'home': Pose(1.9, 0.9, 0.0)}, 'nearer to a wall or a keep-out than 0.15 m', True),
    ({'keep_outs': {'roof': ((9, 9), (9, 10), (10, 10))}},
     "keep-out 'roof' (9.50, 9.50) is outside of the map", False),
    ({'keep_outs': {'wall': ((2.02, 1), (2.08, 1), (2.08, 1.1))}},
     "keep-out 'wall' (2.05, 1.05) is where nothing is free anyway", False),
    # Between the centres of two cells, 0.17 m from the ways of a robot with a radius of 0.15 m.
    ({'keep_outs': {'vase': ((0.48, 0.18), (0.52, 0.18), (0.52, 0.22), (0.48, 0.22))}},
     "keep-out 'vase' (0.50, 0.20 in kitchen) can still be entered: by kitchen ", False),
    ({'doors': {}}, "rooms 'kitchen' and 'hall' are one (3.50, 0.00 in kitchen)", False),
    ({'doors': {'kitchen-hall': ((2.05, -0.4), (2.05, 0.0))}},
     "door 'kitchen-hall' (2.05, -0.20) does not divide two rooms", False),
    ({'map': flat((3, 1.4, 3.1, 1.6, 0)), 'doors': {'slit': ((2.05, -0.1), (2.05, 0.1))}},
     "door 'slit' (2.05, 0.00) is 0.20 m wide, too narrow for the robot", False),
    ({'grid': Grid(-0.95, -1.5, 0.5, 11, 6), 'map': flat((3, 1.3, 3.1, 1.7, 0)),
      'doors': {'kitchen-hall': ((2.05, -0.2), (2.05, 0.2))}, 'home': Pose(0.3, -0.25, 0.0)},
     "door 'kitchen-hall' (2.05, 0.00) is cut: no way between cells leads through it", False),
    ({'map': flat(), 'doors': {}}, "room 'hall' (3.48, -0.03), 7.8 m^2, has no door", False),
    ({'rooms': {'kitchen': (0.5, 0.0)}, 'map': flat(), 'doors': {}},
     'a room without a name (3.48, -0.03), 7.8 m^2, has no door', False),
    ({'rooms': {**PLAN.rooms, 'shaft': (2.05, 1.0)}},
     "the point of room 'shaft' (2.05, 1.00) is in a wall", False),
])
def test_what_is_wrong_is_said_with_its_place(
        changes: dict, complaint: str, fatal: bool) -> None:
    found = findings(replace(PLAN, **changes))
    right = [finding for finding in found if complaint in finding.text]
    assert [finding.fatal for finding in right] == [fatal], [each.text for each in found]
    assert english_in([text_in('de', finding.said) for finding in found], 'de') == []
    assert all(math.isfinite(number) for number in right[0].place)


def test_nothing_is_said_of_a_plan_that_is_right() -> None:
    assert said(PLAN) == []


def test_the_picture_shows_all() -> None:
    wrong = replace(PLAN, home=Pose(2.05, 0.8, 0.0))
    drawn = svg(PLAN), svg(wrong, findings(wrong))
    roots = [*map(ElementTree.fromstring, drawn)]
    classes = [element.get('class') for element in roots[0].iter()]
    # One more of each in the legend.
    assert classes.count('cell') == 1 + len(PLAN.reached) and classes.count('door') == 2
    assert classes.count('keep_out') == classes.count('home') == 2
    assert classes.count('wrong') == 0
    assert [element.get('class') for element in roots[1].iter()].count('wrong') >= 1
    texts = {element.text for element in roots[0].iter()}
    assert {'kitchen', 'hall', 'kitchen-hall', 'kitchen 1', 'stairs'} <= texts


def test_rectangles_cover_what_they_should_once() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        of = random.random((7, 9)) < 0.5
        again = np.zeros(of.shape, int)
        for column, row, width, height in rectangles(of):
            again[row:row + height, column:column + width] += 1
        assert (again == of).all()
