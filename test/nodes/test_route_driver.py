# SPDX-License-Identifier: Apache-2.0

"""``route_driver``: its places and edges, its way home, exploration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
import json
from math import dist
from pathlib import Path

from driven_robot import DrivenRobot, RESET
from driver_here import driving_here
from faulty_robot import as_steps
from flats import saved
from geometry_msgs.msg import PoseStamped
from mnm_ros import messages
from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.places.geojson import read_geojson
from mnm_ros.plan.plan_file import text_of
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.diff_drive import driver_parameters
from mnm_ros.simulation.graph_world import GraphWorld
from node_processes import Peer, read_counts
import pytest
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import Trigger
from test_planned import PLAN, turned
from tiers import strength

drive = pytest.fixture(driving_here)

PLACES = {1: ('dock', 0.0, 0.0), 2: ('hall', 2.5, 0.0), 3: ('kitchen', 2.5, 2.0),
          4: ('lab', 0.0, 3.0)}
DOCK, HALL, KITCHEN, LAB = PLACES
RING = ((DOCK, HALL), (HALL, KITCHEN), (KITCHEN, LAB), (LAB, DOCK))


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """Return the path of a graph in which four places are a ring."""
    return write(tmp_path, PLACES, RING)


def write(folder: Path, places: Mapping[int, tuple[str, float, float]],
          pairs: Sequence[tuple[int, int]]) -> str:
    """Write a graph with edges in both directions; return the path of the file."""
    features = [{'properties': {'id': number, 'name': name}, 'geometry': {
        'type': 'Point', 'coordinates': [x, y]}} for number, (name, x, y) in places.items()]
    features += [{'properties': {'id': 10 + number, 'startid': start, 'endid': end},
                  'geometry': {'type': 'LineString', 'coordinates': []}}
                 for number, (start, end) in enumerate((*pairs, *(pair[::-1] for pair in pairs)))]
    path = folder / 'places.geojson'
    path.write_text(json.dumps({'type': 'FeatureCollection', 'features': features}))
    return str(path)


def action_to(start: int, end: int) -> int:
    return sorted(other for pair in RING if start in pair for other in pair
                  if other != start).index(end)


def go(robot: DrivenRobot, start: int, end: int) -> tuple[int, str]:
    return robot.act(action_to(start, end))


def test_edges_and_a_way_home_round_one_that_is_closed(
        drive: Callable[..., DrivenRobot], peer: Peer, graph: str) -> None:
    described = peer.listen(String, 'robot_side', messages.LATCHED)
    reports = peer.listen(String, 'step_report', messages.STEP)
    robot = drive('route_driver', graph=graph, home_place='dock')
    assert robot.act(RESET) == (DOCK, 'RESET: reached, in state 1')
    said = RobotDescription.from_text(described[-1].data)
    assert said.names == {OUTSIDE: 'outside', **{
        number: name for number, (name, _, _) in PLACES.items()}}
    assert said.moves[KITCHEN] == ('to hall', 'to lab') and said.zones[DOCK] == 1.0
    assert said.declaration.successors[KITCHEN] == ((HALL, KITCHEN), (KITCHEN, LAB))
    assert said.declaration.successors[OUTSIDE] == ((), ())

    assert go(robot, DOCK, HALL) == (HALL, 'to hall: reached, in state 2')
    assert go(robot, HALL, KITCHEN) == (KITCHEN, 'to kitchen: reached, in state 3')
    robot.platform.wall = lambda x, y: 1.1 < x < 1.3    # a wall between hall and dock,
    assert go(robot, KITCHEN, LAB) == (KITCHEN, 'to lab: bumped, in state 3')    # and further
    assert dist((robot.platform.x, robot.platform.y), PLACES[KITCHEN][1:]) < 0.2
    robot.platform.wall = lambda x, y: 1.1 < x < 1.3 and y < 1    # on the shorter way home
    assert robot.act(RESET) == (DOCK, 'RESET: reached, in state 1')
    seq, = robot.states[-1].data[:1]
    legs = [json.loads(message.data)['legs'] for message in reports
            if json.loads(message.data)['seq'] == seq]
    assert [(start, end) for start, _, end in legs[-1]] == [
        (KITCHEN, HALL), (HALL, HALL), (HALL, KITCHEN), (KITCHEN, LAB), (LAB, DOCK)]
    assert all(action == action_to(start, end) for start, action, end in legs[-1] if start != end)
    assert '4 places and 8 edges' in robot.process.output


def test_from_outside_of_all_places_only_reset_leads_on(
        drive: Callable[..., DrivenRobot], graph: str) -> None:
    robot = drive('route_driver', graph=graph, home_place='1', home_timeout=4.0)
    assert robot.act(RESET)[0] == DOCK
    robot.wait_for_rest()
    for tenth in range(13):    # carried, not faster than it could drive
        robot.platform.y = -tenth / 10
        count = robot.platform.poses
        robot.peer.wait_for(lambda count=count: robot.platform.poses > count + 2, 'poses')
    robot.peer.wait_for(lambda: robot.states[-1].data[1] == OUTSIDE, 'the report')
    seq = robot.send(0)
    robot.peer.wait_for(lambda: robot.answers(seq), 'the refusal')
    assert robot.answers(seq) == [OUTSIDE] and robot.platform.y == pytest.approx(-1.2)
    assert robot.act(RESET) == (DOCK, 'RESET: reached, in state 1')
    assert 'takes at least 4 s, expected a home_timeout above that, not 4' in robot.process.output


def test_a_map_on_which_all_edges_are_free_lets_it_declare_them(
        drive: Callable[..., DrivenRobot], tmp_path: Path) -> None:
    """Also if the graph is in the frame of the map; before there is a map nothing is declared."""
    graph = Path(write(tmp_path, PLACES, RING))
    found = json.loads(graph.read_text())
    for feature in found['features']:
        feature['properties']['frame'] = 'odom'
    graph.write_text(json.dumps(found))
    robot = drive('route_driver', graph=str(graph), home_place='dock', use_map=True,
                  robot_radius=0.2)
    said = robot.peer.listen(String, 'robot_side', messages.LATCHED)
    robot.peer.wait_for(lambda: said, 'a description')
    assert not RobotDescription.from_text(said[-1].data).declaration
    # Home is not free, hence it has to be the map of another place, and is ignored.
    robot.platform.publish_map(120, 120, 0.1, 0.5, -3.0, [0] * 120 * 120)
    robot.peer.wait_for(lambda: 'map ignored: ' in robot.process.output, 'a refusal')
    assert ('the map on the topic map: no free cell at 2 of the 4 places of '
            f'{graph}: home (dock), lab; expected a map with a free home') in robot.process.output
    pixels = [0] * 120 * 120
    pixels[50 * 120 + 55] = 100    # kitchen
    robot.platform.publish_map(120, 120, 0.1, -3.05, -3.05, pixels)
    robot.peer.wait_for(lambda: ': kitchen; expected a free cell at each place' in
                        robot.process.output, 'a warning')
    robot.platform.publish_map(120, 120, 0.1, -3.0, -3.0, [0] * 120 * 120)
    robot.peer.wait_for(lambda: RobotDescription.from_text(
        said[-1].data).declaration, 'a declaration')
    assert RobotDescription.from_text(said[-1].data).frame == 'odom'


def test_a_map_that_closes_the_edge_under_way_ends_the_move(
        drive: Callable[..., DrivenRobot], graph: str) -> None:
    robot, pixels = drive(
        'route_driver', graph=graph, use_map=True, robot_radius=0.2), [0] * 60 * 60
    pixels[20 * 60 + 15] = -1    # a speck, which closes nothing
    robot.platform.publish_map(60, 60, 0.1, -1.0, -2.0, pixels)
    assert robot.act(RESET)[0] == DOCK
    seq = robot.send(action_to(DOCK, HALL))
    robot.peer.wait_for(lambda: robot.platform.x > 0.3, 'the robot to be on the way')
    pixels[20::60] = [100] * 60    # at x = 1, between dock and hall
    robot.platform.publish_map(60, 60, 0.1, -1.0, -2.0, pixels)
    robot.peer.wait_for(
        lambda: robot.answers(seq) and robot.outcomes[-1].startswith('to hall'), 'the answer')
    assert robot.answers(seq) == [DOCK]
    assert robot.outcomes[-1] == 'to hall: obstructed, in state 1'
    assert robot.platform.x < 0.8
    assert go(robot, DOCK, HALL) == (DOCK, 'to hall: blocked, in state 1')


@pytest.mark.parametrize(('given', 'expected'), [
    ({'home_place': 'attic'}, "parameter 'home_place' is 'attic', expected the number or the name "
     'of one place: dock, hall, kitchen, lab'),
    ({'tolerance': 2.0}, "parameter 'tolerance' is 2, expected <= 1, the zone of dock"),
    ({'graph': ''}, "parameter 'graph' is '', expected the path of a route graph")])
def test_what_it_refuses(start: Callable, graph: str, given: dict, expected: str) -> None:
    process = start('route_driver', **{'graph': graph, **given})
    assert process.wait() == 1 and expected in process.output


def test_several_floors_are_refused(start: Callable, tmp_path: Path) -> None:
    path = tmp_path / '0.yaml'
    path.write_text("""
