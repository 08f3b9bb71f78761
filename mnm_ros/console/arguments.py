"""The command line of `scripts/explore`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
import json
import math
from pathlib import Path

from mnm_ros.console.snapshot import Goal
from mnm_ros.core.presets import PRESETS
from mnm_ros.core.problem import Problem
from mnm_ros.simulation import scenario as scenarios
from mnm_ros.simulation import world as worlds
from mnm_ros.simulation.flat import driver_parameters, scenario_of
from mnm_ros.simulation.yaml_reader import read

EPILOG = """\
Without --once and --changes it watches until Ctrl-C.

exit status:
  0    the goal was reached and the hypothesis is right; or watching was ended by Ctrl-C
  1    a state is missing or a policy over the limit; a node ended; --timeout
  2    bad arguments
  130  the goal was interrupted by Ctrl-C (143 by SIGTERM)

Set ROS_DOMAIN_ID to the value shown to look on with other ROS programs on this machine.
"""

OWN_OPTIONS = (
    'actions', 'delta', 'epsilon', 'preset', 'radius', 'scenario', 'seed', 'world')
"""Parameters that have arguments of their own."""


@dataclass(frozen=True)
class Options:
    """What to run and when to stop.

    Attributes:
        scenario: the truth, be it simulated by cmp_sim or equivalent to the world.
        world: what diff_drive_sim simulates; None if cmp_sim simulates the scenario.
        goal: when to stop; None to watch on.
        timeout: in s; None for no limit.
        parameters: pairs of a node and ``name:=value`` for it.
    """

    scenario: scenarios.Scenario
    world: worlds.World | None
    problem: Problem
    preset: str
    seed: int
    goal: Goal | None
    timeout: float | None
    parameters: tuple[tuple[str, str], ...]

    def commands(self) -> dict[str, list[str]]:
        """Return the arguments of each node, ``-m module --ros-args ...``, by its name."""
        seed = f'seed:={self.seed}'
        shared = [f'radius:={self.problem.radius!r}', f'epsilon:={self.problem.epsilon!r}', seed]
        actions = json.dumps(self.scenario.actions, ensure_ascii=False)
        explorer = [*shared, f'actions:={actions}', f'preset:={self.preset}',
                    f'delta:={self.problem.delta!r}']
        if self.world is None:
            path = json.dumps(str(self.scenario.path))
            own = {'cmp_sim': [*shared, f'scenario:={path}'], 'explorer': explorer}
        else:
            path = json.dumps(str(self.world.path))
            own = {
                'diff_drive_sim': [seed, f'world:={path}', 'real_time_factor:=0.0', 'tick:=0.1'],
                'grid_driver': [f'{name}:={json.dumps(value)}' for name, value
                                in driver_parameters(self.world).items()],
                'explorer': [*explorer, 'step_timeout:=60.0']}
        for node, assignment in self.parameters:
            own[node].append(assignment)
        return {node: ['-m', f'mnm_ros.nodes.{node}', '--ros-args', *(
                    word for assignment in assignments for word in ('-p', assignment))]
                for node, assignments in own.items()}


def parse(arguments: Sequence[str]) -> Options:
    """Return the options; bad arguments end the program with exit status 2."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        scenario, world = _subject(given.scenario)
        problem = Problem(len(scenario.actions), given.radius, given.epsilon, given.delta)
        goal = _goal(given, scenario)
        parameters = tuple(_parameter(text, world is not None) for text in given.parameters)
    except ValueError as error:
        parser.error(str(error))
    return Options(
        scenario, world, problem, given.preset, given.seed, goal, given.timeout, parameters)


def _subject(path_or_name: str) -> tuple[scenarios.Scenario, worlds.World | None]:
    """Return the scenario, and the world from which it is derived, if any."""
    path = Path(path_or_name).expanduser()
    is_world = path_or_name in worlds.shipped() or (
        path.is_file() and 'rows' in (read(path).mapping('a world or a scenario')))
    if not is_world:
        return scenarios.load(path_or_name), None
    world = worlds.load(path_or_name)
    return scenario_of(world), world


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='explore', epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description='Explore a simulated CMP, or a flat with a simulated mobile robot, and watch '
                    'it live.')
    parser.add_argument(
        'scenario', nargs='?', default='two_rooms',
        help=f'a file or one of: {", ".join(scenarios.shipped())} (default: %(default)s); or a '
             f'world for a simulated mobile robot: {", ".join(worlds.shipped())}')
    until = parser.add_mutually_exclusive_group()
    until.add_argument(
        '--once', action='store_true', help='end after the first hypothesis, with a verdict')
    until.add_argument(
        '--changes', type=partial(_whole, 1), metavar='N',
        help='end after N changes have been noticed and relearnt, with a verdict')
    parser.add_argument(
        '--seed', type=partial(_whole, 0), default=0, metavar='N', help='default: %(default)s')
    parser.add_argument(
        '--preset', choices=tuple(PRESETS), default='onboard', help='default: %(default)s')
    parser.add_argument(
        '--radius', type=float, default=4.0, metavar='L',
        help='expected steps within which a state counts as reachable (default: %(default)s)')
    parser.add_argument(
        '--epsilon', type=float, default=1.0, metavar='E',
        help='a policy may take (1 + E) L expected steps (default: %(default)s)')
    parser.add_argument(
        '--delta', type=float, default=0.1, metavar='D',
        help='probability with which the promise may fail (default: %(default)s)')
    parser.add_argument(
        '--timeout', type=_seconds, metavar='S', help='give up after S seconds')
    parser.add_argument(
        '-p', dest='parameters', action='append', default=[], metavar='[node:]name:=value',
        help='parameter of a node, e.g. -p latency:=0.01; repeatable')
    return parser


def _goal(given: argparse.Namespace, scenario: scenarios.Scenario) -> Goal | None:
    if given.changes is None:
        return Goal() if given.once else None
    possible = len(scenario.settings) - 1
    if given.changes > possible:
        raise ValueError(
            f'argument --changes: {given.changes}, expected at most {possible}: '
            f'{scenario.name} has {len(scenario.settings)} settings')
    return Goal(given.changes)


def _whole(minimum: int, text: str) -> int:
    if not text.isdecimal() or int(text) < minimum:
        raise argparse.ArgumentTypeError(
            f'{text!r}, expected a whole number of at least {minimum}')
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f'{text!r}, expected a number of seconds above 0')
    return value


def _parameter(text: str, mobile: bool) -> tuple[str, str]:
    """Return the node that has the parameter, and ``name:=value``."""
    # This imports ROS, which only the option -p needs.
    from mnm_ros import parameters
    where, assigned, value = text.partition(':=')
    node, _, name = where.rpartition(':')
    started = ('explorer', 'grid_driver', 'diff_drive_sim') if mobile else ('explorer', 'cmp_sim')
    nodes = [candidate for candidate in started if node in ('', candidate)
             and name in {row.name for row in parameters.NODES[candidate]}]
    if not assigned:
        raise ValueError(f'argument -p: {text!r}, expected name:=value')
    if name in OWN_OPTIONS:
        raise ValueError(f'argument -p: {name} is set by an argument of its own')
    if not nodes:
        raise ValueError(f'argument -p: {where} is no parameter of {node or " or ".join(started)}')
    if len(nodes) > 1:
        raise ValueError(
            f'argument -p: {name} is a parameter of several nodes, expected '
            + ' or '.join(f'{candidate}:{name}' for candidate in nodes))
    return nodes[0], f'{name}:={value}'
