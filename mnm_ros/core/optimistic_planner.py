# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
Optimistic planning in which the state that was never seen is one more candidate.

Why no reachable state is missed. Order the states of ``S_L->`` as they become reachable, home
first. If exploration stopped with one missing, take the first missing state ``s``, of rank ``i``;
all earlier ones are in ``K``, so ``i <= |K| + 1``. By definition some fixed policy ``pi`` on those
reaches ``s`` within ``L`` expected steps. Let ``v`` be its expected steps to go, a fixed function
of the state with ``v(s) = 0``, ``p`` the probability of ``s`` after a pair of ``pi``, and
``r = -log(1 - p)``. Transitions of a pair are independent draws whenever they were made. Each of
four events fails with probability at most ``d = delta / (4 i (i - 1))``, at all times at once; the
sum over all ranks and events is ``delta``:

1. While no pair of ``pi`` has been followed by ``s``, the product over all of them of
   ``(1 - p)^-N`` is a martingale, so the sum of ``N r`` is at most ``B = log(1/d)``.
2. The product over the pairs of ``1/2 + 1/2 (1 - p)^-N``, the second half 0 once ``s`` has
   followed, is one, too. If ``s`` has followed ``m`` of them, ``N r <= B + (m + 1) log 2`` for any
   other.
3. For each of the ``i - 1`` pairs, with its share of ``d``: bets on ``v(next) - P v``, mixed as in
   the universal portfolio of Cover & Ordentlich 1996, make ``N KL_inf(P^, P v) <= R`` with
   ``R = B + log(i - 1) + log 2 + log(N + 1) / 2``.
