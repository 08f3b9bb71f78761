# SPDX-License-Identifier: Apache-2.0

"""
The navigator serves ``navigate_to_pose`` of nav2.

All but what a pose means needs its type, ``nav2_msgs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
import math
from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from mnm_ros import messages
from mnm_ros.nodes.navigating.goal_board import GoalBoard
from mnm_ros.nodes.navigating.pose_goals import PoseGoals
from mnm_ros.robot_description import RobotDescription
from navigating import HeldRobot, Operator
from node_processes import Peer, ScriptedRobot
import pytest
from rclpy.action import ActionClient, ActionServer
from std_msgs.msg import String

with_nav2 = pytest.mark.skipif(
    find_spec('nav2_msgs') is None, reason='nav2_msgs is not installed')

ACTION = 'navigate_to_pose'
PLACES = RobotDescription(
    ('east', 'west'), frame='map', names={2: 'bench', 5: 'attic'},
    positions={0: (0.0, 0.0), 1: (1.0, 0.0), 2: (2.0, 0.0), 5: (3.0, 0.0), 6: (2.0, 0.0)})


def test_a_pose_means_the_nearest_place_if_that_is_known(peer: Peer) -> None:
    """Of several states at one place it is one that is known: 6 is not, 2 is."""
    known = {0, 2}
    goals = PoseGoals(peer.node, GoalBoard(peer.node), lambda: 1.0,
                      lambda state: '' if state in known else 'unknown state', print, print)

    def meant(x: float, y: float = 0.0, frame: str = 'map') -> Any:
        pose = PoseStamped()
        pose.header.frame_id = frame
        pose.pose.position.x, pose.pose.position.y = x, y
        return goals.place(pose)

    assert meant(0.0) == (202, "the pose is in the frame 'map', expected '', in which the robot "
                          'side has its places')
    goals.describe(PLACES)
    assert [meant(0.4), meant(2.4, 0.3), meant(-0.7, -0.7)] == [0, 2, 0]
    assert meant(0.0, 0.0, '/map') == 0
    known.symmetric_difference_update({2, 6})
    assert meant(2.0) == 6
    assert meant(1.4) == (204, '(1.40, 0.00) is no known place (1: unknown state); the nearest is '
                          '6, 0.60 m away, expected at most 1 m (pose_tolerance) and no other '
                          'place nearer')
    known.clear()
    assert meant(9.0) == (
        204, '(9.00, 0.00) is no known place (no place is there); none is known yet')
    goals.describe(replace(PLACES, positions={}))
    assert meant(0.0)[1].endswith('(no place is there); none is known yet')


class Commander:
    """Sends poses as ``nav2_simple_commander`` does, from a process without a robot side."""

    def __init__(self, robots: Peer) -> None:
        from nav2_msgs.action import NavigateToPose
        self.kind, self.peer, self._robots = NavigateToPose, Peer(name='commander'), robots
        self.client = ActionClient(self.peer.node, NavigateToPose, ACTION)
        self.feedback: list[Any] = []

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        def spun() -> Any:
            self._robots.spin(0.0)
            self._robots._executor.spin_once(timeout_sec=0.0)
            return condition()
        return self.peer.wait_for(spun, what)

    def send(self, x: float, y: float = 0.0, frame: str = 'map') -> Any:
        """Send a goal and return its handle, and the future of its result."""
        self.wait_for(self.client.server_is_ready, 'the action')
        goal = self.kind.Goal()
        goal.pose.header.frame_id = frame
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        sent = self.client.send_goal_async(
            goal, lambda message: self.feedback.append(message.feedback))
        self.wait_for(sent.done, 'whether it is accepted')
        handle = sent.result()
        return handle, handle.get_result_async() if handle.accepted else None

    def end(self, result: Any) -> tuple[int, int | None, str]:
        """Return how a goal has ended: status, code and text, which Humble has not."""
        self.wait_for(result.done, 'the result')
        found = result.result()
        return (found.status, getattr(found.result, 'error_code', None),
                getattr(found.result, 'error_msg', ''))

    def go(self, *where: Any) -> tuple[int, int | None, str]:
        return self.end(self.send(*where)[1])


@pytest.fixture
def commander(navigator: Callable, peer: Peer, operator: Operator) -> Commander:
    described = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    described.publish(String(data=PLACES.to_text()))
    navigator()
    return Commander(peer)


@with_nav2
def test_poses_are_known_places(
        robot: ScriptedRobot, commander: Commander, operator: Operator) -> None:
    assert commander.go(2.1, 0.1) == (GoalStatus.STATUS_SUCCEEDED, 0, '')
    assert operator.result() == 'reached 2 in 2 steps' and robot.state == 2
    for where, code, why in (
            ((3.0,), 204, '(3.00, 0.00) is no known place (attic (5): unknown state); the '
             'nearest is bench (2), 1.00 m away, expected at most 0.5 m (pose_tolerance) and no '
             'other place nearer'),
            ((0.2, -0.5), 204, '(0.20, -0.50) is no known place (no place is there); the nearest '
             'is 0, 0.54 m away'),
            ((math.nan,), 204, 'the pose is at (nan, 0.0), expected numbers'),
            ((0.0, 0.0, 'odom'), 202, "the pose is in the frame 'odom', expected 'map'")):
        status, found, said = commander.go(*where)
        assert (status, found) == (GoalStatus.STATUS_ABORTED, code) and said.startswith(why)
    assert not operator.results    # none of these was a goal


@with_nav2
def test_feedback_tells_where_it_is(peer: Peer, commander: Commander) -> None:
    robot = HeldRobot(peer)
    _, result = commander.send(2.0)
    commander.wait_for(lambda: robot.held and commander.feedback, 'an action, and feedback')
    # Where it was not seen yet, it is not said to be 0 m from the goal.
    assert all(math.isnan(each.distance_remaining) for each in commander.feedback)
    for place in ((0.0, 2.0), (1.0, 1.0)):
        commander.wait_for(lambda: robot.held, 'an action')
        robot.release()
        commander.wait_for(lambda place=place: place in [
            (each.current_pose.pose.position.x, each.distance_remaining)
            for each in commander.feedback if each.current_pose.header.frame_id == 'map'],
            f'that it is told to be at {place}')
    commander.wait_for(lambda: robot.held, 'an action')
    robot.release()
    assert commander.end(result)[0] == GoalStatus.STATUS_SUCCEEDED
    assert all(each.number_of_recoveries == 0 for each in commander.feedback)


@with_nav2
def test_a_goal_is_cancelled_and_replaced(
        peer: Peer, commander: Commander, operator: Operator) -> None:
    robot = HeldRobot(peer)
    handle, result = commander.send(2.0)
    commander.wait_for(lambda: robot.held, 'the first action')
    cancelled = handle.cancel_goal_async()
    commander.wait_for(cancelled.done, 'the response')
    assert len(cancelled.result().goals_canceling) == 1 and not result.done()
    robot.release()    # after this step it ends
    assert commander.end(result)[0] == GoalStatus.STATUS_CANCELED
    assert operator.result() == 'cancelled 2: its client has cancelled it'
    _, first = commander.send(2.0)
    commander.wait_for(lambda: robot.held, 'an action')
    _, second = commander.send(0.0)
    robot.release()
    assert commander.end(first) == (
        GoalStatus.STATUS_ABORTED, 9000, 'cancelled 2: goal 0 came')
    while not second.done():
        robot.release_if_held()
        commander.wait_for(lambda: robot.held or second.done(), 'an action or the end')
    assert commander.end(second)[0] == GoalStatus.STATUS_SUCCEEDED
    assert commander.client.server_is_ready()


@with_nav2
def test_nav2_keeps_its_action(peer: Peer, robot: ScriptedRobot, commander: Commander) -> None:
    """A server beside ours takes all goals; so does a robot side that sends its moves to it."""
    commander.wait_for(commander.client.server_is_ready, 'the action')
    statuses = f'{ACTION}/_action/status'

    def served() -> int:
        return peer.node.count_publishers(statuses)

    nav2 = Peer(name='nav2')
    server = ActionServer(nav2.node, commander.kind, ACTION, lambda _: commander.kind.Result())
    peer.wait_for(lambda: peer.node.get_publishers_info_by_topic(statuses) and served() == 1
                  and nav2.node.count_publishers(statuses) == 1, 'that the navigator leaves it')
    server.destroy()
    nav2.close()
    commander.wait_for(commander.client.server_is_ready, 'the action again')
    moves = ActionClient(peer.node, commander.kind, ACTION)
    peer.wait_for(lambda: not served(), 'that the navigator leaves it to the robot side')
    moves.destroy()
    commander.wait_for(commander.client.server_is_ready, 'the action again')


@with_nav2
def test_a_tolerance_of_0_serves_nothing(
        robot: ScriptedRobot, commander: Commander, peer: Peer) -> None:
    commander.wait_for(commander.client.server_is_ready, 'the action')
    assert peer.set_parameter('navigator', 'pose_tolerance', 0.0).successful
    peer.wait_for(lambda: not peer.node.count_publishers(f'{ACTION}/_action/status'),
                  'that it is gone')
