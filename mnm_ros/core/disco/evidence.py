# SPDX-License-Identifier: Apache-2.0

"""
The evidence for certificates of a run, and the tests of policies by their attempts.

It begins at some moment: see *Renewals* in ``docs/explanation/disco.md``.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.statistics.certificate import ConfidenceSets
from mnm_ros.core.statistics.evaluation import BettingEvaluation, longest
from mnm_ros.core.statistics.joint import Floor, JointEvidence, JointModel
import numpy as np

if TYPE_CHECKING:
    from mnm_ros.core.disco.examiner import Examiner

NATS_TO_BEGIN = 1.0    # nats that a new test takes beside its threshold, until it bets well
_BY_ATTEMPTS = 0.25    # of the delta of a test whose pairs are declared
_BY_ATTEMPTS_OF_DRIVES = 0.02    # the same where policies of drives are certified by walking
_FIRST, _FIRST_OF_DRIVES = 0.5, 0.75    # of the delta for tests, for the one in the first place
_LOOK_GROWTH = 1.02    # of the executions, until it is checked again whether pairs suffice
_EXCESS = 0.45    # nats for each pair, as a rule, of the excess code length
_SPARED = 0.3    # of the steps that the limit leaves, for what no evidence is asked for
_LEAST_MARGIN = 0.1    # steps below the limit, where there are hardly any


class PolicyTest(BettingEvaluation):
    """
    A test of a policy: its attempts certify it, or its pairs where all are declared.

    Where it is declared where all its pairs lead, a part of its delta is for its attempts, and the
    rest for whatever its pairs did since it began, see ``joint.py``: either certifies.

    :param policy: that is tested.
    :param problem: with the limit to certify, and the support.
    :param horizon: of the attempts.
    :param nats: that attempts take.
    :param fewer: nats that pairs take fewer than attempts.
    :param pairs: what is seen of them; of none unless all are declared.
    :ivar policy, pairs: the same.
    :ivar waits: whether executions lack (``walking.py``), so that no check is needed.
    """

    def __init__(self, policy: Policy, problem: Problem, horizon: int, nats: float, fewer: float,
                 pairs: JointEvidence) -> None:
        super().__init__(horizon, problem.limit, problem.limit, math.exp(-nats))
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
            if model.bound() <= limit:
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
    :param horizon: of every policy.
    :param delta: the probability with which any certificate that rests on it is wrong.
    :param by_model: the part for certificates by the model.
    :ivar sets: over the transitions.
    """

    def __init__(self, problem: Problem, horizon: int, delta: float,
                 by_model: float = 1 / 2) -> None:
        self.sets = ConfidenceSets(delta * by_model, problem.support)
        self._problem = problem
        self._longest = longest(horizon, problem)
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
            policy, self._problem, self._longest, self._takes(bool(pairs), self._free()),
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
    pairs = [pair for pair in policy.may_play(
        policy.states[0], lambda state, action: support.ends(state, action) or ())
        if pair[1] != RESET]
    return tuple(pairs) if all(support.ends(*pair) for pair in pairs) else ()


def floors(pairs: Sequence[Pair], problem: Problem) -> dict[Pair, Floor]:
    """
    Return the floors of a policy all of whose pairs stay or lead to one state, if it has any.

    With all pairs as bad as that, the policy takes ``_SPARED`` of the steps that the limit leaves.
    """
    ends = {pair: {*(problem.support.ends(*pair) or ())} - {pair[0]} for pair in pairs}
    if not 0 < len(pairs) < problem.limit or any(len(each) != 1 for each in ends.values()):
        return {}
    chance = 1 / (1 + _SPARED * (problem.limit / len(pairs) - 1))
    return {pair: Floor(each.pop(), chance) for pair, each in ends.items()}


