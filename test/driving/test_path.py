# SPDX-License-Identifier: Apache-2.0

"""Ways without a stop: where they lead, and that robots with late and noisy poses keep to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
import math
from random import Random

from mnm_ros.driving.drive import Drive, Limits, Outcome, STILL
from mnm_ros.driving.grid import Grid, Ways
from mnm_ros.driving.maneuvers import WayHome
from mnm_ros.driving.occupancy import Map, Point
from mnm_ros.driving.path import Path, rounded, smooth_part
from mnm_ros.driving.pose import Pose
import numpy as np
import pytest
from tiers import strength

LIMITS = Limits(0.2, 1.0, 0.5, 2.0, 0.05, 0.1, 2.0)
RADIUS = 0.15
TICK, LATE = 0.05, 3


@pytest.mark.parametrize('turn', [-1.5, -0.4, 0.3, 1.57])
def test_a_corner_becomes_an_arc(turn: float) -> None:
    after = (1.0 + math.cos(turn), math.sin(turn))
    arc = rounded((0.0, 0.0), (1.0, 0.0), after, 0.25)
    assert arc[0] == pytest.approx((0.75, 0.0))
    assert math.dist(arc[-1], (1.0, 0.0)) == pytest.approx(0.25)
    assert arc[-1] == pytest.approx((1 + 0.25 * math.cos(turn), 0.25 * math.sin(turn)))
    centre = (0.75, math.copysign(0.25 / math.tan(abs(turn) / 2), turn))
    assert {round(math.dist(point, centre), 9) for point in arc} == {round(abs(centre[1]), 9)}


def test_where_it_has_to_stop() -> None:
    square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    part, last, room = smooth_part(square, [0.5], lambda way: True)
    assert last == 3 and part[0] == (0.0, 0.0) and part[-1] == (0.0, 1.0) and len(part) == 12
    assert room == 0.5
    stop = [(0.0, 0.0), (1.0, 0.0)], 1, 0.5
    assert smooth_part(square, [0.5, 0.2], lambda way: False) == stop
    back = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 0.0)]
    assert smooth_part(back, [0.5], lambda way: True) == stop
    for slight in (0.0, 0.2):
        straight = [(0.0, 0.0), (1.0, 0.0), (2.0, slight)]
        assert smooth_part(straight, [0.5], lambda way: False) == (straight, 2, 0.5)


def test_a_corner_is_rounded_as_widely_as_there_is_room() -> None:
    """Also for one who cuts it, as what looks ahead on the arc does."""
    corner = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]
    post = 0.75, 0.25

    def is_free(way: Sequence[Point]) -> bool:
        return min(math.dist(post, point) for point in way) > 0.17
    part, last, room = smooth_part(corner, [0.5, 0.3, 0.1], is_free)
    assert (last, room) == (2, 0.3)
    assert part[1] == pytest.approx((0.7, 0.0)) and part[-2] == pytest.approx((1.0, 0.3))


def test_it_does_not_go_back_on_a_path() -> None:
    path = Path([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], 0.5)
    for place, driven in (((0.3, 0.1), 0.3), ((0.2, 0.0), 0.3), ((0.9, -0.1), 0.8),
                          ((1.1, 0.2), 1.2), ((1.0, 2.0), 1.7), ((1.0, 2.0), 2.0)):
        path.lap(place)
        assert path.driven == pytest.approx(driven), place
    assert path.left == 0 and path.aim == (1.0, 1.0)


def test_it_aims_at_the_end_of_the_straight_part_and_ahead_round_a_corner() -> None:
    path = Path([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], 0.3)
    for place, aim, turns, is_last in (
            ((0.0, 0.1), (1.0, 0.0), False, False), ((0.3, 0.0), (1.0, 0.0), False, False),
            ((0.6, 0.0), (1.0, 0.0), False, False), ((0.9, 0.0), (1.0, 0.2), True, False),
            ((1.0, 0.1), (1.0, 1.0), False, True)):
        path.lap(place)
        assert path.aim == pytest.approx(aim), place
        assert (path.turns, path.is_last) == (turns, is_last), place
    assert path.ahead(1.0)[0] == (1.0, 1.0)


@pytest.mark.parametrize('yaw', [0.0, 0.1])
def test_a_robot_that_rolls_on_curves_into_the_next_cell(yaw: float) -> None:
    """From where it is to the middle line, if that is neither behind it nor all but there."""
    ways = Ways(Grid(0.0, 0.0, 0.5, 6, 6))
    pose = Pose(0.6, 0.75, yaw)                         # in cell 7, of which the middle is 0.75
    for there, side in ((13, 1), (1, -1)):              # north and south of it
        via, radius = ways.curve(pose, there)
        assert math.dist(via[0], pose[:2]) < 1e-9 and radius == pytest.approx(0.15, abs=0.06)
        assert via[-1][0] == pytest.approx(0.75, abs=0.05)
        assert via[-1][1] == pytest.approx(0.75 + side * radius, abs=0.04)
    for far, cell in ((Pose(0.745, 0.75, yaw), 13), (Pose(0.9, 0.75, yaw), 13), (pose, 8),
                      (pose, 6), (Pose(0.45, 0.75, yaw), 13)):
        assert ways.curve(far, cell) == ((), 0.0), far
    walls = np.zeros((60, 60), np.int8)
    walls[19:21, 10:20] = 100                           # between 7 and 13
    ways.read(Map(0.05, 60, 60, Pose(0.0, 0.0, 0.0), walls.ravel().tolist()), RADIUS)
    assert ways.curve(pose, 1)[0] and not ways.curve(pose, 13)[0]


def random_ways(random: Random) -> Ways:
    """Return a grid with walls between cells and things in their corners."""
    side, pixels = 6, np.zeros((60, 60), np.int8)
    for _ in range(8):
        column, row = random.randrange(1, side) * 10, random.randrange(side) * 10
        wall = pixels if random.random() < 0.5 else pixels.T
        wall[row:row + 10, column - 1:column + 1] = 100
    for _ in range(30):
        column, row = random.randrange(side) * 10, random.randrange(side) * 10
        pixels[row:row + random.randint(1, 4), column:column + random.randint(1, 4)] = 100
    ways = Ways(Grid(0.0, 0.0, 0.5, side, side))
    ways.read(Map(0.05, 60, 60, Pose(0.0, 0.0, 0.0), pixels.ravel().tolist()), RADIUS)
    return ways


@pytest.mark.parametrize('seed', range(strength(1, 6)))
def test_a_way_home_touches_nothing(seed: int) -> None:
    """By the strip of the robot's width around all that it really drives, less the noise."""
    random, noise, driven, stops = Random(seed), 0.01, 0, 0
    while driven < 8:
        ways = random_ways(random)
        cell, goal = (random.randrange(36) for _ in range(2))
        route = ways.route(cell, goal, ()) if {cell, goal} <= ways.free else None
        if cell == goal or not route:
            continue
        driven += 1
        home = Pose(*ways.grid.centre(goal), random.uniform(-3, 3))
        maneuver = WayHome(ways, home, 0, 20.0, False)
        pose, now, ended = Pose(*ways.grid.centre(cell), random.uniform(-3, 3)), 0.0, None
        track = [pose[:2]]
        while leg := maneuver.next(ended, ways.grid.cell_at(*pose[:2]), pose, now):
            drive, waiting = Drive(LIMITS, leg, now, pose), deque([STILL] * LATE)
            stops += 1
            while drive.outcome is None:
                seen = Pose(*(value + random.uniform(-noise, noise) for value in pose))
                waiting.append(drive.step(now, seen))
                velocity, now = waiting.popleft(), now + TICK
                pose = pose.moved(velocity.forward * TICK, velocity.turn * TICK)
                track.append(pose[:2])
            ended = drive.outcome
        context = seed, driven, cell, goal
        assert maneuver.outcome is Outcome.REACHED and not maneuver.problem, context
        assert ways.grid.cell_at(*pose[:2]) == goal, context
        # The route itself is free for RADIUS; the robot is off it by noise, and late.
        assert ways._map.is_free(track[:-1], track[1:], RADIUS - 0.05).all(), context
        turning = math.pi / LIMITS.turn + 2.0
        assert now < (len(route) * 0.5 / LIMITS.speed + turning * (2 + stops)), context
    assert stops < 3 * driven
