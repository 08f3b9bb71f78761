# SPDX-License-Identifier: Apache-2.0

"""The robot's side of the step protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Order(Enum):
    """What the robot has to do about an ``action`` message."""

    EXECUTE = 'execute'
    REPEAT = 'repeat'      # send the stored answer again
    WAIT = 'wait'          # it is being executed, or comes next


@dataclass
class StepServer:
    """
    The robot's side: executes each action once and remembers its last answer.

    An action that arrives while another is being executed waits; a later one takes its place.
    """

    last: int | None = None            # the seq executed last, or being executed
    answer: int | None = None          # the state it led to; None while it is being executed
    waiting: tuple[int, int] | None = None

    @property
    def executing(self) -> bool:
        """Whether an action is being executed."""
        return self.last is not None and self.answer is None

    def receive(self, seq: int, action: int) -> Order:
        """Decide about ``[seq, action]``; EXECUTE means it is being executed from now on."""
        if self.executing:
            if seq != self.last:
                self.waiting = (seq, action)
            return Order.WAIT
        if seq == self.last:
            return Order.REPEAT
        self.last, self.answer = seq, None
        return Order.EXECUTE

    def done(self, state: int) -> tuple[int, int]:
        """Store and return the answer ``(seq, state)`` to the action being executed."""
        if self.last is None or not self.executing:
            raise RuntimeError('no action is being executed')
        self.answer = state
        return self.last, state

    def stored(self) -> tuple[int, int]:
        """Return the last answer again."""
        if self.last is None or self.answer is None:
            raise RuntimeError('no action has been executed yet')
        return self.last, self.answer

    def next_waiting(self) -> tuple[int, int] | None:
        """Take the message that came while the last action was being executed."""
        waiting, self.waiting = self.waiting, None
        return waiting
