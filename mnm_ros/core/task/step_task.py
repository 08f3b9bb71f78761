# SPDX-License-Identifier: Apache-2.0

"""The tasks of the step protocol: an exploration, a robot of a fleet, or the way to one state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import ClassVar

from mnm_ros.core.model.integers import as_state
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import as_said, Because, Idle, Reason
from transitions import Machine


class RunState(Enum):
    """Whether a task is under way, and what keeps it from going on."""

    WAITING_FOR_ROBOT = 'waiting_for_robot'
    RUNNING = 'running'
    PAUSED = 'paused'
    FAULT = 'fault'
    DONE = 'done'


OVER = (RunState.FAULT, RunState.DONE)
"""States in which nothing more is executed; only ``recover`` leads out of a fault."""


class Homing:
    """
    Confirms that RESET has led home, and counts the times when it has not.

    Home is the state in which the first RESET ends. A later RESET that ends elsewhere has
    missed home: it is no step of the algorithm, and RESET is executed again.

    :param home: the home state; None to learn it from the first RESET.
    :ivar home: the home state; None until it is known.
    :ivar misses: how often RESET has missed home, in all.
    :ivar misses_in_a_row: how often it has done so since a step last went as it should.
    """

    def __init__(self, home: int | None = None) -> None:
        self.home = home
        self.misses = 0
        self.misses_in_a_row = 0

    def missed(self, action: int, state: int) -> bool:
        """Record a step; return whether it was a RESET that has missed home."""
        if action == RESET and self.home is None:
            self.home = state
        if action != RESET or state == self.home:
            self.misses_in_a_row = 0
            return False
        self.misses += 1
        self.misses_in_a_row += 1
        return True


class StepTask(ABC):
    """
    Chooses the next action, and receives the state in which the last one ended.

    What comes of that is returned, if it is of use to anything but the task.

    :ivar state: whether it is under way.
    :ivar steps: how many steps count so far.
    :ivar homing: what RESET has to lead to.
    :ivar last_state: where the robot was last seen; None if it may be anywhere.
    """

    state: RunState
    steps: int
    homing: Homing
    last_state: int | None

    @abstractmethod
    def next_action(self) -> int:
        """Return the action to play; the same until ``observe`` is called."""

    @abstractmethod
    def observe(self, action: int, state: int) -> object:
        """Record that ``action``, which was ``next_action``, has led to ``state``."""

    @abstractmethod
    def relocate(self, state: int) -> object:
        """Record that the robot was moved to ``state``: the next action is RESET."""

    @abstractmethod
    def lose_place(self) -> object:
        """Record that the robot may be anywhere: the next action is RESET."""

    def observe_work(self, state: int, action: int, after: int | None) -> object:
        """
        Record an execution that another program has commanded; optional.

        :param after: where it has led; None if it was broken off.
        """

    @abstractmethod
    def pause(self, reason: Reason) -> None:
        """Stop between two steps."""

    @abstractmethod
    def robot_lost(self, reason: Reason) -> None:
        """Record that the robot does not answer."""

    @abstractmethod
    def fail(self, reason: Reason, recoverable: bool = True) -> None:
        """Stop because of a fault; ``recoverable`` if it is the robot's."""

    @abstractmethod
    def finish(self, reason: Reason) -> None:
        """Stop because a limit has been reached."""

    def robot_answers(self) -> None:
        """Record that the robot answers (again)."""

    def explain(self, reason: Reason) -> None:
        """Say why it goes home, or is paused, which may be for another reason than it began."""

    def resume(self) -> None:
        """Go on after ``pause``."""

    def recover(self) -> None:
        """Go on after a fault of the robot."""


