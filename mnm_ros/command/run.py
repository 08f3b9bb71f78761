# SPDX-License-Identifier: Apache-2.0

"""Run nodes of the package, one as ``ros2 run mnm_ros NODE`` does, or several in one process."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from datetime import datetime
import importlib
from pathlib import Path
import sys

from mnm_ros.console.arguments import parser, ROS_ARGUMENTS, split, within
from mnm_ros.core.errors import FileError, InvalidValueError
from mnm_ros.core.plug_ins import installed, load

_FOLDER = Path(__file__).parents[1] / 'nodes'
_DESCRIPTION = ('Run a node of the package until Ctrl-C, or several of them in one process, which '
                'is quicker. `--help` after the name of a node describes the node and prints its '
                'parameters. With several nodes, -p NODE:NAME:=VALUE sets a parameter of one '
                'node.')
TOGETHER = {
    'diff_drive_sim': 'DiffDriveSim', 'cmp_sim': 'CmpSim', 'gym_side': 'GymSide',
    'grid_driver': 'GridDriver', 'route_driver': 'RouteDriver', 'route_watch': 'RouteWatch',
    'navigator': 'Navigator', 'explorer': 'Explorer'}
"""
What makes the nodes that can live in one process, in the order in which they are made.

They are left in the opposite order: each one before those that it needs to leave the robot.
"""

_NO_NODES = ('__init__', 'robot_side')


def nodes() -> dict[str, str]:
    """Return the names of the nodes, each with the first line of its documentation."""
    found = {}
    for path in sorted(_FOLDER.glob('*.py')):
        if path.stem not in _NO_NODES:
            text = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))) or ''
            found[path.stem] = text.partition('\n')[0]
    return found


def main(arguments: Sequence[str], program: str) -> int:
    """Run the node that is named, or the one that the program is called after."""
    words, ros_arguments = split(arguments)
    known = nodes()
    fixed = program.split()[-1]
    made = parser(program, known.get(fixed, _DESCRIPTION))
    if fixed in known:
        if '--help' in words or '-h' in words:
            print(f'{made.format_usage().rstrip()} [{ROS_ARGUMENTS} ...]\n'
                  f'This runs the node {fixed} in the namespace:\n', flush=True)
            return _run(fixed, ['--help'])
        return _run(fixed, within(made.parse_args(words).namespace, ros_arguments))
    if not known.keys() & {*words}:    # or it is a robot side of another package
        known |= {name: found.value for name, found in installed('robot_side').items()
                  if name not in known}
    made.add_argument('node', nargs='+', choices=tuple(known), metavar='NODE',
                      help=', '.join(known))
    named = next((word for word in words if word in known), None)
    if named and ('--help' in words or '-h' in words):
        return _run(named, ['--help'])
    given = made.parse_args(words)
    ros_arguments = within(given.namespace, ros_arguments)
    if len(given.node) == 1:
        return _run(given.node[0], ros_arguments)
    alone = [name for name in given.node if name not in TOGETHER or given.node.count(name) > 1]
    if alone:
        made.error(f'argument NODE: {alone[0]} runs in a process of its own, expected different '
                   f'ones of {", ".join(sorted(TOGETHER))}')
    return _run_together(given.node, ros_arguments)


def _run_together(names: Sequence[str], arguments: list[str]) -> int:
    spin = importlib.import_module('mnm_ros.nodes.common.spin')
    makers = [getattr(importlib.import_module(f'mnm_ros.nodes.{name}'), maker)
              for name, maker in TOGETHER.items() if name in names]
    return int(spin.run_together(' '.join(names), makers, arguments))


def _run(node: str, arguments: list[str]) -> int:
    if not (_FOLDER / f'{node}.py').exists():
        try:
            make_node = load('robot_side', node)
        except InvalidValueError as error:
            print(error, file=sys.stderr)
            return 1
        return int(importlib.import_module('mnm_ros.nodes.common.spin').run(
            node, make_node, arguments))
    return int(importlib.import_module(f'mnm_ros.nodes.{node}').main(arguments))


def trial(arguments: Sequence[str], program: str) -> int:
    """Run an explorer until Ctrl-C that keeps everything, as ``trial.launch.py`` does."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Run an explorer with a running robot side, and save parameters, '
                  'checkpoints and every transition in a folder. An earlier trial in the folder '
                  'goes on. `mnm_ros watch` shows the trial, `mnm_ros report` writes the report.')
    made.add_argument('--params-file', required=True, metavar='FILE',
                      help='parameters of the explorer, with the actions of the robot')
    made.add_argument('--trial-dir', default='', metavar='DIR',
                      help='default: a new folder in ~/mnm_trials')
    given = made.parse_args(words)

    from mnm_ros.trial.report import prepare
    try:
        parameters = prepare(given.params_file, given.trial_dir, datetime.now())
    except (FileError, OSError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    except ValueError as error:
        print(f'{program}: {given.params_file}: {error}', file=sys.stderr)
        return 1
    explorer = importlib.import_module('mnm_ros.nodes.explorer')
    print(f'the trial is saved in {parameters.parent}', flush=True)
    return int(explorer.main(within(given.namespace, [
        ROS_ARGUMENTS, '--params-file', str(parameters), *ros_arguments])))
