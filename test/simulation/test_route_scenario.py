# SPDX-License-Identifier: Apache-2.0

"""A route graph is explored like any scenario, and learnt as a whole."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path
from time import process_time

from flats import DOOR, flat, saved
from mnm_ros.console.command_line import parse
from mnm_ros.core import Exploration, play, Problem, settings, Support
from mnm_ros.core.errors import FileError
from mnm_ros.core.model.problem import MARGIN
from mnm_ros.driving.pose import Pose
from mnm_ros.places.drives import Routes
from mnm_ros.places.geojson import geojson, read_geojson
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.places.zones import Zones
from mnm_ros.plan.place_maker import make
from mnm_ros.plan.request import Request
from mnm_ros.simulation import physics
from mnm_ros.simulation.diff_drive import Body
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.route_scenario import (
    LEAST_STEPS,
    RouteWorld,
    STEPS_PER_EDGE,
    SUCCESS,
)
from mnm_ros.simulation.scenario import changes, describe, load, of_graph, Scenario
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from tiers import strength

RING = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4)]    # and a branch


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / 'ring.geojson'
    places = [{'properties': {'id': place, 'metadata': {'name': f'room {place}'}},
               'geometry': {'type': 'Point', 'coordinates': [place, place % 2]}}
              for place in range(5)]
    edges = [{'properties': {'id': 10 * number + back, 'startid': ends[0], 'endid': ends[1]},
              'geometry': {'type': 'LineString'}}
             for number, pair in enumerate(RING, 1)
             for back, ends in enumerate((pair, pair[::-1]))]
    path.write_text(json.dumps({'features': places + edges}))
    return path


@pytest.fixture
def ring(path: Path) -> Scenario:
    return load(str(path))


def test_a_drive_arrives_or_leads_back_to_its_start(ring: Scenario) -> None:
    cmp = ring.settings[0].cmp
    assert ring.start == cmp.start == 1 and ring.actions == ('way 1', 'way 2', 'way 3')
    assert dict(cmp.transitions(1, 1)) == pytest.approx({2: SUCCESS, 1: 1 - SUCCESS})
    assert cmp.transitions(4, 1) == ((4, 1.0),)
    assert describe(ring, 0).action_name(2, 2) == 'to room 4'


def test_the_busiest_passage_with_a_short_way_round_closes(ring: Scenario) -> None:
    before, after = ring.settings
    assert before.until == LEAST_STEPS > STEPS_PER_EDGE * 2 * len(RING)
    assert after.until is None
    changed = {(state, action) for state in range(5) for action in range(3)
               if before.cmp.transitions(state, action) != after.cmp.transitions(state, action)}
    # Without the passage from 1 to 0, or to 2, a place would be three edges from home; L is 2.3.
    assert changed == {(0, 1), (3, 0)}


def test_a_graph_without_a_way_round_has_one_setting(tmp_path: Path) -> None:
    path = tmp_path / 'line.geojson'
    path.write_text(json.dumps({'features': [
        *({'properties': {'id': place}, 'geometry': {'type': 'Point', 'coordinates': [place, 0]}}
          for place in range(2)),
        *({'properties': {'id': 7 + start, 'startid': start, 'endid': 1 - start},
           'geometry': {'type': 'LineString'}} for start in range(2))]}))
    assert len(load(str(path)).settings) == 1


def test_a_long_chain_is_looked_through_at_once(tmp_path: Path) -> None:
    """No passage has a way round; to try each of them took minutes."""
    pairs = [(at + one, at + 1 - one) for at in range(3000) for one in (0, 1)]
    graph = PlaceGraph(tmp_path / 'chain.geojson',
                       {at: Place(at, 0.0) for at in range(3001)},
                       tuple(Edge(str(key), *ends) for key, ends in enumerate(pairs)))
    began = process_time()
    assert not RouteWorld(graph).closing and process_time() - began < 20.0


def test_all_places_are_learnt_and_so_is_the_closed_passage(ring: Scenario) -> None:
    assert ring.radius == 2 * MARGIN and ring.graph is not None
    problem = Problem(3, ring.radius, 1.0, 0.1, support=Support(ring.graph.declaration))
    exploration, robot = Exploration(settings(problem), 1), Simulator(ring, 1)
    while exploration.hypothesis is None:
        play(exploration, robot.step, 1)
    assert set(exploration.hypothesis.targets) == {*range(5)} and robot.setting == 0
    assert exploration.steps < ring.settings[0].until
    if strength(True, False):
        robot.change()    # else the passage closes after all of these steps
    while exploration.changes_relearnt < 1:
        play(exploration, robot.step, 10)
    assert robot.setting == 1
    assert judge(robot.cmp, exploration.hypothesis, ring.radius, 1.0).ok


def test_the_console_takes_in_the_whole_graph_unless_told_a_radius(path: Path) -> None:
    assert parse([str(path), '--once']).problem.radius == 2 * MARGIN
    assert parse([str(path), '--radius', '3']).problem.radius == 3
    assert parse(['two_rooms', '--radius', '0']).problem.radius == 4 * MARGIN


def test_a_robot_drives_on_an_open_floor(
        path: Path, ring: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physics, 'mujoco', physics)    # installed or not
    options = parse([str(path), '--physics', '-p', 'route_driver:max_speed:=0.2'])
    # The passage that closes crosses another one in its middle, and is short: no crate closes it.
    assert len(options.scenario.settings) == 1 and options.scenario.graph == ring.graph
    simulator, driver, _ = options.commands().values()
    assert f'graph:="{path}"' in simulator and 'physics:=true' in simulator
    assert {f'graph:="{path}"', 'use_scan:=true', 'max_speed:=0.2'} < {*driver}
    world, places = GraphWorld.of(ring.graph), ring.graph.places
    start = world.home_pose
    assert start == Pose(places[ring.start].x, places[ring.start].y, 0.0)
    assert world.local(start) == Pose(start.x - world.corner.x, start.y - world.corner.y, 0.0)
    assert not world.is_free(999.0, 0.0, 0.17, ())


def test_a_robot_drives_in_the_flat_of_the_map_of_its_graph(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = {1: Place(0.5, 0, 'dock', home=True), 2: Place(3.5, 0, 'hall')}
    graph = PlaceGraph(tmp_path / 'flat.geojson', places, (
        Edge('1', 1, 2, 'kitchen-hall'), Edge('2', 2, 1, 'kitchen-hall')))
    graph.path.write_text(geojson(graph), encoding='utf-8')
    map_file = saved(tmp_path, flat(DOOR))
    options = parse([str(graph.path), '--map', str(map_file)])
    simulator, driver, _ = options.commands().values()
    assert f'map:="{map_file}"' in simulator and 'use_scan:=true' not in driver
    world = options.world
    assert isinstance(world, GraphWorld) and world.home_pose == Pose(0.5, 0.0, 0.0)
    assert world.is_free(2.05, 0.0, 0.17, ()) and not world.is_free(2.05, 1.0, 0.17, ())
    assert [*world.doors] == [] and len(world.settings) == 1    # there is no way round
    for words, expected in (
            (['grid_3x3', '--map', str(map_file)], 'not allowed with grid_3x3, expected a route'),
            (['--robot', '--map', str(map_file)], 'argument --map: not allowed with --robot'),
            ([str(graph.path), '--map', str(tmp_path / 'none.yaml')], 'none.yaml')):
        with pytest.raises(SystemExit):
            parse(words)
        assert expected in capsys.readouterr().err
    with pytest.raises(FileError, match=r'no free cell at 1 of the 2 places .*: home \(1\); exp'):
        GraphWorld.of(replace(graph, places={**places, 1: Place(0.5, 1.9, home=True)}), map_file)
    walled = GraphWorld.of(replace(graph, places={**places, 2: Place(3.5, 1.9)}), map_file)
    assert 'no free cell at 1 of the 2 places' in walled.scenario().warnings[-1]


def test_each_edge_that_is_made_of_a_map_with_specks_is_driven_on_that_map(
        tmp_path: Path) -> None:
    """Unknown specks are on the ways, in each square of 0.3 m; the leg of a table is no speck."""
    leg = (1.0, 0.6, 1.05, 0.65, 100)
    specks = [(0.3 * column, 0.3 * row, 0.3 * column + 0.05, 0.3 * row + 0.05, -1)
              for column in range(1, 20) for row in range(1, 10) if column != 10]
    map_file = saved(tmp_path, flat(DOOR, *specks, leg))
    made = make(Request(map_file), tmp_path / 'flat.geojson')
    made.graph.path.write_text(geojson(made.graph), encoding='utf-8')
    assert len(made.specks) > 100 and not any(speck.occupied for speck in made.specks)
    world, radius = GraphWorld.of(read_geojson(made.graph.path), map_file), Body().radius
    routes = Routes(Zones(world.route.graph), 1.0, 0.0)
    routes.read(world.map, radius)
    assert not routes.closed and not world.remarks
    for edge in world.route.graph.edges:
        start, end = (world.route.graph.places[place] for place in (edge.start, edge.end))
        for x, y in np.linspace((start.x, start.y), (end.x, end.y), 50).tolist():
            assert world.is_free(x, y, radius, ()), edge
    (x, y), = flat(DOOR).points([(24.5, 16.5)]).tolist()    # of the leg, with a margin of 0.2 m
    assert not world.is_free(x, y, 0.05, ())


def test_a_door_closes_before_a_passage_that_is_busier() -> None:
    """The passage that is busier begins a ring, as the one of the door does, which ends it."""
    places = {number: Place(4 * x, 4 * y, home=number == 1) for number, (x, y) in enumerate(
        ((0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)), 1)}
    ring = (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1)
    doors = {**dict.fromkeys(ring, ''), (2, 5): 'hatch'}
    graph = PlaceGraph(Path('yard.geojson'), places, tuple(
        Edge(f'{ends}', *ends, door) for pair, door in doors.items()
        for ends in (pair, pair[::-1])))
    assert [*GraphWorld.of(graph).doors] == ['hatch']
    assert changes(of_graph(RouteWorld(graph)), 0, 1) == 'door hatch closed'
    unnamed = replace(graph, edges=tuple(replace(edge, door='') for edge in graph.edges))
    assert [*GraphWorld.of(unnamed).doors] == [
        changes(of_graph(RouteWorld(unnamed)), 0, 1).removesuffix(' closed')]
    assert RouteWorld(graph).closing == {(2, 5), (5, 2)}
    assert RouteWorld(unnamed).closing != {(2, 5), (5, 2)}


def test_a_crate_closes_a_passage_and_no_other() -> None:
    """The middle of the passage from 1 to 3 is that of another edge."""
    places = {1: Place(0, 0), 2: Place(5, 4), 3: Place(8, 0), 4: Place(4, 3), 5: Place(4, -2)}
    pairs = [(1, 3), (1, 2), (2, 3), (4, 2), (4, 5)]
    graph = PlaceGraph(Path('hall.geojson'), places, tuple(
        Edge(f'{ends}', *ends) for pair in pairs for ends in (pair, pair[::-1])))
    world = GraphWorld.of(graph)
    closing = RouteWorld(graph).closing
    closed = world.closed(world.settings[1])
    shut = {(edge.start, edge.end) for edge in graph.edges if not all(world.is_free(
        *((1 - part / 99) * a + part / 99 * b for a, b in zip(
            (places[edge.start].x, places[edge.start].y),
            (places[edge.end].x, places[edge.end].y))), 0.17, closed) for part in range(100))}
    assert shut == {*closing} and closing
