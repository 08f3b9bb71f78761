# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The explorer and, unless ``sim:=false``, a simulated robot for it."""

from __future__ import annotations

import json
from pathlib import Path
import re
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import TextSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from mnm_ros.launching import (
    declared,
    FLAG,
    node,
    NODE_ARGUMENTS,
    RVIZ,
    rviz,
    USE_SIM_TIME,
    values,
)
from mnm_ros.parameters import EXPLORER
from mnm_ros.parameters.params_file import check, entries
from mnm_ros.simulation import scenario
from mnm_ros.simulation.described import describe

CONFIG = Path(__file__).parents[1] / 'config' / 'explore.yaml'
SCENARIO = 'two_rooms'
AS_CONFIGURED = '(empty: as in params_file)'
MARGIN = 5.0    # s, beyond shutdown_timeout, for the explorer to end
TYPES = {'scenario': str, 'preset': str, 'seed': int, 'autostart': bool, 'use_sim_time': bool,
         'port': int}

ARGUMENTS = {
    'sim': ('true', 'Start the simulated robot, too'),
    'navigator': ('false', 'Start the navigator, too'),
    'dashboard': ('false', 'Serve the page in a browser, too'),
    'dashboard_port': ('', f'Port of the page {AS_CONFIGURED}'),
    'rviz': RVIZ,
    'scenario': ('', 'What cmp_sim simulates: a file, or the name of one in config/scenarios '
                     f'(empty: as in params_file, otherwise {SCENARIO})'),
    'params_file': (str(CONFIG), 'Parameters of all nodes'),
    'preset': ('', f'Parts and constants of the algorithm: onboard or paper {AS_CONFIGURED}'),
    'seed': ('', f'Seed of every random choice {AS_CONFIGURED}'),
    'autostart': ('', f'Explore without waiting for a lifecycle manager {AS_CONFIGURED}'),
    'use_sim_time': USE_SIM_TIME,
    **NODE_ARGUMENTS,
}


def generate_launch_description() -> LaunchDescription:
    as_configured = ('', *FLAG)
    choices = {'sim': FLAG, 'navigator': FLAG, 'dashboard': FLAG, 'rviz': FLAG,
               'use_respawn': FLAG,
               'autostart': as_configured, 'use_sim_time': as_configured}
    return LaunchDescription([*declared(ARGUMENTS, choices), OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    """Make the nodes; arguments that are not empty go on top of ``params_file``."""
    argument = values(context, ARGUMENTS)
    params_file = str(Path(argument['params_file']).expanduser())
    configured = _Configured(params_file, argument['namespace'])

    def made(name: str, given: dict[str, str], *more: str, **options: Any) -> Node:
        given = {**given, **{key: argument[key] for key in ('seed', 'use_sim_time')}}
        return node(name, argument, [params_file, {
            key: ParameterValue(TextSubstitution(text=value), value_type=TYPES[key])
            for key, value in given.items() if value}], *more, **options)

    explorer = {key: argument[key] for key in ('preset', 'autostart')}
    options = {
        'enclave': 'advisor' if configured.value('explorer', 'advisory') else 'explorer',
        'patience': None if 'sigterm_timeout' in context.launch_configurations else
                    _patience(configured)}
    named = configured.value('explorer', 'actions')
    beside = [made('navigator', {})] if argument['navigator'] == 'true' else []
    if argument['dashboard'] == 'true':
        beside.append(made('dashboard', {'port': argument['dashboard_port']}))
    if argument['sim'] == 'false':
        if not named:
            raise RuntimeError(
                f'{params_file} does not name the actions of the robot: expected, for example, '
                '"/**/explorer: {ros__parameters: {actions: [east, west]}}"')
        # Where states are in the world, it is most likely on a map.
        return [made('explorer', explorer, **options), *beside,
                *rviz(argument, CONFIG.parent, 'map')]
    chosen = argument['scenario'] or configured.value('cmp_sim', 'scenario') or SCENARIO
    # In JSON, and not as a parameter of launch: there, ROS would read a name like n as false.
    actions = () if named else (
        '-p', 'actions:=' + json.dumps(scenario.load(chosen).actions, ensure_ascii=False))
    frame = '' if argument['rviz'] == 'false' else (
        describe(scenario.load(chosen), 0).frame or 'mnm_states')
    return [made('explorer', explorer, *actions, **options),
            made('cmp_sim', {'scenario': chosen}), *beside,
            *rviz(argument, CONFIG.parent, frame)]


def _patience(configured: _Configured) -> float | None:
    """
    Return how many s launch has to leave the explorer to go home; None if it does not.

    SIGTERM, which launch sends 5 s after SIGINT unless it is told otherwise, would end it there.
    """
    if configured.value('explorer', 'on_shutdown') != 'reset':
        return None
    given = configured.value('explorer', 'shutdown_timeout')
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        given, = (row.default for row in EXPLORER if row.name == 'shutdown_timeout')
    return given + MARGIN


class _Configured:
    """
    What a parameter file says about the nodes of a namespace.

    :raises ParameterError: if it is no such file; with the line.
    """

    def __init__(self, path: str, namespace: str) -> None:
        self._tree = check(path)
        self._namespace = ('/' + namespace.strip('/')).rstrip('/')

    def value(self, node: str, parameter: str) -> Any:
        """Return the last value that the file gives, or None."""
        values = [
            parameters[parameter] for whom, parameters in entries(self._tree)
            if parameter in parameters
            and re.fullmatch(self._pattern(whom), f'{self._namespace}/{node}')]
        return values[-1] if values else None

    def _pattern(self, whom: str) -> str:
        """Return a regular expression for the names of nodes that an entry is for."""
        wildcards = {'*': '/[^/]+', '**': '(/[^/]+)*'}
        return ''.join(wildcards.get(token, '/' + re.escape(token))
                       for token in whom.strip('/').split('/'))
