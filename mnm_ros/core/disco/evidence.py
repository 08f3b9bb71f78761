# SPDX-License-Identifier: Apache-2.0

"""
The evidence for certificates of a run: transitions, and tests of policies by their attempts.

It begins at some moment: see *Renewals* in ``docs/explanation/disco.md``.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
import math

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.statistics.certificate import ConfidenceSets
from mnm_ros.core.statistics.evaluation import BettingEvaluation, longest
from mnm_ros.core.statistics.joint import Floor, JointEvidence, JointModel

_BY_ATTEMPTS = 0.25    # of the delta of a test whose pairs are declared
_BY_ATTEMPTS_OF_DRIVES = 0.02    # the same where policies of drives are certified by walking
_FIRST, _FIRST_OF_DRIVES = 0.5, 0.75    # of the delta for tests, for the one in the first place
_LOOK_GROWTH = 1.02    # of the executions, until it is checked again whether pairs suffice
_SPARED = 0.3    # of the steps that the limit leaves, for what no evidence is asked for


class PolicyTest(BettingEvaluation):
    """
    A test of a policy: its attempts certify it, or its pairs where all are declared.

    Where it is declared where all its pairs lead, a part of its delta is for its attempts, and the
    rest for whatever its pairs did since it began, see ``joint.py``: either certifies.

    :param policy: that is tested.
    :param problem: with the limit to certify, and the support.
    :param nats: that attempts take.
    :param fewer: nats that pairs take fewer than attempts.
    :param pairs: what is seen of them; of none unless all are declared.
    :ivar policy, pairs: the same.
    :ivar waits: whether executions lack (``walking.py``), so that no check is needed.
    """

    def __init__(self, policy: Policy, problem: Problem, nats: float, fewer: float,
                 pairs: JointEvidence) -> None:
        super().__init__(
            longest(policy.horizon, problem), problem.limit, problem.limit, math.exp(-nats))
        self.policy = policy
        self.waits = False
        self._problem = problem
        self._fewer = fewer
        self.pairs = pairs
        self._looked = 0, 0    # executions, and changes of the support, at the last check
        self._enough, self._too_much = -math.inf, math.inf    # nats, by that check

    @property
    def declared(self) -> bool:
        """Return whether its pairs count."""
        return bool(self.pairs.before)

    def certified_by_pairs(self) -> bool:
        """Return whether the pairs suffice."""
        return self.declared and self.suffice(self.evidence[1] - self._fewer)

    def suffice(self, nats: float) -> bool:
        """Return whether the pairs would suffice if they took so many nats."""
        limit, support = self._problem.limit, self._problem.support
        executions, changes = self.pairs.executions, support.changes
        if nats > min(executions, default=0) * math.log(limit):
            return False    # a pair that fails all but this seldom is plausible
        made = sum(executions)
        if made > _LOOK_GROWTH * self._looked[0] or changes != self._looked[1]:
            self._looked = made, changes
            self._enough, self._too_much = -math.inf, math.inf
        if self._enough < nats < self._too_much:
            model = JointModel(self.pairs.balls(nats), self.policy, limit, support)
            if model.bound <= limit:
                self._enough = nats
            else:
                self._too_much = nats
        return nats <= self._enough


class CertificateEvidence:
    """
    Transitions and attempts since it was made, and how sure certificates by them are.

    A part of ``delta`` is for certificates by the model, and the rest for tests: the one in place
    ``j`` has ``w_j`` of it, which falls with ``j``, and all ``w_j`` together are 1. When its
    policy has been certified, by it or by the model over the same sets, even if it was abandoned
    before, it leaves its place, and all that began later move up by one. Take the tests of
    policies that are over the limit. Until a certificate is wrong none of them leaves, so that
    number ``k`` of them, in the order in which they began, is in place ``k`` or a later one: it
    needs no less capital than by ``w_k``, which is fixed when it begins. So together they have no
    more than the rest; with no greater probability the first certificate that is wrong is by one
    of them. That one attempt may be part of several tests does not matter, as this is a sum over
    tests (and see ``Attempts``).

    ``w_j`` is ``1/(j (j + 1))``. Where all is declared, and all are drives, tests are certified by
    what their pairs did, one after the other in the first place: ``w_1`` is 3/4, other ``w_j``
    are half as large, and attempts have 1/50 of a test. That is decided before any of it is seen.

    A certificate that needs what is declared of where pairs lead may be wrong without any chance.
    A test that leaves its place by one, or by so much capital alone as it needs once another one
    has, leaves it *relying on the map*. When an end was missing, all of these are in place again
    (``restore``), and what such tests have certified is dropped. So what else tests certify is
    what they would have certified without the map.

    Sources: Holm 1979, *A simple sequentially rejective multiple test procedure*; Tian & Ramdas
    2021, *Online control of the familywise error rate*.

    :param problem: with the limit.
    :param delta: the probability with which any certificate that rests on it is wrong.
    :param by_model: the part for certificates by the model.
    :ivar sets: over the transitions.
    """

    def __init__(self, problem: Problem, delta: float, by_model: float = 1 / 2) -> None:
        self.sets = ConfidenceSets(delta * by_model, problem.support)
        self._problem = problem
        self._delta = delta * (1 - by_model)
        drives = problem.support.declared.drives
        self._first = _FIRST_OF_DRIVES if drives else _FIRST
        self._by_attempts = _BY_ATTEMPTS_OF_DRIVES if drives else _BY_ATTEMPTS
        self._places: list[PolicyTest] = []
        self._given: list[PolicyTest] = []    # those that have left, relying on the map

    @property
    def nats(self) -> float:
        """Return what the next test takes: the logarithm of one over its error probability."""
        return self._log(self._free())

    def nats_of_pairs(self, tests: Container[PolicyTest]) -> float:
        """Return what the pairs of these tests take once each is the first of them."""
        others = sum(each not in tests and each not in self._given for each in self._places)
        return self._log(1 + others) - math.log(1 - self._by_attempts)

    def new_test(self, policy: Policy) -> PolicyTest:
        """Return a test of one more policy."""
        pairs = declared_pairs(policy, self._problem.support)
        test = PolicyTest(
            policy, self._problem, self._takes(bool(pairs), self._free()),
            math.log((1 - self._by_attempts) / self._by_attempts),
            JointEvidence(self.sets, pairs, floors(pairs, self._problem)))
        self._places.append(test)
        return test

    def release(self, test: PolicyTest, given: bool = False) -> None:
        """
        Let a test leave its place, if it has one: its policy has been certified.

        :param given: whether that needs what is declared, see ``needs_map``.
        """
        if not given:
            self._places = [each for each in self._places if each is not test]
        self._given = [each for each in self._places
                       if each in self._given or given and each is test]
        self._require()

    def needs_map(self, test: PolicyTest) -> bool:
        """Return whether a test lacks capital if tests that rely on the map keep their places."""
        return bool(self._given) and any(
            each is test and test.evidence[1] - test.lacking < self._takes(test.declared, place)
            for place, each in enumerate(self._places, 1))

    def restore(self) -> list[PolicyTest]:
        """
        Put the tests that left their places relying on the map back in their places.

        :returns: these, the earliest first: only what began before matters to whether one leaves
            its place at once again, as it certifies there by what is declared now.
        """
        given, self._given = self._given, []
        self._require()
        return given

    def _require(self) -> None:
        """Give each test what it takes in its place."""
        before = 0
        for place, each in enumerate(self._places, 1):
            each.require(self._takes(each.declared, place - before))
            before += each in self._given

    def _free(self) -> int:
        """Return the place behind all tests that have not left theirs."""
        return len(self._places) + 1 - len(self._given)

    def _takes(self, declared: bool, place: int) -> float:
        """Return the nats that the attempts of a test take in a place."""
        return self._log(place) - (math.log(self._by_attempts) if declared else 0.0)

    def _log(self, place: int) -> float:
        parts = 1 / self._first if place == 1 else place * (place + 1) / (2 * (1 - self._first))
        return math.log(parts / self._delta)


def declared_pairs(policy: Policy, support: Support) -> tuple[Pair, ...]:
    """Return the pairs that a policy may come to; none unless all of them are declared."""
    if not support:
        return ()
    pairs = [pair for pair in policy.may_play(policy.states[0], support.declared_ends)
             if pair[1] != RESET]
    return tuple(pairs) if all(support.ends(*pair) for pair in pairs) else ()


def floors(pairs: Sequence[Pair], problem: Problem) -> dict[Pair, Floor]:
    """
    Return the floors of a policy all of whose pairs stay or lead to one state, if it has any.

    With all pairs as bad as that, the policy takes ``_SPARED`` of the steps that the limit leaves.
    """
    ends = {pair: {*problem.support.declared_ends(*pair)} - {pair[0]} for pair in pairs}
    if not 0 < len(pairs) < problem.limit or any(len(each) != 1 for each in ends.values()):
        return {}
    chance = 1 / (1 + _SPARED * (problem.limit / len(pairs) - 1))
    return {pair: Floor(each.pop(), chance) for pair, each in ends.items()}