levels:
  L1: {vertices: [[0, 0, {}], [5, 0, {lift: A}]], lanes: [[0, 1, {}], [1, 0, {}]]}
  L2: {vertices: [[5, 0, {lift: A}], [5, 7, {}]], lanes: [[0, 1, {}], [1, 0, {}]]}
""")
    process = start('route_driver', graph=str(path))
    assert process.wait() == 1
    assert f'{path}: places on the levels L1, L2, expected one level' in process.output


def test_in_the_flat_of_a_plan_only_free_edges_are_driven(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    """The door is the one way to the other room; the robot starts at home of the graph."""
    plan = tmp_path / 'flat.plan.yaml'
    plan.write_text(text_of(PLAN, 'flat.yaml'), encoding='utf-8')
    at = {1: (0.5, 0.0), 2: (3.5, 0.0), 3: (0.5, 0.9), 4: (3.5, 0.9)}    # 3 to 4: a wall
    path = write(tmp_path, {number: ('', *turned(*point)) for number, point in at.items()},
                 ((1, 2), (1, 3), (3, 4)))
    described = peer.listen(String, 'robot_side', messages.LATCHED)
    start('diff_drive_sim', graph=path, map=str(saved(tmp_path, PLAN.map)), robot_radius=0.1,
          real_time_factor=0.0, tick=0.2, publish_clock=False)
    driver = start('route_driver', graph=path, plan=str(plan), pose_source='amcl_pose')
    answers = peer.listen(Int64MultiArray, 'state', messages.STEP)
    commands = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: described and commands.get_subscription_count(), 'the driver')
    for seq, (action, place) in enumerate((    # the last one is to lead from 3 to 4
            (RESET, 1), (0, 2), (RESET, 1), (1, 3), (1, 3)), 100):
        commands.publish(Int64MultiArray(data=(seq, action)))
        peer.wait_for(lambda seq=seq: answers and answers[-1].data[0] == seq, 'the answer')
        assert answers[-1].data[1] == place
    said = RobotDescription.from_text(described[-1].data)
    assert said.walls and said.declaration.successors[3] == ((1, 3), (3,))
    assert '2 edges are not free on the map: 3 to 4, 4 to 3' in driver.output


def test_an_explorer_learns_the_graph_and_that_a_passage_closes(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    """Also from the edges that it drives on its ways home; each answer is where it truly is."""
    scale = strength(0.7, 1.0)    # with less, no crate can stand in a passage
    places = {number: (name, scale * x, scale * y) for number, (name, x, y) in PLACES.items()}
    graph = write(tmp_path, places, RING)
    world = GraphWorld.of(read_geojson(Path(graph)))
    closing, = world.doors
    assert closing.startswith('passage ')
    known = peer.listen(Int64MultiArray, 'known_states')
    events = peer.listen(String, 'events')
    reports = peer.listen(String, 'step_report', messages.STEP)
    commands = peer.listen(Int64MultiArray, 'action', messages.STEP)
    truth = peer.listen(PoseStamped, 'true_pose')
    wrong: list[tuple[int, float, float]] = []

    def compare(answer: Int64MultiArray) -> None:
        if not truth:    # before the first tick
            return
        at, state = truth[-1].pose.position, answer.data[1]
        if state == OUTSIDE or dist((at.x, at.y), places[state][1:]) > 1.1:
            wrong.append((state, at.x, at.y))
    peer.node.create_subscription(Int64MultiArray, 'state', compare, messages.STEP)
    processes = [
        start('diff_drive_sim', graph=graph, real_time_factor=0.0, tick=strength(0.2, 0.1),
              publish_clock=False),
        start('route_driver', **driver_parameters(world)),
        start('explorer', radius=2.3, delta=0.5, step_timeout=60.0,
              record=str(tmp_path / 'counts.json'))]
    peer.wait_for(lambda: known and {*known[-1].data[2:]} == {*PLACES}, 'all places')
    assert peer.call(Trigger, 'change').message.startswith(
        f'setting 1 is in force: {closing} closed')
    peer.wait_for(lambda: any(
        json.loads(message.data).get('kind') == 'change' for message in events), 'the change')
    for process in reversed(processes):
        assert process.stop() == 0, process.output
    legs = Counter(tuple(leg) for message in reports for leg in json.loads(message.data)['legs'])
    counted = as_steps(read_counts(tmp_path / 'counts.json'))
    moves = {message.data[0] for message in commands if message.data[1] != RESET}
    assert not wrong and legs and not legs - counted and counted.total() > len(moves)
