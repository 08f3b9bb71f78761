# SPDX-License-Identifier: Apache-2.0

"""
Optimism on a fixed function: planning in the most favourable plausible CMP.

Why no reachable state is missed. Order the states of ``S_L->`` as they become reachable, home
first. If exploration stopped with one missing, take the first missing state ``s``, of rank
``i``; all earlier ones are in ``K``, so ``i <= |K| + 1``. By definition some fixed policy ``pi``
on those reaches ``s`` within ``L`` expected steps; let ``v`` be its expected steps to go, a
fixed function of the state with ``v(s) = 0``. For the ``i - 1`` pairs ``(s', pi(s'))``, the
transitions observed are independent draws whenever they were made, and

    P(exists N: N KL_inf(P^_N, P v) > log(1/d) + log(N + 1)) <= d,

because ``exp(N KL_inf)`` is at most ``N + 1`` times the capital of a uniform mixture of bets
on ``v(s'') - P v`` (Ville; Cover's bound for one bet), at all times at once. With
``d = delta' / (i (i - 1)^2)`` the sum over all ranks and pairs is ``delta'``, the planner's part
of the run's delta. Outside that event the plausible set of each of these pairs contains a
distribution ``Q`` with ``Q v <= P v``; as the planner minimises over plausible sets and is
monotone in ``v``, its value at home is at most ``v(s0) <= L``, and it does not stop. Neither the
number of candidates nor of actions enters, and samples may come from anywhere and any time since
the CMP last changed.

A pair that is forgotten begins again at a moment that the past decides. What it shows from then on
are independent draws, too, for which the above holds with another ``d``. So where pairs that have
not changed since the run began are forgotten up to ``k`` times, the chance of a miss is at most
``1 + k`` times as large. The checks have a pair forgotten when its alarm is raised, and where a
state is deleted for that: if nothing has changed, with no more than the chance of a false alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from mnm_ros.core.model.counts import Bools, Counts, Floats, Indices
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.paper.optimism import Optimism, OptimisticPolicy
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np

_TOLERANCE = 1e-9
_MOST_SWEEPS = 200


class KlOptimism(Optimism):
    """
    Least expected steps to a candidate over all CMPs within a KL ball of the counts.

    :param problem: with the delta of the run, which is not used here.
    :param delta: the part ``delta'`` of it that this planner may use.
    :param horizon: of the policies, in steps.
    """

    def __init__(self, problem: Problem, delta: float, horizon: int) -> None:
        self._problem = problem
        self._delta = delta
        self._horizon = horizon
        self._last_value: dict[int, float] = {}

    def plan(self, counts: Counts, known: Sequence[int],
             candidates: Sequence[int]) -> OptimisticPolicy | None:
        """Return the first candidate within reach, those that seemed nearest last time first."""
        model = _Model(counts, known, self._problem, self._delta)
        for target in sorted(candidates, key=lambda s: self._last_value.get(s, 0.0)):
            value, actions = model.solve(target)
            self._last_value[target] = value
            if value <= self._problem.radius:
                return OptimisticPolicy(
                    target, Policy(target, self._horizon, tuple(known), (actions,)))
        return None


class _Model:
    """
    The counts of the known states as arrays, one row for each (state, action).

    Columns are the known states, home first, then all other states that were observed.
    """

    def __init__(self, counts: Counts, known: Sequence[int], problem: Problem,
                 delta: float) -> None:
        self._known = len(known)
        self._actions = actions = problem.actions
        self._forbidden = np.array(problem.support.forbidden(known, actions))
        self._column = {state: index for index, state in enumerate(known)}
        rows = [counts.next_states(state, action)
                for state in known for action in range(actions)]
        for nexts in rows:
            for state in nexts:
                self._column.setdefault(state, len(self._column))
        width = max(1, max(map(len, rows)))
        self._next = np.zeros((len(rows), width), dtype=int)
        tally = np.zeros((len(rows), width))
        for row, nexts in enumerate(rows):
            self._next[row, :len(nexts)] = [self._column[state] for state in nexts]
            tally[row, :len(nexts)] = list(nexts.values())
        visits = tally.sum(axis=1)
        self._fractions = tally / np.maximum(1, visits)[:, None]
        # As the rank i is at most |K| + 1, 1/d is at most |K|^2 (|K| + 1) / delta'.
        pairs = self._known ** 2 * (self._known + 1)
        with np.errstate(divide='ignore'):
            self._radius = (math.log(pairs / delta) + np.log1p(visits)) / visits

    def solve(self, target: int) -> tuple[float, tuple[int, ...]]:
        """
        Return the optimistic expected steps from home and the actions that take them.

        This is policy iteration over pairs of an action and a plausible distribution: the
        values fall monotonically to the least fixed point.
        """
        known = self._known
        # Where all values are equal the favourable distributions all lead to the target a
        # little, so that the first policy, and hence every later one, arrives.
        values = np.ones(len(self._column))
        tilts = np.full(len(self._radius), np.nan)
        goal = self._column.get(target)
        for _ in range(_MOST_SWEEPS):
            if goal is not None:
                values[goal] = 0.0
            plausible, expected = least_mean(
                self._fractions, values[self._next], self._radius, tilts)
            steps = np.where(
                self._forbidden, np.inf, 1 + expected.reshape(known, self._actions))
            best = steps.argmin(axis=1)
            # A RESET costs one step and leads home; at home it would only lose that step.
            home = steps[0, best[0]]
            if home == np.inf:    # nothing is ever to be commanded there
                return math.inf, (RESET,) * known
            resets = steps[np.arange(known), best] > 1 + home
            resets[0] = False
            before = values[:known].copy()
            values[:known] = self._evaluate(best, resets, plausible, goal)
            values[known:] = 1 + values[0]
            if np.allclose(values[:known], before, rtol=_TOLERANCE, atol=0.0):
                break
        actions = tuple(
            RESET if reset else int(action) for reset, action in zip(resets, best))
        return float(values[0]), actions

    def _evaluate(self, best: Indices, resets: Bools, plausible: Floats,
                  goal: int | None) -> Floats:
        """Return the expected steps of playing ``best`` under the ``plausible`` rows."""
        known = self._known
        states = np.arange(known)
        chosen = states * self._actions + best
        matrix = np.zeros((known, len(self._column)))
        np.add.at(matrix, (states[:, None], self._next[chosen]), plausible[chosen])
        matrix[resets] = 0.0
        matrix[resets, 0] = 1.0
        # Mass on the goal, and what a plausible row lacks to 1, which is on it, too, ends the
        # attempt: it drops out of the equations steps = 1 + matrix @ steps.
        if goal is not None:
            matrix[:, goal] = 0.0
        # Outside the known states a RESET is executed: one step more, and on from home.
        away = matrix[:, known:].sum(axis=1)
        inner = matrix[:, :known]
        inner[:, 0] += away
        return np.linalg.solve(np.eye(known) - inner, 1 + away)
