# SPDX-License-Identifier: Apache-2.0

"""The topic ``work``: where others have seen the robot arrive, which is learnt from."""

from __future__ import annotations

from collections.abc import Callable
import time

from mnm_ros import messages
from mnm_ros.core.errors import MessageError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.integers import as_action
from mnm_ros.core.task.step_task import OVER
from mnm_ros.nodes.common.graph_watch import Endpoints, full_name
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
        self._tellers, self._commanders = (
            Endpoints(node, node.resolve_topic_name(topic), publishers=True)
            for topic in ('work', 'action'))
        self._exploration = exploration
        messages.hear(node, Int64MultiArray, 'work', messages.STEP, self._read, guard.for_topic(
            lambda execution: guard.call(self._take, *execution), _WAITING))

    def _read(self, message: Int64MultiArray) -> tuple[int, int, int | None]:
        execution = messages.decode_work(message)
        now = time.monotonic()
        names = {*map(full_name, self._tellers.known(now))} & {
            *map(full_name, self._commanders.known(now))}
        if names:    # of several, it cannot be known which one has sent the message
            raise MessageError(f'{", ".join(sorted(names))} commands the robot, expected a node '
                               'that has seen the robot arrive')
        as_action(execution[1], self._actions, reset=False)
        return execution

    def _take(self, state: int, action: int, after: int | None) -> None:
        exploration = self._exploration()
        if exploration.state not in OVER:
            exploration.observe_work(state, action, after)
