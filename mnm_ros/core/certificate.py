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
Certificates by a model: an upper bound on the expected steps of a policy, without trying it.

**Confidence sets.** Each pair (state, action) is bet against as its transitions come. Reduce
transition number ``t + 1`` of a pair to ``y``: the next state if the pair has shown it before,
else the one symbol *new*. Whatever the true distribution ``P``, ``y`` has probability ``P(next)``,
or ``P(not shown yet)``; we predict *new* with ``1 / (t + 1)^2`` and otherwise share the rest in
proportion to the counts, ``n / t``. The product of predicted over true probabilities is a
nonnegative supermartingale that starts at 1 (the first ``y`` is *new* for sure), so it ever
exceeds ``1/d`` with probability at most ``d`` (Ville). Bounding the true probability of each
*new* by 1, at all times at once

    sum over the next states shown of (n - 1) log P(next) >= -price,

where ``price`` is ``log(1/d)`` plus the code length of the predictions. With ``f`` proportional
to ``n - 1``, this is a ball ``KL(f || P) <= radius`` in which ``P`` may put mass on states never
seen. It contains the true distribution as a whole, so bounds from it hold for every policy and
every function, however the data suggested them, and neither the support nor the number of
states has to be known. (Jonsson et al. 2020, *Planning in Markov decision processes with
gap-dependent sample complexity*, prove the like for a support of known size.)

The ``j``-th pair ever executed gets ``d = delta / (j (j + 1))``. Which pair that is may depend on
chance, but not on its own transitions, as there are none before.

**Certificate.** With ``X = len + 1{failed} (1 + m)`` of an attempt, ``tau <= m`` exactly when
``E[X] <= m`` (``evaluation.py``). Backwards over the horizon ``G``, with the sets ``C`` of pairs,

    V_G = 1 + m,  V_h(s) = 1 + max over Q in C(s, pi(s)) of Q V_{h+1}  in the policy's states,
    V_h(elsewhere) = max(1 + m, 1 + V_{h+1}(home)),  V_h(target) = 0,

and mass on states never seen gets the largest of all values. Unless some set misses its true
distribution, ``E[X] <= V_0(home)`` by induction. An attempt is over (failed) outside the policy's
states, but when a state there is learnt later and the policy is published with a RESET in it,
that RESET is a step of the attempt; the maximum covers both, for each state separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from mnm_ros.core.arrays import Bools, Floats, Indices
from mnm_ros.core.counts import Counts, Pair
from mnm_ros.core.kl_optimism import favourable
from mnm_ros.core.problem import RESET
import numpy as np


class ConfidenceSets:
    """
    What the transitions in ``counts`` say about the distribution of each pair.

    :param delta: the probability with which any set may ever miss its true distribution.
    :param counts: of the run; transitions are added to them here.
    """

    def __init__(self, delta: float, counts: Counts) -> None:
        self._delta = delta
        self._counts = counts
        self._price: dict[Pair, float] = {}

    def add(self, state: int, action: int, next_state: int) -> None:
        """Take note of a transition, and add it to the counts."""
        pair = (state, action)
        visits = self._counts.visits(state, action)
        if visits == 0:
            pairs = len(self._price) + 1
            self._price[pair] = math.log(pairs * (pairs + 1) / self._delta)
        else:
            # The prediction of what came, made before it came.
            new = 1 / (visits + 1) ** 2
            count = self._counts.next_states(state, action).get(next_state, 0)
            self._price[pair] -= math.log((1 - new) * count / visits if count else new)
        self._counts.add(state, action, next_state)

    def ball(self, state: int, action: int) -> tuple[list[float], float]:
        """
        Return ``f`` in the order of the counts, and the radius.

        While nothing is known, ``f`` is all zero and the radius infinite.
        """
        weights = [count - 1 for count in self._counts.next_states(state, action).values()]
        total = sum(weights)
        if not total:
            return [0.0] * len(weights), math.inf
        fractions = [weight / total for weight in weights]
        entropy = -math.fsum(f * math.log(f) for f in fractions if f)
        return fractions, max(0.0, self._price[state, action] / total - entropy)


@dataclass(frozen=True)
class Certificate:
    """
    What is certain about a stationary policy.

    :ivar bound: no less than ``E[X]`` of an attempt.
    :ivar empirical: the same if the counts were the truth.
    :ivar steps: ``tau`` if the counts were the truth.
    :ivar weights: per pair that the policy executes, how far its set leaves the value open at the
        start of an attempt, times the visits to be expected.
    """

    bound: float
    empirical: float
    steps: float
    weights: dict[Pair, float]


