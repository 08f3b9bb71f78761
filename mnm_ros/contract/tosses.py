# SPDX-License-Identifier: Apache-2.0

"""Whether orders that are repeated are executed again, by tosses of a coin."""

from __future__ import annotations

from collections import Counter, defaultdict
import math

_NEW = 0.5    # executions that count for whatever a pair has not shown


class Tosses:
    """
    Guesses by where a step leads whether the order before it was repeated, which a coin decides.

    If a repeat is not executed, the next step has the same chances as without it: nothing that is
    seen says how the coin has fallen. Who bets on it, with ``q`` for that the order was repeated,
    then has ``2 q`` or ``2 (1 - q)`` times as much, the same on average. So the capital ever
    reaches ``1/p`` with probability at most ``p`` (Ville), whatever the chances, and however bad
    the guesses. These are good if repeats are executed, and all chances have been seen.

    :ivar capital: its logarithm, 0 at first. It grows if repeats are executed, and falls if they
        are not and that can be told.
    :ivar count: of the tosses guessed.
    """

    def __init__(self) -> None:
        self.capital = 0.0
        self.count = 0
        self._seen: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        self._states: set[int] = set()

    def home(self, state: int) -> None:
        """Begin a walk at home."""
        self._here, self._before, self._repeated = state, -1, False
        self._states.add(state)

    def step(self, action: int, state: int, tossed: bool) -> None:
        """
        Guess the toss before a step of the walk that has led to ``state``.

        :param tossed: whether there was one; it is told by ``repeated`` how it has fallen.
        """
        if tossed:
            once = self._chance(self._here, action, state)
            between = self._seen[self._here, self._before]
            twice = (sum(times * self._chance(middle, action, state)
                         for middle, times in between.items())
                     + _NEW * self._any) / (sum(between.values()) + _NEW)
            right = twice if self._repeated else once
            self.capital += math.log(2 * right / (once + twice))
            self.count += 1
        if not self._repeated:
            self._seen[self._here, action][state] += 1
        self._states.add(state)
        self._here, self._before, self._repeated = state, action, False

    def repeated(self) -> None:
        """Take note that the order was repeated."""
        self._repeated = True

    def _chance(self, state: int, action: int, after: int) -> float:
        """Return how likely the pair seems to lead there, by what was seen without repeats."""
        seen = self._seen[state, action]
        return (seen[after] + _NEW * self._any) / (sum(seen.values()) + _NEW)

    @property
    def _any(self) -> float:
        """Return the chance of each state where all, and one more, are as likely."""
        return 1 / (len(self._states) + 1)
