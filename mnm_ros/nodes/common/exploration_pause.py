# SPDX-License-Identifier: Apache-2.0

"""Keeps the explorer from commanding the robot while another node does."""

from __future__ import annotations

import math
import time

from mnm_ros import messages
from mnm_ros.core.exploration import Phase
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import SetBool

_OVER = (Phase.FAULT, Phase.DONE)
_QUIET = (Phase.PAUSED, *_OVER)    # phases in which the explorer leaves the robot alone
_ASK_EVERY = 1.0    # s, after which it is asked again to pause
_HEARD = 5.0        # s, until a request to go on was heard, even if its response is lost
_FOLLOWED = 1.0     # s, until the phase must have followed the response


class ExplorationPause:
    """
    Pauses exploration by the service ``explore``, and watches ``phase`` to see it paused.

    Only a pause that this node has asked for is ended by it.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._heard = False
        self._phase: Phase | None = None    # None also for one that is not known here
        self._asked = False
        self._ask_at = self._doubted_until = -math.inf
        self._going_on: Future | None = None
        self._client = node.create_client(SetBool, 'explore')
        self._phases = node.create_subscription(
            String, 'phase', self._on_phase, messages.LATCHED)

    @property
    def over(self) -> bool:
        """Whether the explorer has heard that it may go on, or need not be told."""
        return self._going_on is None or self._going_on.done()

    @property
    def quiet(self) -> bool:
        """Whether an explorer has said that it leaves the robot alone."""
        return self._phase in _QUIET

    @property
    def disturbed(self) -> bool:
        """Whether an explorer explores all the same."""
        return self._offered and self._heard and self._phase not in _QUIET

    def reached(self, now: float) -> bool:
        """Return whether no explorer explores, after asking for a pause if that is necessary."""
        if not self._offered:
            self._asked = False
            return True
        if self.quiet:
            return now >= self._doubted_until
        if self._heard and now >= self._ask_at and self._client.service_is_ready():
            self._asked, self._ask_at = True, now + _ASK_EVERY
            self._client.call_async(SetBool.Request(data=False))
        return False

    def forget(self) -> None:
        """Leave it to others when exploration goes on."""
        self._asked = False

    def end(self, now: float) -> None:
        """Let exploration go on if it was paused by this node."""
        asked, self._asked = self._asked, False
        self._ask_at = -math.inf
        if asked and self._client.service_is_ready() and self._phase not in _OVER:
            self._doubted_until = now + _HEARD
            self._going_on = self._client.call_async(SetBool.Request(data=True))
            self._going_on.add_done_callback(self._on_response)

    @property
    def _offered(self) -> bool:
        """Whether there is an explorer that may command the robot."""
        return self._client.service_is_ready() or bool(
            self._node.count_publishers(self._phases.topic_name))

    def _on_phase(self, message: String) -> None:
        self._heard = True
        try:
            self._phase = Phase(message.data)
        except ValueError:    # of another version: the explorer may be driving the robot
            self._phase = None
        if self._phase not in _QUIET:
            self._doubted_until = -math.inf

    def _on_response(self, future: Future) -> None:
        response = future.result()
        self._doubted_until = min(self._doubted_until, time.monotonic() + _FOLLOWED)
        if not response.success:
            self._node.get_logger().warning(f'exploration stays paused: {response.message}')
