# SPDX-License-Identifier: Apache-2.0

"""Kinematics against closed forms, walls and doors, and noise within exact bounds."""

from __future__ import annotations

from math import atan2, cos, erf, exp, hypot, lgamma, log, pi, remainder, sin, sqrt, tau
from pathlib import Path
import random

from mnm_ros.driving.pose import Pose
from mnm_ros.simulation.diff_drive import Battery, Body, DiffDrive
from mnm_ros.simulation.world import load, World
import pytest
from tiers import strength

PLAIN = World('plain', 1e6, (1, 1), (0, 0), frozenset(), {}, ({},), Path('plain.yaml'))
AGILE = Body(acceleration=1e6, turn_acceleration=1e6, max_turn_rate=100.0)
TICK = AGILE.tick
SEEDS = range(strength(1, 5))


def drive(robot: DiffDrive, speed: float, turn_rate: float, ticks: int) -> list[Pose]:
    poses = []
    for _ in range(ticks):
        robot.command(speed, turn_rate)
        robot.tick()
        poses.append(robot.pose)
    return poses


def relative(robot: DiffDrive) -> tuple[float, float, float]:
    """Return the true pose in the frame of odometry."""
    x, y = robot.world.centre(robot.world.home)
    return robot.pose.x - x, robot.pose.y - y, robot.pose.yaw


@pytest.mark.parametrize('speed', [0.5, -0.5])
def test_a_circle(speed: float) -> None:
    robot = DiffDrive(PLAIN, AGILE)
    x, y, _ = robot.pose
    turn_rate = tau / 80 / TICK
    radius = speed / turn_rate
    poses = drive(robot, speed, turn_rate, 80)
    for tick, pose in enumerate(poses, 1):
        angle = tick * turn_rate * TICK
        assert pose.x - x == pytest.approx(radius * sin(angle), abs=1e-8)
        assert pose.y - y == pytest.approx(radius * (1 - cos(angle)), abs=1e-8)
        assert remainder(pose.yaw - angle, tau) == pytest.approx(0, abs=1e-9)


def test_turning_on_the_spot() -> None:
    robot = DiffDrive(PLAIN, AGILE)
    home = robot.pose
    poses = drive(robot, 0.0, pi / 2 / 20 / TICK, 60)
    assert {pose[:2] for pose in poses} == {home[:2]}
    assert poses[19].yaw == pytest.approx(pi / 2)
    assert abs(poses[39].yaw) == pytest.approx(pi)
    assert poses[59].yaw == pytest.approx(-pi / 2)


def test_acceleration_and_braking() -> None:
    """0.5 m/s after ten ticks of 0.05 s at 1 m/s^2: the way is tick^2 a (1 + .. + 10)."""
    robot = DiffDrive(PLAIN, Body())
    drive(robot, 0.5, 0.0, 10)
    assert robot.speed == pytest.approx(0.5)
    assert relative(robot)[0] == pytest.approx(TICK**2 * 55)
    drive(robot, 0.5, 0.0, 20)
    assert relative(robot)[0] == pytest.approx(TICK**2 * 55 + 20 * 0.5 * TICK)
    drive(robot, 0.0, 0.0, 10)
    assert robot.speed == pytest.approx(0, abs=1e-12)
    assert relative(robot)[0] == pytest.approx(TICK**2 * (55 + 45) + 20 * 0.5 * TICK)


@pytest.mark.parametrize('seed', SEEDS)
def test_limits(seed: int) -> None:
    robot, draw = DiffDrive(PLAIN, Body()), random.Random(seed)
    body, fastest = robot.body, [0.0, 0.0]
    for _ in range(2000):
        before = robot.speed, robot.turn_rate
        robot.command(draw.choice((1e300, -0.7, 0.2, 0, -1e300)), draw.uniform(-9, 9))
        for _ in range(draw.randrange(8)):
            robot.tick()
            assert abs(robot.speed - before[0]) <= body.acceleration * TICK + 1e-12, seed
            assert abs(robot.turn_rate - before[1]) <= body.turn_acceleration * TICK + 1e-12, seed
            before = robot.speed, robot.turn_rate
            fastest = [max(fastest[i], abs(before[i])) for i in (0, 1)]
    assert fastest == [body.max_speed, body.max_turn_rate], seed


