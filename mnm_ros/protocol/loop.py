# SPDX-License-Identifier: Apache-2.0

"""
The loop that makes the steps of robots, and how it is paused.

Commanding a robot and advising a driver have pauses, limits and faults in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
import math

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import HomeMissed, MaxDuration, MaxSteps, Reason
from mnm_ros.core.task.step_task import OVER, RunState, StepTask
from mnm_ros.protocol.exchange import RetryTimer


@dataclass(frozen=True)
class StepLimits:
    """
    How long to wait, and when to stop.

    :ivar timeout: seconds before an action is sent again.
    :ivar retries: times it is sent again before the robot counts as not answering.
    :ivar reset_retries: times RESET is tried again, in a row, before that is a fault.
    :ivar max_steps: steps after which the task is done; 0 for no limit.
    :ivar deadline: time in seconds after which the task is done.
    """

    timeout: float
    retries: int
    reset_retries: int = 10
    max_steps: int = 0
    deadline: float = math.inf


class Loop(ABC):
    """
    Makes the steps of a robot, or of several, until it is paused or over.

    :ivar reason_to_wait: returns why the next step has to wait until ``resume``; empty if it
        need not.
    """

    reason_to_wait: Callable[[], Reason]

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether it is to go on."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether it has ended, for good or by a fault."""

    @property
    @abstractmethod
    def seconds(self) -> Mapping[int, float]:
        """Return the mean time of each action, RESET included, as far as it is measured."""

    @property
    @abstractmethod
    def timeouts(self) -> int:
        """How often something had to be sent to a robot again."""

    @abstractmethod
    def drive(self, exploration: Exploration) -> None:
        """Explore something else from ``resume`` on; a step under way is no part of it."""

    @abstractmethod
    def resume(self, now: float) -> None:
        """Begin, or go on with a RESET: another node may have moved a robot."""

    @abstractmethod
    def pause(self, reason: Reason) -> None:
        """Pause at once; the answer to an action under way still counts."""

    @abstractmethod
    def pause_after_step(self, reason: Reason) -> None:
        """Pause once a step under way is over, or at once where no robot answers."""

    @abstractmethod
    def fail(self, reason: Reason, now: float, recoverable: bool = True) -> None:
        """Stop because of a fault, and have the robots go home once they answer."""

    @abstractmethod
    def recover(self, now: float) -> None:
        """Go on after a fault of a robot."""


