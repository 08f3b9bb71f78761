# SPDX-License-Identifier: Apache-2.0

"""Observed transitions, counted per state and action as they come; types of arrays of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]

Pair = tuple[int, int]
_NOTHING: Mapping[int, int] = {}


class NextStates(Protocol):
    """The counts, as far as a model asks for them."""

    def next_states(self, state: int, action: int) -> Mapping[int, float]:
        """Return how often each next state followed ``action`` in ``state``."""


def usual(nexts: Mapping[int, float]) -> int | None:
    """Return the next state that followed most often; None if none has."""
    return max(nexts, key=nexts.__getitem__, default=None)


def chance(arrived: int, executed: int) -> float:
    """Return the estimate of Krichevsky and Trofimov 1981 of the chance to arrive."""
    return (arrived + 0.5) / (executed + 1)


class Counts:
    """Transition counts of the pairs (state, action) met so far; nothing is sized in advance."""

    def __init__(self) -> None:
        self._visits: dict[Pair, int] = {}
        self._next: dict[Pair, dict[int, int]] = {}
        self._lost: dict[Pair, int] = {}
        self._forgotten: dict[Pair, int] = {}

    def add(self, state: int, action: int, next_state: int) -> tuple[int, int]:
        """
        Count one execution of ``action`` in ``state`` that ended in ``next_state``.

        :returns: the executions before, and how many of them ended there.
        """
        pair = (state, action)
        number = self._visits.get(pair, 0)
        self._visits[pair] = number + 1
        count = 0
        if number:
            nexts = self._next[pair]
            count = nexts.get(next_state, 0)
            nexts[next_state] = count + 1
        else:
            self._next[pair] = {next_state: 1}
        return number, count

    def lose(self, state: int, action: int) -> None:
        """Count a step that was broken off, so that its next state is unknown."""
        self._lost[state, action] = self.lost(state, action) + 1

    def lost(self, state: int, action: int) -> int:
        """Return how many steps of a pair were broken off; ``visits`` leaves them out."""
        return self._lost.get((state, action), 0)

    def forget(self, state: int, action: int) -> None:
        """Forget all transitions of a pair."""
        for counted in (self._visits, self._next, self._lost):
            counted.pop((state, action), None)
        self._forgotten[state, action] = self.times_forgotten(state, action) + 1

    def times_forgotten(self, state: int, action: int) -> int:
        """Return how often the transitions of a pair were forgotten."""
        return self._forgotten.get((state, action), 0)

    def visits(self, state: int, action: int) -> int:
        """Return ``N(s, a)``."""
        return self._visits.get((state, action), 0)

    def visits_of_all(self, state: int, actions: int) -> list[int]:
        """Return ``N(s, a)`` for the actions ``0 .. actions - 1``."""
        return [self._visits.get((state, action), 0) for action in range(actions)]

    @property
    def by_pair(self) -> Mapping[Pair, int]:
        """``N(s, a)`` of the pairs that were executed."""
        return self._visits

    def next_states(self, state: int, action: int) -> Mapping[int, int]:
        """Return how often each next state followed ``action`` in ``state``."""
        return self._next.get((state, action), _NOTHING)

    def as_dict(self) -> dict[Pair, dict[int, int]]:
        """Return a copy: ``{(state, action): {next_state: count}}``."""
        return {pair: dict(nexts) for pair, nexts in self._next.items()}