def test_it_brakes_without_commands() -> None:
    robot = DiffDrive(PLAIN, AGILE)
    robot.command(0.4, 0.0)
    speeds = []
    for _ in range(12):
        robot.tick()
        speeds.append(robot.speed)
    assert speeds == [0.4] * 10 + [0.0] * 2    # 0.5 s
    drive(robot, 0.4, 0.0, 30)
    assert robot.speed == 0.4


def walled() -> World:
    """Return a room behind walls of one cell, with a door in one, and free cells around it."""
    ring = frozenset((x, y) for x in range(1, 6) for y in range(1, 6) if {x, y} & {1, 5})
    door = (5, 3)
    return World('walled', 0.5, (7, 7), (3, 3), ring - {door}, {'D': frozenset({door})},
                 ({'D': False},), Path('walled.yaml'))


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('speed', [0.5, 20.0, 1000.0])
def test_walls_and_closed_doors_hold_at_any_speed(speed: float, seed: int) -> None:
    body = Body(max_speed=speed, acceleration=1e6, max_turn_rate=60.0, turn_acceleration=1e6,
                slip=0.1)
    robot, draw = DiffDrive(walled(), body, seed), random.Random(seed)
    low, high, bumps = 1.0 + body.radius, 2.5 - body.radius, 0
    for _ in range(60):
        command = draw.uniform(-speed, speed), draw.uniform(-9, 9)
        for _ in range(25):
            drive(robot, *command, 1)
            assert low - 1e-9 <= min(robot.pose[:2]) <= max(robot.pose[:2]) <= high + 1e-9, seed
            bumps += robot.bumped
    assert bumps > 10, seed


def test_contact() -> None:
    robot = DiffDrive(load('one_room'), Body(), 0)
    assert not any(drive(robot, 0.3, 0.0, 1) and robot.bumped for _ in range(50))
    for _ in range(50):
        drive(robot, 0.3, 0.0, 1)
    assert robot.bumped and robot.speed == 0
    assert robot.pose.x == pytest.approx(2.0 - robot.body.radius, abs=1e-6)
    assert robot.odometry == pytest.approx(relative(robot)), 'blocked wheels do not turn'
    drive(robot, 0.0, 1.0, 5)
    assert not robot.bumped and robot.pose.yaw > 0, 'it can turn where it stands'
    drive(robot, -0.3, 0.0, 5)
    assert not robot.bumped and robot.pose.x < 1.84


def test_corners_are_not_cut() -> None:
    """Drive from many places straight at the inner corner: the disc stays out of the walls."""
    world = load('two_room_flat')
    for n in range(200):
        robot = DiffDrive(world, Body(max_speed=100.0, acceleration=1e6), n)
        x, y = 0.75, 1.6 + 0.001 * n
        robot.pose = Pose(x, y, atan2(1.5 - y - 0.3, 1.0 - x + 0.3))
        for pose in drive(robot, 7.0, 0.0, 3):
            assert world.is_free(pose.x, pose.y, robot.body.radius - 1e-9, ())


def test_a_radius_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match='a radius of 0.25 m does not fit into the cells of one '
                                         'room, expected less than 0.25 m'):
        DiffDrive(load('one_room'), Body(radius=0.25))


def test_through_the_door_only_while_it_is_open() -> None:
    robot = DiffDrive(load('two_room_flat'), Body())
    drive(robot, 0.5, 0.0, 90)
    assert robot.pose.x == pytest.approx(3.0 - 0.15, abs=1e-6)
    assert robot.change() and (robot.setting, robot.doors) == (1, {'D': False})
    drive(robot, -0.5, 0.0, 60)
    assert robot.bumped and robot.pose.x == pytest.approx(2.0 + 0.15, abs=1e-6)
    assert robot.change() and robot.doors == {'D': True}
    drive(robot, -0.5, 0.0, 90)
    assert robot.pose.x == pytest.approx(0.5 + 0.15, abs=1e-6)
    assert robot.change() and robot.setting == 0
    assert not DiffDrive(load('one_room'), Body()).change()


