# SPDX-License-Identifier: Apache-2.0

"""
Watch nav2 drive a robot along a route graph, and report the edges to an advisory explorer.

The node commands nothing. The feedback of ``compute_and_track_route`` and ``navigate_to_pose``
names the edge that nav2 drives; the poses say where the robot is. Only this node needs
``nav2_msgs``, of a nav2 that has a route server.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
import sys
import time
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.robot_profile import DescriptionTopic
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.mobile.driver_setup import poses_of
from mnm_ros.nodes.mobile.given_graph import graph_of, home_of, summary
from mnm_ros.nodes.mobile.poses import Located, pose_of
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.places.edge_witness import Drive, EdgeWitness
from mnm_ros.places.zones import declaration_of, describe, ZonePlace, Zones
from mnm_ros.protocol.exchange import REPORT
from mnm_ros.robot_description import RobotDescription
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray

try:
    from nav2_msgs.action import ComputeAndTrackRoute
except ImportError:
    ComputeAndTrackRoute = None

_TRACKING, _DRIVING = 'compute_and_track_route', 'navigate_to_pose'
_TICK = 0.1        # s
_WHY = 2.0         # s, in which it becomes known why the tracking of a route was cancelled
_JUMP = 1.0        # m, from one pose to the next, after which it is not known how it came there
_OVER = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


class RouteWatch(Node):
    """
    Publishes where the robot is on ``state``, and each drive along an edge on ``work``.

    :raises ParameterError: if a parameter is not allowed, or nav2 has no route server.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('route_watch', **node_arguments)
        given = Parameters(self, NODES['route_watch'])
        if ComputeAndTrackRoute is None:
            raise ParameterError('route_watch needs the package nav2_msgs with the action '
                                 'ComputeAndTrackRoute, expected that it is installed')
        graph = self._graph = graph_of(self, given)
        self._home, zones = home_of(graph, given), Zones(graph)
        self._declaration = declaration_of(graph)
        self._whereabouts = ZonePlace(zones, given['hysteresis'])
        self._witness = EdgeWitness(graph)
        self._told: int | None = None    # the state that was published last
        self._last: Pose | None = None
        self._over: dict[str, set[bytes]] = {_TRACKING: set(), _DRIVING: set()}    # goals
        self._cancelled_at = math.inf    # when tracking was, while it is not known why
        self._states = self.create_publisher(Int64MultiArray, 'state', messages.STEP)
        self._work = self.create_publisher(Int64MultiArray, 'work', messages.STEP)
        self._described = DescriptionTopic(self, self._describe)
        self._described.publish()
        self._poses = poses_of(self, given, self._on_pose)
        self.create_subscription(
            ComputeAndTrackRoute.Impl.FeedbackMessage, f'{_TRACKING}/_action/feedback',
            self._on_feedback, messages.STEP)
        for action, hear in ((_TRACKING, self._on_tracking), (_DRIVING, self._on_driving)):
            self.create_subscription(
                GoalStatusArray, f'{action}/_action/status', hear, messages.LATCHED)
        every(_TICK, self, self._on_time)
        self.get_logger().info(summary(graph, self._home))

    def _describe(self) -> RobotDescription:
        return describe(
            self._graph, self._home, guarded=False, declaration=self._declaration)

    def _on_pose(self, message: Located, received: float | None = None) -> None:
        pose = pose_of(self, message)
        if pose is None:
            return
        if self._last and math.dist(self._last[:2], pose[:2]) > _JUMP:    # moved by hand?
            self._tell(self._witness.called_off())
        self._last = pose
        state = self._whereabouts.update(pose)
        if state != self._told:
            self._told = state
            self._states.publish(messages.encode_step(REPORT, state))
        self._tell(self._witness.moved(self._whereabouts.cell))

    def _on_feedback(self, message: Any) -> None:
        self._tell(self._witness.tracks(str(message.feedback.current_edge_id)))

    def _on_tracking(self, message: GoalStatusArray) -> None:
        for status in self._ended(_TRACKING, message):
            if status == GoalStatus.STATUS_SUCCEEDED:
                self._witness.arrived()
            elif status == GoalStatus.STATUS_CANCELED:    # by what drives the robot: why, it says
                self._cancelled_at = time.monotonic()
            elif not _another(message):    # else another route is tracked from now on
                self._tell(self._witness.aborted())

    def _on_driving(self, message: GoalStatusArray) -> None:
        for status in self._ended(_DRIVING, message):
            self._cancelled_at = math.inf
            if status == GoalStatus.STATUS_ABORTED and not _another(message):
                self._tell(self._witness.aborted())
            elif status != GoalStatus.STATUS_SUCCEEDED:
                self._tell(self._witness.called_off())

    def _ended(self, action: str, message: GoalStatusArray) -> list[int]:
        """Return how goals have ended, each once."""
        ended = {bytes(each.goal_info.goal_id.uuid): each.status for each in message.status_list
                 if each.status in _OVER}
        before, self._over[action] = self._over[action], {*ended}
        return [status for goal, status in ended.items() if goal not in before]

    def _on_time(self) -> None:
        self._poses.ask_for_latched()
        if time.monotonic() > self._cancelled_at + _WHY:
            self._cancelled_at = math.inf
            self._tell(self._witness.called_off())

    def _tell(self, drives: Sequence[Drive]) -> None:
        for drive in drives:
            self._work.publish(messages.encode_work(*drive))
            name, moves = self._graph.name(drive.state), self._graph.moves(drive.state)
            ended = 'was broken off' if drive.after is None else (
                'has ended outside of all places' if drive.after == OUTSIDE
                else f'has ended in {self._graph.name(drive.after)}')
            self.get_logger().info(f'from {name} {moves[drive.action]} {ended}')


def _another(message: GoalStatusArray) -> bool:
    """Return whether a goal is under way: nav2 aborts the one before it, too."""
    return any(each.status not in _OVER for each in message.status_list)


def main(args: list[str] | None = None) -> int:
    """Run the node ``route_watch``."""
    return run('route_watch', RouteWatch, args)


if __name__ == '__main__':
    sys.exit(main())
