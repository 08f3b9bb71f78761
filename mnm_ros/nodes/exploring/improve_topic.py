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
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.sentences import sentence
from std_msgs.msg import Int64MultiArray

_SHOWN = 10    # states in an answer


class ImproveTopic:
    """
    Hands on each request, and reports its result, or why a state is refused.

    A message without states ends all that was asked for. Each is an input that is kept, and an
    event: what is too much is refused.

    :param exploration: returns the present one.
    :param within: returns how near to the best the policies are to be.
    :param answer: called with the answer, and whether any state is refused.
    :param names: returns those of states.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard,
                 exploration: Callable[[], Exploration], within: Callable[[], float],
                 answer: Callable[[str, bool], object],
                 names: Callable[[], RobotDescription] = lambda: UNDESCRIBED) -> None:
        self._names = names
        self._exploration = exploration
        self._within = within
        self._answer = answer
        take = guard.for_topic(lambda states: guard.call(self._take, states), 10)
        node.create_subscription(Int64MultiArray, 'improve', guard.limited(
            'improve', messages.dropping(node, 'improve', messages.decode_states, take)),
            messages.STEP)

    def _take(self, states: tuple[int, ...]) -> None:
        exploration = self._exploration()
        if exploration.state in OVER:
            self._answer(f'refused, exploration is over: {sentence(exploration.status)}', True)
            return
        if not states:
            exploration.improve_no_more()
            self._answer('none any more', False)
            return
        said, refused = self._asked(exploration, states)
        self._answer('; '.join(said), refused > 0)

    def _asked(self, exploration: Exploration, states: tuple[int, ...]) -> tuple[list[str], int]:
        """Ask for states; return which are taken, why others are not, and how many those are."""
        known = set(exploration.hypothesis.targets) if exploration.hypothesis else set()
        taken, refused, why = [], 0, ''
        for state in dict.fromkeys(states):
            if state in known or not refused:    # why the first one is refused will do
                try:
                    exploration.improve(state, self._within())
                    taken.append(self._names().place(state))
                    continue
                except MnmError as error:
                    why = why or f'refused, {error}'
            refused += 1
        said = taken[:_SHOWN]
        if len(taken) > _SHOWN:
            said.append(f'{len(taken) - _SHOWN:,} more')
        if refused:
            said.append(why)
        if refused > 1:
            said.append(f'{refused - 1:,} more are refused')
        return said, refused
