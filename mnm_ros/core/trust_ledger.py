# SPDX-License-Identifier: Apache-2.0

"""Looks on at an exploration, to say how far each policy may be trusted; it changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from mnm_ros.core.knowledge.expected_plays import ExpectedPlays, Following, Plays, steps_of
from mnm_ros.core.mnm.base import BaseAlgorithm, Provisional
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.checking_phase import NOT_PROVEN_SINCE
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.planning.declared_policies import DeclaredPolicies
from mnm_ros.core.progress.trust import Trust, TrustedPolicy

_PREFERRED = (Trust.PROVEN, Trust.CERTIFIED, Trust.DOUBTED, Trust.ASSUMED)
"""Of several policies to a state: what was proven before is better than what never was."""


_CERTIFIED_BEFORE = 'it was certified, and what was seen since speaks against it'
"""Why a policy is doubted that was certified while building."""


class TrustLedger:
    """
    Says of each policy that there is how far it may be trusted.

    :param mnm: what is looked at.
    :param settings: of the exploration.
    :param state: from ``to_state``, to go on from there.
    """

    def __init__(self, mnm: Mnm, settings: Settings,
                 state: Iterable[tuple[int, str, int]] = ()) -> None:
        self._mnm = mnm
        self._limit = settings.problem.limit
        self._horizon = settings.steps_horizon
        self._looking: dict[BaseAlgorithm, Provisional] = {}    # by stream
        self._building: BuildingPhase | None = None
        self._certified: dict[int, Policy] = {}    # in the building phase under way, at some time
        self._declared: DeclaredPolicies | None = None
        self._problem = replace(settings.problem, support=mnm.support)
        self._counted: dict[int, tuple[Policy, int, int]] = {}    # by target, with the changes
        self._turn = 0    # of the streams, one of which is looked at
        self._since: dict[int, tuple[Trust, int]] = {}
        # What was told before a restart, and not again so far: certificates come in their turn.
        self._before = {target: (Trust(trust), step) for target, trust, step in state}
        self._plays = ExpectedPlays()    # of what is of no hypothesis

    def to_state(self) -> list[tuple[int, str, int]]:
        """Return since when what was told last has held, as plain data."""
        return [(target, trust.value, step)
                for target, (trust, step) in {**self._before, **self._since}.items()]

    def policies(self, step: int, expected_plays: Mapping[int, Plays | None],
                 following: Following, at_most: int | None = None) -> tuple[TrustedPolicy, ...]:
        """
        Return all policies that there are, home first, then the hypothesis.

        :param step: the steps so far.
        :param expected_plays: of the hypothesis.
        :param following: the counts.
        :param at_most: so many are worked out anew; None for all.
        """
        found: dict[int, TrustedPolicy] = {}
        home = self._mnm.home
        if home is None:
            return ()
        found[home] = TrustedPolicy(Trust.PROVEN, 0.0, 0.0, 0, 'RESET leads there',
                                    Policy(home, self._horizon, (home,), ((RESET,),)))
        for told in (*self._of_hypothesis(expected_plays), *self._on_the_way(at_most),
                     *self._as_declared(home, at_most)):
            target = told.policy.target
            if target not in found or _PREFERRED.index(told.trust) < _PREFERRED.index(
                    found[target].trust):
                found[target] = told
        self._since = {target: self._held_since(target, told.trust) or (told.trust, step)
                       for target, told in found.items()}
        others = [told.policy for target, told in found.items() if target not in expected_plays]
        plays = {**expected_plays, **self._plays.of(others, home, following, at_most)}
        given = self._given(found.values(), home, following)
        return tuple(replace(told, since_step=self._since[target][1], plays=plays[target],
                             declared=given.get(target, 0))
                     for target, told in found.items())

    def _held_since(self, target: int, trust: Trust) -> tuple[Trust, int] | None:
        """Return since when this has held that was told last; None if it is news."""
        last, before = self._since.get(target), self._before.get(target)
        if before is not None and (before[0] is trust or trust is Trust.DOUBTED):
            del self._before[target]
            last = before
        return last if last is not None and last[0] is trust else None

    def _given(self, told: Iterable[TrustedPolicy], home: int,
               following: Following) -> dict[int, int]:
        """Return by target how many declared pairs a policy may come to for which more holds."""
        support = self._problem.support
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
                same = was is not None and was[0] is policy and was[1] == support.changes
                self._counted[policy.target] = was if was is not None and same else (
                    policy, support.changes, sum(
                        support.ends(*pair) is not None
                        for pair in policy.may_play(home, after)))
        return {target: number for target, (_, _, number) in self._counted.items()}

    def _of_hypothesis(self, expected_plays: Mapping[int, Plays | None],
                       ) -> Iterator[TrustedPolicy]:
        mnm = self._mnm
        if mnm.hypothesis is None:
            return
        doubted = (dict.fromkeys(mnm.hypothesis.targets, NOT_PROVEN_SINCE)
                   if mnm.checking is None else mnm.checking.doubted)
        for policy in mnm.hypothesis.policies[1:]:
            steps = steps_of(expected_plays.get(policy.target))
            if policy.target in doubted:
                yield TrustedPolicy(
                    Trust.DOUBTED, steps, None, 0, doubted[policy.target], policy)
            else:
                best = mnm.nearly_best.get(policy.target)
                yield TrustedPolicy(
                    Trust.PROVEN, steps, best.at_most if best else self._limit, 0,
                    f'of the hypothesis of round {mnm.hypothesis.round}'
                    + (f', within {best.within:.0%} of the best' if best else ''), policy)

    def _on_the_way(self, at_most: int | None) -> Iterator[TrustedPolicy]:
        building = self._mnm.building
        if building is not self._building:
            self._building, self._certified = building, {}
        streams = building.learning if building is not None else ()
        self._looking = {stream: self._looking.get(stream) or stream.provisional()
                         for stream in streams}
        self._turn += 1
        doubted = {**self._certified}
        for number, looking in enumerate(self._looking.values()):
            has_turn = at_most is None or number == self._turn % len(streams)
            for found in looking.look(at_most if has_turn else 0):
                if found.certified:
                    self._certified[found.policy.target] = found.policy
                    doubted.pop(found.policy.target, None)
                    yield TrustedPolicy(
                        Trust.CERTIFIED, found.expected_steps, found.at_most_steps or self._limit,
                        0, 'certified; whether other states are within reach is not known yet',
                        found.policy)
                else:
                    yield TrustedPolicy(
                        Trust.ASSUMED, found.expected_steps, None, 0,
                        'the best by what was seen so far', found.policy)
        forbidden = self._problem.support.all_forbidden
        for policy in (each for each in doubted.values() if not each.plays(forbidden)):
            yield TrustedPolicy(Trust.DOUBTED, None, None, 0, _CERTIFIED_BEFORE, policy)

    def _as_declared(self, home: int, at_most: int | None) -> Iterator[TrustedPolicy]:
        if not self._problem.support:
            return
        if self._declared is None:
            self._declared = DeclaredPolicies(self._problem, home, self._horizon)
        for policy, steps in self._declared.look(at_most):
            yield TrustedPolicy(Trust.ASSUMED, steps, None, 0,
                                'by what is declared of where actions lead', policy)
