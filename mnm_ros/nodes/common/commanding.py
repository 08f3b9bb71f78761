# SPDX-License-Identifier: Apache-2.0

"""
What the nodes that command a robot share: how long to wait, and RESET by a service.

The service is ``return_home`` or another one; its response is not waited for.
"""

from __future__ import annotations

from collections.abc import Callable
import math
import time

from mnm_ros.parameters import Parameters
from mnm_ros.protocol.loop import StepLimits
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

STOPPED = 'the robot is stopped, call stop with false first'
"""How a way is refused as long as the service ``stop`` keeps the robot at rest."""

_PAUSE = 0.05    # s, between two calls for one RESET: each may lead the robot home once more


def step_limits(given: Parameters, deadline: float = math.inf) -> StepLimits:
    """Return how long to wait for the robot, and when to stop."""
    return StepLimits(
        given['step_timeout'], given['step_retries'], given['reset_retries'],
        given['max_steps'], deadline)


class HomeService:
    """
    Client of a service that leads the robot home.

    :param node: owns the client.
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
        """Whether somebody offers the service."""
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

    def destroy(self) -> None:
        """Remove the client."""
        self._pending.clear()
        self._node.destroy_client(self._client)

    def _respond(self, attempt: int, future: Future) -> None:
        if future in self._pending and not future.cancelled():
            self._pending.remove(future)
            response = future.result()
            self._on_response(attempt, response.success, response.message)
