# SPDX-License-Identifier: Apache-2.0

"""The counts of the known states as arrays: kept up to date, and as they are at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import math
from typing import ClassVar, TypeVar

from mnm_ros.core.model.counts import Bools, Floats, Indices, NextStates, Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.row_predictions import RowPredictions
from mnm_ros.core.model.support import Support
import numpy as np
from numpy.typing import NDArray

_Number = TypeVar('_Number', np.float64, np.intp, np.bool_)

_MOST_DENSE_STATES = 150
"""States up to which dense equations are solved sooner than sparse ones."""

_SMOOTHING = 0.5
_MOST_SWEEPS = 60


class TransitionRows:
    """
    One row for each (state, action) of the states entered; every state met has a place.

    :param counts: of the run; the caller adds each transition to them and by ``add``.
    :param actions: number of actions without RESET.
    :ivar actions: as given.
    :ivar states: those entered, home first; number ``i`` has the rows from ``i * actions`` on.
    :ivar places: of all states met, entered or not, by state; home has place 0.
    :ivar predictions: of what follows, for ruling out.
    """

    ADDED: ClassVar = ('_astray', 'predictions')
    _carried: Mapping[Pair, Mapping[int, int]] = {}    # none in most runs
    _begun = False    # whether it was begun anew

    def __init__(self, counts: NextStates, actions: int,
                 support: Support | None = None) -> None:
        self.actions = actions
        self.states: list[int] = []
        self.places: dict[int, int] = {}
        self._counts = counts
        self.support = Support() if support is None else support
        self._closed: Bools = np.zeros(64, dtype=bool)
        self._filled: Bools = np.zeros((64, 4), dtype=bool)
        self._numbers: dict[int, int] = {}
        self._slots: list[dict[int, int]] = []
        self._next: Indices = np.zeros((64, 4), dtype=np.intp)
        self._tally: Floats = np.zeros((64, 4))
        self._entered: Indices = np.zeros(64, dtype=np.intp)
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
                self._closed, self._filled = _doubled(self._closed, 0), _doubled(self._filled, 0)
            self._fill_seen(len(self._slots) - 1, state, action)
            self._declare(len(self._slots) - 1, state, action)

    def number(self, state: int) -> int | None:
        """Return the number of a state, None unless it was entered."""
        return self._numbers.get(state)

    def add(self, state: int, action: int, next_state: int) -> None:
        """Take note of one more transition in the counts."""
        number = self._numbers.get(state)
        if number is None or self.support.forbids(state, action):
            return
        row = number * self.actions + action
        slot = self._slots[row].get(self.places.get(next_state, -1))
        if slot is None:
            self._fill(row, {next_state: 1})
            self._find_astray(row, state, action)
        else:
            self._tally[row, slot] += 1

    def carry(self, tallies: Mapping[Pair, Mapping[int, int]]) -> list[Pair]:
        """
        Add what was seen of these pairs before the run, in place of what was carried so far.

        :returns: all of both.
        """
        before, self._carried = self._carried, dict(tallies)
        changed = [*{**before, **tallies}]
        for state, action in changed:
            number = self._numbers.get(state)
            if number is not None:
                row = number * self.actions + action
                self._empty(row)
                self._fill_seen(row, state, action)
                if (state, action) in tallies:
                    self.predictions.carry(row)
                else:
                    self.predictions.set_aside(row, self._tally[row])
                self._declare(row, state, action)
        return changed

    def carried(self, pair: Pair) -> int:
        """Return how many executions of a pair are carried."""
        return sum(self._carried.get(pair, {}).values())

    def begin_anew(self) -> None:
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
        number = self._numbers[pair[0]]
        row = number * self.actions + pair[1]
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
        """Take note that the counts of a pair were emptied; what is carried goes with them."""
        if (state, action) in self._carried:
            self._carried = {
                pair: tally for pair, tally in self._carried.items() if pair != (state, action)}
        number = self._numbers.get(state)
        if number is not None:
            row = number * self.actions + action
            self._empty(row)
            self._declare(row, state, action)

    def declare_anew(self) -> None:
        """Take note that the support has changed; what came before was predicted without."""
        self.look()
        for number, state in enumerate(self.states):
            for action in range(self.actions):
                self._declare(number * self.actions + action, state, action)

    def _declare(self, row: int, state: int, action: int) -> None:
        ends, nowhere = self.support.ends(state, action), (
            self._closed[row] and not self._filled[row].any())
        self._closed[row] = ends is not None
        if ends == ():    # whatever it has led to, it is not commanded any more
            self._filled[row], self._tally[row] = False, 0.0
            self.predictions.forget(row)
            return
        if nowhere:    # until now
            self._empty(row)
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


@dataclass(frozen=True)
class EmpiricalModel:
    """
    The transitions observed in ``n`` sampled states.

    :ivar states: these, home first.
    :ivar numbers: theirs in ``TransitionRows``.
    :ivar all_rows: the number of each row in ``TransitionRows``.
    :ivar actions: number of actions without RESET; state ``i`` has the rows from ``i * actions``
        on.
    :ivar places: of what followed, as [row, slot].
    :ivar columns: the same as indices of ``states``, -1 for any other state.
    :ivar tally: how often, as [row, slot], 0 in empty slots.
    :ivar closed: whether it is declared where the pair may lead, as [row].
    :ivar filled: whether a slot has a place, seen or declared, as [row, slot].
    :ivar place_of: the place of each state met.
    :ivar once: whether it did at least once, beside the tally, as [row, slot].
    :ivar excess: what predictions have cost beyond the entropy of the tally, in nats, as [row];
        ``G`` of ``planning/plausible.py``.
    """

    states: tuple[int, ...]
    numbers: Indices
    all_rows: Indices
    actions: int
    places: Indices
    columns: Indices
    tally: Floats
    closed: Bools
    filled: Bools
    place_of: dict[int, int]
    once: Bools
    excess: Floats

    @classmethod
    def of(cls, rows: TransitionRows, known: Sequence[int]) -> EmpiricalModel:
        """Return the model of ``known``, home first, all of which were entered."""
        numbers = np.array([rows.number(state) for state in known], dtype=np.intp)
        all_rows = (numbers[:, None] * rows.actions + np.arange(rows.actions)).ravel()
        column = np.full(len(rows.places), -1, dtype=np.intp)
        column[rows.entered[numbers]] = np.arange(len(known))
        filled = rows.filled[all_rows]
        width = max(1, int(filled.any(axis=0).sum()))    # no slot is filled before those before it
        places = rows.next[all_rows, :width]
        return cls(tuple(known), numbers, all_rows, rows.actions, places, column[places],
                   rows.tally[all_rows, :width], rows.closed[all_rows], filled[:, :width],
                   rows.places, np.zeros_like(places, dtype=np.bool_), np.zeros(len(all_rows)))

    @classmethod
    def of_counts(cls, counts: NextStates, states: Sequence[int], actions: int,
                  support: Support) -> EmpiricalModel:
        """Return the model of states, home first, of which nothing but counts is kept."""
        rows = TransitionRows(counts, actions, support)
        for state in states:
            rows.enter(state)
        return cls.of(rows, states)

    @classmethod
    def for_ruling_out(cls, rows: TransitionRows, known: Sequence[int]) -> EmpiricalModel:
        """Return the same of what counts where states are ruled out (``RowPredictions``)."""
        rows.look()
        model, found = cls.of(rows, known), rows.predictions
        shape = model.all_rows, slice(model.tally.shape[1])
        tally = model.tally - found.aside[shape]
        made = np.broadcast_to(tally.sum(axis=1)[:, None], tally.shape)
        seen = tally > 0
        length = -(tally[seen] * np.log(tally[seen] / made[seen]))
        entropy = np.bincount(np.nonzero(seen)[0], length, len(tally))
        return replace(model, tally=tally, once=model.tally > found.before[shape],
                       excess=np.maximum(0.0, found.paid[model.all_rows] - entropy))

    @cached_property
    def forbidden(self) -> Bools:
        """Return which pairs are declared to lead nowhere, as [row]."""
        nowhere: Bools = self.closed & ~self.filled.any(axis=1)
        return nowhere

    @cached_property
    def visits(self) -> Floats:
        """``N`` as [row]."""
        total: Floats = self.tally.sum(axis=1)
        return total

    @cached_property
    def fractions(self) -> Floats:
        """``P^`` as [row, slot]; zero without samples."""
        return self.tally / np.maximum(1.0, self.visits)[:, None]

    @cached_property
    def followed(self) -> Bools:
        """Whether a slot's place ever did, as [row, slot]."""
        return self.once | (self.tally > 0)

    def hits(self, target: int) -> Bools:
        """Return where a state followed, as [row, slot]."""
        return (self.places == self.place_of.get(target, -1)) & self.followed

    def leads(self, target: int | None) -> Bools:
        """Return which pairs may lead to a state, or to one never seen, as far as declared."""
        if target is None:
            met = np.zeros(len(self.place_of), dtype=bool)
            met[self.places[self.followed]] = True
            met[[self.place_of[state] for state in self.states]] = True
            there = ~met[self.places]
        else:
            there = self.places == self.place_of.get(target, -1)
        found: Bools = ~self.closed | (there & self.filled).any(axis=1)
        return found

    def pair(self, row: int) -> Pair:
        """Return the state and the action of a row."""
        number, action = divmod(row, self.actions)
        return self.states[number], action

    def rows_of(self, moves: Indices) -> Indices:
        """Return the row of the action of each state; any row of it where that is RESET."""
        return np.arange(len(moves)) * self.actions + np.maximum(moves, 0)

    def smoothed_plan(self, target: int, limit: float, smoothing: float = _SMOOTHING,
                      guess: Indices | None = None,
                      costs: Floats | None = None) -> tuple[Indices, float]:
        """
        Return a policy for ``target`` that also minds what has hardly been tried.

        Each pair fails with the weight of ``smoothing`` samples. A failure, and a state that is
        not known, ends an attempt and costs ``1 + limit``, so that the value is at most ``limit``
        exactly when the expected steps with a RESET after each failure are.

        :param guess: an action for each of the first known states, to begin with.
        :param costs: of steps as [state, action], RESET being the last; None for one each.
        :returns: The action by known state, and the value at home.
        """
        hits = self.hits(target)
        moves: Indices | None = None
        values = np.full(len(self.states), 1 + limit)
        if guess is not None:
            first = np.full(len(self.states), RESET)
            first[:len(guess)] = guess[:len(first)]
            first[0] = max(0, first[0])
            values = self._smoothed_values(first, hits, limit, smoothing, costs)
        plays = 1 if costs is None else costs[:, :-1].ravel()
        resets = 1 if costs is None else costs[:, -1]
        for _ in range(_MOST_SWEEPS):
            ahead = np.where(hits, 0.0, np.where(self.columns < 0, 1 + limit,
                                                 values[self.columns]))
            total = self.visits + smoothing
            steps = plays + ((self.tally * ahead).sum(axis=1) + smoothing * (1 + limit)) / total
            steps[self.forbidden] = np.inf
            steps = steps.reshape(-1, self.actions)
            best = steps.argmin(axis=1)
            away = steps[np.arange(len(best)), best] > (
                resets + steps[0, best[0]] + 1e-9)
            away[0] = False
            before, moves = moves, np.where(away, RESET, best)
            if before is not None and np.array_equal(before, moves):
                break
            values = self._smoothed_values(moves, hits, limit, smoothing, costs)
        assert moves is not None
        return moves, float(values[0])

    def smoothed_value(self, moves: Indices, target: int, limit: float,
                       costs: Floats | None = None) -> float:
        """Return the value of a policy at home under the same model; inf if it never ends."""
        return float(self.smoothed_values(moves, target, limit, costs=costs)[0])

    def smoothed_values(self, moves: Indices, target: int, limit: float,
                        smoothing: float = _SMOOTHING,
                        costs: Floats | None = None) -> Floats:
        """Return the same in each known state."""
        try:
            return self._smoothed_values(moves, self.hits(target), limit, smoothing, costs)
        except np.linalg.LinAlgError:
            return np.full(len(self.states), math.inf)

    def _smoothed_values(self, moves: Indices, hits: Bools, limit: float,
                         smoothing: float, of_steps: Floats | None = None) -> Floats:
        rows, away = self.rows_of(moves), moves == RESET
        masses = self.tally[rows] / (self.visits[rows] + smoothing)[:, None]
        outside = self.columns[rows] < 0
        failing = (smoothing / (self.visits[rows] + smoothing)
                   + np.where(outside & ~hits[rows], masses, 0.0).sum(axis=1))
        # RESET is both -1 and the last column.
        each = 1 if of_steps is None else of_steps[np.arange(len(moves)), moves]
        costs = each + np.where(away, 0.0, failing * (1 + limit))
        masses = np.where(outside | hits[rows] | away[:, None], 0.0, masses)
        return self.equations(masses, rows, away).values(costs)

    def equations(self, masses: Floats, rows: Indices, away: Bools,
                  more: tuple[Indices, Indices, Floats] | None = None,
                  leak: float = 0.0) -> Equations:
        """
        Return the equations of a policy.

        :param masses: of moves to known states, as [state, slot].
        :param rows: of the policy.
        :param away: whether it plays RESET, as [state].
        :param more: origins, ends and masses of further moves.
        :param leak: the part of each mass that is left out.
        """
        origins, slots = np.nonzero(masses)
        resets = np.flatnonzero(away)
        parts = [(origins, self.columns[rows][origins, slots], masses[origins, slots]),
                 (resets, np.zeros_like(resets), np.ones(len(resets)))]
        parts += [more] if more else []
        origins, ends, masses = (np.concatenate(column) for column in zip(*parts))
        return Equations(len(self.states), origins, ends, masses * (1 - leak))


