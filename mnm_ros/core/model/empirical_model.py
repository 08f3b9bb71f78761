# SPDX-License-Identifier: Apache-2.0

"""
The counts of known states as they are at one moment, and what policies take by them.

``excess`` is the possible loss of the bet ``R`` on the next states of a row: ``G`` of
``planning/plausible.py``. ``R`` is a mixture of the likelihood ``Q`` of ``RowPredictions`` and of
bets ``V`` on the mean. The likelihood loses little in a row that leads to one state or two. It
pays ``log(N) / 2`` nats for each further one, so that an action that spreads over a dozen useless
states would take several times the samples. The bets lose ``log(N) / 2`` in all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import math
from typing import NamedTuple

from mnm_ros.core.model.counts import Bools, Floats, Indices, NextStates, Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.model.transition_rows import TransitionRows
import numpy as np

BETS_ON_MEANS = 0.1    # c
"""The part of ``R`` that bets on means."""

_MOST_DENSE_STATES = 150
"""States up to which dense equations are solved sooner than sparse ones."""

_SMOOTHING = 0.5
_MOST_SWEEPS = 60


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
    :ivar excess: ``G`` of ``planning/plausible.py``.
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
    excess: Excess

    @classmethod
    def of(cls, rows: TransitionRows, known: Sequence[int]) -> EmpiricalModel:
        """Return the model of ``known``, home first, all of which were entered."""
        numbers = np.array([rows.numbers[state] for state in known], dtype=np.intp)
        all_rows = (numbers[:, None] * rows.actions + np.arange(rows.actions)).ravel()
        column = np.full(len(rows.places), -1, dtype=np.intp)
        column[[rows.places[state] for state in known]] = np.arange(len(known))
        filled = rows.filled[all_rows]
        width = max(1, int(filled.any(axis=0).sum()))    # no slot is filled before those before it
        places = rows.next[all_rows, :width]
        return cls(tuple(known), numbers, all_rows, rows.actions, places, column[places],
                   rows.tally[all_rows, :width], rows.closed[all_rows], filled[:, :width],
                   rows.places, np.zeros_like(places, dtype=np.bool_),
                   Excess(np.zeros(len(all_rows)), np.zeros(places.shape)))

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
        since = model.tally - found.before[shape]
        return replace(model, tally=tally, once=since > 0, excess=excess(
            found.paid[model.all_rows], tally, since, model.columns >= 0))

    def without(self, pairs: Collection[Pair]) -> EmpiricalModel:
        """Return the model in which these pairs are never executed."""
        rows = [self.states.index(state) * self.actions + action for state, action in pairs
                if state in self.states]
        if not rows:
            return self
        tally, closed, filled = self.tally.copy(), self.closed.copy(), self.filled.copy()
        tally[rows], closed[rows], filled[rows] = 0.0, True, False
        return replace(self, tally=tally, closed=closed, filled=filled)

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
                      guess: Sequence[int] | None = None) -> tuple[Indices, float]:
        """
        Return a policy for ``target`` that also minds what has hardly been tried.

        Each pair fails with the weight of ``smoothing`` samples. A failure, and a state that is
        not known, ends an attempt and costs ``1 + limit``, so that the value is at most ``limit``
        exactly when the expected steps with a RESET after each failure are.

        :param guess: an action for each of the first known states, to begin with.
        :returns: The action by known state, and the value at home.
        """
        hits = self.hits(target)
        moves: Indices | None = None
        values = np.full(len(self.states), 1 + limit)
        if guess is not None:
            first = np.full(len(self.states), RESET)
            first[:len(guess)] = guess[:len(first)]
            first[0] = max(0, first[0])
            values = self._smoothed_values(first, hits, limit, smoothing)
        for _ in range(_MOST_SWEEPS):
            ahead = np.where(hits, 0.0, np.where(self.columns < 0, 1 + limit,
                                                 values[self.columns]))
            total = self.visits + smoothing
            steps = 1 + ((self.tally * ahead).sum(axis=1) + smoothing * (1 + limit)) / total
            steps[self.forbidden] = np.inf
            steps = steps.reshape(-1, self.actions)
            best = steps.argmin(axis=1)
            away = steps[np.arange(len(best)), best] > (
                1 + steps[0, best[0]] + 1e-9)
            away[0] = False
            before, moves = moves, np.where(away, RESET, best)
            if before is not None and np.array_equal(before, moves):
                break
            values = self._smoothed_values(moves, hits, limit, smoothing)
        assert moves is not None
        return moves, float(values[0])

    def smoothed_value(self, moves: Sequence[int] | Indices, target: int, limit: float,
                       smoothing: float = _SMOOTHING) -> float:
        """Return the value of a policy at home under the same model; inf if it never ends."""
        return float(self.smoothed_values(np.array(moves), target, limit, smoothing)[0])

    def smoothed_values(self, moves: Indices, target: int, limit: float,
                        smoothing: float) -> Floats:
        """Return the same in each known state."""
        try:
            return self._smoothed_values(moves, self.hits(target), limit, smoothing)
        except np.linalg.LinAlgError:
            return np.full(len(self.states), math.inf)

    def _smoothed_values(self, moves: Indices, hits: Bools, limit: float,
                         smoothing: float) -> Floats:
        rows, away = self.rows_of(moves), moves == RESET
        masses = self.tally[rows] / (self.visits[rows] + smoothing)[:, None]
        ends = self.columns[rows]
        outside = ends < 0
        failing = (smoothing / (self.visits[rows] + smoothing)
                   + np.where(outside & ~hits[rows], masses, 0.0).sum(axis=1))
        costs = 1 + np.where(away, 0.0, failing * (1 + limit))
        masses = np.where(outside | hits[rows] | away[:, None], 0.0, masses)
        return equations(    # RESET leads home
            np.column_stack([masses, away]),
            np.column_stack([ends, np.zeros_like(rows)])).values(costs)


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
        some, diagonal = masses > 0, np.arange(n) * (n + 1)
        # Added up here: to have scipy do so takes longer than to solve.
        places, entry = np.unique(np.concatenate([diagonal, ends[some] * n + origins[some]]),
                                  return_inverse=True)
        entries = np.bincount(entry, np.concatenate([np.ones(n), -masses[some]]))
        matrix = csc_matrix((
            entries, (places % n).astype(np.int32),
            np.searchsorted(places, np.arange(n + 1) * n).astype(np.int32)), (n, n))
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


def equations(masses: Floats, ends: Indices, leak: float = 0.0) -> Equations:
    """
    Return the equations of a policy.

    :param masses: of moves to known states, as [state, move].
    :param ends: the numbers of these states; any without mass.
    :param leak: the part of each mass that is left out.
    """
    known, moves = masses.shape
    return Equations(known, np.arange(known).repeat(moves), np.maximum(0, ends).ravel(),
                     masses.ravel() * (1 - leak))


class Excess(NamedTuple):
    """
    ``G``, in nats.

    :ivar unseen: for a missing state that did not follow, as [row].
    :ivar seen: for the one in that slot, as [row, slot].
    """

    unseen: Floats
    seen: Floats


def excess(paid: Floats, counted: Floats, followed: Floats, known: Bools) -> Excess:
    """
    Return the lesser loss of both parts.

    :param paid: code length of the predictions, in nats, as [row].
    :param counted: how often what followed, as [row, slot], where a first time does not count.
    :param followed: the same with each first time.
    :param known: whether that state is known, as [row, slot].
    """
    likelihood = np.maximum(0.0, paid - _code_length(counted).sum(axis=1) + _code_length(
        counted.sum(axis=1))) - math.log1p(-BETS_ON_MEANS)
    bets = math.log(4 / BETS_ON_MEANS) + 0.5 * np.log1p(followed.sum(axis=1))
    more, less = _class_lengths(followed, known), _class_lengths(counted, known)
    return Excess(
        np.minimum(likelihood, bets + more.unseen - less.unseen),
        np.minimum(likelihood[:, None], bets[:, None] + more.seen - less.seen))


def _class_lengths(counts: Floats, known: Bools) -> Excess:
    """Return ``N H(f)`` of the classes: each known state, the missing state, all others."""
    unknown = np.where(known, 0.0, counts)
    others = unknown.sum(axis=1)
    inside = _code_length(counts).sum(axis=1, where=known) - _code_length(counts.sum(axis=1))
    return Excess(inside + _code_length(others), inside[:, None] + _code_length(unknown)
                  + _code_length(others[:, None] - unknown))


def _code_length(counts: Floats) -> Floats:
    """Return ``-n log(n)``, of which the lengths of sequences with such counts are made up."""
    found: Floats = -counts * np.log(np.maximum(1.0, counts))
    return found
