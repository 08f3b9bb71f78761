# SPDX-License-Identifier: Apache-2.0

"""When to make resume points: often enough for quick restarts, and so rarely that it is cheap."""

from __future__ import annotations

from collections.abc import Mapping
import time
from typing import Any

from mnm_ros.core.exploration import Exploration

BETWEEN = 2000
"""Inputs, at least, from one resume point to the next where the exploration offers one."""

REPLAY = 1.0
"""Seconds of computing that a restart may have to repeat, before a resume point is made anywhere.

The computing of the whole process is measured: replaying takes less.
"""

SHARE = 20
"""Making resume points takes at most one part in so many of the computing."""


class ResumeSchedule:
    """
    Makes resume points of an exploration when they are due.

    :param number: of its inputs so far.
    :param since: of these, those since the last resume point.
    :param spent: seconds that it takes to replay them.
    :param between: as ``BETWEEN``.
    """

    def __init__(self, exploration: Exploration, number: int, since: int, spent: float,
                 between: int) -> None:
        self._exploration = exploration
        self._between = between
        self._number = number
        self._last = number - since
        self._began = time.process_time() - spent
        self._cost = 0.0

    def point(self) -> tuple[int, Mapping[str, Any]] | None:
        """Take note of an input; return its number and a resume point if one is due."""
        self._number += 1
        if not self.due():
            return None
        began = time.process_time()
        point = self._exploration.to_state()
        self._began = time.process_time()
        self._cost = self._began - began
        self._last = self._number
        return self._number, point

    def due(self) -> bool:
        """Return whether a resume point is due at this moment."""
        spent = time.process_time() - self._began
        if spent < SHARE * self._cost:
            return False
        if self._exploration.at_restart_point:
            return self._number - self._last >= self._between
        return spent >= REPLAY and self._exploration.can_snapshot
