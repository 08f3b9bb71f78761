# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Optimistic planning in which the state that was never seen is one more candidate."""

from __future__ import annotations

from dataclasses import dataclass
import math

from mnm_ros.core.arrays import Bools, Floats, Indices
from mnm_ros.core.kl_ball import least_mean
from mnm_ros.core.model import Model
from mnm_ros.core.problem import RESET
from mnm_ros.core.shortest_path import Equations
import numpy as np

_PRECISION = 1e-7
_SWEEPS = 100


@dataclass(frozen=True)
class Outlook:
    """
    The most favourable plausible way to a target.

    :ivar steps: expected steps from home.
    :ivar moves: the action by known state.
    :ivar gains: by known state, what its pair owes to optimism: expected visits times the steps
        that the counts, taken as the truth, would add.
    """

    steps: float
    moves: Indices
    gains: Floats


@dataclass
class _Start:
    """Where the last plan for a target ended: values by number of the state, tilts by row."""

    values: Floats
    tilts: Floats


@dataclass
class _Bounds:
    """How far each row may be from its counts, for one target."""

    saw: Bools
    unseen: Floats
    radius: Floats


class OptimisticPlanner:
    """
    Least expected steps to a target over all plausible CMPs.

    :param delta: the probability with which it may rule out a state that is within reach.
    """

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._starts: dict[int | None, _Start] = {}

    def forget(self, target: int) -> None:
        """Let go of what is kept for a target."""
        self._starts.pop(target, None)

    def plan(self, model: Model, target: int | None) -> Outlook:
        """Return the outlook for a state met, or None for any state that was never seen."""
        hits = np.zeros(model.places.shape, dtype=bool) if target is None else model.hits(target)
        bounds = self._bounds(model, hits)
        warm = self._starts.get(target)
        try:
            return self._iterate(model, target, hits, bounds, warm)
        except np.linalg.LinAlgError:
            if warm is None:
                raise
            # What was the best start is none any more; the cold one always leads to the end.
            return self._iterate(model, target, hits, bounds, None)

    def budget(self, rank: int) -> float:
        """Return ``B`` for a missing state of this rank that was never seen."""
        return math.log(2 * rank * (rank - 1) / self._delta)

    def _bounds(self, model: Model, hits: Bools) -> _Bounds:
        rank = len(model.states) + 1
        saw: Bools = np.any(hits, axis=1)
        by = int(saw.reshape(-1, model.actions).any(axis=1).sum())
        budget = self.budget(rank) + (by and by + 1) * math.log(2)
        visits = model.visits
        with np.errstate(divide='ignore', invalid='ignore'):
            whole = (self.budget(rank) + math.log(rank - 1)
                     + math.log(2) + np.log1p(visits) / 2)
            radius = np.where(saw, whole, np.maximum(0.0, whole - budget)) / visits
            unseen = np.where(saw, 0.0, -np.expm1(-budget / visits))
        return _Bounds(saw, unseen, radius)

    def _iterate(self, model: Model, target: int | None, hits: Bools, bounds: _Bounds,
                 warm: _Start | None) -> Outlook:
        known, fractions, numbers = len(model.states), model.fractions, model.numbers
        rows_all = (numbers[:, None] * model.actions + np.arange(model.actions)).ravel()
        values = np.ones(known)
        tilts = np.full(len(fractions), np.nan)
        if warm is not None:
            had = numbers < len(warm.values)
            values = np.where(had, warm.values[np.where(had, numbers, 0)], np.nan)
            values = np.where(np.isnan(values), np.nanmax(values), values)
            had = rows_all < len(warm.tilts)
            tilts = np.where(had, warm.tilts[np.where(had, rows_all, 0)], np.nan)
        outside = model.columns < 0
        for _ in range(_SWEEPS):
            ahead = np.where(hits, 0.0, np.where(outside, 1 + values[0], values[model.columns]))
            floor = np.where(bounds.saw, 0.0, values.min())
            masses, means = least_mean(
                fractions, np.maximum(ahead - floor[:, None], 0.0), bounds.radius, tilts)
            expected = (1 - bounds.unseen) * (floor + means)
            steps = (1 + expected).reshape(known, model.actions)
            best = steps.argmin(axis=1)
            away = steps[np.arange(known), best] > 1 + steps[0, best[0]]
            away[0] = False
            moves = np.where(away, RESET, best)
            before = values
            equations, values = _evaluate(model, hits, bounds, masses, moves, int(values.argmin()))
            if not (np.isfinite(values).all() and values.min() > 1 - 1e-9):
                raise np.linalg.LinAlgError('no policy that arrives')
            if np.abs(values - before).max() <= _PRECISION * values.max():
                break
        self._keep(target, model, values, tilts, rows_all)
        rows = model.rows_of(moves)
        plain = np.where(model.visits[rows] > 0, (fractions[rows] * ahead[rows]).sum(axis=1),
                         1 + values.max())
        gains = np.where(away, 0.0, equations.visits(0) * (plain - expected[rows]))
        return Outlook(float(values[0]), moves, gains)

    def _keep(self, target: int | None, model: Model, values: Floats, tilts: Floats,
              rows: Indices) -> None:
        size = int(model.numbers.max()) + 1
        kept = _Start(np.full(size, np.nan), np.full(size * model.actions, np.nan))
        kept.values[model.numbers] = values
        kept.tilts[rows] = tilts
        self._starts[target] = kept


def _evaluate(model: Model, hits: Bools, bounds: _Bounds, masses: Floats, moves: Indices,
              lowest: int) -> tuple[Equations, Floats]:
    """
    Return the equations of the moves under the plausible rows, and their values.

    Mass on the target ends the attempt. Outside the known states a RESET is played: one step
    more, and on from home. What a row that never saw the target lacks to 1 is where the value is
    lowest.
    """
    rows, away = model.rows_of(moves), moves == RESET
    seen = (1 - bounds.unseen[rows])[:, None] * masses[rows]
    left = (1 - bounds.unseen[rows]) * (1 - masses[rows].sum(axis=1))
    left = np.where(away | bounds.saw[rows], 0.0, np.maximum(0.0, left))
    seen = np.where(hits[rows] | away[:, None], 0.0, seen)
    lost = np.where(model.columns[rows] < 0, seen, 0.0).sum(axis=1)
    inside = np.where(model.columns[rows] < 0, 0.0, seen)
    states = np.arange(len(moves))
    more = (np.concatenate([states, states]),
            np.concatenate([np.zeros_like(states), np.full_like(states, lowest)]),
            np.concatenate([lost, left]))
    some = more[2] > 0
    equations = model.equations(inside, rows, away, (more[0][some], more[1][some], more[2][some]))
    return equations, equations.values(1 + lost)
