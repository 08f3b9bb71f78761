# SPDX-License-Identifier: Apache-2.0

"""
The tests of policies that are under way, and offers of what to attempt next.

An attempt with the policy to a far state counts for all states that it passes (``Attempts``). So
before a policy is attempted, it is led on: from its target to a state next to it that lacks a
certificate, too, and on from there, as long as the way is hardly longer than the best one. Such a
policy goes through states that are not known yet, and is known only once they are.

What is offered is heuristic; what the tests make of it is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import math

from mnm_ros.core.disco.evidence import CertificateEvidence, declared_pairs, PolicyTest
from mnm_ros.core.disco.examiner import Examiner
from mnm_ros.core.disco.rule_out import FAILURE_WEIGHT
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
import numpy as np

_NATS_TO_BEGIN = 1.0    # nats that a new test takes beside its threshold, until it bets well
_LEAST_MARGIN = 0.1    # steps below the limit, where there are hardly any
_EXCESS = 0.45    # nats for each pair, as a rule, of the excess code length
_LONGER, _MORE = 1.1, 0.25    # times the steps of the shortest way, and steps beside


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

    :param problem: with the expected steps to certify.
    :param examiner: with the evidence, and the model by which policies are compared.
    :ivar begun: the test by target; the delta of one that is taken out is spent.
    """

    def __init__(self, problem: Problem, examiner: Examiner) -> None:
        self._problem = problem
        self._examiner = examiner
        self.begun: dict[int, PolicyTest] = {}
        self._given_up: list[PolicyTest] = []

    def offer(self, policy: Policy, steps: float) -> Offer:
        """
        Return whichever takes fewer steps: to go on with a test, or to begin another one.

        :param policy: the empirically best one.
        :param steps: that it seems to take.
        """
        new = self.offered(policy, steps)
        test = self.begun.get(policy.target)
        if test is None:
            return new
        expected = self._examiner.model(test.policy.states).smoothed_value(
            test.policy.actions[0], policy.target, self._problem.limit)
        if expected >= self._problem.limit:
            return new
        begun = self.offered(test.policy, expected, test)
        return begun if begun.steps <= new.steps else new

    def lead_on(self, first: Offer, known: Sequence[int],
                near: Mapping[int, float]) -> list[Offer]:
        """
        Return an offer and what goes on behind it, each behind the one before.

        :param known: states with a certificate, home first.
        :param near: states that may lack one, near ones first.
        """
        found, left = [first], {
            state: steps for state, steps in near.items()
            if state not in known and state != first.policy.target}
        while (following := self._following(found[-1].policy, known, left)) is not None:
            found.append(following)
            del left[following.policy.target]
        return found

    def begin(self, offer: Offer) -> None:
        """Begin the test that was offered, unless it has begun."""
        if offer.test is None:
            self.begin_new(offer.policy)

    def begin_new(self, policy: Policy) -> None:
        """Begin a test of a policy, in place of that of another one to the same target."""
        if policy.target in self.begun:
            self._given_up.append(self.begun[policy.target])
        self.begun[policy.target] = self._examiner.latest.new_test(policy)

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

    def settle(self) -> None:
        """Give the places of tests away that were abandoned, if the model certifies by now."""
        for test in tuple(self._given_up):
            if self._examiner.certifies(test.policy):
                self._examiner.latest.release(test, self._examiner.needs_map(test.policy))
                self._given_up.remove(test)

    def offered(self, policy: Policy, steps: float, test: PolicyTest | None = None) -> Offer:
        """
        Return the offer to go on with a test of a policy.

        :param steps: that the policy seems to take.
        :param test: None for a new one.
        """
        nats = self._examiner.latest.nats + _NATS_TO_BEGIN if test is None else test.lacking
        margin = max(_LEAST_MARGIN, self._problem.limit - steps)
        attempts = nats / math.log1p(margin / (policy.horizon + 1))
        pairs = len(declared_pairs(policy, self._problem.support)) if (
            test is None or test.declared) else 0
        if pairs:    # mostly it takes so many executions of the pair that is seldom executed
            takes, made = (nats, 0) if test is None else (
                test.evidence[1], min(test.pairs.executions, default=0))
            attempts = min(attempts, max(
                1.0, (takes + _EXCESS * pairs) / math.log1p(margin) - made))
        return Offer(policy, test, attempts, attempts * (steps + 1))

    def _following(self, policy: Policy, known: Sequence[int],
                   left: Mapping[int, float]) -> Offer | None:
        """Return the offer for the nearest state behind the target of a policy."""
        after = {state for action in range(self._problem.actions)
                 for state in self._after(policy.target, action)}
        plays = dict(policy.may_play(policy.states[0], self._after))
        for target, steps in left.items():
            if target in after:
                offer = (self._begun(target, policy, plays) if target in self.begun
                         else self._new(target, steps, policy, known, plays))
                if offer is not None:
                    return offer
        return None

    def _begun(self, target: int, policy: Policy, plays: Mapping[int, int]) -> Offer | None:
        """Return how a test goes on if its policy passes that of another one, as that plays."""
        test = self.begun[target]
        begun = test.policy
        if not begun.covers(policy.target) or target in plays or any(
                begun.action(0, state) != action for state, action in plays.items()):
            return None
        model = as_declared(self._examiner.model(begun.states))
        limit = self._problem.limit
        steps = model.smoothed_value(begun.actions[0], target, limit, FAILURE_WEIGHT)
        return self.offered(begun, steps, test) if steps < limit else None

    def _new(self, target: int, steps: float, policy: Policy, known: Sequence[int],
             plays: Mapping[int, int]) -> Offer | None:
        if target in plays:
            return None
        states = tuple(dict.fromkeys((*known, *policy.states, policy.target)))
        model = as_declared(self._examiner.model(states))
        limit = self._problem.limit
        best, _ = model.smoothed_plan(target, limit, FAILURE_WEIGHT)
        moves = tuple(plays.get(state, move) for state, move in zip(states, best.tolist()))
        longer = model.smoothed_value(moves, target, limit, FAILURE_WEIGHT)
        if longer > min(limit, _LONGER * steps + _MORE):
            return None
        return self.offered(Policy(target, policy.horizon, states, (moves,)), longer)

    def _after(self, state: int, action: int) -> Iterable[int]:
        """Return where a pair has led, or is declared to lead."""
        return (*self._examiner.counts.next_states(state, action),
                *self._problem.support.declared_ends(state, action))


def as_declared(model: EmpiricalModel) -> EmpiricalModel:
    """Return the counts; a pair counts as if all its declared ends had followed together."""
    own = model.columns == np.repeat(np.arange(len(model.states)), model.actions)[:, None]
    ends = model.filled & model.closed[:, None]
    ends = np.where((ends & ~own).any(axis=1)[:, None], ends & ~own, ends)
    return replace(model, tally=model.tally + ends / np.maximum(1, ends.sum(axis=1))[:, None])
