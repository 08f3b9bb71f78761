# SPDX-License-Identifier: Apache-2.0

"""What ``robot.launch.py`` and ``robots.launch.py`` make of their arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launch import LaunchContext  # noqa: E402, I100
from launch.actions import IncludeLaunchDescription  # noqa: E402
from launch.utilities import perform_substitutions  # noqa: E402
from loading import assert_described, context, load, parameters, pushed  # noqa: E402


@pytest.mark.parametrize('name', ['robot', 'robots'])
def test_every_argument_has_a_description(name: str) -> None:
    assert_described(load(name))


@pytest.mark.parametrize(('given', 'executables'), [
    ({}, ['explorer', 'grid_driver', 'diff_drive_sim']),
    ({'sim': 'false', 'navigator': 'true'}, ['explorer', 'grid_driver', 'navigator'])])
def test_the_simulation_is_optional(given: dict[str, str], executables: list[str]) -> None:
    module = load('robot')
    nodes = module._robot(context(module, **given))
    assert [node.node_executable for node in nodes] == executables


def test_a_route_graph_has_a_driver_of_its_own(tmp_path: Path) -> None:
    graph = tmp_path / 'line.geojson'
    graph.write_text(json.dumps({'features': [
        *({'properties': {'id': x}, 'geometry': {'type': 'Point', 'coordinates': [x, 0]}}
          for x in (0, 4)),
        *({'properties': {'id': 9 + start, 'startid': start, 'endid': 4 - start},
           'geometry': {'type': 'LineString'}} for start in (0, 4))]}))
    module = load('robot')
    made = context(module, graph=str(graph))
    nodes = module._robot(made)
    assert [node.node_executable for node in nodes] == [
        'explorer', 'route_driver', 'diff_drive_sim']
    assert all(parameters(node, made)['graph'] == str(graph) for node in nodes[1:])


@pytest.mark.parametrize(('given', 'expected'), [
    ({}, True), ({'clock': 'false'}, False), ({'use_sim_time': 'false'}, False),
    ({'clock': 'false', 'use_sim_time': 'true'}, True), ({'sim': 'false'}, None),
    ({'sim': 'false', 'use_sim_time': 'true'}, True)])
def test_all_nodes_take_the_time_from_the_same_clock(
        given: dict[str, str], expected: bool | None) -> None:
    module = load('robot')
    made = context(module, **given)
    explorer, driver, *_ = module._robot(made)
    for node in (explorer, driver):
        assert parameters(node, made).get('use_sim_time') is expected


def test_all_nodes_in_one_process_on_request() -> None:
    module = load('robot')
    made = context(module, one_process='true', namespace='r')
    process, = module._robot(made)
    words = [perform_substitutions(made, part) for part in process.cmd]
    assert words[4:7] == ['explorer', 'grid_driver', 'diff_drive_sim']
    assert {'explorer:use_sim_time:=true', 'grid_driver:use_sim_time:=true',
            'diff_drive_sim:publish_clock:=true', 'diff_drive_sim:real_time_factor:=0.0'
            } <= set(words)
    assert 'diff_drive_sim:use_sim_time:=true' not in words


@pytest.mark.parametrize(('sim', 'executables'), [
    ('true', ['explorer', 'grid_driver', 'diff_drive_sim', 'grid_driver', 'diff_drive_sim']),
    ('false', ['explorer', 'grid_driver', 'grid_driver'])])
def test_each_robot_of_a_fleet_has_its_own_driver_and_time(
        sim: str, executables: list[str]) -> None:
    module = load('robot')
    made = context(module, robots='2', sim=sim)
    nodes = module._robot(made)
    assert [node.node_executable for node in nodes] == executables
    assert [node._Node__node_namespace for node in nodes] == (
        ['/', '/r1', '/r1', '/r2', '/r2'] if sim == 'true' else ['/', '/r1', '/r2'])
    for number, node in enumerate(nodes[2::2]):
        given = parameters(node, made)
        if sim == 'true':
            assert given['publish_clock'] is False and given['seed'] == number
    assert parameters(nodes[0], made).get('use_sim_time') is (False if sim == 'true' else None)


@pytest.mark.parametrize('each', ['explore', 'robot'])
def test_every_robot_takes_it_as_asked(each: str) -> None:
    module = load('robots')
    group, _ = module._robots(context(
        module, each=f'{each}.launch.py', use_sim_time='true', one_process='true'))
    include, = (action for action in group.get_sub_entities()
                if isinstance(action, IncludeLaunchDescription))
    passed_on = dict(include.launch_arguments)
    assert passed_on['use_sim_time'] == passed_on['one_process'] == 'true'


def test_each_robot_has_a_namespace() -> None:
    module = load('robots')
    assert len(module._robots(context(module, robots='a, b c'))) == 3


def test_each_robot_has_a_page_on_a_port_of_its_own() -> None:
    module = load('robots')
    groups = module._robots(context(module, dashboard='true', dashboard_port='9000'))
    passed_on = [dict(action.launch_arguments) for group in groups
                 for action in group.get_sub_entities()
                 if isinstance(action, IncludeLaunchDescription)]
    assert [(given['dashboard'], given['dashboard_port']) for given in passed_on] == [
        ('true', '9000'), ('true', '9001')]
    with pytest.raises(RuntimeError, match="dashboard_port is 'x', expected a number"):
        module._robots(context(module, dashboard_port='x'))


@pytest.mark.parametrize(('name', 'given', 'expected'), [
    ('explore', {}, ['/outer'] * 2),
    ('explore', {'namespace': 'a'}, ['/outer/a'] * 2),
    ('explore', {'namespace': '/a/'}, ['/a'] * 2),    # as for nodes, '/' means the root
    ('explore', {'namespace': 'outer'}, ['/outer'] * 2),    # passed on, as by nav2's bringups
    ('explore', {'robots': 'k h'}, ['/outer', '/outer/k', '/outer/h']),
    ('explore', {'robots': 'k h', 'one_process': 'true'}, ['/outer', '/outer/k', '/outer/h']),
    ('robot', {'one_process': 'true'}, ['/outer']),
    ('robot', {'dashboard': 'true'}, ['/outer'] * 4),
    ('robots', {}, ['/outer/robot_1'] * 2 + ['/outer/robot_2'] * 2),
    ('robots', {'robots': '/a b'}, ['/a'] * 2 + ['/outer/b'] * 2)])
def test_nodes_are_in_the_namespace_that_is_pushed(
        name: str, given: dict[str, str], expected: list[str]) -> None:
    assert pushed('outer', name, **given) == expected


def test_parameters_are_those_of_the_namespace_that_is_pushed(tmp_path: Path) -> None:
    path = tmp_path / 'params.yaml'
    path.write_text('/outer/a/explorer: {ros__parameters: {actions: [east], robots: [k, h]}}')
    assert pushed('outer', 'explore', namespace='a', params_file=str(path)) == [
        '/outer/a', '/outer/a/k', '/outer/a/h']


def test_what_was_given_to_all_robots_is_not_seen_by_the_launch_file_of_one() -> None:
    group, _ = load('robots')._robots(context(load('robots')))
    made = LaunchContext()
    given = {'params_file': '', 'preset': 'paper', 'ros_namespace': '/a', 'sigterm_timeout': '7'}
    made.launch_configurations.update(given)
    (_, _, forget, *_) = group.get_sub_entities()
    forget.visit(made)
    assert made.launch_configurations == {'ros_namespace': '/a', 'sigterm_timeout': '7'}


@pytest.mark.parametrize('robots', ['', 'a a'])
def test_namespaces_must_be_distinct(robots: str) -> None:
    module = load('robots')
    with pytest.raises(RuntimeError, match=f"robots is '{robots}', expected distinct"):
        module._robots(context(module, robots=robots))
