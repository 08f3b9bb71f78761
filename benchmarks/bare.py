# SPDX-License-Identifier: Apache-2.0

"""
The least that nodes can be: they exchange the messages of the step protocol, and do nothing else.

``bare.py order`` gives orders, ``bare.py answer`` answers them, ``bare.py order answer`` does both
in one process, and ``bare.py first`` gives an order as soon as a node subscribes. ``order`` prints
its steps per second once a second.
"""

from __future__ import annotations

from array import array
import signal
import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Int64MultiArray

try:    # as the nodes do; to import anything of the package would take time at the start
    from rclpy.experimental import EventsExecutor as FastExecutor  # noqa: TID251
except ImportError:    # Humble
    from rclpy.executors import SingleThreadedExecutor as FastExecutor

STEP = QoSProfile(depth=10)
"""As ``messages.STEP``: reliable and volatile."""


class Order(Node):
    """Gives an order, and the next one with each answer."""

    def __init__(self) -> None:
        super().__init__('order')
        self._orders = self.create_publisher(Int64MultiArray, 'action', STEP)
        self.create_subscription(Int64MultiArray, 'state', self._on_state, STEP)
        self.create_timer(1.0, self._tell)
        self._seq = self._told = 0
        self._told_at = time.monotonic()

    def _on_state(self, message: Int64MultiArray) -> None:
        seq, _ = message.data
        self._seq = seq + 1
        self._orders.publish(Int64MultiArray(data=array('q', (self._seq, 1))))

    def _tell(self) -> None:
        now = time.monotonic()
        print((self._seq - self._told) / (now - self._told_at), flush=True)
        if self._seq == self._told:    # not begun yet, or an answer was lost
            self._seq += 1
            self._orders.publish(Int64MultiArray(data=array('q', (self._seq, 1))))
        self._told, self._told_at = self._seq, now


class Answer(Node):
    """Answers each order."""

    def __init__(self) -> None:
        super().__init__('answer')
        self._states = self.create_publisher(Int64MultiArray, 'state', STEP)
        self.create_subscription(Int64MultiArray, 'action', self._on_action, STEP)

    def _on_action(self, message: Int64MultiArray) -> None:
        seq, action = message.data
        self._states.publish(Int64MultiArray(data=array('q', (seq, action))))


class First(Node):
    """Gives one order again and again, as soon as there is a node that it reaches."""

    def __init__(self) -> None:
        super().__init__('first')
        self._orders = self.create_publisher(Int64MultiArray, 'action', STEP)
        self.create_timer(0.002, self._look)

    def _look(self) -> None:
        if self._orders.get_subscription_count():
            self._orders.publish(Int64MultiArray(data=array('q', (1, -1))))


ROLES = {'order': Order, 'answer': Answer, 'first': First}


def main() -> None:
    """Run the roles that are named until the process is ended."""
    # It leaves the graph at the end: others wait long for one that was killed.
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    executor = FastExecutor()
    nodes = [ROLES[role]() for role in sys.argv[1:]]
    for node in nodes:
        executor.add_node(node)
    while not ended:
        executor.spin_once(timeout_sec=0.1)
    for node in nodes:
        executor.remove_node(node)
        node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
