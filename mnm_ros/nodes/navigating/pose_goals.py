# SPDX-License-Identifier: Apache-2.0

"""Known places as goals of nav2's action ``navigate_to_pose``, for RViz and nav2's clients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import math
from typing import Any, NamedTuple, Union

from geometry_msgs.msg import PoseStamped
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.navigating.goal_board import GoalBoard
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.duration import Duration
from rclpy.node import Node

try:
    from nav2_msgs.action import NavigateToPose
except ImportError:
    NavigateToPose = None

_ACTION = 'navigate_to_pose'
_SECOND = 10**9    # ns
_SAME = 1e-6       # m, between places that are one

# As nav2 calls them in FollowPath, ComputePathToPose and NavigateToPose.
_FAILED_TO_MAKE_PROGRESS, _TF_ERROR, _GOAL_OUTSIDE_MAP, _NO_VALID_PATH, _UNKNOWN = (
    105, 202, 204, 208, 9000)
_CODES = {GoalStatus.REFUSED: _NO_VALID_PATH, GoalStatus.FAILED: _FAILED_TO_MAKE_PROGRESS}


class _Refused(NamedTuple):
    """Why a pose is no goal, as a code and as a sentence."""

    code: int
    why: str


class _DeferredServer(ActionServer):
    """
    Has goals executed from when they are accepted, and ended by a callback when they are over.

    A coroutine that waits for the end would keep an executor of rclpy busy.
    """

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)


class PoseGoals:
    """
    Serves the action where its type can be imported, as long as it is left to the navigator.

    It is not while another node serves it, which is nav2, or while the robot side sends its moves
    to it: these are no goals for the navigator.

    :param tolerance: returns how far a pose may be from a place, m; with 0 nothing is served.
    :param refusal: returns why there is no policy to follow to a state, or nothing.
    :param accept, cancel: take a goal, and the id of one.
    """

    def __init__(self, node: Node, board: GoalBoard, tolerance: Callable[[], float],
                 refusal: Callable[[int], str], accept: Callable[[GoalReport], None],
                 cancel: Callable[[int], None]) -> None:
        self._node, self._board, self._tolerance = node, board, tolerance
        self._refusal, self._accept, self._cancel = refusal, accept, cancel
        self._description: RobotDescription = UNDESCRIBED
        self._server: _DeferredServer | None = None
        self._open: dict[int, tuple[Any, GoalReport | None]] = {}    # by id, and as last told
        self._ending = 0    # goals whose result is not sent yet
        self._told = ''    # who takes poses, as logged last

    @property
    def idle(self) -> bool:
        """Whether every goal has got its result."""
        return not self._open and not self._ending

    def look(self) -> None:
        """Serve the action if it is free, else leave it; to be called now and then."""
        if NavigateToPose is None:
            self._tell('not served, as the package nav2_msgs is not installed')
            return
        if self._server is None and not self._description.positions:
            return
        ours = self._is_ours()
        self._tell('goals on it are known places' if ours else
                   'left to another node, or switched off')
        if ours and self._server is None:
            self._server = _DeferredServer(
                self._node, NavigateToPose, _ACTION, self._end,
                goal_callback=lambda _: (
                    GoalResponse.ACCEPT if self._is_ours() else GoalResponse.REJECT),
                handle_accepted_callback=self._on_goal, cancel_callback=self._on_cancel)
        elif self._server is not None and not ours:
            for goal_id in self._open:
                self._cancel(goal_id)
            self._open.clear()
            self._server.destroy()
            self._server, self._ending = None, 0

    def tick(self, here: int | None) -> None:
        """
        Tell what has become of the goals.

        :param here: the state that the robot was last seen in, if any.
        """
        for goal_id, (handle, last) in [*self._open.items()]:
            report = self._board.report(goal_id)
            if report is None or report.status.over:
                del self._open[goal_id]
                self._over(handle, partial(self._end, report=report))
            elif report != last:
                self._open[goal_id] = handle, report
                handle.publish_feedback(self._feedback(report, here))

    def describe(self, description: RobotDescription) -> None:
        """Take what the robot side says about itself."""
        self._description = description

    def _tell(self, who: str) -> None:
        if who != self._told:
            self._told = who
            self._node.get_logger().info(f'{_ACTION}: {who}')

    def _is_ours(self) -> bool:
        status = self._node.resolve_topic_name(f'{_ACTION}/_action/status')
        if self._node.count_publishers(status) > (self._server is not None):
            return False
        requests = self._node.resolve_service_name(f'{_ACTION}/_action/send_goal')
        sides = {(side.node_name, side.node_namespace) for side in
                 self._node.get_publishers_info_by_topic(self._node.resolve_topic_name('state'))}
        try:
            asked = {service for side in sides for service, _ in
                     self._node.get_client_names_and_types_by_node(*side)}
        except RuntimeError:    # it is not known yet, or no more
            return False
        return self._tolerance() > 0 and requests not in asked

    def _on_goal(self, handle: Any) -> None:
        handle.execute()
        found = self.place(handle.request.pose)
        if isinstance(found, _Refused):
            self._node.get_logger().info(f'refused a pose: {found.why}')
            self._over(handle, lambda ended: self._abort(ended, found.code, found.why))
            return
        goal = self._board.new_goal(found)
        self._open[goal.id] = handle, None
        self._accept(goal)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        for goal_id, (each, _) in [*self._open.items()]:
            if each == handle:
                self._cancel(goal_id)
                return CancelResponse.ACCEPT    # the result follows when it is over
        return CancelResponse.REJECT

    def place(self, asked: PoseStamped) -> Union[int, _Refused]:
        """Return the known state at a pose, or why there is none."""
        described, frame = self._description, asked.header.frame_id.lstrip('/')
        if not described.frame or frame != described.frame.lstrip('/'):
            return _Refused(_TF_ERROR, f'the pose is in the frame {frame!r}, expected '
                            f'{described.frame!r}, in which the robot side has its places')
        x, y, most = asked.pose.position.x, asked.pose.position.y, self._tolerance()
        if not (math.isfinite(x) and math.isfinite(y)):
            return _Refused(_GOAL_OUTSIDE_MAP, f'the pose is at ({x}, {y}), expected numbers')
        near = sorted((math.dist((x, y), place), state)
                      for state, place in described.positions.items())
        # Several states may be at one place, such as those of several headings.
        there = [state for away, state in near if away <= min(most, near[0][0] + _SAME)]
        found = next((state for state in there if not self._refusal(state)), None)
        if found is not None:
            return found
        why = (f'{described.label(there[0])}: {self._refusal(there[0])}' if there
               else 'no place is there')
        return _Refused(_GOAL_OUTSIDE_MAP, f'({x:.2f}, {y:.2f}) is no known place ({why}); '
                        f'{self._nearest_known(near, most)}')

    def _nearest_known(self, near: list[tuple[float, int]], most: float) -> str:
        for away, state in near:
            if not self._refusal(state):
                return (f'the nearest is {self._description.label(state)}, {away:.2f} m away, '
                        f'expected at most {most:g} m (pose_tolerance) and no other place nearer')
        return 'none is known yet'

    def _feedback(self, report: GoalReport, here: int | None) -> Any:
        feedback, described = NavigateToPose.Feedback(), self._description
        now = self._node.get_clock().now()
        feedback.navigation_time = Duration(
            nanoseconds=max(0, now.nanoseconds - report.accepted)).to_msg()
        feedback.estimated_time_remaining = Duration(
            nanoseconds=int((report.expected_seconds_left or 0) * _SECOND)).to_msg()
        feedback.number_of_recoveries = min(max(0, report.attempts - 1), 2**15 - 1)
        feedback.distance_remaining = math.nan    # 0 would mean that it is there
        if here in described.positions and report.target in described.positions:
            assert here is not None and report.target is not None
            place = described.positions[here]
            feedback.distance_remaining = math.dist(place, described.positions[report.target])
            pose = feedback.current_pose
            pose.header.frame_id, pose.header.stamp = described.frame, now.to_msg()
            pose.pose.position.x, pose.pose.position.y = map(float, place)
        return feedback

    def _over(self, handle: Any, end: Callable[[Any], Any]) -> None:
        """Have a goal ended by ``end``, which returns its result."""
        if self._server is not None:
            self._ending += 1
            self._server.notify_execute(handle, end)

    def _end(self, handle: Any, report: GoalReport | None = None) -> Any:
        """Return the result; another goal has replaced one that no client has cancelled."""
        if report is not None and report.status is GoalStatus.REACHED:
            self._ending -= 1
            handle.succeed()
            return NavigateToPose.Result()
        if handle.is_cancel_requested:
            self._ending -= 1
            handle.canceled()
            return NavigateToPose.Result()
        if report is None:
            return self._abort(handle, _UNKNOWN, 'the goal is not known any more')
        return self._abort(handle, _CODES.get(report.status, _UNKNOWN), report.text)

    def _abort(self, handle: Any, code: int, why: str) -> Any:
        self._ending -= 1
        handle.abort()
        result = NavigateToPose.Result()
        for name, value in (('error_code', code), ('error_msg', why)):
            if hasattr(result, name):    # Humble has neither
                setattr(result, name, value)
        return result
