# SPDX-License-Identifier: Apache-2.0

"""
Finds sources that contradict the others.

A robot side is quarantined if it contradicts more than half of the other robot sides, and two of
them at least; of two, nobody knows which one is wrong. A node that reports work is quarantined
if it contradicts more than half of the robot sides. Each source is compared with each robot side
by a ``Contradiction``. Number ``k`` of these tests has the part ``1 / (k (k + 1))`` of
``FALSE_ALARM``. So, over all time, the probability is at most ``FALSE_ALARM`` that any source is
quarantined that reports where each pair leads, as long as half of the other robot sides do so,
too: it would have to contradict one of these.

A change that all sources see is no contradiction: a pair may change once in each of its windows,
which end after ``WINDOW`` outcomes and where a change of the pair is noticed.

**The evidence** that a suspect contradicts a reference. The null hypothesis is that of each pair
(state, action) both draw from one distribution, which may change once in the course of a window.
An outcome has one of three *roles*: the usual one, which is the first that the reference has
reported in the window; to stay, if that is another one; and all others. The evidence of a window
is

    E = product of q(b_t) / max over tau, p, p' of the likelihood of b_1 .. b_n

where ``b_t`` is the role of outcome ``t``, ``q`` predicts each ``b_t`` before it is seen, and the
likelihood is that of the chances ``p`` up to ``tau`` and ``p'`` from there on, whoever reports.
The reference is predicted by its own counts, the suspect by ``(1 - lie) r + lie u``, where ``r``
is the prediction for the reference, and ``u`` the chances of the roles in a lie. Divided by the
true probability instead, which is no larger than the maximum, the numerator is a nonnegative
martingale that starts at 1, whatever the past makes one choose: which source executes which pair,
and when the test is examined. So is the product over all windows of ``1 - w + w E``, and the mean
of these products over three ``w`` and the lies of ``LIES``. It ever reaches ``1 / d`` with a
probability of at most ``d`` (Ville), whatever the distributions.

Source: Wasserman, Ramdas & Balakrishnan 2020, *Universal inference*, section 7 (sequences).
"""

from __future__ import annotations

from typing import NamedTuple

from mnm_ros.core.model.counts import Bools, Floats, Indices, Pair
import numpy as np

Reported = tuple[Pair, int, str]
"""A pair, the state to which it has led, and the name of the source that has reported it."""

FALSE_ALARM = 0.01
"""The probability with which an honest source is ever quarantined, over all sources and time."""

_TEST_EVERY = 8    # outcomes of a pair: a test takes some 100 us

WINDOW = 256
"""Outcomes of a pair, of all sources together, after which its window ends."""

ROLES = 3    # to be usual, to stay, and any other

LIES = np.array([(0.1, 0.1, 0.1, 0.8), (0.3, 0.1, 0.1, 0.8), (0.6, 0.1, 0.1, 0.8),
                 (1.0, 0.1, 0.8, 0.1), (1.0, 0.1, 0.1, 0.8), (1.0, 0.98, 0.01, 0.01)])
"""Each the part of lies, and the chance of each role in a lie."""

_WEIGHTS = np.array([[0.03], [0.15], [0.6]])    # w: which pairs say anything is not known before
_FIRST = np.array([1.5, 0.25, 0.25])    # what the reference has reported before, as it were


def log_factors(suspect: Bools, roles: Indices) -> Floats:
    """
    Return the logarithm of ``1 - w + w E`` of a window for each of three ``w`` and of ``LIES``.

    :param suspect: whether an outcome is that of the suspect, as [outcome].
    :param roles: below ``ROLES``, as [outcome].
    """
    shown = np.eye(ROLES)[roles]    # as [outcome, role]
    said = np.cumsum(shown * ~suspect[:, np.newaxis], axis=0) + _FIRST
    said = np.concatenate((_FIRST[np.newaxis], said[:-1]))    # before each outcome
    expected = said[np.arange(len(roles)), roles] / said.sum(axis=1)
    lies = LIES[:, :1] * LIES[:, 1:][:, roles] + (1 - LIES[:, :1]) * expected
    evidence = np.log(np.where(suspect, lies, expected)).sum(axis=1) - _most_likely(shown)
    return np.logaddexp(np.log(1 - _WEIGHTS), np.log(_WEIGHTS) + evidence).ravel()


def _most_likely(shown: Floats) -> float:
    """Return the log of the largest likelihood with one change at most."""
    before = np.concatenate((np.zeros((1, ROLES)), np.cumsum(shown, axis=0)))
    return float((_log_likelihood(before) + _log_likelihood(before[-1] - before)).max())


def _log_likelihood(counts: Floats) -> Floats:
    """Return the log of the largest likelihood of counts, which are as [..., role]."""
    return np.asarray(_x_log_x(counts).sum(axis=-1) - _x_log_x(counts.sum(axis=-1)))


