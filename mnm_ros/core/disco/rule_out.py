# SPDX-License-Identifier: Apache-2.0

"""
When a state needs no policy: step 2, *Rule out*, of ``docs/explanation/disco.md``.

For every state met, and for the one that was never seen, the most favourable CMP that is plausible
is planned for (*Nothing within reach is missed*; the argument is in ``planning``). What the robot
might still reach within the radius gets more samples, until there is nothing of the kind. Before,
in step 1, *Sample*, whatever seems to be within reach as estimated from the counts is taken into
the sampling.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
import math

from mnm_ros.core.disco.sample import Sampling
from mnm_ros.core.model.counts import Floats, Indices, Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.planning.planner import Planner
import numpy as np

PROMISING = (1.17, 1.0)
"""A state is worth a certificate up to so many times the radius, or so many steps more.

Ruling a state out that is hardly farther than the radius takes far more steps than certifying it.
"""

FAILURE_WEIGHT = 1e-6
"""Weight of a failure where the counts are to be taken as they are."""

SAMPLE_GROWTH = 1.25
"""By how much the samples of a pair grow before planning checks it again."""

PLANS_AHEAD = 10
"""So often planning goes on as if the samples had been made, before they are."""

MOST_AHEAD = 2.0
"""By how much the samples of a pair grow at most before planning checks all again.

Several ways may take the same steps. Samples of one of them change nothing once another one is
shorter, and planning ahead may not see that one.
"""

EVEN_PART, MOST_CHANCE = 0.5, 0.4
"""This fraction of what it takes to see what follows often enough is sampled everywhere first.