class PessimisticModel:
    """
    The worst plausible CMP, for policies on the known states.

    :param counts: of the run.
    :param sets: over these counts.
    :param known: home first.
    :param actions: number of actions without RESET.
    :param horizon: of an attempt, in steps.
    :param limit: ``m``, the steps to certify.
    """

    def __init__(self, counts: Counts, sets: ConfidenceSets, known: Sequence[int], actions: int,
                 horizon: int, limit: float) -> None:
        self._known = tuple(known)
        self._actions = actions
        self._horizon = horizon
        self._limit = limit
        column = {state: index for index, state in enumerate(known)}
        pairs = [(state, action) for state in known for action in range(actions)]
        rows = [counts.next_states(*pair) for pair in pairs]
        shape = (len(rows), max(1, max(map(len, rows))))
        self._others = len(known)
        self._next = np.full(shape, self._others)
        self._ids = np.full(shape, -1, dtype=object)
        self._frequencies = np.zeros(shape)
        self._fractions = np.zeros(shape)
        self._radius = np.zeros(len(rows))
        for row, (pair, nexts) in enumerate(zip(pairs, rows)):
            size = len(nexts)
            self._next[row, :size] = [column.get(state, self._others) for state in nexts]
            self._ids[row, :size] = list(nexts)
            self._frequencies[row, :size] = np.array(list(nexts.values())) / max(
                1, counts.visits(*pair))
            self._fractions[row, :size], self._radius[row] = sets.ball(*pair)

    def plan(self, target: int) -> tuple[int, ...]:
        """Return the actions with the least ``V_0`` when each step may choose anew."""
        following = self._following(target)
        values = self._failed()
        shape = (len(self._known), self._actions)
        for _ in range(self._horizon):
            steps = self._worst(values, values[following], slice(None)).reshape(shape)
            best, reached = steps.argmin(axis=1), steps.min(axis=1)
            resets = 1 + values[0] < reached
            resets[0] = False
            values = self._step_back(values, np.where(resets, 1 + values[0], reached))
        return tuple(RESET if reset else int(a) for reset, a in zip(resets, best))

    def certify(self, target: int, actions: Sequence[int]) -> Certificate:
        """Return the certificate of the policy with these actions in the known states."""
        resets = np.array(actions) == RESET
        # A RESET has no row of its own: any row will do, as it is never looked at.
        chosen = np.arange(len(actions)) * self._actions + np.where(resets, 0, actions)
        following = self._following(target)[chosen]
        frequencies = np.where(resets[:, None], 0.0, self._frequencies[chosen])
        values = self._failed()
        excess = []
        for _ in range(self._horizon):
            ahead = values[following]
            steps = self._worst(values, ahead, chosen)
            # How far the worst distribution is above the counts, by step from the last to first.
            excess.append(np.where(resets, 0.0, steps - 1 - (frequencies * ahead).sum(axis=1)))
            values = self._step_back(values, np.where(resets, 1 + values[0], steps))
        _, least = favourable(self._fractions[chosen], ahead, self._radius[chosen])
        visits = self._visits(following, frequencies, resets)
        weights = visits.sum(axis=0) * np.where(resets, 0.0, steps - 1 - least)
        return Certificate(
            bound=float(values[0]),
            empirical=float(values[0] - (visits * np.array(excess[::-1])).sum()),
            steps=self._steps(visits, (frequencies * (following > self._others)).sum(axis=1)),
            weights={(state, action): float(weight) for state, action, weight
                     in zip(self._known, actions, weights) if weight > 0})

    def _following(self, target: int) -> Indices:
        """Return the column of each next state: the known ones, all others, the target."""
        return np.where(self._ids == target, self._others + 1, self._next)

    def _failed(self) -> Floats:
        """Return ``V_G`` by column."""
        values = np.full(len(self._known) + 2, 1 + self._limit)
        values[-1] = 0.0
        return values

    def _worst(self, values: Floats, ahead: Floats, rows: slice | Indices) -> Floats:
        """
        Return one plus the largest plausible ``Q V``.

        It is the largest value of all less the least plausible ``Q (top - V)``. The optimistic
        planner finds that, with mass on states never seen at ``top - V = 0``.
        """
        top = values.max()
        _, gain = favourable(self._fractions[rows], top - ahead, self._radius[rows])
        result: Floats = 1 + top - gain
        return result

    def _step_back(self, values: Floats, steps: Floats) -> Floats:
        """Return ``V_h`` by column from ``V_{h+1}`` and what the known states take."""
        outside = max(1 + self._limit, 1 + values[0])
        return np.concatenate([steps, [outside, 0.0]])

    def _visits(self, following: Indices, frequencies: Floats, resets: Bools
                ) -> Floats:
        """Return how likely the known states are at each step, if the counts are the truth."""
        known = len(self._known)
        visits = np.zeros((self._horizon, known))
        visits[0, 0] = 1.0
        for step in range(1, self._horizon):
            before = visits[step - 1]
            there = np.zeros(known + 2)
            np.add.at(there, following, before[:, None] * frequencies)
            there[0] += before[resets].sum()
            visits[step] = there[:known]
        return visits

    @staticmethod
    def _steps(visits: Floats, arriving: Floats) -> float:
        """Return ``tau`` from the visits of an attempt and the chances to arrive."""
        arrived = float((visits @ arriving).sum())
        return (float(visits.sum()) + 1 - arrived) / arrived if arrived else math.inf
