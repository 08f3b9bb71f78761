# SPDX-License-Identifier: Apache-2.0

"""Hands a goal to the explorer, which alone commands a robot that it explores."""

from __future__ import annotations

from collections.abc import Callable
import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.task.navigation import GoalReport
from rclpy.node import Node
from std_msgs.msg import Int64, Int64MultiArray

_REPEAT = 0.5    # s, after which the explorer is asked again, so that it knows who is there
_FIND = 1.0      # s, in which an explorer that is there is found


class ExplorerGoals:
    """
    Asks the explorer to take the robot to one state at a time.

    An explorer that may command the robot claims the robot on ``action/driver``.

    :param actions: fully qualified name of the topic ``action``.
    :param on_report: called with each report of the goal that was handed over last.
    """

    def __init__(self, node: Node, actions: str,
                 on_report: Callable[[GoalReport], None]) -> None:
        self._node, self._claims, self._on_report = node, f'{actions}/driver', on_report
        self._alone_from = time.monotonic() + _FIND
        self._goal: messages.DriveGoal | None = None
        self._heard = self._ends = self._over = False
        self._ask_at = -math.inf
        self._goals = node.create_publisher(Int64MultiArray, 'goal/drive', messages.STEP)
        self._cancels = node.create_publisher(Int64, 'goal/drive/cancel', messages.STEP)
        messages.hear(node, DiagnosticArray, 'goal/drive/status', messages.LATCHED_BY_MANY,
                      messages.decode_goals, self._take)

    @property
    def offered(self) -> bool:
        """Whether there is an explorer that may command the robot, or may not be found yet."""
        return time.monotonic() < self._alone_from or bool(
            self._node.count_publishers(self._claims))

    @property
    def goal_id(self) -> int | None:
        """Return the id of the goal that the explorer has, or stays at; None without any."""
        return self._goal.id if self._goal else None

    @property
    def heard(self) -> bool:
        """Whether the explorer has taken the goal."""
        return self._heard

    def begin(self, goal: messages.DriveGoal) -> None:
        """Hand a goal over; it replaces the one that the explorer has."""
        self._goal, self._ask_at = goal, -math.inf
        self._heard = self._ends = self._over = False

    def end(self) -> None:
        """Let the explorer give the goal up, or leave it."""
        self._ends = True
        if self._goal is not None:
            self._cancels.publish(Int64(data=self._goal.id))

    def forget(self) -> None:
        """Have no goal any more."""
        self._goal = None

    def tick(self, now: float) -> None:
        """Ask for the goal again, or for its end, until that has come; to be called often."""
        if self._goal is None or self._over or now < self._ask_at:
            return
        self._ask_at = now + _REPEAT
        if self._ends:
            self._cancels.publish(Int64(data=self._goal.id))
        else:
            self._goals.publish(messages.encode_drive(self._goal))

    def _take(self, reports: tuple[GoalReport, ...]) -> None:
        for report in reports:
            if self._goal is not None and report.id == self._goal.id:
                self._heard = True
                self._over = report.status.over and not report.stays
                self._on_report(report)
