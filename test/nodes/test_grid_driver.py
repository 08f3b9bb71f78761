# SPDX-License-Identifier: Apache-2.0

"""``grid_driver``: its actions, its ways to move, its way home."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
import math
import re
import time
from typing import Any

from builtin_interfaces.msg import Time
from driven_robot import (
    BACK,
    DrivenRobot,
    EAST,
    FAST,
    FORWARD,
    GRID,
    HOME,
    LEFT,
    NORTH,
    over_limit,
    RESET,
    RIGHT,
    SOUTH,
    WEST,
)
from driver_here import DriverHere, driving_here, UnicycleHere
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from hurried import passing_time
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.driving.grid import Grid, OUTSIDE
from mnm_ros.nodes.common.allowance import EACH_SECOND
from mnm_ros.robot_description import RobotDescription
from node_processes import NodeProcess, Peer, soon
import pytest
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough
from unicycle import TICK

Drive = Callable[..., DrivenRobot]

drive = pytest.fixture(driving_here)
put_forward = pytest.fixture(passing_time)


def off_centre(robot: DrivenRobot, cell: int) -> float:
    return math.dist((robot.platform.x, robot.platform.y), GRID.centre(cell))


@pytest.mark.parametrize('parameters', [
    {'pose_source': 'pose', 'stamped': True, 'base_frame': 'base_footprint'}, *(
        pytest.param(given, marks=thorough('nodes/test_grid_driver.py::test_a_round_and_home'))
        for given in ({'pose_source': 'odom'}, {'pose_source': 'amcl_pose', 'stamped': True}))])
def test_a_round_and_home(drive: Drive, parameters: dict[str, Any]) -> None:
    robot = drive(**parameters)
    for action, cell in ((EAST, 61), (NORTH, 72), (WEST, 71), (WEST, 70), (SOUTH, 59)):
        assert robot.act(action)[0] == cell and 'reached' in robot.outcomes[-1]
        assert off_centre(robot, cell) < 0.25    # it still rolls
    assert robot.act(RESET) == (HOME, f'RESET: reached, in state {HOME}')
    robot.wait_for_rest()
    assert off_centre(robot, HOME) < 0.1 and abs(robot.platform.yaw) < 0.15
    assert over_limit(robot.platform.commands) == []
    assert {header.frame_id for header in robot.platform.headers} == (
        {parameters.get('base_frame', 'base_link')} if 'stamped' in parameters else set())
    assert max(abs(v) for _, v, _ in robot.platform.commands) > 0.5    # and not for being slow
    assert 'actions: [east, north, west, south]; home is state 60' in robot.process.output


def test_zero_for_half_a_second_then_silence(drive: Drive) -> None:
    robot = drive(decided_at=0.5)
    robot.act(EAST)
    end, count = robot.platform.time, len(robot.platform.commands)
    robot.wait_for_rest()
    after = robot.platform.commands[count:]
    assert all(v == w == 0 for _, v, w in after)
    assert abs(after[-1][0] - end - 0.5) < 3 * TICK and abs(len(after) * TICK - 0.5) < 3 * TICK


def test_it_rolls_on_while_the_next_command_comes(drive: Drive) -> None:
    """It does not stop for one straight on, and comes to rest in the middle without one."""
    robot = drive(max_speed=0.4)
    for number in range(1, 5):
        assert robot.act(EAST) == (HOME + number, f'east: reached, in state {HOME + number}')
        assert robot.platform.speed > 0.1 and 0.03 < off_centre(robot, HOME + number) < 0.2
    speeds = [v for _, v, _ in robot.platform.commands]
    assert min(speeds[20:]) > 0.1 and over_limit(robot.platform.commands) == []
    robot.wait_for_rest()
    assert off_centre(robot, HOME + 4) < 0.1 and len(robot.states) == 4
    assert robot.act(WEST)[0] == HOME + 3 and over_limit(robot.platform.commands) == []


@pytest.mark.parametrize('what', ['a bump', 'no pose', pytest.param('stop', marks=thorough(
    'nodes/test_grid_driver_safety.py::test_stop_and_free'))])
def test_what_stops_a_robot_that_rolls(
        drive: Drive, put_forward: Callable[[float], None], what: str) -> None:
    cell = strength(20.0, 40.0)
    robot = drive(pose_timeout=2.0 if what == 'no pose' else 20.0, cell_size=cell,
                  origin_x=-5.5 * cell, origin_y=-5.5 * cell, move_timeout=1000.0, decided_at=0.0)
    assert robot.act(EAST)[0] == HOME + 1 and robot.platform.speed > 0.5
    if what == 'a bump':
        robot.platform.touch()
    elif what == 'stop':
        robot.platform.frozen = True    # as it simulates faster than services are called
        robot.peer.call(SetBool, 'stop', SetBool.Request(data=True))
        robot.platform.frozen = False
    else:
        robot.platform.silent = True
    robot.peer.wait_for(lambda: put_forward(what == 'no pose' and 0.1) or (
        robot.platform.commands[-1][1:] == (0, 0)), 'zero velocity')
    assert robot.platform.x < cell - 1 and len(robot.states) == 1


@pytest.mark.parametrize(('bumper', 'outcome', 'reverse'), [
    (True, 'bumped', True), (False, 'blocked', True), (True, 'bumped', False)])
def test_a_wall_on_the_way(drive: Drive, bumper: bool, outcome: str, reverse: bool) -> None:
    """It backs off to the centre of the cell where it is, and can go elsewhere."""
    robot = drive(reverse=reverse)
    robot.platform.tells_bumps = bumper
    robot.platform.wall = lambda x, y: x > 0.2
    assert robot.act(EAST) == (HOME, f'east: {outcome}, in state {HOME}')
    assert off_centre(robot, HOME) < 0.1
    slowest = min(v for _, v, _ in robot.platform.commands)
    assert slowest < -0.1 if reverse else slowest >= 0    # backwards, or after a turn
    assert over_limit(robot.platform.commands, stops=1) == []
    assert robot.act(WEST)[0] == HOME - 1


def test_timeout_is_by_the_stamps(drive: Drive) -> None:
    limit = strength(10.0, 60.0)    # much more than passes by the clock on the wall
    robot = drive(move_timeout=limit, blocked_after=100.0)
    robot.platform.stuck = True
    begin = robot.platform.time
    assert robot.act(NORTH) == (HOME, f'north: timeout, in state {HOME}')
    assert limit - 0.1 < robot.platform.time - begin < limit + 2
    assert robot.platform.commands[-1][1:] == (0, 0)


def test_relative_moves(drive: Drive) -> None:
    robot = drive(moves='relative', with_heading=True, decided_at=0.5)
    for action, state in (
            (FORWARD, 61 * 4), (LEFT, 61 * 4 + 1), (FORWARD, 72 * 4 + 1), (BACK, 61 * 4 + 1),
            (RIGHT, 61 * 4), (RIGHT, 61 * 4 + 3), (RESET, HOME * 4)):
        before = len(robot.platform.commands)
        assert robot.act(action)[0] == state
        backwards = [v for _, v, _ in robot.platform.commands[before:] if v < 0]
        assert bool(backwards) is (action == BACK)
    assert over_limit(robot.platform.commands) == []


def test_only_free_cells_of_the_map(drive: Drive) -> None:
    """Map cells are half as large, those east of home are occupied, those north unknown."""
    robot = drive(use_map=True, declare_successors=True)
    said = robot.peer.listen(String, 'robot_side')
    robot.peer.wait_for(lambda: RobotDescription.from_text(said[-1].data).frame, 'a pose')
    seq = robot.send(EAST)
    robot.peer.wait_for(lambda: 'waiting for a map' in robot.process.output, 'that it waits')
    free = Grid(-2.75, -2.75, 0.25, 22, 22)
    values = [0] * (22 * 22)
    for cell, value in ((HOME + 1, 100), (HOME + 11, -1)):
        values[free.cell_at(*GRID.centre(cell))] = value
    robot.platform.publish_map(22, 22, 0.25, -2.75, -2.75, values)
    robot.peer.wait_for(lambda: robot.answers(seq) and robot.outcomes, 'the answer')
    assert robot.answers(seq) == [HOME] and not robot.platform.commands
    assert robot.act(NORTH) == (HOME, f'north: blocked, in state {HOME}')
    assert not robot.platform.commands    # nothing was driven
    assert robot.act(WEST)[0] == HOME - 1
    assert not RobotDescription.from_text(said[0].data).declaration    # before there was a map
    declared = RobotDescription.from_text(said[-1].data).declaration.successors
    assert declared[HOME] == ((HOME,), (HOME,), (HOME - 1, HOME), (HOME - 11, HOME))


def test_a_wall_on_the_map_along_a_border(drive: Drive) -> None:
    """It is 10 cm wide, between free cells: no move and no way home is driven at it."""
    robot = drive(use_map=True, declare_successors=True, robot_radius=0.105)
    pixels = [[0] * 110 for _ in range(110)]    # from -2.75 on, of 5 cm
    for row in (*range(60), *range(70, 110)):   # the door is the cell north of home, and its east
        pixels[row][59:61] = [100, 100]
    said = robot.peer.listen(String, 'robot_side')
    touched = []

    def wall(x: float, y: float) -> bool:
        apart = math.hypot(max(0.0, abs(x - 0.25) - 0.05), max(0.0, 0.25 - abs(y - 0.5)))
        touched.extend([(x, y)] if apart < 0.105 else [])
        return apart < 0.105

    robot.platform.wall = wall
    robot.platform.publish_map(110, 110, 0.05, -2.75, -2.75, sum(pixels, []))
    robot.peer.wait_for(lambda: said and RobotDescription.from_text(
        said[-1].data).declaration, 'a declaration')
    declared = RobotDescription.from_text(said[-1].data).declaration.successors
    assert declared[HOME][EAST] == (HOME,) and declared[HOME + 1][WEST] == (HOME + 1,)
    assert declared[HOME + 11][EAST] == (HOME + 12, HOME + 11)
    assert sum(len({end % 11 for end in ends} & {5, 6}) == 2
               for lists in declared.values() for ends in lists if OUTSIDE not in ends) == 2
    assert robot.act(EAST) == (HOME, f'east: blocked, in state {HOME}')
    assert not robot.platform.commands    # nothing was driven
    for action, cell in ((NORTH, HOME + 11), (EAST, HOME + 12), (SOUTH, HOME + 1)):
        assert robot.act(action)[0] == cell
    assert robot.act(WEST) == (HOME + 1, f'west: blocked, in state {HOME + 1}')
    assert robot.act(RESET) == (HOME, f'RESET: reached, in state {HOME}')
    assert not touched


def test_outside_of_the_grid_only_reset_leads_back(drive: Drive) -> None:
    robot = drive(columns=3, rows=3, origin_x=-0.75, origin_y=-0.75)
    assert robot.act(WEST)[0] == 3
    assert robot.act(WEST)[1] == 'west: blocked, in state 3'
    robot.platform.x, robot.platform.y = 1.5, 0.9
    robot.peer.wait_for(lambda: list(robot.states[-1].data) == [-1, OUTSIDE], 'the report')
    assert robot.act(EAST) == (OUTSIDE, f'east: blocked, in state {OUTSIDE}')
    assert robot.act(RESET)[0] == 4


def test_a_repeated_command_is_not_executed_again(drive: Drive) -> None:
    robot = drive()
    seq = robot.send(EAST)
    robot.wait_until_driving()
    robot.send(EAST, seq)
    robot.peer.wait_for(lambda: robot.answers(seq), 'the answer')
    robot.send(EAST, seq)
    robot.peer.wait_for(lambda: len(robot.answers(seq)) == 2, 'the answer again')
    robot.wait_for_rest()
    assert robot.answers(seq) == [61, 61] and off_centre(robot, 61) < 0.1


def test_reset_of_a_robot_that_was_pushed_within_the_cell(drive: Drive) -> None:
    robot = drive()
    assert robot.act(EAST)[0] == 61 and robot.act(RESET)[0] == HOME
    robot.wait_for_rest()
    count = len(robot.platform.commands)
    assert robot.act(RESET)[0] == HOME and len(robot.platform.commands) == count
    robot.platform.x, robot.platform.yaw = 0.2, 2.0
    poses = robot.platform.poses
    robot.peer.wait_for(lambda: robot.platform.poses > poses + 2, 'that the driver is told')
    assert robot.act(RESET)[0] == HOME
    robot.wait_for_rest()
    assert off_centre(robot, HOME) < 0.1 and abs(robot.platform.yaw) < 0.15


def test_a_way_home_round_an_obstacle(drive: Drive) -> None:
    robot = drive()
    assert robot.act(EAST)[0] == 61
    robot.platform.wall = lambda x, y: 0.2 < x < 0.3 and y < 0.25
    assert robot.act(RESET) == (HOME, f'RESET: reached, in state {HOME}')
    assert over_limit(robot.platform.commands, stops=1) == []
    assert robot.act(EAST)[1] == f'east: bumped, in state {HOME}'


def test_the_way_home_fails_with_a_reason(drive: Drive) -> None:
    robot = drive(home_retries=1)
    robot.act(EAST)
    robot.platform.wall = lambda x, y: max(abs(x - 0.5), abs(y)) > 0.2
    state, outcome = robot.act(RESET)
    assert state == 61 and outcome.startswith('RESET: bumped from cell 61 to ')
    reply = home_by_service(robot)
    assert not reply.success and reply.message.startswith('bumped from cell 61 to ')
    robot.platform.wall = lambda x, y: False
    reply = home_by_service(robot)
    assert reply.success and reply.message == 'at home in r5c5'
    robot.peer.wait_for(lambda: list(robot.states[-1].data) == [-1, HOME], 'the report')


def test_home_by_service_is_reported_once(drive: Drive) -> None:
    """And only after the response: an earlier report would be taken for a move by hand."""
    robot = drive()
    assert robot.act(EAST)[0] == 61
    robot.peer.call(Trigger, 'return_home')
    robot.peer.wait_for(lambda: len(robot.outcomes) == 2, 'the way home')
    robot.wait_for_rest()
    assert len(robot.states) == 1 and 'was moved from' not in robot.process.output
    assert robot.peer.call(Trigger, 'return_home').success
    robot.peer.wait_for(lambda: len(robot.states) == 2, 'the report')
    assert list(robot.states[1].data) == [-1, HOME]


def home_by_service(robot: DrivenRobot) -> Trigger.Response:
    """Call ``return_home`` until the way is over, not so often that a call is refused."""
    due = 0.0

    def ended() -> Trigger.Response | None:
        nonlocal due
        if time.monotonic() < due:
            return None
        due = time.monotonic() + 1 / EACH_SECOND
        reply = robot.peer.call(Trigger, 'return_home')
        return None if reply.message == 'on the way home, call again' else reply

    return robot.peer.wait_for(ended, 'the end of the way home')


def test_the_dock_of_the_platform(drive: Drive) -> None:
    robot = drive(reset='service', home_retries=1, home_timeout=30.0, pose_timeout=10.0)
    calls: list[bool] = []

    def dock(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Fail first, then lead home, then say so although it is not true."""
        calls.append(True)
        response.success, response.message = len(calls) > 1, 'no dock in sight'
        if len(calls) == 2:
            robot.platform.x = robot.platform.y = 0.0
        return response

    assert robot.act(WEST)[0] == HOME - 1
    seq = robot.send(RESET)    # no node offers the service yet

    def hurry() -> list[int]:
        robot.platform.time += 5.0
        return robot.answers(seq)

    robot.peer.wait_for(hurry, 'that it gives up')
    robot.peer.wait_for(lambda: len(robot.outcomes) == 2, 'the outcome')
    assert robot.outcomes[-1] == (
        f'RESET: timeout on the way home: service /dock does not answer, in state {HOME - 1}')
    robot.peer.node.create_service(Trigger, 'dock', dock)
    assert robot.act(RESET) == (HOME, f'RESET: reached, in state {HOME}') and len(calls) == 2
    assert robot.act(WEST)[0] == HOME - 1
    state, outcome = robot.act(RESET)
    assert state == HOME - 1 and 'RESET: home was missed' in outcome and len(calls) == 4


