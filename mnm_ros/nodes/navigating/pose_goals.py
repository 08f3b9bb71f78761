# SPDX-License-Identifier: Apache-2.0

"""Known places as goals of nav2's action ``navigate_to_pose``, for RViz and nav2's clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
import math
import time
from typing import Any, NamedTuple, Union

from geometry_msgs.msg import PoseStamped
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.driving.pose import Transform
from mnm_ros.nodes.common.heard_frames import HeardFrames
from mnm_ros.nodes.navigating.goal_board import GoalBoard
from mnm_ros.nodes.navigating.pose_feedback import PoseFeedback, SAME, TravelTime
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

try:
    from nav2_msgs.action import NavigateToPose
except ImportError:
    NavigateToPose = None

_ACTION = 'navigate_to_pose'
_FEEDBACK = 0.2    # s, between two messages of feedback at most

# As nav2 calls them in FollowPath, ComputePathToPose and NavigateToPose.
_FAILED_TO_MAKE_PROGRESS, _TF_ERROR, _GOAL_OUTSIDE_MAP, _NO_VALID_PATH = 105, 202, 204, 208
_UNKNOWN, _FAILED_TO_LOAD_BEHAVIOR_TREE = 9000, 9001
_CODES = {GoalStatus.REFUSED: _NO_VALID_PATH, GoalStatus.FAILED: _FAILED_TO_MAKE_PROGRESS}


class _Refused(NamedTuple):
    """Why a pose is no goal, as a code and as a sentence."""

    code: int
    why: str


@dataclass
class _OpenGoal:
    """
    A goal that is not over.

    :ivar last: the report of which its client was told last.
    :ivar due: when it is told again.
    """

    handle: Any
    last: GoalReport | None = None
    due: float = 0.0


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
    :param base_frame: of the robot.
    :param travel_time: returns that to a state from home, as far as it is known.
    :param refusal: returns why there is no policy to follow to a state, or nothing.
    :param accept, cancel: take a goal, and the id of one.
    """

    def __init__(self, node: Node, board: GoalBoard, tolerance: Callable[[], float],
                 base_frame: str, travel_time: Callable[[int], TravelTime | None],
                 refusal: Callable[[int], str], accept: Callable[[GoalReport], None],
                 cancel: Callable[[int], None]) -> None:
        self._node, self._board, self._tolerance = node, board, tolerance
        self._refusal, self._accept, self._cancel = refusal, accept, cancel
        self._description: RobotDescription = UNDESCRIBED
        self._server: _DeferredServer | None = None
        self._frames: HeardFrames | None = None    # from when the action is served first
        self._feedback = PoseFeedback(node, base_frame, travel_time)
        self._open: dict[int, _OpenGoal] = {}    # by id
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
            self._frames = self._frames or HeardFrames(self._node)
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
        now = time.monotonic()
        for goal_id, goal in [*self._open.items()]:
            report = self._board.report(goal_id)
            over = report is None or report.status.over
            if report and (report != goal.last or now >= goal.due) and (
                    not over or report.status is GoalStatus.REACHED):
                goal.last, goal.due = report, now + _FEEDBACK
                feedback = NavigateToPose.Feedback()
                self._feedback.fill(feedback, report, here, self._description, self._frames)
                goal.handle.publish_feedback(feedback)
            if over:
                del self._open[goal_id]
                self._over(goal.handle, partial(self._end, report=report))

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
        tree = handle.request.behavior_tree
        found = self.place(handle.request.pose) if not tree else _Refused(
            _FAILED_TO_LOAD_BEHAVIOR_TREE, f'the behaviour tree {tree!r} is asked for, expected '
            'none, as policies are followed')
        if isinstance(found, _Refused):
            self._node.get_logger().info(f'refused a pose: {found.why}')
            self._over(handle, lambda ended: self._abort(ended, found.code, found.why))
            return
        goal = self._board.new_goal(found)
        self._open[goal.id] = _OpenGoal(handle)
        self._accept(goal)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        for goal_id, goal in [*self._open.items()]:
            if goal.handle == handle:
                self._cancel(goal_id)
                return CancelResponse.ACCEPT    # the result follows when it is over
        return CancelResponse.REJECT

    def place(self, asked: PoseStamped) -> Union[int, _Refused]:
        """Return the known state at a pose, or why there is none."""
        described, most = self._description, self._tolerance()
        frame, position = asked.header.frame_id.lstrip('/'), asked.pose.position
        x, y = position.x, position.y
        if not all(map(math.isfinite, (x, y, position.z))):
            return _Refused(_GOAL_OUTSIDE_MAP, f'the pose is at ({x}, {y}), expected numbers')
        if not described.frame or frame != described.frame.lstrip('/'):
            link = self._frames.find(frame, described.frame) if self._frames else None
            if link is None:
                return _Refused(_TF_ERROR, f'the pose is in the frame {frame!r}, expected '
                                f'{described.frame!r}, in which the robot side has its places, or '
                                'one from which transforms lead there')
            x, y, *_ = link.transform.then(Transform(x, y, position.z))
        near = sorted((math.dist((x, y), place), state)
                      for state, place in described.positions.items())
        # Several states may be at one place, such as those of several headings.
        there = [state for away, state in near if away <= min(most, near[0][0] + SAME)]
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
