# SPDX-License-Identifier: Apache-2.0

"""A robot with wheels in a furnished flat: what it rolls on, runs into, sees and believes."""

from __future__ import annotations

from dataclasses import replace
from math import cos, hypot, inf, pi, remainder, sin, tau
from pathlib import Path
import random

from flats import DOOR, flat
from mnm_ros.core.errors import MissingPackageError
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.simulation import physics
from mnm_ros.simulation.physics import PhysicalDrive, rectangles, TURTLEBOT
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.simulation.world import load, World
import pytest
from tiers import strength

CALM = replace(TURTLEBOT, slip=0.0, odom_noise=0.0, pose_noise=0.0, heading_noise=0.0,
               pose_jumps=0.0, latency=0.0, tick=0.1)
FLAT = load('furnished_flat')


def drive(robot: PhysicalDrive, speed: float, turn_rate: float, seconds: float) -> None:
    for _ in range(round(seconds / robot.body.tick)):
        robot.command(speed, turn_rate)
        robot.tick()


def test_without_mujoco_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physics, 'mujoco', None)
    with pytest.raises(MissingPackageError, match='needs the package mujoco, the extra physics'):
        PhysicalDrive(FLAT, CALM)


@pytest.mark.parametrize('seed', range(5))
def test_rectangles_cover_each_cell_once(seed: int) -> None:
    draw = random.Random(seed)
    cells = {(x, y) for x in range(12) for y in range(9) if draw.random() < 0.6}
    covered = [(column + right, row + up) for column, row, width, height in rectangles(cells)
               for right in range(width) for up in range(height)]
    assert len(covered) == len(cells) and set(covered) == cells, seed


@pytest.fixture
def robot() -> PhysicalDrive:
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    return PhysicalDrive(FLAT, CALM)


def test_it_rolls_as_its_wheels_turn(robot: PhysicalDrive) -> None:
    x, y = FLAT.home_pose[:2]
    robot.put(Pose(x - 0.4, y + 0.5, 0.0))
    drive(robot, 0.3, 0.0, 3.0)
    drive(robot, 0.0, 0.0, 1.0)
    # 0.3 m/s, and half as fast while it accelerates and brakes.
    assert robot.pose.x - x + 0.4 == pytest.approx(0.9, abs=0.03)
    assert robot.odometry.x == pytest.approx(robot.pose.x - x + 0.4, abs=0.02)
    assert robot.pose.y == pytest.approx(y + 0.5, abs=0.01) and not robot.touching
    before = robot.pose.yaw
    drive(robot, 0.0, pi / 4, 2.0)
    drive(robot, 0.0, 0.0, 1.0)
    assert remainder(robot.pose.yaw - before, tau) == pytest.approx(pi / 2, abs=0.1)


def test_walls_and_legs_hold_it_and_are_felt(robot: PhysicalDrive) -> None:
    wall = FLAT.cell_size + CALM.radius
    robot.put(Pose(0.8, 0.8, pi))
    drive(robot, 0.3, 0.0, 4.0)
    assert robot.bumped and robot.pose.x == pytest.approx(wall, abs=0.005)
    assert 1 < robot.touching < 3
    # The motors push on, but the world does not give way.
    drive(robot, 0.3, 0.0, 4.0)
    assert robot.bumped and robot.pose.x == pytest.approx(wall, abs=0.005)
    drive(robot, -0.3, 0.0, 1.0)
    assert not robot.bumped and robot.pose.x > wall + 0.1
    (x, y) = FLAT.centre((30, 3))
    robot.put(Pose(2.5, 0.65, 0.0))
    drive(robot, 0.3, 0.0, 3.0)
    assert hypot(robot.pose.x - x, robot.pose.y - y) >= CALM.radius + FLAT.cell_size / 4 - 0.005