def test_goals_for_a_planner(drive: Drive) -> None:
    robot = drive(drive='goal_pose', move_timeout=1.0, tolerance=0.1)
    platform = robot.platform
    assert robot.act(NORTH)[0] == HOME + 11
    assert platform.goals == [pytest.approx((0.0, 0.5, math.pi / 2), abs=0.01)]
    assert platform.frames == {'odom'} and not platform.commands
    platform.stuck = True
    assert robot.act(EAST)[1] == f'east: timeout, in state {HOME + 11}'
    robot.peer.wait_for(lambda: len(platform.goals) == 3, 'the present pose as a goal')
    assert platform.goals[-1] == pytest.approx((platform.x, platform.y, platform.yaw), abs=0.01)
    platform.stuck = False
    assert robot.act(RESET)[0] == HOME
    assert platform.goals[-1] == pytest.approx((0, 0, 0), abs=0.01)


def test_simulated_time_that_stands_still_between_two_poses(drive: Drive) -> None:
    robot = drive(drive='goal_pose', move_timeout=0.2, pose_timeout=0.0, use_sim_time=True)
    robot.platform.stuck = True
    seq = robot.send(EAST)
    robot.peer.wait_for(lambda: robot.platform.goals, 'the goal')
    robot.platform.silent = True
    robot.peer.spin(0.5)
    assert not robot.answers(seq)
    robot.platform.silent = False
    robot.peer.wait_for(lambda: robot.answers(seq) and robot.outcomes, 'the answer')
    assert robot.outcomes == [f'east: timeout, in state {HOME}']


