# SPDX-License-Identifier: Apache-2.0

"""
What each public call of ``BasicNavigator`` of ``nav2_simple_commander`` gets from the navigator.

``Commander`` sends what these calls send, by the source of branch jazzy in
ros-navigation/navigation2, and waits for what they wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
import re
from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from mnm_ros import messages
from mnm_ros.nodes.navigating.nav2_server import nav2_type
from navigating import Commander, HeldRobot, Operator
from node_processes import Peer, ScriptedRobot
import pytest
from rclpy.action import ActionClient
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool

ROOT = Path(__file__).resolve().parents[2]
SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
needs_sequences = pytest.mark.skipif(
    nav2_type('action', 'ComputePathThroughPoses') is None, reason='nav2_msgs is not installed')

CALLS = {
    'navigate_to_pose': 'goToPose',
    'navigate_through_poses': 'goThroughPoses',
    'follow_waypoints': 'followWaypoints',
    'compute_path_to_pose': 'getPath',
    'compute_path_through_poses': 'getPathThroughPoses',
    'any of these': 'cancelTask isTaskComplete getFeedback getResult',
    'explorer/get_state': 'waitUntilNav2Active',
    'nothing that is waited for': 'setInitialPose destroyNode',
}
"""The public calls that end without nav2, but those that log, by what answers them."""


class BasicNavigator:
    """One task at a time, and the names of the calls that it follows."""

    def __init__(self, commander: Commander) -> None:
        self._commander = commander
        self._clients: dict[str, tuple[Any, Any]] = {}
        self.feedback: list[Any] = []
        self._handle: Any = None
        self.answer: Any = None

    def go_through_poses(self, *places: float) -> None:
        self._send('navigate_through_poses', 'NavigateThroughPoses', poses=poses(places))

    def follow_waypoints(self, *places: float, **goal: int) -> None:
        self._send('follow_waypoints', 'FollowWaypoints', poses=poses(places), **goal)

    def path(self, start: float | None, end: float, planner_id: str = '') -> Any:
        self._send('compute_path_to_pose', 'ComputePathToPose', planner_id=planner_id,
                   start=pose(start or 0.0), goal=pose(end), use_start=start is not None)
        return self.result()

    def path_through_poses(self, start: float | None, *ends: float) -> Any:
        self._send('compute_path_through_poses', 'ComputePathThroughPoses', goals=poses(ends),
                   start=pose(start or 0.0), use_start=start is not None)
        return self.result()

    def cancel(self) -> None:
        asked = self._handle.cancel_goal_async()
        self._commander.wait_for(asked.done, 'the response')

    def is_over(self) -> bool:
        return self.answer.done()

    def result(self) -> tuple[int, Any]:
        self._commander.wait_for(self.answer.done, 'the result')
        return self.answer.result().status, self.answer.result().result

    def _send(self, name: str, kind: str, **goal: Any) -> None:
        if name not in self._clients:
            made = getattr(import_module('nav2_msgs.action'), kind)
            self._clients[name] = made, ActionClient(self._commander.peer.node, made, name)
        made, client = self._clients[name]
        self._commander.wait_for(client.server_is_ready, name)
        self.feedback.clear()
        sent = client.send_goal_async(
            made.Goal(**goal), lambda message: self.feedback.append(message.feedback))
        self._commander.wait_for(sent.done, 'whether it is accepted')
        self._handle = sent.result()
        assert self._handle.accepted
        self.answer = self._handle.get_result_async()


def pose(x: float) -> PoseStamped:
    found = PoseStamped()
    found.header.frame_id, found.pose.position.x = 'map', x
    return found


def poses(places: Sequence[float]) -> list[PoseStamped]:
    return [*map(pose, places)]


@pytest.fixture
def basic(commander: Commander) -> BasicNavigator:
    return BasicNavigator(commander)


@needs_sequences
def test_poses_are_gone_through_one_after_the_other(
        basic: BasicNavigator, robot: ScriptedRobot, operator: Operator) -> None:
    basic.go_through_poses(2.0, 1.0, 0.0)
    status, result = basic.result()
    assert (status, result.error_code, robot.state) == (SUCCEEDED, 0, 0)
    assert [operator.result().split(' in ')[0] for _ in range(3)] == [
        'reached 2', 'reached 1', 'reached 0']
    remaining = [each.number_of_poses_remaining for each in basic.feedback]
    assert remaining == sorted(remaining, reverse=True) and {*remaining} == {3, 2, 1}


@needs_sequences
def test_the_way_left_is_that_to_the_last_pose(
        peer: Peer, basic: BasicNavigator, commander: Commander) -> None:
    """From 0 to 2, and back: 4 m; and 3 m after the first of them."""
    robot = HeldRobot(peer)
    basic.go_through_poses(2.0, 0.0)
    for left in (4.0, 3.0):
        commander.wait_for(lambda: robot.held, 'an action')
        robot.release()
        commander.wait_for(lambda left=left: left in [
            each.distance_remaining for each in basic.feedback], f'{left} m')
    robot.holding = False
    robot.release_if_held()
    assert basic.result()[0] == SUCCEEDED


@needs_sequences
def test_a_pose_that_is_no_known_place_is_refused_before_it_begins(
        basic: BasicNavigator, robot: ScriptedRobot, operator: Operator) -> None:
    basic.go_through_poses(2.0, 9.0)
    status, result = basic.result()
    assert (status, result.error_code) == (ABORTED, 204)
    assert result.error_msg.startswith('(9.00, 0.00) is no known place')
    basic.go_through_poses()
    assert basic.result()[1].error_msg == (
        'pose 0 of 0 is the first to go to, expected one that there is')
    assert not operator.results and not robot.executed


@needs_sequences
def test_waypoints_are_followed_in_rounds_until_one_is_missed(
        basic: BasicNavigator, robot: ScriptedRobot, operator: Operator) -> None:
    basic.follow_waypoints(1.0, 2.0, number_of_loops=1, goal_index=1)
    status, result = basic.result()
    assert (status, [*result.missed_waypoints]) == (SUCCEEDED, [])
    assert [operator.result().split(' in ')[0] for _ in range(3)] == [
        'reached 2', 'reached 1', 'reached 2']
    assert {each.current_waypoint for each in basic.feedback} == {0, 1}
    basic.follow_waypoints(1.0, 9.0, 2.0)
    status, result = basic.result()
    missed, = result.missed_waypoints
    assert (status, missed.index, missed.error_code, missed.goal.pose.position.x) == (
        ABORTED, 1, 204, 9.0)
    assert result.error_msg.startswith('(9.00, 0.00) is no known place')
    assert operator.result().startswith('reached 1') and not operator.results


@needs_sequences
def test_a_sequence_is_cancelled_and_replaced(
        peer: Peer, basic: BasicNavigator, commander: Commander,
        operator: Operator) -> None:
    robot = HeldRobot(peer)
    basic.go_through_poses(2.0, 1.0)
    commander.wait_for(lambda: robot.held, 'an action')
    basic.cancel()
    robot.release()
    assert basic.result()[0] == CANCELED and basic.is_over()
    assert operator.result() == 'cancelled 2: the client has cancelled the goal'
    basic.go_through_poses(2.0, 1.0)
    commander.wait_for(lambda: robot.held, 'an action')
    first = basic.answer
    robot.holding = False
    basic.follow_waypoints(0.0)
    robot.release_if_held()
    assert basic.result()[0] == SUCCEEDED and robot.state == 0
    assert first.result().status == ABORTED and first.result().result.error_code == 9000
    assert first.result().result.error_msg == 'cancelled 2: goal 0 replaces this goal'


@needs_sequences
def test_exploration_does_not_go_on_between_two_poses(
        basic: BasicNavigator, robot: ScriptedRobot, peer: Peer) -> None:
    """The explorer is told to pause once, and to go on once."""
    phase = peer.node.create_publisher(String, 'phase', messages.LATCHED)
    asked: list[bool] = []

    def explore(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        asked.append(request.data)
        phase.publish(String(data='checking/monitoring' if request.data else 'paused'))
        response.success = True
        return response

    peer.node.create_service(SetBool, 'explore', explore)
    phase.publish(String(data='checking/monitoring'))
    peer.wait_for(phase.get_subscription_count, 'the navigator')
    assert peer.set_parameter('navigator', 'dwell', 0.0).successful
    basic.go_through_poses(2.0, 1.0)
    assert basic.result()[0] == SUCCEEDED and robot.state == 1
    peer.wait_for(lambda: True in asked, 'that exploration goes on')
    assert asked.index(True) == len(asked) - 1


def tell_model(peer: Peer, *rows: tuple[int, int, int, int]) -> None:
    peer.node.create_publisher(Int64MultiArray, 'model', messages.LATCHED).publish(
        messages.encode_model(40, rows))


@needs_sequences
def test_paths_are_the_ways_of_the_learnt_graph(
        basic: BasicNavigator, robot: ScriptedRobot, peer: Peer,
        commander: Commander) -> None:
    """Of the corridor: east and west, but no way leads from 2 to 1."""
    status, result = basic.path(0.0, 2.0)
    assert (status, result.error_code, result.error_msg) == (
        ABORTED, 207, 'no model was heard from the explorer within 5 s')
    tell_model(peer, (0, 0, 1, 20), (1, 0, 2, 20), (1, 1, 0, 20))
    status, result = basic.path(0.0, 2.0)
    assert status == SUCCEEDED and result.path.header.frame_id == 'map'
    assert [each.pose.position.x for each in result.path.poses] == [0.0, 1.0, 2.0]
    assert [each.pose.orientation.w for each in result.path.poses] == [1.0] * 3
    status, result = basic.path(1.0, 0.0)
    assert [each.pose.orientation.z for each in result.path.poses] == [1.0] * 2
    assert [each.pose.position.x for each in basic.path(2.0, 2.0)[1].path.poses] == [2.0]
    for found, code, why in (
            (basic.path(2.0, 1.0), 208,
             'no edges of what was learnt lead from bench (2) to 1'),
            (basic.path(9.0, 1.0), 203, 'start: (9.00, 0.00) is no known place'),
            (basic.path(0.0, 9.0), 204, '(9.00, 0.00) is no known place'),
            (basic.path(0.0, 1.0, 'GridBased'), 201, "the planner 'GridBased' is asked for"),
            (basic.path_through_poses(0.0, 2.0, 1.0), 308, 'no edges of what was learnt lead'),
            (basic.path_through_poses(0.0), 304, 'no goal is there')):
        assert (found[0], found[1].error_code) == (ABORTED, code)
        assert found[1].error_msg.startswith(why)
    status, result = basic.path_through_poses(None, 1.0, 0.0, 1.0)    # where it was seen: not yet
    assert (status, result.error_msg) == (ABORTED, 'the robot was not heard yet')
    assert commander.go(1.0)[0] == SUCCEEDED
    status, result = basic.path_through_poses(None, 2.0)
    assert [each.pose.position.x for each in result.path.poses] == [1.0, 2.0]
    assert not robot.executed[3:], 'a path was driven'


@needs_sequences
def test_the_model_is_heard_only_while_paths_are_asked_for(
        basic: BasicNavigator, peer: Peer, commander: Commander) -> None:
    tell_model(peer, (0, 0, 1, 20), (1, 0, 2, 20))
    assert not peer.node.count_subscribers('model')
    assert basic.path(0.0, 2.0)[0] == SUCCEEDED
    assert peer.node.count_subscribers('model') == 1
    commander.wait_for(lambda: not peer.node.count_subscribers('model'), 'that it is left')


def test_the_table_has_every_call() -> None:
    text = (ROOT / 'docs' / 'reference' / 'goals.md').read_text(encoding='utf-8')
    table = text.split('| call | what it gets |\n|---|---|\n')[1].split('\n\n')[0]
    told = [name for row in table.splitlines() for name in re.findall(
        r'`(\w+)`', row.split('|')[1])]
    assert sorted(told) == sorted(' '.join(CALLS.values()).split())
