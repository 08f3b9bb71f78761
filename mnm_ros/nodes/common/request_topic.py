# SPDX-License-Identifier: Apache-2.0

"""The topic ``requests``: nodes say there who asks for what, as services do not tell."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.progress.request import Request
from mnm_ros.nodes.common.node_scope import NodeInterface
from rclpy.duration import Duration
from std_msgs.msg import String

SERVICE = 'service '
"""Begins from where something comes if it is not known who has called the service."""

BY_PARAMETERS = f'{SERVICE}set_parameters'
"""From where a change of a parameter comes."""

AT_ONCE = 50
"""Requests that are taken at once, such as all parameters of a file that is loaded."""

EACH_SECOND = 5.0
"""Requests that are taken in each second for long: more than people and their programs make."""

_SAME_STOP = 1.0    # s, for which a stop that is said again is the same


class Allowance:
    """How much more is taken of what others may say as often as they like."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock    # in s
        self._left, self._last = float(AT_ONCE), -math.inf

    def takes(self, anyway: bool = False) -> bool:
        """Return whether one more is taken, which counts then; ``anyway``: even if it is not."""
        now = self._clock()
        self._left = min(AT_ONCE, self._left + (now - self._last) * EACH_SECOND)
        self._last = now
        if self._left < 1.0 and not anyway:
            return False
        self._left = max(0.0, self._left - 1.0)
        return True


class RequestHearing:
    """
    Hears what is said on ``requests``, but not so much that exploring would suffer from it.

    :param take: called with what is said.
    :param clock: returns the time in s.
    :ivar dropped: how many were left out; none of them is a stop, but for the same one again.
    """

    def __init__(self, node: NodeInterface, topic: str, take: Callable[[Request], None],
                 clock: Callable[[], float]) -> None:
        self.dropped = 0
        self._take, self._clock = take, clock
        self._allowance = Allowance(clock)
        self._stop: tuple[Request | None, float] = None, -math.inf    # the last one, and when
        messages.hear(node, String, topic, messages.REQUESTS,
                      lambda message: Request.from_json(message.data), self._hear)

    def _hear(self, request: Request) -> None:
        now = self._clock()
        stop, at = self._stop
        again = request.what != 'stop' or request == stop and now < at + _SAME_STOP
        if not self._allowance.takes(anyway=not again):
            self.dropped += 1
            return
        if not again:
            self._stop = request, now
        self._take(request)


class RequestTopic:
    """Says what is about to be asked for, or has just been; the explorer keeps a record."""

    def __init__(self, node: NodeInterface) -> None:
        self._name = node.get_name()
        self._publisher = node.create_publisher(String, 'requests', messages.STEP)

    def say(self, what: str, by: str = '', **more: Any) -> None:
        """
        Say it.

        :param by: from where it comes; empty for this node.
        :param more: the other fields of a ``Request``.
        """
        request = Request(what, by or self._name, **more)
        self._publisher.publish(String(data=request.to_json()))

    @property
    def heard(self) -> int:
        """Return how many hear what is said."""
        return self._publisher.get_subscription_count()

    def wait_until_heard(self, seconds: float) -> None:
        """Wait until all that listen have heard the last, for so many seconds at most."""
        self._publisher.wait_for_all_acked(Duration(seconds=seconds))

    def called(self, what: str, service: str, answer: tuple[bool, str]) -> tuple[bool, str]:
        """Say that a service of this node was called, and why in vain; return the answer."""
        success, text = answer
        self.say(what, f'{SERVICE}{service}', text=None if success else f'refused, {text}')
        return answer

    def setting(self, name: str, before: object, now: object) -> None:
        """Say that a parameter of this node has changed."""
        self.say('setting', BY_PARAMETERS, text=changed(self._name, name, before, now))


def changed(node: str, name: str, before: object, now: object) -> str:
    """Return what is said of a parameter that has changed."""
    return f'{node}: {name} is now {now!r}, before {before!r}'
