# SPDX-License-Identifier: Apache-2.0

"""The topic ``way``, which answers ``way/request``."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.way_answer import to_json, WayAnswer
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from rclpy.node import Node
from std_msgs.msg import Int64, String


class WayTopic:
    """
    Says how a state is reached from elsewhere than home, and whether the robot is at rest.

    :param exploration: returns the present one.
    :param last_order: returns what ``WayAnswer`` has.
    """

    def __init__(self, node: Node, guard: CallbackGuard, exploration: Callable[[], Exploration],
                 last_order: Callable[[], int | None]) -> None:
        self._exploration = exploration
        self._last_order = last_order
        self._ways = node.create_publisher(String, 'way', messages.STEP)
        node.create_subscription(
            Int64, 'way/request', guard.for_topic(self._on_request, 1), messages.STEP)

    def _on_request(self, message: Int64) -> None:
        order = self._last_order()
        # A way is of no use as long as it is not known where the robot is.
        way = None if order is None else self._exploration().direct_way(message.data)
        self._ways.publish(String(data=to_json(WayAnswer(message.data, order, way))))