class Equations:
    """
    ``v = cost + moves v`` for substochastic ``moves`` between ``n`` states, factorised once.

    :param n: number of states.
    :param origins, ends, masses: the entries of ``moves``; several for one place add up.
    :raises numpy.linalg.LinAlgError: if there is no unique solution.
    """

    def __init__(self, n: int, origins: Indices, ends: Indices, masses: Floats) -> None:
        self._dense = n <= _MOST_DENSE_STATES
        if self._dense:
            moves = np.bincount(origins * n + ends, masses, n * n).reshape(n, n)
            self._matrix = np.eye(n) - moves
            return
        # Imported on first use: few explorations have so many states, and every node starts.
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu
        diagonal = np.arange(n)
        matrix = csc_matrix((np.concatenate([np.ones(n), -masses]), (
            np.concatenate([diagonal, origins]), np.concatenate([diagonal, ends]))), (n, n))
        try:
            self._factors = splu(matrix)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from None

    def values(self, costs: Floats) -> Floats:
        """Return ``v`` by state."""
        if self._dense:
            return np.asarray(np.linalg.solve(self._matrix, costs), dtype=np.float64)
        solution: Floats = self._factors.solve(costs)
        return solution

    def visits(self, origin: int) -> Floats:
        """Return the expected visits to each state of a path from ``origin`` on."""
        first = np.zeros(self._matrix.shape[0] if self._dense else self._factors.shape[0])
        first[origin] = 1.0
        if self._dense:
            return np.asarray(np.linalg.solve(self._matrix.T, first), dtype=np.float64)
        solution: Floats = self._factors.solve(first, 'T')
        return solution
