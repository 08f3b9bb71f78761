# SPDX-License-Identifier: Apache-2.0

"""
A mobile robot explores: explorer, grid_driver and, unless ``sim:=false``, diff_drive_sim.

With ``graph`` it drives along the edges of a route graph: route_driver is in place of grid_driver.

With ``robots`` one explorer has several robots, each with the other two in its namespace.
"""

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
    USE_SIM_TIME,
    values,
    wanted_explorer,
)
from mnm_ros.parameters.params_file import ParameterFile
from mnm_ros.places.graph_file import read_graph
from mnm_ros.simulation.diff_drive import driver_parameters
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.world import load

CONFIG = Path(__file__).parents[1] / 'config' / 'robot.yaml'
OF_ROUTES = CONFIG.with_name('route.yaml')

ARGUMENTS = {
    'world': ('two_room_flat', 'What diff_drive_sim simulates: a file, or the name of one in '
                               'config/worlds; grid and home follow from it'),
    'graph': ('', 'A route graph for route_driver, and what diff_drive_sim simulates, in place of '
                  'world and grid'),
    'real_time_factor': ('0.0', 'Simulated seconds per second; 0.0 for as fast as can be'),
    'params_file': (str(CONFIG), 'Parameters of all nodes; with graph by default those of '
                                 'route.yaml beside it'),
    'clock': ('true', 'Let the simulated robot publish /clock; false where there are several '
                      'robots, and with robots in any case'),
    **EXPLORATION,
    'use_sim_time': ('', f'{USE_SIM_TIME[1][:-1]}, with sim: as clock)'),
}


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=_robot)])


def _robot(context: LaunchContext) -> list[Node]:
    """Make the nodes; what follows from the world goes on top of ``params_file``."""
    argument = values(context, ARGUMENTS)
    by_default = OF_ROUTES if argument['graph'] else CONFIG
    params_file = str(by_default if argument['params_file'] == str(CONFIG) else user_path(
        argument['params_file']))
    simulated = argument['sim'] == 'true'
    configured = ParameterFile(params_file, argument['namespace'])
    robots = fleet(argument, configured)
    if robots and simulated:
        argument['clock'] = 'false'    # each has its own time
    clock = simulated and argument['clock'] == 'true'
    sim_time = argument['use_sim_time'] or (argument['clock'] if simulated else '')
    argument['use_sim_time'] = sim_time
    timed = {'use_sim_time': sim_time == 'true'} if sim_time else {}
    graph = argument['graph'] and str(user_path(argument['graph']).absolute())
    driver, declaring = ('route_driver', {'graph': graph}) if graph else (
        'grid_driver', {'declare_successors': argument['declare_successors']})
    wanted = [wanted_explorer(context, argument, configured)]
    if simulated:
        world = GraphWorld.of(read_graph(Path(graph))) if graph else load(argument['world'])
        own_seeds = seeds({'seed': ''}, configured, 'diff_drive_sim', robots)
        for robot, seed in zip(robots or [''], own_seeds, strict=True):
            wanted += [
                NodeToStart(driver, {**driver_parameters(world), **declaring, **timed},
                            namespace=robot),
                NodeToStart('diff_drive_sim', {
                    world.kind: str(world.path), 'publish_clock': clock,
                    'seed': seed,
                    'real_time_factor': float(argument['real_time_factor'])}, namespace=robot)]
    else:
        wanted += [NodeToStart(driver, {**declaring, **timed}, namespace=robot)
                   for robot in robots or ['']]
    return exploring(wanted, argument, params_file, CONFIG.parent, 'map')
