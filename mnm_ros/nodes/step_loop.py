"""Drives an exploration through the step protocol; no rclpy, time is passed in, in seconds."""

from __future__ import annotations

from collections.abc import Callable
import math

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.problem import RESET
from mnm_ros.protocol import HomeClient, Incoming, Patience, StepClient

OVER = ('fault', 'done')
"""Phases that exploration never leaves."""

_GRACE = 0.3
"""Seconds until a robot that has just appeared can surely be heard."""


class StepLoop:
    """One step after the other, from answer to action, until it is paused or over.

    send: publishes ``[seq, action]``.
    call_home: calls the service ``return_home`` and hands the attempt's number back to
        ``on_home_response``; None to send RESET as an action like any other.
    first_seq: the time in nanoseconds.

    max_steps, deadline: limits after which exploration is done; 0 steps for no limit.
    """

    def __init__(
            self, exploration: Exploration, patience: Patience, first_seq: int,
            send: Callable[[int, int], None], call_home: Callable[[int], None] | None) -> None:
        self.exploration = exploration
        self.patience = patience
        self.running = False
        self.max_steps = 0
        self.deadline = math.inf
        self._refusal = ''
        self._client = StepClient(first_seq, patience)
        self._home = HomeClient(patience)
        self._send = send
        self._call_home = call_home
        self._pause_reason = ''
        self._other_robot = False

    @property
    def over(self) -> bool:
        """Whether exploration has ended for good."""
        return self.exploration.phase in OVER

    def resume(self, now: float) -> None:
        """Start, or go on with a RESET: the robot may have been used by others."""
        self._pause_reason = ''
        if self.running or self.over:
            return
        self.running = True
        self.exploration.resume()
        self._client.abandon()
        self._home.abandon()
        self._advance(now)

    def pause(self, reason: str) -> None:
        """Pause at once; the answer to the action under way still counts."""
        self.running = False
        self._pause_reason = ''
        self.exploration.pause(reason)

    def pause_after_step(self, reason: str) -> None:
        """Pause once the step under way is over, or at once if the robot does not answer."""
        if self.running and self.exploration.phase != 'waiting_for_robot':
            self._pause_reason = reason
        else:
            self.pause(reason)

    def on_state(self, seq: int, state: int, now: float) -> None:
        """Take a ``state`` message."""
        kind = self._client.receive(seq)
        if kind is Incoming.ANSWER:
            self._observe(state, now)
        elif kind is Incoming.REPORT and self._home.under_way:
            self._home_reached(self._home.report(state), now)
        elif kind is Incoming.REPORT:
            self._relocate(state, now)

    def on_home_response(self, attempt: int, success: bool, message: str, now: float) -> None:
        """Take a response of ``return_home``."""
        self._refusal = '' if success else f'return_home failed: {message}'
        self._home_reached(self._home.respond(attempt, success), now)

    def on_new_peer(self, now: float) -> None:
        """Somebody has joined ``action``, ``state`` or ``return_home``, perhaps a robot.

        It may have missed a RESET, which is sent again at once. Another action that stays
        unanswered is not sent again: a robot that has just been started may be anywhere.
        """
        self._other_robot = True
        under_way = self._client.under_way
        if self.running and under_way and under_way[1] == RESET:
            self.patience.hurry(now + _GRACE)
            self._send(*under_way)
        if self.running and self._home.under_way and self._call_home:
            self.patience.hurry(now + _GRACE)
            self._call_home(self._home.attempt)

    def tick(self, now: float) -> None:
        """Try again what is overdue and watch the limits; to be called now and then."""
        if not self.running:
            return
        again = self._client.overdue(now)
        if again:
            last_state = self.exploration.last_state
            if self._other_robot and again[1] != RESET and last_state is not None:
                self._client.abandon()
                self.exploration.relocate(last_state)
                self._advance(now)
            else:
                self._send(*again)
        elif self._home.overdue(now) and self._call_home:
            self._call_home(self._home.attempt)
        if self.patience.exhausted:
            self._without_robot(now)

    def _without_robot(self, now: float) -> None:
        if self._pause_reason:
            self.pause(self._pause_reason)
        elif not self._finish_at_limit(now):
            self.exploration.robot_lost(self._refusal or 'the robot does not answer')

    def _home_reached(self, state: int | None, now: float) -> None:
        if state is not None:
            self._observe(state, now)

    def _observe(self, state: int, now: float) -> None:
        if self.running:
            self.exploration.robot_answers()
        if not self.over:
            self.exploration.observe(state)
        self._advance(now)

    def _relocate(self, state: int, now: float) -> None:
        self._client.abandon()
        self._home.abandon()
        if self.running:
            self.exploration.robot_answers()
        if not self.over:
            self.exploration.relocate(state)
        self._advance(now)

    def _advance(self, now: float) -> None:
        """Start the next step unless there is a reason not to."""
        if not self.running:
            return
        if self._pause_reason:
            self.pause(self._pause_reason)
            return
        if self._finish_at_limit(now):
            return
        self._other_robot = False
        action = self.exploration.next_action()
        if action == RESET and self._call_home:
            self._call_home(self._home.start(now))
        else:
            self._send(*self._client.start(action, now))

    def _finish_at_limit(self, now: float) -> bool:
        """Whether exploration is over, because a limit has been reached or otherwise."""
        exploration = self.exploration
        if 0 < self.max_steps <= exploration.steps:
            exploration.finish(f'max_steps reached: {exploration.steps} steps')
        elif now >= self.deadline:
            exploration.finish('max_duration reached')
        elif not self.over:
            return False
        self.running = False
        return True
