# SPDX-License-Identifier: Apache-2.0

"""
A hint that all moves work less often than before, or more often: then some are tried many times.

A wet floor changes each move a little. The detector of each pair sees its own executions alone, so
that hundreds of steps pass before the first alarm. Here the moves are pooled: two sums over all
executions, each of the log likelihood ratio of a success that is ``_SHIFT`` less, or more, likely
by its log odds than it was for that move so far; a sum never falls below 0 (CUSUM, Page 1954).
What a move did so far is known inexactly, so that nothing is decided by this: once a sum is at
``_RAISED``, the moves that are known best are executed for some time, one after the other, and
their detectors raise the alarm, or do not. Which pair is executed next has no influence on the
promise.
"""

from __future__ import annotations

from collections.abc import Iterable
import math

from mnm_ros.core.detection.hints import in_a_row
from mnm_ros.core.model.counts import Pair

_SHIFT = 1.5    # of log odds
_RAISED = 6.0    # nats
_KNOWN = 5    # executions of a move before it counts
_SEVERAL = 3    # moves that have failed: one alone is no matter of all
_IN_A_ROW = 2    # failures of one move that count: those of a closed door are no matter of all
_PRIOR = 0.5    # executions that have worked, and that have not, beside those that were counted
_MOVES, _TRIES = 2, 48    # that are looked at, and executions of each
_PATIENCE = 400    # steps for all of them


class PooledHint:
    """Two sums over all moves, and the moves that are looked at."""

    def __init__(self) -> None:
        self._worse = self._better = 0.0
        self._failed: dict[Pair, None] = {}    # since the first of these was 0
        self._failing: dict[Pair, int] = {}    # times in a row
        self._left: dict[Pair, int] = {}    # executions of those that are looked at
        self._patience = 0    # steps

    @property
    def due(self) -> Pair | None:
        """Return the move to be executed next; None if there is none."""
        return next(iter(self._left), None)

    def record(self, pair: Pair, worked: bool, usual: int, executions: int) -> bool:
        """
        Add an execution of a move to both sums.

        :param usual: how often it has worked before, of so many executions.
        :returns: whether the moves that are known best are to be looked at now.
        """
        if in_a_row(self._failing, pair, worked) > _IN_A_ROW or executions < _KNOWN:
            return False
        odds = math.log((usual + _PRIOR) / (executions - usual + _PRIOR))
        self._worse = max(0.0, self._worse + _speaks(worked, odds, odds - _SHIFT))
        self._better = max(0.0, self._better + _speaks(worked, odds, odds + _SHIFT))
        if not worked:
            self._failed[pair] = None
        if not self._worse:
            self._failed = {}
        return not self._left and (
            self._better >= _RAISED
            or self._worse >= _RAISED and len(self._failed) >= _SEVERAL)

    def look_at(self, moves: Iterable[Pair]) -> None:
        """Look at these moves, the best known first."""
        self._left = {pair: _TRIES for pair, _ in zip(moves, range(_MOVES))}
        self._worse = self._better = 0.0
        self._failed, self._patience = {}, _PATIENCE

    def executed(self, pair: Pair) -> None:
        """Count an execution of any pair."""
        self._patience -= 1
        if self._patience < 0:    # there may be no way to it
            self._left = {}
        if pair in self._left:
            self._left[pair] -= 1
            if not self._left[pair]:
                del self._left[pair]

    def leave(self, pair: Pair) -> None:
        """Do not try a pair any more, because enough is known of it."""
        self._left.pop(pair, None)


def _speaks(worked: bool, before: float, now: float) -> float:
    """Return the log likelihood ratio of an outcome, by its log odds now and before."""
    sign = 1 if worked else -1
    return math.log1p(math.exp(-sign * before)) - math.log1p(math.exp(-sign * now))