Often enough is one time in as many as there are steps left of the radius, but no less often than
``LEAST_CHANCE`` and no more often than ``MOST_CHANCE``: there is more than one pair on the way.
"""

LEAST_CHANCE = 0.17

MANY_STATES = 100
"""With more states the other values are used: plans take long, and hardly save any samples."""

EVEN_PART_IF_MANY, MOST_CHANCE_IF_MANY = 0.65, 0.25

RELEVANT_PART = 0.5
"""Pairs with at least this fraction of the largest gain per sample get more samples."""

TRIES = 3
"""Executions of a pair that seems to lead nowhere, until that is believed for now."""

LOOK_GROWTH = 1.2
"""By how much the steps of others grow before a check whether all that is near was tried."""

_TOLERANCE = 1 + 1e-6

_UNPLANNED = 0.6    # for display, as long as nothing has been planned for


class Exclusion:
    """
    The states that seem within reach, and what it takes to rule out all others.

    :param problem: with the radius.
    :param home: the start state.
    :param rows: of the states that are sampled.
    :param sampling: is asked for what is to be sampled.
    :param planner: its delta says how sure the ruling out is.
    :param at_once: whether a new state is sampled before all else.
    :ivar reach: the steps up to which a state is worth a certificate.
    :ivar distance: by state met, the estimated steps from home.
    :ivar plan: is asked for samples.
    """

    def __init__(self, problem: Problem, home: int, rows: TransitionRows, sampling: Sampling,
                 planner: Planner, at_once: bool) -> None:
        self.reach = min(max(PROMISING[0] * problem.radius, problem.radius + PROMISING[1]),
                         problem.radius + (problem.limit - problem.radius) / 4)
        # Up to so many steps is sampled what was within reach once: where anything is declared, to
        # walk for a certificate takes less than to rule a state out.
        self._stays = problem.radius + (
            problem.limit - problem.radius) / 2 if problem.support else self.reach
        self.distance: dict[int, float] = {home: 0.0}
        self.plan = SamplingPlan(problem, planner)
        self._planner = planner
        # Whether it counts what it counts in the end; decided before anything is seen.
        self._begun = at_once or bool(problem.support)
        self._witnessed, self._due = 0, 1
        self._rows = rows
        self._sampling = sampling
        self._at_once = at_once
        self._close: dict[int, None] = {}    # several ways lead there, no single one is short
        self._ruled_out: tuple[tuple[int, ...], int] | None = None    # all but these, of so many

    def within_reach(self, known: Collection[int]) -> list[int]:
        """Return the sampled states but known ones that last seemed near, near ones first."""
        return sorted((state for state in self._sampling.sampled if state not in known
                       and state in self.distance and self._promising(state)),
                      key=self.distance.__getitem__)

    def near(self, known: Collection[int]) -> Mapping[int, float]:
        """
        Sample whatever seems to be within reach, as what follows it may be, too.

        :returns: What is worth a certificate and not known yet, near ones first, and how far it
            seems to be.
        """
        sampled, found = self._sampling.sampled, True
        while found:
            self.distance = self._sampling.distances()
            found = False
            for state in self.distance:
                if self._promising(state) and state not in sampled:
                    found = True
                    self._sampling.enter(state)
                    if self._at_once:
                        self._sampling.prefer(state)
        for state in tuple(sampled):
            if state not in known and not self._promising(state):
                self._sampling.leave(state)
        return {state: self.distance[state] for state in sorted(
            (state for state in sampled if state not in known), key=self.distance.__getitem__)}

    def lacks(self, inside: Sequence[int]) -> bool:
        """Ask for the samples that ruling out all but these takes; False if they are ruled out."""
        if not self._begun and self._starts_again(inside):
            return True
        model, known = EmpiricalModel.for_ruling_out(self._rows, inside), set(inside)
        wanted = self.plan.samples(
            model, [state for state in self._rows.places if state not in known], self.distance)
        self._close = {
            state: None for state in (*self._close, *self.plan.open_targets)
            if model.hits(state).any()
            and model.smoothed_plan(state, self.reach, FAILURE_WEIGHT)[1] <= self.reach}
        for pair, executions in wanted.items():
            self._sampling.want(
                pair, executions + self._rows.aside(pair) - self._rows.carried(pair))
        self._ruled_out = None if wanted else self._all_but(inside)
        return bool(wanted)

    def has_ruled_out_all_but(self, inside: Sequence[int]) -> bool:
        """Return whether just that was ruled out, which holds at all times."""
        return self._ruled_out == self._all_but(inside)

    def start_over(self) -> None:
        """Rule out again, as counts or policies are no more."""
        self._ruled_out = None

    def keep_all(self) -> None:
        """Count all that was ever seen, as it is much."""
        self._begun = True

    def look_on(self, known: Collection[int]) -> None:
        """Record a step that another one made: all that is near may be tried by now."""
        if self._begun:
            return
        self._witnessed += 1
        if self._witnessed >= self._due:
            self._due = math.ceil(self._witnessed * LOOK_GROWTH)
            inside = (*known, *self.near(known))
            if not self._sampling.open:
                self._starts_again(inside)

    def _starts_again(self, states: Sequence[int]) -> bool:
        """
        Take what seems near as known, once all of it has been tried (*Starting again*).

        :returns: whether something is to be tried again before, as it led nowhere.
        """
        for pair in self._rows.stayed(states, TRIES):
            self._sampling.want(pair, TRIES)
        if not self._sampling.open:
            self._rows.start_again()
            self._planner.give(states, others=not set(states).issuperset(self._rows.places))
            self._begun = True
        return not self._begun

    def _promising(self, state: int) -> bool:
        return state in self._close or self.distance[state] <= (
            self._stays if state in self._sampling.sampled else self.reach)

    def _all_but(self, inside: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Return a key of what was ruled out: these states, and how many were met."""
        return tuple(sorted(inside)), len(self._rows.places)


