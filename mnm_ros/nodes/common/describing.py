# SPDX-License-Identifier: Apache-2.0

"""The topic ``robot_side``, on which a robot side says what it is: both of its ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time

from mnm_ros import messages
from mnm_ros.nodes.common.graph_watch import Endpoints
from mnm_ros.robot_description import difference, RobotDescription, UNDESCRIBED
from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import String

_TOPIC = 'robot_side'
_FRESH = 1.0      # s, that a description may arrive before its publisher is seen,
_PATIENCE = 2.0   # and after that


class DescriptionTopic:
    """
    Publishes what a robot side is, once, and again when that has changed.

    :param node: the robot side.
    :param describe: returns what it is at present.
    """

    def __init__(self, node: Node, describe: Callable[[], RobotDescription]) -> None:
        self._node = node
        self._describe = describe
        self._publisher = node.create_publisher(String, _TOPIC, messages.LATCHED)
        self._actions: tuple[str, ...] = ()
        self._said = ''

    def keep_up(self, actions: Sequence[str]) -> None:
        """Publish once there are actions, and when they have changed; cheap otherwise."""
        if tuple(actions) != self._actions:
            self._actions = tuple(actions)
            self.publish()

    def publish(self) -> None:
        """
        Publish unless nothing has changed.

        A description that is wrong is logged instead: the robot can do without one.
        """
        try:
            text = self._describe().to_text()
        except ValueError as error:
            self._node.get_logger().error(f'nothing is published on {_TOPIC}: {error}')
            return
        if text != self._said:
            self._said = text
            self._publisher.publish(String(data=text))


class RobotProfile:
    """
    What the robot side has said it is, and whether that is what the explorer expects.

    :param node: the explorer.
    :param actions: the names that it has for the actions.
    :param on_news: called with each description, when its verdict stands.
    :ivar description: ``UNDESCRIBED`` if there is none, or if nobody who publishes one is left.
    :ivar text: the last one that was right, as it was published; empty before.
    :ivar mismatch: why it is not the robot that is expected, or empty.
    """

    def __init__(self, node: Node, actions: Sequence[str], on_news: Callable[[], None]) -> None:
        self._node = node
        self._actions = tuple(actions)
        self._on_news = on_news
        self.description: RobotDescription = UNDESCRIBED
        self.mismatch = self.text = ''
        self._publishers: frozenset[object] = frozenset()
        self._heard = self._wait_until = -math.inf
        self._subscription = self._subscribe()
        self._endpoints = Endpoints(node, self._subscription.topic_name, publishers=True)

    def destroy(self) -> None:
        """Remove the topic."""
        self._node.destroy_subscription(self._subscription)

    def objection(self, now: float) -> str:
        """
        Return why the robot must not be driven, or nothing.

        :param now: time in seconds, as ``time.monotonic`` has it.
        """
        seen = self._endpoints.ids(now)
        joined, left = seen - self._publishers, self._publishers - seen
        self._publishers = seen
        if joined and now > self._heard + _FRESH:
            self._wait_until = now + _PATIENCE
        if left and seen:    # nobody knows whose message came last: hear those who are left
            self.destroy()
            self._subscription = self._subscribe()
        elif left:
            self.description, self.mismatch, self._wait_until = UNDESCRIBED, '', -math.inf
        if self.mismatch:
            return self.mismatch
        return 'it has not said yet what it is' if now < self._wait_until else ''

    def _subscribe(self) -> Subscription:
        return self._node.create_subscription(
            String, _TOPIC, self._on_description, messages.LATCHED_BY_MANY)

    def _on_description(self, message: String) -> None:
        self._heard, self._wait_until = time.monotonic(), -math.inf
        try:
            self.description = RobotDescription.from_text(message.data)
        except ValueError as error:
            self.description = UNDESCRIBED
            mismatch = f'what it says on {self._subscription.topic_name} is wrong: {error}'
        else:
            mismatch = difference(self.description, self._actions)
            self.text = self.text if mismatch else message.data
        if mismatch and mismatch != self.mismatch:
            self._node.get_logger().error(f'the robot is not driven: {mismatch}')
        self.mismatch = mismatch
        self._on_news()
