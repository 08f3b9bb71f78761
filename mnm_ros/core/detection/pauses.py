# SPDX-License-Identifier: Apache-2.0

"""
Pauses: what has failed unexpectedly is tried again later, and something else comes first.

Whoever stands in a doorway is there for all the tries of half a minute: they tell hardly more than
one. So a pair that nearly always worked, and now has failed more often in a row than it would once
in fifty times, is left alone for 4 steps, and after each further failure for 8,
wherever anything else is to be done; then it is tried again first. An attempt that would go on
with it is broken off where the failures would hardly come once in a thousand times: a test has to
count it as failed. Once there is a hint, the failures are spread over some time, and 4 steps are
enough; once a change is noticed, nothing rests until that is relearnt. What is played and broken
off depends on the past alone, so that no test minds; what has changed for good is noticed later by
the pauses (``benchmarks/doors``).
"""

from __future__ import annotations

from collections.abc import Collection
import math

from mnm_ros.core.detection.hints import chance_to_fail, EXECUTIONS, MOST_FAILING
from mnm_ros.core.model.counts import Pair

_FIRST, _LONGEST = 4, 8    # steps
_UNEXPECTED, _HARDLY = math.log(50), math.log(1000)


class Pauses:
    """The pairs that are left alone, and those whose pause is over."""

    def __init__(self) -> None:
        self._last: dict[Pair, int] = {}    # steps of the last pause
        self._left: dict[Pair, int] = {}    # steps that are left of it
        self._hardly: dict[Pair, None] = {}

    @property
    def resting(self) -> Collection[Pair]:
        """Return the pairs that are left alone."""
        # Asked at each step, as what follows.
        return [pair for pair, left in self._left.items() if left] if self._left else ()

    @property
    def stopping(self) -> Collection[Pair]:
        """Return those of them before which an attempt is broken off."""
        return [pair for pair in self.resting if pair in self._hardly] if self._hardly else ()

    @property
    def due(self) -> Collection[Pair]:
        """Return the pairs whose pause is over, and that were not executed since."""
        return [pair for pair, left in self._left.items() if not left]

    def step(self) -> bool:
        """Take note of a step; return whether a pause is over with it."""
        if not self._left:    # asked at each step
            return False
        before = len(self.due)
        self._left = {pair: max(0, left - 1) for pair, left in self._left.items()}
        return len(self.due) > before

    def record(self, pair: Pair, failures: int, executions: int, usual: int, *,
               hinted: bool) -> None:
        """
        Take note of an execution.

        :param failures: in a row, the last one among them; 0 if it worked.
        :param executions: of the pair so far, of which ``usual`` have worked.
        :param hinted: whether there is a hint.
        """
        if not failures:
            if self._last:    # else nothing is kept of any pair
                self.forget(pair)
            return
        self._left.pop(pair, None)
        before = executions - failures
        if before < EXECUTIONS:
            return
        chance = chance_to_fail(before, usual)
        unexpected = -failures * math.log(chance)
        if chance > MOST_FAILING or unexpected < _UNEXPECTED:
            return
        if unexpected >= _HARDLY:
            self._hardly[pair] = None
        self._last[pair] = self._left[pair] = _FIRST if hinted else min(
            2 * self._last.get(pair, _FIRST // 2), _LONGEST)

    def clear(self) -> None:
        """Let all pairs be tried as any other."""
        for kept in (self._last, self._left, self._hardly):
            kept.clear()

    def forget(self, pair: Pair) -> None:
        """Let a pair be tried as any other."""
        for kept in (self._last, self._left, self._hardly):
            kept.pop(pair, None)
