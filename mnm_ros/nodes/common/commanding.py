# SPDX-License-Identifier: Apache-2.0

"""What the nodes that command a robot share: how long to wait, orders, RESET by a service."""

from __future__ import annotations

from collections.abc import Callable
import math
import time

from mnm_ros import messages
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.loop import StepLimits
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future
from std_msgs.msg import Int64MultiArray
from std_srvs.srv import Trigger

STOPPED = 'the robot is stopped, call stop with false first'
"""How a way is refused as long as the service ``stop`` keeps the robot at rest."""

_MATCH = 1.0     # s, until a robot that is there can surely be reached
_PAUSE = 0.05    # s, between two calls for one RESET: each may lead the robot home once more


def step_limits(given: Parameters, deadline: float = math.inf) -> StepLimits:
    """Return how long to wait for the robot, and when to stop."""
    return StepLimits(
        given['step_timeout'], given['step_retries'], given['reset_retries'],
        given['max_steps'], deadline)


class HomeService:
    """
    Client of a service that leads the robot home.

    :param on_response: called with the number of the attempt, its success and the message.
    :param service: name of the service, a ``std_srvs/Trigger``.
    """

    def __init__(
            self, node: Node, on_response: Callable[[int, bool, str], None],
            service: str = 'return_home') -> None:
        self._node = node
        self._on_response = on_response
        self._service = service
        self._client = node.create_client(Trigger, service)
        self._pending: list[Future] = []
        self._attempt = -1
        self._called = -math.inf

    @property
    def name(self) -> str:
        """Name of the service."""
        return self._node.resolve_service_name(self._service)

    @property
    def ready(self) -> bool:
        """Whether the service is offered."""
        return self._client.service_is_ready()

    def call(self, attempt: int) -> bool:
        """
        Call the service if it is offered; return whether it was called.

        The responses to earlier calls are still reported, with the number of their attempt.
        """
        now = time.monotonic()
        if not self.ready or (attempt == self._attempt and now < self._called + _PAUSE):
            return False
        self._attempt, self._called = attempt, now
        if len(self._pending) > 10:
            self._client.remove_pending_request(self._pending.pop(0))
        future = self._client.call_async(Trigger.Request())
        self._pending.append(future)
        future.add_done_callback(lambda done: self._respond(attempt, done))
        return True

    def _respond(self, attempt: int, future: Future) -> None:
        if future in self._pending and not future.cancelled():
            self._pending.remove(future)
            response = future.result()
            self._on_response(attempt, response.success, response.message)


class Orders:
    """
    A publisher of ``action``, there only while the explorer may command the robot.

    Robot sides take a node that publishes ``action`` for one that may have ordered what is under
    way. An explorer that stands by must not be among them.

    :ivar topic_name: fully qualified.
    """

    def __init__(self, node: Node) -> None:
        self.topic_name: str = node.resolve_topic_name('action')
        self._node = node
        self._publisher: Publisher | None = None
        self._order = messages.StepEncoder()
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
            self._publisher = self._node.create_publisher(Int64MultiArray, 'action', messages.STEP)
            self._opened = time.monotonic()

    def close(self) -> None:
        """Publish it no longer."""
        publisher, self._publisher = self._publisher, None
        if publisher is not None:
            self._node.destroy_publisher(publisher)

    def send(self, seq: int, action: int) -> None:
        """Give an order; an explorer that stands by gives none."""
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
