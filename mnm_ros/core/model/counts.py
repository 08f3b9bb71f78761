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
    """
    Transition counts of the pairs (state, action) met so far; nothing is sized in advance.

    :ivar by_pair: ``N(s, a)`` of the pairs that were executed, to be read alone.
    :ivar forgotten: how often the transitions of pairs were forgotten, to be read alone.
    """

    def __init__(self) -> None:
        self.by_pair: dict[Pair, int] = {}
        self._next: dict[Pair, dict[int, int]] = {}
        self._lost: dict[Pair, int] = {}
        self.forgotten: dict[Pair, int] = {}

    def add(self, state: int, action: int, next_state: int) -> tuple[int, int]:
        """
        Count one execution of ``action`` in ``state`` that ended in ``next_state``.

        :returns: the executions before, those broken off included, and how many ended there.
        """
        pair = (state, action)
        visits, count = self.by_pair.get(pair, 0), 0
        self.by_pair[pair] = visits + 1
        if visits:
            nexts = self._next[pair]
            count = nexts.get(next_state, 0)
            nexts[next_state] = count + 1
        else:
            self._next[pair] = {next_state: 1}
        return visits + self._lost.get(pair, 0), count

    def lose(self, state: int, action: int) -> tuple[int, int]:
        """
        Count a step that was broken off, so that its next state is unknown.

        :returns: the executions before, those broken off included, and how many were broken off.
        """
        lost = self.lost(state, action)
        self._lost[state, action] = lost + 1
        return self.visits(state, action) + lost, lost

    def lost(self, state: int, action: int) -> int:
        """Return how many steps of a pair were broken off; ``visits`` leaves them out."""
        return self._lost.get((state, action), 0)

    def forget(self, state: int, action: int) -> None:
        """Forget all transitions of a pair."""
        for counted in (self.by_pair, self._next, self._lost):
            counted.pop((state, action), None)
        self.forgotten[state, action] = self.forgotten.get((state, action), 0) + 1

    def visits(self, state: int, action: int) -> int:
        """Return ``N(s, a)``."""
        return self.by_pair.get((state, action), 0)

    def visits_of_all(self, state: int, actions: int) -> list[int]:
        """Return ``N(s, a)`` for the actions ``0 .. actions - 1``."""
        return [self.by_pair.get((state, action), 0) for action in range(actions)]

    def next_states(self, state: int, action: int) -> Mapping[int, int]:
        """Return how often each next state followed ``action`` in ``state``."""
        return self._next.get((state, action), _NOTHING)

    def as_dict(self) -> dict[Pair, dict[int, int]]:
        """Return a copy: ``{(state, action): {next_state: count}}``."""
        return {pair: dict(nexts) for pair, nexts in self._next.items()}
