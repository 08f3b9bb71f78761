# SPDX-License-Identifier: Apache-2.0

"""
Optimistic planning in which the state that was never seen is one more candidate.

Why no reachable state is missed. What may be true of the missing state ``s`` that becomes
reachable first, and of its policy ``pi``, is at the top of ``plausible.py``: the rows of ``pi``
are in the regions of what its pairs have spent, and in the chain of these rows ``s`` is at most
``L`` expected steps from home.

**Alone.** Each pair may have spent the whole budget ``B``. The planner minimises over all rows in
that region, so its value is no more than the expected steps of this chain.

**Together** the pairs have spent no more than ``B``. So for any multiplier ``c >= 0``, ``L + c B``
is at least what that chain is expected to take from home to ``s`` in steps and fees, where each
state is charged ``c e``, with ``e`` for the ``e'`` of its pair (*What is charged*), when it is
visited first. The planner finds a ``Z`` with, whatever the action, ``e``, and the row ``Q`` in the
region of ``e``::

    Z(x) - c e <= 1 + sum over y of Q(y) min(Z(y), Z(x) - c e),

where a state outside of ``K`` stands for the RESET executed there: a step more, and home.
Let ``F`` be the least ``Z(x) - c e`` of all states visited so far; after the fee of home, that is
``Z(home) - c e``. What is to come in steps and fees is at least ``F`` in expectation, so that
``Z(home) <= L + c B``:

- After a step to ``y``, the fee charged and the new ``F`` are together at least ``min(Z(y), F)``:
  by definition if ``y`` is new; else nothing is charged, and ``F`` is what it was.
- At ``x``, ``F <= Z(x) - c e``. The inequality above also holds with ``F`` for both ``Z(x) - c
  e``, as that lowers its left side by no less than the right one. So ``F`` is at most what is
  expected of one step, the fee charged after it, and the new ``F``.
- At a RESET, a state is left without a fee, and home was charged before: ``F`` is what it was.

A row whose ``e`` lies between two levels has the region of the upper one and pays for the lower.
This bound does not tend to the true steps, as what leads back costs nothing extra.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
import math

from mnm_ros.core.model.counts import Bools, Floats, Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.planning.optimistic_sweeps import OptimisticPolicyIteration, Start
from mnm_ros.core.planning.planner import OptimisticPlan, Planner
from mnm_ros.core.planning.plausible import (
    budget,
    confidence_region,
    ConfidenceRegion,
    IDLE,
    IDLE_IF_ALL_KNOWN,
    Rank,
)
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
import numpy as np

_ANY = 'any'
_ENOUGH_TIMES = 1000    # so many times the samples there are are enough
_LOOK_GROWTH = 1.25    # of the executions, until it is checked again whether that is of use
_CLEAR_MARGIN = 1.05    # so many times the radius can be distinguished from it
_NEGLIGIBLE_STEPS = 0.01    # of the radius

_FIRST_MULTIPLIER = 0.04    # steps for a nat, to begin with
_MULTIPLIER_RANGE = (0.001, 1.0)
_MULTIPLIER_FACTOR = 1.12    # the factor from one plan to the next


@dataclass
class _Kept:
    """
    What is kept of a target, as the next plan for it is hardly another one.

    :ivar starts: by kind of plan.
    :ivar multiplier: for the next plan with a shared budget; None without any so far.
    :ivar shared: known states and executions when a shared budget seemed to be of use last.
    """

    starts: dict[str, Start] = field(default_factory=dict)
    multiplier: float | None = None
    shared: tuple[int, float] = (0, 0.0)


class OptimisticPlanner(Planner):
    """
    Least expected steps to a target over all plausible CMPs.

    :param delta: the probability with which it may ever rule out the first state that is missing,
        in the order in which they become reachable.
    :param radius: ``L``.
    :param given: states that are known when the first transition is drawn, home among them;
        empty if there is none but home, and until ``give``.
    """

    _carried: Mapping[Pair, float] = {}    # none in most runs

    def __init__(self, delta: float, radius: float, given: Collection[int] = ()) -> None:
        self._delta = delta
        self._radius = radius
        self._given = dict.fromkeys(given)
        self._idle = IDLE
        self._kept: dict[int | str | None, _Kept] = {}

    def give(self, states: Collection[int], others: bool) -> None:
        self._given = dict.fromkeys(states)
        self._idle = IDLE if others else IDLE_IF_ALL_KNOWN
        self._kept.clear()

    def carry(self, deltas: Mapping[Pair, float]) -> None:
        self._carried = dict(deltas)

    def forget_carried(self, pair: Pair) -> None:
        self._carried = {each: delta for each, delta in self._carried.items() if each != pair}

    def _nats_carried(self, model: EmpiricalModel) -> Floats | None:
        """Return ``log(1/d)`` of each row that has kept samples."""
        if not self._carried:
            return None
        found = np.full(len(model.visits), np.nan)
        numbers = {state: number for number, state in enumerate(model.states)}
        rank = share(len(numbers), EVEN_PARTS)    # of the last one that is possible
        for (state, action), delta in self._carried.items():
            if state in numbers:
                found[numbers[state] * model.actions + action] = -math.log(rank * delta)
        return found

    def forget(self, target: int) -> None:
        self._kept.pop(target, None)

    def budget(self, states: Collection[int]) -> float:
        return budget(Rank.last(states, self._given, [None]), self._delta, self._radius,
                      idle=self._idle)

    def plan(self, model: EmpiricalModel, target: int | None) -> OptimisticPlan:
        hits = np.zeros(model.places.shape, dtype=bool) if target is None else model.hits(target)
        return self._plan(
            model, target, [target], hits, model.leads(target), _seers(model, hits))

    def plan_for_any(self, model: EmpiricalModel, targets: Sequence[int]) -> OptimisticPlan:
        hits, leads = np.zeros(model.places.shape, dtype=bool), model.leads(None)
        seers = 0
        for target in targets:
            there = model.hits(target)
            seers = max(seers, _seers(model, there))
            hits |= there
            leads = leads | model.leads(target)
        return self._plan(model, _ANY, [None, *targets], hits, leads, seers)

    def _plan(self, model: EmpiricalModel, target: int | str | None,
              targets: Sequence[int | None], hits: Bools, leads: Bools, seers: int,
              ) -> OptimisticPlan:
        kept = self._kept.setdefault(target, _Kept())
        rank = Rank.last(model.states, self._given, targets)
        region = confidence_region(
            model, hits, leads, seers, rank, self._delta, self._radius, self._nats_carried(model),
            several=target == _ANY, idle=self._idle)
        whole = region.whole
        has_shared = kept.multiplier is not None
        if not has_shared or not self._can_share(kept, model, hits, leads, whole):
            alone, _ = self._solve(kept, 'alone', model, hits, leads, whole, None)
            if (has_shared or alone.steps > self._radius
                    or not self._can_share(kept, model, hits, leads, whole)):
                return alone
        multiplier = _FIRST_MULTIPLIER if kept.multiplier is None else kept.multiplier
        together, spent = self._solve(kept, 'together', model, hits, leads, region, multiplier)
        # In the end the multiplier must take off less than what _CLEAR_MARGIN leaves room for.
        least = min(_MULTIPLIER_RANGE[0], _NEGLIGIBLE_STEPS * self._radius / region.budget)
        kept.multiplier = min(_MULTIPLIER_RANGE[1], max(
            least, multiplier * _MULTIPLIER_FACTOR if spent > region.budget
            else multiplier / _MULTIPLIER_FACTOR))
        return together

    def _can_share(self, kept: _Kept, model: EmpiricalModel, hits: Bools, leads: Bools,
                   whole: ConfidenceRegion) -> bool:
        """
        Return whether a shared budget seems to rule the target out with enough samples.

        Where much leads back it may never do so, although the whole budget for each pair does.
        """
        enough, clear = whole.less(_ENOUGH_TIMES), self._radius * _CLEAR_MARGIN
        if not hits.any() and enough.mass.max() * clear < 1:
            return True    # it takes at least one over the largest chance to arrive by a step
        states, made = len(model.states), float(model.visits.sum())
        if kept.shared[0] == states and made < _LOOK_GROWTH * kept.shared[1]:
            return True    # as it did a little while ago
        in_the_end, _ = self._solve(kept, 'in the end', model, hits, leads, enough, 0.0)
        seems = in_the_end.steps > clear
        kept.shared = (states, made) if seems else (0, 0.0)
        return seems

    def _solve(self, kept: _Kept, kind: str, model: EmpiricalModel, hits: Bools, leads: Bools,
               allowed: ConfidenceRegion, multiplier: float | None,
               ) -> tuple[OptimisticPlan, float]:
        """Return the plan, and what its way spends in expectation."""
        warm = kept.starts.get(kind)
        iteration = OptimisticPolicyIteration(model, hits, leads, allowed, multiplier, warm)
        if iteration.hopeless:
            still = np.full(len(model.states), RESET)
            return OptimisticPlan(np.inf, still, np.zeros(len(still))), 0.0
        try:
            steps = iteration.solve(self._radius)
        except np.linalg.LinAlgError:
            if warm is None:
                raise
            # The best start so far is none any more; the cold one always leads to the end.
            iteration = OptimisticPolicyIteration(model, hits, leads, allowed, multiplier, None)
            steps = iteration.solve(self._radius)
        kept.starts[kind] = iteration.kept()
        return OptimisticPlan(steps, iteration.moves, iteration.gains), iteration.spent


def _seers(model: EmpiricalModel, hits: Bools) -> int:
    """Return in how many known states a target followed some action."""
    return int(hits.any(axis=1).reshape(-1, model.actions).any(axis=1).sum())