def test_a_robot_at_rest_may_be_silent_for_longer_than_a_move_takes(drive: Drive) -> None:
    """The time of a move begins with the move, not with the last pose before it."""
    robot = drive(drive='goal_pose', move_timeout=2.0, pose_timeout=0.0, use_sim_time=True)
    node, clock = robot.process.node, robot.peer.node.create_publisher(Clock, '/clock', 10)

    def wait_until(seconds: float) -> None:
        clock.publish(Clock(clock=Time(sec=1000, nanosec=int(seconds * 1e9))))
        robot.peer.wait_for(lambda: node.get_clock().now().nanoseconds == (
            1000 + seconds) * 1e9, 'the time')

    robot.peer.wait_for(clock.get_subscription_count, 'the subscription')
    wait_until(0.0)
    assert robot.act(RESET)[0] == HOME
    robot.platform.frozen = True
    wait_until(2.5)
    count = len(robot.platform.goals)
    seq = robot.send(EAST)
    robot.peer.wait_for(lambda: len(robot.platform.goals) > count, 'the goal')
    wait_until(2.75)
    robot.platform.frozen = False
    robot.peer.wait_for(lambda: robot.answers(seq) and len(robot.outcomes) == 2, 'the answer')
    assert robot.outcomes[-1] == f'east: reached, in state {HOME + 1}'


