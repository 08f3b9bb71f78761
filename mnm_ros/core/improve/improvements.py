# SPDX-License-Identifier: Apache-2.0

"""
Policies that are improved on request, until they are proven to be nearly the best.

DisCo (NeurIPS 2020) promises policies within ``epsilon`` of the best; MNM promises a limit alone.
For states of choice it goes on. The *best* is that of all policies on the known states, with a
RESET elsewhere and wherever it helps; a closed pair is not executed.

What is certain comes from the sets of ``Reach``: that any of them is ever wrong has its part of
the round's delta, and all that follows from right sets is right at once. So this takes no delta,
whatever is asked for, when, and how often it is checked: the best takes at least ``LeastSteps``,
and a policy at most what ``PolicyModel`` certifies. A policy is proven once the second is at most
``1 + within`` times the first; of the one of the hypothesis and the best by the counted
transitions, the better one is. The sets start again whenever a change is noticed, and when it is
relearnt: all proofs fall then, and when other states are known, other ends are declared or added,
or other ways are closed.

At rest two of three steps are made for it, between a patrol and the next turn of the rediscovery:
with the policy that is to be proven, or with the one that may be the best, whichever leaves more
open. For all else these steps are as those that others have ordered. Which of them is followed,
and for how long, has no influence on the promise.

**The least that any policy takes.** With the sets ``C`` of all pairs of the known states,

    V(s) = 1 + min over a and Q in C(s, a) of Q V,    V(elsewhere) = 1 + V(home),    V(target) = 0,

where a RESET costs a step and leads home, and mass on states never seen is on the target, or on
the best of what the pair is declared to lead to. If the sets contain all true distributions, the
steps of the best policy on the known states satisfy the same with ``>=``. So any ``V`` that is no
more than these stays so with each sweep, and so does the larger of both: each sweep is a bound,
from 0 on, or from the bounds of an earlier computation with the same sets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mnm_ros.core.mnm.checking_phase import NearlyBest
from mnm_ros.core.model.counts import Indices, Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.progress.activity import PhaseActivity
from mnm_ros.core.progress.said import (
    BetterProvenNearlyBest,
    Improving,
    ProvenNearlyBest,
    ToImproveAgain,
)
from mnm_ros.core.statistics.certificate import Balls, columns, plausible_rows, PolicyModel
from mnm_ros.core.statistics.kl_ball import least_mean
from mnm_ros.core.statistics.reach import Reach
from mnm_ros.core.watch.background import BackgroundTask
from mnm_ros.core.watch.revisions import Revisions
from mnm_ros.core.watch.watch_parts import WatchParts
import numpy as np

_PRECISION = 1e-4    # of the steps from home, by which the last sweep has changed any
_MOST_SWEEPS = 1000

_GROWTH, _FEWEST = 0.25, 2
"""Of the executions of a pair, and so many of them at least, after which it is checked again."""
_CLEARLY = 0.99
"""Of the steps: with less than that, another policy is taken although the old one would do."""


class Improved(NamedTuple):
    """
    The result of a check.

    :ivar old, new: the policy of the hypothesis, and the one that is to take its place, perhaps
        the same.
    :ivar before, after: their expected steps by the counted transitions.
    :ivar steps: that were made for it.
    """

    old: Policy
    new: Policy
    proof: NearlyBest
    before: float
    after: float
    steps: int


class Improvements(BackgroundTask):
    """
    The states that were asked for, and what is proven of their policies.

    :ivar wanted: how near to the best the policies are to be, by target.
    :ivar target: of the policy that is being improved; None for none.
    :ivar left: steps until the rediscovery has its turn.
    """

    def __init__(self, held: Revisions) -> None:
        super().__init__(held)
        self.wanted: dict[int, float] = {}
        self._proven: dict[int, NearlyBest] = {}
        self.target: int | None = None
        self.left = 0
        self._steps: dict[int, int] = {}    # made for a target
        self._era: object = None    # what the proofs rest on
        self._walk: Policy | None = None
        self._least: dict[int, float] = {}    # bounds by state, for ``target``
        self._made: dict[Pair, int] = {}    # executions since the last check
        self._likely = 0.0    # steps of the policy, by the counted transitions

    def ask(self, target: int | None, within: float) -> None:
        """Improve the policy for a state from now on, until it is so near to the best, or none."""
        if target is None:
            self.wanted, self._proven, self._steps = {}, {}, {}
            self.target = self._walk = None
            return
        self.wanted[target] = within
        self._proven.pop(target, None)
        self._steps[target] = 0

    @property
    def proven(self) -> Mapping[int, NearlyBest]:
        return self._proven

    def heed(self, redeclared: bool = False) -> None:
        """Begin again, and report the proofs that fall, if what they rest on is another now."""
        if not self.wanted:
            return
        parts, log = self._held.parts, self._held.parts.round.log
        era = parts.reach.begun, _closed(parts), parts.policies[0].states
        if era == self._era and not redeclared:
            return
        fallen = (*self._proven, *(() if self.target is None else (self.target,)))
        self._era, self.target, self._walk, self._least = era, None, None, {}
        self._proven.clear()
        if fallen:
            log.tell(ToImproveAgain(parts.round.number, fallen))

    def begin(self, steps: int) -> bool:
        if self.wanted:
            self._take_proven()
        self.left = steps
        return self.target is not None

    def _take_proven(self) -> None:
        """Take what is proven to be nearly the best."""
        self.heed()
        parts, round_ = self._held.parts, self._held.parts.round
        while (found := self.look(
                parts.policies, _closed(parts), round_.problem, parts.reach)) is not None:
            if found.new is not found.old:
                self._held.adopt(tuple(found.new if policy is found.old else policy
                                       for policy in parts.policies))
            proven = (round_.number, found.new.target, found.proof.within, found.proof.at_most,
                      found.after, found.steps)
            round_.log.tell(ProvenNearlyBest(*proven) if found.new is found.old else
                            BetterProvenNearlyBest(*proven, found.before))

    def look(self, policies: Sequence[Policy], closed: Collection[Pair], problem: Problem,
             reach: Reach) -> Improved | None:
        """
        Find out what is proven, and what to follow to prove more; None if nothing is new.

        :param policies: of the hypothesis, home first.
        :param closed: pairs that are not tried.
        """
        targets = [policy.target for policy in policies[1:]]
        target = next((target for target in self.wanted
                       if target not in self._proven and target in targets), None)
        if target != self.target:
            self.target, self._least = target, {}
        self._made.clear()
        self._walk = None
        if target is None:
            return None
        old, within = policies[1 + targets.index(target)], self.wanted[target]
        least = LeastSteps(reach.sets, old.states, problem.actions, target,
                           problem.support, without=closed, before=self._least)
        self._least = least.by_state
        limit = min((1 + within) * least.steps, problem.limit)
        best = _best_by_counts(old, problem, reach)
        # What goes by the step has no model: its first row takes its place.
        same = old if len(old.actions) == 1 else replace(old, actions=old.actions[:1])
        tried = [(policy, PolicyModel(reach.sets, policy, limit, problem.support))
                 for policy in ((same,) if best is None or best.same_as(same) else (same, best))]
        new, found = min(tried, key=lambda each: each[1].bound)    # the old one if that is as good
        before = tried[0][1]
        if before.bound <= limit and found.bound > _CLEARLY * before.bound:
            new, found = tried[0]
        if found.bound <= limit:
            self._proven[target] = proof = NearlyBest(within, least.steps, found.bound)
            return Improved(old, new, proof, before.steps, found.steps, self._steps[target])
        self._likely = found.empirical
        optimistic = found.empirical - least.steps > found.bound - found.empirical
        self._walk = Policy(target, old.horizon, old.states, (
            tuple(map(int, least.moves)),)) if optimistic else new
        return None

    def action(self, here: int | None) -> int:
        """Return the next action; the next step follows no policy while no target is checked."""
        return RESET if here in (None, self.target) or self._walk is None else (
            self._walk.action(0, here))

    def executed(self, pair: Pair | None) -> bool:
        """Check again once a pair was executed a quarter more often than at the last check."""
        self.left -= 1
        if self.target in self._steps:
            self._steps[self.target] += 1
        if pair is not None:
            made = self._made[pair] = self._made.get(pair, 0) + 1
            before = self._held.parts.reach.sets.counts.visits(*pair) - made
            if made >= max(_FEWEST, _GROWTH * before):
                self._take_proven()
        return self.target is not None and self.left > 0

    def shown(self, activity: PhaseActivity) -> PhaseActivity:
        assert self.target is not None
        least = next(iter(self._least.values()), 0.0)
        return replace(activity, target=self.target,
                       said=Improving(self.target, self._likely, least))


def _closed(parts: WatchParts) -> tuple[Pair, ...]:
    """Return the pairs that are closed, if a caller schedules re-checks."""
    return tuple(parts.pairs.closed) if parts.pairs.scheduled else ()


def _best_by_counts(old: Policy, problem: Problem, reach: Reach) -> Policy | None:
    """Return the policy to the target of ``old`` that is best by the counted transitions."""
    model = EmpiricalModel.of_counts(
        reach.sets.counts, old.states, problem.actions, problem.support)
    if not model.hits(old.target).any():
        return None
    moves, _ = model.smoothed_plan(old.target, problem.limit)
    return Policy(old.target, old.horizon, old.states, (tuple(map(int, moves)),))


class LeastSteps:
    """
    A lower bound on the expected steps to a state, over all policies on the known states.

    :param sets, support: as of ``PolicyModel``.
    :param known: states, home first.
    :param actions: number of actions without RESET.
    :param target: any state but home.
    :param without: pairs that no policy plays.
    :param before: from ``by_state``, of the same sets and known states when they were larger.
    :ivar steps: from home.
    :ivar by_state: the same from each known state.
    :ivar moves: the action by known state that may take the least.
    """

    steps: float
    moves: Indices

    def __init__(self, sets: Balls, known: Sequence[int], actions: int,
                 target: int, support: Support, *, without: Collection[Pair] = (),
                 before: Mapping[int, float] | None = None) -> None:
        pairs = [(state, action) for state in known for action in range(actions)]
        self._rows = plausible_rows(sets, pairs, columns(known, target), support)
        self._barred = np.array([
            pair in without or support.forbids(*pair) for pair in pairs]).reshape(-1, actions)
        self._tilts = np.full(len(pairs), np.nan)
        values = np.zeros(len(known) + 2)    # by column
        values[:-2] = [(before or {}).get(state, 0.0) for state in known]
        arrived = np.array([state == target for state in known])
        for _ in range(_MOST_SWEEPS):
            costs = self._costs(values)
            self.moves = costs.argmin(axis=1)
            least = costs.min(axis=1)
            home = 1 + values[0]    # by a RESET
            self.moves[least > home] = RESET
            found = np.maximum(values, [
                *np.where(arrived, 0.0, np.minimum(least, home)), home, 0.0])
            change, values = (found - values).max(), found
            if change <= _PRECISION * values[0]:
                break
        self.steps = float(values[0])
        self.by_state = dict(zip(known, values[:-2].tolist()))

    def _costs(self, values: np.ndarray) -> np.ndarray:
        """Return the least steps to go with each action, as [state, action]."""
        rows = self._rows
        lowest = np.where(rows.closed, values[rows.ends].min(axis=1, initial=np.inf), 0.0)
        # A step that was broken off may have led to the target.
        ahead = np.where(rows.reserved, 0.0, values[rows.following])
        _, means = least_mean(rows.fractions, np.maximum(0.0, ahead - lowest[:, None]),
                              rows.radius, self._tilts)
        costs = (1 + lowest + means).reshape(self._barred.shape)
        costs[self._barred] = np.inf
        return costs
