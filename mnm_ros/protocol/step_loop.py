"""Drives an exploration through the step protocol; no rclpy, time is passed in, in seconds."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import TYPE_CHECKING

from mnm_ros.core.problem import RESET
from mnm_ros.protocol.clients import REPORT, HomeClient, Incoming, RetryTimer, StepClient
from mnm_ros.protocol.step_task import StepTask

if TYPE_CHECKING:
    from mnm_ros.parameters import Parameters

FAULT = 'fault'

OVER = (FAULT, 'done')
"""Phases in which nothing is explored; only ``recover`` leads out of the first."""

_GRACE = 0.3
"""Seconds until a robot that has just appeared can surely be heard."""


class StepLoop:
    """One step after the other, from answer to action, until it is paused or over.

    send: publishes ``[seq, action]``.
    call_home: calls the service ``return_home`` and hands the attempt's number back to
        ``on_home_response``; None to send RESET as an action like any other.
    first_seq: the time in nanoseconds.

    before_step: called when the next step is about to begin, which planning may have held up.
    max_steps, deadline: limits after which exploration is done; 0 steps for no limit.
    reset_retries: times RESET is tried again after it has failed, before that is a fault.
    """

    def __init__(
            self, exploration: StepTask, patience: RetryTimer, first_seq: int,
            send: Callable[[int, int], None], call_home: Callable[[int], object] | None) -> None:
        self.exploration = exploration
        self.patience = patience
        self.running = False
        self.before_step: Callable[[], None] = lambda: None
        self.max_steps = 0
        self.deadline = math.inf
        self.reset_retries = 10
        self._refusal = ''
        self._refusals = 0
        self._objection = ''
        self._calls = 0    # of return_home for this way home, without a response
        self._arrived: int | None = None    # where this way home has ended, while there are some
        self._stray: set[int] = set()    # seqs given up before a call of return_home
        self._home_again = False
        self._client = StepClient(first_seq, patience)
        self._home = HomeClient(patience)
        self._send = send
        self._call_home = call_home
        self._pause_reason = ''
        self._joined = self._left = False    # others, since the last step began

    def adjust(self, given: Parameters) -> None:
        """Take the parameters of the node, which may have changed."""
        self.patience.timeout = given['step_timeout']
        self.patience.retries = given['step_retries']
        self.reset_retries = given['reset_retries']
        self.max_steps = given['max_steps']

    @property
    def over(self) -> bool:
        """Whether exploration has ended, for good or by a fault."""
        return self.exploration.phase in OVER

    @property
    def driving(self) -> bool:
        """Whether it commands the robot at present."""
        return self.running and not self._objection

    def resume(self, now: float) -> None:
        """Start, or go on with a RESET: the robot may have been used by others."""
        self._pause_reason = ''
        if self.running or self.over:
            return
        self.running = True
        self._refusals = 0
        self.exploration.resume()
        self._abandon()
        self._advance(now)

    def drive(self, exploration: StepTask) -> None:
        """Drive another exploration, once it is resumed; what is under way is not part of it."""
        self._abandon()
        self.exploration = exploration

    def recover(self, now: float) -> None:
        """Go on after a fault of the robot."""
        self.exploration.recover()
        self.resume(now)

    def fail(self, reason: str, now: float, recoverable: bool = True) -> None:
        """Stop because of a fault and order the robot home, once it answers."""
        self.running = False
        self.exploration.fail(reason, recoverable)
        self._abandon()
        self._begin(RESET, now)

    def yield_robot(self, reason: str, now: float) -> None:
        """Leave the robot alone because of ``reason`` until it is empty again."""
        if reason == self._objection:
            return
        before, self._objection = self._objection, reason
        if self.running and not before:
            self._abandon()
            self.exploration.lose_place()
        if self.running:
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
        if self.running and self._objection:
            return
        if seq in self._stray:
            self._stray.remove(seq)
            self._on_stray(now)
            return
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
        if attempt == self._home.attempt:
            self._calls = max(0, self._calls - 1)
        if success:
            self._refusals = 0
        elif self.running and self._home.under_way:
            self._refusals += 1
            if self._refusals > self.reset_retries:
                self.fail(f'return_home failed {self._refusals} times in a row: {message}', now)
                return
        if self._arrived is not None:
            self._home_reached(self._arrived, now)
        elif success and not self.over and not self._home.under_way:
            self._restart(now)    # one call too many has just led the robot home
        else:
            self._home_reached(self._home.respond(attempt, success), now)

    def answers_another(self, seq: int) -> bool:
        """Whether an answer is to an action that this loop has never sent."""
        return seq != REPORT and not self._client.sent(seq)

    def on_peers(self, joined: bool, left: bool, now: float) -> None:
        """Somebody, perhaps a robot, has joined or left ``action``, ``state`` or ``return_home``.

        Who has joined may have missed a RESET, which is sent again at once. Another action that
        stays unanswered is not sent again: a robot that has just been started may be anywhere.
        Nor is an answer gone on from when one may have taken the other's place meanwhile.
        """
        self._joined |= joined
        self._left |= left
        under_way = self._client.under_way
        if joined and self.running and under_way and under_way[1] == RESET:
            self.patience.hurry(now + _GRACE)
            self._send(*under_way)
        if joined and self.running and self._home.under_way and self._call_home:
            self.patience.hurry(now + _GRACE)
            self._call(self._home.attempt)

    def tick(self, now: float) -> None:
        """Try again what is overdue and watch the limits; to be called now and then."""
        if self.running and self._objection:
            self._finish_at_limit(now)
        elif self.running:
            self._try_again(now)
            if self.patience.exhausted:
                self._without_robot(self._refusal or 'the robot does not answer', now)
        elif self.exploration.phase == FAULT and not self.patience.exhausted:
            self._try_again(now)

    def _try_again(self, now: float) -> None:
        again = self._client.overdue(now)
        if again and self._joined and again[1] != RESET:
            self._restart(now)
        elif again:
            self._send(*again)
        elif self._home.overdue(now):
            self._calls = 0
            self._call(self._home.attempt)
        elif self._arrived is not None and self.patience.overdue(now):
            self._restart(now)

    def _without_robot(self, reason: str, now: float) -> None:
        if self._pause_reason:
            self.pause(self._pause_reason)
        elif not self._finish_at_limit(now):
            self.exploration.robot_lost(reason)

    def _home_reached(self, state: int | None, now: float) -> None:
        """Go on from home, once no call is left that may lead the robot home again."""
        self._arrived = state
        if state is None or self._calls:
            return
        self._arrived = None
        if self._home_again:
            self._restart(now)
        else:
            self._observe(state, now)

    def _on_stray(self, now: float) -> None:
        """An action that was given up has been executed after all.

        Calls of ``return_home`` may overtake it: it may have led away from home again.
        """
        if self._home.under_way or self._arrived is not None:
            self._home_again = True
        elif not self.over:
            self._restart(now)

    def _observe(self, state: int, now: float) -> None:
        if self.running:
            self.exploration.robot_answers()
        if not self.over:
            self.exploration.observe(state)
        misses = self.exploration.misses_in_a_row
        if self.running and misses > self.reset_retries:
            self.fail(f'RESET led to state {state} instead of home, state '
                      f'{self.exploration.home}, {misses} times in a row', now)
        self._advance(now)

    def _relocate(self, state: int, now: float) -> None:
        self._abandon()
        if self.running:
            self.exploration.robot_answers()
        if not self.over:
            self.exploration.relocate(state)
        self._advance(now)

    def _restart(self, now: float) -> None:
        """Give up what is under way and go on with a RESET: the robot may be anywhere."""
        self._abandon()
        self.exploration.lose_place()
        self._advance(now)

    def _abandon(self) -> None:
        under_way = self._client.under_way
        if under_way and self._call_home:
            self._stray.add(under_way[0])
        self._home_again = False
        self._arrived = None
        self._client.abandon()
        self._home.abandon()

    def _advance(self, now: float) -> None:
        """Start the next step unless there is a reason not to."""
        if not self.running:
            return
        if self._pause_reason:
            self.pause(self._pause_reason)
            return
        if self._finish_at_limit(now):
            return
        if self._objection:
            self.exploration.robot_lost(self._objection)
            return
        self.before_step()
        if self._joined and self._left:
            self.exploration.lose_place()
        self._joined = self._left = False
        self._begin(self.exploration.next_action(), now)

    def _begin(self, action: int, now: float) -> None:
        if action == RESET and self._call_home:
            self._calls = 0
            self._call(self._home.start(now))
        else:
            self._send(*self._client.start(action, now))

    def _call(self, attempt: int) -> None:
        if self._call_home and self._call_home(attempt):
            self._calls += 1

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
