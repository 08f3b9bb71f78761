# SPDX-License-Identifier: Apache-2.0

"""The last RESET before a node ends."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.core.model.problem import RESET
from mnm_ros.protocol.clients import Incoming, RetryTimer, StepClient

_AGAIN = 0.5    # s, before it is sent again


class LastReset:
    """
    Sends the robot home until it answers. Nothing is learnt from that.

    :param send: publishes ``[seq, action]``.
    :param call_home: calls the service ``return_home`` instead, with the number of the attempt.
    :param first_seq: number of the action: the time in nanoseconds.
    :param now: time in seconds.
    :ivar over: whether the robot has answered.
    :ivar state: where it has ended, if it has said so.
    """

    def __init__(
            self, send: Callable[[int, int], None], call_home: Callable[[int], object] | None,
            first_seq: int, now: float) -> None:
        self.over = False
        self.state: int | None = None
        self._send = send
        self._call_home = call_home
        self._timer = RetryTimer(_AGAIN, 0)
        self._client = StepClient(first_seq, self._timer)
        self._order = self._client.start(RESET, now)
        self._begin()

    def tick(self, now: float) -> None:
        """Try again if it is time to."""
        if not self.over and self._timer.overdue(now):
            self._begin()

    def on_state(self, seq: int, state: int) -> None:
        """Take a ``state`` message."""
        if not self._call_home and self._client.receive(seq) is Incoming.ANSWER:
            self.over, self.state = True, state

    def on_home_response(self, success: bool) -> None:
        """Take a response of ``return_home``."""
        self.over = self.over or success

    def _begin(self) -> None:
        if self._call_home:
            self._call_home(0)
        else:
            self._send(*self._order)