@pytest.mark.parametrize('seed', range(strength(1, 3)))
def test_it_stays_on_its_wheels(robot: PhysicalDrive, seed: int) -> None:
    draw, mapped = random.Random(seed), replace(FLAT, walls=FLAT.walls - FLAT.legs)
    rough = PhysicalDrive(FLAT, replace(
        TURTLEBOT, tick=0.1, slip=0.1, acceleration=10.0, turn_acceleration=50.0), seed)
    for _ in range(strength(100, 300)):
        drive(rough, draw.choice((-0.3, 0, 0.3)), draw.uniform(-1.5, 1.5), draw.uniform(0.1, 1.0))
        assert abs(rough._data.qpos[2]) < 0.005, seed
        assert mapped.is_free(*rough.pose[:2], CALM.radius - 0.01, ()), seed
    assert rough.touching > 1


def test_what_it_backs_into_it_does_not_notice(robot: PhysicalDrive) -> None:
    robot.put(Pose(0.5, 0.8, 0.0))
    drive(robot, -0.3, 0.0, 3.0)
    assert robot.touching > 1 and not robot.bumped


def test_doors_and_persons_come_and_go(robot: PhysicalDrive) -> None:
    def ahead() -> float:
        """Return how far it is to the door of the bedroom, or to the doorway of the kitchen."""
        return float(robot.distances(4, 8.0)[1])
    robot.put(Pose(3.5, 1.2, 0.0))
    assert ahead() == pytest.approx(3.0 - 1.2, abs=0.001), 'the wall beyond'
    assert robot.change() and FLAT.described(robot.doors) == 'B closed, D open, P away'
    robot.tick()
    assert ahead() == pytest.approx(1.5 - 1.2, abs=0.001)
    robot.put(Pose(1.1, 0.8, 0.0))
    assert ahead() == pytest.approx(3.0 - 0.8, abs=0.001)
    assert robot.change() and FLAT.described(robot.doors) == 'B open, D open, P there'
    robot.tick()
    assert ahead() == pytest.approx(1.6 - 0.21 - 0.8, abs=0.01)
    robot.put(Pose(3.5, 1.5, 0.0))
    for _ in range(3):
        robot.change()
    assert robot.doors['B'], 'a door does not close on the robot'


def test_what_a_scanner_sees_is_what_is_there(robot: PhysicalDrive) -> None:
    """Go along each ray in steps of a centimetre; a leg is thinner than its cell."""
    beyond = 0
    for x, y, yaw in ((2.3, 0.8, 0.0), (2.31, 0.77, pi), (0.83, 1.78, 0.0)):
        robot.put(Pose(x, y, yaw))
        seen = robot.distances(90, 2.5)
        assert len(seen) == 90
        for ray, found in enumerate(seen):
            ahead = robot.pose._replace(yaw=yaw + ray / 90 * tau)
            cells = [(way / 100, _cell(ahead, way / 100)) for way in range(250)]
            first = next((way for way, cell in cells if cell in FLAT.walls), inf)
            if not any(cell in FLAT.legs for _, cell in cells) and first < 2.49:
                assert found == pytest.approx(first, abs=0.011), (x, y, yaw, ray)
            beyond += found == inf
    assert beyond > 20


