# SPDX-License-Identifier: Apache-2.0

"""Learns while another node drives the robot; commands nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import NoDriver
from mnm_ros.core.task.step_task import StepTask
from mnm_ros.protocol.exchange import REPORT
from mnm_ros.protocol.loop import RobotLoop, StepLimits

_REMEMBERED = 10    # commands and answers: as many as the topics keep
_EARLY = 0.5        # s, that an answer may arrive before the command it answers


class AdvisoryLoop(RobotLoop):
    """
    Takes part in the exchange between a driver and the robot by listening.

    A step counts if the driver had the advised action executed in the very state that the
    advice was for: the answer has to carry the next ``seq`` after that of the last answer, so
    that nothing can have happened in between. Only RESET may come from an unknown state. After
    everything else the robot counts as relocated, and the advice is RESET. What is learnt from is
    thus distributed as if the explorer had driven, as long as the driver does not leave attempts
    unfinished because of how they go. Any other action that was executed right after the step
    before counts as work, also while the task is paused.

    :param task: what says the actions, and learns.
    :param limits: how long to wait, and when to stop.
    :param advise: publishes ``[seq, action]``: the advice after the ``state`` message with that
        seq.
    """

    def __init__(self, task: StepTask, limits: StepLimits,
                 advise: Callable[[int, int], None]) -> None:
        super().__init__(task, limits)
        self._advise = advise
        self._commands: dict[int, int] = {}    # action by seq, not answered yet
        self._early: tuple[int, int, float] | None = None    # seq, state, when
        self._answered: deque[int] = deque(maxlen=_REMEMBERED)
        self._last = REPORT    # seq of the last answer, unless the robot was moved after it
        self._place: int | None = None    # the state that it reported
        self._heard = 0.0

    def on_order(self, seq: int, action: int, now: float) -> None:
        """Take an ``action`` message of the driver."""
        if self._early and self._early[0] == seq:
            _, state, _ = self._early
            self._early = None
            self._answer(seq, action, state, now)
        elif seq not in self._answered:
            self._commands.setdefault(seq, action)    # the robot executes what comes first
            while len(self._commands) > _REMEMBERED:
                del self._commands[next(iter(self._commands))]

    def on_state(self, seq: int, state: int, now: float) -> None:
        """Take a ``state`` message; it may arrive before the command it answers."""
        if seq in self._answered or self._early and self._early[0] == seq:
            return
        self._settle(now)
        if seq == REPORT:
            self._moved(seq, state, now)
        elif seq in self._commands:
            self._answer(seq, self._commands.pop(seq), state, now)
        else:
            self._early = seq, state, now

    def on_graph_change(self, joined: bool, left: bool, now: float) -> None:
        """Record that a node has joined: it may be another robot, in another place."""
        if joined:
            self._commands.clear()
            self._early = self._place = None
        if joined and self.running:
            self._restart(now)

    def tick(self, now: float) -> None:
        if self._early and now >= self._early[2] + _EARLY:
            self._settle(now)
        if not self.running or self._finish_at_limit(now):
            return
        if now >= self._heard + self.timer.timeout * (self.timer.retries + 1):
            self._without_robot(NoDriver(), now)

    def _settle(self, now: float) -> None:
        """Learn only the place from an answer whose command has not been heard."""
        if self._early:
            seq, state, _ = self._early
            self._early = None
            self._moved(seq, state, now)

    def _answer(self, seq: int, action: int, state: int, now: float) -> None:
        if self.running and self._counts(seq, action):
            self._note(seq, state, now)
            self._observe(action, state, now)
            return
        if self._follows(seq):
            self._work(action, state)
        self._moved(seq, state, now)

    def _counts(self, seq: int, action: int) -> bool:
        """Return whether the advised action was executed in the state it was meant for."""
        if self.task.last_state is None:
            return action == RESET == self.task.next_action()
        return self._follows(seq) and action == self.task.next_action()

    def _follows(self, seq: int) -> bool:
        """Return whether nothing can have happened between the last answer and this order."""
        return seq == self._last + 1 and self._last != REPORT

    def _work(self, action: int, state: int | None) -> None:
        """Report to the task what the driver had executed; None if that was broken off."""
        if self._place is not None and action != RESET and not self.over:
            self.task.observe_work(self._place, action, state)

    def _moved(self, seq: int, state: int, now: float) -> None:
        if self._last != REPORT and self._last + 1 in self._commands:
            self._work(self._commands.pop(self._last + 1), None)
        self._note(seq, state, now)
        if self.running:
            self._relocate(state, now)

    def _note(self, seq: int, state: int, now: float) -> None:
        self._heard = now
        self._last, self._place = seq, state
        if seq == REPORT:
            self._commands.clear()
        else:
            self._answered.append(seq)

    def _play(self, action: int, now: float) -> None:
        self._advise(self._last, action)

    def _abandon(self) -> None:
        """Nothing is under way that was commanded here."""
