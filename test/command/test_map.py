# SPDX-License-Identifier: Apache-2.0

"""The command ``mnm_ros map``, from a map of nav2 to a plan that is looked at again."""

from __future__ import annotations

from dataclasses import replace
import json
import os
from pathlib import Path
import re
import shlex
from xml.etree import ElementTree

from flats import DOOR, flat, saved
from mnm_ros.command import plan_forecast
from mnm_ros.command.main import main
from mnm_ros.console.command_line import parse
from mnm_ros.parameters import NODES
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.plan.nav2_map import load as load_map
from mnm_ros.plan.plan_file import load
from mnm_ros.simulation import physics
import pytest
from tiers import strength
import yaml

ROOT = Path(__file__).resolve().parents[2]
STAIRS = '-0.8 0.6 -0.3 0.6 -0.3 1.3 -0.8 1.3'.split()
HOME = ('--cells', '--home', '0.5', '0', '--robot-radius', '0.15', '--clearance', '0.02')
RADIUS = strength('1', '4')
SCENARIO = str(ROOT / 'config' / 'scenarios' / 'corridor.yaml')
STEPS = re.compile(r'([\d,]+) steps, ways')
SOON = (*HOME, '--radius', '1', '--cell', '0.5')    # forecast in a second, not ten


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, flat(DOOR, (1.0, 1.0, 1.1, 1.1, -1)))
    return tmp_path


@pytest.fixture
def played() -> None:
    """Have the exploration played that is forecast."""


@pytest.fixture(autouse=True)
def unplayed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes most of the time, of tests that do not look at it."""
    if 'played' not in request.fixturenames:
        monkeypatch.setattr(plan_forecast, 'rehearse', lambda *_, **__: None)


@pytest.mark.usefixtures('played')
def test_a_map_becomes_a_plan(folder: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['map', 'flat.yaml', *HOME, '--cell', '0.5', '--room', 'kitchen', '0', '0',
                 '--keep-out', 'stairs', *STAIRS, '--radius', RADIUS]) == 0
    out = capsys.readouterr().out
    plan = load(folder / 'flat.plan.yaml')
    assert {*plan.rooms} == {'kitchen', 'A'} and {*plan.doors} == {'A-kitchen'}
    assert f'{len(plan.reached)} places within reach of home, which is in kitchen' in out
    assert '1 unknown speck, at (0.05, -0.45)' in out and 'doors: A-kitchen (0.7' in out
    known = re.search(
        rf'exploring with L = {RADIUS}: (\d+) places, ([\d,]+) s \(.* one charge will do', out)
    places, least, most = strength((2, 30, 900), (5, 600, 9000))
    assert known and places < int(known[1]) <= len(plan.reached)
    assert least < number(known[2]) < most
    assert plan.grid.cell_size == 0.5 and plan.home == (0.5, 0.0, 0.0)
    assert 'WRONG' not in out and (folder / 'flat.plan.svg').read_text().startswith('<svg')
    given = yaml.safe_load((folder / 'turtlebot.yaml').read_text())
    for node in ('/**/grid_driver', '/**/diff_drive_sim'):
        parameters = given[node]['ros__parameters']
        assert parameters['plan'] == str(folder / 'flat.plan.yaml')
        assert parameters.get('robot_radius', 0.15) == 0.15
        assert not {'cell_size', 'use_map', 'home_x', 'rows'} & {*parameters}


@pytest.mark.usefixtures('played')
def test_a_map_becomes_a_graph_that_can_be_explored(
        folder: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['map', 'flat.yaml', '--room', 'kitchen', '0', '0', '--door-width', '0.9']) == 0
    out = capsys.readouterr().out
    graph = read_geojson(folder / 'flat.geojson')
    assert out.startswith('home: 0.') and 'the point with most room' in out.splitlines()[0]
    assert f'{len(graph.places)} places, {len(graph.edges) // 2} ways' in out
    assert 'rooms: kitchen (' in out and 'doors: A-kitchen (0.' in out
    assert '1 unknown speck, at (0.05, -0.45)' in out
    assert {edge.door for edge in graph.edges} == {'', 'A-kitchen'}
    assert re.search(r'exploring all of it at 0\.\d+ m/s takes about \d+ (s|min) \(in 9 of 10 '
                     r'cases .*\): \d+ steps, ways home included', out)
    svg = ElementTree.parse(folder / 'flat.svg').getroot()
    classes = [element.get('class') for element in svg.iter()]
    # One more of each in the legend.
    assert classes.count('place') == len(graph.places) and classes.count('home') == 2
    assert classes.count('door') == 2 and classes.count('room') == 2
    assert {*os.listdir()} == {'flat.yaml', 'flat.pgm', 'flat.geojson', 'flat.svg'}
    # The command that is printed is true.
    command, = re.findall(r'explore it in simulation: mnm_ros (.*)', out)
    program, *words = shlex.split(command)
    scenario = parse([*words, '--once']).scenario
    assert program == 'explore' and scenario is not None
    assert scenario.graph == replace(graph, path=Path('flat.geojson'))


@pytest.mark.usefixtures('played')
def test_a_graph_that_is_not_simulated_in_time_has_an_estimate(
        folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(['map', 'flat.yaml']) == 0
    graph = read_geojson(folder / 'flat.geojson')
    simulated, = plan_forecast.graph_forecast(graph)
    for name in ('_PATIENCE', '_MOST_EDGES'):
        with monkeypatch.context() as context:
            context.setattr(plan_forecast, name, 0)
            line, = plan_forecast.graph_forecast(graph)
        assert '(estimated from the number of edges, ' in line
        assert number(STEPS.findall(line)[0]) == 3 * len(graph.edges)
        assert 0.5 <= number(STEPS.findall(simulated)[0]) / (3 * len(graph.edges)) <= 2


@pytest.mark.parametrize(('edges', 'expected'), [
    ([(1, 0)], 'nothing declared leads away from home, state 0'),
    ([(at + one, at + 1 - one) for at in range(900) for one in (0, 1)],
     'the farthest state is 900 steps from home')])
def test_a_graph_that_cannot_be_explored_as_a_whole_has_no_forecast(
        edges: list[tuple[int, int]], expected: str) -> None:
    graph = PlaceGraph(Path('a.geojson'), {number: Place(number, 0.0, home=not number)
                                           for number in {*sum(edges, ())}},
                       tuple(Edge(str(key), *ends) for key, ends in enumerate(edges)))
    line, = plan_forecast.graph_forecast(graph)
    assert line.startswith('exploring all of it is not possible: ') and expected in line


def test_the_commands_of_your_building(
        folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the page and the nodes that they start."""
    monkeypatch.setattr(physics, 'mujoco', physics)    # installed or not
    page = (ROOT / 'docs' / 'tutorials' / 'your_building.md').read_text(encoding='utf-8')
    for command in re.findall(r'^    (\S.*)$', page, re.MULTILINE):
        program, *words = shlex.split(command)
        if program == 'scripts/explore':
            assert parse(words).scenario is not None
        elif words[0] == 'map':
            assert main([word for word in words if word != '--page']) == 0
        else:
            name, arguments = words[1], words[words.index('--ros-args'):]
            assert {word.partition(':=')[0] for word in arguments[2::2]} <= {
                spec.name for spec in NODES[name]}


