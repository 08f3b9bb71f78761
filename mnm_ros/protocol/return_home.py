# SPDX-License-Identifier: Apache-2.0

"""RESET by the service ``return_home``, in place of an action, and the last one of all."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import HomeCallFailed, Reason
from mnm_ros.protocol.exchange import RetryTimer, SequenceNumbers, StepClient

_REPEAT = 0.5    # s, before the last RESET is sent again


class HomeProgress(Enum):
    """How far the robot has come on its way home."""

    WAITING = 'waiting'    # nothing to do but to wait
    ARRIVED = 'arrived'    # RESET has ended in ``ReturnHome.state``
    LOST = 'lost'          # the robot may be anywhere: the way home has to begin again


class ReturnHome:
    """
    Goes home by a service: calls it, waits for success, and takes the next report.

    Responses and reports travel apart, so the report may overtake the response. A report that
    did so counts if it names the home state known from before. Otherwise it may be an older one:
    the service is called again, and the report of that counts, or the old one if there is none.

    A call cannot be taken back: one that is answered late leads the robot home once more, and
    an action that was abandoned may be executed after the call. The way home counts as over
    only when neither can happen any more.

    :param call: calls the service and hands the attempt's number back to ``respond``; returns
        whether it was called.
    :param timer: with which the robot is waited for.
    :ivar under_way: whether the robot has been called home and has not reported yet.
    :ivar attempt: number of the present, or the last, way home.
    :ivar state: where the last way home has ended.
    :ivar refusal: why the last call has failed, or empty.
    :ivar refusals: how many calls have failed in a row.
    """

    def __init__(self, call: Callable[[int], object], timer: RetryTimer) -> None:
        self.under_way = False
        self.attempt = 0
        self.state = 0
        self.refusal: Reason = ''
        self.refusals = 0
        self._timer = timer
        self._call = call
        self._home: int | None = None    # as it is known from before
        self._early: int | None = None    # a report that came before the response
        self._successes = 0
        self._reached: int | None = None    # where this way has ended, while calls are left
        self._calls = 0    # of this way home, without a response
        self._given_up: set[int] = set()    # seqs of actions that may still be executed
        self._disturbed = False    # by one of these

    @property
    def unsure(self) -> bool:
        """Whether the robot may be at home already: a report has overtaken the response."""
        return self.under_way and self._successes > 0 and self._early is not None

    def start(self, now: float) -> None:
        """Begin a way home."""
        self.under_way, self._early = True, None
        self._successes = self._calls = 0
        self.attempt += 1
        self._timer.start(now)
        self.call_again()

    def call_again(self) -> None:
        """Call the service once more for the way home under way."""
        if self._call(self.attempt):
            self._calls += 1

    def abandon(self, seq: int | None) -> None:
        """
        Forget the way home.

        :param seq: of the action that is abandoned at the same time; None if there is none.
        """
        if seq is not None:
            self._given_up.add(seq)
        self.under_way = self._disturbed = False
        self._reached = None

    def try_again(self, now: float) -> HomeProgress:
        """Call again if it is time to; LOST if a call stays without a response for too long."""
        if self.under_way and self._timer.overdue(now):
            self._calls = 0
            self.call_again()
        elif self._reached is not None and self._timer.overdue(now):
            self._reached = None
            return HomeProgress.LOST
        return HomeProgress.WAITING

    def respond(self, attempt: int, success: bool, message: str) -> HomeProgress:
        """Take a response of the service to the call for ``attempt``."""
        self.refusal = '' if success else HomeCallFailed(message)
        if attempt == self.attempt:
            self._calls = max(0, self._calls - 1)
        if success:
            self.refusals = 0
        elif self.under_way:
            self.refusals += 1
        if self._reached is not None:
            return self._arrive(self._reached)
        if success and not self.under_way:
            return HomeProgress.LOST    # one call too many has just led the robot home
        if success and attempt == self.attempt:
            self._successes += 1
            if self._early is not None and (self._early == self._home or self._successes > 2):
                return self._arrive(self._early)
        return HomeProgress.WAITING

    def report(self, state: int) -> HomeProgress:
        """Take a report of the robot."""
        if self._successes:
            return self._arrive(state)
        self._early = state
        return HomeProgress.WAITING

    def executed(self, seq: int) -> HomeProgress | None:
        """
        Take an answer; None unless it is to an action that was abandoned.

        Calls of the service may overtake that action: it may have led away from home again.
        """
        if seq not in self._given_up:
            return None
        self._given_up.remove(seq)
        if not self.under_way and self._reached is None:
            return HomeProgress.LOST
        self._disturbed = True
        return HomeProgress.WAITING

    def _arrive(self, state: int) -> HomeProgress:
        """Note where the way home has ended; it is over once no call is left."""
        self.under_way, self._home, self._reached = False, state, state
        if self._calls:
            return HomeProgress.WAITING
        self.state, self._reached = state, None
        return HomeProgress.LOST if self._disturbed else HomeProgress.ARRIVED


class LastReset:
    """
    Sends the robot home until it answers. Nothing is learnt from that.

    :param send: publishes ``[seq, action]``.
    :param call_home: calls the service ``return_home`` instead, with the number of the attempt.
    :param numbers: of the commands of its sender.
    :ivar over: whether the robot has answered.
    :ivar state: where it has ended, if it has said so.
    """

    def __init__(
            self, send: Callable[[int, int], None], call_home: Callable[[int], object] | None,
            numbers: SequenceNumbers, now: float) -> None:
        self.over = False
        self.state: int | None = None
        self._send = send
        self._call_home = call_home
        self._timer = RetryTimer(_REPEAT, 0)
        self._client = StepClient(numbers, self._timer)
        self._order = self._client.start(RESET, now)
        self._begin()

    def tick(self, now: float) -> None:
        """Try again if it is time to."""
        if not self.over and self._timer.overdue(now):
            self._begin()

    def on_state(self, seq: int, state: int) -> None:
        """Take a ``state`` message."""
        if not self._call_home and self._client.receive(seq) is not None:
            self.over, self.state = True, state

    def on_home_response(self, success: bool) -> None:
        """Take a response of ``return_home``."""
        self.over = self.over or success

    def _begin(self) -> None:
        if self._call_home:
            self._call_home(0)
        else:
            self._send(*self._order)
