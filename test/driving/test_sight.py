# SPDX-License-Identifier: Apache-2.0

"""What is in the way of a robot, by points that it sees, against a robot that is moved there."""

from __future__ import annotations

import math
from random import Random

from mnm_ros.driving.drive import Drive, Leg, Limits, Outcome
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose, Transform
from mnm_ros.driving.sight import MapSight, seen_points, Sight
import numpy as np
import pytest
from tiers import strength

RADIUS, MARGIN = 0.1, 0.05
ORIGIN = Pose(0.0, 0.0, 0.0)
LIMITS = Limits(0.3, 1.0, 0.5, 2.0, 0.05, 0.1, 2.0)


def sight(*points: tuple[float, float], pose: Pose = ORIGIN) -> Sight:
    """Return what has seen each point twice, in the frame of the robot."""
    seen = Sight(RADIUS, MARGIN)
    seen.look(np.array(points * 2).reshape(-1, 2), pose)
    return seen


@pytest.mark.parametrize('seed', range(strength(2, 5)))
def test_room_is_where_a_disc_would_touch(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        way = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(3)]
        points = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(3)]
        points = [point for point in points
                  if all(math.dist(point, at) > RADIUS for at in (*way[:2], (0.0, 0.0)))]
        driven, touched, part = 0.0, math.inf, np.linspace(0.0, 1.0, strength(1000, 2000) + 1)
        for start, end in zip(way, way[1:]):
            length = math.dist(start, end)
            x, y = (a + (b - a) * part for a, b in zip(start, end))
            touches = np.zeros(part.size, bool)
            for point in points:
                touches |= np.hypot(x - point[0], y - point[1]) < RADIUS
            if touches.any():
                touched = min(touched, driven + length * part[touches.argmax()])
            driven += length
        room = sight(*points).room(way)
        assert room == pytest.approx(touched - MARGIN, abs=2e-3), (seed, way, points)


def test_what_is_left_behind_or_seen_once_or_the_robot_itself_is_not_in_the_way() -> None:
    ahead = [(0.0, 0.0), (1.0, 0.0)]
    assert sight((0.5, 0.0)).room(ahead) == pytest.approx(0.5 - RADIUS - MARGIN)
    for points in ((-0.1, 0.0), (0.5, 0.11), (1.2, 0.0), (0.05, 0.0)):
        assert sight(points).room(ahead) == math.inf
    once = Sight(RADIUS, MARGIN)
    assert once.room(ahead) == math.inf
    once.look(np.array([(0.5, 0.0), (0.9, 0.0)]), ORIGIN)
    assert once.room(ahead) == pytest.approx(0.9 - RADIUS - MARGIN)


@pytest.mark.parametrize(('left', 'right', 'expected'), [
    (0.22, 0.22, 0.0), (0.18, 0.26, -0.02), (0.26, 0.18, 0.02), (0.15, 0.29, -0.035),
    (0.3, 0.21, 0.005), (0.3, 0.3, 0.0)])
@pytest.mark.parametrize('yaw', [0.0, 2.0])
def test_it_keeps_to_the_middle_of_a_narrow_place(
        left: float, right: float, expected: float, yaw: float) -> None:
    """By half of what is missing; what is straight ahead, behind, or beyond the end is none."""
    sight = Sight(0.17, 0.05)
    beside = [(x / 100, side) for x in range(10, 90, 5) for side in (left, -right)]
    others = [(0.5, 0.02), (0.5, 0.0), (-0.4, 0.15), (1.2, -0.15)]
    begin = Pose(3.0, 1.0, yaw)
    sight.look(np.array([*beside, *others]), begin)
    end = begin.moved(1.0, 0.0)
    assert sight.aside(begin[:2], end[:2]) == pytest.approx(expected, abs=1e-9)
    assert sight.aside(begin[:2], begin[:2]) == 0.0


def test_a_drive_keeps_aside_of_its_way() -> None:
    """Also where it ends, and on an arc."""
    limits = Limits(0.3, 1.0, 0.5, 2.0, 0.05, 0.1, 2.0)
    for via in ((), ((1.0, 1.0), (1.5, 1.0))):
        leg = Leg(2.0, 1.0, None, 20.0, via=via, ahead=0.3 if via else 0.0)
        drive, pose, now = Drive(limits, leg, 0.0, Pose(0.0, 1.0, 0.0)), Pose(0.0, 1.0, 0.0), 0.0
        while drive.outcome is None:
            velocity, now = drive.step(now, pose, aside=0.04), now + 0.05
            pose = pose.moved(velocity.forward * 0.05, velocity.turn * 0.05)
        assert drive.outcome is Outcome.REACHED and pose.y == pytest.approx(1.04, abs=0.02), via


