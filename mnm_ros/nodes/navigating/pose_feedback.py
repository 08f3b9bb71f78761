# SPDX-License-Identifier: Apache-2.0

"""The feedback that nav2's clients get about a goal on its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time
from typing import Any, NamedTuple

from builtin_interfaces.msg import Duration as DurationMessage
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.description_entries import Point
from mnm_ros.nodes.navigating.place_finder import PlaceFinder, SAME
from mnm_ros.robot_description import RobotDescription
from rclpy.duration import Duration
from rclpy.node import Node

_FRESH = 2.0       # s, after which a pose is no longer where the robot is
_SECOND = 10**9    # ns

UNKNOWN = DurationMessage(sec=2**31 - 1)
"""The time to a goal of which nothing is known; 0 would mean that the robot is there."""


class TravelTime(NamedTuple):
    """What the explorer says that the way to a state takes from home, and a step of it, in s."""

    whole: float
    step: float


class PoseFeedback:
    """
    Where the robot is on its way to a place.

    :param places: what poses mean.
    :param base_frame: of the robot.
    :param travel_time: returns that to a state from home, as far as it is known.
    """

    def __init__(self, node: Node, places: PlaceFinder, base_frame: str,
                 travel_time: Callable[[int], TravelTime | None]) -> None:
        self._node, self._places = node, places
        self._base_frame, self._travel_time = base_frame, travel_time

    def fill(self, feedback: Any, report: GoalReport, began: int, here: int | None,
             later: Sequence[int | None]) -> None:
        """
        Write how far a goal is.

        :param feedback: a ``NavigateToPose.Feedback``, or a ``NavigateThroughPoses.Feedback``.
        :param began: when the client has sent it, in ns by the clock of the navigator.
        :param here: the state that the robot was last seen in, if any.
        :param later: where it goes afterwards; None is a pose that is no known place.
        """
        now, described = self._node.get_clock().now(), self._places.description
        feedback.navigation_time = Duration(
            nanoseconds=max(0, now.nanoseconds - began)).to_msg()
        left = self._seconds_left(
            report, max(0, now.nanoseconds - report.accepted) / _SECOND, later)
        feedback.estimated_time_remaining = UNKNOWN if left is None else Duration(
            nanoseconds=int(left * _SECOND)).to_msg()
        feedback.number_of_recoveries = min(max(0, report.attempts - 1), 2**15 - 1)
        feedback.distance_remaining = math.nan
        pose = feedback.current_pose
        if self._set_pose(pose, here, described):
            pose.header.frame_id, pose.header.stamp = described.frame, now.to_msg()
            place = pose.pose.position.x, pose.pose.position.y
            feedback.distance_remaining = _distance(report, place, later, described)

    def _set_pose(self, pose: Any, here: int | None, described: RobotDescription) -> bool:
        """Write where the robot is, or the place where it was seen; whether that is known."""
        frames = self._places.frames
        found = frames.find(self._base_frame, described.frame) if frames else None
        to = pose.pose.position
        if found and found.heard > time.monotonic() - _FRESH:
            turn = pose.pose.orientation
            to.x, to.y, to.z, turn.x, turn.y, turn.z, turn.w = found.transform
            return True
        if here not in described.positions:
            return False
        assert here is not None
        to.x, to.y = map(float, described.positions[here])
        return True

    def _seconds_left(self, report: GoalReport, seconds: float,
                      later: Sequence[int | None]) -> float | None:
        """Return the time to the last goal; None if nothing is known of one of them."""
        ways = [self._travel_time(state) if state is not None else None for state in later]
        times = [self._to_goal(report, seconds), *(way.whole if way else None for way in ways)]
        return None if None in times else sum(time for time in times if time is not None)

    def _to_goal(self, report: GoalReport, seconds: float) -> float | None:
        if report.status is GoalStatus.REACHED:
            return 0.0
        known = None if report.target is None else self._travel_time(report.target)
        if report.expected_seconds_left:
            return report.expected_seconds_left
        if known is None:
            return None
        if report.expected_steps_left:
            return report.expected_steps_left * known.step
        return max(known.step, known.whole - seconds)


def _distance(report: GoalReport, place: Point, later: Sequence[int | None],
              described: RobotDescription) -> float:
    """Return how far it is as the crow flies, by way of home if that is first; NaN if unknown."""
    if report.status is GoalStatus.REACHED and not later:
        return 0.0
    ways = [report.target, *later]
    if report.status is GoalStatus.UNDER_WAY and not report.attempts:
        ways.insert(0, described.home)
    distance = 0.0
    for state in ways:
        if state is None or state not in described.positions:
            return math.nan
        distance += math.dist(place, described.positions[state])
        place = described.positions[state]
    return distance if distance > SAME else math.nan    # 0 would mean that it has arrived
