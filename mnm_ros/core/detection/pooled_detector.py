# SPDX-License-Identifier: Apache-2.0

"""
Detect at any time that many moves arrive less often, or more often, than before.

``Doubts`` records the executions of all moves here. A wet floor changes each move a little, and
the detector of one pair sees its own executions alone. Here the evidence of all moves is added up.

The null hypothesis is that each move ``i`` arrives with one chance ``p_i``, whatever it is, since
the detector was begun. A move arrives if it leads to the other state that was most frequent in its
first ``_KNOWN`` executions, which do not count. The evidence is the logarithm of

    E = sum over k < n of w_k first(y_1 .. y_k) after(y_{k+1} .. y_n) / max over all p_i of P(y)

where ``y`` are the executions of all moves in their order. ``first`` predicts each move up to a
change after ``k`` executions; ``after`` predicts all moves with one chance that they share.
Conditional on the past, the choice of the next move does not depend on its outcome. So the
numerator, divided by the true probability, is a nonnegative supermartingale that starts at 1, and
the denominator is no smaller than the true probability. By Ville's inequality ``E`` ever reaches
``1/d`` with probability at most ``d``. The past decides which executions count. To drop
splits, or to work ``E`` out rarely, makes the alarm only later.

A move that has failed twice in a row does not count until it arrives: a door that has closed is no
matter of all moves.

The cost of not knowing the chances. ``first`` is a mixture over Beta distributions that all moves
share, so that moves alike are predicted alike. With a predictor for each move alone, 24 moves
whose chance falls from 0.95 to 0.6 need more than twice as many executions until the alarm.

Source: Wasserman, Ramdas & Balakrishnan 2020, *Universal inference*, section 7; Shin, Ramdas &
Rinaldo 2022, *E-detectors*, for the sum over beginnings.
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
_LOOK_EVERY = 4    # executions
_PER_EXECUTION = 2.0    # nats that one execution adds at most, as a rule
_AGAINST = 2.0    # nats by which the moves with one action may contradict the change of all
_MOST = 2 / 3    # of the evidence that a single move may have, or the change is its own

_MEAN = np.repeat([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.95], 5)
_WEIGHT = np.tile([1.0, 4.0, 16.0, 64.0, 400.0], 10)
_FAILED, _ARRIVED = _MEAN * _WEIGHT, (1 - _MEAN) * _WEIGHT    # parameters of the Betas
_AFTER = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
_LOG_ARRIVES, _LOG_FAILS = np.log(_AFTER), np.log1p(-_AFTER)


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
        self._mixture: Floats = np.full(len(_MEAN), 1 / len(_MEAN))
        self._log_first = self._log_likelihood = 0.0
        self._executed = self._arrived = self._look = 0
        # The log of the weight and of ``first``, and the executions, of which arrived, before.
        self._splits: deque[tuple[float, int, int]] = deque()
        self._last: deque[tuple[Pair, bool]] = deque()    # executions since the first split

    def record(self, pair: Pair, end: int) -> MovesChange | None:
        """Record where a pair has led; return the change if that raises the alarm."""
        move = self._moves.setdefault(pair, _Move())
        if move.end is None:
            move.shown[end] = move.shown.get(end, 0) + 1
            if sum(move.shown.values()) == _KNOWN:
                move.shown[pair[0]] = _LED_ON - 1    # else it may have stayed for a wall
                move.end = max(move.shown, key=move.shown.__getitem__)
            return None
        if move.end == pair[0]:
            return None
        counts = move.failing < _IN_A_ROW
        move.failing = 0 if end == move.end else move.failing + 1
        if not counts:
            return None
        if self._executed % _EVERY == 0:
            self._split()
        self._count(move, end == move.end)
        self._last.append((pair, end == move.end))
        if self._executed < self._look:
            return None
        lacking = self._threshold - self._evidence()
        self._look = self._executed + max(_LOOK_EVERY, math.ceil(lacking / _PER_EXECUTION))
        return self._change() if lacking <= 0 else None

    def _split(self) -> None:
        """Open a split before the next execution."""
        weight = math.log(share(self._executed // _EVERY + 1))
        self._splits.append((weight + self._log_first, self._executed, self._arrived))
        if len(self._splits) > _SPLITS:
            self._splits.popleft()
            for _ in range(_EVERY):
                self._last.popleft()

    def _count(self, move: _Move, arrived: bool) -> None:
        """Count an execution in ``first`` and in the largest likelihood."""
        failed = move.executed - move.arrived
        fails = (failed + _FAILED) / (move.executed + _WEIGHT)
        self._mixture = self._mixture * (1 - fails if arrived else fails)
        predicted = float(self._mixture.sum())
        self._mixture /= predicted
        self._log_first += math.log(predicted)
        self._log_likelihood -= _largest(move)
        move.executed += 1
        move.arrived += arrived
        self._log_likelihood += _largest(move)
        self._executed += 1
        self._arrived += arrived

    @property
    def _parts(self) -> Floats:
        """Return the logs of the parts of the numerator, by split."""
        first, executed, arrived = np.array(self._splits).T
        arrives = self._arrived - arrived
        fails = self._executed - executed - arrives
        logs = np.outer(arrives, _LOG_ARRIVES) + np.outer(fails, _LOG_FAILS)
        found: Floats = first + np.logaddexp.reduce(logs, axis=1) - math.log(len(_AFTER))
        return found

    def _evidence(self) -> float:
        return float(np.logaddexp.reduce(self._parts)) - self._log_likelihood

    def _change(self) -> MovesChange | None:
        """Return the change since the likeliest split; None if it is not one of all moves."""
        executed = self._splits[int(np.argmax(self._parts))][1]
        since: dict[Pair, tuple[int, int]] = {}    # arrived, and executed
        for pair, arrived in [*self._last][executed - self._executed:]:
            times, all_ = since.get(pair, (0, 0))
            since[pair] = times + arrived, all_ + 1
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


def _largest(move: _Move) -> float:
    """Return the log of the largest probability that one chance gives what a move has done."""
    return sum(times * math.log(times / move.executed)
               for times in (move.arrived, move.executed - move.arrived) if times)


def speaks(now: float, before: tuple[int, int], since: tuple[int, int]) -> float:
    """Return the nats for a move that arrives with the chance ``now`` rather than as before."""
    old = chance(*before)
    return since[0] * math.log(now / old) + (since[1] - since[0]) * math.log((1 - now) / (1 - old))


def sums(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return how often moves arrived, and how often they were executed, in all."""
    arrived, executed = map(sum, zip(*counts))
    return arrived, executed
