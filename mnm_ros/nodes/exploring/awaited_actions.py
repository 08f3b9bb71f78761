# SPDX-License-Identifier: Apache-2.0

"""Before there is an exploration: the robot side says which actions it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time

from mnm_ros import messages
from mnm_ros.core.exploration import Phase
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.robot_description import RobotDescription
from rclpy.node import Node
from std_msgs.msg import String

_TOPIC = 'robot_side'
_LOOK = 0.1        # s, between two looks whether it has come, and whether somebody is there
_PATIENCE = 2.0    # s, that a description may take once a robot side is there
_REMEDY = ("set the parameter 'actions' of the explorer to their names, in the order of their "
           'numbers')


class AwaitedActions:
    """
    Waits for the first description of a robot side, and says so on ``phase`` and ``status``.

    :param node: the explorer.
    :param robots: the same, once for each robot, as it has the topics of that robot.
    :param named: returns whether the parameter has been set meanwhile.
    :param begin: called with the names that the robot side has for its actions, once they are
        there or the parameter is set; returns why it cannot begin, or nothing.
    """

    def __init__(self, node: Node, robots: Sequence[Node], named: Callable[[], bool],
                 begin: Callable[[tuple[str, ...]], str]) -> None:
        self._node = node
        self._named = named
        self._begin = begin
        self._actions: tuple[str, ...] = ()
        self._wrong = ''
        self._told = ''
        self._there_since: float | None = None
        self._phase = node.create_publisher(String, 'phase', messages.LATCHED)
        self._status = node.create_publisher(String, 'status', messages.LATCHED)
        self._said = [robot.create_subscription(
            String, _TOPIC, self._on_description, messages.LATCHED_BY_MANY) for robot in robots]
        self._topics = ', '.join(said.topic_name for said in self._said)
        self._state_topics = [robot.resolve_topic_name('state') for robot in robots]
        self._timer = every(_LOOK, node, self._look)
        self._phase.publish(String(data=Phase.WAITING_FOR_ROBOT.value))
        self._tell(self._missing())

    def destroy(self) -> None:
        """Remove the topics."""
        self._node.destroy_timer(self._timer)
        for said in self._said:
            self._node.destroy_subscription(said)
        for publisher in (self._phase, self._status):
            self._node.destroy_publisher(publisher)

    def _on_description(self, message: String) -> None:
        try:
            self._actions, self._wrong = RobotDescription.from_text(message.data).actions, ''
        except ValueError as error:
            self._wrong = f'what it says on {self._topics} is wrong: {error}'

    def _look(self) -> None:
        if self._actions or self._named():
            wrong = self._begin(self._actions)
            if not wrong:
                return
            self._actions, self._wrong = (), wrong
        self._tell(self._wrong or self._missing())

    def _missing(self) -> str:
        now = time.monotonic()
        if not any(map(self._node.count_publishers, self._state_topics)):
            self._there_since = None
            return f'nobody says on {self._topics} which actions there are'
        if self._there_since is None:
            self._there_since = now
        if now < self._there_since + _PATIENCE:
            return 'it has not said yet which actions it has'
        return (f'it does not say on {self._topics} which actions it has; {_REMEDY}')

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._status.publish(String(data=f'waiting for the robot: {reason}'))
            self._node.get_logger().info(f'waiting for the robot: {reason}')
