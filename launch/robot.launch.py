# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""A mobile robot explores: explorer, grid_driver and, unless ``sim:=false``, diff_drive_sim."""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from mnm_ros.launching import declared, FLAG, node, NODE_ARGUMENTS, RVIZ, USE_SIM_TIME, values
from mnm_ros.simulation.flat import driver_parameters
from mnm_ros.simulation.world import load

EXPLORE = Path(__file__).with_name('explore.launch.py')
CONFIG = Path(__file__).parents[1] / 'config' / 'robot.yaml'

ARGUMENTS = {
    'sim': ('true', 'Start the simulated robot, too'),
    'navigator': ('false', 'Start the navigator, too'),
    'dashboard': ('false', 'Serve the page in a browser, too'),
    'dashboard_port': ('', 'Port of the page (empty: as in params_file)'),
    'rviz': RVIZ,
    'world': ('two_room_flat', 'What diff_drive_sim simulates: a file, or the name of one in '
                               'config/worlds; grid and home follow from it'),
    'real_time_factor': ('0.0', 'Simulated seconds per second; 0.0 for as fast as can be'),
    'params_file': (str(CONFIG), 'Parameters of all nodes'),
    'preset': ('', 'Parts and constants of the algorithm (empty: as in params_file)'),
    'seed': ('', 'Seed of every random choice of the explorer (empty: as in params_file)'),
    'autostart': ('', 'Explore without waiting for a lifecycle manager (empty: as in '
                      'params_file)'),
    'clock': ('true', 'Let the simulated robot publish /clock; false where there are several '
                      'robots'),
    'use_sim_time': ('', f'{USE_SIM_TIME[1][:-1]}, with sim: as clock)'),
    **NODE_ARGUMENTS,
}


def generate_launch_description() -> LaunchDescription:
    choices = {'sim': FLAG, 'navigator': FLAG, 'dashboard': FLAG, 'rviz': FLAG, 'clock': FLAG,
               'use_respawn': FLAG, 'autostart': ('', *FLAG), 'use_sim_time': ('', *FLAG)}
    return LaunchDescription([*declared(ARGUMENTS, choices), OpaqueFunction(function=_robot)])


def _robot(context: LaunchContext) -> list[Action]:
    """Make the nodes; what follows from the world goes on top of ``params_file``."""
    argument = values(context, ARGUMENTS)
    params_file = str(Path(argument['params_file']).expanduser())
    simulated = argument['sim'] == 'true'
    clock = simulated and argument['clock'] == 'true'
    sim_time = argument['use_sim_time'] or (argument['clock'] if simulated else '')
    timed = {'use_sim_time': sim_time == 'true'} if sim_time else {}
    passed_on = {name: argument[name] for name in (
        'navigator', 'dashboard', 'dashboard_port', 'rviz', 'preset', 'seed', 'autostart',
        'namespace', 'use_respawn', 'log_level')}
    explorer = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(EXPLORE)),
        launch_arguments={**passed_on, 'sim': 'false', 'params_file': params_file,
                          'use_sim_time': sim_time}.items())
    if not simulated:
        return [explorer, node('grid_driver', argument, [params_file, timed])]
    world = load(argument['world'])
    grid = {**driver_parameters(world), **timed}
    simulation = {'world': str(world.path), 'publish_clock': clock,
                  'real_time_factor': float(argument['real_time_factor'])}
    return [explorer, node('grid_driver', argument, [params_file, grid]),
            node('diff_drive_sim', argument, [params_file, simulation])]
