# SPDX-License-Identifier: Apache-2.0

"""
How much of a node's time goes to what others ask for, as often as they like.

Each node has one ``Allowance``. All that comes from outside passes it before it is read: the
services and topics of people and programs, but for the step protocol. Stops pass it always, and
so do questions of the middleware, such as for a parameter, which have no effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import math
import time
from typing import TypeVar

from mnm_ros.core.progress.said import CallsTooOften, TooManyGoals

AT_ONCE = 50
"""Calls of one entry that are taken at once, such as all parameters of a file that is loaded."""

EACH_SECOND = 5.0
"""Calls of one entry that are taken in each second for long: more than people need."""

SHARE = 0.2
"""Of the node's time, which all entries together may take for long."""

_BURST = 2.0    # s, that they may take at once

PROBE = 2.0    # s

TOO_MANY = CallsTooOften(EACH_SECOND, SHARE, PROBE)
"""Why a call is refused."""

TOO_MANY_GOALS = TooManyGoals(EACH_SECOND, PROBE)
"""Why a goal is refused."""

_SaidT = TypeVar('_SaidT')
_AnswerT = TypeVar('_AnswerT')


class Allowance:
    """
    Limits the calls of each entry, a topic or a service, and the time of all of them.

    A call that is refused counts, too: as long as a flood lasts, one call in ``PROBE`` s is taken,
    so that a program that asks again at once is not refused for ever.

    :param clock: returns the time in s.
    :param work: returns the time in s that the thread has computed; by another clock, calls would
        seem slow on a busy machine.
    :ivar refused: how many calls of each entry were refused so far.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic,
                 work: Callable[[], float] = time.thread_time) -> None:
        self.refused: Counter[str] = Counter()
        self._clock, self._work = clock, work
        self._calls: dict[str, _Bucket] = {}
        self._taken: dict[str, float] = {}    # when a call of each entry was taken last
        self._seconds = _Bucket(_BURST, SHARE, -_BURST)

    def takes(self, entry: str, anyway: bool = False, times: int = 1) -> bool:
        """
        Return whether one more is taken, which counts then; ``anyway``: even if it is not.

        :param times: by how much more of this entry is taken than of others.
        """
        now = self._clock()
        calls = self._calls.setdefault(
            entry, _Bucket(times * AT_ONCE, times * EACH_SECOND, -times * EACH_SECOND))
        due = calls.left(now) >= 1.0 or now >= self._taken.get(entry, -math.inf) + PROBE
        taken = anyway or due and self._seconds.left(now) > 0.0
        calls.take(1.0, now)
        if taken:
            self._taken[entry] = now
        else:
            self.refused[entry] += 1
        return taken

    def limited(self, entry: str, take: Callable[[_SaidT], _AnswerT],
                refuse: Callable[[_SaidT], _AnswerT],
                anyway: Callable[[_SaidT], bool] = lambda said: False,
                times: int = 1) -> Callable[[_SaidT], _AnswerT]:
        """
        Return what calls ``take`` as long as it is allowed, and ``refuse`` otherwise.

        :param anyway: says what is taken even so.
        :param times: as for ``takes``.
        """
        def limited(said: _SaidT) -> _AnswerT:
            if not self.takes(entry, anyway(said), times):
                return refuse(said)
            begun = self._work()
            try:
                return take(said)
            finally:
                self._seconds.take(self._work() - begun, self._clock())
        return limited


class _Bucket:
    """Counts what is left, between ``least`` and ``most``, with more in each second."""

    def __init__(self, most: float, each_second: float, least: float) -> None:
        self._most, self._each_second, self._least = most, each_second, least
        self._left, self._last = most, -math.inf

    def left(self, now: float) -> float:
        self._left = min(self._most, self._left + (now - self._last) * self._each_second)
        self._last = now
        return self._left

    def take(self, amount: float, now: float) -> None:
        self._left = max(self._least, self.left(now) - amount)
