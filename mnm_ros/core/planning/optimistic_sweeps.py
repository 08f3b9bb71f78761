# SPDX-License-Identifier: Apache-2.0

"""
The fixed point of optimistic planning, by sweeps of policy iteration.

A *cell* is a row (state and action) at a level of what it has spent. Most sweeps examine the cells
that were nearly the best of their state when all were examined last; the end is judged by all.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from mnm_ros.core.model.counts import Bools, Floats, Indices
from mnm_ros.core.model.empirical_model import EmpiricalModel, Equations, equations
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.planning.plausible import ConfidenceRegion, most_favourable
import numpy as np
from numpy.typing import NDArray

_T = TypeVar('_T', bound=np.generic)

_NONE = np.float64('nan')
_PRECISION = 1e-7
_MOST_SWEEPS = 200
_FARTHEST = 1e9    # where all is so far away, the most likely to arrive is the best
_ROUGH_CHANGE = 0.1    # as long as values change by more of the largest, all cells are examined
_NEARLY_BEST = 0.1    # steps; cells that are worse by more are left out of most sweeps


@dataclass
class Start:
    """
    Where the last plan for a target ended, by number of the state or row.

    :ivar values: as [state].
    :ivar tilts: as [2, level, row].
    :ivar near: whether the cell was nearly the best of its state, as [level, row].
    """

    values: Floats
    tilts: Floats
    near: Bools


class _Cells(NamedTuple):
    """
    Some cells, and what stays as it is from sweep to sweep.

    :ivar places: in [level, row]; then the row, the state and the fee of each.
    :ivar closed: whether it is declared where the pair may lead.
    :ivar fractions, columns, outside, hits: as [slot, cell]; ``outside`` is not known.
    :ivar region: theirs.
    """

    places: Indices
    row: Indices
    own: Indices
    fees: Floats
    closed: Bools
    fractions: Floats
    columns: Indices
    outside: Bools
    hits: Bools
    region: ConfidenceRegion


class _Way(NamedTuple):
    """
    A policy of one cell for each state, and what its steps are made of.

    :ivar row: of the cell.
    :ivar away: whether RESET is played in its place.
    :ivar least: the steps that it seemed to take when it was chosen.
    :ivar there: the steps to go from where each slot leads, as [state, slot].
    :ivar fees: of each visit.
    :ivar again: the mass that leads back after the fee.
    :ivar equations: of the values.
    """

    row: Indices
    away: Bools
    least: Floats
    there: Floats
    fees: Floats
    again: Floats
    equations: Equations


class OptimisticPolicyIteration:
    """
    The most favourable plausible way to a target.

    :param hits: where the target followed, as [row, slot].
    :param region: what is plausible.
    :param multiplier: the steps that a nat costs; None if each pair may spend the whole budget.
    :param warm: the start, None for a cold one.
    :ivar moves: the action by known state.
    :ivar gains: as in ``OptimisticPlan``.
    :ivar spent: nats that the way spends in expectation.
    """

    moves: Indices
    gains: Floats
    spent: float

    def __init__(self, model: EmpiricalModel, hits: Bools, leads: Bools, region: ConfidenceRegion,
                 multiplier: float | None, warm: Start | None) -> None:
        self._model, self._hits, self._leads, self._region = model, hits, leads, region
        self._together = multiplier is not None
        self._multiplier = multiplier or 0.0
        self._fees = self._multiplier * region.spent
        self._nearby: _Cells | None = None
        self._cold = warm is None
        self._states = np.arange(len(model.states))
        self._own = np.repeat(self._states, model.actions)
        levels = len(region.spent)
        # The cells of each state, as [state, level and action].
        self._cells_of = np.arange(levels * len(self._own)).reshape(
            levels, len(self._states), -1).transpose(1, 0, 2).reshape(len(self._states), -1)
        if warm is None:
            self._values = self._fewest_moves if model.closed.any() else np.full(
                len(model.states), _FARTHEST)
            self._tilts = np.full((2, levels, len(self._own)), np.nan)
            self._near = np.zeros((levels, len(self._own)), dtype=bool)
            return
        values = _taken(warm.values, model.numbers, _NONE)
        self._values = np.where(np.isnan(values), np.nanmax(values), values)
        self._tilts = np.array(
            _taken(warm.tilts[:, :levels], model.all_rows, _NONE), order='C')
        self._near = _taken(warm.near[:levels], model.all_rows, np.bool_(False))
        if len(self._near) < levels:    # the budget has grown
            more = ((0, 0), (0, levels - len(self._near)), (0, 0))
            self._tilts = np.pad(self._tilts, more, constant_values=np.nan)
            self._near = np.pad(self._near, more[1:])

    def _cells(self, everywhere: bool) -> _Cells:
        """Return the cells to be examined."""
        if not everywhere and self._nearby is not None:
            return self._nearby
        model, size = self._model, self._near.size
        cells = np.arange(size) if everywhere else np.flatnonzero(self._near)
        level, row = np.divmod(cells, len(self._own))
        columns = np.take(model.columns.T, row, axis=1)
        found = _Cells(cells, row, self._own[row], self._fees[level], model.closed[row],
                       np.take(model.fractions.T, row, axis=1), columns, columns < 0,
                       np.take(self._hits.T, row, axis=1), self._region.at(cells))
        if not everywhere:
            self._nearby = found
        return found

    @cached_property
    def _fewest_moves(self) -> Floats:
        """Return from each state the least moves to the target that may be, as declared."""
        model = self._model
        moves = np.full(len(model.states), np.inf)
        inside = model.filled & (model.columns >= 0)
        for _ in range(len(moves) + 1):
            there = np.where(inside, moves[model.columns], np.inf).min(axis=1)
            there[~model.closed] = moves.min()
            there[self._leads] = 0.0
            best = 1 + there.reshape(len(moves), -1).min(axis=1)
            best = np.minimum(best, 1 + best[0])    # by way of home
            if np.array_equal(best, moves):
                break
            moves = best
        return moves

    @property
    def hopeless(self) -> bool:
        """Whether no way leads to the target, whatever is true, as declared."""
        return bool(self._model.closed.any() and not np.isfinite(self._fewest_moves[0]))

    def kept(self) -> Start:
        """Return the start of the next plan."""
        model, levels = self._model, len(self._near)
        size = int(model.numbers.max()) + 1
        kept = Start(np.full(size, np.nan), np.full((2, levels, size * model.actions), np.nan),
                     np.zeros((levels, size * model.actions), dtype=bool))
        kept.values[model.numbers] = self._values
        kept.tilts[:, :, model.all_rows] = self._tilts
        kept.near[:, model.all_rows] = self._near
        return kept

    def solve(self, radius: float) -> float:
        """
        Return the expected steps from home, less the budget times the multiplier.

        If they are not farther than the radius, they may be too many, and only say that nothing is
        ruled out.

        :raises numpy.linalg.LinAlgError: if the start does not lead to the end.
        """
        known = len(self._model.states)
        everywhere = not self._near.reshape(-1, known, self._model.actions).any(axis=(0, 2)).all()
        for _ in range(_MOST_SWEEPS):
            before = self._values
            way = self._sweep(everywhere)
            largest, change = self._values.max(), np.abs(self._values - before).max()
            steps = float(self._values[0] - self._multiplier * self._region.budget)
            if change > _PRECISION * largest:
                everywhere = bool(change > _ROUGH_CHANGE * largest)
            elif everywhere or steps <= radius:
                break
            else:
                everywhere = True
        else:
            steps = min(steps, radius)    # nothing is ruled out without a fixed point
        self._weigh(way)
        return steps

    def _sweep(self, everywhere: bool) -> _Way:
        """Let each state have its best cell, and solve for the values."""
        model, values, states = self._model, self._values, self._states
        cells = self._cells(everywhere)
        row, closed = cells.row, cells.closed
        # After the fee of a state is paid, what leads back to it costs nothing.
        back = (np.maximum(0.0, values[cells.own] - cells.fees) if self._together
                else np.full(len(row), np.inf))
        there = np.where(cells.outside, values[0], np.take(values, cells.columns))    # by RESET
        ahead = np.minimum(there, back) + cells.outside
        # Where what is left of the mass leads: the column, and the steps to go from there.
        nearest = int(values.argmin())
        end, beyond = np.full(len(row), nearest), np.full(len(row), values[nearest])
        low = np.minimum(beyond, back)
        if closed.any():
            # Where it is declared what may follow, what is left is there, too.
            declared = np.where(np.take(model.filled.T, row, axis=1), ahead, np.inf)
            slot = declared.argmin(axis=0), np.arange(len(row))
            low = np.where(closed, declared[slot], low)
            end = np.where(closed, cells.columns[slot], end)
            beyond = np.where(closed, there[slot], beyond)
        all_tilts = self._tilts.reshape(2, -1)
        tilts = np.take(all_tilts, cells.places, axis=1)
        found = most_favourable(
            cells.fractions.T, cells.region, np.where(cells.hits, 0.0, ahead).T, low, tilts)
        all_tilts[0][cells.places], all_tilts[1][cells.places] = tilts
        costs = np.full(self._near.size, np.inf)
        costs[cells.places] = 1 + cells.fees + found.expected
        best = self._cells_of[states, np.take(costs, self._cells_of).argmin(axis=1)]
        least = costs[best]
        if everywhere:
            self._near = costs.reshape(self._near.shape) <= least[self._own] + _NEARLY_BEST
            self._nearby = None
        away = least > 1 + least[0]
        away[0] = False
        chosen = np.searchsorted(cells.places, best)
        back, there, row = back[chosen], there[:, chosen].T, row[chosen]
        fees = np.where(away, 0.0, cells.fees[chosen])
        again, solved = self._evaluate(
            fees, row, away, found.masses[chosen], found.left[chosen], end[chosen],
            there > back[:, None], back < beyond[chosen])
        return _Way(row, away, least, there, fees, again, solved)

    def _weigh(self, way: _Way) -> None:
        """Say what the way plays and spends, and what each of its pairs owes to optimism."""
        model, (row, away, least, there) = self._model, way[:4]
        closed, visits = model.closed[row], way.equations.visits(0)
        ahead = np.where(self._hits[row], 0.0, there + (model.columns[row] < 0))
        self.moves = np.where(away, RESET, row % model.actions)
        self.spent = (float((visits * (1 - way.again) * way.fees).sum()) / self._multiplier
                      if self._multiplier else 0.0)
        plain = np.where(model.visits[row] > 0, (model.fractions[row] * ahead).sum(axis=1),
                         1 + self._values.max())
        if closed.any():
            # Few samples that went well may be chance: one more may have gone as badly as may be.
            worst = np.where(model.filled[row], ahead, 0.0).max(axis=1)
            once = (model.visits[row] * plain + worst) / (model.visits[row] + 1)
            plain = np.where(closed & ((model.visits[row] > 0) | ~self._leads[row]),
                             np.where(model.visits[row] > 0, once, worst), plain)
        self.gains = np.where(away, 0.0, visits * np.maximum(0.0, plain + 1 - least))

    def _evaluate(self, fees: Floats, row: Indices, away: Bools, masses: Floats, left: Floats,
                  end: Indices, returns: Bools, stays: Bools) -> tuple[Floats, Equations]:
        """
        Solve for the values of one cell for each state; return ``again`` and the equations.

        Mass on the target ends the attempt.

        :param masses, left: as in ``Favourable``, as [state, slot] and [state].
        :param end: the column where what is left leads, -1 outside of the known states.
        :param returns: whether the mass counts as back here, after the fee, as [state, slot].
        :param stays: the same for what is left.
        """
        states = self._states
        masses = np.where(self._hits[row] | away[:, None], 0.0, masses)
        left = np.where(away, 0.0, left)
        columns = self._model.columns[row]
        outside = columns < 0
        lost = np.where(outside, masses, 0.0).sum(axis=1) + np.where(end < 0, left, 0.0)
        home = np.where(outside & ~returns, masses, 0.0).sum(axis=1) + away
        again: Floats = np.where(returns, masses, 0.0).sum(axis=1) + np.where(stays, left, 0.0)
        self._values, solved = self._solution(
            1 + fees + lost - again * fees,
            np.column_stack([np.where(outside | returns, 0.0, masses), home,
                             np.where(stays, 0.0, left), again]),
            np.column_stack([columns, np.zeros_like(states), end, states]))
        return again, solved

    def _solution(self, costs: Floats, masses: Floats,
                  ends: Indices) -> tuple[Floats, Equations]:
        """
        Return the values of a policy, and their equations.

        The fewest moves, which a cold start begins with, may have states lead to each other for
        ever. With a leak these are very far away, and the next sweep finds another way.
        """
        for leak in (0.0, 1 / _FARTHEST) if self._cold else (0.0,):
            with suppress(np.linalg.LinAlgError):
                solved = equations(masses, ends, leak)
                values = solved.values(costs)
                if np.isfinite(values).all() and values.min() > 1 - 1e-9:
                    return values, solved
        raise np.linalg.LinAlgError('no policy that arrives')


def _taken(kept: NDArray[_T], where: Indices, missing: _T) -> NDArray[_T]:
    """Return what was kept, along the last axis, and what stands for it after its end."""
    more = int(where.max()) + 1 - kept.shape[-1]
    if more > 0:
        kept = np.append(kept, np.full((*kept.shape[:-1], more), missing), axis=-1)
    return kept[..., where]
