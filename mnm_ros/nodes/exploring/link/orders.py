# SPDX-License-Identifier: Apache-2.0

"""The topic ``action`` of an explorer that publishes it only while it may command the robot."""

from __future__ import annotations

import math
import time

from mnm_ros import wire
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import Int64MultiArray

_MATCH = 1.0    # s, until a robot that is there can surely be reached


class Orders:
    """
    A publisher of ``action`` that comes and goes.

    Robot sides take a node that publishes ``action`` for one that may have ordered what is under
    way. An explorer that stands by must not be among them.

    :param node: that has the topic.
    :ivar topic_name: fully qualified.
    """

    def __init__(self, node: Node) -> None:
        self.topic_name: str = node.resolve_topic_name('action')
        self._node = node
        self._publisher: Publisher | None = None
        self._order = wire.StepEncoder()
        self._opened = -math.inf

    @property
    def reachable(self) -> bool:
        """Whether an order would arrive, as far as that can be known."""
        return self._publisher is not None and (
            bool(self._publisher.get_subscription_count())
            or time.monotonic() >= self._opened + _MATCH)

    def open(self) -> None:    # noqa: A003
        """Publish ``action`` from now on."""
        if self._publisher is None:
            self._publisher = self._node.create_publisher(Int64MultiArray, 'action', wire.STEP)
            self._opened = time.monotonic()

    def close(self) -> None:
        """Publish it no longer."""
        publisher, self._publisher = self._publisher, None
        if publisher is not None:
            self._node.destroy_publisher(publisher)

    def send(self, seq: int, action: int) -> None:
        """Give an order; whoever stands by gives none."""
        if self._publisher is not None:
            self._publisher.publish(self._order.encode(seq, action))

    def get_subscription_count(self) -> int:
        """Return how many subscribers an order reaches, or would reach."""
        if self.reachable and self._publisher is not None:
            return self._publisher.get_subscription_count()
        return self._node.count_subscribers(self.topic_name)

    def wait_until_heard(self) -> None:
        """Wait until the last order has arrived, 0.5 s at most."""
        if self._publisher is not None:
            self._publisher.wait_for_all_acked(Duration(seconds=0.5))
