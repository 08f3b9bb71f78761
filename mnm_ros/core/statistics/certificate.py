# SPDX-License-Identifier: Apache-2.0

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

A step that was broken off counts as one to a reserved place that is as bad as any. ``P`` is the
distribution with that place then, so that it must not vary in time what gets lost.

The ``j``-th pair ever executed has its ``share`` of ``delta`` for ``d``. Which pair that is may
depend on chance, but not on its own transitions, as there are none before.

Where the ``chances`` of a pair are declared, half of the price of its beginning goes to a second
prediction, by these: *new* has the chance of all that was not shown yet. What both pay together is
the product of a mixture of two supermartingales, and so is one: a bet, that costs ``log 2`` where
it is wrong, and saves learning the distribution where it is right.

**Certificate.** With ``X = len + 1{failed} (1 + m)`` of an attempt, ``tau <= m`` exactly when
``E[X] <= m`` (``evaluation.py``). Backwards over the horizon ``G``, with the sets ``C`` of pairs,

    V_G = 1 + m,  V_h(s) = 1 + max over Q in C(s, pi(s)) of Q V_{h+1}  in the policy's states,
    V_h(elsewhere) = max(1 + m, 1 + V_{h+1}(home)),  V_h(target) = 0,

and mass on states never seen gets the largest of all values, or of those that the pair is
declared to lead to (``Support``), as nothing else is plausible then. Unless some set misses its
true distribution, ``E[X] <= V_0(home)`` by induction. An attempt is over (failed) outside the
policy's states, but when a state there is learnt later and the policy is published with a RESET in
it, that RESET is a step of the attempt; the maximum covers both, for each state separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
import math
from typing import NamedTuple, Protocol

from mnm_ros.core.model.counts import Bools, Counts, Floats, Indices, Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
from mnm_ros.core.statistics.kl_ball import least_mean
from mnm_ros.core.statistics.predictions import Predictions
import numpy as np


class ConfidenceSets:
    """
    The distributions of each pair that the transitions in ``counts`` do not rule out.

    :param delta: the probability with which any set may ever miss its true distribution.
    :param support: with the chances of pairs where they are declared.
    :ivar counts: of the transitions that were added here.
    :ivar predictions: of what follows pairs while they are declared (``joint.py``).
    """

    def __init__(self, delta: float, support: Support | None = None) -> None:
        self.delta = delta
        self.counts = Counts()
        self.predictions = Predictions()
        self._support = Support() if support is None else support
        self._bets: dict[Pair, tuple[float, float]] = {}
        self._price: dict[Pair, float] = {}
        self._begun = 0

    def add(self, state: int, action: int, next_state: int) -> None:
        """Record a transition, and add it to the counts."""
        self._predict((state, action), next_state, *self.counts.add(state, action, next_state))

    def add_censored(self, state: int, action: int) -> None:
        """Record a step that was broken off: it led to a reserved place."""
        self._predict((state, action), None, *self.counts.lose(state, action))

    def forget(self, state: int, action: int) -> None:
        """Begin again with a pair, and empty its counts."""
        self.counts.forget(state, action)
        self._price.pop((state, action), None)
        self._bets.pop((state, action), None)
        self.predictions.forget((state, action))

    def ball(self, state: int, action: int) -> tuple[list[float], float]:
        """
        Return ``f`` in the order of the counts, the reserved place last, and the radius.

        While nothing is known, ``f`` is all zero and the radius infinite.
        """
        pair = (state, action)
        counts = [*self.counts.next_states(*pair).values(), self.counts.lost(*pair)]
        weights = [max(0, count - 1) for count in counts]
        total = sum(weights)
        if not total:
            return [0.0] * len(weights), math.inf
        fractions = [weight / total for weight in weights]
        entropy = -math.fsum(f * math.log(f) for f in fractions if f)
        return fractions, max(0.0, self._price[pair] / total - entropy)

    def _predict(self, pair: Pair, came: int | None, executed: int, count: int) -> None:
        """
        Pay for the prediction of what came.

        If the pair is declared, ``predictions`` predict it by what all of these did, too.

        :param came: None for a step that was broken off.
        :param executed: executions before it, and count: of these, those that led there, too.
        """
        declared = self._support.declared.successors.get(pair[0])
        if declared and declared[pair[1]]:
            self.predictions.add(pair, declared[pair[1]], came)
        if not executed:
            self._begun += 1
            self._price[pair] = -math.log(share(self._begun, EVEN_PARTS) * self.delta)
            if came is not None and self._support.chances(*pair):
                self._bets[pair] = 0.0, 0.0
            return
        new = 1 / (executed + 1) ** 2    # the probability of a state that has not followed yet
        paid = -math.log((1 - new) * count / executed if count else new)
        if pair not in self._bets:
            self._price[pair] += paid
            return
        chances = self._support.chances(*pair)
        chance = (0.0 if came is None else chances.get(came, 0.0) if count else
                  1 - math.fsum(chances.get(state, 0.0)
                                for state in self.counts.next_states(*pair) if state != came))
        learnt, bet = self._bets[pair]
        before = _mixed(learnt, bet)
        self._bets[pair] = learnt, bet = (
            learnt + paid, bet - math.log(chance) if chance > 0 else math.inf)
        self._price[pair] += _mixed(learnt, bet) - before


