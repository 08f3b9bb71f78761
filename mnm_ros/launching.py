# SPDX-License-Identifier: Apache-2.0

"""The common parts of the launch files of the package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import json
from pathlib import Path
import sys
from typing import Any, NamedTuple

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch import LaunchContext
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration, TextSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from mnm_ros import topics
from mnm_ros.core.errors import LaunchError
from mnm_ros.parameters import NODES
from mnm_ros.parameters.params_file import ParameterFile
from mnm_ros.spelling import nearest
from mnm_ros.view.shapes import STATES_FRAME

REFUSED = 1
"""The status of a node that does not start because of a parameter, and would not the next time."""
RESPAWN_DELAY = 2.0    # s
FLAG = ('true', 'false')
_MARGIN = 5.0    # s, in addition to shutdown_timeout, for the explorer to end
_TYPES = {'scenario': str, 'preset': str, 'base': str, 'seed': int, 'autostart': bool,
          'declare_successors': bool, 'use_sim_time': bool, 'port': int}

VIEWED = ('/exploration_markers', '/world_markers', '/map')
"""The topics in ``config/mnm.rviz``: in a namespace, they are those in there."""

_PRESETS = next(spec.choices for spec in NODES['explorer'] if spec.name == 'preset')
AS_CONFIGURED = '(empty: as in params_file)'
USE_SIM_TIME = ('', f'Take the time from /clock {AS_CONFIGURED}')
NODE_ARGUMENTS = {
    'namespace': ('', 'Namespace of all nodes and their topics, another one for each robot'),
    'use_respawn': ('false', 'Start a node again, 2 s after it has ended, instead of ending all '
                             'others'),
    'log_level': ('info', 'Log level of all nodes: debug, info, warn, error or fatal'),
}
"""Default and description of the launch arguments that ``node`` uses."""

VIEWERS = {
    'dashboard': ('false', 'Serve the page in a browser, too'),
    'dashboard_port': ('', f'Port of the page {AS_CONFIGURED}'),
    'rviz': ('false', 'Start RViz, too, with config/mnm.rviz; closing it ends nothing else'),
    'rviz_frame': ('', 'Fixed frame of RViz: that in which the robot side says where states are '
                       f'(empty: {STATES_FRAME}, which is for all that have none, with cmp_sim, '
                       'otherwise map)'),
}
EXPLORATION = {
    'robots': ('', 'Namespaces of several robots that explore one world together, separated by '
                   "spaces, or how many: 3 for 'r1 r2 r3' (empty: as in params_file, otherwise "
                   'one robot, in the namespace of the explorer). robots.launch.py is for robots '
                   'that learn nothing from each other'),
    'sim': ('true', 'Start the simulated robot, too, or one for each of the robots'),
    'declare_successors': ('', 'Let the robot side that is started say where each action may lead '
                           f'{AS_CONFIGURED}'),
    'navigator': ('false', 'Start the navigator, too'),
    **VIEWERS,
    'preset': ('', f'Parts and constants of the algorithm: {" or ".join(_PRESETS)} '
                   f'{AS_CONFIGURED}'),
    'base': ('', 'Base algorithm: disco, ucb_explore, or the module:factory of one '
                 f'{AS_CONFIGURED}'),
    'seed': ('', f'Seed of every random choice {AS_CONFIGURED}'),
    'autostart': ('', f'Explore without waiting for a lifecycle manager {AS_CONFIGURED}'),
    'use_sim_time': USE_SIM_TIME,
    'one_process': ('false', 'Run all nodes of a namespace in one process, in which a step takes '
                             'less time'),
    **NODE_ARGUMENTS,
}
"""The launch arguments that ``exploring`` and ``wanted_explorer`` use."""

_CHOICES = {
    **dict.fromkeys(('sim', 'navigator', 'dashboard', 'rviz', 'clock', 'one_process',
                     'use_respawn'), FLAG),
    **dict.fromkeys(('autostart', 'declare_successors', 'use_sim_time'), ('', *FLAG)),
    'each': ('explore.launch.py', 'robot.launch.py'), 'record_bag': ('auto', *FLAG)}


def declared(arguments: Mapping[str, tuple[str, str]]) -> list[DeclareLaunchArgument]:
    """Return declarations of arguments, from default and description by name."""
    return [DeclareLaunchArgument(
        name, default_value=default, description=description,
        choices=[*_CHOICES[name]] if name in _CHOICES else None)
        for name, (default, description) in arguments.items()]


def values(context: LaunchContext, names: Iterable[str]) -> dict[str, str]:
    """Return the values of arguments by name; warn of others that seem to be a mistake."""
    names = tuple(names)
    _warn_of_unknown(context, names)
    found = {name: LaunchConfiguration(name).perform(context) for name in names}
    return found | ({'namespace': absolute(context, found['namespace'])}
                    if 'namespace' in found else {})


def absolute(context: LaunchContext, namespace: str) -> str:
    """
    Return a namespace below what PushRosNamespace has set, unless it begins with '/'.

    nav2's bringups pass on as an argument what they have pushed; it is not added twice.
    """
    pushed = context.launch_configurations.get('ros_namespace', '').rstrip('/')
    below = namespace.strip('/')
    if namespace.startswith('/') or not pushed:
        return f'/{below}'
    return pushed if not below or f'{pushed}/'.endswith(f'/{below}/') else f'{pushed}/{below}'


def _warn_of_unknown(context: LaunchContext, names: Iterable[str]) -> None:
    """
    Warn, once, of arguments that no launch file of the package has, if they resemble one.

    Launch itself accepts any name. The arguments of another launch file cannot be distinguished
    from those of the command line, hence only what resembles an argument or a parameter is a
    mistake.
    """
    given = context.launch_configurations
    settled = {*names, *given.get(_SETTLED, '').split()}
    parameters = {spec.name for specs in NODES.values() for spec in specs}
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
    :param argument: the values of NODE_ARGUMENTS, and perhaps others, as ``values`` returns them.
    :param parameters: files and values, the later ones on top.
    :param more: ROS arguments.
    :param enclave: its security enclave, that of the executable's name if empty.
    :param patience: s from SIGINT to SIGTERM; None for what the argument ``sigterm_timeout`` of
        launch says.
    """
    return _process(
        argument, parameters, more, enclave or executable, patience, package='mnm_ros',
        executable=executable, name=executable, namespace=argument['namespace'])