def test_a_graph_that_was_edited_is_not_lost(
        folder: Path, capsys: pytest.CaptureFixture) -> None:
    for name in ('flat.geojson', 'flat.svg'):
        (folder / name).write_text('mine')
        assert main(['map', 'flat.yaml']) == 1
        assert f'{name} is there already' in capsys.readouterr().err
        assert (folder / name).read_text() == 'mine'
        (folder / name).unlink()
    assert main(['map', 'flat.yaml', '--output', 'other.geojson', '--write-mask', 'mask.yaml',
                 '--keep-out', 'stairs', *STAIRS]) == 0
    assert {'other.geojson', 'other.svg', 'mask.yaml', 'mask.pgm'} <= {*os.listdir()}


def test_a_graph_that_was_edited_is_checked_and_drawn_again(
        folder: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['map', 'flat.yaml', '--room', 'kitchen', '0', '0', '--overwrite']) == 0
    path = folder / 'flat.geojson'
    said = capsys.readouterr().out.splitlines()
    assert main(['map', 'flat.yaml', '--graph', 'flat.geojson']) == 0
    again = capsys.readouterr().out.splitlines()
    assert again == said[1:]    # but where home was found
    text = path.read_text()
    graph = read_geojson(path)
    x, y = (getattr(graph.places[graph.home], axis) for axis in 'xy')
    path.write_text(text.replace(f'[{x}, {y}]', '[2.05, 1.2]'))
    assert main(['map', 'flat.yaml', '--graph', 'flat.geojson']) == 1
    assert 'WRONG: home (2.05, 1.20) has less than 0.225 m' in capsys.readouterr().out
    assert 'class="wrong"' in (folder / 'flat.svg').read_text()
    assert path.read_text() == text.replace(f'[{x}, {y}]', '[2.05, 1.2]')
    features = json.loads(text)
    edges = [each['properties'] for each in features['features'] if (
        each['geometry']['type'] != 'Point')]
    edges[1]['id'] = edges[0]['id']
    path.write_text(json.dumps(features))
    assert main(['map', 'flat.yaml', '--graph', 'flat.geojson']) == 0
    assert f'look at: flat.geojson: several edges have the id {edges[0]["id"]}' in (
        capsys.readouterr().out)


