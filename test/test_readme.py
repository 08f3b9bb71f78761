# SPDX-License-Identifier: Apache-2.0

"""The README, the reference and what they show keep pace with the code."""

from __future__ import annotations

import ast
from pathlib import Path
import re
import shlex

from mnm_ros.core.presets import OPTIONS, PRESETS
from mnm_ros.parameters import NODES
from mnm_ros.simulation import scenario, world
from mnm_ros.simulation.simulator import Simulator
import pytest
import rclpy
from rclpy.context import Context
from std_msgs.msg import Int64MultiArray, MultiArrayLayout

ROOT = Path(__file__).parents[1]
DOCS = ROOT / 'docs'
PAGES = {page: page.read_text(encoding='utf-8')
         for page in (ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted(DOCS.glob('*.md')))}
README = PAGES[ROOT / 'README.md']
REFERENCE = PAGES[DOCS / 'reference.md']
WORLDS = PAGES[DOCS / 'robots.md']
OPTION_TABLE = REFERENCE.split('<!-- generated: options -->')[1].split('<!-- end -->')[0]
REQUIRED = ('actions', 'environment', 'scenario', 'world')


def table_of(node: str) -> str:
    """Return the table of the parameters of a node."""
    return REFERENCE.split(f'<!-- generated: parameters {node} -->')[1].split('<!-- end -->')[0]


def rows(table: str) -> dict[str, list[str]]:
    """Return the cells of each row by the name in the first one."""
    cells = [[cell.strip().strip('`') for cell in line.strip('|').split('|')]
             for line in table.splitlines() if line.startswith('| `')]
    return {name: rest for name, *rest in cells}


def code_blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code in a language."""
    return re.findall(rf'```{language}\n(.*?)```', PAGES[page], re.DOTALL)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize('node', NODES)
def test_every_parameter_is_there_with_its_default(node: str) -> None:
    shown = rows(table_of(node))
    assert list(shown) == [row.name for row in NODES[node]]
    for row in NODES[node]:
        default = str(row.default).lower() if row.default != '' else "''"
        if row.optional:
            default = 'not set'
        elif row.name in REQUIRED:
            default = 'required'
        assert shown[row.name][0] == default


def test_every_option_is_there_with_its_value_in_both_presets() -> None:
    shown = rows(OPTION_TABLE)
    assert list(shown) == [option.name for option in OPTIONS]
    for name, (onboard, paper, *_) in shown.items():
        assert onboard == str(PRESETS['onboard'][name] or 'by formula'), name
        assert paper == str(PRESETS['paper'][name] or 'by formula'), name


def test_every_shipped_scenario_is_there() -> None:
    for name in scenario.shipped():
        assert f'`{name}`' in PAGES[DOCS / 'getting_started.md']


def test_every_shipped_world_is_there() -> None:
    for name in world.shipped():
        assert f'`{name}`' in WORLDS


def test_the_world_shown_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / 'shown.yaml'
    path.write_text(code_blocks(DOCS / 'robots.md', 'yaml')[-1], encoding='utf-8')
    assert len(world.load(str(path)).settings) == 2


def test_the_scenario_shown_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / 'shown.yaml'
    path.write_text(code_blocks(DOCS / 'reference.md', 'yaml')[0], encoding='utf-8')
    assert len(scenario.load(str(path)).settings) == 2


def test_the_decoder_shown_agrees_with_the_library() -> None:
    from mnm_ros.core.model.policy import Policy
    from mnm_ros.messages import PolicySet
    policies = PolicySet(1, 2, 3, tuple(
        Policy(target, 3, (5, 7), tuple((target + step, 9 - step) for step in range(3)))
        for target in (5, 7)))
    code = next(block for block in code_blocks(DOCS / 'policies.md', 'python')
                if 'def action(target' in block)
    names: dict = {'message': policies.to_msg()}
    exec(code, names)
    for target in (5, 7):
        for step in range(4):
            for state in (5, 7, 8):
                assert names['action'](target, step, state) == (
                    policies.policy_for(target).action(step, state))


def test_the_robot_shown_answers_orders_and_ignores_what_is_none() -> None:
    answers: list[list[int]] = []

    class Bare:
        """A node that needs no ROS; it publishes to ``answers``."""

        def __init__(self, name: str) -> None:
            pass

        def create_publisher(self, *_: object) -> Bare:
            return self

        def create_subscription(self, *_: object) -> None:
            pass

        def publish(self, message: Int64MultiArray) -> None:
            answers.append(list(message.data))

    code = next(block for block in code_blocks(ROOT / 'README.md', 'python')
                if 'class MyRobot' in block)
    names: dict = {'Node': Bare, 'Int64MultiArray': Int64MultiArray}
    exec(code, names)
    robot = names['MyRobot']()
    robot.go_home, robot.move = lambda: 0, lambda action: action + 1
    for numbers, offset in (
            ([], 0), ([1], 0), ([1, 0, 0], 0), ([1, 0], 5), ([1, 2], 0), ([1, -2], 0),
            ([1, 0], 0), ([1, 0], 0), ([2, -1], 0)):
        robot.on_action(Int64MultiArray(
            data=numbers, layout=MultiArrayLayout(data_offset=offset)))
    assert answers == [[1, 1], [1, 1], [2, 0]]


def test_the_exploration_without_ros_that_is_shown_knows_the_grid(
        capsys: pytest.CaptureFixture) -> None:
    code = next(block for block in code_blocks(ROOT / 'README.md', 'python')
                if 'from mnm_ros.core import' in block)
    simulator = Simulator(scenario.load('grid_3x3'))
    exec(code, {'step': simulator.step})
    known, = capsys.readouterr().out.splitlines()
    assert set(range(8)) <= set(ast.literal_eval(known))


COMMANDS = [line for page in PAGES.values()
            for line in re.findall(r'^\$? ?(\w.* --ros-args .*)$', page, re.MULTILINE)
            if '--params-file' not in line]


@pytest.mark.parametrize('command', COMMANDS)
def test_ros_understands_the_arguments_shown(command: str) -> None:
    words, context = shlex.split(command), Context()
    rclpy.init(args=words[words.index('--ros-args'):], context=context)
    context.try_shutdown()
