"""What the launch files of the package share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from launch import LaunchContext
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

RESPAWN_DELAY = 2.0    # s
FLAG = ('true', 'false')

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
    """Return the values of arguments by name."""
    return {name: LaunchConfiguration(name).perform(context) for name in names}


def node(executable: str, argument: Mapping[str, str], parameters: list[Any], *more: str,
         enclave: str = '') -> Node:
    """Return a node of the package; unless it is respawned, the launch ends with it.

    Args:
        executable: also the name of the node.
        argument: the values of NODE_ARGUMENTS, and perhaps others.
        parameters: files and values, the later ones on top.
        more: ROS arguments.
        enclave: its security enclave, that of the executable's name if empty.
    """
    respawn = argument['use_respawn'] == 'true'
    return Node(
        package='mnm_ros', executable=executable, name=executable,
        namespace='/' + argument['namespace'].strip('/'), parameters=parameters,
        ros_arguments=['--log-level', argument['log_level'],
                       '--enclave', f'/mnm_ros/{enclave or executable}', *more],
        output='screen', emulate_tty=True, respawn=respawn, respawn_delay=RESPAWN_DELAY,
        on_exit=None if respawn else [OpaqueFunction(function=_end)])


def _end(context: LaunchContext) -> list[Action]:
    """End the launch, unless it is ending already: a second Shutdown would be an error."""
    return [] if context.is_shutdown else [Shutdown(reason='a node has ended')]