def test_the_latched_pose_of_a_robot_at_rest(
        peer: Peer, capfd: pytest.CaptureFixture[str]) -> None:
    """As of AMCL, that says nothing more until the robot moves."""
    pose = PoseWithCovarianceStamped()
    pose.header.stamp.sec, pose.pose.pose.orientation.w = 999, 1.0
    peer.node.create_publisher(
        PoseWithCovarianceStamped, 'amcl_pose', messages.LATCHED).publish(pose)
    platform = UnicycleHere(peer, 'amcl_pose')
    platform.silent = True
    robot = DrivenRobot(peer, DriverHere(peer, capfd, 'grid_driver', **{
        **FAST, 'drive': 'goal_pose', 'pose_source': 'amcl_pose', 'pose_timeout': 0.0}), platform)
    seq = robot.send(EAST)
    peer.wait_for(lambda: platform.goals, 'the goal')
    platform.silent = False
    peer.wait_for(lambda: robot.answers(seq), 'the answer')
    assert robot.answers(seq) == [HOME + 1]


def test_a_long_way_round_does_not_count(drive: Drive) -> None:
    """The robot is pushed about while it waits for a planner that does nothing."""
    robot = drive(drive='goal_pose', tolerance=0.1)
    robot.platform.stuck = True
    for times in (1, 2):
        robot.platform.x, robot.platform.y = 0.0, 0.0
        robot.peer.wait_for(lambda: robot.platform.poses, 'a pose')
        seq = robot.send(EAST)
        robot.peer.wait_for(lambda: robot.platform.goals[-1][0] > 0.4,
                            'the goal')

        def pushed(times: int = times) -> bool:
            robot.platform.y = -0.2 - robot.platform.y
            return len(robot.outcomes) == times

        robot.peer.wait_for(pushed, 'that it is broken off')
        assert not robot.answers(seq)
    assert all('east: broken off: 1.' in outcome for outcome in robot.outcomes)


