# SPDX-License-Identifier: Apache-2.0

"""
How fast a robot with wheels, friction and contacts drives along the edges of a route graph.

The maneuvers of route_driver drive the robot of diff_drive_sim with the physics of MuJoCo, in this
process. The graph is explored to the first hypothesis, with all edges declared, or for so many
steps of --walks at random, each of 3 to 12 edges and the way home. The floor is that of --map.

speed     mean speed as a part of the limit, stops and turns included
contact   % of the time in which the robot touches something; touched: % of the steps
failed    moves that did not lead on; wrong: answers with a place where the robot was not
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
import random
from typing import Any

from arguments import Arguments
from driven import DrivenRobot
from mnm_ros.core.errors import MissingPackageError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.driving.drive import limits_of, Outcome
from mnm_ros.driving.sight import MapSight
from mnm_ros.parameters import NODES
from mnm_ros.places.drives import EdgeMove, RouteHome, Routes
from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.zones import declaration_of, ZonePlace, Zones
from mnm_ros.simulation import physics
from mnm_ros.simulation.graph_world import GraphWorld

TICK = 0.05    # s


class RouteRobot(DrivenRobot):
    """
    Drives as ``route_driver`` does.

    :ivar steps: that it has made; touched, failed, wrong: how many of them.
    """

    def __init__(self, world: GraphWorld, seed: int, scan: bool) -> None:
        def parameters(node: str, given: dict[str, Any]) -> dict[str, Any]:
            return {**{spec.name: spec.default for spec in NODES[node]}, **given}
        body = replace(physics.TURTLEBOT, tick=TICK)
        self._given = given = {**parameters('route_driver', physics.driver_parameters(
            world, body)), 'use_scan': scan}
        self.graph, self.home = world.route.graph, world.route.home
        self.zones = Zones(self.graph)
        self.routes = Routes(self.zones, 1 / given['max_speed'], given['move_timeout'])
        if given['use_map']:
            self.routes.read(world.map, given['robot_radius'])
        self.steps = self.touched = self.failed = self.wrong = 0
        super().__init__(
            physics.PhysicalDrive(world, body, seed), ZonePlace(self.zones, given['hysteresis']),
            limits_of(given), given, parameters('diff_drive_sim', {}), seed,
            MapSight(world.map, given['robot_radius']) if given['use_map'] else None)

    def order(self, action: int) -> int:
        """Execute an action; return the state that is answered."""
        contact, here = self.contact, self.place.state
        if action != RESET:
            move = EdgeMove(self.routes, self.graph.outgoing(here)[action])
            self.play(move)
            self.failed += move.outcome is not Outcome.REACHED
        elif here != self.home or not self.steps:
            self.play(RouteHome(self.routes, self.home, self._given['home_retries'],
                                limit=self._given['home_timeout']))
        self.think()
        state, (x, y) = self.place.state, self.robot.pose[:2]
        margin = 1 + 2 * self._given['hysteresis']
        self.wrong += state in self.graph.places and (
            self.zones.distance(state, x, y) > margin * self.graph.zone(state))
        self.steps += 1
        self.touched += self.contact > contact
        return state


def explore(robot: RouteRobot, radius: float, seed: int, most: int) -> int:
    """Explore to the first hypothesis; return how many places are known then."""
    exploration = Exploration(settings(Problem(robot.graph.actions, radius, 1.0, 0.1, support=(
        Support(declaration_of(robot.graph, robot.routes.closed))))), seed)
    while exploration.hypothesis is None and robot.steps < most:
        action = exploration.next_action()
        state = robot.order(action)
        if action == RESET and state != robot.home:
            exploration.relocate(state)
        else:
            exploration.observe(action, state)
    return len(exploration.hypothesis.targets) if exploration.hypothesis else 0


def walk(robot: RouteRobot, steps: int, seed: int) -> None:
    """Walk at random along edges, and home now and then."""
    draw = random.Random(seed)
    robot.order(RESET)
    while robot.steps < steps:
        for _ in range(draw.randint(3, 12)):
            edges = robot.graph.outgoing(robot.place.state)
            if not edges:
                break
            robot.order(draw.randrange(len(edges)))
        robot.order(RESET)


def rows(given: Any) -> Iterator[str]:
    """Yield the names of the columns, and a line for each run."""
    yield (f'{"graph":<24} {"seed":>4} {"steps":>6} {"known":>5} {"hours":>6} {"driven":>8} '
           f'{"speed":>5} {"contact":>7} {"touched":>7} {"failed":>6} {"wrong":>5}')
    for name in given.graphs:
        world = GraphWorld.of(read_graph(Path(name)), given.map and Path(given.map))
        for seed in given.seeds:
            robot = RouteRobot(world, seed, given.scan)
            known = 0
            if given.walks:
                walk(robot, given.walks, seed)
            else:
                known = explore(robot, world.route.radius, seed, given.most)
            speed = robot.metres / robot.time / robot.limits.speed
            yield (f'{world.name[:24]:<24} {seed:>4} {robot.steps:>6,} {known or "-":>5} '
                   f'{robot.time / 3600:>6.3f} {robot.metres:>6,.0f} m {speed:>5.2f} '
                   f'{robot.contact / robot.time:>7.3%} {robot.touched / robot.steps:>7.2%} '
                   f'{robot.failed:>6} {robot.wrong:>5}')


def main(arguments: Sequence[str] | None = None) -> int:
    """Drive along the graphs and print a line for each run."""
    parser = Arguments(__doc__)
    parser.add_argument('graphs', nargs='+', metavar='GRAPH', help='files of route graphs')
    parser.add_argument('--map', default='', metavar='FILE', help='of nav2, of all these graphs '
                        '(default: an open floor)')
    parser.add_argument('--no-scan', dest='scan', action='store_false',
                        help='the robot has no scanner')
    parser.number('walks', 0, 'steps at random in place of an exploration', least=0)
    parser.number('most', 5000, 'steps of an exploration', least=1)
    parser.seeds(2, 'of the runs')
    given = parser.read(arguments)
    try:
        physics.check_installed('benchmarks/route_driving')
    except MissingPackageError as error:
        parser.exit(2, f'{error}\n')
    for line in rows(given):
        print(line, flush=True)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
