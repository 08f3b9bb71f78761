# SPDX-License-Identifier: Apache-2.0

"""The command line of `scripts/explore`: what to run, with which arguments, and when to stop."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
import math
import os
from pathlib import Path
from typing import Any

from mnm_ros import topics
from mnm_ros.console.arguments import add_language, explained, parser, seconds, split, whole
from mnm_ros.console.options import body_in, Options, StopCondition
from mnm_ros.core.errors import InvalidValueError, MissingPackageError
from mnm_ros.core.model.problem import Problem, RADIUS
from mnm_ros.core.presets import PRESETS
from mnm_ros.file_kinds import refuse_kind
from mnm_ros.files import user_path
from mnm_ros.language import ENGLISH
from mnm_ros.located_yaml import read
from mnm_ros.places.graph_file import ENDINGS, GEOJSON
from mnm_ros.plan.plan_file import load as load_plan
from mnm_ros.simulation import scenario as scenarios
from mnm_ros.simulation import world as worlds
from mnm_ros.simulation.diff_drive import scenario_of
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.spelling import nearest

EPILOG = """\
Without --once and --changes, the command runs until Ctrl-C. With --robots, each simulated robot
is alone in a copy of the world. With --robot, the command simulates nothing: the explorer commands
the robot whose robot side runs, or with --robots several robots. The explorer takes its parameters
from --params-file, then from the options and -p. With --robot, the options have the defaults of
the explorer. Arguments for ROS come after --ros-args; all nodes get these arguments.

exit status:
  0    the run reached its end and the hypothesis is right (not checked with --robot); or a run
       without an end was ended by Ctrl-C
  1    a state is missing, or a policy exceeds the limit; a node ended; --timeout
  2    bad arguments
  130  the run was interrupted by Ctrl-C before its end (143 by SIGTERM)

If ROS_DOMAIN_ID is not set, a simulation chooses a ROS domain of its own and shows its number.
Other ROS programs on this machine can watch the nodes in this domain. With --robot it is domain 0.
"""

OWN_OPTIONS = (
    'actions', 'delta', 'epsilon', 'language', 'preset', 'radius', 'robots', 'scenario', 'seed',
    'world')
"""Parameters that have arguments of their own."""


SCENARIO, FURNISHED = 'two_rooms', 'furnished_flat'

DEFAULTS: dict[str, Any] = {
    'seed': 0, 'preset': 'onboard', 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1}
"""Of what is simulated; the explorer of one's own robot has them from its parameters."""


def parse(arguments: Sequence[str], program: str = 'explore') -> Options:
    """Return the options; bad arguments end the program with exit status 2."""
    made = _parser(program)
    words, ros_arguments = split(arguments)
    given = made.parse_args(words)
    # An argument that is not set is left to the parameters of the explorer of one's own robot.
    said = {name: value for name in DEFAULTS if (value := getattr(given, name)) is not None}
    try:
        scenario, world = _subject(given)
        whole_graph = {'radius': 0.0} if scenario is not None and scenario.graph else {}
        value = {**DEFAULTS, **whole_graph, **said}
        radius = value['radius'] or (RADIUS[0] if scenario is None else scenario.radius)
        nodes = (*_nodes(scenario, world), *(('dashboard',) if given.page else ()))
        problem = Problem(len(scenario.actions) if scenario is not None else 1,
                          radius, value['epsilon'], value['delta'])
        goal = _goal(given, scenario)
        robots = given.robots or ()
        if robots and given.changes and scenario is not None and world is None:
            raise InvalidValueError(
                'argument --changes: not allowed with --robots but in a world, as '
                'what each robot is in changes after steps of its own')
        parameters = tuple(_parameter(text, nodes) for text in given.parameters)
        file = _params_file(given.params_file, scenario)
    except (ValueError, MissingPackageError) as error:
        made.error(str(error))
    if scenario is None:
        parameters = (*(('explorer', f'{name}:={value}') for name, value in said.items()),
                      *parameters)
    if given.language != ENGLISH:
        parameters = (*((node, f'language:={given.language}') for node in (
            'explorer', 'navigator', 'dashboard')), *parameters)
    return Options(scenario, world, problem, value['preset'], value['seed'], goal, given.timeout,
                   parameters, given.namespace, file, tuple(ros_arguments), given.page, robots,
                   given.physics, given.language)


