# SPDX-License-Identifier: Apache-2.0

"""The command line of `scripts/explore`: what to run, with which arguments, and when to stop."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
import json
import math
from typing import Any

from mnm_ros import topics
from mnm_ros.console.arguments import add_language, explained, parser, seconds, split, whole
from mnm_ros.core.errors import InvalidValueError, MissingPackageError
from mnm_ros.core.model.problem import Problem, RADIUS
from mnm_ros.core.presets import PRESETS
from mnm_ros.files import user_path
from mnm_ros.located_yaml import read
from mnm_ros.places.graph_file import GEOJSON
from mnm_ros.plan.plan_file import load as load_plan
from mnm_ros.simulation import scenario as scenarios
from mnm_ros.simulation import world as worlds
from mnm_ros.simulation.diff_drive import Body, driver_parameters, scenario_of
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.view.language import ENGLISH
from mnm_ros.view.telemetry import Telemetry

EPILOG = """\
Without --once and --changes, the command runs until Ctrl-C. With --robots, each simulated robot
is alone in a copy of the world. With --robot, the command simulates nothing: the explorer commands
the robot whose robot side runs, or with --robots several robots. The explorer takes its parameters
from --params-file, then from the options and -p; the options have the defaults of the explorer
then. Arguments for ROS come after --ros-args; all nodes get these arguments.

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
        parameters = (*((node, f'language:={given.language}') for node in nodes
                        if node in ('explorer', 'dashboard')), *parameters)
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
    return scenario_of(world, _body(given.physics, world).radius), world


def _found(path_or_name: str) -> scenarios.Scenario | worlds.World:
    """Return what a path or a name stands for."""
    path = user_path(path_or_name)
    shipped = path.name == path_or_name and not (path.suffix and path.is_file())
    name = path_or_name.removesuffix('.yaml')
    if shipped and name not in (*scenarios.shipped(), *worlds.shipped()):
        raise InvalidValueError(
            f"no scenario and no world is called '{path_or_name}', expected a path, a scenario "
            f'({", ".join(scenarios.shipped())}) or a world ({", ".join(worlds.shipped())})')
    keys = read(path).mapping('a world, a plan or a scenario') if (
        not shipped and path.is_file() and path.suffix not in GEOJSON) else {}
    if 'plan' in keys:
        return PlanWorld.of(load_plan(path))
    if name in worlds.shipped() if shipped else 'rows' in keys:
        return worlds.load(path_or_name)
    return scenarios.load(path_or_name)


def _body(physical: bool, world: worlds.World) -> Body:
    """Return the simulated robot, of the size for which a plan was made."""
    body = Body()
    if physical:
        from mnm_ros.simulation.physics import TURTLEBOT
        body = TURTLEBOT
    return replace(body, radius=world.plan.robot_radius) if (
        isinstance(world, PlanWorld)) else body