def _process(argument: Mapping[str, str], parameters: list[Any], more: Iterable[str],
             enclave: str, patience: float | None, **what: Any) -> Node:
    ending = {} if patience is None else {'sigterm_timeout': str(patience)}
    respawn = argument['use_respawn'] == 'true'
    return Node(
        **what, parameters=parameters,
        ros_arguments=['--log-level', argument['log_level'],
                       '--enclave', f'/mnm_ros/{enclave}', *more],
        output='screen', emulate_tty=True, respawn=respawn, respawn_delay=RESPAWN_DELAY, **ending,
        # What ends the launch comes before the node would be started again.
        on_exit=[OpaqueFunction(function=_end, kwargs={'respawn': respawn})])


class NodeToStart(NamedTuple):
    """
    A node to be started.

    :ivar name: of the executable, and of the node.
    :ivar values: parameters, on top of the file; those that are launch arguments as their text,
        where an empty one says nothing.
    :ivar enclave, patience: as for ``node``.
    :ivar namespace: below that of the launch, if it is another one.
    """

    name: str
    values: dict[str, Any]
    enclave: str = ''
    patience: float | None = None
    namespace: str = ''


def fleet(argument: Mapping[str, str], configured: ParameterFile) -> tuple[str, ...]:
    """
    Return the namespaces of robots that explore together; empty for one robot without its own.

    :param argument: the values of ``robots`` and ``navigator``.
    """
    if argument['robots']:
        try:
            found = topics.robots(argument['robots'])
        except ValueError as error:
            raise LaunchError(str(error)) from None
    else:
        found = tuple(configured.value('explorer', 'robots') or ())
    if found and argument['navigator'] == 'true':
        raise LaunchError(
            f"navigator is true with the robots {' '.join(found)}, expected false: "
            'it takes one robot to a state, that of the explorer')
    return found


def seeds(argument: Mapping[str, str], configured: ParameterFile, simulator: str,
          robots: Sequence[str]) -> list[str]:
    """Return a seed for each simulated robot, as equal ones would have the same luck."""
    if not robots:
        return [argument['seed']]
    first = argument['seed'] or configured.value(simulator, 'seed') or 0
    return [str(int(first) + number) for number in range(len(robots))]


def wanted_explorer(context: LaunchContext, argument: Mapping[str, str],
                    configured: ParameterFile) -> NodeToStart:
    """Return the explorer with the values of the arguments, and what follows from its file."""
    given = {key: argument[key] for key in ('preset', 'base', 'autostart', 'seed', 'use_sim_time')}
    robots = fleet(argument, configured)
    return NodeToStart(
        'explorer', given | ({'robots': list(robots)} if robots else {}),
        'advisor' if configured.value('explorer', 'advisory') else 'explorer',
        None if 'sigterm_timeout' in context.launch_configurations else _patience(configured))