def play(task: StepTask, robot: Callable[[int], int], steps: int) -> None:
    """
    Play steps of a task, in place of the step protocol.

    :param task: what says the actions, and learns.
    :param robot: executes an action, RESET (-1) among them, and returns the state it ended in.
    :param steps: how many.
    :raises InvalidTypeError: if the robot returns no integer.
    :raises InvalidValueError: if it has more than 64 bits.
    """
    for _ in range(steps):
        action = task.next_action()
        task.observe(action, as_state(
            robot(action), f'what the robot returned after action {action}'))


Table = Sequence[tuple[str, Enum, Enum]]
"""Rows of (trigger, source, destination)."""


def machine_of(table: Table) -> Machine:
    """Return the machine of a class of objects, whose ``state`` moves along a table."""
    machine = Machine(
        model=None, states=type(table[0][1]), initial=None, auto_transitions=False)
    for trigger, source, destination in table:
        machine.add_transition(trigger, source, destination)
    return machine


class PhaseMachine:
    """
    An object whose ``state`` moves along the table of its class and no other way.

    All objects of the class share the machine, so that each holds nothing but its state.
    """

    _machine: ClassVar[Machine]
    state: Enum

    def trigger(self, name: str) -> None:
        """
        Move on.

        :raises transitions.MachineError: if the table does not allow that in the present state;
            nothing changes.
        """
        self._machine.events[name].trigger(self)


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


class PausableTask(PhaseMachine, StepTask):
    """
    A task of one robot that can be paused, and that outlives a fault.

    :ivar recoverable: whether a fault is the robot's, so that ``recover`` leads back.
    :ivar reason: why it does not go on, and what it does meanwhile; empty while it goes on.
    :ivar why: the reason alone, the argument of ``pause`` and its like.
    """

    _machine = machine_of(RUN_TRANSITIONS)
    state: RunState = RunState.WAITING_FOR_ROBOT
    recoverable = True
    reason: Reason = ''
    why: Reason = ''

    def pause(self, reason: Reason) -> None:
        """Stop between two steps; nothing is lost. No effect unless under way or waiting."""
        if self.state in (RunState.WAITING_FOR_ROBOT, RunState.RUNNING):
            self._move('pause', 'paused', reason)

    def explain(self, reason: Reason) -> None:
        if self.state is RunState.PAUSED:
            self._say('paused', reason)
        elif self.state is RunState.RUNNING:
            self._say('going home' if reason else '', reason)

    def resume(self) -> None:
        """Go on after ``pause``; the robot may be anywhere by now, so with a RESET."""
        if self.state is RunState.PAUSED:
            self._move('resume', 'resumed, waiting for the robot')
            self.lose_place()

    def robot_lost(self, reason: Reason) -> None:
        """Hear that the robot does not answer: nothing is learnt until it does."""
        if self.state is RunState.RUNNING:
            self.trigger('robot_lost')
        if self.state is RunState.WAITING_FOR_ROBOT:
            self._say('waiting for the robot', reason)

    def robot_answers(self) -> None:
        if self.state is RunState.WAITING_FOR_ROBOT:
            self._move('robot_answered', '')

    def fail(self, reason: Reason, recoverable: bool = True) -> None:
        """Stop because of a fault; what was learnt stays published."""
        if self.state not in OVER:
            self.recoverable = recoverable
            self._move('fail', 'fault', reason)

    def recover(self) -> None:
        """Go on with a RESET after a fault; no effect if the fault is the exploration's own."""
        if self.state is RunState.FAULT and self.recoverable:
            self._move('recover', 'recovered, waiting for the robot')
            self.homing.misses_in_a_row = 0
            self.lose_place()

    def finish(self, reason: Reason) -> None:
        """Stop for good; what was learnt stays published."""
        if self.state not in OVER:
            self._move('finish', 'done', reason)

    def _move(self, trigger: str, what: str, why: Reason = '') -> None:
        self.trigger(trigger)
        self._say(what, why)

    def _say(self, what: str, why: Reason) -> None:
        self.why = why
        said = as_said(why)
        self.reason = Because(what, said) if said else Idle(what) if what else ''
