# SPDX-License-Identifier: Apache-2.0

"""
Goals for nav2, with a stand-in for its action server.

Where ``nav2_msgs`` is installed, also with a server of the real type.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from driven_robot import DrivenRobot, EAST, HOME, NORTH, RESET
from mnm_ros import messages
from mnm_ros.driving.drive import Leg, Limits, Outcome
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.grid_driver import GridDriver
from mnm_ros.nodes.mobile import nav2_mover
from mnm_ros.nodes.mobile.movers import GoalMover
from mnm_ros.nodes.mobile.nav2_mover import Nav2Mover
from mnm_ros.nodes.mobile.poses import StampedPose
from node_processes import Peer
import pytest
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool
from unicycle import Unicycle

LEG = Leg(0.5, 0.0, None, 20.0, direct=True)
RETREAT = Leg(0.0, 0.0, None, 20.0, retreat=True)
LIMITS = Limits(0.3, 1.0, 0.5, 2.0, 0.05, 0.1, 2.0)
ABORTED, CANCELED, SUCCEEDED, UNKNOWN = (
    GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_UNKNOWN)


class Nav2:
    """
    Takes goals and answers when the test says so.

    goals: a future for the response to each. results: for how each accepted one has ended.
    cancelled: futures for the responses to cancellations.
    """

    def __init__(self) -> None:
        self.goals: list[Future] = []
        self.results: list[Future] = []
        self.cancelled: list[Future] = []
        self._action_name = 'navigate_to_pose'

    def server_is_ready(self) -> bool:
        return True

    def send_goal_async(self, _: Any) -> Future:
        return self._asked(self.goals)

    def respond(self, accepted: bool) -> None:
        self.goals[-1].set_result(SimpleNamespace(
            accepted=accepted, get_result_async=lambda: self._asked(self.results),
            cancel_goal_async=lambda: self._asked(self.cancelled)))

    def end(self, status: int, **result: Any) -> None:
        self.results[-1].set_result(SimpleNamespace(
            status=status, result=SimpleNamespace(**result)))

    def _asked(self, futures: list[Future]) -> Future:
        futures.append(Future())
        return futures[-1]


@pytest.fixture
def nav2(monkeypatch: pytest.MonkeyPatch) -> Nav2:
    nav2 = Nav2()
    monkeypatch.setattr(nav2_mover, 'ActionClient', lambda *_: nav2)
    monkeypatch.setattr(nav2_mover, 'time', SimpleNamespace(monotonic=lambda: clock[-1]))
    clock.append(0.0)
    monkeypatch.setattr(nav2_mover, 'NavigateToPose', SimpleNamespace(Goal=SimpleNamespace))
    return nav2


@pytest.fixture
def mover(peer: Peer, nav2: Nav2) -> Iterator[Nav2Mover]:
    node = Node('driver', context=peer.context)
    yield Nav2Mover(node, LIMITS, 2.0, 0.5)
    node.destroy_node()


clock = [0.0]    # the steady one, which agrees with the stamps here


def fix(time: float, x: float = 0.0, y: float = 0.0) -> StampedPose:
    clock.append(time)
    return StampedPose(time, Pose(x, y, 0.0), 'map')


ENDS: list[tuple[Leg, int, dict[str, Any], Outcome, str]] = [
    (LEG, SUCCEEDED, {}, Outcome.REACHED, ''),
    (LEG, ABORTED, {'error_code': 105}, Outcome.BLOCKED, '105 FAILED_TO_MAKE_PROGRESS'),
    (LEG, ABORTED, {'error_code': 205}, Outcome.BLOCKED, '205 START_OCCUPIED'),
    (LEG, ABORTED, {'error_code': 206}, Outcome.BLOCKED, '206 GOAL_OCCUPIED'),
    (LEG, ABORTED, {'error_code': 208, 'error_msg': 'in a wall'}, Outcome.BLOCKED,
     '208 NO_VALID_PATH in a wall'),
    (LEG, ABORTED, {'error_code': 308}, Outcome.BLOCKED, '308 NO_VALID_PATH'),
    (LEG, ABORTED, {'error_code': 102, 'error_msg': 'no odom'}, Outcome.BROKEN_OFF,
     '102 TF_ERROR no odom'),
    (LEG, ABORTED, {'error_code': 0, 'error_msg': ''}, Outcome.BROKEN_OFF, 'error_code 0'),
    (LEG, ABORTED, {'error_code': 104}, Outcome.BROKEN_OFF, '104 PATIENCE_EXCEEDED'),
    (LEG, ABORTED, {'error_code': 207}, Outcome.BROKEN_OFF, '207 TIMEOUT'),
    (LEG, ABORTED, {'error_code': 9002}, Outcome.BROKEN_OFF, '9002 TF_ERROR'),
    (LEG, ABORTED, {'error_code': 4711, 'error_msg': 'of a plugin'}, Outcome.BROKEN_OFF,
     '4711 of a plugin'),
    (LEG, UNKNOWN, {'error_code': 0}, Outcome.BROKEN_OFF, 'status 0'),
    (LEG, CANCELED, {'error_code': 0}, Outcome.STOPPED, 'another client'),
    (LEG, ABORTED, {}, Outcome.BLOCKED, 'does not say why'),
    (RETREAT, ABORTED, {}, Outcome.BROKEN_OFF, 'does not say why')]


def test_a_goal_and_its_end(peer: Peer, nav2: Nav2) -> None:
    """The result of Humble has no code; then a way back shows whether nav2 itself is at fault."""
    node = Node('driver', context=peer.context)
    for leg, status, result, outcome, words in ENDS:
        mover = Nav2Mover(node, LIMITS, 2.0, 0.5)
        mover.start(leg, fix(0.0))
        nav2.respond(True)
        assert mover.update(fix(1.0)) is None
        nav2.end(status, **result)
        assert (mover.update(fix(2.0)), status, result) == (outcome, status, result)
        assert words in mover.detail and bool(words) is bool(mover.detail)


def test_the_goal_after_a_fault_waits(nav2: Nav2, mover: Nav2Mover) -> None:
    """Else all retries of a way home would be gone in a moment."""
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    nav2.end(ABORTED, error_code=102)
    assert mover.update(fix(0.1)) is mover.update(fix(0.9)) is None
    assert mover.update(fix(1.0)) is Outcome.BROKEN_OFF


@pytest.mark.parametrize('arrives', [False, True])
def test_a_long_way_round_is_not_that_action(
        nav2: Nav2, mover: Nav2Mover, arrives: bool) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    for time, (x, y) in enumerate([(0.0, 0.3), (0.3, 0.3), (0.5, 0.2)], 1):
        assert mover.update(fix(float(time), x, y)) is None
    if arrives:
        nav2.end(SUCCEEDED)
    else:
        assert mover.update(fix(4.0, 0.5, -0.1)) is None and len(nav2.cancelled) == 1
        assert mover.update(fix(5.0, 0.5, -0.2)) is None
        nav2.cancelled[-1].set_result(None)
    assert mover.update(fix(6.0, 0.5, -0.2)) is Outcome.DETOUR
    assert 'm driven, expected <= 1.00 m by max_detour' in mover.detail


def test_noise_is_no_way_and_a_way_back_may_be_long(nav2: Nav2, mover: Nav2Mover) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    for step in range(1, 190):
        assert mover.update(fix(step * 0.1, 0.04 * (step % 2))) is None
    mover.stop(fix(19.0))
    mover.start(RETREAT, fix(20.0, 0.5))
    nav2.respond(True)
    for step in range(1, 19):
        assert mover.update(fix(20.0 + step, 0.5 * (step % 2))) is None
    nav2.end(SUCCEEDED)
    assert mover.update(fix(39.0)) is Outcome.REACHED


def test_a_long_way_round_of_another_planner(peer: Peer) -> None:
    node = Node('driver', context=peer.context)
    mover = GoalMover(node, LIMITS, 2.0, 0.5)
    mover.start(LEG, fix(0.0))
    assert mover.update(fix(1.0, 0.0, 0.4)) is None
    assert mover.update(fix(2.0, 0.6, 0.4)) is None    # 1 m
    assert mover.update(fix(3.0, 0.5, 0.0)) is Outcome.DETOUR
    node.destroy_node()


def test_a_goal_ends_when_a_new_map_closes_its_way(
        nav2: Nav2, mover: Nav2Mover, peer: Peer) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    mover.obstruct()
    assert mover.update(fix(1.0)) is None and len(nav2.cancelled) == 1
    nav2.cancelled[-1].set_result(None)
    assert mover.update(fix(1.1)) is Outcome.OBSTRUCTED
    node = Node('driver', context=peer.context)
    other = GoalMover(node, LIMITS, 2.0, 0.5)
    other.start(LEG, fix(0.0))
    other.obstruct()
    assert other.update(fix(1.0)) is Outcome.OBSTRUCTED
    other.start(RETREAT, fix(1.0))
    assert other.update(fix(1.1, 0.2)) is None
    node.destroy_node()


def test_a_timeout_counts_if_nav2_is_there(nav2: Nav2, mover: Nav2Mover) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    assert mover.update(fix(20.0)) is None and len(nav2.cancelled) == 1
    nav2.cancelled[-1].set_result(None)
    assert mover.update(fix(20.1)) is Outcome.TIMEOUT


def test_nav2_that_is_killed(nav2: Nav2, mover: Nav2Mover) -> None:
    """It takes 20 s until the middleware gives it up; it answers nothing from now on."""
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    assert mover.update(fix(20.0)) is mover.update(fix(24.9)) is None
    assert mover.update(fix(25.0)) is Outcome.BROKEN_OFF and mover.detail == 'nav2 does not answer'
    assert mover.idle
    mover.start(LEG, fix(30.0))
    for time in (34.0, 35.0, 36.0):    # the goal is sent again, for whoever has been started since
        assert mover.update(fix(time)) is None
    assert len(nav2.goals) == 3
    nav2.respond(True)
    nav2.end(SUCCEEDED)
    assert mover.update(fix(37.0)) is Outcome.REACHED


def test_nav2_that_is_not_active_is_no_obstacle(nav2: Nav2, mover: Nav2Mover) -> None:
    """It rejects all goals at once. Nothing is learnt about the world from that."""
    mover.start(LEG, fix(0.0))
    for time in range(1, 6):
        nav2.respond(False)
        assert mover.update(fix(float(time))) is None
        assert mover.update(fix(time + 0.5)) is None
    assert 4 <= len(nav2.goals) <= 6
    nav2.respond(True)
    nav2.end(SUCCEEDED)
    assert mover.update(fix(7.0)) is Outcome.REACHED


def test_nav2_that_stays_inactive(nav2: Nav2, mover: Nav2Mover) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(False)
    assert mover.update(fix(0.5)) is None
    assert mover.update(fix(20.0)) is Outcome.BROKEN_OFF    # not a timeout of the world
    assert mover.detail == 'rejected by nav2'


def test_a_goal_is_cancelled_before_the_node_ends(nav2: Nav2, mover: Nav2Mover) -> None:
    """Also one that nav2 has not accepted yet."""
    mover.start(LEG, fix(0.0))
    mover.stop(fix(1.0))
    assert not mover.idle and not nav2.cancelled
    nav2.respond(True)
    assert not mover.idle and len(nav2.cancelled) == 1
    nav2.cancelled[-1].set_result(None)
    assert mover.idle


@pytest.fixture
def command(peer: Peer, nav2: Nav2) -> Iterator[tuple[GridDriver, Callable[[int, int], None]]]:
    """Return a driver with the stand-in, and what gives it a command."""
    driver = GridDriver(
        context=peer.context, parameter_overrides=[Parameter('drive', value='nav2')])
    peer.spin_also(driver)
    Unicycle(peer)
    actions = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: driver._tracker.fresh and actions.get_subscription_count(),
                  'that the driver knows where it is')
    yield driver, lambda seq, action: actions.publish(
        Int64MultiArray(data=array('q', (seq, action))))
    driver.destroy_node()


def test_steps_that_are_broken_off_have_no_answer(
        peer: Peer, nav2: Nav2, command: tuple[GridDriver, Callable[[int, int], None]],
        capfd: pytest.CaptureFixture[str]) -> None:
    _, send = command
    states = peer.listen(Int64MultiArray, 'state', messages.STEP)
    peer.wait_for(lambda: peer.node.count_publishers('state'), 'the driver')
    for seq in range(10):
        send(seq, EAST)
        peer.wait_for(lambda seq=seq: len(nav2.goals) == seq + 1, 'the goal')
        nav2.respond(True)
        nav2.end(ABORTED, error_code=102, error_msg='no odom')
        clock.append(clock[-1] + 1.0)
        peer.wait_for(lambda seq=seq: len(states) == seq + 1, 'the report')
    assert {tuple(message.data) for message in states} == {(-1, HOME)}
    log = capfd.readouterr().err
    assert 'this step does not count: broken off: nav2: error_code 102 TF_ERROR no odom' in log
    assert log.count('nothing is learnt: 10 moves in a row were broken off') == 1


def test_a_goal_that_another_node_cancels_stops_the_robot(
        peer: Peer, nav2: Nav2, command: tuple[GridDriver, Callable[[int, int], None]]) -> None:
    driver, send = command
    outcomes = peer.listen(String, 'outcome', messages.LATCHED)
    send(1, EAST)
    peer.wait_for(lambda: nav2.goals, 'the goal')
    nav2.respond(True)
    nav2.end(CANCELED)
    peer.wait_for(lambda: driver._stand and outcomes, 'that it stands')
    assert 'cancelled: another client has cancelled the goal of nav2' in outcomes[-1].data
    send(2, RESET)
    peer.wait_for(lambda: driver._stand.command, 'another command')
    peer.spin(0.3)
    assert len(nav2.goals) == 1


class Server:
    """
    ``navigate_to_pose`` in its real type.

    goals: those that are under way, with a future for the status and the result of each.
    """

    def __init__(self, peer: Peer) -> None:
        from nav2_msgs.action import NavigateToPose
        self.kind = NavigateToPose
        self.peer = peer
        self.accepts = True
        self.goals: list[tuple[Any, Future]] = []
        self.seen = 0
        self.server = ActionServer(
            peer.node, NavigateToPose, 'navigate_to_pose', self._execute,
            goal_callback=lambda _: (
                GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT),
            cancel_callback=self._on_cancel)

    async def _execute(self, handle: Any) -> Any:
        self.seen += 1
        self.goals.append((handle, Future(executor=self.peer._executor)))
        getattr(handle, await self.goals[-1][1])()
        return self.result

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self.end('canceled')
        return CancelResponse.ACCEPT

    def end(self, how: str, **result: Any) -> None:
        self.result = self.kind.Result(**result)
        self.goals.pop()[1].set_result(how)

    def wait_for_goal(self) -> tuple[float, float]:
        """Return where the next goal is."""
        handle, _ = self.peer.wait_for(lambda: self.goals, 'a goal')[-1]
        position = handle.request.pose.pose.position
        return position.x, position.y


with_nav2 = pytest.mark.skipif(
    find_spec('nav2_msgs') is None, reason='nav2_msgs is not installed')


@pytest.fixture
def driven(peer: Peer, drive: Callable[..., DrivenRobot]) -> tuple[DrivenRobot, Server]:
    server = Server(peer)
    robot = drive(drive='nav2')
    peer.wait_for(lambda: server.peer.node.count_clients(
        'navigate_to_pose/_action/send_goal'), 'the client')
    return robot, server


@with_nav2
def test_a_fault_is_no_step_and_a_wall_is_one(driven: tuple[DrivenRobot, Server]) -> None:
    robot, nav2 = driven
    seq = robot.send(EAST)
    assert nav2.wait_for_goal() == pytest.approx((0.5, 0.0))
    coded = hasattr(nav2.kind.Result(), 'error_code')    # not in Humble
    if coded:
        nav2.end('abort', error_code=102)
    else:
        nav2.end('abort')
        nav2.wait_for_goal()
        nav2.end('abort')    # the way back, too
    robot.peer.wait_for(lambda: robot.states and robot.outcomes, 'the report')
    assert [list(message.data) for message in robot.states] == [[-1, HOME]]
    assert robot.outcomes[-1].startswith('east: broken off: nav2')
    seq = robot.send(NORTH)
    nav2.wait_for_goal()
    nav2.end('abort', **({'error_code': 208} if coded else {}))
    assert nav2.wait_for_goal() == pytest.approx((0.0, 0.0))    # back
    nav2.end('succeed')
    robot.peer.wait_for(lambda: robot.answers(seq) and len(robot.outcomes) == 2, 'the answer')
    assert robot.answers(seq) == [HOME] and robot.outcomes[-1].startswith('north: blocked')


@with_nav2
def test_an_operator_who_cancels_the_goal(driven: tuple[DrivenRobot, Server]) -> None:
    """As RViz does it. The robot stands, even if commanded on, until the explorer goes on."""
    robot, nav2 = driven
    explorer = Explorer(robot.peer)
    robot.send(EAST)
    nav2.wait_for_goal()
    robot.peer.call(CancelGoal, 'navigate_to_pose/_action/cancel_goal')    # all goals
    robot.peer.wait_for(lambda: explorer.asked, 'that exploration is paused')
    robot.peer.wait_for(lambda: robot.states, 'the report')
    assert {tuple(message.data) for message in robot.states} == {(-1, HOME)}
    explorer.phases.publish(String(data='paused'))
    robot.peer.wait_for(lambda: robot.outcomes, 'the outcome')
    assert 'another client has cancelled the goal of nav2' in robot.outcomes[-1]
    robot.peer.spin(1.5)
    robot.send(NORTH)
    robot.peer.spin(0.5)
    assert nav2.seen == 1
    seq = robot.send(RESET)
    explorer.phases.publish(String(data='building/discovery'))
    assert nav2.wait_for_goal() == pytest.approx((0.0, 0.0))
    nav2.end('succeed')
    robot.peer.wait_for(lambda: robot.answers(seq), 'the answer')


@with_nav2
def test_a_server_that_rejects_and_one_that_does_not_answer(
        driven: tuple[DrivenRobot, Server]) -> None:
    robot, nav2 = driven
    nav2.accepts = False
    seq = robot.send(EAST)

    def reported(times: int) -> bool:
        return len(robot.states) == len(robot.outcomes) == times

    robot.peer.spin(1.5)    # in which it is sent again
    robot.platform.time += 100.0
    robot.peer.wait_for(lambda: reported(1), 'the report')
    assert not robot.answers(seq) and list(robot.states[0].data) == [-1, HOME]
    assert 'broken off: rejected by nav2' in robot.outcomes[-1]
    nav2.accepts = True
    robot.send(EAST)
    nav2.wait_for_goal()
    nav2.server.destroy()
    robot.platform.time += 100.0
    robot.peer.wait_for(lambda: reported(2), 'the report')
    assert 'broken off: nav2 does not answer' in robot.outcomes[-1]
    assert all(message.data[0] == -1 for message in robot.states)


class Explorer:
    """The service ``explore`` and the topic ``phase``."""

    def __init__(self, peer: Peer) -> None:
        self.asked: list[bool] = []
        self.phases = peer.node.create_publisher(String, 'phase', messages.LATCHED)
        self.phases.publish(String(data='building/discovery'))
        peer.node.create_service(SetBool, 'explore', self._on_explore)

    def _on_explore(
            self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.asked.append(request.data)
        response.success = True
        return response
