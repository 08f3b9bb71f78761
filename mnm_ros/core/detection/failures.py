# SPDX-License-Identifier: Apache-2.0

"""
How likely it is that a pair at rest fails so often in a row: when failures are a hint.

``PairWatch`` suspects a pair by this. A hint comes within some failures; an alarm takes more.
After ``f`` failures in ``n`` executions the next one is predicted to fail with the chance ``(f +
0.3) / (n + 1)``, then it is counted, and so on. By that, so many in a row have a chance of at most
one in a million. A fixed chance would be too sure of what few executions have shown. In a world at
rest, ``N`` executions of a pair are expected to raise at most ``N`` in a million hints, for every
``N``, whatever the chances of its successors. ``test_hints`` works this out exactly, with hints
that are raised again after they were withdrawn.

A way that was driven a few times before it closes has shown too little for that, and even less for
an alarm. Yet it is often so where successors are declared. If ``w`` of ``n`` executions worked
before ``f`` failures, and all orders of the ``n + f`` outcomes are as likely, all that worked are
among the first ``n`` with chance ``C(n, w) / C(n + f, w)``. A pair with at most 9 executions is
suspected after 8 failures in a row or more, once that chance is at most 1 in 200: after 19 if it
worked 2 of 2 times, or 3 of 5 times. Of a hundred pairs at rest at most one ever is. Its evidence
is *scarce*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math

_EXECUTIONS = 10      # before the failures, of a pair that nearly always worked
_MOST_FAILING = 0.3   # of these
_PRIOR = 0.3          # failures, of one execution, that are counted beside those before
_FEWEST = 3           # failures in a row that raise a hint
_RARE = math.log(1e6)
_FAILURES, _SELDOM = 8, 1 / 200    # that raise a scarce hint, and the chance of their order


@dataclass(frozen=True)
class Usual:
    """
    What a pair did before it began to fail.

    :ivar end: its usual successor; worked: how often it led there, of so many executions.
    """

    end: int | None
    worked: int
    executions: int

    @property
    def scarce(self) -> bool:
        """Return whether the pair was executed too seldom to predict how often it fails."""
        return self.executions < _EXECUTIONS

    @property
    def nearly_always_worked(self) -> bool:
        """Return whether a failure says anything."""
        return self.chance_to_fail <= _MOST_FAILING

    @property
    def chance_to_fail(self) -> float:
        """Return the chance that it fails next."""
        return (max(0, self.executions - self.worked) + _PRIOR) / (self.executions + 1)


@dataclass
class Failures:
    """How often a pair has failed in a row."""

    usual: Usual
    times: int = 0

    @property
    def unexpected(self) -> float:
        """Return how unexpected they are, in nats, if the chance to fail is as before."""
        return -self.times * math.log(self.usual.chance_to_fail)

    @property
    def seldom(self) -> bool:
        """Return whether so many failures hardly come after all executions that worked."""
        worked, executions = self.usual.worked, self.usual.executions
        return self.times >= _FAILURES and (
            math.comb(executions, worked) <= _SELDOM * math.comb(executions + self.times, worked))

    @property
    def rare(self) -> bool:
        """Return whether a pair hardly fails so many times in a row."""
        before = self.usual
        return self.times >= _FEWEST and -math.fsum(
            math.log(replace(before, executions=before.executions + i).chance_to_fail)
            for i in range(self.times)) >= _RARE
