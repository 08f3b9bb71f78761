# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

from mnm_ros.console.command_line import parse
from mnm_ros.console.options import StopCondition
from mnm_ros.simulation import physics, scenario
import pytest


def after(node: str, commands: dict[str, list[str]]) -> list[str]:
    command = commands[node]
    assert command[:3] == ['-m', f'mnm_ros.nodes.{node}', '--ros-args']
    assert command[3::2] == ['-p'] * (len(command[3:]) // 2)
    return command[4::2]


def test_defaults() -> None:
    options = parse([])
    assert options.scenario.name == 'two rooms'
    assert options.goal is None
    assert options.timeout is None
    assert after('explorer', options.commands()) == [
        'radius:=4.0', 'epsilon:=1.0', 'seed:=0',
        'actions:=["east", "west", "south", "north"]', 'preset:=onboard', 'delta:=0.1',
        "stop_dir:=''"]
    assert after('cmp_sim', options.commands())[:3] == ['radius:=4.0', 'epsilon:=1.0', 'seed:=0']


def test_everything_given() -> None:
    options = parse([
        'corridor', '--once', '--seed', '7', '--preset', 'paper', '--radius', '3',
        '--epsilon', '0.5', '--delta', '0.2', '--timeout', '9'])
    assert options.goal == StopCondition()
    assert options.timeout == 9
    given = after('explorer', options.commands())
    for assignment in (
            'radius:=3.0', 'epsilon:=0.5', 'seed:=7', 'preset:=paper', 'delta:=0.2'):
        assert assignment in given


def test_a_parameter_goes_to_the_node_that_has_it() -> None:
    commands = parse([
        '-p', 'latency:=0.01', '-p', 'step_retries:=2', '-p', 'explorer:record:=a.json'],
    ).commands()
    assert after('cmp_sim', commands)[-1] == 'latency:=0.01'
    assert after('explorer', commands)[-2:] == ['step_retries:=2', 'record:=a.json']


def test_a_language_is_that_of_the_explorer_and_the_page_and_of_the_terminal() -> None:
    options = parse(['--page', '--language', 'de'])
    assert options.language == 'de' and parse([]).language == 'en'
    for node in ('explorer', 'navigator', 'dashboard'):
        assert 'language:=de' in after(node, options.commands())
    assert 'language' not in str(after('cmp_sim', options.commands()))


def test_a_world_is_driven_by_a_mobile_robot() -> None:
    options = parse(['two_room_flat', '--changes', '2', '-p', 'slip:=0.1'])
    assert [*options.commands()] == ['diff_drive_sim', 'grid_driver', 'explorer']
    assert after('diff_drive_sim', options.commands())[-1] == 'slip:=0.1'
    assert 'home_x:=1.25' in after('grid_driver', options.commands())
    assert 'actions:=["east", "north", "west", "south"]' in after('explorer', options.commands())
    assert parse([str(options.world.path)]).world == options.world


@pytest.mark.parametrize('world', [(), ('two_room_flat',)])
def test_physics_for_a_robot_in_a_world(
        world: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physics, 'mujoco', physics)    # installed or not
    commands = parse([*world, '--physics', '--page', '-p', 'slip:=0.5']).commands()
    assert [*commands] == ['diff_drive_sim', 'grid_driver', 'explorer', 'navigator', 'dashboard']
    simulator, driver = (after(node, commands) for node in ('diff_drive_sim', 'grid_driver'))
    assert {'physics:=true', 'latency:=0.15', 'robot_radius:=0.17'} < {*simulator}
    assert f'{(world or ("furnished_flat",))[0]}.yaml' in simulator[1]
    assert simulator[-1] == 'slip:=0.5'
    assert {'declare_successors:=true', 'robot_radius:=0.17', 'max_speed:=0.3'} < {*driver}


def test_without_physics_mujoco_is_not_imported() -> None:
    code = ('import sys; from mnm_ros.console.command_line import parse; '
            'parse(["two_room_flat"]).commands(); print("mujoco" in sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          timeout=240, check=True)
    assert done.stdout == 'False\n'


def test_without_mujoco_there_is_no_physics(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(physics, 'mujoco', None)
    with pytest.raises(SystemExit):
        parse(['--physics'])
    assert 'argument --physics needs the package mujoco' in capsys.readouterr().err


def test_the_cmp_behind_a_world() -> None:
    """Cells are numbered from the lower left corner, as grid_driver does."""
    (opened, closed, _) = (setting.cmp for setting in parse(['two_room_flat']).scenario.settings)
    home, door = 3 * 7 + 2, 3 * 7 + 3
    assert opened.start == closed.start == home
    assert opened.transitions(home, 0) == ((door, 1.0),)
    assert closed.transitions(home, 0) == ((home, 1.0),)
    assert opened.transitions(home, 2) == ((home - 1, 1.0),)
    assert opened.transitions(home - 1, 3) == ((home - 8, 1.0),)
    assert opened.transitions(home, 1) == opened.transitions(home, 3) == ((home, 1.0),)


def test_scenario_by_path(tmp_path: Path) -> None:
    path = tmp_path / 'my own.yaml'
    path.write_text(scenario.load('corridor').path.read_text())
    commands = parse([str(path)]).commands()
    assert after('cmp_sim', commands)[-1] == f'scenario:="{path}"'


def test_ones_own_robot_gets_an_explorer_with_what_was_given(tmp_path: Path) -> None:
    path = tmp_path / 'my_robot.yaml'
    path.touch()
    options = parse(['--robot', '--params-file', str(path), '--radius', '3', '--changes', '7',
                     '-p', 'actions:=[up, down]', '--namespace', 'robot_1',
                     '--ros-args', '-r', 'action:=order'])
    assert (options.scenario, options.world, options.goal) == (None, None, StopCondition(7))
    assert options.commands() == {'explorer': [
        '-m', 'mnm_ros.nodes.explorer', '--ros-args', '-r', '__ns:=/robot_1',
        '--params-file', str(path), '-p', 'radius:=3.0', '-p', 'actions:=[up, down]',
        '--ros-args', '-r', 'action:=order']}


def test_a_page_comes_with_a_navigator() -> None:
    options = parse(['corridor', '--page', '-p', 'port:=8081'])
    assert [*options.commands()] == ['cmp_sim', 'explorer', 'navigator', 'dashboard']
    assert after('dashboard', options.commands()) == ['port:=8081']
    assert options.address == 'page at http://127.0.0.1:8081; ' and parse([]).address == ''
    own = parse(['--robot', '--page', '-p', 'actions:=[up, down]'])
    assert [*own.commands()] == ['explorer', 'navigator', 'dashboard']
    assert own.commands()['explorer'][-1] == 'actions:=[up, down]'


def test_a_namespace_is_that_of_all_nodes() -> None:
    commands = parse(['corridor', '--namespace', '/robot_1/']).commands()
    assert [*commands] == ['cmp_sim', 'explorer']
    assert all(words[2:5] == ['--ros-args', '-r', '__ns:=/robot_1'] for words in commands.values())


def test_a_fleet_has_simulators_of_its_own() -> None:
    options = parse(['corridor', '--robots', '3', '--page', '--seed', '7', '-p', 'latency:=0.01'])
    commands = options.commands()
    assert [*commands] == ['r1/cmp_sim', 'r2/cmp_sim', 'r3/cmp_sim', 'explorer', 'dashboard']
    assert commands['r3/cmp_sim'][:5] == [
        '-m', 'mnm_ros.nodes.cmp_sim', '--ros-args', '-r', '__ns:=/r3']
    assert {'seed:=9', 'latency:=0.01'} <= {*commands['r3/cmp_sim']}
    assert 'robots:=["r1", "r2", "r3"]' in after('explorer', commands)
    assert options.title == 'corridor, 3 robots'
    driven = parse(['two_room_flat', '--robots', 'a deck/b', '--namespace', 'n', '--changes', '1']
                   ).commands()
    assert [*driven] == ['a/diff_drive_sim', 'a/grid_driver', 'deck/b/diff_drive_sim',
                         'deck/b/grid_driver', 'explorer']
    assert '__ns:=/n/deck/b' in driven['deck/b/grid_driver']
    assert 'publish_clock:=false' in driven['a/diff_drive_sim']
    own = parse(['--robot', '--robots', 'a b']).commands()
    assert own == {'explorer': ['-m', 'mnm_ros.nodes.explorer', '--ros-args',
                                '-p', 'robots:=["a", "b"]']}


@pytest.mark.parametrize('arguments, message', [
    (['--robots', 'r1 r1'], "argument --robots: robots is 'r1 r1', expected 1 to 100 for r1, r2"),
    (['--robots', '101'], "argument --robots: robots is '101', expected 1 to 100\n"),
    (['--robots', 'r_ s'], "argument --robots: robots is 'r_ s', expected 1 to 100 for r1, r2"),
    (['--robots', '2', '--changes', '1'], 'not allowed with --robots but in a world'),
    (['--robot', '-p', 'robots:=[r1]'], 'argument of its own'),
    (['nowhere'], 'two_rooms'),
    (['--radius', '0.5'], 'radius is 0.5'),
    (['--radius', 'far'], 'far'),
    (['--preset', 'fast'], 'onboard'),
    (['--seed', '-1'], 'at least 0'),
    (['--changes', '0'], 'at least 1'),
    (['--changes', '9'], 'at most 2'),
    (['grid_3x3', '--changes', '1'], 'has only one setting'),
    (['--namespace', 'robot 1'], "namespace is 'robot 1', expected names of letters"),
    (['corridor', '--robot'], 'not allowed with corridor'),
    (['--params-file', 'my_robot.yaml'], 'only allowed with --robot'),
    (['--robot', '--params-file', 'nowhere.yaml'], 'nowhere.yaml, expected a file'),
    (['--robot', '-p', 'latency:=1.0'], 'latency is no parameter of explorer'),
    (['-p', 'actions:=[east, west]'], 'argument of its own'),
    (['--once', '--changes', '1'], 'not allowed with'),
    (['--timeout', '0'], 'above 0'),
    (['-p', 'latency=1'], 'expected name:=value'),
    (['-p', 'radius:=5.0'], 'argument of its own'),
    (['-p', 'lattency:=1.0'],
     'lattency is no parameter of explorer or cmp_sim; did you mean latency?'),
    (['-p', 'cmp_sin:latency:=1.0'], 'argument -p: no node cmp_sin is started, expected explorer '
                                     'or cmp_sim; did you mean cmp_sim?'),
    (['two_room_flat', '-p', 'max_speed:=0.2'], 'grid_driver:max_speed or diff_drive_sim'),
    (['-p', 'record:=a.json'], 'explorer:record'),
    (['nonexistent'], "no scenario and no world is called 'nonexistent', expected a path, a "
                      'scenario (broken_wheel, '),
    (['none'], 'or a world (furnished_flat, one_room, two_room_flat)'),
    (['two_roms'], 'two_room_flat); did you mean two_rooms?'),
    (['Corridor'], 'two_room_flat); did you mean corridor?'),
    (['none.yaml'], 'none.yaml: there is no such file, expected a scenario, a world, a plan or a '
                    'route graph\n'),
    (['two_roms.yaml'], 'or a route graph; did you mean two_rooms?'),
    (['my.rooms'], 'my.rooms: there is no such file, expected a scenario, a world, '),
    (['none.tmap2.yaml'], 'there is no such file, expected a route graph of LCAS'),
    (['none.geojson'], 'there is no such file, expected a route graph as GeoJSON'),
    (['none.plan.yaml'], 'there is no such file, expected a plan'),
    (['no/none'], 'no such file, expected a scenario, a world, a plan or a route graph'),
    (['--robot', '--physics'], '--physics: not allowed with --robot'),
    (['corridor', '--physics'], '--physics: not allowed with corridor, expected a world'),
])
def test_bad_arguments(
        arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        parse(arguments)
    assert ending.value.code == 2
    told = capsys.readouterr().err
    assert message in told and 'usage:' not in told
    assert told.endswith('explore --help: all arguments\n')


MAP = 'image: a.pgm\nresolution: 0.05\n'


@pytest.mark.parametrize(('name', 'data', 'message'), [
    ('house.yaml', MAP, 'house.yaml: this is a map of nav2, expected a scenario, a world, a plan, '
     'a route graph or a graph of Open-RMF; mnm_ros map {path} makes a route graph of the map'),
    ('house.pgm', 'P5 1 1 255 a', 'this is a picture, expected a scenario, world, plan or route '
     'graph file; for the picture of a map of nav2, type mnm_ros map FILE.yaml'),
    ('camera.py', 'import rclpy\n', 'this is a Python program, expected a scenario, world, plan '
     'or route graph file; for a robot side, start python3 {path}, then mnm_ros explore --robot'),
    ('mine.yaml', '/**/explorer: {ros__parameters: {radius: 4.0}}', 'this is a parameter file, '),
])
def test_a_file_of_another_kind_is_named(
        name: str, data: str, message: str, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_text(data)
    with pytest.raises(SystemExit):
        parse([str(path)])
    assert message.format(path=path) in capsys.readouterr().err


def test_help_lists_the_scenarios_and_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        parse(['--help'])
    assert ending.value.code == 0
    output = capsys.readouterr().out
    assert 'endless_corridor' in output
    assert 'exit status' in output
    said = ' '.join(output.split())
    assert 'without --robots start the navigator' in said
    assert 'If ROS_DOMAIN_ID is not set, a simulation chooses a ROS domain of its own' in said
    assert max(map(len, output.splitlines())) <= 100
