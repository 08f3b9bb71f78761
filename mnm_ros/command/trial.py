# SPDX-License-Identifier: Apache-2.0

"""Run an explorer that keeps everything in the folder of a trial, as ``trial.launch.py`` does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
import importlib
import sys

from mnm_ros.command.arguments import parser, ROS_ARGUMENTS, split, within


def main(arguments: Sequence[str], program: str) -> int:
    """Prepare the folder and run the explorer until Ctrl-C."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Run an explorer with a robot side that runs, and keep everything in a '
                  'folder: parameters, checkpoints and every transition. A trial that is in the '
                  'folder goes on. `mnm_ros watch` shows what it does, `mnm_ros report` writes '
                  'the report.')
    made.add_argument('--params-file', required=True, metavar='FILE',
                      help='parameters of the explorer, with the actions of the robot')
    made.add_argument('--trial-dir', default='', metavar='DIR',
                      help='default: a new folder in ~/mnm_trials')
    given = made.parse_args(words)

    from mnm_ros.trial.folder import prepare
    try:
        parameters = prepare(given.params_file, given.trial_dir, datetime.now())
    except OSError as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    except ValueError as error:
        print(f'{program}: {given.params_file}: {error}', file=sys.stderr)
        return 1
    explorer = importlib.import_module('mnm_ros.nodes.explorer')
    print(f'the trial is kept in {parameters.parent}', flush=True)
    return int(explorer.main(within(given.namespace, [
        ROS_ARGUMENTS, '--params-file', str(parameters), *ros_arguments])))
