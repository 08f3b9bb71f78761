# SPDX-License-Identifier: Apache-2.0

"""The topic ``work``: where others have seen the robot arrive, which is learnt from."""

from __future__ import annotations

from collections.abc import Callable
import time

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.integers import as_action
from mnm_ros.core.task.step_task import OVER
from mnm_ros.nodes.common.graph_watch import Witnesses
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from std_msgs.msg import Int64MultiArray

_WAITING = 1000    # executions that wait for the end of a plan: none is lost for when it came


class WorkTopic:
    """
    Hands on each execution, whether the exploration is paused or not, unless it is over.

    :param actions: how many there are, without RESET.
    :param exploration: returns the present one.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard, actions: int,
                 exploration: Callable[[], Exploration]) -> None:
        self._actions = actions
        self._witnesses = Witnesses(
            node, node.resolve_topic_name('work'), node.resolve_topic_name('action'))
        self._exploration = exploration
        messages.hear(node, Int64MultiArray, 'work', messages.STEP, self._read, guard.for_topic(
            lambda execution: guard.call(self._take, *execution), _WAITING))

    def _read(self, message: Int64MultiArray) -> tuple[int, int, int | None]:
        execution = messages.decode_work(message)
        self._witnesses.check(time.monotonic())
        as_action(execution[1], self._actions, reset=False)
        return execution

    def _take(self, state: int, action: int, after: int | None) -> None:
        exploration = self._exploration()
        if exploration.state not in OVER:
            exploration.observe_work(state, action, after)
