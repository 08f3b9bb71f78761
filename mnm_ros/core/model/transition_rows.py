# SPDX-License-Identifier: Apache-2.0

"""The counts of some states as arrays, kept up to date transition by transition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from mnm_ros.core.model.counts import Counts, Floats, Indices
import numpy as np
from numpy.typing import NDArray

_Number = TypeVar('_Number', np.float64, np.intp)


class TransitionRows:
    """
    One row for each (state, action) of the states entered; every state met has a place.

    :param counts: of the run; the caller adds each transition to them and by ``add``.
    :param actions: number of actions without RESET.
    :ivar actions: as given.
    :ivar states: those entered, home first; number ``i`` has the rows from ``i * actions`` on.
    :ivar places: of all states met, entered or not, by state; home has place 0.
    """

    def __init__(self, counts: Counts, actions: int) -> None:
        self.actions = actions
        self.states: list[int] = []
        self.places: dict[int, int] = {}
        self._counts = counts
        self._numbers: dict[int, int] = {}
        self._slots: list[dict[int, int]] = []
        self._next: Indices = np.zeros((64, 4), dtype=np.intp)
        self._tally: Floats = np.zeros((64, 4))
        self._entered: Indices = np.zeros(64, dtype=np.intp)

    @property
    def next(self) -> Indices:    # noqa: A003
        """Return the places that followed, as [row, slot]; 0 in an empty slot."""
        return self._next[:len(self._slots)]

    @property
    def tally(self) -> Floats:
        """How often, as [row, slot]; 0 in an empty slot."""
        return self._tally[:len(self._slots)]

    @property
    def entered(self) -> Indices:
        """Return the places of ``states``."""
        return self._entered[:len(self.states)]

    def enter(self, state: int) -> None:
        """Append the rows of a state, with what was counted there before."""
        number = self._numbers[state] = len(self.states)
        self.states.append(state)
        if number == len(self._entered):
            self._entered = _doubled(self._entered, 0)
        self._entered[number] = self._place(state)
        for action in range(self.actions):
            self._slots.append({})
            if len(self._slots) > len(self._next):
                self._next, self._tally = _doubled(self._next, 0), _doubled(self._tally, 0)
            self._fill(len(self._slots) - 1, self._counts.next_states(state, action))

    def number(self, state: int) -> int | None:
        """Return the number of a state, None unless it was entered."""
        return self._numbers.get(state)

    def add(self, state: int, action: int, next_state: int) -> None:
        """Take note of one more transition in the counts."""
        number = self._numbers.get(state)
        if number is not None:
            self._fill(number * self.actions + action, {next_state: 1})

    def forget(self, state: int, action: int) -> None:
        """Take note that the counts of a pair were emptied."""
        number = self._numbers.get(state)
        if number is not None:
            row = number * self.actions + action
            self._slots[row] = {}
            self._next[row] = 0
            self._tally[row] = 0.0

    def _place(self, state: int) -> int:
        return self.places.setdefault(state, len(self.places))

    def _fill(self, row: int, counts: Mapping[int, int]) -> None:
        slots = self._slots[row]
        for state, count in counts.items():
            place = self._place(state)
            slot = slots.get(place)
            if slot is None:
                slot = slots[place] = len(slots)
                if slot == self._next.shape[1]:
                    self._next, self._tally = _doubled(self._next, 1), _doubled(self._tally, 1)
                self._next[row, slot] = place
            self._tally[row, slot] += count


def _doubled(array: NDArray[_Number], axis: int) -> NDArray[_Number]:
    """Return an array with as many zeros again along an axis."""
    return np.concatenate([array, np.zeros_like(array)], axis=axis)
