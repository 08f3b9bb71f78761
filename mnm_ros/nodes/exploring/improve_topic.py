# SPDX-License-Identifier: Apache-2.0

"""The topic ``improve``: states to which policies are wanted that are nearly the best."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.said import (
    as_said,
    ChecksNotImproving,
    ExplorationOver,
    InWords,
    ManyPoliciesToImprove,
    NoImprovement,
    NoPolicy,
    NoPolicyYet,
    OfReset,
    PoliciesRefused,
    PoliciesToImprove,
    PolicyRefused,
    Refused,
    Said,
    SomeRefused,
)
from mnm_ros.core.task.step_task import OVER
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.explored import Explored
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.parameters import Parameters
from std_msgs.msg import Int64MultiArray

_SHOWN = 6    # states in an answer


class ImproveTopic:
    """
    Hands on each request, and reports its result, or why a state is refused.

    A message without states ends all that was asked for. Each is an input that is kept, and an
    event: what is too much is refused.

    :param explored: what is to improve policies.
    :param parameters: have ``improve_within``.
    :param answer: called with the answer, and whether any state is refused.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard,
                 explored: Explored, parameters: Parameters,
                 answer: Callable[[Said, bool], object]) -> None:
        self._explored = explored
        self._parameters = parameters
        self._answer = answer
        take = guard.for_topic(lambda states: guard.call(self._take, states), 10)
        node.create_subscription(Int64MultiArray, 'improve', guard.limited(
            'improve', messages.dropping(node, 'improve', messages.decode_states, take)),
            messages.STEP)

    def _take(self, states: tuple[int, ...]) -> None:
        exploration = self._explored.exploration
        if exploration.state in OVER:
            self._answer(Refused(ExplorationOver(
                as_said(exploration.status) or InWords(''))), True)
            return
        if not states:
            exploration.improve_no_more()
            self._answer(NoImprovement(), False)
            return
        self._answer(*self._asked(exploration, states))

    def _asked(self, exploration: Exploration, states: tuple[int, ...]) -> tuple[Said, bool]:
        """Ask for states; return the answer, and whether any state is refused."""
        taken: list[int] = []
        refused: list[tuple[int, Said]] = []
        for state in dict.fromkeys(states):
            why = _refusal(exploration, state)
            if why:
                refused.append((state, why))
            else:
                exploration.improve(state, self._parameters['improve_within'])
                taken.append(state)
        improved = (PoliciesToImprove(tuple(taken)) if len(taken) <= _SHOWN else
                    ManyPoliciesToImprove(tuple(taken[:_SHOWN]), len(taken) - _SHOWN))
        if not refused:
            return improved, False
        (state, why), more = refused[0], len(refused) - 1
        said = PoliciesRefused(state, more, why) if more else PolicyRefused(state, why)
        return SomeRefused(improved, said) if taken else said, True


def _refusal(exploration: Exploration, state: int) -> Said | None:
    """Return why the policy to a state cannot be improved; None if it can."""
    if exploration.hypothesis is None:
        return NoPolicyYet()
    if state not in exploration.hypothesis.targets:
        return NoPolicy()
    if state == exploration.home:
        return OfReset()
    return None if exploration.mnm.phase.can_improve else ChecksNotImproving(
        exploration.settings.checks)
