# SPDX-License-Identifier: Apache-2.0

"""``grid_driver`` comes to rest whenever it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import signal
import time
from types import SimpleNamespace

from driven_robot import DrivenRobot, EAST, FAST, HOME, over_limit, RESET
from driver_here import DriverHere, driving_here, UnicycleHere
from geometry_msgs.msg import Twist, TwistStamped
from hurried import passing_time
from mnm_ros import messages
from mnm_ros.driving.drive import Leg, Limits, Outcome
from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.mobile import mobile_driver
from mnm_ros.nodes.mobile.movers import GoalMover, Mover, VelocityMover
from mnm_ros.nodes.mobile.poses import StampedPose
from mnm_ros.robot_description import RobotDescription
from node_processes import NodeProcess, Peer, soon
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from std_msgs.msg import Bool, Header, String
from std_srvs.srv import SetBool
from tiers import thorough
from unicycle import TICK, Unicycle

Drive = Callable[..., DrivenRobot]
SEQ = 7
QUIET = 0.02     # s for a tick, of a robot that is waited for by the clock on the wall
SIZE = 2000.0    # m: cells so large that nobody arrives meanwhile
TIMEOUT = 3.0    # s without a pose: more than ``Unicycle`` waits for a command that is late
HURRY = 0.05     # s by which the clock is put forward between two looks
LONG = {'cell_size': SIZE, 'origin_x': -SIZE / 2, 'origin_y': -SIZE / 2, 'columns': 3, 'rows': 1,
        'move_timeout': 1e6, 'pose_timeout': TIMEOUT}

drive = pytest.fixture(driving_here)


@pytest.fixture
def driving(drive: Drive) -> DrivenRobot:
    """Return a robot on its way east, by the command SEQ."""
    return driving_east(drive(**LONG))


def driving_east(robot: DrivenRobot) -> DrivenRobot:
    robot.send(EAST, SEQ)
    robot.wait_until_driving()
    robot.platform.pause = QUIET
    return robot


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that puts the clock forward a little."""
    put_forward = passing_time(monkeypatch)
    return lambda: put_forward(HURRY)


def at_rest(robot: DrivenRobot) -> bool:
    return robot.platform.commands[-1][1:] == (0, 0)


@pytest.mark.parametrize('number', [signal.SIGTERM, pytest.param(signal.SIGINT, marks=thorough(
    'nodes/test_start_and_end.py::test_ends_cleanly'))])
def test_zero_is_the_last_command_before_the_end(
        start: Callable, peer: Peer, number: int) -> None:
    driving = driving_east(DrivenRobot(
        peer, start('grid_driver', **{**FAST, **LONG}), Unicycle(peer)))
    driving.process.send(number)
    begin = time.monotonic()
    driving.peer.wait_for(lambda: not driving.process.running, 'the end')
    assert soon(time.monotonic() - begin, 5.0)
    driving.peer.wait_for(lambda: at_rest(driving), 'zero velocity')
    driving.peer.spin(0.2)    # nothing comes later
    assert at_rest(driving) and driving.process.wait() == 0


@pytest.mark.parametrize(('make', 'said'), [
    (lambda node, limits: VelocityMover(node, limits, frame=None), ['said', 'heard']),
    (lambda node, limits: GoalMover(node, limits, 2.0, 0.5), ['heard'])])
def test_the_last_word_is_heard_before_the_end(
        node: Node, make: Callable[..., Mover], said: list[str]) -> None:
    mover, done = make(node, Limits(1.0, 3.0, 2.0, 10.0, 0.05, 0.1, 1.0)), []
    mover._publisher = SimpleNamespace(
        publish=lambda _: done.append('said'), wait_for_all_acked=lambda _: done.append('heard'))
    mover.close()
    assert done == said


CRASHES = """
from mnm_ros.nodes.grid_driver import GridDriver
from mnm_ros.nodes.common.spin import run

class Crashing(GridDriver):
    def _on_bump(self, message):
        raise RuntimeError('as a test')

run('grid_driver', Crashing)
"""


