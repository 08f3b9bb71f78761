# SPDX-License-Identifier: Apache-2.0

"""What the goals of the navigator change in what is explored, by the parameter ``explore``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.task.navigation import GoalReport
from mnm_ros.core.task.rest_rules import WORK_FIRST
from mnm_ros.core.task.step_task import OVER
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.parameters import Parameters

_GOALS = 'goal/status'


class WorkFirst:
    """
    Hears of goals, also of those that are refused, and has what they need certified first.

    With ``idle`` the robot rests for a while after each goal. A rest neither begins nor ends while
    there is a goal: the navigator has the exploration paused then, or is about to.

    :param exploration: returns the present one.
    :ivar hear: to be called with what is heard of goals.
    """

    def __init__(self, node: NodeInterface, parameters: Parameters, guard: CallbackGuard,
                 exploration: Callable[[], Exploration]) -> None:
        self._node = node
        self._given = parameters
        self._exploration = exploration
        self._heard: dict[int, bool] | None = None    # by id, whether it is over
        self._last = -math.inf    # when there was a goal last
        self._reason = ''
        self.hear = guard.for_topic(lambda reports: guard.call(self._take, reports), 1)

    def reason(self, now: float) -> str:
        """Return why the robot is to rest, or nothing; to be called now and then."""
        # A navigator that was killed leaves its last goal.
        if self._heard and not all(self._heard.values()) and (
                self._node.count_publishers(_GOALS)):
            self._last = now
        else:
            after = self._given['idle_after']
            idle = self._given['explore'] != 'idle' or now >= self._last + after
            self._reason = '' if idle else (
                f'{WORK_FIRST}; explores after {after:g} s without a goal')
        return self._reason

    def _take(self, reports: Sequence[GoalReport]) -> None:
        before, self._heard = self._heard, {each.id: each.status.over for each in reports}
        new = [each for each in reports if before is None or each.id not in before]
        if new and before is not None:    # else they may be of long ago
            self._last = time.monotonic()
        exploration = self._exploration()
        if self._given['explore'] == 'always' or exploration.state in OVER:
            return
        for target in dict.fromkeys(each.target for each in new):
            if target is not None:
                exploration.prefer(target)
