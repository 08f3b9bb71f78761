# SPDX-License-Identifier: Apache-2.0

"""The topic ``improve``: states to which policies are wanted that are nearly the best."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros import messages
from mnm_ros.core.errors import MnmError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.task.step_task import OVER
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from std_msgs.msg import Int64MultiArray


class ImproveTopic:
    """
    Hands on what is asked for, and tells what comes of it, or why a state is refused.

    :param exploration: returns the present one.
    :param within: returns how near to the best the policies are to be.
    :param answer: called with the answer.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard,
                 exploration: Callable[[], Exploration], within: Callable[[], float],
                 answer: Callable[[str], object]) -> None:
        self._exploration = exploration
        self._within = within
        self._answer = answer
        messages.hear(node, Int64MultiArray, 'improve', messages.STEP, messages.decode_states,
                      guard.for_topic(lambda states: guard.call(self._take, states), 10))

    def _take(self, states: tuple[int, ...]) -> None:
        exploration = self._exploration()
        if exploration.state in OVER:
            self._answer(f'refused, exploration is over: {exploration.status}')
            return
        said = []
        for state in dict.fromkeys(states):
            try:
                exploration.improve(state, self._within())
                said.append(f'state {state}')
            except MnmError as error:
                said.append(f'refused, {error}')
        self._answer('; '.join(said))
