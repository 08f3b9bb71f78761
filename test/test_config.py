# SPDX-License-Identifier: Apache-2.0

"""The files in ``config`` list every parameter with its default, and none that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from mnm_ros import parameters  # noqa: E402, I100
from mnm_ros.parameters import params_file  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.node import Node  # noqa: E402

FILES = sorted((Path(__file__).resolve().parents[1] / 'config').glob('*.yaml'))
# These have no default that a node could start with.
REQUIRED = {'actions', 'environment', 'scenario', 'world'}


def configured(node: str) -> dict[str, object]:
    """Return the parameters of a node in the file that lists them all."""
    trees = [yaml.safe_load(file.read_text(encoding='utf-8')) for file in FILES]
    found = [tree[f'/**/{node}']['ros__parameters'] for tree in trees if f'/**/{node}' in tree]
    return max(found, key=len)


@pytest.mark.parametrize('node', parameters.NODES)
def test_file_and_declared_parameters_agree(node: str) -> None:
    declared = {row.name: row.default for row in parameters.NODES[node]
                if row.name not in REQUIRED and not row.optional}
    given = {name: value for name, value in configured(node).items() if name not in REQUIRED}
    assert given == declared
    assert {name: type(value) for name, value in given.items()} == {
        name: type(value) for name, value in declared.items()}


def test_every_file_can_be_given_to_the_nodes() -> None:
    assert all(map(params_file.check, FILES))


@pytest.mark.parametrize('name', ['explorer', 'navigator', 'preflight'])
def test_the_commander_of_a_mobile_robot_has_the_patience_for_it(name: str) -> None:
    file, = (file for file in FILES if file.name == 'robot.yaml')
    context = Context()
    rclpy.init(args=['--ros-args', '--params-file', str(file)], context=context)
    node = Node(name, context=context, automatically_declare_parameters_from_overrides=True)
    assert node.get_parameter_or('step_timeout').value == 60.0
    assert name != 'navigator' or node.get_parameter_or('pause_timeout').value >= 60.0
    node.destroy_node()
    context.try_shutdown()
