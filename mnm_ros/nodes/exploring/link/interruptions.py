# SPDX-License-Identifier: Apache-2.0

"""The topic ``interruption``: what the step topics do not show of an exploration."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from mnm_ros import wire
from mnm_ros.core.exploration import Exploration, Input, Listener, Taken
from mnm_ros.core.interruption import Break, Interruption
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.task.step_task import OVER
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray


class Interruptions:
    """
    Publishes what comes between two steps, so that a bag has all that is learnt from.

    :param node: that has the topic.
    :param counts_from: returns the number of the first order that may count from now on.
    """

    def __init__(self, node: Node, counts_from: Callable[[], int]) -> None:
        self._node = node
        self._counts_from = counts_from
        self._publisher = node.create_publisher(
            Int64MultiArray, 'interruption', wire.LATCHED_BY_MANY)
        self._over = False

    def destroy(self) -> None:
        """Remove the topic."""
        self._node.destroy_publisher(self._publisher)

    def follow(self, exploration: Exploration) -> None:
        """Tell of this exploration from now on, and where it begins."""
        def hear(taken: Taken) -> None:
            if taken.kind is not Input.OBSERVED:
                self._publish(
                    exploration, Break(taken.kind.value), taken.state, taken.action)

        exploration.listeners.append(Listener(hear))
        self._publish(exploration, Break.BEGUN, exploration.inputs_since_step)

    def look(self, exploration: Exploration) -> None:
        """Tell that an exploration is over, once; to be called now and then."""
        over = exploration.state in OVER
        if over and not self._over:
            self._publish(exploration, Break.OVER)
        self._over = over

    def _publish(self, exploration: Exploration, kind: Break, state: int = 0,
                 action: int = RESET) -> None:
        said = Interruption(exploration.steps, kind, state, action, self._counts_from())
        self._publisher.publish(Int64MultiArray(data=array('q', said.numbers())))
