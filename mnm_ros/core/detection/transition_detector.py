# SPDX-License-Identifier: Apache-2.0

"""
Monitoring where one pair (state, action) leads, for any length of time.

The null hypothesis is that the next states of the pair have been drawn from one distribution,
whatever it is, since the detector was made. The evidence against it is the logarithm of

    E = sum over k < n of w_k first(y_1 .. y_k) after(y_{k+1} .. y_n) / max over Q of Q(y_1 .. y_n)

where ``y`` is the next state if the pair has shown it before, else the one symbol *new*. The
numerator is part of a probability of the sequence: ``first`` predicts up to a change after ``k``
executions, ``after`` begins again there, and the weights sum up to 1. The denominator is the
largest probability that any single distribution gives the sequence. Divided by the true
probability instead, which is no larger, the numerator (with the weights not spent yet) is a
nonnegative supermartingale that starts at 1. So ``E`` ever reaches ``1/d`` with probability at
most ``d`` (Ville), whatever the distribution and its support.

Source: Wasserman, Ramdas & Balakrishnan 2020, *Universal inference*, section 7 (sequences), with a
mixture over change points as in Shin, Ramdas & Rinaldo 2022, *E-detectors*.

The likelihood. Number the next states in the order in which they were shown, ``n_j`` times each.
One after the other, ``Q`` breaks ``v_j`` off the probability that is left over: the largest
probability of ``y`` is the product over ``j`` of the maxima of ``v^(n_j - 1) (1 - v)^m_j``, where
``m_j`` is the sum of the later ``n_i``.

The splits. Each ``k`` has its ``share`` as weight. Split ``2^v (2 i + 1)`` has a place of its own
until it is ``2 2^v`` executions old: one of each ``v`` is left, twenty in all after a million
executions. Then it shares the place before it: of the splits that share a place, the one with the
largest part of the numerator stays and has the parts of all, as if all had begun again there. As
this is decided by the past, the numerator is still a part of a probability. The split that
explains best what was seen is thus never lost, however old it is.

The cost. The numerator never grows, so that after each check there is a level of the likelihood
above which ``E`` cannot be at its mark. Only below it the sum is worked out: rarely where several
next states are usual, and never while there has been only one. The decisions are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
import math

from mnm_ros.core.statistics.delta_spending import share

_MOST_SYMBOLS = 16
"""Next states that are distinguished; all those shown later count as one."""
_EVEN_SPLITS = 30
"""So many of the first splits have nearly the same weight."""
_EXECUTIONS_PER_PLACE = 2
"""Executions that split number ``2^v (2 i + 1)`` has its own place for, divided by ``2^v``."""
_TIDY_EVERY = 16
"""Executions after which places are shared."""
_AFTER, _NEW, _NEW_TO_ONE = 1.0, 0.1, 0.5
"""Masses of the predictor after a split: of all next states shown before it, and of new ones, the
last if only one was shown."""
_LOOK_EVERY, _LOOK_EVERY_IF_SUSPICIOUS = 64, 4
"""Executions after which the sum is worked out even if it cannot be at its mark, to see whether
the pair is suspicious, and whether it still is."""
_Split = tuple[int, float, float, tuple[int, ...]]
"""The number of the place, ``log first`` before the change, the log of what the probability after
it is multiplied by, and the counts before it."""


class TransitionDetector:
    """
    Notices at any time that a pair no longer leads where it did.

    :param delta: the probability with which it ever raises the alarm without a change.
    :ivar threshold: ``log(1 / delta)``, in nats.
    :ivar executions: of the pair, since the detector was made.
    :ivar evidence: ``log E`` when it was last worked out; it has stayed below the threshold since.
    :ivar alarm: whether the pair has hardly had one distribution since the detector was made.
    :ivar suspicion: the largest log likelihood ratio of a change at one of the splits, without the
        weights.
    :ivar suspicious: whether that makes the pair worth a closer check.
    :ivar surprised: whether the last outcome was hardly to be expected.
    """

    __slots__ = ('_bound', '_counts', '_index', '_log_first', '_looked', '_splits', 'alarm',
                 'evidence', 'executions', 'surprised', 'suspicion', 'suspicious', 'threshold')

    SURPRISE = 0.05
    SUSPICIOUS = 3.0

    def __init__(self, delta: float) -> None:
        self.threshold = -math.log(delta)
        self.executions = 0
        self.evidence = -math.inf
        self.suspicion = -math.inf
        self.alarm = self.suspicious = self.surprised = False
        self._index: dict[int, int] = {}
        # By symbol, in the order of their first time; the one after the last of them is the rest.
        self._counts: list[int] = []
        self._splits: list[_Split] = []
        self._log_first = 0.0
        self._bound = 0.0
        self._looked = 0

    @property
    def following(self) -> tuple[int, ...]:
        """Return the next states shown so far, as far as they are distinguished, by frequency."""
        return tuple(sorted(self._index, key=lambda state: -self._counts[self._index[state]]))

    @property
    def usual(self) -> tuple[int | None, int]:
        """Return the next state shown most often, of those distinguished, and how often it was."""
        if len(self._counts) < 2:    # asked at each execution
            return next(iter(self._index), None), sum(self._counts)
        most = max(self._counts[:_MOST_SYMBOLS])
        return list(self._index)[self._counts.index(most)], most

    @property
    def tally(self) -> dict[int, int]:
        """Return how often each next state was shown, of those distinguished."""
        return {state: self._counts[symbol] for state, symbol in self._index.items()}

    @property
    def parted(self) -> tuple[dict[int, int], dict[int, int]]:
        """
        Return how often each next state was shown before a change, and since: for display.

        It is the change that explains best what was seen; nothing is before or since where
        there is no split yet.
        """
        at = max(self._splits, default=None, key=lambda split: (
            split[1] + _log_after(split[3], self._counts)))
        before = at[3] if at else ()
        shown = {state: (before[symbol] if symbol < len(before) else 0, self._counts[symbol])
                 for state, symbol in self._index.items()}
        return ({state: old for state, (old, _) in shown.items() if old},
                {state: count - old for state, (old, count) in shown.items() if count > old})

    def record(self, next_state: int) -> None:
        """Record one more execution."""
        if len(self._counts) == 1:
            if next_state in self._index:
                # The likelihood stays 1, and the numerator below it: nothing to work out.
                self.executions += 1
                self._counts[0] += 1
                self.surprised = False
                return
            self._split_always_the_same()
        elif self._counts:
            self._split()
        chance = self._count(next_state)
        self._log_first += math.log(chance)
        if len(self._counts) == 1:
            return
        self.surprised = chance < self.SURPRISE
        likelihood = _log_likelihood(self._counts)
        soon = _LOOK_EVERY_IF_SUSPICIOUS if self.suspicious else _LOOK_EVERY
        if (self._bound - likelihood >= self.threshold or self.surprised
                or self.executions >= self._looked + soon):
            self._look(likelihood)

    def _split_always_the_same(self) -> None:
        """
        Open the splits that would be there, now that they are needed.

        Each stands for all up to the next one, with no more than their parts: it has predicted
        the same for longer than they would have, and is no more ready for something else.
        """
        now = self.executions
        # The last of each power.
        numbers = sorted({((now >> power) - 1 | 1) << power for power in range(now.bit_length())})
        for number, end in zip(numbers, (*numbers[1:], now + 1)):
            part = math.log(_unspent(number) - _unspent(end)) + _log_first_of_one(end - 1)
            self._splits.append((number, _log_first_of_one(number), part, (number,)))
        self._log_first = _log_first_of_one(now)

    def _split(self) -> None:
        """Open a split before the next execution."""
        number, log_first = self.executions, self._log_first
        if number % _TIDY_EVERY == 0:
            self._tidy()
        self._splits.append(
            (number, log_first, log_first + _log_share(number), tuple(self._counts)))

    def _tidy(self) -> None:
        """Let splits that have had their time share the place before them, if there is one."""
        now, placed, places = self.executions, False, list[list[_Split]]()
        for split in self._splits:
            old = _shares(split[0], now)
            if places and (old or not placed):
                places[-1].append(split)
            else:
                places.append([split])
            placed = placed or not old
        self._splits = [self._together(splits) if len(splits) > 1 else splits[0]
                        for splits in places]

    def _together(self, splits: Sequence[_Split]) -> _Split:
        """Return the one that explains most of several splits, with the parts of all."""
        place = next(split[0] for split in splits if not _shares(split[0], self.executions))
        afters = [_log_after(split[3], self._counts) for split in splits]
        parts = [split[2] + after for split, after in zip(splits, afters)]
        best = max(range(len(splits)), key=parts.__getitem__)
        return place, splits[best][1], _log_sum(parts) - afters[best], splits[best][3]

    def _count(self, next_state: int) -> float:
        """Count an outcome; return the probability with which ``first`` predicted it."""
        before = self.executions
        self.executions += 1
        new = 1 / self.executions ** 2    # 1 for the first, which is new for sure
        symbol = self._index.get(next_state)
        if symbol is None and len(self._index) < _MOST_SYMBOLS:
            self._index[next_state] = len(self._index)
            self._counts.append(1)
            return new
        if symbol is None:
            symbol = _MOST_SYMBOLS
            if len(self._counts) == _MOST_SYMBOLS:
                self._counts.append(0)
        count = self._counts[symbol]
        self._counts[symbol] += 1
        return (1 - new) * count / before + (new if symbol == _MOST_SYMBOLS else 0.0)

    def _look(self, likelihood: float) -> None:
        """Work out the evidence."""
        self._looked = self.executions
        afters = [_log_after(split[3], self._counts) for split in self._splits]
        total = _log_sum([split[2] + after for split, after in zip(self._splits, afters)])
        self.evidence = total - likelihood
        self.alarm = self.evidence >= self.threshold
        self.suspicion = max(
            split[1] + after for split, after in zip(self._splits, afters)) - likelihood
        self.suspicious = self.suspicion >= self.SUSPICIOUS
        # What is not spent yet is in the splits to come.
        self._bound = _log_sum([total, self._log_first + math.log(_unspent(self.executions))])


@lru_cache(maxsize=10_000)    # which all detectors ask for
def _log_share(number: int) -> float:
    """Return the log of the weight of a split."""
    return math.log(share(number, _EVEN_SPLITS))


def _shares(number: int, now: int) -> bool:
    """Whether a split is too old to have a place of its own."""
    return now - number >= _EXECUTIONS_PER_PLACE * (number & -number)


def _unspent(number: int) -> float:
    """Return the sum of the weights of the splits from ``number`` on."""
    return math.sqrt((1 + _EVEN_SPLITS) / (number + _EVEN_SPLITS))


def _log_first_of_one(number: int) -> float:
    """Return ``log first`` of a pair that always did the same."""
    return math.log((number + 1) / (2 * number))    # that of 1 - 1/t^2, t > 1


def _log_sum(logs: Sequence[float]) -> float:
    """Return the log of the sum of what the logs are of."""
    top = max(logs)
    return top + math.log(math.fsum([math.exp(log - top) for log in logs]))


def _log_likelihood(counts: Sequence[int]) -> float:
    """Return the log of the largest probability that one distribution gives the outcomes."""
    last = len(counts) - 1
    total, after = 0.0, counts[last]    # nothing is later than the last one
    for symbol in range(last - 1, -1, -1):
        count = counts[symbol]
        again = count - 1
        if symbol < _MOST_SYMBOLS and again and after:
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
    lgamma, shown = math.lgamma, min(len(before), _MOST_SYMBOLS)
    known, unknown = _AFTER / shown, _NEW if shown > 1 else _NEW_TO_ONE
    total, executed = 0.0, 0
    for symbol, count in enumerate(counts):
        if symbol < len(before):
            count -= before[symbol]
        if not count:
            continue
        executed += count
        if symbol < shown:
            total += lgamma(count + known) - lgamma(known)
        elif symbol < _MOST_SYMBOLS:
            total += math.log(unknown) + lgamma(count)
        else:
            total += lgamma(count + unknown) - lgamma(unknown)
    return total + lgamma(_AFTER + unknown) - lgamma(executed + _AFTER + unknown)