def test_the_simulated_robot_has_the_size_for_which_the_graph_was_made(
        capsys: pytest.CaptureFixture) -> None:
    assert main(['map', 'flat.yaml', '--robot-radius', '0.1']) == 0
    command, = re.findall(r'drives in its flat: mnm_ros explore (.*)', capsys.readouterr().out)
    simulator, driver, _ = parse(shlex.split(command)).commands().values()
    for words in (simulator, driver):
        assert [word for word in words if 'robot_radius' in word][-1] == 'robot_radius:=0.1'


def test_a_keep_out_on_a_graph_is_named(
        folder: Path, capsys: pytest.CaptureFixture) -> None:
    """By its places and its edges, but not by places outside of the map."""
    assert main(['map', 'flat.yaml', '--room', 'kitchen', '0', '0', '--overwrite']) == 0
    graph = read_geojson(folder / 'flat.geojson')
    place = next(place for place in graph.places.values() if not place.home)
    x, y = place.x, place.y
    stairs = [str(each) for corner in ((-1, -1), (1, -1), (1, 1), (-1, 1))
              for each in (x + 0.1 * corner[0], y + 0.1 * corner[1])]
    capsys.readouterr()
    assert main(['map', 'flat.yaml', '--graph', 'flat.geojson', '--keep-out', 'stairs', *stairs,
                 '--keep-out', 'ramp', *'50 50 51 50 51 51'.split()]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith('look at')]
    assert said[-1] == "look at: keep-out 'ramp' (50.50, 50.50) is outside of the map"
    assert said[0].startswith(f'look at: {place.name} (')
    assert said[0].endswith("the robot and its clearance, because of keep-out 'stairs'")
    assert any(line.endswith("m on both sides, because of keep-out 'stairs'") for line in said)
    path = folder / 'flat.geojson'
    path.write_text(path.read_text().replace(f'[{x}, {y}]', '[40.0, 40.0]'))
    assert main(['map', 'flat.yaml', '--graph', 'flat.geojson', '--keep-out', 'stairs',
                 *stairs]) == 0
    assert f'look at: {place.name} (40.00, 40.00) has less than' in (said := capsys.readouterr(
        ).out) and 'because of' not in said.split('40.00, 40.00')[1].splitlines()[0]


def number(text: str) -> int:
    return int(text.replace(',', ''))


@pytest.mark.usefixtures('played')
def test_a_small_battery_has_to_be_charged(folder: Path, capsys: pytest.CaptureFixture) -> None:
    radius, hours = strength(('1', 0.02), ('2', 0.1))
    assert main(['map', 'flat.yaml', *HOME, '--cell', '0.5', '--radius', radius, '--battery',
                 str(hours)]) == 0
    seconds, times = re.search(rf'L = {radius}: \d+ places, ([\d,]+) s .* keep it charged (.*)',
                               capsys.readouterr().out).groups()
    due = int(number(seconds) / (hours * 3600))
    assert times == {1: 'once', 2: 'twice'}.get(due, f'{due} times') and due
    assert yaml.safe_load((folder / 'turtlebot.yaml').read_text())['/**']['ros__parameters'][
        'radius'] == float(radius)


def test_a_plan_that_was_edited_is_checked_and_drawn_again(
        folder: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['map', 'flat.yaml', *SOON]) == 0
    path = folder / 'flat.plan.yaml'
    path.write_text(path.read_text().replace('home: [0.5, 0.0', 'home: [2.05, 0.9'))
    before = path.read_text()
    capsys.readouterr()
    assert main(['map', 'flat.plan.yaml', '--radius', '1']) == 1
    assert 'WRONG: home (2.05, 0.90) is in a wall' in capsys.readouterr().out
    assert path.read_text() == before and 'class="wrong"' in (
        folder / 'flat.plan.svg').read_text()