def _x_log_x(number: Floats) -> Floats:
    return np.asarray(number * np.log(np.maximum(number, 1.0)))


class Contradiction:
    """
    The evidence that one source contradicts another one.

    :param delta: the probability with which it is ever found without reason.
    :ivar threshold: ``log(1 / delta)``, in nats.
    :ivar windows: by pair, the factors of the window that may get more outcomes. The evidence of a
        window that is taken out stays.
    """

    def __init__(self, delta: float) -> None:
        self.threshold = -float(np.log(delta))
        self._total = np.zeros(len(_WEIGHTS) * len(LIES))    # log of the product over all windows
        self.windows: dict[Pair, Floats] = {}

    @property
    def evidence(self) -> float:
        """Return the logarithm of the capital, in nats."""
        return float(np.logaddexp.reduce(self._total) - np.log(len(self._total)))

    @property
    def found(self) -> bool:
        """Whether the suspect contradicts the reference at this moment."""
        return self.evidence >= self.threshold

    def update(self, pair: Pair, suspect: Bools, roles: Indices) -> None:
        """Weigh the window of a pair, which is as ``log_factors`` has it, in place of before."""
        factors = log_factors(suspect, roles)
        self._total += factors - self.windows.get(pair, 0.0)
        self.windows[pair] = factors


class Finding(NamedTuple):
    """
    A source contradicts another one.

    :ivar pair: where that has come to light.
    :ivar quarantined: whether the source does not count any more.
    """

    source: str
    reference: str
    pair: Pair
    quarantined: bool


class SourceWatch:
    """
    Compares sources, pair by pair.

    :ivar quarantined: the sources that do not count any more, in this order, with their numbers.
    """

    def __init__(self) -> None:
        self.quarantined: dict[str, int] = {}
        self._numbers: dict[str, int] = {}    # from 0 on, by name
        self._robots: list[int] = []    # the sources that are robot sides
        self._windows: dict[Pair, list[tuple[int, int]]] = {}    # source and next state
        self._tests: dict[tuple[int, int], Contradiction] = {}    # by suspect and reference
        self._found: dict[tuple[int, int], None] = {}

    def compare(self, pair: Pair, after: int, source: str) -> Finding | None:
        """Compare a transition, no RESET; return what has come to light by it, if anything."""
        if len(self._numbers) < 2:
            return None
        window = self._windows.setdefault(pair, [])
        window.append((self._numbers[source], after))
        finding = self._compare_all(pair, window) if len(window) % _TEST_EVERY == 0 else None
        if len(window) >= WINDOW:
            self._end(pair)
        return finding

    def change(self, state: int | None, action: int | None) -> None:
        """End the windows of pairs that lead elsewhere than before; None is any."""
        for pair in [*self._windows]:
            if state in (None, pair[0]) and action in (None, pair[1]):
                self._end(pair)

    def number(self, source: str, robot_side: bool) -> int:
        """Return the number of a source; the first call for a source says what it is."""
        if source not in self._numbers:
            self._numbers[source] = len(self._numbers)
            if robot_side:
                self._robots.append(self._numbers[source])
        return self._numbers[source]

    def _compare_all(self, pair: Pair, window: list[tuple[int, int]]) -> Finding | None:
        sources = np.array([number for number, _ in window])
        afters = np.array([after for _, after in window])
        here, found = {*sources.tolist()}, None
        for reference in here.intersection(self._robots):
            first = int(np.argmax(sources == reference))
            roles = np.where(afters[first + 1:] == afters[first], 0, np.where(
                afters[first + 1:] == pair[0], 1, 2))
            for suspect in here - {reference}:
                both = np.isin(sources[first + 1:], (suspect, reference))
                suspected = sources[first + 1:][both] == suspect
                if suspected.any():
                    test = self._test(suspect, reference)
                    test.update(pair, suspected, roles[both])
                    if test.found and (suspect, reference) not in self._found:
                        found = self._conclude(suspect, reference, pair)
        return found

    def _test(self, suspect: int, reference: int) -> Contradiction:
        test = self._tests.get((suspect, reference))
        if test is None:
            number = len(self._tests) + 1
            test = self._tests[suspect, reference] = Contradiction(
                FALSE_ALARM / (number * (number + 1)))
        return test

    def _conclude(self, suspect: int, reference: int, pair: Pair) -> Finding:
        self._found[suspect, reference] = None
        names = [*self._numbers]
        others = [number for number in self._robots
                  if number != suspect and names[number] not in self.quarantined]
        against = sum((suspect, number) in self._found for number in others)
        least = 2 if suspect in self._robots else 1
        wrong = against >= least and 2 * against > len(others)
        if wrong:
            self.quarantined[names[suspect]] = suspect
        return Finding(names[suspect], names[reference], pair, wrong)

    def _end(self, pair: Pair) -> None:
        self._windows.pop(pair, None)
        for test in self._tests.values():
            test.windows.pop(pair, None)
