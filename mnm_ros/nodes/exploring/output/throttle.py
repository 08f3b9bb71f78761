# SPDX-License-Identifier: Apache-2.0

"""How often something may be done that takes time."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import TypeVar

_T = TypeVar('_T')


class Throttle:
    """
    Keeps what it is asked about to a period and to a small share of the time.

    :param period: in seconds, at least between two times.
    :param share: of the time, at most.
    """

    def __init__(self, period: float, share: float = 0.02) -> None:
        self._period = period
        self._share = share
        self._next = -math.inf

    def due(self, now: float) -> bool:
        """Return whether it may be done."""
        return now >= self._next

    def hurry(self) -> None:
        """Let it be due at once."""
        self._next = -math.inf

    def do(self, work: Callable[[], _T], now: float) -> _T:
        """Do it, and return what it returns; what has taken long is not due again soon."""
        begun = time.monotonic()
        result = work()
        taken = time.monotonic() - begun
        self._next = now + max(self._period, taken / self._share)
        return result
