# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Several nodes in one process, each with its own name space and its own parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
import re
from typing import Any

from faulty_robot import as_steps, learns
from mnm_ros.nodes.cmp_sim import CmpSim
from mnm_ros.nodes.diff_drive_sim import DiffDriveSim
from mnm_ros.nodes.explorer import Explorer
from mnm_ros.nodes.grid_driver import GridDriver
from mnm_ros.nodes.gym_side import GymSide
from mnm_ros.nodes.navigator import Navigator
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.wire import PolicySet
from navigating import Operator
from node_processes import Peer, read_counts
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Int64MultiArray

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


def test_explored_and_used_by_three_nodes_in_this_process(
        make: Make, peer: Peer, scenario: str, tmp_path: Path) -> None:
    operator = Operator(peer)
    simulator = make(CmpSim, scenario=scenario, record=str(tmp_path / 'simulator'))
    explorer = make(Explorer, actions=['east', 'west'], record=str(tmp_path / 'explorer'))
    make(Navigator)
    explorer.autostart()
    policies = learns(peer)
    assert judge(load(scenario).settings[0].cmp, PolicySet.from_msg(policies[-1]), 4.0, 1.0).ok
    operator.wait_for_navigator()
    assert operator.go(2).startswith('reached 2 in ')
    peer.wait_for(explorer.leave, 'that the robot is left')
    explorer.close()
    simulator.close()
    counted, played = (read_counts(tmp_path / name) for name in ('explorer', 'simulator'))
    assert as_steps(counted) and not as_steps(counted) - as_steps(played)


def test_two_robots_do_not_meet(make: Make, peer: Peer, scenario: str) -> None:
    explorers = []
    for namespace in ('one', 'two'):
        make(CmpSim, namespace, scenario=scenario)
        explorers.append(make(Explorer, namespace, actions=['east', 'west']))
        explorers[-1].autostart()
    for namespace in ('one', 'two'):
        heard = peer.listen(Int64MultiArray, f'/{namespace}/policies')
        peer.wait_for(lambda heard=heard: heard and len(heard[-1].data) > 3, 'a hypothesis', 60.0)
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
    page = Path(__file__).resolve().parents[2] / 'docs' / 'operating.md'
    code, = re.findall(r'```python\n(.*?)```', page.read_text(encoding='utf-8'), re.DOTALL)
    path = tmp_path / 'shown.py'
    path.write_text(code)
    start(str(path))
    learns(peer)
