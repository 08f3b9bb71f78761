# SPDX-License-Identifier: Apache-2.0

"""The flat of a plan in simulation: walls, doors, and what is true of it."""

from __future__ import annotations

from dataclasses import replace
import math
from pathlib import Path
from random import Random

from flats import DOOR, flat
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.simulation.diff_drive import Body, DiffDrive, driver_parameters, scenario_of
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.simulation.scanner import Scanner
import pytest
from tiers import strength

LINE = (2.05, -0.4), (2.05, 0.4)
PLAN = Plan('flat', flat(DOOR), Grid(-0.95, -1.25, 0.5, 11, 5), Pose(0.3, 0.0, 0.5), 0.1,
            doors={'kitchen-hall': LINE}, keep_outs={'vase': ((0, 1), (0.1, 1), (0.1, 1.1))},
            path=Path('flat.plan.yaml'))
WORLD = PlanWorld.of(PLAN)


@pytest.mark.parametrize('seed', range(strength(1, 3)))
def test_a_disc_is_free_where_the_map_says_so(seed: int) -> None:
    """But for the half of a pixel by which a wall of pixels is not exactly where it is."""
    random = Random(seed)
    compared = 0
    for _ in range(300):
        x, y, radius = (random.uniform(*ends) for ends in ((-1.1, 5.1), (-1.6, 1.6), (0.05, 0.4)))
        sure, unsure = (bool(PLAN.map.is_free([(x, y)], [(x, y)], at)[0])
                        for at in (radius + 0.026, radius - 0.026))
        if sure == unsure:
            compared += 1
            assert WORLD.is_free(x, y, radius, frozenset()) == sure, (seed, x, y, radius)
    assert compared > 200


def test_the_robot_starts_at_home_and_stops_at_a_wall() -> None:
    robot = DiffDrive(replace(WORLD, plan=replace(PLAN, home=Pose(0.3, 1.0, 0.0))), Body(
        radius=0.1))
    assert robot.pose == (0.3, 1.0, 0.0)
    for _ in range(200):
        robot.command(0.5, 0.0)
        robot.tick()
    assert robot.bumped and robot.pose.x == pytest.approx(1.9, abs=0.03)    # the wall is at 2.0
    for _ in range(40):
        robot.command(-0.5, 0.0)
        robot.tick()
    assert robot.pose.x < 1.2 and not robot.bumped


@pytest.mark.parametrize('turned', [0.0, 0.4])
def test_a_scanner_sees_where_walls_and_doors_are(turned: float) -> None:
    """Of a map whose corner is not at 0, 0, and whose rows may be turned."""
    def placed(x: float, y: float) -> tuple[float, float]:
        return (math.cos(turned) * x - math.sin(turned) * y,
                math.sin(turned) * x + math.cos(turned) * y)
    world = PlanWorld.of(replace(
        PLAN, doors={'kitchen-hall': tuple(placed(*end) for end in LINE)},
        map=replace(PLAN.map, origin=Pose(*placed(*PLAN.map.origin[:2]), turned))))
    pose = Pose(*placed(0.3, 0.02), turned)    # looking through the door
    scanner = Scanner(world, 4, 10.0, 0.0, 0)
    ahead, left, behind, right = scanner.scan(pose, world.closed({'kitchen-hall': False}))
    assert ahead == pytest.approx(1.75, abs=0.06)    # the door is at 2.05, in pixels of 0.05
    assert scanner.scan(pose, frozenset())[0] > 3.0
    assert (behind, left, right) == pytest.approx((1.2, 1.38, 1.42), abs=0.06)


def test_doors_close_one_after_the_other() -> None:
    robot = DiffDrive(WORLD, Body(radius=0.1))
    assert robot.doors == {'kitchen-hall': True} and len(WORLD.settings) == 2
    assert WORLD.is_free(2.05, 0.0, 0.1, WORLD.closed(robot.doors))
    assert robot.change() and robot.doors == {'kitchen-hall': False}
    assert not WORLD.is_free(2.05, 0.0, 0.1, WORLD.closed(robot.doors))
    assert WORLD.is_free(1.0, 0.0, 0.1, WORLD.closed(robot.doors))


def test_a_door_waits_until_the_robot_has_left_it() -> None:
    robot = DiffDrive(replace(WORLD, plan=replace(PLAN, home=Pose(2.0, 0.0, 0.0))),
                      Body(radius=0.1))
    robot.change()
    assert robot.doors == {'kitchen-hall': True}


def test_no_door_closes_so_that_the_robot_is_stuck() -> None:
    """Also where pixels beside a door and its frame leave less room than either."""
    random, seed, yaw = Random(5), 5, 0.3
    ends = [(2 + 0.05 * math.cos(yaw) - y * math.sin(yaw),
             0.05 * math.sin(yaw) + y * math.cos(yaw)) for y in (-0.45, 0.45)]
    world = PlanWorld.of(replace(PLAN, map=flat(DOOR, yaw=yaw), doors={'kitchen-hall': (
        ends[0], ends[1])}))
    robot, closed = DiffDrive(world, Body(radius=0.105)), 0
    for _ in range(20_000):
        x, y = (random.uniform(*sorted(along)) + random.uniform(-0.35, 0.35)
                for along in zip(*ends))
        robot.doors = {'kitchen-hall': True}
        if world.is_free(x, y, 0.105, frozenset()):
            robot.pose, robot.setting = Pose(x, y, 0.0), 0
            robot.change()
            closed += not robot.doors['kitchen-hall']
            assert world.is_free(x, y, 0.105, world.closed(robot.doors)), (seed, x, y)
    assert closed > 1000


def test_a_robot_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match='does not fit into the cells of flat, expected less than '
                                         '0.25 m'):
        DiffDrive(WORLD, Body(radius=0.25))


def test_what_is_true_follows_from_ways_and_doors() -> None:
    scenario = scenario_of(WORLD)
    ways = PLAN.ways
    assert scenario.start == PLAN.home_cell and len(scenario.settings) == 2
    opened, closed = (setting.cmp for setting in scenario.settings)
    through = {*PLAN.through('kitchen-hall')}
    cut = 0
    for cell in PLAN.reached:
        for action in range(4):
            there = ways.neighbour(cell, action)
            assert opened.transitions(cell, action) == ((cell if there is None else there, 1.0),)
            if (cell, there) in through:
                assert closed.transitions(cell, action) == ((cell, 1.0),)
                cut += 1
    assert cut > 0


def test_the_driver_is_given_the_plan() -> None:
    given = driver_parameters(WORLD)
    assert given['plan'] == str(PLAN.path.absolute()) and not {'cell_size', 'home_x'} & {*given}
