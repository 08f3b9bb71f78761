# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Legs as goals of the action ``navigate_to_pose`` of nav2."""

from __future__ import annotations

from typing import Any

from mnm_ros.driving.drive import Leg, Outcome, Stopwatch
from mnm_ros.nodes.mobile.movers import goal_message, goal_of, Mover
from mnm_ros.nodes.mobile.poses import StampedPose
from mnm_ros.parameters import ParameterError
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future

try:
    from action_msgs.msg import GoalStatus
    from nav2_msgs.action import NavigateToPose
except ImportError:
    NavigateToPose = None


_REPEAT = 1.0    # s, after which a rejected goal is sent again


class Nav2Mover(Mover):
    """
    Sends each leg to nav2 as a goal. One that nav2 rejects is sent again.

    :raises ParameterError: if the package nav2_msgs is not installed.
    """

    def __init__(self, node: Node) -> None:
        if NavigateToPose is None:
            raise ParameterError(
                "parameter 'drive' is 'nav2', which needs the package nav2_msgs; expected that it "
                'is installed, or cmd_vel or goal_pose')
        self._node = node
        self._client = ActionClient(node, NavigateToPose, 'navigate_to_pose')
        self._leg: Leg | None = None
        self._number = 0               # of the leg; responses to an earlier one are ignored
        self._open_requests = 0        # those that nav2 has not answered
        self._send_at = 0.0            # by the stopwatch
        self._sent = self._bumped = False
        self._handle: Any = None
        self._status: int | None = None
        self._watch = Stopwatch(0.0)

    @property
    def idle(self) -> bool:
        """Whether nav2 has answered every request, and so does nothing more after a stop."""
        return not self._open_requests

    def start(self, leg: Leg, pose: StampedPose) -> None:
        """Send the goal as soon as there is a server."""
        self._number += 1
        self._send_at = 0.0
        self._leg, self._watch = leg, Stopwatch(pose.time)
        self._sent = self._bumped = False
        self._handle = self._status = None
        self.detail = f'action server {self._client._action_name} is not there'
        self._send(leg, pose)

    def update(self, pose: StampedPose) -> Outcome | None:
        """Return how nav2 has ended the goal; one that it gave up counts as blocked."""
        self._watch.lap(pose.time)
        if self._bumped or self._leg and self._watch.elapsed >= self._leg.timeout:
            self.stop(pose)
            return Outcome.BUMPED if self._bumped else Outcome.TIMEOUT
        if self._leg and not self._sent and self._watch.elapsed >= self._send_at:
            self._send(self._leg, pose)
        if self._status is None:
            return None
        reached = self._status == GoalStatus.STATUS_SUCCEEDED
        return Outcome.REACHED if reached else Outcome.BLOCKED

    def bump(self) -> None:
        """End the leg, unless it is a retreat."""
        self._bumped = self._leg is not None and not self._leg.retreat

    def stop(self, pose: StampedPose | None) -> None:
        """Cancel the goal, even if nav2 accepts it only later."""
        self._leg = None
        self._number += 1
        if self._handle is not None:
            self._cancel(self._handle)
            self._handle = None

    def _cancel(self, handle: Any) -> None:
        self._open_requests += 1
        handle.cancel_goal_async().add_done_callback(self._close)

    def _close(self, _: Future) -> None:
        self._open_requests -= 1

    def _send(self, leg: Leg, pose: StampedPose) -> None:
        if not self._client.server_is_ready():
            return
        self._sent, self.detail = True, 'given up by nav2'
        goal = NavigateToPose.Goal()
        goal.pose = goal_message(self._node, pose.frame, goal_of(leg, pose.pose))
        number = self._number
        self._open_requests += 1
        self._client.send_goal_async(goal).add_done_callback(
            lambda future: self._on_response(number, future))

    def _on_response(self, number: int, future: Future) -> None:
        self._open_requests -= 1
        handle = future.result()
        if number != self._number:
            if handle.accepted:
                self._cancel(handle)
        elif not handle.accepted:    # nav2 is not active (yet), which is no obstacle
            self._sent, self._send_at = False, self._watch.elapsed + _REPEAT
            self.detail = 'rejected by nav2'
        else:
            self._handle = handle
            handle.get_result_async().add_done_callback(
                lambda done: self._end(number, done.result().status))

    def _end(self, number: int, status: int) -> None:
        if number == self._number:
            self._handle, self._status = None, status
