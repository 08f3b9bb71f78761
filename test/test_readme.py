# SPDX-License-Identifier: Apache-2.0

"""Code, files and commands that the README and the pages show run as they stand there."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path
import re
import shlex
from textwrap import dedent
from typing import Any
from unittest.mock import Mock

from mnm_ros.core import Policy
from mnm_ros.messages import PolicySet
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation import scenario, world
from mnm_ros.simulation.simulator import Simulator
from pages import blocks, DOCS, PAGES, ROOT
import pytest
import rclpy
from rclpy.context import Context
from std_msgs.msg import Int64MultiArray, MultiArrayLayout


def run(page: Path, line: str, **names: Any) -> dict[str, Any]:
    """Run the block of Python that has a line; return the names that it leaves."""
    exec(dedent(next(code for code in blocks(page, 'python') if line in code)), names)
    return names


def test_the_world_and_the_scenario_shown_can_be_loaded(tmp_path: Path) -> None:
    for page, number, load in (('howto/simulate', -1, world.load),
                               ('reference', 0, scenario.load)):
        path = tmp_path / 'file.yaml'
        path.write_text(blocks(DOCS / f'{page}.md', 'yaml')[number], encoding='utf-8')
        assert len(load(str(path)).settings) == 2


def test_what_a_robot_side_says_is_the_same_in_json_and_in_python() -> None:
    page = DOCS / 'reference' / 'robot_side.md'
    names = run(page, 'def describe', RobotDescription=RobotDescription)
    assert names['describe'](None) == RobotDescription.from_text(blocks(page, 'json')[0])


def test_the_decoder_shown_agrees_with_the_library() -> None:
    policies = PolicySet(1, 2, 3, tuple(
        Policy(target, 3, (5, 7), tuple((target + step, 9 - step) for step in range(3)))
        for target in (5, 7)))
    names = run(DOCS / 'reference' / 'policies.md', 'def action(target', message=policies.to_msg())
    for target, step, state in product((5, 7), range(4), (5, 7, 8)):
        assert names['action'](target, step, state) == (
            policies.policy_for(target).action(step, state))


def test_the_robot_shown_answers_commands_and_ignores_what_is_none() -> None:
    create_publisher = Mock()
    bare = type('Bare', (), {    # a node that needs no ROS
        '__init__': lambda self, name: None, 'create_subscription': Mock(),
        'create_publisher': create_publisher})
    robot = run(ROOT / 'README.md', 'class MyRobot', Node=bare,
                Int64MultiArray=Int64MultiArray)['MyRobot']()
    robot.go_home, robot.move = Mock(return_value=0), Mock(return_value=1)
    for numbers, offset in (
            ([], 0), ([1], 0), ([1, 0, 0], 0), ([1, 0], 5), ([1, 2], 0), ([1, -2], 0),
            ([1, 0], 0), ([1, 0], 0), ([2, -1], 0)):
        robot.on_action(Int64MultiArray(
            data=numbers, layout=MultiArrayLayout(data_offset=offset)))
    answers = create_publisher().publish.call_args_list
    assert [list(call.args[0].data) for call in answers] == [[1, 1], [1, 1], [2, 0]]
    robot.move.assert_called_once_with(0)


def test_the_exploration_without_ros_that_is_shown_knows_the_grid(
        capsys: pytest.CaptureFixture) -> None:
    simulator = Simulator(scenario.load('grid_3x3'))
    run(ROOT / 'README.md', 'from mnm_ros import explore', step=simulator.step)
    known, action = map(ast.literal_eval, capsys.readouterr().out.splitlines())
    assert set(range(8)) <= set(known) and action in range(4)


def test_ros_understands_the_arguments_shown() -> None:
    shown = re.findall(r'^(?!.*--params-file)\$? ?\w.*? --ros-args (.*)$',
                       '\n'.join(PAGES.values()), re.MULTILINE)
    assert shown
    for arguments in shown:
        context = Context()
        rclpy.init(args=['--ros-args', *shlex.split(arguments)], context=context)
        context.try_shutdown()