def test_a_door_does_not_close_on_the_robot() -> None:
    robot = DiffDrive(load('two_room_flat'), AGILE)
    drive(robot, 0.5, 0.0, 24)
    assert 1.5 < robot.pose.x + 0.15 and robot.change() and robot.doors == {'D': True}
    for _ in range(24):
        drive(robot, -0.5, 0.0, 1)
        assert robot.doors['D'] == (robot.pose.x > 1.5 - 0.15 + 1e-9)
    assert robot.doors == {'D': False} and not robot.bumped
    drive(robot, 0.5, 0.0, 60)
    assert robot.pose.x == pytest.approx(1.5 - 0.15, abs=1e-6)


def test_a_seed_decides_everything() -> None:
    def path(seed: int, look: bool = False) -> list[object]:
        robot, draw = DiffDrive(load('two_room_flat'), noisy, seed), random.Random(9)
        seen: list[object] = []
        for _ in range(500):
            robot.command(draw.uniform(-0.5, 0.5), draw.uniform(-2, 2))
            robot.tick()
            if look:
                robot.localised()
            seen.append((robot.pose, robot.odometry, robot.bumped))
        return seen

    noisy = Body(slip=0.05, odom_noise=0.05, pose_noise=0.01, heading_noise=0.01)
    assert path(3) == path(3) == path(3, look=True)
    assert path(3) != path(4)


def test_odometry_is_right_without_slip_and_noise() -> None:
    robot, draw = DiffDrive(load('two_room_flat'), Body()), random.Random(2)
    bumps = 0
    for _ in range(2000):
        drive(robot, draw.uniform(-0.2, 0.5), draw.uniform(-2, 2), 1)
        bumps += robot.bumped
    x, y, heading = relative(robot)
    assert robot.odometry[:2] == pytest.approx((x, y), abs=0.05) and bumps > 20
    assert remainder(robot.odometry.yaw - heading, tau) == pytest.approx(0, abs=1e-9)


def binomial_tail(n: int, p: float, seen: int) -> float:
    """Return the probability of a number at least as far out as ``seen``, on its side."""
    def mass(k: int) -> float:
        return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
                   + k * log(p) + (n - k) * log(1 - p))
    side = range(seen, n + 1) if seen > n * p else range(seen + 1)
    return sum(map(mass, side))


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('slip', [0.02, 0.3])
def test_wheels_slip_as_often_as_they_should(slip: float, seed: int) -> None:
    """A right answer fails with probability 2e-7 at most."""
    robot = DiffDrive(PLAIN, Body(slip=slip, acceleration=1e6), seed)
    ticks, slipped = strength(1500, 3000), 0
    for _ in range(ticks):
        before = robot.pose
        drive(robot, 0.4, 0.0, 1)
        way = hypot(robot.pose.x - before.x, robot.pose.y - before.y)
        one = robot.pose.yaw != before.yaw
        slipped += 1 if one else 2 if way == 0 else 0
        assert one or way == 0 or way == pytest.approx(0.4 * TICK, abs=1e-8)
    assert robot.odometry == pytest.approx((ticks * 0.4 * TICK, 0.0, 0.0)), 'it does not see slip'
    assert binomial_tail(2 * ticks, slip, slipped) > 1e-7, (seed, slipped)


def is_variance(values: list[float], variance: float, kurtosis: float) -> bool:
    """Whether the mean square fits, within five standard deviations of it."""
    n = len(values)
    bound = 5 * variance * sqrt((kurtosis - 1) / n)
    return abs(sum(value * value for value in values) / n - variance) < bound


