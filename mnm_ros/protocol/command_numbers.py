# SPDX-License-Identifier: Apache-2.0

"""Numbers of commands that grow, also from one start to the next, whatever the clock does."""

from __future__ import annotations

from collections.abc import Callable
import time

_RESERVED = 1_000_000    # at once, so that hardly a command has to wait for the disk
MOST = 2**62
"""What no number reaches before the year 2116; from twice of that on none can be sent."""


class CommandNumbers:
    """
    Issues numbers: the time in nanoseconds, or what follows on all that were issued before.

    What is kept is a bound that no number has reached: nothing is written for each command.

    :param kept: the bound of earlier starts; 0 if there is none.
    :param keep: called with the bound before the first number at or after the last one is used.
    """

    def __init__(self, kept: int = 0, keep: Callable[[int], object] = lambda bound: None) -> None:
        self._bound = kept
        self._keep = keep

    def first(self) -> int:
        """Return the number of the next order of a sender, which counts on from there."""
        number = max(time.time_ns(), self._bound)
        self.use(number)
        return number

    def use(self, number: int) -> None:
        """Record that a command is about to get a number."""
        if number >= self._bound:
            self._bound = number + _RESERVED
            self._keep(self._bound)


class SequenceNumbers:
    """
    The numbers of the commands of one sender to one robot, which grow by one with each command.

    :param first: number of the first command: the time in nanoseconds, so that no other sender has
        the same.
    :param kept: stores a bound of the numbers before they are used; None to store none.
    :ivar last: number of the last command.
    """

    def __init__(self, first: int, kept: CommandNumbers | None = None) -> None:
        self.first, self.last = first, first - 1
        self._kept = kept

    def next(self) -> int:    # noqa: A003
        """Return the number of the next command."""
        self.last += 1
        if self._kept:
            self._kept.use(self.last)
        return self.last

    def sent(self, seq: int) -> bool:
        """Return whether a command of this sender has the number."""
        return self.first <= seq <= self.last
