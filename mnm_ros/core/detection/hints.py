# SPDX-License-Identifier: Apache-2.0

"""
Hints: what nearly always worked has failed a few times in a row.

They come within some failures, where an alarm takes more, and are outside of the promise: nothing
is forgotten, deleted or begun anew by them. A pair works if it leads where it mostly has.

After ``f`` failures in ``n`` executions the next one is predicted to fail with the chance
``(f + 0.3) / (n + 1)``, then it is counted, and so on: by that, so many in a row have a chance of
at most one in a million. A fixed chance would be too sure of what few executions have shown. In a
world at rest, ``N`` executions of a pair are expected to raise at most ``N`` in a million hints,
for every ``N``, whatever the chances of its ends: as ``test_hints`` works out exactly, those that
are raised anew after they were withdrawn included.
"""

from __future__ import annotations

from collections.abc import Collection
import math

from mnm_ros.core.model.counts import Pair

_FEWEST = 3    # failures in a row
MOST_FAILING = 0.3    # of the executions of what nearly always worked
EXECUTIONS = 10    # before the failures
_RARE = math.log(1e6)
_PRIOR = 0.3    # failures, of one execution, that are counted beside those before
_TO_WITHDRAW = 3    # executions that work, more than those that do not


class Hints:
    """
    The pairs that are suspected for their last executions.

    :ivar raised: hints so far.
    """

    def __init__(self) -> None:
        self.raised = 0
        self._failing: dict[Pair, int] = {}    # times in a row
        self._open: dict[Pair, int] = {}    # executions that worked since

    @property
    def open(self) -> Collection[Pair]:    # noqa: A003
        """Return the pairs that are suspected now."""
        return self._open

    def failures(self, pair: Pair) -> int:
        """Return how often a pair has failed in a row."""
        return self._failing.get(pair, 0)

    def record(self, pair: Pair, worked: bool, executions: int, usual: int) -> bool | None:
        """
        Take note of an execution.

        :param executions: of the pair so far, of which ``usual`` have worked.
        :returns: True if it raises a hint, False if it withdraws one, else None.
        """
        times = in_a_row(self._failing, pair, worked)
        if worked:
            return self._worked(pair)
        if pair in self._open:
            self._open[pair] = max(0, self._open[pair] - 1)
        elif _is_rare(times, executions - times, usual):
            self.raised += 1
            self._open[pair] = 0
            return True
        return None

    def _worked(self, pair: Pair) -> bool | None:
        """Withdraw a hint if that was enough."""
        if pair in self._open:
            self._open[pair] += 1
            if self._open[pair] >= _TO_WITHDRAW:
                del self._open[pair]
                return False
        return None

    def forget(self, pair: Pair) -> None:
        """Forget a pair, as more is known of it than a hint."""
        self._failing.pop(pair, None)
        self._open.pop(pair, None)


def in_a_row(failing: dict[Pair, int], pair: Pair, worked: bool) -> int:
    """Count an execution in ``failing``; return how often the pair has failed in a row now."""
    if worked:
        failing.pop(pair, None)
        return 0
    failing[pair] = failing.get(pair, 0) + 1
    return failing[pair]


def _is_rare(times: int, before: int, worked: int) -> bool:
    """Return whether a pair that worked so often before hardly fails so many times in a row."""
    if times < _FEWEST or before < EXECUTIONS:
        return False
    failed = max(0, before - worked) + _PRIOR
    return chance_to_fail(before, worked) <= MOST_FAILING and -math.fsum(
        math.log((failed + i) / (before + 1 + i)) for i in range(times)) >= _RARE


def chance_to_fail(before: int, worked: int) -> float:
    """Return the chance to fail of a pair that worked so often before."""
    return (max(0, before - worked) + _PRIOR) / (before + 1)
