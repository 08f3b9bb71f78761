# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
Watching where one pair (state, action) leads, for any length of time.

The null hypothesis is that the next states of the pair have been drawn from one distribution,
whatever it is, since the detector was made. The evidence against it is the logarithm of

    E = sum over k < n of w_k first(y_1 .. y_k) after(y_{k+1} .. y_n) / max over Q of Q(y_1 .. y_n)

where ``y`` is the next state if the pair has shown it before, else the one symbol *new*. The
numerator is part of a probability of the sequence: ``first`` predicts up to a change after ``k``
executions, ``after`` begins anew there, and the weights sum up to 1. The denominator is the
largest probability that any single distribution gives the sequence. Divided by the true
probability instead, which is no larger, the numerator (with the weights not spent yet) is a
nonnegative martingale that starts at 1. So ``E`` ever reaches ``1/d`` with probability at most
``d`` (Ville), whatever the distribution and its support.

Source: Wasserman, Ramdas & Balakrishnan 2020, *Universal inference*, section 7 (sequences), with a
mixture over change points as in Shin, Ramdas & Rinaldo 2022, *E-detectors*.

The likelihood. Number the next states in the order in which they were shown, ``n_j`` times each.
One after the other, ``Q`` breaks ``v_j`` off the probability that is left over: the largest
probability of ``y`` is the product over ``j`` of the maxima of ``v^(n_j - 1) (1 - v)^m_j``, where
``m_j`` is the sum of the later ``n_i``.

The splits. Number ``k = 2^v (2 i + 1)`` has the weight ``1/((v + 1)(v + 2)(i + 1)(i + 2))`` and is
dropped, at a loss of power alone, once it is ``4 2^v`` executions old: about two of each ``v`` are
left, some fifty in all after a million executions, and a change is always within a fraction of its
own age from one of them.

The cost. The numerator never grows, so that after each look there is a level of the likelihood
above which ``E`` cannot be at its mark. Only below it the sum is worked out: rarely where several
next states are usual, and never while there has been only one. What is decided is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

_SYMBOLS = 16
"""Next states that are told apart; all those shown later count as one."""
_LIFE = 4
"""Executions that split number ``2^v (2 i + 1)`` is kept for, divided by ``2^v``."""
_AFTER, _NEW = 1.0, 0.5
"""Masses of the predictor after a split: of all next states shown before it, and of new ones."""
_LOOK, _LOOK_AGAIN = 64, 4
"""Executions after which the sum is worked out even if it cannot be at its mark, to see whether
the pair is suspicious, and whether it still is."""
_Split = tuple[int, float, tuple[int, ...]]
"""The executions before a change, ``log first`` of them, and the counts."""


