# SPDX-License-Identifier: Apache-2.0

"""The explorer and, unless ``sim:=false``, a simulated robot for it, or several of them."""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.actions import Node
from mnm_ros.files import user_path
from mnm_ros.launching import (
    declared,
    EXPLORATION,
    exploring,
    fleet,
    NodeToStart,
    seeds,
    STATES_FRAME,
    values,
    wanted_explorer,
)
from mnm_ros.parameters.params_file import ParameterFile
from mnm_ros.simulation import scenario

CONFIG = Path(__file__).parents[1] / 'config' / 'explore.yaml'
SCENARIO = 'two_rooms'

ARGUMENTS = {
    'scenario': ('', 'What cmp_sim simulates: a file, or the name of one in config/scenarios '
                     f'(empty: as in params_file, otherwise {SCENARIO})'),
    'params_file': (str(CONFIG), 'Parameters of all nodes'),
    **EXPLORATION,
}


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    """Make the nodes; arguments that are not empty go on top of ``params_file``."""
    argument = values(context, ARGUMENTS)
    params_file = str(user_path(argument['params_file']))
    configured = ParameterFile(params_file, argument['namespace'])
    explorer = wanted_explorer(context, argument, configured)
    named = configured.value('explorer', 'actions')
    if argument['sim'] == 'false':
        # Where states are in the world, it is most likely on a map.
        return exploring([explorer], argument, params_file, CONFIG.parent, 'map')
    chosen = argument['scenario'] or configured.value('cmp_sim', 'scenario') or SCENARIO
    if not named:
        explorer.values['actions'] = list(scenario.load(chosen).actions)
    robots = fleet(argument, configured)
    simulators = [
        NodeToStart('cmp_sim', {'scenario': chosen, 'seed': seed,
                                'declare_successors': argument['declare_successors'],
                                'use_sim_time': argument['use_sim_time']}, namespace=robot)
        for robot, seed in zip(
            robots or [''], seeds(argument, configured, 'cmp_sim', robots), strict=True)]
    return exploring([explorer, *simulators], argument, params_file, CONFIG.parent, STATES_FRAME)
