# SPDX-License-Identifier: Apache-2.0

"""Known places as goals of nav2's actions, one or several, for RViz and nav2's clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.language import ENGLISH, Phrase, Text, text_in
from mnm_ros.nodes.navigating.goal_board import GoalBoard
from mnm_ros.nodes.navigating.nav2_server import nav2_type, Nav2Server
from mnm_ros.nodes.navigating.place_finder import PlaceFinder, Refusal
from mnm_ros.nodes.navigating.pose_feedback import PoseFeedback
from rclpy.node import Node

MissedWaypoint = nav2_type('msg', 'MissedWaypoint')    # Humble has none, and Kilted another
WaypointStatus = nav2_type('msg', 'WaypointStatus')

_KINDS = {'navigate_to_pose': 'NavigateToPose', 'navigate_through_poses': 'NavigateThroughPoses',
          'follow_waypoints': 'FollowWaypoints'}
_FEEDBACK = 0.2    # s, between two messages of feedback at most

# As nav2 calls them in FollowPath, ComputePathToPose, NavigateToPose and FollowWaypoints.
_FAILED_TO_MAKE_PROGRESS, _NO_VALID_PATH, _UNKNOWN, _FAILED_TO_LOAD_BEHAVIOR_TREE = (
    105, 208, 9000, 9001)
_STOP_ON_MISSED_WAYPOINT = 603
_CODES = {GoalStatus.REFUSED: _NO_VALID_PATH, GoalStatus.FAILED: _FAILED_TO_MAKE_PROGRESS}


@dataclass
class _Journey:
    """
    A client's goal that is not over: one pose after the other, each a goal of the navigator.

    :ivar waypoints: whether it reports which poses were missed.
    :ivar index: of the pose on the way to which it is.
    :ivar rounds: how often it begins again after the last pose.
    :ivar began: when, in ns by the clock of the navigator.
    :ivar last: the report that its client received last.
    :ivar due: when it is reported again.
    """

    server: Nav2Server
    handle: Any
    poses: Sequence[PoseStamped]
    waypoints: bool
    index: int = 0
    rounds: int = 0
    began: int = 0
    last: GoalReport | None = None
    due: float = 0.0

    @property
    def at_last(self) -> bool:
        """Whether no other pose follows."""
        return self.index + 1 >= len(self.poses) and not self.rounds

    def go_on(self) -> None:
        """Go on to the next pose."""
        self.index += 1
        if self.index == len(self.poses):
            self.index, self.rounds = 0, self.rounds - 1

    def fail(self, code: int, why: str) -> None:
        """End it on the way to a pose."""
        if not self.waypoints:
            self.server.abort(self.handle, code, why)
            return
        missed = _missed(self.index, self.poses[self.index], code, why) if self.poses else []
        self.server.abort(self.handle, _STOP_ON_MISSED_WAYPOINT, why, missed_waypoints=missed)


def _missed(index: int, pose: PoseStamped, code: int, why: str) -> list[Any]:
    """Return the waypoint that was missed, as the installed version has it."""
    if WaypointStatus is not None:
        return [WaypointStatus(
            waypoint_status=WaypointStatus.FAILED, waypoint_index=index, waypoint_pose=pose,
            error_code=code, error_msg=why)]
    if MissedWaypoint is not None:
        return [MissedWaypoint(index=index, goal=pose, error_code=code)]
    return [index]


class PoseGoals:
    """
    Serves the actions by which nav2's clients send a robot somewhere.

    :param places: what poses mean.
    :param feedback: for clients, of goals under way.
    :param accept, cancel: take a goal, and the id of one.
    """

    def __init__(self, node: Node, board: GoalBoard, places: PlaceFinder, feedback: PoseFeedback,
                 accept: Callable[[GoalReport], None], cancel: Callable[[int], None]) -> None:
        self._node, self._board, self._places = node, board, places
        self._feedback, self._accept, self._cancel = feedback, accept, cancel
        self._open: dict[int, _Journey] = {}    # by the id of the goal on the way to a pose
        self._servers = [Nav2Server(node, name, kind, places, self._take, self._on_cancel)
                         for name, kind in _KINDS.items()]

    @property
    def idle(self) -> bool:
        """Whether every goal has got its result."""
        return not self._open and all(server.idle for server in self._servers)

    def look(self) -> None:
        """Serve what is free; to be called now and then."""
        for server in self._servers:
            server.look()
            if server.serves:
                self._places.hear_frames()
        for goal_id, journey in [*self._open.items()]:
            if not journey.server.serves:
                del self._open[goal_id]
                self._cancel(goal_id)

    def tick(self, here: int | None) -> None:
        """
        Report to the clients what has become of their goals.

        :param here: the state that the robot was last seen in, if any.
        """
        now = time.monotonic()
        for goal_id, journey in [*self._open.items()]:
            report = self._board.report(goal_id)
            over = report is None or report.status.over
            if report and (report != journey.last or now >= journey.due) and (
                    not over or report.status is GoalStatus.REACHED):
                journey.last, journey.due = report, now + _FEEDBACK
                self._tell(journey, report, here)
            if over:
                del self._open[goal_id]
                self._end(journey, report)

    def following(self, goal_id: int, status: GoalStatus) -> GoalReport | None:
        """Return the next goal of a client that has more of them, as this one is over."""
        journey = self._open.get(goal_id)
        if (journey is None or status is not GoalStatus.REACHED or journey.at_last
                or journey.handle.is_cancel_requested):
            return None
        del self._open[goal_id]
        journey.go_on()
        return self._next(journey)

    def _next(self, journey: _Journey) -> GoalReport | None:
        found = self._places.place(journey.poses[journey.index])
        if isinstance(found, Refusal):
            self._refuse(journey, found)
            return None
        goal = self._board.new_goal(found, by='nav2')
        self._open[goal.id] = journey
        return goal

    def _take(self, server: Nav2Server, handle: Any) -> None:
        asked = handle.request
        poses = asked.poses if hasattr(asked, 'poses') else [asked.pose]
        waypoints = not hasattr(asked, 'behavior_tree')
        journey = _Journey(
            server, handle, getattr(poses, 'goals', poses), waypoints,
            getattr(asked, 'goal_index', 0), getattr(asked, 'number_of_loops', 0), self._board.now)
        refusal = self._refusal(journey, getattr(asked, 'behavior_tree', ''))
        if refusal:
            self._refuse(journey, refusal)
        elif goal := self._next(journey):
            self._accept(goal)

    def _refusal(self, journey: _Journey, tree: str) -> Refusal | None:
        """Return why a goal is not even begun."""
        if tree:
            return Refusal(
                _FAILED_TO_LOAD_BEHAVIOR_TREE, Phrase.of('poses.tree', tree=repr(tree)))
        if journey.index >= len(journey.poses):
            index, journey.index, many = journey.index, 0, len(journey.poses)
            return Refusal(_UNKNOWN, Phrase.of('poses.first', index=index, count=many))
        # Waypoints are searched for one by one: what is there then is known then.
        found = [] if journey.waypoints else map(self._places.place, journey.poses)
        return next((each for each in found if isinstance(each, Refusal)), None)

    def _refuse(self, journey: _Journey, refusal: Refusal) -> None:
        self._node.get_logger().info(f'refused a pose: {text_in(ENGLISH, refusal.why)}')
        self._fail(journey, refusal.code, refusal.why)

    def _fail(self, journey: _Journey, code: int, why: Text) -> None:
        journey.fail(code, text_in(self._board.language, why))

    def _on_cancel(self, handle: Any) -> bool:
        for goal_id, journey in [*self._open.items()]:
            if journey.handle == handle:
                self._cancel(goal_id)
                return True    # the result follows when it is over
        return False

    def _tell(self, journey: _Journey, report: GoalReport, here: int | None) -> None:
        feedback = journey.server.kind.Feedback()
        if journey.waypoints:
            feedback.current_waypoint = journey.index
        else:
            later = [*map(self._places.place, journey.poses[journey.index + 1:])]
            self._feedback.fill(feedback, report, journey.began, here, [
                None if isinstance(each, Refusal) else each for each in later])
            if hasattr(feedback, 'number_of_poses_remaining'):
                feedback.number_of_poses_remaining = len(journey.poses) - journey.index
        journey.handle.publish_feedback(feedback)

    def _end(self, journey: _Journey, report: GoalReport | None) -> None:
        """Send the result; another goal has replaced one that no client has cancelled."""
        if report is None:
            self._fail(journey, _UNKNOWN, Phrase.of('poses.forgotten'))
            return
        said = self._board.said(report).text
        if report.status is not GoalStatus.REACHED:
            self._fail(journey, _CODES.get(report.status, _UNKNOWN), said)
        elif journey.at_last:
            journey.server.succeed(journey.handle)
        else:
            self._fail(journey, _UNKNOWN, Phrase.of('poses.replaced', said=said))