class TransitionDetector:
    """
    Notices at any time that a pair no longer leads where it did.

    :param delta: the probability with which it ever raises the alarm without a change.
    :ivar threshold: ``log(1 / delta)``, in nats.
    :ivar executions: of the pair, since the detector was made.
    :ivar evidence: ``log E`` when it was last worked out; it has stayed below the threshold since.
    :ivar suspicion: the largest log likelihood ratio of a change at one of the splits, without the
        weights: what makes the pair worth a closer look.
    :ivar surprised: whether the last outcome was hardly to be expected.
    """

    __slots__ = ('_bound', '_counts', '_index', '_log_first', '_looked', '_splits', 'evidence',
                 'executions', 'surprised', 'suspicion', 'threshold')

    SURPRISE = 0.05
    SUSPICIOUS = 3.0

    def __init__(self, delta: float) -> None:
        self.threshold = -math.log(delta)
        self.executions = 0
        self.evidence = -math.inf
        self.suspicion = -math.inf
        self.surprised = False
        self._index: dict[int, int] = {}
        # By symbol, in the order of their first time; the one after the last of them is the rest.
        self._counts: list[int] = []
        self._splits: list[_Split] = []
        self._log_first = 0.0
        self._bound = 0.0
        self._looked = 0

    @property
    def alarm(self) -> bool:
        """Whether the pair has hardly had one distribution since the detector was made."""
        return self.evidence >= self.threshold

    @property
    def suspicious(self) -> bool:
        """Whether the pair is worth a closer look."""
        return self.suspicion >= self.SUSPICIOUS

    @property
    def following(self) -> tuple[int, ...]:
        """The next states shown so far, as far as they are told apart."""
        return tuple(self._index)

    def record(self, next_state: int) -> None:
        """Take note of one more execution."""
        if len(self._counts) == 1:
            if next_state in self._index:
                # The likelihood stays 1, and the numerator below it: nothing to work out.
                self.executions += 1
                self._counts[0] += 1
                self.surprised = False
                return
            self._split_always_the_same()
        elif self._counts:
            self._split(self.executions)
        chance = self._count(next_state)
        self._log_first += math.log(chance)
        if len(self._counts) == 1:
            return
        self.surprised = chance < self.SURPRISE
        likelihood = _log_likelihood(self._counts)
        soon = _LOOK_AGAIN if self.suspicious else _LOOK
        if (self._bound - likelihood >= self.threshold or self.surprised
                or self.executions >= self._looked + soon):
            self._look(likelihood)

    def _split_always_the_same(self) -> None:
        """Open the splits that would be there, now that they are needed."""
        now, numbers = self.executions, []
        for power in range(now.bit_length()):
            odd = (now >> power) - 1 | 1    # the last of this power; there are two at most
            numbers += [number for number in (odd << power, odd - 2 << power)
                        if 0 < number and now - number < _LIFE << power]
        for number in sorted(numbers):
            self._log_first = math.log((number + 1) / (2 * number))    # that of 1 - 1/t^2, t > 1
            self._counts = [number]
            self._split(number)

    def _split(self, number: int) -> None:
        """Open a split before the next execution; drop those that have had their time."""
        if number % 16 == 0:
            self._drop()
        self._splits.append((number, self._log_first, tuple(self._counts)))

    def _drop(self) -> None:
        now = self.executions
        self._splits = [split for split in self._splits
                        if now - split[0] < _LIFE * (split[0] & -split[0])]

    def _count(self, next_state: int) -> float:
        """Count an outcome; return the probability with which ``first`` predicted it."""
        before = self.executions
        self.executions += 1
        new = 1 / self.executions ** 2    # 1 for the first, which is new for sure
        symbol = self._index.get(next_state)
        if symbol is None and len(self._index) < _SYMBOLS:
            self._index[next_state] = len(self._index)
            self._counts.append(1)
            return new
        if symbol is None:
            symbol = _SYMBOLS
            if len(self._counts) == _SYMBOLS:
                self._counts.append(0)
        count = self._counts[symbol]
        self._counts[symbol] += 1
        return (1 - new) * count / before + (new if symbol == _SYMBOLS else 0.0)

    def _look(self, likelihood: float) -> None:
        """Work out the evidence."""
        self._drop()
        self._looked = self.executions
        counts = self._counts
        ratios = [log_first + _log_after(before, counts) for _, log_first, before in self._splits]
        logs = [ratio - _log_price(split[0]) for ratio, split in zip(ratios, self._splits)]
        top = max(logs)
        total = top + math.log(math.fsum(math.exp(log - top) for log in logs))
        self.evidence = total - likelihood
        self.suspicion = max(ratios) - likelihood
        # What is not spent yet has its weight, at most 1, in the splits to come.
        high, low = max(total, self._log_first), min(total, self._log_first)
        self._bound = high + math.log1p(math.exp(low - high))

    def to_state(self) -> list[Any]:
        """Return all of it as plain data."""
        return [self.threshold, self.executions, self.evidence, self.suspicion, self._log_first,
                self._bound, self._looked, list(self._index), list(self._counts),
                [list(split) for split in self._splits]]

    @classmethod
    def from_state(cls, state: Sequence[Any]) -> TransitionDetector:
        """Return the detector that ``to_state`` was called on."""
        detector = cls(delta=1.0)
        (detector.threshold, detector.executions, detector.evidence, detector.suspicion,
         detector._log_first, detector._bound, detector._looked, shown, counts, splits) = state
        detector._index = {next_state: symbol for symbol, next_state in enumerate(shown)}
        detector._counts = list(counts)
        detector._splits = [(executions, log_first, tuple(before))
                            for executions, log_first, before in splits]
        return detector


def _log_price(number: int) -> float:
    """Return ``-log w`` of a split."""
    power = (number & -number).bit_length() - 1
    index = number >> power + 1
    return math.log((power + 1) * (power + 2) * (index + 1) * (index + 2))


def _log_likelihood(counts: Sequence[int]) -> float:
    """Return the log of the largest probability that one distribution gives the outcomes."""
    total, after = 0.0, 0
    for symbol in range(len(counts) - 1, -1, -1):
        count = counts[symbol]
        again = count - 1
        if symbol < _SYMBOLS and again and after:
            both = again + after
            total += again * math.log(again / both) + after * math.log(after / both)
        after += count
    return total


def _log_after(before: Sequence[int], counts: Sequence[int]) -> float:
    """
    Return the log of the probability of what came after a split, predicted from there on.

    The predictor is a Dirichlet process: the next states shown ``before`` share a mass, new ones
    have another. Its probability of a sequence depends on the counts alone.
    """
    lgamma, shown = math.lgamma, min(len(before), _SYMBOLS)
    share = _AFTER / shown
    total, executed = 0.0, 0
    for symbol, count in enumerate(counts):
        count -= before[symbol] if symbol < len(before) else 0
        executed += count
        if not count:
            continue
        if symbol == _SYMBOLS:
            total += lgamma(count + _NEW) - lgamma(_NEW)
        elif symbol < shown:
            total += lgamma(count + share) - lgamma(share)
        else:
            total += math.log(_NEW) + lgamma(count)
    return total + lgamma(_AFTER + _NEW) - lgamma(executed + _AFTER + _NEW)
