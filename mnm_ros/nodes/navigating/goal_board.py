# SPDX-License-Identifier: Apache-2.0

"""The results of the last goals, as the topics report them."""

from __future__ import annotations

from dataclasses import replace
import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.progress.said import Reason, Said
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.robot_description import UNDESCRIBED
from mnm_ros.view.event_words import goal_words
from mnm_ros.view.sentences import sentence
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import String

_REMEMBERED = 20    # goals that are over
_PERIOD = 0.1    # s, at least between two messages that differ by the steps alone
_HEARD = 0.5     # s, that subscribers have at the end to hear the last result


class GoalBoard:
    """
    Keeps the reports of the last goals and publishes them.

    Every message on ``goal/status`` is complete in itself and latched: a client that starts late
    or misses a message finds its goal in the next one, and takes no other goal for its own.

    :ivar language: of the sentences that are published; reports and the log have them in English.
    """

    def __init__(self, node: Node, language: str) -> None:
        self._node, self.language = node, language
        self._results = node.create_publisher(String, 'goal_result', messages.LATCHED)
        self._statuses = node.create_publisher(DiagnosticArray, 'goal/status', messages.LATCHED)
        self._reports: dict[int, GoalReport] = {}    # by id, that of the last change at the end
        self._due = 0.0
        self._untold = False
        self._refused = ''    # the last result that is not published yet
        self._last_id = 0
        self._publish()    # clients of a navigator that was here before hear that it is gone

    @property
    def now(self) -> int:
        """Return the time for stamps, in ns."""
        nanoseconds: int = self._node.get_clock().now().nanoseconds
        return nanoseconds

    def new_goal(self, target: int | None, goal_id: int | None = None,
                 by: str = 'topic goal') -> GoalReport:
        """Return a goal that has just come, with an id of its own if it came without one."""
        if goal_id is None:
            goal_id = self._last_id = max(time.time_ns(), self._last_id + 1)
        return GoalReport(
            goal_id, target, GoalStatus.WAITING, f'waiting to go to {target}', accepted=self.now,
            by=by)

    def report(self, goal_id: int) -> GoalReport | None:
        """Return the last report of a goal; None if that is forgotten."""
        return self._reports.get(goal_id)

    def repeat(self, goal_id: int) -> bool:
        """Publish all reports again if that of the goal is among them; return whether it is."""
        if goal_id in self._reports:
            self.tell_soon(self._reports[goal_id])
            return True
        return False

    def tell(self, report: GoalReport) -> None:
        """Publish a report that has changed."""
        self._take(report)
        self._publish()

    def tell_soon(self, report: GoalReport) -> None:
        """Let the next ``tick`` publish a report, of which there may be a flood."""
        self._take(report)
        self._untold = True

    def refuse(self, report: GoalReport, how: Said) -> None:
        """Publish at the next ``tick`` that a goal of too many is refused."""
        ended = report.over(GoalStatus.REFUSED, sentence(how), self.now, how)
        self._refused = self.said(ended).text
        self.tell_soon(ended)

    def tick(self, now: float) -> None:
        """Publish what waits; to be called often."""
        if self._untold and now >= self._due:
            self._due = now + _PERIOD
            self._publish()
            if self._refused:
                self._results.publish(String(data=self._refused))
                self._refused = ''

    def _take(self, report: GoalReport) -> None:
        self._reports.pop(report.id, None)
        self._reports[report.id] = report
        over = [each.id for each in self._reports.values() if each.status.over]
        for goal_id in over[:-_REMEMBERED]:
            del self._reports[goal_id]

    def progress(self, report: GoalReport) -> None:
        """Publish the figures of a goal under way, but not for every step of a quick robot."""
        if report != self._reports.get(report.id):
            self.tell_soon(report)

    def end(self, report: GoalReport, status: GoalStatus, reason: Reason) -> None:
        """Publish what has become of a goal, and why, or what reaching it took."""
        ended = report.over(status, sentence(reason), self.now,
                            reason if isinstance(reason, Said) else None)
        self._node.get_logger().info(ended.text)
        self.tell(ended)
        self._results.publish(String(data=self.said(ended).text))

    def said(self, report: GoalReport) -> GoalReport:
        """Return a report with its sentences in the language that is published."""
        language = self.language
        if language == ENGLISH:
            return report
        return replace(
            report, how=sentence(report.said, language=language) or report.how,
            text=phrase('outcomes.ending_goal', language, said=sentence(
                report.ending, language=language)) if report.ending and not report.status.over
            else goal_words(report, UNDESCRIBED, language, plain=False))

    def close(self) -> None:
        """Make sure that the last result has been heard."""
        self.tick(math.inf)
        end = time.monotonic() + _HEARD
        for publisher in (self._results, self._statuses):
            publisher.wait_for_all_acked(
                Duration(seconds=max(0.0, end - time.monotonic())))

    def _publish(self) -> None:
        self._untold = False
        self._statuses.publish(messages.encode_goals(
            self._node.get_clock().now().to_msg(), map(self.said, self._reports.values())))