def _subject(
        given: argparse.Namespace) -> tuple[scenarios.Scenario | None, worlds.World | None]:
    """Return the scenario, and the world from which it is derived, if there are any."""
    if given.robot and given.scenario is not None:
        raise InvalidValueError(
            f'argument --robot: not allowed with {given.scenario}, which is simulated')
    for option in ('physics', 'map'):
        if given.robot and getattr(given, option):
            raise InvalidValueError(f'argument --{option}: not allowed with --robot')
    if given.robot:
        return None, None
    path_or_name = given.scenario or (FURNISHED if given.physics else SCENARIO)
    world = _found(path_or_name)
    graph = world.graph if isinstance(world, scenarios.Scenario) else None
    if given.map and graph is None:
        raise InvalidValueError(
            f'argument --map: not allowed with {path_or_name}, expected a route graph')
    if graph is not None and (given.map or given.physics):
        world = GraphWorld.of(graph, user_path(given.map).absolute() if given.map else None)
    if isinstance(world, scenarios.Scenario):
        if given.physics:
            raise InvalidValueError(
                f'argument --physics: not allowed with {path_or_name}, expected a world, a plan '
                'or a route graph')
        return world, None
    if given.physics:
        from mnm_ros.simulation.physics import check_installed
        check_installed('argument --physics')
    return scenario_of(world, body_in(given.physics, world).radius), world


def _found(path_or_name: str) -> scenarios.Scenario | worlds.World:
    """Return what a path or a name stands for."""
    path = user_path(path_or_name)
    shipped = path.name == path_or_name and not (path.suffix and path.is_file())
    name = path_or_name.removesuffix('.yaml')
    of_scenarios, of_worlds = scenarios.shipped(), worlds.shipped()
    names = *of_scenarios, *of_worlds
    _check_there(path, path_or_name, names)
    if shipped and name not in names:
        raise InvalidValueError(
            f"no scenario and no world is called '{path_or_name}', expected a path, a scenario "
            f'({", ".join(of_scenarios)}) or a world ({", ".join(of_worlds)})'
            + nearest(name, names))
    keys: set[str] = set()
    if not shipped and path.is_file() and path.suffix not in GEOJSON:
        keys = read(path, 'scenario, world, plan or route graph').names
        refuse_kind(path, keys, 'scenario', 'world', 'plan', 'route graph',
                    'graph of Open-RMF')
    if 'plan' in keys:
        return PlanWorld.of(load_plan(path))
    if name in of_worlds if shipped else 'rows' in keys:
        return worlds.load(path_or_name)
    return scenarios.load(path_or_name)


def _check_there(path: Path, given: str, names: Sequence[str]) -> None:
    """Raise InvalidValueError if a file is missing that can have no other place."""
    by_name = next((what for ending, what in {**ENDINGS, '.plan.yaml': 'a plan'}.items()
                    if path.name.endswith(ending)), '')
    is_path = by_name or path.name != given or (
        path.suffix and given.removesuffix('.yaml') not in names)
    if is_path and not os.path.exists(path):
        raise InvalidValueError(f'{given}: there is no such file, expected ' + (
            by_name or 'a scenario, a world, a plan or a route graph')
            + nearest(given.removesuffix('.yaml'), names))


def _nodes(scenario: scenarios.Scenario | None, world: worlds.World | None) -> tuple[str, ...]:
    """Return the nodes that are started."""
    if scenario is None:
        return ('explorer',)
    return ('explorer', 'cmp_sim') if world is None else (
        'explorer', world.driver, 'diff_drive_sim')


def _params_file(path: str, scenario: scenarios.Scenario | None) -> str:
    if not path:
        return ''
    if scenario is not None:
        raise InvalidValueError('argument --params-file: only allowed with --robot')
    file = user_path(path)
    if not file.is_file():
        raise InvalidValueError(f'argument --params-file: {path}, expected a file')
    return str(file.absolute())


