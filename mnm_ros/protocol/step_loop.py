# SPDX-License-Identifier: Apache-2.0

"""Commands a robot, or several, through the step protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import HomeFailed, Reason, RobotSilent
from mnm_ros.core.task.step_task import OVER, RunState, StepTask
from mnm_ros.protocol.exchange import AnswerTimes, REPORT, SequenceNumbers, StepClient
from mnm_ros.protocol.loop import Loop, RobotLoop, StepLimits
from mnm_ros.protocol.return_home import HomeProgress, ReturnHome

_GRACE = 0.3
"""Seconds until a robot that has just appeared, or a report on its way, is heard for sure."""


class StepLoop(RobotLoop):
    """
    Plays the actions of a task on a robot, from answer to action.

    :param task: what says the actions.
    :param limits: how long to wait, and when to stop.
    :param numbers: of the actions; another loop of the same sender may use them, too.
    :param send: publishes ``[seq, action]``.
    :param call_home: calls the service ``return_home`` and hands the attempt's number back to
        ``on_home_response``; None to send RESET as an action like any other.
    :param clock: by which ``seconds`` are measured; None for that of all times passed in.
    """

    def __init__(
            self, task: StepTask, limits: StepLimits, numbers: SequenceNumbers,
            send: Callable[[int, int], None], call_home: Callable[[int], object] | None,
            clock: Callable[[], float] | None = None) -> None:
        super().__init__(task, limits)
        self._client = StepClient(numbers, self.timer)
        self._return_home = ReturnHome(call_home, self.timer) if call_home else None
        self._answers = AnswerTimes(clock)
        self._send = send
        self._yield_reason: Reason = ''
        self._lend_reason: Reason = ''
        self._paused_by: Reason = ''
        self._joined = self._left = False    # others, since the last step began

    @property
    def driving(self) -> bool:
        """Whether it commands the robot at present."""
        return self.running and not (self._yield_reason or self._lend_reason)

    @property
    def seconds(self) -> Mapping[int, float]:
        return self._answers.seconds

    @property
    def under_way(self) -> bool:
        """Whether a command has not been answered yet; a call of ``return_home`` is none."""
        return self._client.under_way is not None

    @property
    def last_command(self) -> int | None:
        """
        Return the number of the last command if the robot is at rest since its answer.

        0 if there was no command, and None while the loop commands the robot, or waits
        for an answer no longer.
        """
        going_home = self._return_home is not None and self._return_home.under_way
        return None if self.running or going_home else self._client.last_command

    def unanswered(self, now: float) -> float:
        """Return for how many s the robot has owed an answer, if it usually takes half of it."""
        return self._answers.unanswered(now, self.timer.timeout) if self.driving else 0.0

    def resume(self, now: float) -> None:
        if self._return_home and not self.running:
            self._return_home.refusals = 0
        super().resume(now)

    def yield_robot(self, reason: Reason, now: float) -> None:
        """Leave the robot to others because of ``reason``, until that is empty again."""
        if reason == self._yield_reason:
            return
        before, self._yield_reason = self._yield_reason, reason
        if self.running and not before:
            self._abandon()
            self.task.lose_place()
        self._advance(now)

    def lend_robot(self, reason: Reason, now: float) -> None:
        """
        Let goals have the robot because of ``reason``, between two steps, until that is empty.

        The task is paused meanwhile, and goes on with a RESET.
        """
        before, self._lend_reason = self._lend_reason, reason
        if reason:
            self.task.pause(reason)
            self.task.explain(reason)
        elif before and self.running:
            self.task.resume()
            self._advance(now)
        elif before and self.task.state is RunState.FAULT:
            self._play(RESET, now)
        elif before and self.resting:
            self._go_on_with_reset(now)    # to rest at home again
        elif before and self.task.state is RunState.PAUSED:
            self.task.explain(self._paused_by)

    @property
    def idle(self) -> bool:
        """Whether no command is open, and none follows by itself."""
        return not (self.running or self.under_way
                    or self._return_home is not None and self._return_home.under_way)

    def pause(self, reason: Reason) -> None:
        super().pause(reason)
        self._paused_by = reason

    def fail(self, reason: Reason, now: float, recoverable: bool = True) -> None:
        if self._lend_reason:    # the way home has to wait until the goal is over
            self.running = self._resumed = False
            self.task.fail(reason, recoverable)
        else:
            super().fail(reason, now, recoverable)

    def pause_after_step(self, reason: Reason) -> None:
        if self._lend_reason:    # there is no step under way
            self.pause(reason)
        else:
            super().pause_after_step(reason)

    def on_state(self, seq: int, state: int, now: float) -> None:
        if self.running and (self._yield_reason or self._lend_reason):
            return
        executed = self._return_home.executed(seq) if self._return_home else None
        if executed:
            self._act_on(executed, now)
            return
        action = self._client.receive(seq)
        if action is not None:
            self._answers.end(now)
            self._observe(action, state, now)
        elif seq == REPORT and self._return_home and self._return_home.under_way:
            self._act_on(self._return_home.report(state), now)
        elif seq == REPORT:
            self._relocate(state, now)

    def on_home_response(self, attempt: int, success: bool, message: str, now: float) -> None:
        """Take a response of ``return_home``."""
        if self._return_home is None:
            return
        progress = self._return_home.respond(attempt, success, message)
        refusals = self._return_home.refusals
        if self.running and refusals > self._limits.reset_retries:
            self.fail(HomeFailed(refusals, message), now)
        else:
            if success and self._return_home.unsure:
                self.timer.hurry(now + _GRACE)
            self._act_on(progress, now)

    def on_graph_change(self, joined: bool, left: bool, now: float) -> None:
        """
        Record that a node, perhaps a robot, has joined or left the topics or services.

        A robot that has just joined may have missed a RESET, so RESET is sent again at once. If
        it carries that out, it does not begin where the other robot was: that place is forgotten.
        Another action that stays unanswered is not sent again, as a robot that has just been
        started may be anywhere. For the same reason, when one has left and another has joined
        during a step, the next step is a RESET, even if the step was answered.
        """
        self._joined |= joined
        self._left |= left
        if not joined or not self.running:
            return
        under_way = self._client.under_way
        by_service = self._return_home is not None and self._return_home.under_way
        if not by_service and (under_way is None or under_way[1] != RESET):
            return
        if self.task.last_state is not None:
            self.task.lose_place()
        self.timer.hurry(now + _GRACE)
        if under_way:
            self._send(*under_way)
        elif self._return_home:
            self._return_home.call_again()

    def tick(self, now: float) -> None:
        """Try again what is overdue and watch the limits; to be called now and then."""
        if self.running and (self._yield_reason or self._lend_reason):
            self._finish_at_limit(now)
        elif self.running:
            self._try_again(now)
            if self.timer.exhausted:
                refusal = self._return_home.refusal if self._return_home else ''
                self._without_robot(refusal or RobotSilent(), now)
        elif self.task.state is RunState.FAULT and not self.timer.exhausted:
            self._try_again(now)

    def _try_again(self, now: float) -> None:
        again = self._client.overdue(now)
        if again and self._joined and again[1] != RESET:
            self._restart(now)
        elif again:
            self._send(*again)
        elif self._return_home:
            self._act_on(self._return_home.try_again(now), now)

    def _act_on(self, progress: HomeProgress, now: float) -> None:
        """Do what the way home asks for."""
        if self._return_home and progress is HomeProgress.ARRIVED:
            self._answers.end(now)
            self._observe(RESET, self._return_home.state, now)
        elif progress is HomeProgress.LOST and not self.over:
            self._restart(now)

    def _abandon(self) -> None:
        if self._return_home:
            under_way = self._client.under_way
            self._return_home.abandon(under_way[0] if under_way else None)
        self._client.abandon()
        self._answers.end(None)

    def _next_step(self, now: float) -> None:
        if self._yield_reason:
            self.task.robot_lost(self._yield_reason)
            return
        if self._lend_reason:
            self.task.pause(self._lend_reason)
            return
        turn = self._turn
        self.before_step()
        if turn != self._turn or self._yield_reason or self._lend_reason:    # since then
            return
        if self._joined and self._left:
            self.task.lose_place()
        self._joined = self._left = False
        self._play(self.task.next_action(), now)

    def _play(self, action: int, now: float) -> None:
        self._answers.ask(action, now)
        if action == RESET and self._return_home:
            self._return_home.start(now)
        else:
            self._send(*self._client.start(action, now))


class FleetLoop(Loop):
    """
    Makes the steps of several robots that explore together.

    :param loops: one for each robot.
    :param drive: has the robots explore something else.
    """

    def __init__(self, exploration: Exploration, loops: Sequence[StepLoop],
                 drive: Callable[[Exploration], None]) -> None:
        self._exploration = exploration
        self._loops = loops
        self._drive = drive

    @property
    def running(self) -> bool:
        return any(loop.running for loop in self._loops)

    @property
    def over(self) -> bool:
        return self._exploration.state in OVER

    @property
    def reason_to_wait(self) -> Callable[[], Reason]:
        return self._loops[0].reason_to_wait

    @reason_to_wait.setter
    def reason_to_wait(self, reason_to_wait: Callable[[], Reason]) -> None:
        for loop in self._loops:
            loop.reason_to_wait = reason_to_wait

    @property
    def seconds(self) -> Mapping[int, float]:
        """Return the mean time of each action of one robot, over all of them."""
        found: dict[int, list[float]] = {}
        for loop in self._loops:
            for action, seconds in loop.seconds.items():
                found.setdefault(action, []).append(seconds)
        return {action: mean(seconds) for action, seconds in found.items()}

    @property
    def timeouts(self) -> int:
        return sum(loop.timeouts for loop in self._loops)

    def drive(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._drive(exploration)

    def resume(self, now: float) -> None:
        self._exploration.resume()
        for loop in self._loops:
            loop.resume(now)

    def pause(self, reason: Reason) -> None:
        for loop in self._loops:
            loop.pause(reason)
        self._exploration.pause(reason)

    def pause_after_step(self, reason: Reason) -> None:
        for loop in self._loops:
            loop.pause_after_step(reason)

    def fail(self, reason: Reason, now: float, recoverable: bool = True) -> None:
        for loop in self._loops:
            loop.fail(reason, now, recoverable)
        self._exploration.fail(reason, recoverable)

    def recover(self, now: float) -> None:
        self._exploration.recover()
        for loop in self._loops:
            loop.recover(now)

    def finish(self, reason: Reason) -> None:
        """End for good: a limit is reached."""
        for loop in self._loops:
            loop.running = False
            loop.task.finish(reason)
        self._exploration.finish(reason)
