# SPDX-License-Identifier: Apache-2.0

"""Exported graphs of places have the routes that there are: of a flat, and of random ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from mnm_ros.core import Exploration, Problem, settings
from mnm_ros.export.contents import ExportContents
from mnm_ros.export.formats import FORMATS
from mnm_ros.export.route_graphs import warnings
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import grid_cmp
from mnm_ros.simulation.diff_drive import scenario_of
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.simulation.world import load
import numpy as np
import pytest
from test_route_graphs import load_graph, parse_graph
from tiers import strength, thorough

MOST = 60_000    # steps to a hypothesis
SLIP = 0.1
SHARE = 0.95     # of the pairs that have a way, which have a route
ACTIONS = 'north', 'east', 'south', 'west'


def explored(scenario: Scenario, radius: float, columns: int, seed: int) -> ExportContents:
    """Return what is known at the first hypothesis, of cells that have a place."""
    simulator = Simulator(scenario, seed)
    problem = Problem(actions=len(scenario.actions), radius=radius, epsilon=1.0,
                      delta=strength(0.5, 0.1))
    exploration = Exploration(settings(problem), seed=seed)
    while exploration.hypothesis is None and simulator.steps < MOST:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    known = exploration.knowledge()
    return ExportContents('a test', known, RobotDescription(scenario.actions, positions={
        state: divmod(state, columns)[::-1] for state in known.known}))


def reached(ways: Mapping[int, Collection[int]], first: int) -> set[int]:
    """Return where ways lead from a state to others."""
    found, ahead = {first}, [first]
    while ahead:
        new = {*ways.get(ahead.pop(), ())} - found
        found |= new
        ahead += new
    return found - {first}


def routes(learnt: ExportContents) -> list[set[tuple[int, int]]]:
    """Return from where to where there is a route, as each of the two readers finds it."""
    nodes, edges = load_graph(FORMATS['nav2-route'].write(learnt))
    vertices, lanes = parse_graph(FORMATS['rmf'].write(learnt), home=learnt.knowledge.home)
    state = {number: int(node.state) for number, node in nodes.items()}
    index = [int(options['learnt_state']) for *_, options in vertices]
    return [pairs([(state[start], state[end]) for start, end in (
        found.ways for found in edges.values())], learnt.knowledge.known),
        pairs([(index[start], index[end]) for start, end, _ in lanes], learnt.knowledge.known)]


def pairs(edges: Collection[tuple[int, int]], known: Collection[int]) -> set[tuple[int, int]]:
    """Return between which of the known states edges lead."""
    ways = {state: [end for start, end in edges if start == state] for state in known}
    return {(start, end) for start in known for end in reached(ways, start)}


def test_every_pair_of_places_of_the_flat_has_a_route() -> None:
    world = load('two_room_flat')
    learnt = explored(scenario_of(world), 4.0, world.size[0], 1)
    assert len(learnt.knowledge.known) == 11
    assert [len(found) for found in routes(learnt)] == [110, 110]
    assert warnings(learnt) == []


def random_flat(seed: int) -> Scenario:
    """Return a flat of 4 to 7 rows and columns, of which a quarter of the cells are walls."""
    draw = np.random.default_rng(seed)
    height, width = (int(size) for size in draw.integers(4, 8, 2))
    rows = [['#' if wall else '.' for wall in row] for row in draw.random((height, width)) < 0.25]
    rows[int(draw.integers(height))][int(draw.integers(width))] = 'S'
    cmp = grid_cmp([''.join(row) for row in rows], SLIP, ACTIONS)
    return Scenario('a flat', ACTIONS, cmp.start, (Setting(cmp, None),), Path(f'flat {seed}'))


@thorough(shown_by='export/test_routes.py::test_every_pair_of_places_of_the_flat_has_a_route '
                   'export/test_route_graphs.py::test_nav2_reads_nodes_and_edges')
@pytest.mark.parametrize('seed', range(10))
def test_nearly_every_pair_of_places_of_a_random_flat_has_a_route(seed: int) -> None:
    """Of those that have a way through known places."""
    scenario = random_flat(seed)
    cmp, learnt = scenario.settings[0].cmp, explored(scenario, 5.0, 7, seed)
    known = {*learnt.knowledge.known}
    there_is = pairs([(state, end) for state in known for action in range(cmp.actions)
                      for end, _ in cmp.transitions(state, action)
                      if end in known and end != state], known)
    assert len(known) > 5
    for found in routes(learnt):
        assert found <= there_is
        assert len(found) >= SHARE * len(there_is), (seed, there_is - found)