def test_a_planner_that_comes_late_is_told_the_goal(drive: Drive) -> None:
    robot = drive(drive='goal_pose', pose_timeout=0.0)
    assert robot.act(RESET)[0] == HOME
    robot.platform.frozen = True
    robot.send(EAST)
    robot.peer.wait_for(lambda: len(robot.platform.goals) == 2, 'the goal')
    late = robot.peer.listen(PoseStamped, 'goal_pose', messages.STEP)
    begun = time.monotonic()
    robot.peer.wait_for(lambda: late, 'the goal again')
    assert soon(time.monotonic() - begun, 4.0)    # not after 5 s, as usual
    assert late[-1].pose.position.x == pytest.approx(0.5)


def test_a_goal_is_given_up_after_a_bump(drive: Drive) -> None:
    robot = drive(drive='goal_pose')
    robot.platform.stuck = True
    seq = robot.send(EAST)
    robot.peer.wait_for(lambda: robot.platform.goals, 'the goal')
    robot.platform.touch()
    robot.peer.wait_for(lambda: robot.answers(seq) and robot.outcomes, 'the answer')
    assert robot.answers(seq) == [HOME] and robot.outcomes == [f'east: bumped, in state {HOME}']
    assert robot.platform.goals[-1][:2] == pytest.approx((0, 0), abs=0.01)


