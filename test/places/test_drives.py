# SPDX-License-Identifier: Apache-2.0

"""Drives along edges and home, among crates in random halls: where they end, and what they say."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import dist
from pathlib import Path
from random import Random

from mnm_ros.driving.drive import Drive, Leg, Limits, Outcome, STILL
from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.driving.maneuvers import Maneuver
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.places.drives import EdgeMove, RouteHome, Routes, Stay
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.places.zones import declaration_of, to_lines, ZonePlace, Zones
import numpy as np
import pytest
from tiers import strength

REACHED, TIMEOUT, BUMPED, BLOCKED, OBSTRUCTED, DETOUR, BROKEN_OFF, _ = Outcome
STEP = 0.05    # m
SIZE = 0.2     # m, of a crate and the robot together
RADIUS = 0.17  # m, of a robot beside walls


def graph_of(places: dict[int, tuple[float, float]], *pairs: tuple[int, int],
             **zones: float) -> PlaceGraph:
    """Return a graph in which ``pairs`` are edges; a zone is that of the place in its name."""
    return PlaceGraph(Path('hall.geojson'), {
        number: Place(*at, zone=zones.get(f'_{number}')) for number, at in places.items()},
        tuple(Edge(str(number), *pair) for number, pair in enumerate(pairs)))


def both(*pairs: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for one, other in pairs:
        yield from ((one, other), (other, one))


class Hall:
    """
    A robot that drives straight on until it touches a crate.

    :ivar flaky: the probability with which a leg ends on the way for no reason.
    :ivar began: the poses at which legs began, by the place there and the point they lead to.
    """

    def __init__(self, graph: PlaceGraph, place: int, crates: list[tuple[float, float]] = (),
                 seed: int = 0, flaky: float = 0.0) -> None:
        self.zones = Zones(graph)
        self.routes = Routes(self.zones, 1.0, 20.0)
        self.pose = Pose(*self.zones.centre(place), 0.0)
        self.place = ZonePlace(self.zones, 0.0)
        self.place.update(self.pose)
        self.crates, self.flaky, self.random = list(crates), flaky, Random(seed)
        self.legs: list[Leg] = []
        self.began: dict[tuple[int | None, float, float], Pose] = {}

    def play(self, maneuver: Maneuver) -> int:
        """Return the state in which a maneuver ends."""
        ended = None
        while leg := maneuver.next(ended, self.place.cell, self.pose):
            self.legs.append(leg)
            self.began[self.place.cell, leg.x, leg.y] = self.pose
            assert len(self.legs) < 1000
            ended = self.drive(leg)
            self.place.update(self.pose)
        return self.place.state

    def drive(self, leg: Leg) -> Outcome:
        (x, y), far = self.pose[:2], leg.distance(self.pose)
        last = self.random.uniform(0, far) if self.random.random() < self.flaky else far
        for number in range(1, int(last / STEP) + 2):
            part = min(number * STEP / far, 1.0) if far else 1.0
            there = x + part * (leg.x - x), y + part * (leg.y - y)
            if any(dist(there, crate) < SIZE and dist(there, crate) < dist(self.pose[:2], crate)
                   for crate in self.crates):
                return self.random.choice((BUMPED, BLOCKED, OBSTRUCTED, TIMEOUT))
            self.pose = Pose(*there, 0.0)
        return TIMEOUT if last < far else REACHED

    def is_open(self, edge: Edge, pose: Pose | None = None) -> bool:
        """Whether a robot gets along an edge, from a pose or else from the middle of its start."""
        hall = Hall(self.zones.graph, edge.start, self.crates)
        hall.pose = pose or hall.pose
        return hall.drive(hall.routes.leg(edge.end, hall.pose)) is REACHED


def random_hall(seed: int, flaky: float = 0.0) -> tuple[Hall, int]:
    """Return a hall with some crates in the middle of edges, and home."""
    random = Random(seed)
    places: dict[int, tuple[float, float]] = {}
    while len(places) < 9:
        point = random.uniform(0, 12), random.uniform(0, 12)
        if all(dist(point, other) > 1.5 for other in places.values()):
            places[len(places)] = point
    pairs = [pair for pair in ((one, other) for one in places for other in places if one < other)
             if dist(places[pair[0]], places[pair[1]]) < 5]
    one_way = {pair for pair in pairs if random.random() < 0.2}
    graph = graph_of(places, (0, 1), *(
        each for pair in pairs for each in both(pair) if pair not in one_way or each == pair))
    crates = [((places[a][0] + places[b][0]) / 2, (places[a][1] + places[b][1]) / 2)
              for a, b in pairs if random.random() < 0.3]
    return Hall(graph, random.randrange(9), crates, seed, flaky), graph.home


def leads_home(hall: Hall, place: int, home: int) -> bool:
    """Whether open edges lead from a place to home."""
    found, graph = [place], hall.zones.graph
    for here in found:
        found += [edge.end for edge in graph.outgoing(here)
                  if edge.end not in found and hall.is_open(edge)]
    return home in found


@pytest.mark.parametrize('seed', range(strength(40, 400)))
def test_a_way_home_ends_there_unless_there_is_none_and_what_it_says_is_true(seed: int) -> None:
    hall, home = random_hall(seed)
    graph = hall.zones.graph
    if seed % 3 == 0:
        hall.pose = Pose(hall.random.uniform(0, 12), hall.random.uniform(0, 12), 0.0)
        hall.place.update(hall.pose)
    before = hall.place.cell
    way = RouteHome(hall.routes, home, 1000)
    state = hall.play(way)
    assert state == (-2 if (at := hall.zones.at(*hall.pose[:2])) is None else at)
    if way.problem:
        assert state == OUTSIDE or not leads_home(hall, state, home), way.problem
    else:
        assert state == home and hall.zones.distance(home, *hall.pose[:2]) < 0.01
    for (_, _, end), (following, _, _) in zip(way.legs, way.legs[1:]):
        assert end in (following, OUTSIDE)
    assert not way.legs or before is None or way.legs[0][0] == before
    for start, action, end in way.legs:
        edge = graph.outgoing(start)[action]
        pose = hall.began[(start, *hall.zones.centre(edge.end))]
        assert (end == edge.end) is hall.is_open(edge, pose), (start, edge, end, pose)


@pytest.mark.parametrize('seed', range(strength(20, 200)))
def test_a_way_home_on_which_drives_fail_by_chance(seed: int) -> None:
    """The robot is at home, or there is a reason; it has driven less than its limit allows."""
    hall, home = random_hall(seed, flaky=0.3)
    way = RouteHome(hall.routes, home, 3)
    assert (hall.play(way) == home) is not bool(way.problem)
    assert way.outcome is REACHED or way.problem
    assert sum(leg[2] != hall.zones.graph.outgoing(leg[0])[leg[1]].end for leg in way.legs) <= 4


@pytest.mark.parametrize('seed', range(strength(20, 200)))
def test_an_edge_ends_where_it_is_declared_to(seed: int) -> None:
    """At its end if it is open, else at its start, unless the robot cannot go back either."""
    hall, _ = random_hall(seed)
    graph = hall.zones.graph
    declared = declaration_of(graph).successors
    for place in graph.places:
        for action, edge in enumerate(graph.outgoing(place)):
            hall.pose = Pose(*hall.zones.centre(place), 0.0)
            hall.place.update(hall.pose)
            move, is_open = EdgeMove(hall.routes, edge), hall.is_open(edge)
            state = hall.play(move)
            assert state == (edge.end if is_open else place) and state in declared[place][action]
            assert (move.outcome is REACHED) is is_open


LINE = graph_of({1: (0, 0), 2: (4, 0), 3: (8, 0), 4: (4, 1.2)}, *both((1, 2), (2, 3), (1, 3)))


def test_declared_are_the_ends_and_of_an_edge_that_is_not_driven_the_start() -> None:
    assert declaration_of(LINE, [LINE.outgoing(2)[0]]).successors == {
        OUTSIDE: ((), ()), 1: ((1, 2), (1, 3)), 2: ((2,), (2, 3)), 3: ((1, 3), (2, 3)),
        4: ((), ())}


def test_the_robot_is_at_the_nearest_place_and_leaves_it_well_beyond_its_zone() -> None:
    zones = Zones(graph_of({1: (0, 0), 2: (3, 0), 7: (3, 0)}, *both((1, 2)), _1=1.0, _2=2.5))
    place = ZonePlace(zones, 0.1)
    xs = (0.0, 1.05, 1.55, 1.7, 1.45, 1.35, 9.0, 5.6, 5.45, 5.7, 5.8)
    assert [place.update(Pose(x, 0.0, 0.0)) for x in xs] == [
        1, 1, 2, 2, 2, 2, OUTSIDE, OUTSIDE, 2, 2, OUTSIDE]


def test_it_drives_from_where_it_is_or_round_the_corner_or_from_the_centre() -> None:
    """By how far it is beside the edge and behind it, and how sharp the corner is."""
    for begin, first, via in (
            (Pose(0.8, 0.05, 0.0), 4.0, 0), (Pose(-0.5, 0.0, 0.0), 4.0, 1),
            (Pose(0.0, 0.5, 0.0), 4.0, 5), (Pose(0.4, 0.2, 0.0), 0.0, 0)):
        routes = Routes(Zones(LINE), 1.0, 20.0)
        move = EdgeMove(routes, LINE.outgoing(1)[0])
        leg = move.next(None, 1, begin)
        assert leg[:2] == (first, 0.0) and len(leg.via) == via, begin
        assert not any(dist(point, (0, 0)) > 0.36 for point in leg.via)
        assert first or move.next(REACHED, 1, begin)[:2] == (4.0, 0.0)
        planned = EdgeMove(routes, LINE.outgoing(1)[0], steers=False).next(None, 1, begin)
        assert planned[:2] == (4.0, 0.0) and not planned.via and planned.direct


def test_an_arc_is_as_wide_as_the_map_allows_and_else_keeps_to_the_edges() -> None:
    graph = graph_of({1: (0, 0), 2: (4, 0), 3: (0, 4)}, *both((1, 2), (1, 3)))
    begin, rooms = Pose(0.0, 2.0, 0.0), []
    for walls in (None, (), ((3, 3),), ((1, 1),)):    # in tenths of a m, inside of the corner
        routes = Routes(Zones(graph), 1.0, 20.0)
        if walls is not None:
            pixels = [0] * 3600
            for x, y in walls:
                pixels[(y + 10) * 60 + x + 10] = 100
            routes.read(Map(0.1, 60, 60, Pose(-1.0, -1.0, 0.0), pixels), 0.2)
        leg = routes.along(graph.outgoing(1)[0], begin)
        rooms.append(leg and leg.ahead)
    assert rooms == [0.25, 0.5, 0.35, None]


def test_it_backs_off_before_it_turns_to_go_back_far_and_a_planner_need_not() -> None:
    routes = Routes(Zones(LINE), 1.0, 20.0)
    for far, steers, backs in ((0.9, True, 1), (3.0, True, 2), (3.0, False, 1)):
        move = EdgeMove(routes, LINE.outgoing(1)[0], steers)
        move.next(None, 1, Pose(0.0, 0.0, 0.0))
        leg = move.next(BUMPED, None, Pose(far, 0.0, 0.0))
        assert leg.retreat and leg.backwards is None
        assert leg.x == pytest.approx(2.7 if backs == 2 else 0.0)
        if backs == 2:
            leg = move.next(REACHED, None, Pose(2.7, 0.0, 0.0))
            assert leg[:2] == (0.0, 0.0) and not leg.retreat and leg.backwards is False
        assert move.next(REACHED, 1, Pose(0.0, 0.0, 0.0)) is None and move.outcome is BUMPED


@pytest.mark.parametrize(('x', 'back'), [(-0.5, 0.3), (-0.9, 0.1)])
def test_before_the_corner_it_backs_away_from_what_it_touches_and_stays_in_the_zone(
        x: float, back: float) -> None:
    """The way back to the centre would lead on against it."""
    move = EdgeMove(Routes(Zones(LINE), 1.0, 20.0), LINE.outgoing(1)[0])
    move.next(None, 1, Pose(x, 0.0, 0.0))
    leg = move.next(BUMPED, 1, Pose(x, 0.0, 0.0))
    assert leg[:2] == pytest.approx((x - back, 0.0)) and leg.backwards and leg.retreat
    assert move.next(REACHED, 1, Pose(*leg[:2], 0.0)) is None and move.outcome is BUMPED


def test_what_is_touched_on_the_way_to_the_centre_ends_the_drive() -> None:
    move = EdgeMove(Routes(Zones(LINE), 1.0, 20.0), LINE.outgoing(1)[0])
    leg = move.next(None, 1, Pose(0.7, -0.35, 2.68))
    assert leg[:2] == (0.0, 0.0) and not leg.direct    # to turn there
    leg = move.next(BUMPED, 1, Pose(0.4, -0.2, 2.68))
    assert leg.retreat and leg.backwards and leg.x > 0.6
    assert move.next(REACHED, 1, Pose(*leg[:2], 2.68)) is None and move.outcome is BUMPED


def test_a_long_way_round_counts_as_blocked_when_it_comes_again_and_again() -> None:
    routes = Routes(Zones(LINE), 1.0, 20.0)
    found = []
    for _ in range(3):
        move = EdgeMove(routes, LINE.outgoing(1)[0], False)
        move.next(None, 1, Pose(0.0, 0.0, 0.0))
        found.append((bool(move.next(DETOUR, None, Pose(2.0, 0.0, 0.0))), move.problem))
    assert found == [(False, 'broken off')] * 2 + [(True, '')]
    assert Stay(0.0).next(None, 1, Pose(0.0, 0.0, 0.0)) is None


def test_a_drive_is_decided_well_within_the_zone_of_its_end() -> None:
    """By three poses in a row; not while it goes back."""
    routes = Routes(Zones(LINE), 1.0, 20.0)
    move = EdgeMove(routes, LINE.outgoing(1)[0])
    move.next(None, 1, Pose(0.0, 0.0, 0.0))
    deep, shallow = Pose(3.3, 0.0, 0.0), Pose(3.1, 0.0, 0.0)
    assert [move.is_decided(2, 0, pose, 0.1) for pose in (
        deep, deep, shallow, deep, deep, deep)] == [False] * 5 + [True]
    move = EdgeMove(routes, LINE.outgoing(1)[0])
    move.next(None, 1, Pose(0.0, 0.0, 0.0))
    move.next(BLOCKED, 2, deep)
    assert not any(move.is_decided(2, 0, deep, 0.1) for _ in range(9))


def test_a_way_home_is_decided_at_each_place() -> None:
    """Each of its drives counts then, and the next one begins while the robot rolls."""
    way = RouteHome(Routes(Zones(LINE), 1.0, 20.0), 1, 3)
    way._routes.failed(LINE.outgoing(3)[0])    # the direct way
    assert way.next(None, 3, Pose(8.0, 0.0, 3.1))[:2] == (4.0, 0.0)
    rolling = Pose(4.7, 0.0, 3.1)
    assert [way.is_decided(2, 0, rolling, 0.1) for _ in range(3)] == [False, False, True]
    leg = way.next(REACHED, 2, rolling)
    assert leg[:2] == (0.0, 0.0) and leg.via == ((4.0, 0.0),) and way.legs == [(3, 1, 2)]
    assert [way.is_decided(1, 0, Pose(0.5, 0.0, 3.1), 0.1) for _ in range(3)][-1]
    assert way.next(REACHED, 1, Pose(0.5, 0.0, 3.1)) is None and way.outcome is REACHED
    assert way.legs[1:] == [(2, 0, 1)]


@pytest.mark.parametrize('seed', range(strength(3, 30)))
def test_a_robot_passes_places_without_a_stop_and_touches_nothing(seed: int) -> None:
    """Round corners of up to a right angle, with late and noisy poses, by the map."""
    random, limits = Random(seed), Limits(0.3, 1.5, 0.9, 4.0, 0.05, 0.1, 2.0)
    at, pixels = {}, np.zeros((160, 160), np.int8)
    for number in range(7):
        step = (0.0, 2.0) if number % 2 else (2.0, 0.0)    # stairs, now and then straight on
        at[number] = tuple(float(a + b) for a, b in zip(at.get(number - 1, (0, 0)), random.choice(
            (step, (step[1], step[0]))))) if number else (0.0, 0.0)
    graph = graph_of(at, *both(*((number, number + 1) for number in range(6))))
    points = np.stack(np.meshgrid(np.arange(160), np.arange(160)), axis=2) / 10 - 1.0
    apart = np.min([to_lines(points.reshape(-1, 2), np.array([at[number]]), np.array(
        [at[number + 1]])) for number in range(6)], axis=0).reshape(160, 160)
    pixels[apart > 0.5] = 100
    routes = Routes(Zones(graph), 1 / 0.3, 20.0)
    routes.read(Map(0.1, 160, 160, Pose(-1.0, -1.0, 0.0), pixels.ravel()), RADIUS)
    assert not routes.closed
    way, place = RouteHome(routes, 0, 0), ZonePlace(routes.zones, 0.1)
    pose, now, waiting = Pose(*at[6], random.uniform(-3, 3)), 0.0, deque([STILL] * 3)
    place.update(pose)
    leg, drive, ended, track = way.next(None, 6, pose), None, None, [(pose, STILL)]
    while leg is not None:
        rolling = drive is not None and not drive.outcome
        drive = Drive(limits, leg, now, pose, 0.0, drive.velocity if rolling else STILL)
        ended = None
        while ended is None:
            seen = Pose(*(value + random.gauss(0, 0.01) for value in pose))
            place.update(seen)
            waiting.append(drive.step(now, seen))
            velocity, now = waiting.popleft(), now + 0.05
            pose = pose.moved(velocity.forward * 0.05, velocity.turn * 0.05)
            track.append((pose, velocity))
            ended = drive.outcome or (
                REACHED if way.is_decided(place.cell, 0, seen, 0.1) else None)
        leg = way.next(ended, place.cell, pose, now)
    assert not way.problem and len(way.legs) == 6
    driven = np.array([pose[:2] for pose, _ in track])
    assert routes._map.is_free(driven[:-1], driven[1:], RADIUS - 0.05).all()
    passed = [velocity.forward for pose, velocity in track
              if min(dist(pose[:2], at[6]), dist(pose[:2], at[0])) > 1.0]
    assert min(passed) > 0.1 and np.mean(passed) > 0.27


def test_the_limits_of_a_way_home() -> None:
    hall = Hall(LINE, 3)
    way = RouteHome(hall.routes, 1, 3, limit=10.0, farthest=3.0)
    assert way.next(None, 3, hall.pose).timeout == 10.0
    assert way.next(REACHED, 2, Pose(4.0, 0.0, 0.0), 10.0) is None
    assert way.problem == 'timeout on the way home'
    way = RouteHome(hall.routes, 1, 3, farthest=3.0)
    assert way.next(None, None, Pose(4.0, 9.0, 0.0)) is None
    assert way.problem == (
        'the robot is 6.8 m from all places and edges, expected at most 3 m')
    platform = RouteHome(hall.routes, 1, 1, 300.0)
    assert platform.next(None, 3, hall.pose)[:4] == (0.0, 0.0, None, 300.0)
    assert platform.next(REACHED, 3, hall.pose) and platform.next(REACHED, 3, hall.pose) is None
    assert platform.problem == '1 was missed' and not platform.legs


def test_edges_that_are_not_free_on_a_map_are_not_driven() -> None:
    """Nor is a robot outside of all places led through a wall."""
    pixels = [0] * 6000
    for row in range(25, 60):
        pixels[row * 100 + 60] = 100    # at x = 5 from y = 1.5 on
    map_ = Map(0.1, 100, 60, Pose(-1.0, -1.0, 0.0), pixels)
    graph = graph_of({1: (0, 0), 2: (4, 3), 3: (6, 3), 4: (8, 0)},
                     *both((1, 2), (2, 3), (3, 4), (1, 4)))
    hall = Hall(graph, 3)
    assert hall.routes.read(map_, 0.2) and not hall.routes.read(map_, 0.2)
    move = EdgeMove(hall.routes, graph.outgoing(3)[0])
    assert move.next(None, 3, hall.pose) is None and move.outcome is BLOCKED
    way = RouteHome(hall.routes, 2, 3)
    assert hall.play(way) == 2
    assert [leg[2] for leg in way.legs] == [4, 1, 2]
    hall.pose = Pose(5.3, 4.5, 0.0)
    hall.place.update(hall.pose)
    assert RouteHome(hall.routes, 2, 3).next(None, None, hall.pose)[:2] == (6.0, 3.0)


def column(at: float) -> Map:
    """Return a map on which only a column of pixels at x, from wall to wall, is occupied."""
    pixels = np.zeros((60, 100), np.int8)
    pixels[:, round((at + 1.0) / 0.1)] = 100
    return Map(0.1, 100, 60, Pose(-1.0, -1.0, 0.0), pixels.ravel().tolist())


@pytest.mark.parametrize('wall, ends', [(3.0, True), (0.5, False)])
def test_an_edge_that_a_new_map_closes_is_broken_off_if_the_wall_is_ahead(
        wall: float, ends: bool) -> None:
    graph = graph_of({1: (0, 0), 2: (4, 0)}, *both((1, 2)))
    hall = Hall(graph, 1)
    move, way = EdgeMove(hall.routes, graph.outgoing(1)[0]), RouteHome(hall.routes, 2, 3)
    for maneuver in (move, way):
        assert maneuver.next(None, 1, hall.pose)
    hall.pose = Pose(2.0, 0.0, 0.0)
    assert not move.is_closed(hall.pose) and not way.is_closed(hall.pose)
    assert hall.routes.read(column(wall), RADIUS)
    assert (move.is_closed(hall.pose), way.is_closed(hall.pose)) == (ends, ends)
    back = move.next(OBSTRUCTED, None, hall.pose)
    assert (back is not None) is ends and move.outcome is OBSTRUCTED
    assert not move.is_closed(hall.pose)
    assert not back or back.retreat and back.x < 2.0
    hall.pose = Pose(*hall.zones.centre(1), 0.0)
    again = EdgeMove(hall.routes, graph.outgoing(1)[0])
    assert again.next(None, 1, hall.pose) is None and again.outcome is BLOCKED


def test_a_way_to_the_nearest_place_ends_where_a_new_map_has_a_wall() -> None:
    graph = graph_of({1: (0, 0), 2: (4, 0)}, *both((1, 2)))
    hall = Hall(graph, 1)
    way, hall.pose = RouteHome(hall.routes, 1, 3), Pose(2.0, 0.0, 0.0)
    assert way.next(None, None, hall.pose)[:2] == (0.0, 0.0) and not way.is_closed(hall.pose)
    hall.routes.read(column(1.5), RADIUS)
    assert way.is_closed(hall.pose)
    assert way.next(OBSTRUCTED, None, hall.pose) is None
    assert way.problem == 'no way leads home from outside of all places'


def test_edges_that_have_failed_come_last() -> None:
    """Whichever way is shorter, until they succeed; that of the shorter edges comes first."""
    graph = graph_of({1: (0, 0), 2: (4, 1), 3: (4, -3), 4: (8, 0)},
                     *both((1, 2), (2, 4), (1, 3), (3, 4)))
    routes = Routes(Zones(graph), 1.0, 20.0)
    edge, length = routes.towards(1, ())[4]
    assert edge.end == 2 and length == pytest.approx(2 * 17**0.5)
    routes.failed(edge)
    assert routes.towards(1, ())[4].edge.end == 3
    routes.succeeded(edge)
    assert routes.towards(1, {(2, 1)})[4].edge.end == 3 and routes.towards(1, ())[4].edge.end == 2