def _mixed(learnt: float, bet: float) -> float:
    """Return the code length of the mixture of two predictions, half of each."""
    least = min(learnt, bet)
    return least + math.log(2) - math.log(math.exp(least - learnt) + math.exp(least - bet))


class Balls(Protocol):
    """
    What is plausible of pairs, as far as a model asks for it.

    :ivar counts: by which it is plausible.
    """

    counts: Counts

    def ball(self, state: int, action: int) -> tuple[list[float], float]:
        """Return ``f`` in the order of the counts, the reserved place last, and the radius."""


class PlausibleRows(NamedTuple):
    """
    What is plausible of some pairs, as [row, slot] or [row]; states are columns of values.

    :ivar following: what followed, and in the slot after the last the reserved place.
    :ivar frequencies: how often, as a fraction.
    :ivar fractions, radius: the ball of the pair.
    :ivar reserved: whether the slot is the reserved place.
    :ivar closed: whether what was never seen is in ``ends`` alone.
    :ivar ends: where the pair is declared to lead, the first one again in empty slots.
    """

    following: Indices
    frequencies: Floats
    fractions: Floats
    radius: Floats
    reserved: Bools
    closed: Bools
    ends: Indices


def columns(known: Sequence[int], target: int) -> dict[int, int]:
    """Return the columns of the known states, and that of the target after one for elsewhere."""
    return {**{state: index for index, state in enumerate(known)}, target: len(known) + 1}


def plausible_rows(sets: Balls, pairs: Sequence[Pair], column: Mapping[int, int],
                   support: Support | None) -> PlausibleRows:
    """
    Return what is plausible of these pairs; a RESET has an empty row.

    :param column: from ``columns``; the others are elsewhere.
    """
    counts, elsewhere = sets.counts, max(column.values()) - 1
    rows = [counts.next_states(*pair) for pair in pairs]
    # A step that was broken off may have led to where nothing leads otherwise.
    declared = [support.declared_ends(*pair) if support and not counts.lost(*pair) else ()
                for pair in pairs]
    shape = (len(pairs), 1 + max(map(len, rows)))
    found = PlausibleRows(
        np.full(shape, elsewhere), np.zeros(shape), np.zeros(shape), np.zeros(len(pairs)),
        np.zeros(shape, dtype=bool), np.array([bool(ends) for ends in declared]),
        np.full((len(pairs), max(map(len, declared))), -1))
    for row, ends in enumerate(declared):
        there = [column.get(after, elsewhere) for after in ends]
        found.ends[row, :len(there)] = there
        found.ends[row, len(there):] = there[0] if there else 0
    for row, (pair, nexts) in enumerate(zip(pairs, rows)):
        if pair[1] == RESET:
            continue
        # The slot after the last is the reserved place.
        size, lost = len(nexts), counts.lost(*pair)
        found.reserved[row, size] = True
        found.following[row, :size] = [column.get(after, elsewhere) for after in nexts]
        found.frequencies[row, :size + 1] = [*nexts.values(), lost]
        found.fractions[row, :size + 1], found.radius[row] = sets.ball(*pair)
    executed = found.frequencies.sum(axis=1, keepdims=True)
    np.divide(found.frequencies, np.maximum(1, executed), out=found.frequencies)
    return found