@pytest.mark.parametrize(('parameters', 'refusal'), [
    ({'moves': 'relative'}, "'moves' is 'relative', expected compass unless with_heading"),
    ({'robot_radius': 0.3}, "'robot_radius' is 0.3, expected <= 0.25: a robot has to be within"),
    ({'declare_successors': True, 'columns': 1000}, 'with 11001 states, expected at most 10000'),
    ({'home_x': 9.0}, "'home_x', 'home_y' are 9, 0, expected a point of the grid"),
    ({'home_x': 0.19}, "'tolerance' is 0.05, expected <= 0.01: home has to be so near"),
    ({'with_heading': True, 'home_yaw': 0.7}, "'heading_tolerance' is 0.1, expected <= -0.07"),
    ({'tolerance': 0.3}, "'tolerance' is 0.3, expected <= 0.2"),
    ({'pose_timeout': 0.0}, "'pose_timeout' is 0.0, expected > 0 with drive cmd_vel"),
    ({'cell_size': 0.0}, "'cell_size' is 0.0, expected a double, such as 4.0, in [0.001, 1e+06]"),
    ({'move_timeout': 1e308}, "'move_timeout' is 1e+308, expected a double, such as 4.0, in [0.0"),
    ({'base_frame': ''}, "'base_frame' is '', expected the name of a frame"),
    ({'map_frame': '/map'}, "'map_frame' is '/map', expected the name of a frame, without a"),
    ({'base_frame': 'map'}, "'base_frame' is 'map', expected another frame than that of 'map_f"),
    ({'use_scan': True}, "'use_scan' is True, expected drive cmd_vel"),
    ({'drive': 'hover'}, "'drive' is 'hover', expected a string, one of cmd_vel, goal_pose")])
def test_parameters_that_do_not_fit(peer: Peer, capfd: pytest.CaptureFixture[str],
                                    parameters: dict, refusal: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(refusal)):
        DriverHere(peer, capfd, 'grid_driver', **parameters)


def test_nav2_without_its_messages(start: Callable[..., NodeProcess]) -> None:
    if find_spec('nav2_msgs'):
        pytest.skip('nav2_msgs is installed')
    node = start('grid_driver', drive='nav2')
    assert node.wait() == 1 and 'Traceback' not in node.output
    assert "'drive' is 'nav2', which needs the package nav2_msgs" in node.output