class SamplingPlan:
    """
    Plans for all that might be within reach, until none of it is.

    :param problem: with the radius.
    :param planner: its delta says how sure the ruling out is.
    :ivar open_targets: what the last plan could not rule out under the counts as they were.
    """

    def __init__(self, problem: Problem, planner: Planner) -> None:
        self._radius = problem.radius * _TOLERANCE
        self._planner = planner
        self._last: dict[int | None, float] = {}
        self.open_targets: list[int] = []

    @property
    def ruled_out(self) -> float:
        """How far all else is from being ruled out, as the last plans had it: 1 is enough."""
        return min((steps / self._radius for steps in self._last.values()), default=_UNPLANNED)

    def samples(self, model: EmpiricalModel, others: Sequence[int],
                distances: Mapping[int, float]) -> dict[Pair, int]:
        """
        Return how often which pairs should have been executed before the next plan.

        :param model: of the states that are known or are to become known, all sampled.
        :param others: states met that are to be ruled out, beside any that was never seen.
        :param distances: by state of the model the estimated steps from home.
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
        most = np.maximum(MOST_AHEAD * model.visits, model.visits + 1)
        plans = 0
        for target in sorted(targets, key=lambda state: self._last.get(state, 0.0)):
            while plans < PLANS_AHEAD:
                plan = self._planner.plan(model, target)
                self._last[target] = plan.steps
                if plan.steps > self._radius:
                    break
                if not plans and target is not None:
                    self.open_targets.append(target)    # under the counts as they are
                plans += 1
                rows = _worth(model, plan.moves, plan.gains)
                rows = rows[model.visits[rows] < most[rows]]
                more = np.maximum(
                    model.visits[rows] + 1, np.ceil(model.visits[rows] * SAMPLE_GROWTH))
                for row, executions in zip(rows.tolist(), more.tolist()):
                    wanted[model.pair(row)] = int(executions)
                if not (len(rows) and model.visits[rows].all()):
                    return wanted    # else it is not known what they lead to
                model = _as_if(model, rows, more)
        return wanted

    def _all_are_far(self, model: EmpiricalModel, met: Sequence[int]) -> bool:
        """Return whether one plan rules all out; it grants no less to what was never seen."""
        steps = self._planner.plan_for_any(model, met).steps
        if steps > self._radius:
            self._last = {None: steps}
        return steps > self._radius

    def _even(self, model: EmpiricalModel, distances: Sequence[float]) -> dict[Pair, int]:
        """Return what lacks to a number of samples that no pair can do without, or nearly so."""
        if self._radius < 2:
            return {}
        even, likeliest = ((EVEN_PART, MOST_CHANCE) if len(distances) <= MANY_STATES
                           else (EVEN_PART_IF_MANY, MOST_CHANCE_IF_MANY))
        left = np.maximum(1.0, self._radius - np.array(distances))
        chances = np.clip(1 / left, max(LEAST_CHANCE, 1 / self._radius), likeliest)
        executions = np.ceil(even * self._planner.budget(model.states)
                             / -np.log1p(-chances)).repeat(model.actions)
        # A pair that is declared is tried once if it may lead to a state not seen, within reach.
        executions = np.where(
            ~model.closed, executions,
            model.leads(None) & (np.array(distances).repeat(model.actions) < self._radius))
        return {model.pair(row): int(executions[row])
                for row in np.flatnonzero(model.visits < executions).tolist()}


def _worth(model: EmpiricalModel, moves: Indices, gains: Floats) -> Indices:
    """Return the rows whose next sample takes most from the optimism."""
    rows = model.rows_of(moves)
    per_sample = gains / (1 + model.visits[rows])
    best = per_sample.max()
    if best <= 0:    # a planner that plays RESET at home leaves nothing to weigh
        return np.flatnonzero(~model.forbidden)
    found: Indices = rows[per_sample >= RELEVANT_PART * best]
    return found


def _as_if(model: EmpiricalModel, rows: Indices, visits: Floats) -> EmpiricalModel:
    """Return the model with more samples in some rows that have led where they did so far."""
    tally = model.tally.copy()
    tally[rows] *= (visits / model.visits[rows])[:, None]
    return replace(model, tally=tally)