4. The same for bets on ``v(next) - P' v`` under ``P' = P(. | not s)``, times ``(1 - p)^-N``, while
   ``s`` has not followed: ``N KL_inf(P^, P' v) + N r <= R``, where ``P'`` leads to nothing better
   than the best known state.

Outside of these events the plausible rows below contain one that is no worse than the truth for
each pair of ``pi``. The planner minimises over them and is monotone in ``v``, so its value at
home is at most ``v(home) <= L``, and it does not rule ``s`` out. Neither the number of candidates
nor of actions enters, and samples may come from anywhere and any time since the CMP last changed.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_FAR = 1e9    # where all is so far away, the most likely to arrive is the best
_ANY = 'any'
_EVENTS = 4    # what has to hold for a missing state: see the module's text


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


@dataclass(frozen=True)
class _Bounds:
    """
    How far each row may be from its counts, for one target.

    :ivar saw: whether the target followed.
    :ivar radius: of the whole ball, mass on the target included.
    :ivar mass: the most on a target that did not follow.
    :ivar rest: the radius that is left then.
    """

    saw: Bools
    radius: Floats
    mass: Floats
    rest: Floats


@dataclass(frozen=True)
class _Plausible:
    """
    The most favourable distribution of each row.

    :ivar masses: on what followed, as [row, slot].
    :ivar left: on whichever state has the lowest value, as [row]; what lacks is on the target.
    :ivar expected: steps to go after the step, as [row].
    """

    masses: Floats
    left: Floats
    expected: Floats


class OptimisticPlanner:
    """
    Least expected steps to a target over all plausible CMPs.

    :param delta: the probability with which it may rule out a state that is within reach.
    """

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._starts: dict[int | str | None, _Start] = {}

    def forget(self, target: int) -> None:
        """Let go of what is kept for a target."""
        self._starts.pop(target, None)

    def plan(self, model: Model, target: int | None) -> Outlook:
        """Return the outlook for a state met, or None for any state that was never seen."""
        hits = np.zeros(model.places.shape, dtype=bool) if target is None else model.hits(target)
        return self._plan(model, target, hits, _seers(model, hits))

    def plan_for_any(self, model: Model, targets: Sequence[int]) -> Outlook:
        """
        Return an outlook that is no less favourable than that for any one of some states met.

        Whoever arrives at any of them has arrived. If that is beyond reach, each of them is.
        """
        hits = np.zeros(model.places.shape, dtype=bool)
        seers = 0
        for target in targets:
            there = model.hits(target)
            seers = max(seers, _seers(model, there))
            hits |= there
        return self._plan(model, _ANY, hits, seers)

    def _plan(self, model: Model, target: int | str | None, hits: Bools, seers: int) -> Outlook:
        bounds = self._bounds(model, hits, seers)
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
        return math.log(_EVENTS * rank * (rank - 1) / self._delta)

    def _bounds(self, model: Model, hits: Bools, seers: int) -> _Bounds:
        """Return the bounds for a target that followed in so many of the known states."""
        rank = len(model.states) + 1
        budget = self.budget(rank) + (seers and seers + 1) * math.log(2)
        visits = model.visits
        with np.errstate(divide='ignore', invalid='ignore'):
            whole = (self.budget(rank) + math.log(rank - 1)
                     + math.log(2) + np.log1p(visits) / 2)
            return _Bounds(
                saw=np.asarray(np.any(hits, axis=1)), radius=whole / visits,
                mass=-np.expm1(-budget / visits), rest=np.maximum(0.0, whole - budget) / visits)

    def _iterate(self, model: Model, target: int | str | None, hits: Bools, bounds: _Bounds,
                 warm: _Start | None) -> Outlook:
        """Iterate policies and plausible rows to the fixed point."""
        known, rows = len(model.states), model.all_rows
        values, tilts = np.full(known, _FAR), np.full((2, len(rows)), np.nan)
        if warm is not None:
            values = _taken(warm.values, model.numbers)
            values = np.where(np.isnan(values), np.nanmax(values), values)
            tilts = np.stack([_taken(each, rows) for each in warm.tilts])
        states, outside = np.arange(known), model.columns < 0
        for _ in range(_SWEEPS):
            ahead = np.where(hits, 0.0, np.where(
                outside, 1 + values[0], values[model.columns]))
            plausible = _most_favourable(model, bounds, ahead, float(values.min()), tilts)
            steps = (1 + plausible.expected).reshape(known, model.actions)
            best = steps.argmin(axis=1)
            away = steps[states, best] > 1 + steps[0, best[0]]
            away[0] = False
            moves = np.where(away, RESET, best)
            before, lowest = values, int(values.argmin())
            equations, values = _evaluate(model, hits, plausible, moves, lowest)
            if not (np.isfinite(values).all() and values.min() > 1 - 1e-9):
                raise np.linalg.LinAlgError('no policy that arrives')
            if np.abs(values - before).max() <= _PRECISION * values.max():
                break
        self._keep(target, model, values, tilts)
        chosen = model.rows_of(moves)
        plain = np.where(model.visits[chosen] > 0,
                         (model.fractions[chosen] * ahead[chosen]).sum(axis=1), 1 + values.max())
        gains = np.where(away, 0.0, equations.visits(0) * (plain - plausible.expected[chosen]))
        return Outlook(float(values[0]), moves, gains)

    def _keep(self, target: int | str | None, model: Model, values: Floats,
              tilts: Floats) -> None:
        size = int(model.numbers.max()) + 1
        kept = _Start(np.full(size, np.nan), np.full((2, size * model.actions), np.nan))
        kept.values[model.numbers] = values
        kept.tilts[:, model.all_rows] = tilts
        self._starts[target] = kept


def _taken(kept: Floats, where: Indices) -> Floats:
    """Return what was kept, NaN beyond it."""
    had = where < len(kept)
    return np.where(had, kept[np.where(had, where, 0)], np.nan)


def _seers(model: Model, hits: Bools) -> int:
    """Return in how many known states a target followed some action."""
    return int(hits.any(axis=1).reshape(-1, model.actions).any(axis=1).sum())


def _most_favourable(model: Model, bounds: _Bounds, ahead: Floats, lowest: float,
                     tilts: Floats) -> _Plausible:
    """
    Return the least plausible steps to go of each row.

    Over the mass on a target that did not follow, they first fall and then rise. They are least
    where the whole ball, which counts that mass, has its minimum, unless this is beyond what the
    mass may be at most.
    """
    fractions = model.fractions
    masses, expected = least_mean(fractions, ahead, bounds.radius, tilts[0])
    left = np.zeros(len(fractions))
    over = np.flatnonzero(~bounds.saw & (1 - masses.sum(axis=1) > bounds.mass))
    if len(over):
        tilt, mass = tilts[1][over], bounds.mass[over]
        inside, means = least_mean(
            fractions[over], np.maximum(ahead[over] - lowest, 0.0), bounds.rest[over], tilt)
        tilts[1][over] = tilt
        masses[over] = (1 - mass)[:, None] * inside
        left[over] = (1 - mass) * np.maximum(0.0, 1 - inside.sum(axis=1))
        expected[over] = (1 - mass) * (lowest + means)
    return _Plausible(masses, left, expected)


def _evaluate(model: Model, hits: Bools, plausible: _Plausible, moves: Indices,
              lowest: int) -> tuple[Equations, Floats]:
    """
    Return the equations of the moves under the plausible rows, and their values.

    Mass on the target ends the attempt. Outside the known states a RESET is played: one step
    more, and on from home.
    """
    rows, away = model.rows_of(moves), moves == RESET
    masses = np.where(hits[rows] | away[:, None], 0.0, plausible.masses[rows])
    outside = model.columns[rows] < 0
    lost = np.where(outside, masses, 0.0).sum(axis=1)
    states = np.arange(len(moves))
    more = (np.concatenate([states, states]),
            np.concatenate([np.zeros_like(states), np.full_like(states, lowest)]),
            np.concatenate([lost, np.where(away, 0.0, plausible.left[rows])]))
    some = more[2] > 0
    equations = model.equations(np.where(outside, 0.0, masses), rows, away, (
        more[0][some], more[1][some], more[2][some]))
    return equations, equations.values(1 + lost)