class PolicyModel:
    """
    One stationary policy under the sets: what is certain about it, and what is not.

    It is the certificate of the policy if its bound is within the limit. Whatever is asked for is
    worked out then, from the sets as they were when the model was made.

    :param sets: of the pairs.
    :param policy: its states are the known ones, home first.
    :param limit: ``m``, the steps to certify.
    :param support: where pairs may lead; mass on what was never seen is in there.
    """

    def __init__(self, sets: Balls, policy: Policy, limit: float,
                 support: Support | None = None) -> None:
        self._policy = policy
        self._limit = limit
        known, moves = policy.states, policy.actions[0]
        self._resets = np.array(moves) == RESET
        self._home_next = np.flatnonzero(self._resets)
        (self._following, self._frequencies, self._fractions, self._radius, self._reserved,
         self._closed, self._ends) = plausible_rows(
            sets, tuple(zip(known, moves)), columns(known, policy.target), support)

    @cached_property
    def bound(self) -> float:
        """Return steps that ``E[X]`` of an attempt does not exceed."""
        return float(self._alone[-1][0])

    @cached_property
    def empirical(self) -> float:
        """Return ``E[X]`` of an attempt if the counts were the truth."""
        values = self._at_last()
        for _ in range(self._policy.horizon):
            values = self._step_back(
                values, 1 + np.add.reduce(self._frequencies * values[self._following], axis=1))
        return float(values[0])

    @cached_property
    def steps(self) -> float:
        """Return ``tau`` if the counts were the truth."""
        arriving = (self._frequencies * (self._following > len(self._policy.states))).sum(axis=1)
        arrived = float((self._visits @ arriving).sum())
        return (float(self._visits.sum()) + 1 - arrived) / arrived if arrived else math.inf

    @cached_property
    def weights(self) -> dict[Pair, float]:
        """
        Return how much each pair that it executes adds to what is not known of the bound.

        It is the width of the value after the pair, at the start of an attempt, times the visits
        to be expected.
        """
        ahead, worst = self._alone[-2:]
        _, least = least_mean(self._fractions, self._ahead(ahead, self._never_seen(ahead)),
                              self._radius, np.full(len(self._resets), np.nan))
        weights = self._visits.sum(axis=0) * np.where(self._resets, 0.0, worst[:-2] - 1 - least)
        pairs = zip(self._policy.states, self._policy.actions[0])
        return {pair: float(weight) for pair, weight in zip(pairs, weights) if weight > 0}

    def lower_bound(self, doubt: bool = True) -> float:
        """
        Return what ``E[X]`` of an attempt is at least: mass never seen is on the target.

        :param doubt: whether the counts may be wrong. Without it the result is no less, and
            takes a tenth of the time.
        """
        known = len(self._policy.states)
        values = self._at_last()
        tilts = np.full(known, np.nan)
        # A step that was broken off may have led anywhere, to the target as well.
        fractions = np.where(self._reserved, 0.0, self._fractions)
        for _ in range(self._policy.horizon):
            ahead = values[self._following]
            least = (least_mean(self._fractions, np.where(self._reserved, 0.0, ahead),
                                self._radius, tilts)[1] if doubt
                     else np.add.reduce(fractions * ahead, axis=1))
            values = self._step_back(values, 1 + least, min(1 + self._limit, 1 + values[0]))
        return float(values[0])

    def _at_last(self) -> Floats:
        """Return ``V_G`` by column: of the known states, elsewhere, and of the target."""
        values = np.full(len(self._policy.states) + 2, 1 + self._limit)
        values[-1] = 0.0
        return values

    @cached_property
    def _alone(self) -> list[Floats]:
        """Return ``V_h`` by column, from the end on; each pair is as bad as its set allows."""
        values, tilts = [self._at_last()], np.full(len(self._resets), np.nan)
        for _ in range(self._policy.horizon):
            values.append(self._step_back(values[-1], self._worst(values[-1], tilts)))
        return values

    def _worst(self, values: Floats, tilts: Floats) -> Floats:
        """Return the most steps that the known states take before ``values``."""
        top = self._never_seen(values)
        _, gain = least_mean(self._fractions, np.maximum(
            0.0, top[:, None] - self._ahead(values, top)), self._radius, tilts)
        return 1 + top - gain

    def _ahead(self, values: Floats, top: Floats) -> Floats:
        """Return the steps after each end, as [row, slot]; the reserved place is as bad as any."""
        return np.where(self._reserved, top[:, None], values[self._following])

    def _never_seen(self, values: Floats) -> Floats:
        """Return the most steps after an end that was never seen, by known state."""
        top = np.full(len(self._closed), values.max())
        if self._closed.any():    # no worse than what is declared
            top = np.where(self._closed, values[self._ends].max(axis=1), top)
        return top

    def _step_back(self, values: Floats, steps: Floats, outside: float | None = None) -> Floats:
        """Return ``V_h`` by column from ``V_{h+1}`` and what the known states take."""
        if outside is None:
            outside = max(1 + self._limit, 1 + values[0])
        result = np.empty(len(values))
        result[:-2] = steps
        result[self._home_next] = 1 + values[0]
        result[-2:] = outside, 0.0
        return result

    @cached_property
    def _visits(self) -> Floats:
        """Return how likely the known states are at each step, if the counts are the truth."""
        known = len(self._policy.states)
        visits = np.zeros((self._policy.horizon, known))
        visits[0, 0] = 1.0
        for step in range(1, self._policy.horizon):
            before = visits[step - 1]
            there = np.bincount(
                self._following.ravel(), (before[:, None] * self._frequencies).ravel(), known + 2)
            there[0] += before[self._resets].sum()
            visits[step] = there[:known]
        return visits
