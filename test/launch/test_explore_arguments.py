# SPDX-License-Identifier: Apache-2.0

"""What ``explore.launch.py`` makes of its arguments and of the parameter file."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from ament_index_python.packages import PackageNotFoundError  # noqa: E402, I100
from launch import LaunchContext  # noqa: E402
from launch.utilities import perform_substitutions  # noqa: E402
from loading import assert_described, context, load, parameters  # noqa: E402
from mnm_ros import launching  # noqa: E402
from mnm_ros.parameters.params_file import ParameterFile  # noqa: E402


def nodes(**arguments: str) -> list:
    """Make the nodes as launch does, with the defaults of the arguments not given."""
    explore = load('explore')
    return explore._nodes(context(explore, **arguments))


def params_file(folder: Path, text: str) -> str:
    path = folder / 'params.yaml'
    path.write_text(text, encoding='utf-8')
    return str(path)


def test_every_argument_has_a_description() -> None:
    assert_described(load('explore'))


def test_the_simulated_robot_is_optional(tmp_path: Path) -> None:
    named = params_file(tmp_path, '/**/explorer: {ros__parameters: {actions: [east]}}')
    assert len(nodes(params_file=named)) == 2
    assert len(nodes(params_file=named, sim='false')) == 1


def test_the_navigator_is_started_on_request(tmp_path: Path) -> None:
    named = params_file(tmp_path, '/**/explorer: {ros__parameters: {actions: [east]}}')
    for sim in ('true', 'false'):
        before = nodes(params_file=named, sim=sim)
        after = nodes(params_file=named, sim=sim, navigator='true')
        assert [node.node_executable for node in after] == [
            *(node.node_executable for node in before), 'navigator']


def test_the_base_is_an_argument() -> None:
    module = load('explore')
    for given in ({'base': 'ucb_explore'}, {'base': 'ucb_explore', 'preset': 'paper'}):
        made = context(module, **given)
        explorer, _ = module._nodes(made)
        assert given.items() <= parameters(explorer, made).items()
    explorer, _ = module._nodes(context(module))
    assert 'base' not in parameters(explorer, made)


def test_all_nodes_in_one_process_on_request(tmp_path: Path) -> None:
    module = load('explore')
    made = context(module, one_process='true', navigator='true', namespace='r', seed='3',
                   scenario='corridor', autostart='false',
                   params_file=params_file(tmp_path, '/**: {ros__parameters: {radius: 3.0}}'))
    process, = module._nodes(made)
    words = [perform_substitutions(made, part) for part in process.cmd]
    assert words[1:7] == ['-m', 'mnm_ros', 'run', 'explorer', 'cmp_sim', 'navigator']
    assert process._Node__node_namespace == '/r'
    assert {'explorer:seed:=3', 'cmp_sim:seed:=3', 'navigator:seed:=3',
            'explorer:autostart:=false', 'cmp_sim:scenario:="corridor"',
            'explorer:actions:=["east", "west"]'} <= set(words)
    assert not any('use_sim_time' in word or 'preset' in word for word in words)


def test_each_robot_of_a_fleet_has_a_simulator_in_its_namespace() -> None:
    module = load('explore')
    made = context(module, robots='3', namespace='hall', seed='5', dashboard='true')
    explorer, *simulators, page = module._nodes(made)
    given = explorer._Node__ros_arguments
    assert 'robots:=["r1", "r2", "r3"]' in given and explorer._Node__node_namespace == '/hall'
    assert page._Node__node_namespace == '/hall'
    assert [node._Node__node_namespace for node in simulators] == [
        '/hall/r1', '/hall/r2', '/hall/r3']
    assert [parameters(node, made)['seed'] for node in simulators] == [5, 6, 7]
    # Each counts the steps at which what the explorer publishes is not good enough.
    assert all('policies:=/hall/policies' in node._Node__ros_arguments for node in simulators)
    assert not any('policies' in word for word in given)


def test_a_fleet_may_be_named_in_the_parameters_instead(tmp_path: Path) -> None:
    path = params_file(tmp_path, """
        /**/explorer: {ros__parameters: {actions: [east], robots: [a, deck/b]}}
        /**/cmp_sim: {ros__parameters: {seed: 4}}""")
    module = load('explore')
    made = context(module, params_file=path)
    _, *simulators = module._nodes(made)
    assert [node._Node__node_namespace for node in simulators] == ['/a', '/deck/b']
    assert [parameters(node, made)['seed'] for node in simulators] == [4, 5]
    assert len(nodes(params_file=path, sim='false')) == 1


@pytest.mark.parametrize(('given', 'said'), [
    ({'robots': 'r1 r1'}, "robots is 'r1 r1', expected 1 to 100 for r1, r2"),
    ({'robots': '0'}, "robots is '0', expected 1 to 100"),
    ({'robots': '/r1'}, "robots is '/r1', expected 1 to 100 for"),
    ({'robots': '2', 'navigator': 'true'}, 'navigator is true with the robots r1 r2, expected')])
def test_fleets_that_cannot_be(given: dict[str, str], said: str) -> None:
    with pytest.raises(RuntimeError) as error:
        nodes(**given)
    assert said in str(error.value)


def test_one_process_for_each_namespace_of_a_fleet() -> None:
    module = load('explore')
    made = context(module, one_process='true', robots='r1 r2', scenario='corridor')
    processes = module._nodes(made)
    lines = [[perform_substitutions(made, part) for part in process.cmd] for process in processes]
    assert [process._Node__node_namespace for process in processes] == ['/', '/r1', '/r2']
    assert [words[3:5] for words in lines] == [
        ['run', 'explorer'], ['run', 'cmp_sim'], ['run', 'cmp_sim']]
    assert 'explorer:robots:=["r1", "r2"]' in lines[0] and 'cmp_sim:seed:=1' in lines[2]
    assert ['policies:=/policies' in words for words in lines] == [False, True, True]


def test_without_simulation_the_robot_side_may_name_the_actions(tmp_path: Path) -> None:
    path = params_file(tmp_path, '/b/explorer: {ros__parameters: {actions: [east]}}')
    explorer, = nodes(params_file=path, sim='false', namespace='a')
    assert explorer.node_executable == 'explorer'


def test_the_page_is_served_on_request(tmp_path: Path) -> None:
    named = params_file(tmp_path, '/**/explorer: {ros__parameters: {actions: [east]}}')
    for sim in ('true', 'false'):
        *_, page = nodes(params_file=named, sim=sim, dashboard='true', dashboard_port='8081')
        assert page.node_executable == 'dashboard'
        made = context(load('explore'), dashboard_port='8081')
        assert parameters(page, made)['port'] == 8081


@pytest.mark.parametrize(('arguments', 'frame'), [
    ({'scenario': 'two_rooms'}, 'mnm_states'), ({'scenario': 'corridor'}, 'mnm_states'),
    ({'sim': 'false'}, 'map'), ({'sim': 'false', 'rviz_frame': 'mnm_states'}, 'mnm_states')])
def test_rviz_is_started_on_request_in_the_frame_of_the_states(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict, frame: str) -> None:
    named = params_file(tmp_path, '/**/explorer: {ros__parameters: {actions: [east]}}')
    monkeypatch.setattr(launching, 'get_package_prefix', lambda name: f'/opt/{name}')
    *_, viewer = nodes(params_file=named, rviz='true', namespace='a', **arguments)
    assert viewer.node_package == viewer.node_executable == 'rviz2'
    given = [perform_substitutions(LaunchContext(), part) for part in viewer.cmd[1:5]]
    assert Path(given[1]).is_file() and given[2:] == ['-f', frame]


def test_rviz_has_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)
    monkeypatch.setattr(launching, 'get_package_prefix', missing)
    with pytest.raises(RuntimeError, match='expected the package rviz2'):
        nodes(rviz='true')
    assert len(nodes()) == 2


@pytest.mark.parametrize(('text', 'expected'), [
    ('/**: {ros__parameters: {seed: 1}}', 1),
    ('/**/explorer: {ros__parameters: {seed: 1}}', 1),
    ('/a/explorer: {ros__parameters: {seed: 1}}', 1),
    ('a: {explorer: {ros__parameters: {seed: 1}}}', 1),
    ('/*/explorer: {ros__parameters: {seed: 1}}', 1),
    ('/**/cmp_sim: {ros__parameters: {seed: 1}}', None),
    ('/explorer: {ros__parameters: {seed: 1}}', None),
    ('/**/explorer: {ros__parameters: {radius: 1.0}}', None)])
def test_entries_of_a_parameter_file(tmp_path: Path, text: str, expected: int | None) -> None:
    configured = ParameterFile(params_file(tmp_path, text), '/a')
    assert configured.value('explorer', 'seed') == expected


@pytest.mark.parametrize(('given', 'expected'), [
    ('', None), ('on_shutdown: rest, shutdown_timeout: 30.0', None),
    ('on_shutdown: reset', 65.0), ('on_shutdown: reset, shutdown_timeout: 0.0', 5.0),
    ('on_shutdown: reset, shutdown_timeout: 100', 105.0),
    ('on_shutdown: reset, shutdown_timeout: soon', 65.0)])    # the explorer will refuse it
def test_an_explorer_on_its_way_home_has_the_time_it_needs(
        tmp_path: Path, given: str, expected: float | None) -> None:
    path = params_file(
        tmp_path, f'/**/explorer: {{ros__parameters: {{actions: [east], {given}}}}}')
    module = load('explore')
    for before in ({}, {'sigterm_timeout': '7'}):
        made = context(module, params_file=path, sim='false', navigator='true', **before)
        explorer, navigator = module._nodes(made)
        usual = before.get('sigterm_timeout', '5')
        wanted = usual if before or expected is None else str(expected)
        assert perform_substitutions(made, explorer.sigterm_timeout) == wanted
        assert perform_substitutions(made, navigator.sigterm_timeout) == usual


def test_an_entry_with_nothing_below_is_refused_as_ros_does(tmp_path: Path) -> None:
    path = params_file(tmp_path, '/**: {ros__parameters: {}}\nexplorer:')
    with pytest.raises(ValueError, match=f"{path}:2: found nothing below 'explorer', expected "):
        nodes(params_file=path)