def _cell(ahead: Pose, way: float) -> tuple[int, int]:
    x, y, _ = ahead.moved(way, 0.0)
    return int(x // FLAT.cell_size), int(y // FLAT.cell_size)


def test_wheels_slip_on_the_carpet(robot: PhysicalDrive) -> None:
    """In a hurry the way is shorter than what the wheels have turned, and nowhere else."""
    slipped = []
    for x in (0.4, 1.9):
        agile = PhysicalDrive(FLAT, replace(CALM, acceleration=50.0, max_speed=1.0))
        agile.put(Pose(x, 1.2, 0.0))
        drive(agile, 1.0, 0.0, 0.3)
        slipped.append(agile.odometry.x - (agile.pose.x - x))
    assert slipped[0] > 2 * slipped[1] > 0, slipped


def test_a_command_takes_its_time(robot: PhysicalDrive) -> None:
    late = PhysicalDrive(FLAT, replace(CALM, latency=0.3))
    moved = []
    for each in (robot, late):
        drive(each, 0.3, 0.0, 0.3)
        moved.append(each.pose.x - FLAT.home_pose.x)
    assert moved[0] > 0.02 and moved[1] == pytest.approx(0, abs=1e-3)


def test_the_localisation_corrects_what_drifts_and_jumps_now_and_then() -> None:
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    robot = PhysicalDrive(FLAT, replace(TURTLEBOT, pose_jumps=0.2, pose_noise=0.01), seed=3)
    off = []
    for _ in range(600):
        robot.command(0.0, 1.0)
        robot.tick()
        if robot.ticks % 10 == 0:
            located = robot.localised()
            off.append(hypot(located.x - robot.pose.x, located.y - robot.pose.y))
    far = [each for each in off if each > 0.1 - 0.03 * 2**0.5]
    assert max(off) < 0.2 + 0.03 * 2**0.5 and 2 <= len(far) <= 30, off    # 12 of 60
    assert sorted(off)[len(off) // 2] < 0.03
    drifted = abs(remainder(robot.odometry.yaw - robot.pose.yaw, tau))
    assert drifted > 0.05 > abs(remainder(robot.localised().yaw - robot.pose.yaw, tau))


def test_the_seed_and_the_commands_determine_everything() -> None:
    pytest.importorskip('mujoco', reason='mujoco is not installed')

    def course(seed: int) -> list[tuple[Pose, Pose, bool]]:
        robot, draw, found = PhysicalDrive(FLAT, TURTLEBOT, seed), random.Random(1), []
        for _ in range(60):
            robot.command(draw.uniform(-0.3, 0.3), draw.uniform(-1, 1))
            robot.tick()
            found.append((robot.pose, robot.localised(), robot.bumped))
        return found
    assert course(1) == course(1) != course(2)


def test_any_world_will_do() -> None:
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    plain = World('plain', 1.0, (3, 1), (1, 0), frozenset(), {}, ({},), FLAT.path)
    robot = PhysicalDrive(plain, CALM)
    drive(robot, 0.3, 0.0, 6.0)
    assert robot.bumped and robot.pose.x == pytest.approx(3 - CALM.radius, abs=0.005)


@pytest.mark.parametrize('turned', [0.0, 0.4])
def test_a_plan_will_do_however_its_map_is_turned(turned: float) -> None:
    """It sees and is held by the door, and is not when that is open."""
    pytest.importorskip('mujoco', reason='mujoco is not installed')

    def placed(x: float, y: float) -> tuple[float, float]:
        return cos(turned) * x - sin(turned) * y, sin(turned) * x + cos(turned) * y

    mapped = flat(DOOR)
    world = PlanWorld.of(Plan(
        'flat', replace(mapped, origin=Pose(*placed(*mapped.origin[:2]), turned)),
        Grid(0.0, 0.0, 0.5, 1, 1), Pose(*placed(0.3, 0.02), turned), 0.17,
        doors={'kitchen-hall': (placed(2.05, -0.4), placed(2.05, 0.4))}, path=Path('flat.yaml')))
    robot = PhysicalDrive(world, CALM)
    assert robot.pose == world.home_pose
    robot.change()
    robot.tick()
    scan = robot.scanner(4, 10.0, 0.0, 0).scan(robot.pose, robot.closed)
    assert scan == pytest.approx([1.75, 1.38, 1.2, 1.42], abs=0.06)
    drive(robot, 0.3, 0.0, 8.0)
    assert robot.bumped and robot.pose[:2] == pytest.approx(placed(2.05 - 0.17, 0.02), abs=0.06)
    robot.change()
    drive(robot, 0.3, 0.0, 4.0)
    assert world.local(robot.pose).x - world.local(world.home_pose).x > 2.2
