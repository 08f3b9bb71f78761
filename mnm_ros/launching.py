# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What the launch files of the package share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch import LaunchContext
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from mnm_ros.parameters import NODES
from mnm_ros.parameters.command_line import nearest

REFUSED = 1
"""The status of a node that does not start because of a parameter, and would not the next time."""
RESPAWN_DELAY = 2.0    # s
FLAG = ('true', 'false')

RVIZ = ('false', 'Start RViz, too, with config/mnm.rviz; closing it ends nothing else')
VIEWED = ('/exploration_markers', '/world_markers', '/map')
"""The topics in ``config/mnm.rviz``: in a namespace, they are those in there."""

USE_SIM_TIME = ('', 'Take the time from /clock (empty: as in params_file)')
NODE_ARGUMENTS = {
    'namespace': ('', 'Namespace of all nodes and their topics, another one for each robot'),
    'use_respawn': ('false', 'Start a node again, 2 s after it has ended, instead of ending all '
                             'others'),
    'log_level': ('info', 'Log level of all nodes: debug, info, warn, error or fatal'),
}
"""Default and description of the launch arguments that ``node`` uses."""


def declared(arguments: Mapping[str, tuple[str, str]],
             choices: Mapping[str, Iterable[str]]) -> list[DeclareLaunchArgument]:
    """Return declarations of arguments, given as default and description by name."""
    return [DeclareLaunchArgument(
        name, default_value=default, description=description,
        choices=[*choices[name]] if name in choices else None)
        for name, (default, description) in arguments.items()]


def values(context: LaunchContext, names: Iterable[str]) -> dict[str, str]:
    """Return the values of arguments by name; warn of others that look like a mistake."""
    names = tuple(names)
    _warn_of_unknown(context, names)
    return {name: LaunchConfiguration(name).perform(context) for name in names}


def _warn_of_unknown(context: LaunchContext, names: Iterable[str]) -> None:
    """
    Warn, once, of arguments that no launch file of the package has, if they resemble one.

    Launch itself accepts any name. Those that another launch file may have are not told from
    those of the command line, hence only what resembles an argument or a parameter is a mistake.
    """
    given = context.launch_configurations
    settled = {*names, *given.get(_SETTLED, '').split()}
    parameters = {row.name for rows in NODES.values() for row in rows}
    for name in sorted(set(given) - settled - {_SETTLED}):
        if name in parameters:
            told = 'it is a parameter, expected in params_file'
        elif question := nearest(name, settled) or nearest(name, parameters):
            told = f'there is none of that name{question}'
        else:
            continue
        get_logger('mnm_ros').warning(f"launch argument '{name}' is ignored: {told}")
    given[_SETTLED] = ' '.join(sorted(settled | set(given)))


_SETTLED = 'mnm_ros_settled_arguments'    # a configuration that included launch files inherit


def node(executable: str, argument: Mapping[str, str], parameters: list[Any], *more: str,
         enclave: str = '', patience: float | None = None) -> Node:
    """
    Return a node of the package; unless it is respawned, the launch ends with it.

    It is not respawned if a parameter keeps it from starting. The launch then ends, too.

    :param executable: also the name of the node.
    :param argument: the values of NODE_ARGUMENTS, and perhaps others.
    :param parameters: files and values, the later ones on top.
    :param more: ROS arguments.
    :param enclave: its security enclave, that of the executable's name if empty.
    :param patience: s from SIGINT to SIGTERM; None for what the argument ``sigterm_timeout`` of
        launch says.
    """
    ending = {} if patience is None else {'sigterm_timeout': str(patience)}
    respawn = argument['use_respawn'] == 'true'
    return Node(
        package='mnm_ros', executable=executable, name=executable,
        namespace='/' + argument['namespace'].strip('/'), parameters=parameters,
        ros_arguments=['--log-level', argument['log_level'],
                       '--enclave', f'/mnm_ros/{enclave or executable}', *more],
        output='screen', emulate_tty=True, respawn=respawn, respawn_delay=RESPAWN_DELAY, **ending,
        # What ends the launch comes before the node would be started again.
        on_exit=[OpaqueFunction(function=_end, kwargs={'respawn': respawn})])


def rviz(argument: Mapping[str, str], config: Path, frame: str) -> list[Node]:
    """
    Return RViz, if the argument ``rviz`` asks for it.

    :param argument: the values of ``rviz`` and ``namespace``.
    :param config: the folder of ``mnm.rviz``.
    :param frame: what it takes for the fixed one.
    :raises RuntimeError: if it is not installed.
    """
    if argument['rviz'] != 'true':
        return []
    try:
        get_package_prefix('rviz2')
    except PackageNotFoundError:
        raise RuntimeError('rviz is true, but RViz is not installed, expected the package rviz2'
                           ) from None
    return [Node(
        package='rviz2', executable='rviz2', name='rviz2',
        namespace='/' + argument['namespace'].strip('/'),
        arguments=['-d', str(config / 'mnm.rviz'), '-f', frame],
        remappings=[(topic, topic.strip('/')) for topic in VIEWED], output='log')]


def _end(context: LaunchContext, respawn: bool = False) -> list[Action]:
    """
    End the launch, unless it is ending already: a second Shutdown would be an error.

    :raises RuntimeError: if the node has failed, as the launch ends with a status of 1 then.
    """
    event: ProcessExited = context.locals.event
    if context.is_shutdown or respawn and event.returncode != REFUSED:
        return []
    if event.returncode:
        raise RuntimeError(f'{event.process_name} has ended with status {event.returncode}')
    return [Shutdown(reason='a node has ended')]
