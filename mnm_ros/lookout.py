# SPDX-License-Identifier: Apache-2.0

"""Has what is shown worked out beside the thread that controls, in a small share of its time."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Generic, TypeVar

from mnm_ros.forked_query import ForkedQuery

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
        self._listeners = 0

    def wanted(self, listeners: int, now: float) -> bool:
        """Return whether a node listens and it is due: at once for a new one."""
        if listeners > self._listeners:
            self.hurry()
        self._listeners = listeners
        return listeners > 0 and self.due(now)

    def due(self, now: float) -> bool:
        """Return whether it may be done."""
        return now >= self._next

    def hurry(self) -> None:
        """Let it be due at once."""
        self._next = -math.inf

    def do(self, work: Callable[[], _T], now: float) -> _T:
        """Do it, and return what it returns; what has taken long is not due again soon."""
        begun = time.thread_time()
        result = work()
        taken = time.thread_time() - begun
        self._next = now + max(self._period, taken / self._share)
        return result


class Lookout(Generic[_T]):
    """
    Has one thing after the other worked out in copies of the process.

    :param take: called with each answer, in the thread that asks for it.
    :param warn: called with a sentence about what has gone wrong.
    :param period: in seconds, at least between two questions.
    :param share: of the time, at most, for making copies; the pages that this process writes
        then cost as much.
    :ivar pace: of the questions.
    """

    def __init__(self, take: Callable[[_T], object], warn: Callable[[str], object],
                 period: float, share: float) -> None:
        self.pace = Throttle(period, share)
        self._take, self._warn = take, warn
        self._query: ForkedQuery[_T] = ForkedQuery()

    def collect(self) -> bool:
        """Take what has been worked out; return whether something else may be asked."""
        try:
            answer = self._query.answer()
        except ChildProcessError as error:
            self._warn(f'what is shown is not up to date: {error}')
        else:
            if answer is not None:
                self._take(answer)
        return not self._query.running

    def ask(self, question: Callable[[], _T], now: float) -> None:
        """Begin to work something out, as ``ForkedQuery`` has it."""
        try:
            self.pace.do(lambda: self._query.ask(question), now)
        except OSError as error:
            self._warn(f'what is shown is not up to date, as the process is not copied: {error}')

    def close(self) -> None:
        """End what is under way."""
        self._query.close()
