# SPDX-License-Identifier: Apache-2.0

"""Scenario files that are right, and where they are looked for."""

from __future__ import annotations

from pathlib import Path
import shutil
import sys

from mnm_ros import files
from mnm_ros.core.errors import FileError
from mnm_ros.simulation.scenario import changes, load, Scenario, shipped
import pytest

SHIPPED = Path(__file__).resolve().parents[2] / 'config' / 'scenarios'

DOOR = """
name: corridor with a door
actions: [east, west]
start: 0
settings:                       # in force one after the other
  - transitions:
      0: {east: {1: 0.9, 0: 0.1}}
      1: {east: {2: 1.0}, west: {0: 1.0}}
      2: {west: {1: 1}}
    until: 40000
  - transitions:
      1: {west: {0: 1.0, 5: 0.0}}
"""


def parse(tmp_path: Path, text: str) -> Scenario:
    path = tmp_path / 'scenario.yaml'
    path.write_text(text, encoding='utf-8')
    return load(str(path))


def test_transitions(tmp_path: Path) -> None:
    scenario = parse(tmp_path, DOOR)
    assert scenario.name == 'corridor with a door'
    assert scenario.actions == ('east', 'west')
    assert scenario.start == 0
    assert scenario.path == tmp_path / 'scenario.yaml'
    first, second = scenario.settings
    assert (first.until, second.until) == (40000, None)
    assert first.cmp.transitions(0, 0) == ((1, 0.9), (0, 0.1))
    assert first.cmp.transitions(2, 1) == ((1, 1.0),)
    assert first.cmp.transitions(2, 0) == ((2, 1.0),), 'a missing action stays put'
    assert first.cmp.transitions(99, 0) == ((99, 1.0),), 'a state without entry stays put'
    assert second.cmp.transitions(1, 1) == ((0, 1.0),), 'what is impossible is left out'


def test_grid_takes_its_start_from_the_rows_and_maps_moves_by_name(tmp_path: Path) -> None:
    scenario = parse(tmp_path, """
actions: [north, east, south, west]
settings:
  - grid: {rows: ["...", ".S."]}
""")
    assert scenario.name == 'scenario', 'the file gives the name if there is none inside'
    assert scenario.start == 4
    cmp = scenario.settings[0].cmp
    assert [cmp.transitions(4, action)[0][0] for action in range(4)] == [1, 5, 4, 3]


def test_settings_of_different_kinds_share_start_and_actions(tmp_path: Path) -> None:
    scenario = parse(tmp_path, """
actions: [west, east]
start: 0
settings:
  - generator: {name: endless_corridor, success: 1}
    until: 10
  - transitions: {0: {east: {7: 1.0}}}
  - generator: {name: endless_corridor}
""")
    first, second, third = (setting.cmp for setting in scenario.settings)
    assert first.transitions(0, 0) == ((-1, 1.0),)
    assert second.transitions(0, 1) == ((7, 1.0),)
    assert third.transitions(0, 1) == ((1, 0.9), (0, pytest.approx(0.1)))
    assert [setting.until for setting in scenario.settings] == [10, None, None]


def test_anchors_may_repeat_a_setting(tmp_path: Path) -> None:
    scenario = parse(tmp_path, """
actions: [east, west, south, north]
start: 1
settings:
  - grid: &open {rows: [".S."], slip: 0.5}
    until: 5
  - grid: {rows: ["#S."]}
    until: 6
  - grid: *open
""")
    first, second, third = (setting.cmp for setting in scenario.settings)
    assert first.transitions(1, 1) == third.transitions(1, 1) == ((0, 0.5), (1, 0.5))
    assert second.transitions(1, 1) == ((1, 1.0),)


def test_the_whole_of_int64_is_there_for_states(tmp_path: Path) -> None:
    low, high = -2**63, 2**63 - 1
    scenario = parse(tmp_path, f"""
actions: [go]
start: {low}
settings:
  - transitions: {{{low}: {{go: {{{high}: 1.0}}}}}}
""")
    assert scenario.settings[0].cmp.transitions(low, 0) == ((high, 1.0),)


def test_sums_that_are_off_by_rounding_are_put_right(tmp_path: Path) -> None:
    third = 0.3333333333
    rule = f'{{1: {third}, 2: {third}, 3: {third}}}'
    text = f'actions: [go]\nstart: 0\nsettings:\n  - transitions: {{0: {{go: {rule}}}}}\n'
    outcomes = parse(tmp_path, text).settings[0].cmp.transitions(0, 0)
    assert outcomes == tuple((state, pytest.approx(1 / 3, abs=1e-15)) for state in (1, 2, 3))


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert parse(tmp_path, '\ufeff' + DOOR.lstrip()).start == 0


def test_shipped_scenarios_are_found_by_name_and_by_file_name() -> None:
    assert shipped() == tuple(sorted(path.stem for path in SHIPPED.glob('*.yaml')))
    assert load('two_rooms').path == SHIPPED / 'two_rooms.yaml'
    assert load('two_rooms.yaml').path == SHIPPED / 'two_rooms.yaml'


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(FileError, match=r"'three_rooms'.*corridor.*two_rooms"):
        load('three_rooms')


def test_a_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'mine.yaml').write_text(DOOR)
    (tmp_path / 'corridor').write_text(DOOR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('HOME', str(tmp_path))
    for name in ('mine.yaml', './mine.yaml', '~/mine.yaml', './corridor'):
        assert load(name).name == 'corridor with a door'
    assert load('corridor').name == 'corridor', 'a bare name is that of a shipped scenario'


@pytest.mark.parametrize('place', ('ament', 'venv'))
def test_shipped_scenarios_are_found_where_they_are_installed(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = tmp_path / place / 'share' / 'mnm_ros' / 'config' / 'scenarios'
    shutil.copytree(SHIPPED, installed)
    code = tmp_path / 'lib' / 'site-packages' / 'mnm_ros' / 'files.py'
    monkeypatch.setattr(files, '__file__', str(code))
    monkeypatch.setattr(sys, 'prefix', str(tmp_path / 'venv'))
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path / "other"}:{tmp_path / "ament"}')
    assert load('trap').path == installed / 'trap.yaml'
    assert 'trap' in shipped()


@pytest.mark.parametrize(('name', 'before', 'after', 'said'), [
    ('two_rooms', 0, 1, 'r1c2 closed'), ('two_rooms', 2, 0, ''),
    ('moving_wall', 0, 1, 'r2c1, r2c3 closed; r1c2, r3c2 open'),
    ('shortcut', 0, 1, 'way from state 1 to state 5 open'), ('endless_corridor', 0, 0, '')])
def test_it_is_said_what_closes_and_opens(name: str, before: int, after: int, said: str) -> None:
    assert changes(load(name), before, after) == said


def test_of_many_ways_some_are_named() -> None:
    assert changes(load('broken_wheel'), 1, 0).endswith('from state 4 to state 5 and 1 more open')