def test_points_are_where_the_robot_was() -> None:
    seen = sight((0.5, 0.0), pose=Pose(1.0, 2.0, math.pi / 2))
    assert seen.room([(1.0, 2.0), (1.0, 3.0)]) == pytest.approx(0.35)
    assert seen.room([(1.0, 2.0), (2.0, 2.0)]) == math.inf


@pytest.mark.parametrize(('mount', 'expected'), [
    (Transform(), [(1.0, 0.0), (0.0, 2.0)]),
    (Transform.planar(Pose(-0.1, 0.2, math.pi / 2)), [(-0.1, 1.2), (-2.1, 0.2)]),
    (Transform(qx=1.0, qw=0.0), [(1.0, 0.0), (0.0, -2.0)])])    # upside down
def test_ranges_and_mounts(mount: Transform, expected: list) -> None:
    ranges = [1.0, math.nan, 2.0, math.inf, 0.01, 9.0]
    points = seen_points(ranges, 0.0, math.pi / 4, (0.1, 5.0), mount)
    assert points == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize(('lasting', 'outcome'), [(10, None), (30, Outcome.OBSTRUCTED)])
def test_it_stops_at_once_and_believes_what_lasts(lasting: int, outcome: Outcome | None) -> None:
    pose, now, speeds = ORIGIN, 0.0, []
    drive = Drive(LIMITS, Leg(2.0, 0.0, None, 60.0), now, pose)
    for tick in range(40 + lasting):
        now += 0.02
        velocity = drive.step(now, pose, room=math.inf if tick < 40 else 0.0)
        pose = pose.moved(velocity.forward * 0.02, velocity.turn * 0.02)
        speeds.append(velocity.forward)
    assert max(speeds) > 0.25 and speeds[-1] < speeds[39] - 0.05 and drive.outcome is outcome
    if outcome is None:
        for _ in range(40):
            now += 0.02
            velocity = drive.step(now, pose)
        assert velocity.forward > 0.25 and drive.outcome is None


def test_it_comes_to_rest_before_what_it_sees() -> None:
    for wall in np.linspace(0.2, 1.9, 18):
        pose, now = ORIGIN, 0.0
        drive, seen = Drive(LIMITS, Leg(2.0, 0.0, None, 60.0), 0.0, pose), sight((wall, 0.0))
        while drive.outcome is None:
            now += 0.05
            velocity = drive.step(now, pose, room=seen.room(drive.way(pose)))
            pose = pose.moved(velocity.forward * 0.05, velocity.turn * 0.05)
        assert drive.outcome is Outcome.OBSTRUCTED and pose.x < wall - RADIUS - 0.5 * MARGIN
        assert pose.x > wall - RADIUS - MARGIN - LIMITS.tolerance - 0.02 or pose.x == 0


def corridor(left: float, right: float, yaw: float = 0.0) -> Map:
    """Return a map of walls beside the x axis of its frame, 10 m long."""
    pixels = np.zeros((80, 200), np.int8)
    up = (np.arange(80) + 0.5) / 20 - 2.0
    pixels[(up > left) | (up < -right)] = 100
    cos, sin = math.cos(yaw), math.sin(yaw)
    return Map(0.05, 200, 80, Pose(2 * sin, -2 * cos, yaw), pixels.ravel())


@pytest.mark.parametrize('yaw', [0.0, 0.7])
@pytest.mark.parametrize(('left', 'right', 'expected'), [
    (0.2, 1.0, -0.035), (1.0, 0.2, 0.035), (0.2, 0.2, 0.0), (1.0, 1.0, 0.0), (0.25, 0.2, 0.025)])
def test_without_a_scanner_it_keeps_from_the_walls_of_a_map(
        left: float, right: float, expected: float, yaw: float) -> None:
    """Also on a way that is longer than the part of it that counts."""
    sight, cos, sin = MapSight(corridor(left, right, yaw), 0.17), math.cos(yaw), math.sin(yaw)
    for far in (0.5, 7.0):
        start, end = ((x * cos, x * sin) for x in (1.0, 1.0 + far))
        assert sight.aside(start, end) == pytest.approx(expected, abs=1e-6)
    assert sight.aside((1.0, 0.0), (1.0, 0.0)) == 0


def test_corners_of_walls_near_a_place() -> None:
    map_ = Map(0.5, 4, 4, Pose(1.0, 0.0, 0.0), [0] * 5 + [100] + [0] * 9 + [100])
    near = {(1.5, 0.5), (1.5, 1.0), (2.0, 0.5), (2.0, 1.0)}
    assert {*map(tuple, map_.corners((1.6, 0.6), 0.2).tolist())} == near
    assert len(map_.corners((1.6, 0.6), 9.0)) == 8
    for nothing in ((2.9, 0.1), (50.0, 50.0), (-50.0, 0.5)):
        assert not len(map_.corners(nothing, 0.2)), nothing