class RobotLoop(Loop):
    """
    Makes one step of a task after the other on one robot.

    A pause by ``pause`` lasts until ``resume``. The robot rests by ``rest`` whatever was called
    before, and that alone ends the rest: neither of the two ends the other.

    :param task: what says the actions and learns from the states.
    :param limits: how long to wait, and when to stop.
    :ivar timer: with which the robot is waited for.
    :ivar aside: called for each step with what may take long, and with a callback for after it,
        which receives the seconds that it has taken. It may return at once, but nothing of the
        loop may be called until the first of the two is done.
    :ivar before_step: called when the next step is about to begin, which planning may have held
        up.
    """

    running = False

    def __init__(self, task: StepTask, limits: StepLimits) -> None:
        self.task = task
        self.timer = RetryTimer(limits.timeout, limits.retries)
        self.before_step: Callable[[], None] = lambda: None
        self.reason_to_wait: Callable[[], Reason] = lambda: ''
        self.aside: Callable[[Callable[[], object], Callable[[float], None]], None] = _in_turn
        self._turn = 0    # counts what was observed or begun
        self._pause_reason: Reason = ''    # why it will pause after the step under way
        self._rest_reason: Reason = ''    # why the robot is to be at home
        self._resumed = False      # whether resume was called since pause
        self._limits = limits

    def adjust(self, limits: StepLimits) -> None:
        """Take other limits; they hold for the step under way, too."""
        self._limits = limits
        self.timer.timeout, self.timer.retries = limits.timeout, limits.retries

    @property
    def over(self) -> bool:
        return self.task.state in OVER

    @property
    def resting(self) -> Reason:
        """Why the robot goes home to rest, or rests, and would go on by itself; else nothing."""
        return self._rest_reason if self._resumed and not self.over else ''

    @property
    def seconds(self) -> Mapping[int, float]:
        return {}

    @property
    def timeouts(self) -> int:
        return self.timer.timeouts

    def drive(self, task: StepTask) -> None:
        self._abandon()
        self.task = task

    def resume(self, now: float) -> None:
        """Begin, or go on; if the robot is to rest it goes home, unless it rests already."""
        self._pause_reason = ''
        resting, self._resumed = self.resting, True
        if self.running or self.over or resting:
            return
        self._go_on_with_reset(now)

    def _go_on_with_reset(self, now: float) -> None:
        self.running = True
        self.task.resume()
        self._abandon()
        self._advance(now)

    def pause(self, reason: Reason) -> None:
        resting, self._resumed = self.resting, False
        self.running = False
        self._pause_reason = ''
        self.task.pause(reason)
        if resting:
            self.task.explain(reason)

    def pause_after_step(self, reason: Reason) -> None:
        if self.running and self.task.state is not RunState.WAITING_FOR_ROBOT:
            self._pause_reason = reason
        else:
            self.pause(reason)

    def rest(self, reason: Reason, now: float) -> None:
        """
        Have the robot go home after the step under way, and rest there.

        :param reason: why; empty to go on, unless there was a pause.
        """
        if reason == self._rest_reason:
            return
        self._rest_reason = reason
        if self.running and not reason:
            self.task.explain('')
        elif reason and self.resting:
            self.task.explain(reason)
        elif self._resumed and not self.running and not self.over:
            self._go_on_with_reset(now)

    def fail(self, reason: Reason, now: float, recoverable: bool = True) -> None:
        self.running = self._resumed = False
        self.task.fail(reason, recoverable)
        self._abandon()
        self._play(RESET, now)

    def recover(self, now: float) -> None:
        self.task.recover()
        self.resume(now)

    @abstractmethod
    def on_state(self, seq: int, state: int, now: float) -> None:
        """Take a ``state`` message."""

    @abstractmethod
    def on_graph_change(self, joined: bool, left: bool, now: float) -> None:
        """Record that a node, perhaps a robot, has joined or left the topics."""

    @abstractmethod
    def tick(self, now: float) -> None:
        """Watch times and limits; to be called now and then."""

    @abstractmethod
    def _play(self, action: int, now: float) -> None:
        """Command or advise an action."""

    @abstractmethod
    def _abandon(self) -> None:
        """Forget what is under way; whatever is heard of it does not count."""

    def _observe(self, action: int, state: int, now: float) -> None:
        """
        Report to the task where an action has led, and go on; the last thing that a callback does.

        The task may plan while it observes, which may take long: ``aside`` may use a thread.
        """
        self._turn += 1
        if not self.over:
            self.aside(partial(self.task.observe, action, state),
                       partial(self._go_on, self._turn, action, state, now))

    def _go_on(self, turn: int, action: int, state: int, now: float, seconds: float) -> None:
        """
        Begin the next step, unless RESET has led to ``state`` once too often.

        :param turn: in which the action was observed; what was called since may have begun a step.
        :param seconds: that it took to observe it, since ``now``.
        """
        if turn != self._turn:
            return
        now += seconds
        homing = self.task.homing
        misses = homing.misses_in_a_row
        if misses > self._limits.reset_retries and self.running and not self.over:
            assert homing.home is not None
            self.fail(HomeMissed(state, homing.home, misses), now)
        self._advance(now, action == RESET and not misses)

    def _relocate(self, state: int, now: float) -> None:
        """Report to the task that the robot was moved, and go on."""
        self._abandon()
        if self.running:
            self.task.robot_answers()
        if not self.over:
            self.task.relocate(state)
        self._advance(now)

    def _restart(self, now: float) -> None:
        """Give up what is under way and go on with a RESET: the robot may be anywhere."""
        self._abandon()
        self.task.lose_place()
        self._advance(now)

    def _advance(self, now: float, at_home: bool = False) -> None:
        """
        Begin the next step unless there is a reason not to.

        :param at_home: whether a RESET has just ended at home.
        """
        self._turn += 1
        if not self.running:
            return
        if self._pause_reason:
            self.pause(self._pause_reason)
        elif not self._finish_at_limit(now):
            if self._rest_reason:
                self._go_to_rest(now, at_home)
                return
            reason_to_wait = self.reason_to_wait()
            if reason_to_wait:
                self.pause(reason_to_wait)
            else:
                self._next_step(now)

    def _go_to_rest(self, now: float, at_home: bool) -> None:
        if at_home:
            self.running = False
            self.task.pause(self._rest_reason)
            return
        if self.task.last_state is not None:
            self.task.lose_place()    # so that RESET is next
        self.task.explain(self._rest_reason)
        self._next_step(now)

    def _next_step(self, now: float) -> None:
        self.before_step()
        self._play(self.task.next_action(), now)

    def _without_robot(self, reason: Reason, now: float) -> None:
        """Stop or wait, as no robot answers."""
        if self._pause_reason:
            self.pause(self._pause_reason)
        elif not self._finish_at_limit(now):
            self.task.robot_lost(reason)

    def _finish_at_limit(self, now: float) -> bool:
        """Return whether the task is over, because a limit has been reached or otherwise."""
        if 0 < self._limits.max_steps <= self.task.steps:
            self.task.finish(MaxSteps(self.task.steps))
        elif now >= self._limits.deadline:
            self.task.finish(MaxDuration())
        elif not self.over:
            return False
        self.running = False
        return True


def _in_turn(first: Callable[[], object], then: Callable[[float], None]) -> None:
    first()
    then(0.0)
