# SPDX-License-Identifier: Apache-2.0

"""Legs as goals of the action ``navigate_to_pose`` of nav2."""

from __future__ import annotations

import time
from typing import Any

from mnm_ros.core.errors import ParameterError
from mnm_ros.driving.drive import Leg, Limits, Outcome
from mnm_ros.driving.nav2_results import judge
from mnm_ros.nodes.mobile.movers import goal_message, goal_of, PlannerMover
from mnm_ros.nodes.mobile.poses import StampedPose
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future

try:
    from nav2_msgs.action import NavigateToPose
except ImportError:
    NavigateToPose = None


# By the steady clock, as nav2 does not answer sooner where simulated time runs faster:
_REPEAT = 1.0      # s, after which a rejected goal is sent again, or the next one after a fault
_ANSWER = 5.0      # s, in which nav2 answers a request if it is there at all


class Nav2Mover(PlannerMover):
    """
    Sends each leg to nav2 as a goal. One that nav2 rejects or does not answer is sent again.

    :raises ParameterError: if the package nav2_msgs is not installed.
    """

    def __init__(self, node: Node, limits: Limits, max_detour: float, cell_size: float) -> None:
        if NavigateToPose is None:
            raise ParameterError(
                "parameter 'drive' is 'nav2', which needs the package nav2_msgs; expected that it "
                'is installed, or cmd_vel or goal_pose')
        super().__init__(node, limits, max_detour, cell_size)
        self._client = ActionClient(node, NavigateToPose, 'navigate_to_pose')
        self._number = 0               # of the goal; what is said of earlier ones is ignored
        self._unanswered: set[Future[Any]] = set()
        self._send_at = 0.0
        self._begun = 0.0
        self._handle: Any = None
        self._outcome: Outcome | None = None    # as nav2 has it, or why the goal was cancelled
        self._wait_until = 0.0                  # for nav2 to say that it has cancelled it

    @property
    def idle(self) -> bool:
        """Whether nav2 has answered every request, and so does nothing more after a stop."""
        return not self._unanswered

    def start(self, leg: Leg, pose: StampedPose) -> None:
        """Send the goal as soon as there is a server."""
        super().start(leg, pose)
        self._send_at = self._begun = time.monotonic()
        self._handle = self._outcome = None
        self.detail = f'action server {self._client._action_name} is not there'
        self._send(leg, pose)

    def update(self, pose: StampedPose) -> Outcome | None:
        """Return how nav2 has ended the goal, or why it was cancelled, once that is over."""
        if self._leg is None:
            return self._cancelled()
        given_up = self._given_up(self._leg, pose)
        if given_up and self._outcome is None or (
                self._outcome is Outcome.REACHED and given_up not in (None, Outcome.TIMEOUT)):
            if given_up is Outcome.TIMEOUT and self._handle is None:
                given_up = Outcome.BROKEN_OFF    # nav2 has not even accepted the goal
            self._outcome, self._wait_until = given_up, time.monotonic() + _ANSWER
            self.stop(pose)
            return self._cancelled()
        now = time.monotonic()
        if self._handle is None and self._outcome is None and now >= self._send_at:
            self._send(self._leg, pose)
        if self._outcome is Outcome.BROKEN_OFF and now < self._begun + _REPEAT:
            return None    # else what follows would go wrong again at once, and again
        return self._outcome

    def stop(self, pose: StampedPose | None) -> None:
        """Cancel the goal, even if nav2 accepts it only later."""
        self._leg = None
        self._number += 1
        if self._handle is not None:
            self._cancel(self._handle)
            self._handle = None

    def _cancelled(self) -> Outcome | None:
        """Return why the goal was cancelled, once nav2 has confirmed it or seems to be gone."""
        if self._outcome is None or self.idle:
            return self._outcome
        if time.monotonic() < self._wait_until:
            return None
        self._unanswered.clear()
        self.detail = 'nav2 does not answer'
        return Outcome.BROKEN_OFF

    def _cancel(self, handle: Any) -> None:
        self._ask(handle.cancel_goal_async())

    def _ask(self, future: Future[Any]) -> Future[Any]:
        self._unanswered.add(future)
        future.add_done_callback(self._unanswered.discard)
        return future

    def _send(self, leg: Leg, pose: StampedPose) -> None:
        if not self._client.server_is_ready():
            return
        self._number += 1
        self._send_at = time.monotonic() + _ANSWER
        self.detail = 'nav2 does not answer'
        goal = NavigateToPose.Goal()
        goal.pose = goal_message(self._node, pose.frame, goal_of(leg, pose.pose))
        number = self._number
        self._ask(self._client.send_goal_async(goal)).add_done_callback(
            lambda future: self._on_response(number, future))

    def _on_response(self, number: int, future: Future[Any]) -> None:
        handle = future.result()
        if number != self._number:
            if handle.accepted:
                self._cancel(handle)
        elif not handle.accepted:    # nav2 is not active (yet), which is no obstacle
            self._send_at = time.monotonic() + _REPEAT
            self.detail = 'rejected by nav2'
        else:
            self._handle, self.detail = handle, ''
            handle.get_result_async().add_done_callback(
                lambda done: self._end(number, done.result()))

    def _end(self, number: int, ended: Any) -> None:
        if number == self._number and self._leg:
            self._handle = None
            self._outcome, self.detail = judge(
                ended.status, ended.result, self._leg.retreat)
