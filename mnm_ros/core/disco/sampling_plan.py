# SPDX-License-Identifier: Apache-2.0

"""How many more samples it takes to rule out what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnm_ros.core.model.arrays import Floats, Indices
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.model import Model
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.planning.optimistic_planner import OptimisticPlanner
import numpy as np

GROWTH = 1.25
"""By how much the samples of a pair grow before planning looks at it again."""

AHEAD = 10
"""So often planning goes on as if the samples had been made, before they are."""

EVEN, LIKELIEST = 0.5, 0.4
"""This fraction of what it takes to see what follows often enough is sampled everywhere first.

Often enough is one time in as many as there are steps left of the radius, but no less often than
``LIKELY`` and no more often than ``LIKELIEST``: there is more than one pair on the way.
"""

LIKELY = 0.17

DEAR = 100
"""With more states the other values are used: plans take long, and hardly save any samples."""

EVEN_IF_DEAR, LIKELIEST_IF_DEAR = 0.65, 0.25

RELEVANT = 0.5
"""Pairs with at least this fraction of the largest gain per sample get more samples."""

_TOLERANCE = 1 + 1e-6

_UNPLANNED = 0.5    # for display, as long as nothing has been planned for


class Requirement:
    """
    Plans for all that might be within reach, until none of it is.

    :param problem: with the radius.
    :param planner: its delta says how sure the ruling out is.
    :ivar open_targets: what the last plan could not rule out under the counts as they were.
    """

    def __init__(self, problem: Problem, planner: OptimisticPlanner) -> None:
        self._radius = problem.radius * _TOLERANCE
        self._planner = planner
        self._last: dict[int | None, float] = {}
        self.open_targets: list[int] = []

    @property
    def ruled_out(self) -> float:
        """How far all else is from being ruled out, as the last plans had it: 1 is enough."""
        return min((steps / self._radius for steps in self._last.values()), default=_UNPLANNED)

    def samples(self, model: Model, others: Sequence[int],
                distances: Mapping[int, float]) -> dict[Pair, int]:
        """
        Return how often which pairs should have been executed before the next plan.

        :param model: of the states that are known or are to become known, all sampled.
        :param others: states met that are to be ruled out, beside any that was never seen.
        :param distances: by state of the model the steps from home by the counts.
        :returns: Empty if all of them are ruled out.
        """
        self.open_targets = []
        even = self._even(model, [distances[state] for state in model.states])
        if even:
            return even
        met = [state for state in others if model.hits(state).any()]
        if met and self._all_are_far(model, met):
            return {}
        targets: list[int | None] = [None, *met]
        wanted: dict[Pair, int] = {}
        plans = 0
        for target in sorted(targets, key=lambda state: self._last.get(state, 0.0)):
            while plans < AHEAD:
                outlook = self._planner.plan(model, target)
                self._last[target] = outlook.steps
                if outlook.steps > self._radius:
                    break
                if not plans and target is not None:
                    self.open_targets.append(target)    # under the counts as they are
                plans += 1
                rows = _worth(model, outlook.moves, outlook.gains)
                more = np.maximum(model.visits[rows] + 1, np.ceil(model.visits[rows] * GROWTH))
                for row, executions in zip(rows.tolist(), more.tolist()):
                    wanted[model.pair(row)] = int(executions)
                if not model.visits[rows].all():
                    return wanted    # nobody knows what they lead to
                model = _as_if(model, rows, more)
            if plans == AHEAD:
                break
        return wanted

    def _all_are_far(self, model: Model, met: Sequence[int]) -> bool:
        """Return whether one plan rules all out; it grants no less to what was never seen."""
        steps = self._planner.plan_for_any(model, met).steps
        if steps > self._radius:
            self._last = {None: steps}
        return steps > self._radius

    def _even(self, model: Model, distances: Sequence[float]) -> dict[Pair, int]:
        """Return what lacks to a number of samples that no pair can do without, or nearly so."""
        if self._radius < 2:
            return {}
        even, likeliest = ((EVEN, LIKELIEST) if len(distances) <= DEAR
                           else (EVEN_IF_DEAR, LIKELIEST_IF_DEAR))
        left = np.maximum(1.0, self._radius - np.array(distances))
        chances = np.clip(1 / left, max(LIKELY, 1 / self._radius), likeliest)
        executions = np.ceil(even * self._planner.budget(len(model.states) + 1)
                             / -np.log1p(-chances)).repeat(model.actions)
        return {model.pair(row): int(executions[row])
                for row in np.flatnonzero(model.visits < executions).tolist()}


def _worth(model: Model, moves: Indices, gains: Floats) -> Indices:
    """Return the rows whose next sample takes most from the optimism."""
    rows = model.rows_of(moves)
    per_sample = gains / (1 + model.visits[rows])
    best = per_sample.max()
    if best <= 0:    # a planner that plays RESET at home leaves nothing to weigh
        return np.arange(len(model.visits))
    found: Indices = rows[per_sample >= RELEVANT * best]
    return found


def _as_if(model: Model, rows: Indices, visits: Floats) -> Model:
    """Return the model with more samples in some rows that have led where they did so far."""
    tally = model.tally.copy()
    tally[rows] *= (visits / model.visits[rows])[:, None]
    return replace(model, tally=tally)
