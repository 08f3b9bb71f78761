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
"""

from __future__ import annotations

from typing import NamedTuple

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.statistics.contradiction import Contradiction, WINDOW
import numpy as np

FALSE_ALARM = 0.01
"""The probability with which an honest source is ever quarantined, over all sources and time."""

_TEST_EVERY = 8    # outcomes of a pair: a test takes some 100 us


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
