# SPDX-License-Identifier: Apache-2.0

"""Callbacks as all nodes have them: of timers, of topics, and of services."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
import math
import time
from typing import Any, TypeVar

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from std_msgs.msg import Int64MultiArray

_T = TypeVar('_T')
_WARN = 5.0    # s, between two warnings of the same topic


def every(seconds: float, node: Node, callback: Callable[[], None]) -> Timer:
    """Return a timer by the steady clock, which does not follow simulated time."""
    return node.create_timer(seconds, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


def hear(node: Node, topic: str, decode: Callable[[Int64MultiArray], _T],
         take: Callable[[_T], object], profile: QoSProfile) -> Subscription:
    """
    Subscribe to a topic of numbers; a message that is malformed is ignored with a warning.

    :param decode: returns what a message says, or raises ValueError.
    :param take: called with what it says.
    """
    warned = -math.inf

    def on_message(message: Int64MultiArray) -> None:
        nonlocal warned
        try:
            said = decode(message)
        except ValueError as error:
            if time.monotonic() > warned + _WARN:
                warned = time.monotonic()
                node.get_logger().warning(f'{topic} ignored: {error}')
        else:
            take(said)

    return node.create_subscription(Int64MultiArray, topic, on_message, profile)


def answering(answer: Callable[[Any, Any], tuple[bool, str]]) -> Callable[[Any, Any, Any], Any]:
    """Make a method that returns success and a sentence for a request a service's callback."""
    @wraps(answer)
    def respond(node: Any, request: Any, response: Any) -> Any:
        response.success, response.message = answer(node, request)
        return response
    return respond