def _parser(program: str) -> argparse.ArgumentParser:
    made = parser(program, 'Explore in a simulated CMP, in a flat with a simulated mobile robot, '
                  'or with your own\nrobot, and watch it live.')
    made.epilog, made.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    made.add_argument(
        'scenario', nargs='?',
        help=f'a file or one of: {", ".join(scenarios.shipped())} (default: {SCENARIO}); or a '
             "route graph (GeoJSON of nav2, Open-RMF's navigation graph or building.yaml, LCAS' "
             'tmap2); or a '
             f'world for a simulated mobile robot: {", ".join(worlds.shipped())}')
    made.add_argument(
        '--robot', action='store_true',
        help='explore with the robot whose robot side runs; simulate nothing')
    made.add_argument(
        '--robots', type=partial(explained, topics.robots), metavar='N',
        help='explore with N robots together, in the namespaces r1, r2 and so on, or in the named '
             "namespaces: --robots 'kitchen hall'; with --robot real robots, else simulated "
             'robots')
    made.add_argument(
        '--params-file', default='', metavar='FILE',
        help='parameters of the explorer, only with --robot')
    made.add_argument(
        '--physics', action='store_true',
        help='simulate wheels, friction and contacts by MuJoCo, in a world, a plan or a '
             f'route graph (default: {FURNISHED})')
    made.add_argument(
        '--page', action='store_true',
        help='serve a page for browsers at http://127.0.0.1:8080 (-p port:=8081 for another '
             'port), and without --robots start the navigator. The page stays until Ctrl-C')
    made.add_argument(
        '--map', metavar='FILE',
        help='walls for a route graph: the YAML file of the map of nav2 that belongs to the '
             'graph. A robot with wheels drives there; with --physics alone the floor is empty')
    add_language(made, 'the picture, the page and the topics')
    until = made.add_mutually_exclusive_group()
    until.add_argument(
        '--once', action='store_true', help='end after the first hypothesis, and compare it with '
                                            'the simulated world')
    until.add_argument(
        '--changes', type=partial(whole, 1), metavar='N',
        help='end after N changes have been noticed and relearnt, and compare the hypothesis with '
             'the simulated world')
    made.add_argument(
        '--seed', type=partial(whole, 0), metavar='N',
        help=f'seed of every random choice (default: {DEFAULTS["seed"]})')
    made.add_argument(
        '--preset', choices=tuple(PRESETS),
        help=f'parts and constants of the algorithm (default: {DEFAULTS["preset"]})')
    made.add_argument(
        '--radius', type=float, metavar='L',
        help='expected steps within which a state counts as reachable, 0 for all declared states '
             f'(default: {DEFAULTS["radius"]}, or 0 with a route graph)')
    made.add_argument(
        '--epsilon', type=float, metavar='E',
        help=f'a policy may take (1 + E) L expected steps (default: {DEFAULTS["epsilon"]})')
    made.add_argument(
        '--delta', type=float, metavar='D',
        help=f'probability with which the promise may fail (default: {DEFAULTS["delta"]})')
    made.add_argument(
        '--timeout', type=seconds, metavar='S', help='give up after S seconds')
    made.add_argument(
        '-p', dest='parameters', action='append', default=[], metavar='[node:]name:=value',
        help='parameter of a node, e.g. -p latency:=0.01; repeatable')
    return made


def _goal(given: argparse.Namespace, scenario: scenarios.Scenario | None) -> StopCondition | None:
    if given.changes is None:
        return StopCondition() if given.once else None
    settings = len(scenario.settings) if scenario is not None else math.inf
    if scenario is not None and settings == 1:
        raise InvalidValueError(
            f'argument --changes: {given.changes}, but {scenario.name} has only one '
            'setting, so that nothing changes')
    if scenario is not None and given.changes > settings - 1:
        raise InvalidValueError(
            f'argument --changes: {given.changes}, expected at most {settings - 1}: '
            f'{scenario.name} has {settings} settings')
    return StopCondition(given.changes)


def _parameter(text: str, started: Sequence[str]) -> tuple[str, str]:
    """Return which of the nodes has the parameter, and ``name:=value``."""
    # This imports ROS, which only the option -p needs.
    from mnm_ros import parameters
    where, assigned, value = text.partition(':=')
    node, _, name = where.rpartition(':')
    nodes = [candidate for candidate in started if node in ('', candidate)
             and name in {spec.name for spec in parameters.NODES[candidate]}]
    if not assigned:
        raise InvalidValueError(f'argument -p: {text!r}, expected name:=value')
    simulated = {'cmp_sim', 'diff_drive_sim'} & {*started}
    if name in OWN_OPTIONS and not (name == 'actions' and not simulated):
        raise InvalidValueError(f'argument -p: {name} is set by an argument of its own')
    if node and node not in started:
        raise InvalidValueError(f'argument -p: no node {node} is started, expected '
                                f'{" or ".join(started)}{nearest(node, started)}')
    if not nodes:
        known = [spec.name for candidate in started if node in ('', candidate)
                 for spec in parameters.NODES[candidate]]
        raise InvalidValueError(f'argument -p: {where} is no parameter of '
                                f'{node or " or ".join(started)}{nearest(name, known)}')
    if len(nodes) > 1:
        raise InvalidValueError(
            f'argument -p: {name} is a parameter of several nodes, expected '
            + ' or '.join(f'{candidate}:{name}' for candidate in nodes))
    return nodes[0], f'{name}:={value}'
