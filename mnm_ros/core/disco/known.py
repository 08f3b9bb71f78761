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

from mnm_ros.core.disco.evidence import DeclaredTest, PolicyTests, rests_on
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.statistics.evaluation import BettingEvaluation


class KnownStates:
    """
    The known states, each with its policy.

    :param problem: with the limit to certify, and the support.
    :param tests: under way.
    :param examiner: bounds the steps of policies.
    :ivar policies: by target, in the order in which they became known.
    :ivar estimates: the expected steps of policies when they were certified; those that a run
        begins with have none, and are never dropped.
    """

    # States that tests certified and whose certificates need the map.
    _by_place: tuple[int, ...] = ()

    def __init__(self, problem: Problem, tests: PolicyTests, examiner: Examiner) -> None:
        self._problem = problem
        self._tests = tests
        self._examiner = examiner
        self.policies: dict[int, Policy] = {}
        self.estimates: dict[int, float] = {}
        self._by_model: dict[int, None] = {}    # what was certified by the sets
        self._tested: dict[int, tuple[Policy, BettingEvaluation]] = {}    # those of _by_place

    def put(self, policy: Policy, steps: float) -> None:
        """Record the policy to a state, which is known from now on, and its expected steps."""
        # A copy, which leaves the map behind that was made for attempts.
        self.policies[policy.target] = replace(policy)
        self.estimates[policy.target] = steps

    def rests_on_sets(self, target: int) -> None:
        """Record that the sets certify a state."""
        self._by_model[target] = None

    def rests_on_place(self, policy: Policy, test: BettingEvaluation) -> None:
        """Record that a test certifies the state of its policy, and needs the map."""
        self._by_place = (*self._by_place, policy.target)
        self._tested[policy.target] = policy, test

    def rests_on_no_place(self, target: int) -> None:
        """Record that the certificate of a state does not need a place of the map any more."""
        if target in self._by_place:
            self._by_place = tuple(each for each in self._by_place if each != target)
        self._tested.pop(target, None)

    def certified_by_pairs(self, policy: Policy, test: BettingEvaluation) -> bool:
        """Return whether the executions of its pairs alone certify a declared policy."""
        return isinstance(test, DeclaredTest) and test.certified_by_pairs(policy, self._problem)

    def check_again(self, pairs: Collection[Pair], *, attempts: bool = True) -> None:
        """
        Drop what the sets certify no more, as less is known of where the pairs lead.

        :param attempts: whether those through the pairs still say what they did.
        """
        dropped: set[int] = set()
        standing = self._stand_again() if attempts and pairs else {*self._tested}
        if not attempts:
            self._tested = {target: (policy, test) for target, (policy, test)
                            in self._tested.items() if not rests_on(test, pairs)}
        support = self._problem.support
        for target, policy in tuple(self.policies.items()):
            played = {*zip(policy.states, policy.actions[0])}
            # A policy through a state that is dropped would execute RESET there.
            through = any(state in dropped and action != RESET for state, action in played)
            through = through or any(support.forbids(*pair) for pair in played)
            wanting = attempts and pairs and target in self._by_place and target not in standing
            if target in self.estimates and (
                    through or wanting or not played.isdisjoint(pairs) and (
                        self._examiner.bound(policy) > self._problem.limit
                        if target in self._by_model else not attempts
                        and not {*self._examiner.executed(policy)}.isdisjoint(pairs))):
                self._drop(target, attempts)
                dropped.add(target)
        for policy, _ in tuple(self._tests.begun.values()):
            if any(support.forbids(*pair) for pair in zip(policy.states, policy.actions[0])):
                del self._tests.begun[policy.target]

    def _drop(self, target: int, attempts: bool) -> None:
        """Remove a state; its test goes on if its attempts still say what they did."""
        del self.policies[target], self.estimates[target]
        self._by_model.pop(target, None)
        if attempts and target in self._tested:
            self._tests.begun.setdefault(target, self._tested[target])
        self.rests_on_no_place(target)

    def _stand_again(self) -> set[int]:
        """Put back the tests that relied on the map; return what they still certify."""
        standing, policies = set(), {test: policy for policy, test in self._tested.values()}
        for evidence in self._examiner.evidence:
            for test in evidence.restore():
                policy = policies.get(test)
                if policy and (test.lacking <= 0 or self.certified_by_pairs(policy, test)):
                    evidence.release(test, given=True)
                    standing.add(policy.target)
        return standing
