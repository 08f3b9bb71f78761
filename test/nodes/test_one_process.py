# SPDX-License-Identifier: Apache-2.0

"""Several nodes in one process, each with its own name space and its own parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
import re
from typing import Any

from faulty_robot import as_steps, learns
from mnm_ros import messages
from mnm_ros.messages import PolicySet
from mnm_ros.nodes.cmp_sim import CmpSim
from mnm_ros.nodes.diff_drive_sim import DiffDriveSim
from mnm_ros.nodes.explorer import Explorer
from mnm_ros.nodes.grid_driver import GridDriver
from mnm_ros.nodes.gym_side import GymSide
from mnm_ros.nodes.navigator import Navigator
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from navigating import Operator
from node_processes import Done, PAUSE, Peer, read_counts
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import thorough

Make = Callable[..., Any]


@pytest.fixture
def make(peer: Peer) -> Iterator[Make]:
    """Make nodes that are spun by the executor of the peer."""
    nodes: list[Node] = []

    def make_node(kind: type, namespace: str = '', **parameters: object) -> Node:
        node = kind(context=peer.context, namespace=namespace or None, parameter_overrides=[
            Parameter(name, value=value) for name, value in parameters.items()])
        nodes.append(node)
        peer.spin_also(node)
        return node

    yield make_node
    for node in nodes:
        if hasattr(node, 'close'):
            node.close()
        node.destroy_node()


@thorough(shown_by=(
    'nodes/test_one_process.py::test_the_process_shown '
    'nodes/test_one_process.py::test_the_command_that_runs_several_nodes_in_one_process '
    'nodes/test_flat.py::test_two_robots_side_by_side'))
def test_explored_and_used_by_three_nodes_in_this_process(
        make: Make, peer: Peer, scenario: str, tmp_path: Path) -> None:
    operator = Operator(peer)
    simulator = make(CmpSim, scenario=scenario, record=str(tmp_path / 'simulator'))
    explorer = make(Explorer, actions=['east', 'west'], record=str(tmp_path / 'explorer'),
                    step_timeout=2.0, step_retries=1, delta=0.1)
    make(Navigator, dwell=0.0)    # exploration goes on at once
    explorer.autostart()
    policies = learns(peer)
    assert judge(load(scenario).settings[0].cmp, PolicySet.from_msg(policies[-1]), 4.0, 1.0).ok
    operator.wait_for_navigator()
    assert operator.go(2).startswith('reached 2 in ')
    assert peer.call(SetBool, 'stop', SetBool.Request(data=True)).success
    peer.wait_for(explorer.leave, 'that the robot is left')
    explorer.close()
    simulator.close()
    counted, played = (read_counts(tmp_path / name) for name in ('explorer', 'simulator'))
    assert as_steps(counted) and not as_steps(counted) - as_steps(played)


@thorough(shown_by=(
    'nodes/test_flat.py::test_two_robots_side_by_side '
    'nodes/test_one_process.py::test_the_process_shown '
    'nodes/test_one_process.py::test_every_node_takes_node_arguments'))
def test_two_robots_do_not_meet(make: Make, peer: Peer, scenario: str) -> None:
    explorers = []
    for namespace in ('one', 'two'):
        make(CmpSim, namespace, scenario=scenario)
        explorers.append(make(Explorer, namespace, actions=['east', 'west']))
        explorers[-1].autostart()
    for namespace in ('one', 'two'):
        heard = peer.listen(Int64MultiArray, f'/{namespace}/policies')
        peer.wait_for(lambda heard=heard: heard and len(heard[-1].data) > 3, 'a hypothesis')
    for explorer in explorers:
        peer.wait_for(explorer.leave, 'that the robot is left')


@pytest.mark.parametrize(('kind', 'parameters'), [
    (CmpSim, {'scenario': 'corridor'}), (Navigator, {}), (GridDriver, {}),
    (DiffDriveSim, {'world': 'one_room'}),
    pytest.param(GymSide, {'environment': 'FrozenLake-v1'}, marks=pytest.mark.skipif(
        find_spec('gymnasium') is None, reason='gymnasium is not installed'))])
def test_every_node_takes_node_arguments(
        make: Make, kind: type, parameters: dict[str, object]) -> None:
    node = make(kind, 'robot_1', **parameters)
    assert node.get_namespace() == '/robot_1'
    for name, value in parameters.items():
        assert node.get_parameter(name).value == value


def test_the_process_shown(start: Callable, peer: Peer, tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / 'docs' / 'howto' / 'one_process.md'
    code, = re.findall(r'```python\n(.*?)```', page.read_text(encoding='utf-8'), re.DOTALL)
    path = tmp_path / 'shown.py'
    path.write_text(code)
    start(str(path))
    learns(peer)


TOGETHER = ('run', 'explorer', 'cmp_sim', 'navigator', '--namespace', '/r', '--ros-args')


def test_the_command_that_runs_several_nodes_in_one_process(
        begin_command: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    """Each has its own parameters, and the robot is left before the robot side."""
    given = tmp_path / 'params.yaml'
    given.write_text('/**: {ros__parameters: {seed: 2}}\n'
                     '/**/explorer: {ros__parameters: {actions: [east, west], radius: 3.0}}\n')
    records = [tmp_path / name for name in ('explorer', 'simulator')]
    process = begin_command(
        *TOGETHER, '--params-file', str(given), '-p', f'cmp_sim:scenario:={scenario}',
        '-p', f'explorer:record:={records[0]}', '-p', f'cmp_sim:record:={records[1]}',
        '-p', f'cmp_sim:latency:={PAUSE}', '-p', 'explorer:radius:=4.0',
        '-p', 'explorer:on_shutdown:=reset')
    policies = peer.listen(Int64MultiArray, '/r/policies')
    results = peer.listen(String, '/r/goal_result')
    peer.wait_for(lambda: policies and PolicySet.from_msg(policies[-1]).targets, 'a hypothesis')
    goal = peer.node.create_publisher(Int64, '/r/goal', messages.STEP)
    peer.wait_for(goal.get_subscription_count, 'the navigator')
    peer.wait_for(lambda: goal.publish(Int64(data=0)) or peer.spin(0.2) or results, 'a result')
    assert process.stop() == 0, process.errors
    counted, played = map(read_counts, records)
    assert as_steps(counted) and not as_steps(counted) - as_steps(played)


def test_a_bad_parameter_of_one_of_them_ends_all(command: Callable[..., Done]) -> None:
    done = command(
        *TOGETHER, '-p', 'cmp_sim:scenario:=corridor', '-p', 'explorer:actions:=[east, west]',
        '-p', 'explorer:radius:=0.5')
    assert done.returncode == 1
    assert "parameter 'radius' is 0.5, expected" in done.stderr
    assert 'Traceback' not in done.stderr