def processes(wanted: Sequence[NodeToStart], argument: Mapping[str, str],
              params_file: str) -> list[Node]:
    """Return processes: one for each node, or for each namespace if ``one_process`` says so."""
    if argument['one_process'] == 'true':
        return [_one_process([each for each in wanted if each.namespace == namespace],
                             _below(argument, namespace), params_file,
                             _heard(argument, namespace))
                for namespace in dict.fromkeys(each.namespace for each in wanted)]
    made = []
    for name, values_, enclave, patience, namespace in wanted:
        texts, others = {}, []
        for key, value in values_.items():
            if isinstance(value, list):    # launch would let ROS read a name like n as false
                others += ['-p', f'{key}:={_yaml(key, value)}']
            elif value != '':
                texts[key] = value if key not in _TYPES or not isinstance(value, str) else (
                    ParameterValue(TextSubstitution(text=value), value_type=_TYPES[key]))
        made.append(node(name, _below(argument, namespace), [params_file, texts], *others,
                         *_heard(argument, namespace), enclave=enclave, patience=patience))
    return made


def _heard(argument: Mapping[str, str], namespace: str) -> list[str]:
    """Return how a simulator of one of several robots hears the explorer, which is above it."""
    above = _below(argument, '')['namespace'].rstrip('/')
    return ['-r', f'policies:={above}/policies'] if namespace else []


def _below(argument: Mapping[str, str], namespace: str) -> dict[str, str]:
    return {**argument, 'namespace': '/' + f"{argument['namespace']}/{namespace}".strip('/')}


def _one_process(wanted: Sequence[NodeToStart], argument: Mapping[str, str],
                 params_file: str, heard: Sequence[str]) -> Node:
    """Return a process in which all nodes live; it has the enclave of the first of them."""
    given = [f'{each.name}:{key}:={_yaml(key, value)}' for each in wanted
             for key, value in each.values.items() if value != '']
    first = wanted[0]
    return _process(
        argument, [params_file], [*(word for text in given for word in ('-p', text)), *heard],
        first.enclave or first.name, first.patience, namespace=argument['namespace'],
        executable=sys.executable, exec_name='mnm_ros',
        arguments=['-m', 'mnm_ros', 'run', *(each.name for each in wanted)])


def _yaml(key: str, value: Any) -> str:
    """Return a value for ``-p``; the texts of launch arguments are YAML unless they are names."""
    if isinstance(value, str) and _TYPES.get(key, str) is not str:
        return value
    return json.dumps(value, ensure_ascii=False)


def _patience(configured: ParameterFile) -> float | None:
    """
    Return how many s launch has to leave the explorer to go home; None if it does not.

    SIGTERM, which launch sends 5 s after SIGINT unless its arguments say otherwise, would end it
    there.
    """
    if configured.value('explorer', 'on_shutdown') != 'reset':
        return None
    given = configured.value('explorer', 'shutdown_timeout')
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        given, = (spec.default for spec in NODES['explorer']
                  if spec.name == 'shutdown_timeout')
    return given + _MARGIN


def exploring(wanted: Sequence[NodeToStart], argument: Mapping[str, str], params_file: str,
              config: Path, frame: str) -> list[Node]:
    """
    Return nodes, and the navigator, the page and RViz if the arguments ask for these.

    :param wanted: the explorer, and what it explores with.
    :param argument: the values of EXPLORATION.
    :param config: the folder of ``mnm.rviz``.
    :param frame: what RViz takes for the fixed one.
    """
    common = {key: argument[key] for key in ('seed', 'use_sim_time')}
    navigator = [NodeToStart('navigator', common)] if argument['navigator'] == 'true' else []
    return [*processes([*wanted, *navigator], argument, params_file),
            *_page(argument, params_file), *_rviz(argument, config, frame)]


def _page(argument: Mapping[str, str], params_file: str) -> list[Node]:
    """Return the node that serves the page, if the argument ``dashboard`` asks for it."""
    if argument['dashboard'] != 'true':
        return []
    wanted = NodeToStart('dashboard', {
        'port': argument['dashboard_port'], 'use_sim_time': argument['use_sim_time']})
    # In a process of its own in any case: it would hold the robot up.
    return processes([wanted], {**argument, 'one_process': 'false'}, params_file)


def _rviz(argument: Mapping[str, str], config: Path, frame: str) -> list[Node]:
    """Return RViz, if the argument ``rviz`` asks for it; RuntimeError if it is not installed."""
    if argument['rviz'] != 'true':
        return []
    try:
        get_package_prefix('rviz2')
    except PackageNotFoundError:
        raise LaunchError(
            'rviz is true, but RViz is not installed, expected the package rviz2'
            ) from None
    return [Node(
        package='rviz2', executable='rviz2', name='rviz2',
        namespace=argument['namespace'],
        arguments=['-d', str(config / 'mnm.rviz'), '-f', argument['rviz_frame'] or frame],
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
        raise LaunchError(f'{event.process_name} has ended with status {event.returncode}')
    return [Shutdown(reason='a node has ended')]
