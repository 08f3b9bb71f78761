# SPDX-License-Identifier: Apache-2.0

"""The time for which a robot stays at a goal that it has reached."""

from __future__ import annotations

from dataclasses import replace
import math

from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.common.commanding import ExplorationPause
from mnm_ros.nodes.navigating.goal_board import GoalBoard


class Dwell:
    """
    Lets exploration go on after a goal: at once, or where it was reached after a while.

    :param pause: for goals. Somebody else's is not ended.
    """

    def __init__(self, pause: ExplorationPause, board: GoalBoard) -> None:
        self._pause, self._board = pause, board
        self._goal_id: int | None = None    # of the goal where the robot stays
        self._until = -math.inf

    @property
    def under_way(self) -> bool:
        """Whether the robot stays at a goal."""
        return self._goal_id is not None

    def end_goal(self, report: GoalReport, status: GoalStatus, how: str, seconds: float,
                 now: float) -> None:
        """
        Tell what has become of a goal, and stay there, or let exploration go on.

        :param status, how: as for ``GoalBoard.end``.
        :param seconds: for which the robot stays if it has arrived.
        """
        if not (status is GoalStatus.REACHED and seconds and self._pause.own):
            self._board.end(report, status, how)
            self._pause.end(now)
            return
        self._goal_id, self._until = report.id, now + seconds
        self._board.end(replace(report, stays=seconds), status, how)

    def tick(self, now: float) -> None:
        """End it when it is time to, or when others decide whether exploration goes on."""
        if self._goal_id is None:
            return
        if self._pause.disturbed:
            self._pause.forget()
            self.end()
        elif now >= self._until or not self._pause.own:
            self.end()
            self._pause.end(now)

    def end(self) -> None:
        """Tell that the robot is not kept there any longer; the pause goes on."""
        if self._goal_id is not None:
            report = self._board.report(self._goal_id)
            self._goal_id = None
            if report is not None:
                self._board.tell(replace(report, stays=None))
