# SPDX-License-Identifier: Apache-2.0

"""The counts of the states entered as arrays, kept up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from mnm_ros.core.model.counts import Bools, Floats, Indices, NextStates, Pair
from mnm_ros.core.model.row_predictions import RowPredictions
from mnm_ros.core.model.support import Support
import numpy as np
from numpy.typing import NDArray

_Number = TypeVar('_Number', np.float64, np.intp, np.bool_)


class TransitionRows:
    """
    One row for each (state, action) of the states entered; every state met has a place.

    :param counts: of the run; the caller adds each transition to them and by ``add``.
    :param actions: number of actions without RESET.
    :ivar actions: of the problem.
    :ivar states: those entered, home first; number ``i`` has the rows from ``i * actions`` on.
    :ivar numbers: of the states entered.
    :ivar places: of all states met, entered or not, by state; home has place 0.
    :ivar predictions: of what follows, for ruling out.
    """

    def __init__(self, counts: NextStates, actions: int,
                 support: Support | None = None) -> None:
        self.actions = actions
        self.states: list[int] = []
        self.places: dict[int, int] = {}
        self._counts = counts
        self.support = Support() if support is None else support
        self._closed: Bools = np.zeros(64, dtype=bool)
        self._filled: Bools = np.zeros((64, 4), dtype=bool)
        self.numbers: dict[int, int] = {}
        self._slots: list[dict[int, int]] = []
        self._next: Indices = np.zeros((64, 4), dtype=np.intp)
        self._tally: Floats = np.zeros((64, 4))
        self._carried: Mapping[Pair, Mapping[int, int]] = {}    # none in most runs
        self._begun = False    # whether it was begun again
        self.predictions = RowPredictions()
        self._astray: dict[tuple[int, int], None] = {}    # row and slot of what was not declared

    @property
    def next(self) -> Indices:    # noqa: A003
        """Return the places that followed, as [row, slot]; 0 in an empty slot."""
        return self._next[:len(self._slots)]

    @property
    def tally(self) -> Floats:
        """How often, as [row, slot]; 0 in an empty slot."""
        return self._tally[:len(self._slots)]

    @property
    def closed(self) -> Bools:
        """Whether it is declared where the pair may lead, as [row]."""
        return self._closed[:len(self._slots)]

    @property
    def filled(self) -> Bools:
        """Whether a slot has a place, seen or declared, as [row, slot]."""
        return self._filled[:len(self._slots)]

    @property
    def entered(self) -> Indices:
        """Return the places of ``states``."""
        return np.array([self.places[state] for state in self.states], dtype=np.intp)

    def enter(self, state: int) -> None:
        """Append the rows of a state, with what was counted there before."""
        self.numbers[state] = len(self.states)
        self.states.append(state)
        self._place(state)
        for action in range(self.actions):
            self._slots.append({})
            if len(self._slots) > len(self._next):
                self._next, self._tally = _doubled(self._next, 0), _doubled(self._tally, 0)
                self._closed, self._filled = _doubled(self._closed, 0), _doubled(self._filled, 0)
            self._fill_seen(len(self._slots) - 1, state, action)
            self._declare(len(self._slots) - 1, state, action)

    def add(self, state: int, action: int, next_state: int) -> None:
        """Record one more transition in the counts."""
        number = self.numbers.get(state)
        if number is None:
            return
        row = number * self.actions + action
        slot = self._slots[row].get(self.places.get(next_state, -1))
        if slot is not None:
            self._tally[row, slot] += 1
        elif not self.support.forbids(state, action):    # else no slot has a place
            self._fill(row, {next_state: 1})
            self._find_astray(row, state, action)

    def carry(self, tallies: Mapping[Pair, Mapping[int, int]]) -> list[Pair]:
        """
        Add what was seen of these pairs before the run, in place of what was kept so far.

        :returns: all of both.
        """
        before, self._carried = self._carried, dict(tallies)
        changed = [*{**before, **tallies}]
        for state, action in changed:
            row = self._row(state, action)
            if row is not None:
                self._empty(row)
                self._fill_seen(row, state, action)
                if (state, action) not in tallies:
                    self.predictions.set_aside(row, self._tally[row])
                self._declare(row, state, action)
        return changed

    def carried(self, pair: Pair) -> int:
        """Return how many executions of a pair are kept from before the run."""
        return sum(self._carried.get(pair, {}).values())

    def start_again(self) -> None:
        """Let states be ruled out only by what is counted from now on."""
        self.look()
        self.predictions.begin()
        self._begun = True

    def stayed(self, states: Sequence[int], tries: int) -> list[Pair]:
        """Return the pairs of these states that only ever stayed, in fewer tries."""
        return [(state, action) for state in states for action in range(self.actions)
                if [*(nexts := self._counts.next_states(state, action))] == [state]
                and nexts[state] < tries]

    def aside(self, pair: Pair) -> int:
        """Return how many executions of a pair do not count where states are ruled out."""
        row = self.numbers[pair[0]] * self.actions + pair[1]
        return int(self.predictions.aside[row].sum())

    def look(self) -> None:
        """Predict what has come since the last time."""
        own, filled = np.repeat(self.entered, self.actions), self.filled
        declared = filled & self.closed[:, None]
        for row, slot in self._astray:
            declared[row, slot] = False
        self.predictions.look(self.tally, (self.next == own[:, None]) & filled, declared,
                              self._first_slot)

    def _first_slot(self, row: int) -> int:
        """Return the slot of what followed first of all that was counted of a pair."""
        number, action = divmod(row, self.actions)
        first = next(iter(self._counts.next_states(self.states[number], action)))
        return self._slots[row][self.places[first]]

    def forget(self, state: int, action: int) -> None:
        """Record that the counts of a pair were emptied; its kept samples go with them."""
        if (state, action) in self._carried:
            self._carried = {
                pair: tally for pair, tally in self._carried.items() if pair != (state, action)}
        row = self._row(state, action)
        if row is not None:
            self._empty(row)
            self._declare(row, state, action)

    def declare_again(self) -> None:
        """Record that the support has changed; what came before was predicted without."""
        self.look()
        for number, state in enumerate(self.states):
            for action in range(self.actions):
                self._declare(number * self.actions + action, state, action)

    def _declare(self, row: int, state: int, action: int) -> None:
        ends, nowhere = self.support.ends(state, action), (
            self._closed[row] and not self._filled[row].any())
        self._closed[row] = ends is not None
        if ends == ():    # whatever it has led to, it is not commanded any more
            self._empty(row)
            return
        if nowhere:    # until now
            self._fill_seen(row, state, action)
        self._fill(row, dict.fromkeys(ends or (), 0))
        self._find_astray(row, state, action)

    def _find_astray(self, row: int, state: int, action: int) -> None:
        """Expect what is declared alone: an end is added to that because it is about to come."""
        if not self._closed[row]:
            return
        declared = {self.places[end] for end in self.support.declared.successors[state][action]
                    if end in self.places}
        for place, slot in self._slots[row].items():
            if place not in declared:
                self._astray[row, slot] = None

    def _empty(self, row: int) -> None:
        self._astray = {at: None for at in self._astray if at[0] != row}
        self._slots[row] = {}
        self._next[row] = 0
        self._tally[row] = 0.0
        self._filled[row] = False
        self.predictions.forget(row)

    def _fill_seen(self, row: int, state: int, action: int) -> None:
        self._fill(row, self._counts.next_states(state, action))
        self._fill(row, self._carried.get((state, action), {}))
        if self._begun:
            self.predictions.set_aside(row, self._tally[row])
        elif self._tally[row].any():
            self.predictions.enter_late(row)
        if (state, action) in self._carried:
            self.predictions.carry(row)

    def _row(self, state: int, action: int) -> int | None:
        """Return the number of the row of a pair; None if its state was not entered."""
        number = self.numbers.get(state)
        return None if number is None else number * self.actions + action

    def _place(self, state: int) -> int:
        return self.places.setdefault(state, len(self.places))

    def _fill(self, row: int, counts: Mapping[int, float]) -> None:
        slots = self._slots[row]
        for state, count in counts.items():
            place = self._place(state)
            slot = slots.get(place)
            if slot is None:
                slot = slots[place] = len(slots)
                if slot == self._next.shape[1]:
                    self._next, self._tally = _doubled(self._next, 1), _doubled(self._tally, 1)
                    self._filled = _doubled(self._filled, 1)
                self._next[row, slot] = place
                self._filled[row, slot] = True
            self._tally[row, slot] += count


def _doubled(array: NDArray[_Number], axis: int) -> NDArray[_Number]:
    """Return an array with as many zeros again along an axis."""
    return np.concatenate([array, np.zeros_like(array)], axis=axis)
