# SPDX-License-Identifier: Apache-2.0

"""
Closed ways: pairs that led on until a change was noticed, and stay since then.

A door that has closed stays so for long, and to push it tells nothing. So such a pair is left
alone, wherever anything else is to be done, until it is time to look again: no attempt is begun
that has to pass it, one that comes to it is broken off, and it is sampled last. There is no clock
here: whoever has one tells when to look, and with that, that looks are told at all; else each pair
is tried as any other. Which pair is executed next, and which attempt is made, has no influence on
the promise, as both depend on the past alone.

The policies through it cannot prove any more that they work. They are deleted once the run has
nothing else to do than to sample it: time enough to find other ways. In a CMP at rest that is
wrong only if the alarm of the pair was, which has its part of the delta. From the next
rediscovery on, what was seen of it since it closed is carried (``blocked``), and it is executed
by looks alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.progress.events import PairChange

_STAYS = 0.9    # the part of the executions since the change that stayed
_TRIES = 2      # of a look, as what is open may fail once


class ClosedWays:
    """
    The pairs that are closed, and at which of them it is time to look.

    :ivar told: whether looks are told.
    """

    def __init__(self) -> None:
        self.told = False
        self._looks: dict[Pair, int] = {}
        self._due: dict[Pair, int] = {}    # and the tries that are left

    @property
    def looks(self) -> Mapping[Pair, int]:
        """Return the pairs that are closed, and how often it was looked again in vain."""
        return self._looks

    @property
    def alone(self) -> Collection[Pair]:
        """Return the pairs that are left alone."""
        # Asked at each step.
        return [pair for pair in self._looks if pair not in self._due] if (
            self._looks and self.told) else ()

    @property
    def due(self) -> Collection[Pair]:
        """Return the pairs at which it is time to look."""
        return self._due

    def notice(self, change: PairChange) -> None:
        """Take note of where a pair leads now: it may be closed, or open again."""
        tried = sum(change.after.values())
        stays = change.after.get(change.state, 0)
        self._forget(change.pair)
        if change.led_to is not None and stays >= _STAYS * tried > 0:
            self._looks[change.pair] = 0

    def executed(self, pair: Pair, next_state: int) -> bool | None:
        """
        Take note of where a pair has led.

        :returns: whether it leads on again; None if it is not closed, or no look is over.
        """
        if pair not in self._looks:    # as a rule
            return None
        if next_state != pair[0]:
            self._forget(pair)
            return True if self.told else None
        if pair not in self._due:
            return None
        self._due[pair] -= 1
        if self._due[pair]:
            return None
        del self._due[pair]
        self._looks[pair] += 1
        return False

    def look(self, pair: Pair | None) -> None:
        """Look at a pair if it is closed, or at all that are if None."""
        self._due.update({each: _TRIES for each in self._looks if pair in (None, each)})

    def leave(self, states: Collection[int]) -> None:
        """Take note that the robot does not go to these states any more."""
        for pair in [pair for pair in self._looks if pair[0] in states]:
            self._forget(pair)

    def _forget(self, pair: Pair) -> None:
        self._looks.pop(pair, None)
        self._due.pop(pair, None)
