# SPDX-License-Identifier: Apache-2.0

"""
Several robots side by side, each in a namespace of its own, with an explorer of its own.

They learn nothing from each other. For robots that explore one world together, with one explorer,
the other launch files have the argument ``robots``.

For example::

    ros2 launch mnm_ros robots.launch.py robots:="robot_1 robot_2" each:=robot.launch.py
"""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from mnm_ros.core.errors import LaunchError
from mnm_ros.launching import absolute, declared, NODE_ARGUMENTS, USE_SIM_TIME, values, VIEWERS

FOLDER = Path(__file__).parent
EACH = ('explore.launch.py', 'robot.launch.py')
KEPT = {'global_params', 'ros_namespace', 'ros_remaps', 'sigkill_timeout', 'sigterm_timeout'}

ARGUMENTS = {
    'robots': ('robot_1 robot_2', 'The namespaces, separated by spaces; each gets an '
               'explorer of its own'),
    'each': (EACH[0], f'What is launched for each robot: {" or ".join(EACH)}'),
    'sim': ('true', 'Start simulated robots, too'),
    'dashboard': ('false', 'Serve a page for each robot, too'),
    'dashboard_port': ('8080', 'Port of the page of the first robot; those of the others follow'),
    'rviz': ('false', f'{VIEWERS["rviz"][1]}; one for each robot'),
    'rviz_frame': VIEWERS['rviz_frame'],
    'params_file': ('', 'Parameters of all nodes, by namespace where they differ (empty: that of '
                        'the launch file for each robot)'),
    'use_sim_time': USE_SIM_TIME,
    'one_process': ('false', 'Run all nodes of a robot in one process'),
    'use_respawn': NODE_ARGUMENTS['use_respawn'],
    'log_level': NODE_ARGUMENTS['log_level'],
}


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([
        *declared(ARGUMENTS), OpaqueFunction(function=_robots)])


def _robots(context: LaunchContext) -> list[Action]:
    argument = values(context, ARGUMENTS)
    names = argument['robots'].replace(',', ' ').split()
    if not names or len(set(names)) < len(names):
        raise LaunchError(
            f"robots is '{argument['robots']}', expected distinct namespaces, for "
            "example 'robot_1 robot_2'")
    passed_on = {name: argument[name] for name in (
        'sim', 'dashboard', 'rviz', 'rviz_frame', 'use_sim_time', 'one_process', 'use_respawn',
        'log_level')}
    if not argument['dashboard_port'].isdecimal():
        raise LaunchError(f"dashboard_port is '{argument['dashboard_port']}', expected a number")
    port = int(argument['dashboard_port'])
    if argument['params_file']:
        passed_on['params_file'] = argument['params_file']
    if argument['each'] == 'robot.launch.py':
        passed_on |= {'clock': 'false', 'real_time_factor': '1.0'}    # each has its own time
    return [_robot(argument['each'], {
        **passed_on, 'namespace': absolute(context, name), 'dashboard_port': str(port + index)})
        for index, name in enumerate(names)]


def _robot(launch_file: str, passed_on: dict[str, str]) -> Action:
    """Launch one robot, with arguments that the others do not see."""
    source = PythonLaunchDescriptionSource(str(FOLDER / launch_file))
    return GroupAction([
        OpaqueFunction(function=_forget),
        IncludeLaunchDescription(source, launch_arguments=passed_on.items())])


def _forget(context: LaunchContext) -> None:
    """Keep, in this group, only what launch and launch_ros themselves have for all nodes."""
    for name in {*context.launch_configurations} - KEPT:
        del context.launch_configurations[name]