@pytest.mark.parametrize('seed', SEEDS)
def test_odometry_noise(seed: int) -> None:
    """Each wheel has an error of 5 % of its own; the distance is the mean of both wheels."""
    robot = DiffDrive(PLAIN, Body(odom_noise=0.05, acceleration=1e6), seed)
    off, turned = [], []
    for _ in range(4000):
        before = robot.odometry
        drive(robot, 0.4, 0.0, 1)
        turn = remainder(robot.odometry.yaw - before.yaw, tau)
        chord = hypot(robot.odometry.x - before.x, robot.odometry.y - before.y)
        way = chord * (turn / 2 / sin(turn / 2))
        off.append(way / (0.4 * TICK) - 1)
        turned.append(turn * robot.body.wheel_separation / (0.4 * TICK))
    assert robot.pose.yaw == 0, 'the robot itself goes straight'
    assert is_variance(off, 0.05**2 / 2, 3), seed
    assert is_variance(turned, 2 * 0.05**2, 3), seed


@pytest.mark.parametrize('seed', SEEDS)
def test_a_localised_pose_is_off_by_bounded_noise(seed: int) -> None:
    robot = DiffDrive(PLAIN, Body(pose_noise=0.02, heading_noise=0.1), seed)
    drive(robot, 0.3, 0.5, 20)
    fixes = [robot.localised() for _ in range(4000)]
    # Moments of a normal variable that is cut off at 3.
    density, outside = exp(-4.5) / sqrt(tau), 1 - erf(3 / sqrt(2))
    second = 1 - outside - 6 * density + 9 * outside
    fourth = 3 * (1 - outside) - 2 * density * (27 + 9) + 81 * outside
    for index, deviation in ((0, 0.02), (1, 0.02), (2, 0.1)):
        noise = [(fix[index] - robot.pose[index]) / deviation for fix in fixes]
        assert max(map(abs, noise)) < 3 + 1e-6, seed
        assert is_variance(noise, second, fourth / second**2), (seed, index)
        assert abs(sum(noise)) < 5 * sqrt(second * len(noise)), (seed, index)


def test_a_battery_drains_with_driving_and_time_and_is_charged_at_home() -> None:
    battery = Battery(idle=0.001, drive=0.02, dock=0.01)
    robot = DiffDrive(PLAIN, AGILE, battery=battery)
    drive(robot, 0.0, 0.0, 20)
    assert battery.charge == 1.0    # at home
    drive(robot, 0.5, 0.0, 200)     # 10 s, 5 m
    assert battery.charge == pytest.approx(1 - 10 * 0.001 - 5 * 0.02)
    drive(robot, 0.0, 1.0, 100)     # each wheel turns by half of what is between them
    left = 1 - 15 * 0.001 - 5 * 0.02 - 5 * 0.02 * AGILE.wheel_separation / 2
    assert battery.charge == pytest.approx(left)
    drive(robot, 0.0, -1.0, 100)
    drive(robot, 0.0, 0.0, 20)      # elsewhere than at home
    left -= 6 * 0.001 + 5 * 0.02 * AGILE.wheel_separation / 2
    assert battery.charge == pytest.approx(left)
    drive(robot, -0.5, 0.0, 200)
    drive(robot, 0.0, 0.0, 100)
    assert battery.charge == pytest.approx(left - 10 * 0.001 - 5 * 0.02 + 5 * 0.009)
    drive(robot, 0.0, 0.0, 2000)
    assert battery.charge == 1.0


def test_a_robot_whose_battery_is_empty_stands() -> None:
    robot = DiffDrive(PLAIN, AGILE, battery=Battery(idle=0.0, drive=0.5, dock=0.01))
    x = drive(robot, 0.5, 0.0, 200)[-1].x
    assert robot.battery and robot.battery.charge == 0.0 and robot.speed == 0.0
    assert relative(robot)[0] == pytest.approx(2.0, abs=TICK)
    assert drive(robot, 0.5, 0.0, 20)[-1].x == x
