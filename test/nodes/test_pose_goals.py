# SPDX-License-Identifier: Apache-2.0

"""
The navigator serves ``navigate_to_pose`` of nav2.

All but what a pose means needs its type, ``nav2_msgs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
import json
import math
import time
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from english import english_in
from geometry_msgs.msg import PoseStamped
from in_process import navigator_here
from mnm_ros import messages
from mnm_ros.driving.pose import Pose, Transform
from mnm_ros.language import text_in
from mnm_ros.nodes.common.heard_frames import TFMessage
from mnm_ros.nodes.navigating import path_answers, pose_goals
from mnm_ros.nodes.navigating.place_finder import PlaceFinder
from mnm_ros.nodes.navigating.pose_feedback import UNKNOWN
from navigating import Commander, HeldRobot, KNOWN, Operator, PLACES, publish
from node_processes import Peer, ScriptedRobot, soon
import pytest
from rclpy.action import ActionClient, ActionServer
from rclpy.duration import Duration as Patience
from std_msgs.msg import String
from test_transforms import message_of, needs_tf2

with_nav2 = pytest.mark.skipif(
    find_spec('nav2_msgs') is None, reason='nav2_msgs is not installed')

ACTION = 'navigate_to_pose'
PATIENCE = Patience(seconds=5.0)


def test_a_pose_means_the_nearest_place_if_that_is_known(peer: Peer) -> None:
    """Of several states at one place it is one that is known: 6 is not, 2 is."""
    known = {0, 2}
    places = PlaceFinder(
        peer.node, lambda: 1.0, lambda state: '' if state in known else 'unknown state')

    def meant(x: float, y: float = 0.0, frame: str = 'map') -> Any:
        pose = PoseStamped()
        pose.header.frame_id = frame
        pose.pose.position.x, pose.pose.position.y = x, y
        found = places.place(pose)
        return found if isinstance(found, int) else (found.code, text_in('en', found.why))

    assert meant(0.0) == (202, "the pose is in the frame 'map', expected '', in which the robot "
                          'side has its places, or one from which transforms lead there')
    places.description = PLACES
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
    places.description = replace(PLACES, positions={})
    assert meant(0.0)[1].endswith('(no place is there); none is known yet')


class Unserved:
    """In place of an action, of which the type need not be there: keeps how goals end."""

    idle = serves = True

    def __init__(self, node: object, name: str, kind: str, places: PlaceFinder,
                 take: Callable[[Unserved, object], None], *_: object) -> None:
        self.take, self.ended = take, list[str]()
        SERVERS[name] = self

    def look(self) -> None:
        pass

    def abort(self, handle: object, code: int, why: str, **fields: object) -> None:
        self.ended.append(why)

    def ask(self, **request: object) -> str:
        """Send a goal and return why it has ended."""
        self.take(self, SimpleNamespace(request=SimpleNamespace(**request)))
        return self.ended.pop()


SERVERS: dict[str, Unserved] = {}


def test_clients_of_nav2_are_refused_in_the_language_of_the_navigator(
        peer: Peer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for module in (pose_goals, path_answers):
        monkeypatch.setattr(module, 'Nav2Server', Unserved)
    node = navigator_here(peer, monkeypatch, language='de')
    node.create_publisher(String, 'robot_side', messages.LATCHED).publish(
        String(data=PLACES.to_text()))
    drive, path, through = (SERVERS[name] for name in (
        'navigate_to_pose', 'compute_path_to_pose', 'compute_path_through_poses'))
    far, near, lost, odd = (PoseStamped() for _ in range(4))
    for pose in (far, near, odd):
        pose.header.frame_id = 'map'
    far.pose.position.x, near.pose.position.x, odd.pose.position.x = 9.0, 2.0, math.nan
    peer.wait_for(lambda: 'dort ist kein Ort' in drive.ask(pose=far, behavior_tree=''),
                  'the places')
    assert drive.ask(pose=near, behavior_tree='') == (
        '(2,00; 0,00) ist kein bekannter Ort (bench (2): es sind noch keine Policies bekannt); '
        'noch ist keiner bekannt')
    publish(peer, KNOWN)
    peer.wait_for(lambda: 'der nächste ist bench (2), 7,00 m entfernt' in drive.ask(
        pose=far, behavior_tree=''), 'the policies')
    said = [drive.ask(pose=lost, behavior_tree=''), drive.ask(pose=odd, behavior_tree=''),
            drive.ask(pose=near, behavior_tree='X'), drive.ask(poses=[], behavior_tree=''),
            path.ask(goal=near, use_start=False, planner_id='X'),
            path.ask(goal=near, use_start=False, planner_id=''),
            path.ask(goal=near, use_start=True, start=far, planner_id=''),
            through.ask(goals=[], use_start=False, planner_id='')]
    assert said[0].startswith("die Pose ist im Koordinatensystem '', erwartet ist 'map'")
    assert said[6].startswith('Start: (9,00; 0,00) ist kein bekannter Ort (')
    assert english_in(said, 'de') == []
    logged = capfd.readouterr()
    assert 'refused a pose: (9.00, 0.00) is no known place (no place is there)' in (
        logged.err + logged.out), 'the log stays in English'


@with_nav2
def test_poses_are_known_places(
        robot: ScriptedRobot, commander: Commander, operator: Operator) -> None:
    assert commander.go(2.1, 0.1) == (GoalStatus.STATUS_SUCCEEDED, 0, '')
    assert operator.result() == 'reached 2 in 2 steps' and robot.state == 2
    for where, code, why in (
            ((3.0,), 204, '(3.00, 0.00) is no known place (attic (5): no policy leads there); the '
             'nearest is bench (2), 1.00 m away, expected at most 0.5 m (pose_tolerance) and no '
             'other place nearer'),
            ((0.2, -0.5), 204, '(0.20, -0.50) is no known place (no place is there); the nearest '
             'is 0, 0.54 m away'),
            ((math.nan,), 204, 'the pose is at (nan, 0.0), expected numbers'),
            ((2.0, 0.0, 'map', 'spin.xml'), 9001,
             "the behaviour tree 'spin.xml' is asked for, expected none"),
            ((0.0, 0.0, 'odom'), 202, "the pose is in the frame 'odom', expected 'map'")):
        status, found, said = commander.go(*where)
        assert (status, found) == (GoalStatus.STATUS_ABORTED, code) and said.startswith(why)
    assert not operator.results    # none of these was a goal


@with_nav2
def test_who_stands_at_the_goal_has_arrived(
        robot: ScriptedRobot, commander: Commander, operator: Operator) -> None:
    """Nor is it told to be there, 0 m away, before it has."""
    assert commander.go(2.0)[0] == GoalStatus.STATUS_SUCCEEDED
    executed = len(robot.executed)
    assert commander.go(2.0)[0] == GoalStatus.STATUS_SUCCEEDED
    assert operator.result() == 'reached 2 in 2 steps'
    assert operator.result() == 'reached 2 in 0 steps' and len(robot.executed) == executed
    assert commander.peer.set_parameter('navigator', 'direct', False).successful
    commander.feedback.clear()
    assert commander.go(2.0)[0] == GoalStatus.STATUS_SUCCEEDED    # by way of home
    assert len(robot.executed) == executed + 3
    commander.wait_for(lambda: commander.feedback and commander.feedback[
        -1].distance_remaining == 0.0, 'the last feedback')
    assert all(each.distance_remaining != 0.0 and each.estimated_time_remaining != Duration()
               for each in commander.feedback[:-1])


@with_nav2
@needs_tf2
def test_a_goal_in_another_frame_is_transformed(
        robot: ScriptedRobot, peer: Peer, commander: Commander) -> None:
    """The origin of odom is at (2, 1) of the map, and its x axis points to the left of x."""
    transforms = peer.node.create_publisher(TFMessage, 'tf', messages.TRANSFORMS)
    commander.wait_for(commander.client.server_is_ready, 'the action')
    commander.wait_for(transforms.get_subscription_count, 'the navigator')
    transforms.publish(TFMessage(transforms=[
        message_of('map', 'odom', Transform.planar(Pose(2.0, 1.0, math.pi / 2)), 1.0)]))
    commander.wait_for(
        lambda: commander.go(-1.0, 0.0, 'odom')[0] == GoalStatus.STATUS_SUCCEEDED, 'a transform')
    assert robot.state == 2
    assert commander.go(-1.0, 2.0, '/odom')[0] == GoalStatus.STATUS_SUCCEEDED
    assert robot.state == 0
    assert commander.go(0.0, 0.0, 'cellar')[1] == 202


@with_nav2
@needs_tf2
def test_feedback_is_steady_and_has_the_pose_of_the_robot(
        peer: Peer, commander: Commander) -> None:
    """Whatever the robot takes for a step; and the time is there from the first message on."""
    robot = HeldRobot(peer)
    transforms = peer.node.create_publisher(TFMessage, 'tf', messages.TRANSFORMS)
    trust = peer.node.create_publisher(String, 'trust', messages.LATCHED)
    trust.publish(String(data=json.dumps({'version': [1, 0], 'states': {'2': {
        'trust': 'proven', 'expected_steps': 2.0, 'at_most_steps': 8.0, 'since_step': 9,
        'expected_seconds': 8.0, 'why': ''}}})))
    peer.wait_for(trust.get_subscription_count, 'the navigator')
    assert trust.wait_for_all_acked(PATIENCE)
    commander.wait_for(transforms.get_subscription_count, 'the navigator')
    _, result = commander.send(2.0)
    end = time.monotonic() + 3.0

    def moving() -> bool:
        transforms.publish(TFMessage(transforms=[
            message_of('map', 'odom', Transform(), 1.0),
            message_of('odom', 'base_link', Transform(x=0.25), 1.0)]))
        return time.monotonic() > end and len(commander.heard_at) > 6

    commander.wait_for(moving, 'feedback for three seconds')
    gaps = [after - before for before, after in zip(
        commander.heard_at, commander.heard_at[1:])]
    assert soon(max(gaps), 0.5), gaps
    seconds = [each.estimated_time_remaining.sec + each.estimated_time_remaining.nanosec / 1e9
               for each in commander.feedback]
    assert 7.0 < seconds[0] <= 8.0 and seconds == sorted(seconds, reverse=True)
    assert min(seconds) >= 4.0    # of a step
    assert commander.feedback[-1].current_pose.pose.position.x == 0.25
    assert commander.feedback[-1].current_pose.header.frame_id == 'map'
    while not result.done():
        robot.release_if_held()
        commander.wait_for(lambda: robot.held or result.done(), 'an action or the end')
    assert commander.end(result)[0] == GoalStatus.STATUS_SUCCEEDED


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
    assert commander.feedback[0].estimated_time_remaining == UNKNOWN    # nothing was told


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
    assert operator.result() == 'cancelled 2: the client has cancelled the goal'
    _, first = commander.send(2.0)
    commander.wait_for(lambda: robot.held, 'an action')
    _, second = commander.send(0.0)
    robot.release()
    assert commander.end(first) == (
        GoalStatus.STATUS_ABORTED, 9000, 'cancelled 2: goal 0 replaces this goal')
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