def test_masks_are_read_and_written(folder: Path) -> None:
    assert main(['map', 'flat.yaml', *SOON, '--write-mask', 'mask.yaml', '--keep-out', 'stairs',
                 *STAIRS]) == 0
    assert (load_map(folder / 'mask.yaml').pixel_rows == 100).sum() > 100
    assert main(['map', 'flat.yaml', *SOON, '--mask', 'mask.yaml', '--output', 'b.plan.yaml',
                 '--overwrite']) == 0
    first, second = load(folder / 'flat.plan.yaml'), load(folder / 'b.plan.yaml')
    assert second.masked is not None and (first.kept_out == second.kept_out).all()
    assert first.reached == second.reached


def test_what_was_edited_is_not_lost(folder: Path, capsys: pytest.CaptureFixture) -> None:
    (folder / 'flat.plan.yaml').write_text('mine')
    assert main(['map', 'flat.yaml', *HOME]) == 1
    assert 'flat.plan.yaml is there already' in capsys.readouterr().err
    assert (folder / 'flat.plan.yaml').read_text() == 'mine'
    assert main(['map', 'flat.yaml', *SOON, '--overwrite']) == 0


@pytest.mark.parametrize(('words', 'complaint'), [
    (['none.yaml'], 'none.yaml: cannot be read'),
    (['flat.pgm'], 'flat.pgm: this is a picture, expected a map or plan file; for the picture of '
                   'a map of nav2, type mnm_ros map flat.yaml'),
    (['flat.yaml', '--mask', 'flat.pgm'], 'flat.pgm: this is a picture, expected a map file; '),
    ([SCENARIO], 'this is a scenario, expected a map of nav2 or a plan; mnm_ros explore '),
    (['flat.yaml', '--mask', SCENARIO], 'this is a scenario, expected a map of nav2; mnm_ros '),
    (['flat.yaml', '--robot-radius', '2'], 'no place of the map has 2.05 m around'),
    (['flat.yaml', '--cells', '--robot-radius', '2', '--cell', '5'], 'no place of the map has'),
    (['flat.yaml', '--cell', '0.5'], 'argument --cell: only allowed with --cells'),
    (['flat.yaml', '--specks', '0', '0'], 'argument --specks: only allowed with --cells'),
    (['flat.yaml', '--graph', 'none.geojson'], 'none.geojson: cannot be read'),
    (['flat.yaml', '--graph', 'flat.yaml'], 'argument --graph: flat.yaml, expected a name that'),
    (['flat.yaml', '--graph', 'none.geojson', '--home', '0', '0'],
     'argument --home: not allowed with --graph'),
    (['flat.yaml', '--cells', '--graph', 'none.geojson'], '--graph: only allowed for a place'),
    (['flat.yaml', '--cells', '--spacing', '1'], '--spacing: only allowed for a place graph'),
    (['flat.yaml', '--output', 'graph.yaml'], 'argument --output: graph.yaml, expected a name'),
    (['flat.geojson'], 'flat.geojson is a route graph, expected a map or a plan; mnm_ros explore'),
    (['flat.yaml', '--home', '9'], 'argument --home: 1 numbers, expected X Y'),
    (['flat.yaml', '--room', 'kitchen', '0', 'y'], "argument --room: 'y', expected a number"),
    (['flat.yaml', '--keep-out', 'stairs', '0', '0', '1', '1'], "'stairs' has 4 numbers"),
    (['flat.yaml', '--keep-out', 'stairs', *'1234y6'], "--keep-out: 'y', expected a number"),
    (['flat.yaml', '--mask', 'none.yaml'], 'none.yaml: cannot be read'),
    (['flat.yaml', '--home', 'nan', '0'], "--home: 'nan', expected a number from -1e+08"),
    (['flat.yaml', '--room', 'kit\u202echen', '0', '0'],
     "argument --room: 'kit\\u202echen', expected a name of 1 to 60 printable"),
    (['flat.yaml', '--door', 'a\nb', '0', '0', '1', '1'], "--door: 'a\\nb', expected a name"),
    (['flat.yaml', '--room', 'a', '0', '0', '--room', 'a', '1', '1'], "--room: 'a' twice"),
    (['flat.yaml', '--keep-out', 'lake', *['1'] * 20_002],
     '--keep-out: 10,001 corners, expected at most 10,000'),
    *((['flat.yaml', *cells, *option, '50', '50', *more],
       f'argument {" ".join(option)}: 50, 50 is outside the map, whose known part has x from '
       '-1.10 to 5.10 and y from -1.60 to 1.60; expected a point there')
      for cells in ((), ('--cells',)) for option, more in (
          (('--home',), ()), (('--room', 'kitchen'), ()), (('--door', 'arch'), ('50', '50')))),
    (['flat.yaml', '--home', '2', '1.5', '--robot-radius', '1'], 'expected one at most 1 m away'),
    (['flat.yaml', '--cells', '--cell', '0.2'], 'cells of 0.2 m, expected a side of at least'),
])
def test_what_is_wrong_is_said(
        words: list[str], complaint: str, capsys: pytest.CaptureFixture) -> None:
    assert main(['map', *words]) == 1
    assert complaint in capsys.readouterr().err
    assert not {'turtlebot.yaml', 'flat.geojson', 'flat.svg'} & {*os.listdir()}


