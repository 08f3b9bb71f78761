# SPDX-License-Identifier: Apache-2.0

"""
Detect at any time that many moves arrive less often, or more often, than before.

``Doubts`` records the executions of all moves here. A wet floor changes each move a little, and
the detector of one pair sees its own executions alone. Here the evidence of all moves is added up.

The null hypothesis is that each move ``i`` fails with one chance ``p_i``, whatever it is, since
the detector was begun. A move arrives if it leads to the other state that was most frequent in its
first ``_KNOWN`` executions, which do not count; otherwise it fails. To *tilt* an execution by
``t`` is to multiply by ``exp(t y) / (1 + p_i (exp(t) - 1))``, where ``y`` is 1 if the move fails,
else 0. The evidence is the logarithm of

    E = sum over k, a, b of w_k / c  min over all p of M_kab(p)
    M_kab(p) = (product over i of 1 - v + v (executions of i up to k, tilted by a))
               (all executions after k, tilted by b)

where ``k`` counts the executions before a change, and ``c`` the pairs ``a``, ``b``.

Conditional on the past, the choice of the next move does not depend on its outcome. So a tilt has
the mean 1 if the chances are ``p``, and the sum of the ``M_kab(p)`` is a martingale that starts at
1 or less. ``E`` is no larger than it, whatever ``p`` is. By Ville's inequality ``E`` ever reaches
``1/d`` with probability at most ``d``. The past decides which executions count. To drop parts of
the sum, or to work ``E`` out rarely, makes the alarm only later.

The tilt ``a`` has the opposite sign of ``b``. Suppose that moves fail more often since ``k``. High
chances ``p`` would explain that, too. Under such chances the executions before ``k`` have failed
too rarely, and the tilt ``a`` of these executions grows. With the right ``a`` the minimum is where
the moves fail as often as before and after ``k`` together. So the chances before the change cost
hardly any evidence. Their likelihood ratio would cost more than half a nat for each move.

The minimum is one for each move alone, of a convex function of ``p_i``.

A move that has failed twice in a row does not count until it arrives: a door that has closed is no
matter of all moves.

Sources: Turner, Ly & Grünwald 2024, *Generic E-variables for exact sequential k-sample tests that
allow for optional stopping*, for a change whose time is known; Shin, Ramdas & Rinaldo 2022,
*E-detectors*, for the sum over beginnings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
import math

from mnm_ros.core.model.counts import chance, Floats, Pair
from mnm_ros.core.progress.events import MovesChange
from mnm_ros.core.statistics.delta_spending import share
import numpy as np

_KNOWN = 5    # executions of a move before it counts
_LED_ON = 2    # of these that have led to one other state, or the pair is no move
_IN_A_ROW = 2    # failures of a move after which it does not count until it arrives
_EVERY, _SPLITS = 8, 64    # executions between two splits, and splits that are kept
_EVEN_SPLITS = 100    # splits with a part of delta that is hardly smaller than that of the first
_PER_EXECUTION = 2.0    # nats that one execution adds at most, as a rule
_ALIKE = 10    # executions of all moves in the guess of what one of them does
_AGAINST = 2.0    # nats by which the moves with one action may contradict the change of all
_MOST = 2 / 3    # of the evidence that a single move may have, or the change is its own

_AFTER = np.array([-3.5, -2.5, -1.7, -1.0, 1.0, 1.7, 2.5, 3.5])    # the tilts b
_TILTS = [(tilt, math.expm1(tilt)) for tilt in _AFTER.tolist()]    # b and exp(b) - 1
# The tilts a, but for their sign; the largest one is for few executions before the change.
_BEFORE = np.array([0.15, 0.5, 1.5])
_TILTED = 0.4    # v
_HALVINGS = 25    # of the range in which the least evidence is looked for


@dataclass
class _Move:
    """
    The end that a move usually leads to, and how often it was executed and arrived.

    :ivar failing: times in a row.
    """

    shown: dict[int, int] = field(default_factory=dict)    # in the first executions
    end: int | None = None    # None until these are over
    executed: int = 0
    arrived: int = 0
    failing: int = 0

    def learn(self, state: int, end: int) -> None:
        """Record one of the first executions in a state."""
        self.shown[end] = self.shown.get(end, 0) + 1
        if sum(self.shown.values()) == _KNOWN:
            self.shown[state] = _LED_ON - 1    # else it may have stayed for a wall
            self.end = max(self.shown, key=self.shown.__getitem__)


class PooledDetector:
    """
    Notices at any time that the moves have changed together.

    :param delta: the probability with which it ever raises the alarm without a change, however
        often it is restarted.
    """

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._begun = 0
        self.start_again()

    def start_again(self) -> None:
        """Forget all that was recorded, as a change is relearnt."""
        self._begun += 1
        self._threshold = -math.log(self._delta * share(self._begun))
        self._moves: dict[Pair, _Move] = {}
        self._executed = self._arrived = self._look = 0
        self._guessed = [0.0] * len(_TILTS)    # nats for each tilt since the beginning
        # The log of the weight and ``_guessed``, by split that is kept.
        self._splits: Floats = np.zeros((0, 1 + len(_TILTS)))
        self._last: deque[tuple[Pair, bool]] = deque()    # executions since the first of them

    def record(self, pair: Pair, end: int) -> MovesChange | None:
        """Record where a pair has led; return the change if that raises the alarm."""
        move = self._moves.get(pair)
        if move is None:
            move = self._moves[pair] = _Move()
        if move.end is None:
            move.learn(pair[0], end)
            return None
        if move.end == pair[0]:
            return None
        counts, arrived = move.failing < _IN_A_ROW, end == move.end
        move.failing = 0 if arrived else move.failing + 1
        if not counts:
            return None
        self._count(pair, move, arrived)
        if self._executed < self._look:
            return None
        split, rises, lacking = self._likeliest()
        if lacking <= 0:
            lacking = self._threshold - self._evidence(split, rises)
        self._look = self._executed + max(1, math.ceil(lacking / _PER_EXECUTION))
        return self._change(split) if lacking <= 0 else None

    def _count(self, pair: Pair, move: _Move, arrived: bool) -> None:
        """Count an execution, and guess what it adds to the evidence."""
        if self._executed % _EVERY == 0:
            self._split()
        failed = self._executed - self._arrived + 1
        fails = ((move.executed - move.arrived + _ALIKE * failed / (self._executed + 2))
                 / (move.executed + _ALIKE))
        self._guessed = [    # too few numbers for an array to be quicker
            (nats if arrived else nats + tilt) - math.log1p(fails * odds)
            for nats, (tilt, odds) in zip(self._guessed, _TILTS)]
        self._last.append((pair, arrived))
        move.executed += 1
        move.arrived += arrived
        self._executed += 1
        self._arrived += arrived

    def _split(self) -> None:
        """Open a split before the next execution."""
        weight = math.log(share(self._executed // _EVERY + 1, _EVEN_SPLITS))
        self._splits = np.append(self._splits, [[weight, *self._guessed]], axis=0)[-_SPLITS:]
        if len(self._last) == _SPLITS * _EVERY:
            for _ in range(_EVERY):
                self._last.popleft()

    def _likeliest(self) -> tuple[int, bool, float]:
        """Return the likeliest split, whether moves fail more often, and what seems to lack."""
        found = self._splits[:, :1] + self._guessed - self._splits[:, 1:]
        split, tilt = np.unravel_index(np.argmax(found), found.shape)
        lacking = self._threshold + math.log(len(_AFTER)) - float(found[split, tilt])
        before = self._executed - len(self._last) + int(split) * _EVERY
        return before, bool(_AFTER[tilt] > 0), lacking

    def _since(self, split: int) -> dict[Pair, tuple[int, int]]:
        """Return how often each move arrived and was executed since a split."""
        since: dict[Pair, tuple[int, int]] = {}
        for pair, arrived in [*self._last][split - self._executed:]:
            times, all_ = since.get(pair, (0, 0))
            since[pair] = times + arrived, all_ + 1
        return since

    def _evidence(self, split: int, rises: bool) -> float:
        """Return the log of the parts of the evidence with a split and one sign of the tilts."""
        since = self._since(split)
        moves = np.array([(*since.get(pair, (0, 0)), move.arrived, move.executed)
                          for pair, move in self._moves.items() if move.executed])
        arrived, after, all_arrived, executed = moves.T
        failed = after - arrived
        logs = _least(executed - all_arrived - failed, executed - after, failed, after, rises)
        weight = math.log(share(split // _EVERY + 1, _EVEN_SPLITS) / (2 * len(logs)))
        return weight + float(np.logaddexp.reduce(logs))

    def _change(self, split: int) -> MovesChange | None:
        """Return the change since a split; None if it is not one of all moves."""
        since = self._since(split)
        after = sums(since.values())
        now = chance(*after)
        before = {pair: (self._moves[pair].arrived - times, self._moves[pair].executed - all_)
                  for pair, (times, all_) in since.items()}
        found = {pair: speaks(now, before[pair], since[pair]) for pair in since}
        by_action: dict[int, float] = {}
        for (_, action), nats in found.items():
            by_action[action] = by_action.get(action, 0.0) + nats
        if (min(by_action.values()) < -_AGAINST
                or max(found.values()) > _MOST * sum(found.values())):
            return None
        return MovesChange(
            tuple((*pair, end) for pair, nats in found.items()
                  if nats > 0 and (end := self._moves[pair].end) is not None),
            None, sums(before.values()), after)


def _least(failed: Floats, executed: Floats, failed_after: Floats, after: Floats,
           rises: bool) -> Floats:
    """
    Return the least log of ``M_kab(p)`` for any chances to fail, by pairs of tilts ``a``, ``b``.

    :param failed: of the executions ``executed`` before the split, by move.
    :param failed_after: of the executions ``after`` since then.
    :param rises: whether ``b`` is positive.
    """
    before, tilt = np.repeat(_BEFORE, len(_AFTER) // 2), np.tile(
        _AFTER[(_AFTER > 0) == rises], len(_BEFORE))
    before = (-before if rises else before)[:, None]
    tilt = tilt[:, None]
    to_before, to_tilt, odds = np.expm1(before), np.expm1(tilt), math.log(_TILTED / (1 - _TILTED))
    low, high = np.zeros((len(tilt), len(after))), np.ones((len(tilt), len(after)))
    for _ in range(_HALVINGS):
        fails = (low + high) / 2
        passed = 1 + fails * to_before
        tilted = odds + before * failed - executed * np.log(passed)
        slope = (-executed * to_before / passed / (1 + np.exp(np.minimum(-tilted, 700)))
                 - after * to_tilt / (1 + fails * to_tilt))
        falls = slope < 0
        low, high = np.where(falls, fails, low), np.where(falls, high, fails)
    logs = (math.log(1 - _TILTED) + np.logaddexp(0, tilted)
            + tilt * failed_after - after * np.log1p(fails * to_tilt))
    # A convex function is nowhere below its tangent.
    return np.sum(logs - np.abs(slope) * (high - low), axis=1)


def speaks(now: float, before: tuple[int, int], since: tuple[int, int]) -> float:
    """Return the nats for a move that arrives with the chance ``now`` rather than as before."""
    old = chance(*before)
    return since[0] * math.log(now / old) + (since[1] - since[0]) * math.log((1 - now) / (1 - old))


def sums(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return how often moves arrived, and how often they were executed, in all."""
    arrived, executed = map(sum, zip(*counts))
    return arrived, executed
