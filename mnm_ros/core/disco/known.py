# SPDX-License-Identifier: Apache-2.0

"""
The known states of a run, and what the certificate of each of them rests on.

A certificate rests on the confidence sets alone, or on the test of a policy. A test may need the
map, or the places that the map has freed (``evidence``). ``Certifier`` adds states; after a change
of what is declared or counted, ``check_again`` drops those that nothing certifies any more.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from mnm_ros.core.disco.evidence import PolicyTest
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.disco.policy_tests import PolicyTests
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET


class KnownStates:
    """
    The known states, each with its policy.

    :param problem: with the limit to certify, and the support.
    :param tests: under way.
    :param examiner: bounds the steps of policies.
    :ivar policies: by target, in the order in which they became known.
    :ivar estimates: the expected steps of policies when they were certified; those that a run
        begins with have none, and are never dropped.
    :ivar by_model: targets that the sets certify.
    :ivar by_place: targets that a test certifies that needs the map, with the test; None once a
        pair that the test counts was forgotten.
    """

    def __init__(self, problem: Problem, tests: PolicyTests, examiner: Examiner) -> None:
        self._problem = problem
        self._tests = tests
        self._examiner = examiner
        self.policies: dict[int, Policy] = {}
        self.estimates: dict[int, float] = {}
        self.by_model: dict[int, None] = {}
        self.by_place: dict[int, PolicyTest | None] = {}

    def put(self, policy: Policy, steps: float) -> None:
        """Record the policy to a known state and its steps; drop the test of the one before."""
        # A copy, which leaves the map behind that was made for attempts.
        self.policies[policy.target] = replace(policy)
        self.estimates[policy.target] = steps
        self.by_place.pop(policy.target, None)

    def check_again(self, pairs: Collection[Pair], *, attempts: bool = True) -> None:
        """
        Drop what the sets certify no more, as less is known of where the pairs lead.

        :param attempts: whether those through the pairs still say what they did.
        """
        dropped: set[int] = set()
        wanting: Collection[int] = ()
        if not attempts:
            for target, test in self.by_place.items():
                if test is not None and not test.pairs.before.keys().isdisjoint(pairs):
                    self.by_place[target] = None
        elif pairs:
            wanting = self.by_place.keys() - self._stand_again()
        support = self._problem.support
        for target, policy in tuple(self.policies.items()):
            if target not in self.estimates:    # the run began with it
                continue
            played = {*zip(policy.states, policy.actions[0])}
            # A policy through a state that is dropped would execute RESET there.
            through = any(state in dropped and action != RESET for state, action in played)
            through = through or any(support.forbids(*pair) for pair in played)
            if through or target in wanting or not played.isdisjoint(pairs) and (
                    self._examiner.bound(policy) > self._problem.limit
                    if target in self.by_model else not attempts
                    and not {*self._examiner.executed(policy)}.isdisjoint(pairs)):
                self._drop(target, attempts)
                dropped.add(target)
        for test in tuple(self._tests.begun.values()):
            if any(support.forbids(*pair)
                   for pair in zip(test.policy.states, test.policy.actions[0])):
                del self._tests.begun[test.policy.target]

    def _drop(self, target: int, attempts: bool) -> None:
        """Remove a state; its test goes on if its attempts still say what they did."""
        del self.policies[target], self.estimates[target]
        self.by_model.pop(target, None)
        test = self.by_place.pop(target, None)
        if attempts and test is not None:
            self._tests.begun.setdefault(target, test)

    def _stand_again(self) -> set[int]:
        """Put back the tests that relied on the map; return what they still certify."""
        standing = set()
        for evidence in self._examiner.evidence:
            for test in evidence.restore():
                target = test.policy.target
                if self.by_place.get(target) is test and (
                        test.lacking <= 0 or test.certified_by_pairs()):
                    evidence.release(test, given=True)
                    standing.add(target)
        return standing
