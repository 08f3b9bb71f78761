# SPDX-License-Identifier: Apache-2.0

"""The pace of a simulation whose driver answers each pose with a command."""

from __future__ import annotations

_TIMEOUT = 0.05     # s without a command, after which time goes on by itself
_REST = 0.002       # s without a command, after which none is under way any more
_EVERY = 200        # ticks between two waits for commands that are too many


class Lockstep:
    """
    Waits for one command before each tick.

    A command that answers no pose, or answers late, would be one too many for ever: each command
    leads to a tick, each tick to a pose, and each pose to a command, so that the driver would
    always react to a pose of several ticks ago. Therefore now and then, and after each timeout,
    the next tick waits until no command has come for 2 ms.

    :ivar due: when the next tick is due, in s on the clock of ``now``; each call moves it.
    """

    def __init__(self, now: float) -> None:
        self.due = now + _TIMEOUT
        self._ticks = 0
        self._timed_out = True
        self._settling = False

    def ticked(self, now: float, timeout: float = _TIMEOUT) -> None:
        """Wait for a command from ``now`` on, for at most ``timeout`` s."""
        self._ticks += 1
        self._settling = self._timed_out or self._ticks % _EVERY == 0
        self._timed_out = True
        self.due = now + timeout

    def commanded(self, now: float) -> None:
        """Take note of a command."""
        self._timed_out = False
        self.due = now + _REST if self._settling else now