def _node_parameters(
        physical: bool, world: worlds.World) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Return by name the parameters of a robot for diff_drive_sim, and those for its driver."""
    body = _body(physical, world)
    if not physical:
        return {'robot_radius': body.radius}, driver_parameters(world, body)
    from mnm_ros.simulation import physics
    return physics.simulator_parameters(body), physics.driver_parameters(world, body)


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
             'graph; without --map, or without --physics, the floor is empty')
    add_language(made, 'the picture, the page and the topics')
    until = made.add_mutually_exclusive_group()
    until.add_argument(
        '--once', action='store_true', help='end after the first hypothesis, with a verdict')
    until.add_argument(
        '--changes', type=partial(whole, 1), metavar='N',
        help='end after N changes have been noticed and relearnt, with a verdict')
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
    if not nodes:
        raise InvalidValueError(
            f'argument -p: {where} is no parameter of {node or " or ".join(started)}')
    if len(nodes) > 1:
        raise InvalidValueError(
            f'argument -p: {name} is a parameter of several nodes, expected '
            + ' or '.join(f'{candidate}:{name}' for candidate in nodes))
    return nodes[0], f'{name}:={value}'


@dataclass(frozen=True)
class StopCondition:
    """When to stop: after the first hypothesis, and once so many changes are relearnt."""

    changes: int = 0

    def reached(self, heard: Telemetry) -> bool:
        """Return whether there is a hypothesis and enough changes have been relearnt."""
        relearnt = heard.count('changes_relearnt') or 0
        return heard.hypothesis is not None and relearnt >= self.changes

    def awaited(self, heard: Telemetry) -> str:
        """Return in a few words what is still missing."""
        if not heard.phase:
            return 'the first message of the explorer'
        if heard.hypothesis is None:
            return 'the first hypothesis'
        relearnt = heard.count('changes_relearnt') or 0
        return f'a change to be noticed and relearnt ({relearnt} of {self.changes} so far)'


@dataclass(frozen=True)
class Options:
    """
    The programs to run, and when to stop.

    :ivar scenario: the truth, be it simulated by cmp_sim or equivalent to the world; None with a
        robot of one's own.
    :ivar world: what diff_drive_sim simulates; None if cmp_sim simulates the scenario.
    :ivar problem: what cmp_sim, diff_drive_sim and the explorer receive.
    :ivar goal: when to stop; None to watch on.
    :ivar timeout: in s; None for no limit.
    :ivar parameters: pairs of a node and ``name:=value`` for it.
    :ivar namespace: of all nodes.
    :ivar params_file: of the explorer of one's own robot; '' for none.
    :ivar ros_arguments: of all nodes, ``--ros-args`` before them.
    :ivar page: whether the page is served, too.
    :ivar robots: namespaces of robots that explore together; empty for one without its own.
    :ivar physics: whether diff_drive_sim has the physics of MuJoCo.
    :ivar language: of what the terminal, the page and the topics say.
    """

    scenario: scenarios.Scenario | None
    world: worlds.World | None
    problem: Problem
    preset: str
    seed: int
    goal: StopCondition | None
    timeout: float | None
    parameters: tuple[tuple[str, str], ...]
    namespace: str = '/'
    params_file: str = ''
    ros_arguments: tuple[str, ...] = ()
    page: bool = False
    robots: tuple[str, ...] = ()
    physics: bool = False
    language: str = ENGLISH

    @property
    def title(self) -> str:
        """Return what is explored, and with how many robots."""
        if not self.robots:
            return self.scenario.name if self.scenario is not None else 'your robot'
        number = f'{len(self.robots)} robot{"s" * (len(self.robots) > 1)}'
        return f'{self.scenario.name}, {number}' if self.scenario is not None else (
            f'your {number}')

    @property
    def settings(self) -> int:
        """How many settings what is explored has; 0 if that is not known."""
        return len(self.scenario.settings) if self.scenario is not None else 0

    @property
    def address(self) -> str:
        """Return where the page is, for people; empty if there is none."""
        given = dict(assignment.split(':=', 1) for node, assignment in self.parameters
                     if node == 'dashboard')
        host, port = given.get('host', '127.0.0.1'), given.get('port', '8080')
        return f'page at http://{host}:{port}; ' if self.page else ''

    def commands(self) -> dict[str, list[str]]:
        """
        Return the arguments of each node, ``-m module --ros-args ...``, by its name.

        Before the name of a node of one of several robots is the namespace of that robot.
        """
        own = self._simulated(self.scenario) if self.scenario is not None else {'explorer': []}
        if self.page:
            # From the page one robot can be sent to a state, which the navigator does.
            own |= {'dashboard': []} if self.robots else {'navigator': [], 'dashboard': []}
        if self.robots:
            own['explorer'].append(f'robots:={json.dumps(self.robots)}')
        for name, assignments in own.items():
            assignments += [assignment for node, assignment in self.parameters
                            if node == name.rpartition('/')[2]]
        return {name: self._command(name, assignments) for name, assignments in own.items()}

    def _command(self, name: str, assignments: Sequence[str]) -> list[str]:
        robot, _, node = name.rpartition('/')
        namespace = f'{self.namespace.rstrip("/")}/{robot}'.rstrip('/')
        place = ['-r', f'__ns:={namespace}'] if namespace else []
        file = ['--params-file', self.params_file] if self.params_file else []
        return ['-m', f'mnm_ros.nodes.{node}', '--ros-args', *place, *file, *(
                word for assignment in assignments for word in ('-p', assignment)),
                *self.ros_arguments]

    def _simulated(self, scenario: scenarios.Scenario) -> dict[str, list[str]]:
        """Return what the options say about the parameters of each node."""
        shared = [f'radius:={self.problem.radius!r}', f'epsilon:={self.problem.epsilon!r}']
        actions = json.dumps(scenario.actions, ensure_ascii=False)
        explorer = [*shared, f'seed:={self.seed}', f'actions:={actions}',
                    f'preset:={self.preset}', f'delta:={self.problem.delta!r}',
                    "stop_dir:=''"]    # nobody stands beside a simulated robot
        if self.world is not None:
            explorer.append('step_timeout:=60.0')
        found = {}
        for number, robot in enumerate(self.robots or ['']):
            before = f'{robot}/' if robot else ''
            seed = f'seed:={self.seed + number}'    # equal ones would have the same luck
            if self.world is None:
                path = json.dumps(str(scenario.path))
                found[f'{before}cmp_sim'] = [*shared, seed, f'scenario:={path}']
                continue
            path = json.dumps(str(self.world.path.absolute()))
            map_file = self.world.map_file if isinstance(self.world, GraphWorld) else None
            simulator, driver = _node_parameters(self.physics, self.world)
            found[f'{before}diff_drive_sim'] = [
                seed, f'{self.world.kind}:={path}',
                *_assigned({'map': str(map_file)} if map_file else {}),
                'real_time_factor:=0.0', 'tick:=0.1',
                *(['publish_clock:=false'] if robot else []), *_assigned(simulator)]
            found[f'{before}{self.world.driver}'] = [*_assigned(driver)]
        return {**found, 'explorer': explorer}


def _assigned(values: Mapping[str, object]) -> Iterator[str]:
    return (f'{name}:={json.dumps(value)}' for name, value in values.items())
