# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""How often something may be done that takes time."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import TypeVar

_T = TypeVar('_T')


class Pace:
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
