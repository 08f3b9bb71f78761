# SPDX-License-Identifier: Apache-2.0

"""Says how far each policy of an exploration may be trusted; it changes nothing there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnm_ros.core.knowledge.expected_plays import ExpectedPlays, Following, Plays, steps_of
from mnm_ros.core.mnm.capabilities import provisional_of
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.progress.said import (
    AsDeclared,
    BestSoFar,
    CertifiedBefore,
    CertifiedSoFar,
    KeptSince,
    OfHypothesis,
    OfHypothesisNearlyBest,
    OfReset,
    Said,
)
from mnm_ros.core.progress.trust import Trust, TrustedPolicy
import numpy as np

MOST_STATES = 200
"""So many states of the declared world get policies, those with the fewest moves from home."""

_NO_FAILURES = 1e-6    # weight of a failure, where chances are taken as they are

_PREFERRED = (Trust.PROVEN, Trust.CERTIFIED, Trust.KEPT, Trust.DOUBTED, Trust.ASSUMED)
"""Of several policies to a state: what was proven before is better than what never was."""


class TrustLedger:
    """
    Remembers what was said of the policies of an exploration, each of which has its turn.

    It can be pickled, and holds nothing of the exploration.

    :param state: from ``to_state``, to go on from there.
    """

    def __init__(self, state: Iterable[tuple[int, str, int]] = ()) -> None:
        self._looked: dict[int, Any] = {}    # memories of streams by number
        self._round = 0    # of the building phase that they are of
        self._certified: dict[int, Policy] = {}    # in that phase, at some time
        self._declared = DeclaredPolicies()
        self._counted: dict[int, tuple[Policy, int, int]] = {}    # by target, with the changes
        self._turn = 0    # of the streams, one of which is examined
        self._since: dict[int, tuple[Trust, int]] = {}
        # What was reported before a restart, and not again so far: certificates come in their
        # turn.
        self._before = {target: (Trust(trust), step) for target, trust, step in state}
        self._plays = ExpectedPlays()    # of what is of no hypothesis

    def to_state(self) -> list[tuple[int, str, int]]:
        """Return since when what was reported last has held, as plain data."""
        return [(target, trust.value, step)
                for target, (trust, step) in {**self._before, **self._since}.items()]

    def policies(self, mnm: Mnm, settings: Settings, step: int,
                 expected_plays: Mapping[int, Plays | None], following: Following,
                 at_most: int | None = None) -> tuple[TrustedPolicy, ...]:
        """
        Return all policies that there are, home first, then the hypothesis.

        :param mnm: that has the policies.
        :param settings: of the exploration.
        :param step: the steps so far.
        :param expected_plays: of the hypothesis.
        :param following: the counts.
        :param at_most: so many are computed again; None for all.
        """
        found: dict[int, TrustedPolicy] = {}
        home, horizon = mnm.home, settings.steps_horizon
        problem = replace(settings.problem, support=mnm.support)
        if home is None:
            return ()
        found[home] = _trusted(Trust.PROVEN, Policy(home, horizon, (home,), ((RESET,),)),
                               OfReset(), 0.0, 0.0)
        for told in (*_of_hypothesis(mnm, problem.limit, expected_plays),
                     *self._on_the_way(mnm, problem, at_most),
                     *(_trusted(Trust.ASSUMED, policy, AsDeclared(), steps) for policy, steps
                       in self._declared.look(problem, home, horizon, at_most))):
            target = told.policy.target
            if target not in found or _PREFERRED.index(told.trust) < _PREFERRED.index(
                    found[target].trust):
                found[target] = told
        self._since = {target: self._held_since(target, told.trust) or (told.trust, step)
                       for target, told in found.items()}
        others = [told.policy for target, told in found.items() if target not in expected_plays]
        plays = {**expected_plays, **self._plays.of(others, home, following, at_most)}
        given = self._given(problem.support, found.values(), home, following)
        return tuple(replace(told, since_step=self._since[target][1], plays=plays[target],
                             declared=given.get(target, 0))
                     for target, told in found.items())

    def _held_since(self, target: int, trust: Trust) -> tuple[Trust, int] | None:
        """Return since when this has held that was reported last; None if it is news."""
        last, before = self._since.get(target), self._before.get(target)
        if before is not None and (before[0] is trust or trust is Trust.DOUBTED):
            del self._before[target]
            last = before
        return last if last is not None and last[0] is trust else None

    def _given(self, support: Support, told: Iterable[TrustedPolicy], home: int,
               following: Following) -> dict[int, int]:
        """Return by target how many declared pairs a policy may come to for which more holds."""
        if not support:
            return {}
        before, self._counted = self._counted, {}

        def after(state: int, action: int) -> Iterable[int]:
            ends = support.ends(state, action)
            return following(state, action) if ends is None else ends
        for each in told:
            policy = each.policy
            if each.trust.rank <= Trust.CERTIFIED.rank:
                was = before.get(policy.target)
                same = was and was[0].same_as(policy) and was[1] == support.changes
                self._counted[policy.target] = was if was and same else (
                    policy, support.changes, sum(
                        support.ends(*pair) is not None
                        for pair in policy.may_play(home, after)))
        return {target: number for target, (_, _, number) in self._counted.items()}

    def _on_the_way(self, mnm: Mnm, problem: Problem,
                    at_most: int | None) -> Iterator[TrustedPolicy]:
        streams = mnm.phase.numbered
        if mnm.round != self._round or not streams:
            self._round, self._certified, self._looked = mnm.round, {}, {}
        self._looked = {number: self._looked.get(number) for number in streams}
        self._turn += 1
        doubted = {**self._certified}
        for place, (number, stream) in enumerate(streams.items()):
            has_turn = at_most is None or place == self._turn % len(streams)
            policies, self._looked[number] = provisional_of(
                stream, self._looked[number], at_most if has_turn else 0)
            for found in policies:
                if found.certified:
                    self._certified[found.policy.target] = found.policy
                    doubted.pop(found.policy.target, None)
                    yield _trusted(Trust.CERTIFIED, found.policy, CertifiedSoFar(),
                                   found.expected_steps, found.at_most_steps or problem.limit)
                else:
                    yield _trusted(Trust.ASSUMED, found.policy, BestSoFar(), found.expected_steps)
        forbidden = problem.support.all_forbidden
        for policy in (each for each in doubted.values() if not each.plays(forbidden)):
            yield _trusted(Trust.DOUBTED, policy, CertifiedBefore())


def _trusted(trust: Trust, policy: Policy, said: Said, expected_steps: float | None = None,
             at_most_steps: float | None = None) -> TrustedPolicy:
    """Return a policy with its trust, of which the ledger says since when that has held."""
    return TrustedPolicy(trust, expected_steps, at_most_steps, 0, '', policy, said=said)


def _of_hypothesis(mnm: Mnm, limit: float, expected_plays: Mapping[int, Plays | None],
                   ) -> Iterator[TrustedPolicy]:
    if mnm.hypothesis is None:
        return
    doubted, kept = mnm.phase.doubted, {*mnm.phase.kept}
    for policy in mnm.hypothesis.policies[1:]:
        steps = steps_of(expected_plays.get(policy.target))
        if policy.target in doubted:
            yield _trusted(Trust.DOUBTED, policy, doubted[policy.target], steps)
        elif policy.target in kept:
            yield _trusted(Trust.KEPT, policy, KeptSince(), steps)
        elif best := mnm.phase.nearly_best.get(policy.target):
            yield _trusted(Trust.PROVEN, policy,
                           OfHypothesisNearlyBest(mnm.hypothesis.round, best.within),
                           steps, best.at_most)
        else:
            yield _trusted(Trust.PROVEN, policy, OfHypothesis(mnm.hypothesis.round), steps, limit)


class DeclaredPolicies:
    """
    The policies through the declared world, by its chances where they are declared, too.

    Nothing is promised of them. Where no chances are declared, all ends of a pair are taken to be
    equally likely.

    They can be pickled, and hold nothing of the exploration.
    """

    def __init__(self) -> None:
        self._changes = -1
        self._found: list[tuple[Policy, float]] = []
        self._left: list[int] = []

    def look(self, problem: Problem, home: int, horizon: int, at_most: int | None = None,
             ) -> Sequence[tuple[Policy, float]]:
        """
        Return the policies so far, each with the steps that it takes by these chances.

        :param problem: with the support.
        :param home: where they begin.
        :param horizon: of the policies; what seems to take longer has none.
        :param at_most: so many more are worked out; None for all.
        """
        if problem.support.changes != self._changes:
            self._changes = problem.support.changes
            self._found = []
            self._left = _reached(problem, home)[:0:-1]
        most = len(self._left) if at_most is None else min(at_most, len(self._left))
        model = _as_declared(problem, _reached(problem, home)) if most else None
        while model and most:
            target, most = self._left.pop(), most - 1
            moves, steps = model.smoothed_plan(target, horizon, _NO_FAILURES)
            if steps <= horizon:
                self._found.append((Policy(
                    target, horizon, model.states, (tuple(moves.tolist()),)), steps))
        return self._found


def _reached(problem: Problem, home: int) -> list[int]:
    """Return the states that declared moves lead to, home and near ones first."""
    states, met = [home], {home}
    for state in states:
        for action in range(problem.actions):
            for end in problem.support.declared_ends(state, action):
                if end not in met and len(met) < MOST_STATES:
                    met.add(end)
                    states.append(end)
    return states


def _as_declared(problem: Problem, states: Sequence[int]) -> EmpiricalModel:
    """Return the model in which each pair was executed once, and led to all of its ends."""
    support = problem.support
    model = EmpiricalModel.of_counts(Counts(), states, problem.actions, support)
    tally = model.filled / np.maximum(1, model.filled.sum(axis=1))[:, None]
    for row in range(len(tally)):
        chances = support.chances(*model.pair(row))
        if chances and model.closed[row]:    # they say nothing of ends that were added
            by_place = {model.place_of[state]: chance for state, chance in chances.items()}
            tally[row] = [by_place.get(place, 0.0) for place in model.places[row].tolist()]
            tally[row] *= model.filled[row]
    return replace(model, tally=tally)
