# SPDX-License-Identifier: Apache-2.0

"""What nav2's clients are told of a goal on its way."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any, NamedTuple

from builtin_interfaces.msg import Duration as DurationMessage
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.common.heard_frames import HeardFrames
from mnm_ros.robot_description import Point, RobotDescription
from rclpy.duration import Duration
from rclpy.node import Node

SAME = 1e-6        # m, between places that are one
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

    :param base_frame: of the robot.
    :param travel_time: returns that to a state from home, as far as it is known.
    """

    def __init__(self, node: Node, base_frame: str,
                 travel_time: Callable[[int], TravelTime | None]) -> None:
        self._node, self._base_frame, self._travel_time = node, base_frame, travel_time

    def fill(self, feedback: Any, report: GoalReport, here: int | None,
             described: RobotDescription, frames: HeardFrames | None) -> None:
        """
        Write how far a goal is.

        :param feedback: a ``NavigateToPose.Feedback``.
        :param here: the state that the robot was last seen in, if any.
        """
        now = self._node.get_clock().now()
        seconds = max(0, now.nanoseconds - report.accepted) / _SECOND
        feedback.navigation_time = Duration(nanoseconds=int(seconds * _SECOND)).to_msg()
        left = self._seconds_left(report, seconds)
        feedback.estimated_time_remaining = UNKNOWN if left is None else Duration(
            nanoseconds=int(left * _SECOND)).to_msg()
        feedback.number_of_recoveries = min(max(0, report.attempts - 1), 2**15 - 1)
        feedback.distance_remaining = math.nan
        pose = feedback.current_pose
        if self._set_pose(pose, here, described, frames):
            pose.header.frame_id, pose.header.stamp = described.frame, now.to_msg()
            place = pose.pose.position.x, pose.pose.position.y
            feedback.distance_remaining = _distance(report, place, described)

    def _set_pose(self, pose: Any, here: int | None, described: RobotDescription,
                  frames: HeardFrames | None) -> bool:
        """Write where the robot is, or the place where it was seen; whether that is known."""
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

    def _seconds_left(self, report: GoalReport, seconds: float) -> float | None:
        """Return the time to the goal; None if nothing is known of it."""
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


def _distance(report: GoalReport, place: Point, described: RobotDescription) -> float:
    """Return how far it is as the crow flies, by way of home if that is first; NaN if unknown."""
    if report.status is GoalStatus.REACHED:
        return 0.0
    ways = [report.target]
    if report.status is GoalStatus.UNDER_WAY and not report.attempts:
        ways = [described.home, report.target]
    distance = 0.0
    for state in ways:
        if state is None or state not in described.positions:
            return math.nan
        distance += math.dist(place, described.positions[state])
        place = described.positions[state]
    return distance if distance > SAME else math.nan    # 0 would mean that it has arrived
