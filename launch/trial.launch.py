# SPDX-License-Identifier: Apache-2.0

"""
A trial on a robot: an explorer that keeps everything in ``trial_dir``, and a bag.

The explorer is started by ``explore.launch.py``. The robot side has to be started apart, unless
``sim`` asks for a simulated one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import ExecuteProcess, IncludeLaunchDescription, LogInfo, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from mnm_ros.core.errors import LaunchError
from mnm_ros.files import user_path
from mnm_ros.launching import (
    declared,
    EXPLORATION,
    fleet,
    NODE_ARGUMENTS,
    USE_SIM_TIME,
    values,
    VIEWERS,
)
from mnm_ros.parameters.params_file import check, ParameterFile
from mnm_ros.trial.report import prepare

RECORDED = (
    'action', 'state', 'action/driver', 'robot_side', 'stopped', 'rest', 'known_states', 'phase',
    'status', 'events', 'goal', 'goal_result', 'outcome', 'true_setting', 'exploration_steps')
"""Topics of a bag, of each robot, too; beside the diagnostics. Policies are large: left out."""

EXPLORE = Path(__file__).with_name('explore.launch.py')

ARGUMENTS = {
    'params_file': ('', 'Parameters of the explorer, with the actions of the robot (required)'),
    'trial_dir': ('', 'Folder to save the trial in; a trial that is in it is continued (empty: '
                      'mnm_trials/ and the time, in the home folder)'),
    'record_bag': ('auto', 'Record small topics as a bag: true, false, or auto: if ros2 bag is '
                           'installed'),
    'robots': EXPLORATION['robots'],
    'sim': ('false', 'Start a simulated robot, too, to try this out'),
    'scenario': ('', 'What it simulates'),
    'declare_successors': EXPLORATION['declare_successors'],
    **VIEWERS,
    'namespace': ('', 'Namespace of the explorer and the robot side'),
    'use_sim_time': USE_SIM_TIME,
    'use_respawn': ('true', 'Start the explorer again if it ends; it goes on where it was'),
    'log_level': NODE_ARGUMENTS['log_level'],
}


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=_trial)])


def _trial(context: LaunchContext) -> list[Action]:
    argument = values(context, ARGUMENTS)
    if not argument['params_file'] and argument['sim'] == 'false':
        raise LaunchError(
            'params_file is empty, expected a file that names the actions of the '
            'robot: "/**/explorer: {ros__parameters: {actions: [east, west]}}"')
    if argument['params_file']:
        check(user_path(argument['params_file']), gaps=True)    # prepare() fills them
    now = datetime.now()
    params_file = prepare(argument['params_file'], argument['trial_dir'], now)
    folder = params_file.parent
    robots = fleet({**argument, 'navigator': 'false'}, ParameterFile(
        str(params_file), argument['namespace']))
    passed_on = {name: argument[name] for name in (
        'robots', 'sim', 'scenario', 'declare_successors', 'dashboard', 'dashboard_port', 'rviz',
        'rviz_frame', 'namespace', 'use_sim_time', 'use_respawn', 'log_level')}
    return [
        LogInfo(msg=f'the trial is saved in {folder}'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(EXPLORE)),
            launch_arguments={**passed_on, 'params_file': str(params_file)}.items()),
        *_bag(argument['record_bag'], folder / f'bag_{now:%Y-%m-%d_%H-%M-%S}',
              argument['namespace'], robots)]


def _bag(wanted: str, path: Path, namespace: str, robots: Sequence[str]) -> list[Action]:
    if wanted == 'false':
        return []
    if find_spec('ros2bag') is None:
        if wanted == 'true':
            raise LaunchError(
                'record_bag is true, but ros2 bag is not installed, expected the '
                'package ros2bag')
        return [LogInfo(msg='no bag is recorded: ros2 bag is not installed')]
    before = f'/{namespace.strip("/")}/'.replace('//', '/')
    if robots:
        before += f'(({"|".join(robots)})/)?'
    return [ExecuteProcess(
        # Only the option --regex is the same in all distributions.
        cmd=['ros2', 'bag', 'record', '--output', str(path), '--regex',
             f'^({before}({"|".join(RECORDED)})|/diagnostics)$'],
        output='log')]