def test_a_goal_is_given_up_after_an_exception(
        start: Callable[..., NodeProcess], peer: Peer, tmp_path: Path) -> None:
    script, platform = tmp_path / 'crashes.py', Unicycle(peer)
    script.write_text(CRASHES)
    robot = DrivenRobot(peer, start(str(script), drive='goal_pose'), platform)
    platform.stuck = True
    robot.send(EAST)
    peer.wait_for(lambda: platform.goals, 'the goal')
    platform.touch()
    peer.wait_for(lambda: len(platform.goals) == 2, 'the present pose as a goal')
    assert platform.goals[-1][:2] == pytest.approx((0, 0), abs=0.01)
    assert robot.process.wait() == 1


def test_pose_lost(driving: DrivenRobot, hurry: Callable[[], None]) -> None:
    """It stops, not by one message alone; the answer waits until it is known where it is."""
    driving.platform.silent = True
    driving.peer.wait_for(lambda: hurry() or at_rest(driving), 'zero velocity')
    count = len(driving.platform.commands)
    driving.peer.wait_for(lambda: len(driving.platform.commands) > count + 3, 'more zeros')
    assert f'no pose on /odom for {TIMEOUT:g} s: stopped' in driving.process.output
    driving.peer.spin(0.3)
    assert at_rest(driving) and not driving.answers(SEQ)
    driving.platform.x = SIZE
    driving.platform.silent = False
    driving.peer.wait_for(lambda: driving.answers(SEQ) and driving.outcomes, 'the answer')
    assert driving.answers(SEQ) == [1]
    assert driving.outcomes == ['east: pose lost, in state 0']


def test_the_last_pose_again_and_again_is_no_pose(
        driving: DrivenRobot, hurry: Callable[[], None]) -> None:
    driving.platform.frozen = True
    driving.peer.wait_for(lambda: hurry() or at_rest(driving), 'zero velocity')
    assert f'no pose on /odom for {TIMEOUT:g} s: stopped' in driving.process.output


@pytest.mark.parametrize('pace', [2e-5, -1.0, pytest.param(-2e-5, marks=thorough(
    'nodes/test_grid_driver_safety.py::test_stamps_that_creep_or_run_back_are_no_poses'))])
def test_stamps_that_creep_or_run_back_are_no_poses(
        driving: DrivenRobot, hurry: Callable[[], None], pace: float) -> None:
    driving.platform.pace = pace
    driving.peer.wait_for(lambda: hurry() or at_rest(driving), 'zero velocity')
    what = 'advance of the stamps of poses' if pace > 0 else 'pose'
    assert f'no {what} on /odom for {TIMEOUT:g} s: stopped' in driving.process.output
    driving.peer.spin(0.6)
    assert at_rest(driving) and not driving.answers(SEQ)
    driving.platform.pace = 1.0
    driving.platform.time += 1.0
    driving.peer.wait_for(lambda: driving.answers(SEQ), 'the answer')


def test_a_clock_that_begins_again(drive: Drive) -> None:
    robot = drive(decided_at=0.5, pose_timeout=TIMEOUT)
    for action, cell in ((EAST, HOME + 1), (RESET, HOME)):
        robot.platform.time -= 400.0
        state, outcome = robot.act(action)
        assert state == cell, outcome
    assert 'cancelled' not in robot.process.output


ARENA = {'cell_size': 1.0, 'origin_x': -1.5, 'origin_y': -1.5, 'columns': 3, 'rows': 3}


