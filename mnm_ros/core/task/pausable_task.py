# SPDX-License-Identifier: Apache-2.0

"""What begins, pauses, waits for its robot, and ends: state machines, each of one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from mnm_ros.core.task.step_task import OVER, RunState, StepTask
from transitions import Machine

Table = Sequence[tuple[str, Enum, Enum]]
"""Rows of (trigger, source, destination)."""


class Phased:
    """
    An object whose ``state`` moves along a table of transitions and no other way.

    A trigger that the table does not allow in the present state raises
    ``transitions.MachineError`` and changes nothing.
    """

    state: Enum
    trigger: Callable[[str], bool]

    def _start_machine(self, table: Table, initial: Enum) -> None:
        machine = Machine(
            model=self, states=type(initial), initial=initial, auto_transitions=False)
        for trigger, source, destination in table:
            machine.add_transition(trigger, source, destination)


def diagram(table: Table, initial: Enum) -> str:
    """Return the table as a Mermaid state diagram."""
    rows = [f'    {source.name} --> {destination.name}: {trigger}'
            for trigger, source, destination in table]
    return '\n'.join(['stateDiagram-v2', f'    [*] --> {initial.name}', *rows])


RUN_TRANSITIONS = (
    ('robot_answered', RunState.WAITING_FOR_ROBOT, RunState.RUNNING),
    ('robot_lost', RunState.RUNNING, RunState.WAITING_FOR_ROBOT),
    ('pause', RunState.WAITING_FOR_ROBOT, RunState.PAUSED),
    ('pause', RunState.RUNNING, RunState.PAUSED),
    ('resume', RunState.PAUSED, RunState.WAITING_FOR_ROBOT),
    ('fail', RunState.WAITING_FOR_ROBOT, RunState.FAULT),
    ('fail', RunState.RUNNING, RunState.FAULT),
    ('fail', RunState.PAUSED, RunState.FAULT),
    ('recover', RunState.FAULT, RunState.WAITING_FOR_ROBOT),
    ('finish', RunState.WAITING_FOR_ROBOT, RunState.DONE),
    ('finish', RunState.RUNNING, RunState.DONE),
    ('finish', RunState.PAUSED, RunState.DONE),
)


class PausableTask(Phased, StepTask):
    """
    A task of one robot that can be paused, and that outlives a fault.

    :ivar recoverable: whether a fault is the robot's, so that ``recover`` leads back.
    :ivar reason: why it does not go on; empty while it does.
    """

    state: RunState
    recoverable = True
    reason = ''

    def _start_task(self) -> None:
        self._start_machine(RUN_TRANSITIONS, RunState.WAITING_FOR_ROBOT)

    def pause(self, reason: str) -> None:
        """Stop between two steps; nothing is lost. No effect unless under way or waiting."""
        if self.state in (RunState.WAITING_FOR_ROBOT, RunState.RUNNING):
            self._stop('pause', f'paused: {reason}')

    def resume(self) -> None:
        """Go on after ``pause``; the robot may be anywhere by now, so with a RESET."""
        if self.state is RunState.PAUSED:
            self._stop('resume', 'resumed, waiting for the robot')
            self.lose_place()

    def robot_lost(self, reason: str) -> None:
        """Hear that the robot does not answer: nothing is learnt until it does."""
        if self.state is RunState.RUNNING:
            self.trigger('robot_lost')
        if self.state is RunState.WAITING_FOR_ROBOT:
            self.reason = f'waiting for the robot: {reason}'

    def robot_answers(self) -> None:
        if self.state is RunState.WAITING_FOR_ROBOT:
            self._stop('robot_answered', '')

    def fail(self, reason: str, recoverable: bool = True) -> None:
        """Stop because of a fault; what was learnt stays published."""
        if self.state not in OVER:
            self.recoverable = recoverable
            self._stop('fail', f'fault: {reason}')

    def recover(self) -> None:
        """Go on with a RESET after a fault; no effect if the fault is the exploration's own."""
        if self.state is RunState.FAULT and self.recoverable:
            self._stop('recover', 'recovered, waiting for the robot')
            self.homing.misses_in_a_row = 0
            self.lose_place()

    def finish(self, reason: str) -> None:
        """Stop for good; what was learnt stays published."""
        if self.state not in OVER:
            self._stop('finish', f'done: {reason}')

    def _stop(self, trigger: str, reason: str) -> None:
        self.trigger(trigger)
        self.reason = reason