@pytest.mark.parametrize('cells', [(), ('--cells',)])
def test_a_hostile_picture_is_refused_at_once(
        folder: Path, capsys: pytest.CaptureFixture, cells: tuple[str, ...]) -> None:
    (folder / 'flat.pgm').write_bytes(b'P5\n10000 10000\n255\n')    # and nothing else
    assert main(['map', 'flat.yaml', *cells]) == 1
    assert 'found 10000 x 10000 pixels, expected at most 50,000,000' in capsys.readouterr().err
    (folder / 'flat.pgm').unlink()
    os.mkfifo(folder / 'flat.pgm')
    assert main(['map', 'flat.yaml', *cells]) == 1
    assert 'no regular file' in capsys.readouterr().err
    assert {*os.listdir()} == {'flat.yaml', 'flat.pgm'}


def test_nothing_is_written_where_a_link_leads(
        folder: Path, tmp_path_factory: pytest.TempPathFactory,
        capsys: pytest.CaptureFixture) -> None:
    """A link whose end is not there yet would have made a file somewhere else."""
    elsewhere = tmp_path_factory.mktemp('elsewhere') / 'file'
    names = 'flat.plan.yaml', 'turtlebot.yaml', 'mask.yaml', 'mask.pgm', 'flat.plan.svg'
    for number, name in enumerate(names):
        for there in strength((number % 2 == 1,), (False, True)):
            if there:
                elsewhere.write_text('precious')
            (folder / name).symlink_to(elsewhere)
            assert main(['map', 'flat.yaml', *SOON, '--overwrite', '--write-mask', 'mask.yaml'],
                        ) == 1, name
            assert name in (error := capsys.readouterr().err) and 'is not followed' in error
            assert elsewhere.exists() is there
            assert not there or elsewhere.read_text() == 'precious'
            (folder / name).unlink()
            elsewhere.unlink(missing_ok=True)


def test_masks_that_are_there_are_not_overwritten(
        folder: Path, capsys: pytest.CaptureFixture) -> None:
    before = (folder / 'flat.pgm').read_bytes(), (folder / 'flat.yaml').read_bytes()
    assert main(['map', 'flat.yaml', *SOON, '--write-mask', 'flat.yaml']) == 1
    assert 'flat.yaml is there already' in capsys.readouterr().err
    assert before == ((folder / 'flat.pgm').read_bytes(), (folder / 'flat.yaml').read_bytes())


@pytest.mark.parametrize('words', [
    ['~nosuchuser/flat.yaml'], ['flat.yaml', '--mask', '~nosuchuser/mask.yaml'],
    ['flat.yaml', '--output', '~nosuchuser/flat.plan.yaml']])
def test_a_home_that_nobody_has_is_named(
        words: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as end:
        main(['map', *words])
    assert end.value.code == 2
    assert "'~nosuchuser' has no home folder on this machine" in capsys.readouterr().err


def test_parameters_name_the_plan_whatever_its_folder_is_called(
        folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = folder / "it's \\1 \"odd\""
    odd.mkdir()
    (folder / 'flat.yaml').rename(odd / 'flat.yaml')
    (folder / 'flat.pgm').rename(odd / 'flat.pgm')
    monkeypatch.chdir(odd)
    assert main(['map', 'flat.yaml', *SOON]) == 0
    given = yaml.safe_load((odd / 'turtlebot.yaml').read_text())
    for node in ('/**/grid_driver', '/**/diff_drive_sim'):
        assert given[node]['ros__parameters']['plan'] == str(odd / 'flat.plan.yaml')


@pytest.mark.parametrize('words', [
    ['--cell', '0'], ['--spacing', '0.2'], ['--radius', '0.5'], ['--battery', '0'],
    ['--robot-radius', 'x'], ['--yaw', 'x']])
def test_numbers_are_checked(words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(['map', 'flat.yaml', *words])
    assert end.value.code == 2