def test_a_pose_that_jumps_and_stays(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The robot stops, does not drive home from 100 m away, and goes on once it is back."""
    now = time.monotonic()
    robot = drive(**ARENA)
    seq = robot.send(EAST)
    robot.wait_until_driving()
    robot.platform.shift, x = 100.0, robot.platform.x
    robot.peer.wait_for(lambda: robot.states, 'the report')
    assert [list(state.data) for state in robot.states] == [[-1, OUTSIDE]]
    assert not robot.answers(seq) and robot.platform.x - x < 0.5
    assert robot.process.output.count('the pose has jumped by 100 m') == 1
    at = robot.platform.x, robot.platform.y
    monkeypatch.setattr(mobile_driver, 'time', SimpleNamespace(monotonic=lambda: now))
    for outcomes in (1, 2, 3):    # a localisation that corrects itself has some time
        seq = robot.send(RESET)
        robot.peer.wait_for(lambda: len(robot.outcomes) > outcomes, 'a refusal')    # noqa: B023
        now += 0.9
        poses = robot.platform.poses + 5
        robot.peer.wait_for(lambda: robot.platform.poses > poses, 'poses')    # noqa: B023
        assert not robot.answers(seq)
        now += 0.2
        robot.peer.wait_for(lambda: robot.answers(seq) == [OUTSIDE], 'the answer')    # noqa: B023
        assert 'the robot is 98.' in robot.outcomes[-1] and (
            'm outside of the grid, expected at most 2 m' in robot.outcomes[-1])
    assert (robot.platform.x, robot.platform.y) == at
    robot.platform.shift = 0.0
    robot.peer.wait_for(lambda: list(robot.states[-1].data) == [-1, 4], 'the report')
    assert robot.act(RESET)[0] == 4


def test_a_pose_that_drifts_out_of_the_grid(drive: Drive) -> None:
    """Step by step, as no jump, while the robot tries to follow."""
    robot = drive(blocked_after=1000.0, move_timeout=1000.0, **ARENA)
    robot.send(EAST)
    robot.wait_until_driving()
    begin, robot.platform.drift = robot.platform.x, -0.1
    robot.peer.wait_for(lambda: robot.states, 'the report')
    assert list(robot.states[-1].data) == [-1, OUTSIDE]
    assert 'm outside of the grid, expected at most 2 m' in robot.process.output
    assert robot.platform.x - begin < 5.0


def test_a_planner_is_stopped_where_its_pose_has_jumped_to(drive: Drive) -> None:
    robot = drive(drive='goal_pose', **ARENA)
    robot.platform.stuck = True
    robot.send(EAST)
    robot.peer.wait_for(lambda: robot.platform.goals, 'the goal')
    robot.platform.shift = 100.0
    robot.peer.wait_for(lambda: robot.states, 'the report')
    assert list(robot.states[-1].data) == [-1, OUTSIDE]
    robot.peer.wait_for(lambda: robot.platform.goals[-1][0] > 99, 'the present pose as a goal')
    assert robot.act(RESET)[0] == OUTSIDE
    assert all(goal[0] > 99 for goal in robot.platform.goals[2:])


def test_no_pose_yet(drive: Drive, hurry: Callable[[], None]) -> None:
    robot = drive()
    robot.platform.silent = True
    robot.peer.wait_for(lambda: hurry() or not robot.process.node._tracker.fresh, 'no pose')
    seq = robot.send(EAST)
    robot.peer.wait_for(
        lambda: 'waiting for a pose on /odom' in robot.process.output, 'that it waits')
    robot.platform.silent = False
    robot.peer.wait_for(lambda: robot.answers(seq) == [HOME + 1], 'the answer')


def test_a_base_that_wants_the_other_type_is_waited_for(
        start: Callable, peer: Peer) -> None:
    """A move that the base never hears of must not be learnt as blocked."""
    platform, told = Unicycle(peer), peer.listen(String, 'robot_side')
    robot = DrivenRobot(peer, start('grid_driver', **{**FAST, 'stamped': True}), platform)
    peer.wait_for(lambda: RobotDescription.from_text(told[-1].data).frame, 'a pose')
    seq = robot.send(EAST)
    peer.wait_for(lambda: 'waiting for a subscriber of TwistStamped on /cmd_vel, found Twist '
                  '(parameter stamped)' in robot.process.output, 'that it waits')
    assert not robot.answers(seq) and not robot.outcomes
    Peer(name='base').node.create_subscription(TwistStamped, 'cmd_vel', print, 10)
    peer.wait_for(lambda: robot.answers(seq) == [HOME] and robot.outcomes, 'its standing still')
    assert robot.outcomes[-1].startswith('east: blocked')


def test_stop_and_free(drive: Drive) -> None:
    driving = drive(**LONG)
    with driving.peer.client(SetBool, 'stop') as call:    # is found before it drives
        driving.send(EAST, SEQ)
        driving.wait_until_driving()
        call(SetBool.Request(data=True))
    # The response may overtake the velocity, which comes on a topic.
    driving.peer.wait_for(lambda: at_rest(driving), 'zero velocity')
    assert not driving.answers(SEQ)
    count = len(driving.platform.commands)
    driving.send(EAST)
    driving.wait_for_rest()
    assert all(v == w == 0 for _, v, w in driving.platform.commands[count:])
    driving.peer.call(SetBool, 'stop', SetBool.Request(data=False))
    driving.peer.wait_for(lambda: driving.states, 'the report')
    assert [list(state.data) for state in driving.states] == [[-1, 0]]
    assert driving.act(RESET)[0] == 0


@pytest.mark.parametrize('how', [None, *(pytest.param(number, marks=thorough(
    'nodes/test_grid_driver_safety.py::'
    'test_a_stop_outlives_the_driver_until_somebody_frees_the_robot '
    'checkpoint/test_power_cut.py::test_a_file_that_is_written_whole_is_there')) for number in (
        signal.SIGKILL, signal.SIGINT))])
def test_a_stop_outlives_the_driver_until_somebody_frees_the_robot(
        start: Callable, peer: Peer, capfd: pytest.CaptureFixture[str], tmp_path: Path,
        how: signal.Signals | None) -> None:
    """Also one that is not asked to end: without a signal, it is a node of this process."""
    platform, told = (Unicycle if how else UnicycleHere)(peer), peer.listen(Bool, 'stopped')
    given = {**FAST, **LONG, 'stop_dir': str(tmp_path)}

    def started(stopped: bool) -> DrivenRobot:
        told.clear()
        robot = DrivenRobot(peer, start('grid_driver', **given) if how else DriverHere(
            peer, capfd, 'grid_driver', **given), platform)
        # One that answers knows who commands, too. Else, as one that was killed is still taken for
        # a subscriber, it might hear the first command together with the next: when it is free.
        peer.call(GetParameters, 'grid_driver/get_parameters')
        peer.wait_for(lambda: told, 'what is told of it')
        assert [message.data for message in told] == [stopped]
        # The node publishes the topic before it writes the warning.
        warning = 'as before the restart, the robot is stopped'
        if stopped:
            peer.wait_for(lambda: warning in robot.process.output, 'the warning')
        assert (warning in robot.process.output) == stopped
        return robot

    def ended(robot: DrivenRobot) -> None:
        robot.leave()
        if how:
            robot.process.send(how)
            robot.process.wait()
        else:
            robot.process.vanish()
        peer.spin(0.2)    # for the last commands that are under way
        platform.speed = platform.turn = 0.0    # by the timeout of the base

    robot = started(stopped=False)
    with peer.client(SetBool, 'stop') as call:    # is found before it drives: that may take long
        robot.send(EAST)
        robot.wait_until_driving()
        call(SetBool.Request(data=True))
    for _ in range(2):
        ended(robot)
        robot = started(stopped=True)
        count = len(platform.commands)
        robot.send(EAST)
        peer.spin(0.5)
        assert all(v == w == 0 for _, v, w in platform.commands[count:]) and not robot.states
    peer.call(SetBool, 'stop', SetBool.Request(data=False))
    assert robot.act(RESET)[0] == 0
    ended(robot)
    assert started(stopped=False).act(RESET)[0] == 0


def test_a_folder_that_cannot_be_written_is_told_and_the_robot_stops_all_the_same(
        drive: Drive, peer: Peer, tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    robot = drive(**LONG, stop_dir=str(tmp_path / 'file'))
    robot.send(EAST)
    robot.wait_until_driving()
    assert peer.call(SetBool, 'stop', SetBool.Request(data=True)).success
    peer.wait_for(lambda: at_rest(robot), 'zero velocity')
    peer.wait_for(lambda: 'a restart would forget that this is stopped' in (
        robot.process.output), 'that it is told')


def test_the_node_that_commands_it_leaves(driving: DrivenRobot) -> None:
    driving.leave()
    driving.peer.wait_for(lambda: at_rest(driving), 'zero velocity')
    driving.wait_for_rest()
    driving.peer.wait_for(lambda: driving.outcomes, 'the outcome')
    assert driving.outcomes == ['east: cancelled: its commander is gone, in state 0']
    assert over_limit(driving.platform.commands, stops=1) == []


@thorough('nodes/test_robot_side.py::test_the_heartbeat_stops '
          'nodes/test_grid_driver_safety.py::test_the_node_that_commands_it_leaves')
def test_the_explorer_hangs(drive: Drive) -> None:
    robot = drive(**LONG)
    heart = robot.peer.node.create_publisher(Header, 'heartbeat', messages.HEARTBEAT)
    robot.peer.wait_for(heart.get_subscription_count, 'the subscription')
    heart.publish(Header(frame_id='/peer'))
    robot.send(EAST)
    robot.wait_until_driving()
    robot.platform.pause = QUIET
    robot.wait_for_rest()
    robot.peer.wait_for(lambda: robot.outcomes, 'the outcome')
    assert robot.outcomes == [
        'east: cancelled: the heartbeat of the explorer has stopped, in state 0']


def test_moved_by_hand_is_reported_and_a_joystick_is_not_disturbed(drive: Drive) -> None:
    robot = drive()
    assert robot.act(EAST)[0] == HOME + 1
    robot.wait_for_rest()
    count = len(robot.platform.commands)
    robot.platform.x = 1.0
    robot.peer.wait_for(lambda: len(robot.states) == 2, 'the report')
    robot.peer.spin(0.2)
    assert list(robot.states[-1].data) == [-1, HOME + 2] and len(robot.states) == 2
    assert len(robot.platform.commands) == count


@pytest.fixture
def node(peer: Peer) -> Iterator[Node]:
    node = Node('driver', context=peer.context)
    yield node
    node.destroy_node()


def test_one_velocity_for_each_pose(peer: Peer, node: Node) -> None:
    """A simulator that waits for it gets no more either, although a stop is told at once."""
    heard = peer.listen(Twist, 'cmd_vel', 100)
    mover = VelocityMover(node, Limits(1.0, 3.0, 2.0, 10.0, 0.05, 0.1, 1.0), frame=None)
    peer.wait_for(lambda: peer.node.count_publishers('cmd_vel'), 'the publisher')
    peer.wait_for(lambda: node.count_subscribers('cmd_vel'), 'the subscription')
    poses, now = 0, 10.0

    def fix() -> StampedPose:
        nonlocal poses, now
        poses, now = poses + 1, now + TICK
        return StampedPose(now, Pose(0.0, 0.0, 0.0), 'odom')

    leg = Leg(5.0, 0.0, None, 100.0)
    mover.start(leg, StampedPose(now, Pose(0.0, 0.0, 0.0), 'odom'))
    for _ in range(5):
        assert mover.update(fix()) is None
    mover.bump()
    peer.wait_for(lambda: len(heard) == poses + 1, 'zero at once')
    assert heard[-2].linear.x > 0.3 and heard[-1].linear.x == 0
    assert mover.update(fix()) is Outcome.BUMPED
    mover.start(leg, StampedPose(now, Pose(0.0, 0.0, 0.0), 'odom'))
    assert mover.update(fix()) is None
    peer.wait_for(lambda: len(heard) == poses, 'as many as poses')
    mover.stop(None)
    for _ in range(10):
        mover.rest(fix())
    peer.wait_for(lambda: len(heard) == poses, 'as many as poses')
    for _ in range(10):
        mover.rest(fix())
    mover.close()
    peer.wait_for(lambda: len(heard) == poses - 10 + 1, 'silence and a last zero')
    assert heard[-1].linear.x == 0
