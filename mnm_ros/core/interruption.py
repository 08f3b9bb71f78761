# SPDX-License-Identifier: Apache-2.0

"""What an explorer says on ``interruption``, so that a bag can be replayed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from mnm_ros.core.exploration import Input


class Break(Enum):
    """What has come between two steps; the values are those on the wire."""

    BEGUN = 0    # the exploration begins here, or goes on, perhaps from before its last steps
    RELOCATED = Input.RELOCATED.value
    INTERRUPTED = Input.INTERRUPTED.value
    OVER = 3     # nothing counts any more, until there is another interruption


class Interruption(NamedTuple):
    """
    What came between two steps of an exploration.

    :ivar steps: that counted before.
    :ivar state: to which the robot was moved; for ``BEGUN`` the inputs since the last step, the
        one with which it goes on included; 0 for the others.
    :ivar action: as in ``Taken``; RESET where nothing was taken.
    :ivar seq: number of the first order that may count after it.
    """

    steps: int
    kind: Break
    state: int
    action: int
    seq: int

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Interruption:
        """
        Return what was written as five numbers.

        :raises ValueError: if they are none.
        """
        if len(numbers) != 5 or not 0 <= numbers[1] <= 3 or numbers[0] < 0:
            raise ValueError(f'interruption is {list(numbers)}, expected [steps, kind, state, '
                             'action, seq] with a kind of 0 to 3')
        steps, kind, state, action, seq = map(int, numbers)
        return cls(steps, Break(kind), state, action, seq)

    def numbers(self) -> tuple[int, ...]:
        """Return it as five numbers."""
        return self.steps, self.kind.value, self.state, self.action, self.seq
