# SPDX-License-Identifier: Apache-2.0

"""Pages around robot sides and trials keep pace with the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
import re
from textwrap import dedent

from mnm_ros.robot_description import RobotDescription

ROOT = Path(__file__).resolve().parents[1]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding='utf-8')


def test_the_page_lists_every_clause_of_the_contract() -> None:
    tree = ast.parse(text('mnm_ros/contract/clauses.py'))
    clauses = [node.name.removeprefix('test_') for node in tree.body
               if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')]
    table = text('docs/robot_sides.md').split('| test |')[1]
    assert re.findall(r'^\| `(\w+)` \|', table, re.MULTILINE) == clauses


def test_the_page_lists_what_the_class_offers() -> None:
    tree = ast.parse(text('mnm_ros/nodes/robot_side.py'))
    robot_side, = (node for node in tree.body if isinstance(node, ast.ClassDef)
                   and node.name == 'RobotSide')
    offered = {node.name for node in robot_side.body if isinstance(node, ast.FunctionDef)
               and not node.name.startswith('_')}
    table = text('docs/robot_sides.md').split('## The class')[1].split('\n\n')[2]
    shown = set(re.findall(r'^\| `(\w+)', table, re.MULTILINE))
    assert shown - offered == {'action_names', 'action_timeout'}
    assert offered - shown == {'send_state', 'leave'}    # for the package's own robot sides


def test_what_a_robot_side_says_is_shown_in_json_and_in_python() -> None:
    section = text('docs/robot_sides.md').split('## What it is')[1].split('\n### ')[0]
    said, = re.findall(r'```json\n(.*?)```', section, re.DOTALL)
    shown, = re.findall(r'```python\n(.*?)```', section, re.DOTALL)
    names: dict = {'RobotDescription': RobotDescription}
    exec(dedent(shown), names)
    assert names['describe'](None) == RobotDescription.from_text(said)


def keys(path: str, name: str) -> Iterator[str]:
    """Yield the keys of a dictionary in a module, with those that it takes from another one."""
    found = next(node.value for node in ast.parse(text(path)).body
                 if isinstance(node, ast.Assign) and node.targets[0].id == name)
    for key, value in zip(found.keys, found.values, strict=True):
        if key is not None:
            yield key.value
        else:
            yield from keys('mnm_ros/launching.py', value.id)


def test_the_page_lists_the_arguments_of_the_launch_file() -> None:
    names = list(keys('launch/trial.launch.py', 'ARGUMENTS'))
    table = text('docs/trials.md').split('| argument | default |')[1].split('\n\n')[0]
    first_cells = ' '.join(line.split(' | ')[0] for line in table.splitlines()[2:])
    assert sorted(re.findall(r'`(\w+)`', first_cells)) == sorted(names)