@dataclass(frozen=True)
class Offer:
    """
    An estimate of the attempts that a certificate of a policy takes.

    :ivar policy: that is attempted.
    :ivar test: that goes on; None for a new one.
    :ivar attempts: that lack.
    :ivar steps: of these, with the RESET before each.
    """

    policy: Policy
    test: PolicyTest | None
    attempts: float
    steps: float


class PolicyTests:
    """
    The tests of policies, no more than one for each target.

    A test goes on although another policy seems to be a little better by now: where several ways
    are equally short, that changes with nearly every sample.

    :param horizon: of the policies.
    :param problem: with the expected steps to certify.
    :param examiner: with the model by which policies are compared.
    :ivar begun: the test by target; the delta of one that is taken out is spent.
    """

    def __init__(self, horizon: int, problem: Problem, examiner: Examiner) -> None:
        self._horizon = horizon
        self._examiner = examiner
        self._limit = problem.limit
        self._support = problem.support
        self.begun: dict[int, PolicyTest] = {}
        self._given_up: list[PolicyTest] = []

    def offer(self, policy: Policy, steps: float, evidence: CertificateEvidence) -> Offer:
        """
        Return whichever takes fewer steps: to go on with a test, or to begin another one.

        :param policy: the empirically best one.
        :param steps: that it seems to take.
        :param evidence: that a new test would be part of.
        """
        new = self.offered(policy, None, steps, evidence.nats + NATS_TO_BEGIN)
        test = self.begun.get(policy.target)
        if test is None:
            return new
        expected = self._examiner.model(test.policy.states).smoothed_value(
            np.array(test.policy.actions[0]), policy.target, self._limit)
        if expected >= self._limit:
            return new
        return min(self.offered(test.policy, test, expected, test.lacking), new,
                   key=lambda offer: offer.steps)

    def begin(self, offer: Offer, evidence: CertificateEvidence) -> None:
        """Begin the test that was offered, unless it has begun."""
        target = offer.policy.target
        if offer.test is None:
            if target in self.begun:
                self._given_up.append(self.begun[target])
            self.begun[target] = evidence.new_test(offer.policy)

    def clear(self) -> None:
        """End all tests; their parts of the delta are spent."""
        self.begun.clear()
        self._given_up.clear()

    def certified(self, policy: Policy, evidence: CertificateEvidence,
                  given: bool = False) -> None:
        """
        End the test of a target that has become known.

        :param policy: that was certified, by its test or by the model.
        :param evidence: by which it was; a test that is part of another one keeps its place.
        :param given: whether that needs what is declared.
        """
        test = self.begun.pop(policy.target, None)
        if test is None:
            return
        # With the same moves over more states, an attempt may go on where this one ends.
        if test.policy.states == policy.states and test.policy.same_as(policy):
            evidence.release(test, given)
        else:
            self._given_up.append(test)

    def settle(self, evidence: CertificateEvidence) -> None:
        """
        Give the places of tests away that were abandoned, where the model knows better by now.

        :param evidence: the latest, that all of them are part of.
        """
        for test in tuple(self._given_up):
            if self._examiner.certifies(test.policy):
                evidence.release(test, self._examiner.needs_map(test.policy))
                self._given_up.remove(test)

    def offered(self, policy: Policy, test: PolicyTest | None, steps: float,
                nats: float) -> Offer:
        """Return the offer of a test that lacks so many nats, of a policy of so many steps."""
        margin = max(_LEAST_MARGIN, self._limit - steps)
        attempts = nats / math.log1p(margin / (self._horizon + 1))
        pairs = len(declared_pairs(policy, self._support)) if (
            test is None or test.declared) else 0
        if pairs:    # mostly it takes so many executions of the pair that is seldom executed
            takes, made = (nats, 0) if test is None else (
                test.evidence[1], min(test.pairs.executions, default=0))
            attempts = min(attempts, max(
                1.0, (takes + _EXCESS * pairs) / math.log1p(margin) - made))
        return Offer(policy, test, attempts, attempts * (steps + 1))
