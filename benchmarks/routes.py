# SPDX-License-Identifier: Apache-2.0

"""
What the first hypothesis of a route graph costs: steps, metres and hours.

Each edge is declared, and a drive along it fails as in ``simulation/route_scenario.py``. L takes
in all places. A failed drive is counted as driven. RESET drives the shortest way home along the
edges; its drives fail as often, and are repeated. Hours are at --speed, and --pause for each step
and each drive of a way home.
"""

from __future__ import annotations

from collections.abc import Sequence
import random
from typing import NamedTuple

from arguments import Arguments
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.places.drives import Routes
from mnm_ros.places.place_graph import Edge, PlaceGraph
from mnm_ros.places.zones import Zones
from mnm_ros.simulation.route_scenario import SUCCESS
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.simulation.simulator import Simulator

DELTA = 0.1


class Cost(NamedTuple):
    """
    What one exploration has cost.

    :ivar steps: RESETs included.
    :ivar driven, home: metres of steps, and of ways home.
    :ivar legs: drives of ways home.
    :ivar known: places of the first hypothesis; None if there was none in time.
    """

    steps: int
    resets: int
    driven: float
    home: float
    legs: int
    known: int | None

    def hours(self, speed: float, pause: float) -> float:
        """Return how long it takes at ``speed`` m/s, with ``pause`` s for each drive."""
        return ((self.driven + self.home) / speed + pause * (self.steps + self.legs)) / 3600


def world(name: str) -> tuple[Scenario, PlaceGraph, float]:
    """Return a route graph as a scenario, the graph, and the radius that takes all of it in."""
    scenario = load(name)
    if scenario.graph is None:
        raise InvalidValueError(f'{name} is a scenario, expected the file of a route graph')
    return scenario, scenario.graph, scenario.radius


def explore(scenario: Scenario, graph: PlaceGraph, radius: float, seed: int, epsilon: float,
            most: int) -> Cost:
    """Explore a route graph until the first hypothesis, for at most so many steps."""
    problem = Problem(graph.actions, radius, epsilon, DELTA, support=Support(graph.declaration))
    exploration, robot = Exploration(settings(problem), seed), Simulator(scenario, seed)
    ways, chance = ways_home(graph, scenario.start), random.Random(seed)
    here, resets, driven, home, legs = scenario.start, 0, 0.0, 0.0, 0
    while exploration.hypothesis is None and robot.steps < most:
        action = exploration.next_action()
        if action == RESET:
            resets += 1
            while here != scenario.start:
                home, legs = home + graph.length(ways[here]), legs + 1
                if chance.random() < SUCCESS:
                    here = ways[here].end
        else:
            driven += graph.length(graph.outgoing(here)[action])
        here = robot.step(action)
        exploration.observe(action, here)
    found = exploration.hypothesis
    return Cost(robot.steps, resets, driven, home, legs, found and len(found.targets))


def ways_home(graph: PlaceGraph, home: int) -> dict[int, Edge]:
    """Return by place the first edge of the shortest way home."""
    ways = Routes(Zones(graph), 1.0, 0.0).towards(home, ())
    return {place: way.edge for place, way in ways.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Explore the graphs and print a line for each run."""
    parser = Arguments(__doc__)
    parser.add_argument('graphs', nargs='+', metavar='GRAPH', help='files of route graphs')
    parser.seeds(2, 'of the runs')
    parser.number('epsilon', 1.0, 'of the promise')
    parser.number('speed', 0.5, 'in m/s')
    parser.number('pause', 2.0, 's for each drive')
    parser.number('most', 50_000, 'steps of a run', least=1)
    given = parser.read(arguments)
    print(f'{"graph":<24} {"places":>6} {"edges":>5} {"L":>5} {"seed":>4} {"steps":>6} '
          f'{"RESETs":>6} {"driven":>7} {"home":>7} {"hours":>5} {"known":>5}')
    for name in given.graphs:
        scenario, graph, radius = parser.checked(lambda: world(name))    # noqa: B023
        for seed in given.seeds:
            cost = explore(scenario, graph, radius, seed, given.epsilon, given.most)
            print(f'{scenario.name[:24]:<24} {len(graph.places):>6} '
                  f'{len(graph.edges):>5} {radius:>5.1f} {seed:>4} {cost.steps:>6,} '
                  f'{cost.resets:>6} {cost.driven:>5,.0f} m {cost.home:>5,.0f} m '
                  f'{cost.hours(given.speed, given.pause):>5.2f} '
                  f'{"none" if cost.known is None else cost.known:>5}', flush=True)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
