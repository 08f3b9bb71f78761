# SPDX-License-Identifier: Apache-2.0

"""
How a state becomes known: step 3, *Certify*, of ``docs/explanation/disco.md``.

States under test come first, then the nearest. For each, the best policy of the empirical model
gets a certificate of the model: the worst plausible CMP (*No certificate is wrong*; the argument
is in ``statistics/certificate.py``). Where that does not suffice, either the pairs on which it
depends are sampled, or it makes attempts, together with policies that go on behind it
(``policy_tests``), under a test of their lengths each, whichever seems to take fewer steps.
``evidence`` is what both rest on. A failed certificate is remembered (``failed_certificates``), so
that it is not worked out again as long as little was learnt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
import math

from mnm_ros.core.disco.evidence import CertificateEvidence, PolicyTest
from mnm_ros.core.disco.examiner import Examination, Examiner
from mnm_ros.core.disco.failed_certificates import FailedCertificates
from mnm_ros.core.disco.known import KnownStates
from mnm_ros.core.disco.policy_tests import PolicyTests
from mnm_ros.core.disco.sample import Sampling
from mnm_ros.core.disco.walking import WalkingCertificates
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.episode import Attempts, Episode
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.planning.planner import Planner
from mnm_ros.core.progress.activity import Evidence, PhaseActivity
from mnm_ros.core.progress.said import (
    Said,
    SamplingFor,
    SamplingStates,
    TestingAttempts,
    TestingPolicy,
)
from mnm_ros.core.statistics.evaluation import Decision, longest

SAMPLE_GROWTH = 1.5
"""By how much the samples of a pair grow at most before a certificate is computed again."""

_SAMPLES = 0.2    # of the steps of attempts for each target, as attempts do for later ones, too

_RELEVANT_PART = 0.1    # pairs with less of the largest weight hardly matter to a certificate

_SHORTER = 0.8    # of the steps of a policy, for another one to take its place

_WITNESS_GROWTH = 1.5    # of the transitions of others, until the counts alone may certify


@dataclass(frozen=True)
class Certification:
    """
    The samples for a certificate.

    :ivar target: of the policy to be certified; None if there is none.
    :ivar wanted: the executions of each pair that it seems to take.
    :ivar first: whether they come before all else.
    """

    target: int | None = None
    wanted: Mapping[Pair, int] = field(default_factory=dict)
    first: bool = False


class Certifier:
    """
    The known states, and how others are added.

    :param problem: with the limit to certify.
    :param horizon: of every policy.
    :param rows: of the states that are sampled.
    :param sampling: is asked for what certificates lack.
    :param reach: the steps up to which a state is worth a certificate.
    :param evidence: since the beginning of the run.
    :param planner: lets go of what becomes known.
    :ivar known: the known states, with their policies.
    :ivar examiner: finds policies and bounds their steps.
    :ivar evidence: since the beginning, and perhaps since a renewal, as the examiner has it.
    :ivar attempts: with the policy under test; None while none is tried.
    :ivar sampled: the samples that the last certificate has asked for.
    """

    def __init__(self, problem: Problem, horizon: int, rows: TransitionRows, sampling: Sampling,
                 reach: float, evidence: CertificateEvidence, planner: Planner) -> None:
        self._problem = problem
        self._sampling = sampling
        self._reach = reach
        self._planner = planner
        self.examiner = Examiner(problem, horizon, rows, evidence)
        self._tests = PolicyTests(problem, self.examiner)
        self._walking = WalkingCertificates(problem, rows, self._tests, self.examiner)
        self._failed = FailedCertificates(self.examiner.counts)
        self.known = KnownStates(problem, self._tests, self.examiner)
        self.evidence = self.examiner.evidence
        self.attempts: Attempts | None = None
        self.sampled = Certification()
        self._witnessed = self._due = 0    # transitions that others have made

    def begin(self) -> None:
        """Check all targets again, with the samples taken for the last certificate."""
        self.sampled = Certification()
        self._sampling.walk({})

    def certify(self, near: Mapping[int, float], first: bool) -> bool:
        """
        Make known what can be; return whether there is something to do for another state.

        :param first: whether what a certificate lacks is sampled before all else.
        """
        known = self.known.policies
        chosen: Examination | None = None
        model: EmpiricalModel | None = None
        if self._witnessed > self._due:
            self._due = math.ceil(self._witnessed * _WITNESS_GROWTH)
            self._take_by_model(near)
        if self._take_tested_or_walk(near, first):
            return True
        # A policy that has begun a test goes on with it first.
        for target in sorted(near, key=lambda state: state not in self._tests.begun):
            if target in known or (
                    chosen is not None and not self._failed.due(target, len(known))):
                continue
            model = model or self.examiner.model(tuple(known))
            planned = self.examiner.best_policy(model, target, self._failed.moves(target))
            if planned is None:
                continue
            policy, steps = planned
            pairs = self.examiner.executed(policy)
            if chosen is not None and self._failed.same(policy, pairs):
                continue
            found = self.examiner.examine(policy, steps)
            certificate = found.certificate
            if self._take_if_certified(found):
                model = None
                continue
            self._failed.note(policy, pairs)
            if (chosen is None and certificate.steps <= self._reach
                    and certificate.empirical < self._problem.limit):
                chosen = found
        if chosen is not None:
            self._pursue(chosen, near, first)
        return chosen is not None

    def leave_closed(self, pairs: Collection[Pair]) -> None:
        """Plan no policies through these pairs, and end the tests of those that use them."""
        self.examiner.closed = tuple(pairs)
        for target, test in tuple(self._tests.begun.items()):
            if test.policy.plays(frozenset(pairs)):
                del self._tests.begun[target]

    def witness(self) -> None:
        """Record that the counts have a transition that this run has not chosen to make."""
        self._witnessed += 1

    def _take_by_model(self, near: Mapping[int, float]) -> None:
        """Make known what the counts alone certify: others may have made enough transitions."""
        known, found = self.known.policies, True
        while found:
            found, model = False, self.examiner.model(tuple(known))
            for target in near:
                examined = None if target in known else self.examiner.look(target, model)
                found = examined is not None and self._take_if_certified(examined) or found

    def _take_if_certified(self, found: Examination) -> bool:
        """Make a target known if the model certifies the policy to it; return whether."""
        if found.certificate.bound > self._problem.limit:
            return False
        self._make_known(found.policy, found.certificate.steps, found.evidence,
                         self.examiner.needs_map(found.policy))
        self.known.by_model[found.policy.target] = None
        return True

    def judge(self, episode: Episode) -> bool:
        """Record an attempt in its tests; return whether to check all targets again."""
        refuted = self._record_beside()
        test = self._test_of(episode)
        # A test that began before something was forgotten is there no more.
        if test is not None and test.record(episode.length, episode.failed) is Decision.BAD:
            refuted.append(episode.policy.target)
        for target in refuted:
            self._tests.begun.pop(target, None)
        return (self._take_tested() or bool(refuted) or test is None
                or test.played % self._look_again == 0)

    def interrupt(self) -> None:
        """Count the attempt under way as broken off (*Steps that are broken off*)."""
        broken = self.attempts.interrupt() if self.attempts else None
        if broken is not None:
            self._record_beside()
            test = self._test_of(broken)
            if test is not None:
                test.break_off(broken.length, broken.most)

    def _record_beside(self) -> list[int]:
        """Record for what else an attempt has counted; return the targets that it refutes."""
        assert self.attempts is not None
        refuted = []
        for episode, broken in self.attempts.take_ended():
            test = self._test_of(episode)
            if test is not None and broken:
                test.break_off(episode.length, episode.most)
            elif test is not None and test.record(
                    episode.length, episode.failed) is Decision.BAD:
                refuted.append(episode.policy.target)
        return refuted

    def _take_tested_or_walk(self, near: Mapping[int, float], first: bool) -> bool:
        """Make known what tests certify; return whether to walk for what others lack."""
        if not self._problem.support:
            self._take_tested()
            return False
        self._walking.begin(near, self.known.policies)
        found = True
        while found:
            left = [target for target in near if target not in self.known.policies]
            wanted = self._walking.wanted(left)
            found = self._take_tested()
        self._sampling.walk(wanted)
        if wanted:
            self.sampled = Certification(left[0], wanted, first)
            for state, _ in wanted if first else ():
                self._sampling.prefer(state)
        return bool(wanted)

    def tested_through(self, target: int) -> tuple[int, ...]:
        """Return the states that the policy under test for a target goes through, if any."""
        return self._tests.begun[target].policy.states if target in self._tests.begun else ()

    def _test_of(self, episode: Episode) -> PolicyTest | None:
        """Return the test that an attempt is part of, unless it has ended."""
        test = self._tests.begun.get(episode.policy.target)
        return test if test is not None and test.policy is episode.policy else None

    def _take_tested(self) -> bool:
        """Make known what its test certifies, if all that its policy goes through is known."""
        known, found = self.known.policies, True
        before = len(known)
        while found:
            found = False
            for test in tuple(self._tests.begun.values()):
                policy = test.policy
                if test.waits or not all(state in known for state in policy.states):
                    continue
                if test.lacking <= 0 or test.certified_by_pairs():
                    given = test.lacking > 0 or self.examiner.latest.needs_map(test)
                    steps = test.mean_steps if test.arrived else self.examiner.steps(policy)
                    self._make_known(policy, steps, self.examiner.latest, given)
                    if given:
                        self.known.by_place[policy.target] = test
                    found = True
        return len(known) > before

    def restart_confidence(self, delta: float) -> None:
        """Begin another collection of evidence, with a delta of its own (*Renewals*)."""
        self.evidence[1:] = [CertificateEvidence(self._problem, delta)]
        self._tests.clear()

    def start_over(self, *, tests: bool = True) -> None:
        """
        Drop what was found out with counts or policies that are no more.

        :param tests: whether that may be what they were about.
        """
        if tests:
            self._tests.clear()
        self._failed.by_target.clear()

    def better(self, policy: Policy) -> Policy | None:
        """Make another policy to a known state known if it is certified and seems shorter."""
        target, known = policy.target, self.known.policies
        if target not in known:
            return None
        model = self.examiner.model(tuple(state for state in known if state != target))
        found = self.examiner.look(target, model)
        if found is None or found.certificate.bound > self._problem.limit:
            return None
        moves = [policy.action(0, state) for state in model.states]
        if found.steps > _SHORTER * model.smoothed_value(moves, target, self._problem.limit):
            return None    # or ways that are equally short would take turns
        self.known.put(found.policy, found.certificate.steps)
        self.known.by_model[target] = None
        return found.policy

    def activity(self, here: int | None) -> PhaseActivity:
        """Return what is tested, or sampled and for what, for display."""
        shown = tuple(self._evidence_shown())
        if self.attempts is not None:
            target = self.attempts.policy.target
            said: Said = TestingPolicy(target)
            if target in self._tests.begun:
                test = self._tests.begun[target]
                said = TestingAttempts(target, test.arrived, test.played)
            return PhaseActivity('testing', said, target, None, shown)
        lacking, count = self._sampling.executions_lacking, len(self._sampling.sampled)
        said = (SamplingStates(count, lacking) if self.sampled.target is None else
                SamplingFor(self.sampled.target, lacking))
        state, action = self._sampling.heading(here) or (None, None)
        return PhaseActivity('sampling', said, state, action, shown)

    def _evidence_shown(self) -> Iterator[Evidence]:
        for target, test in self._tests.begun.items():
            yield Evidence('policy', target, None, *test.evidence)
        if self.sampled.target is not None and self.attempts is None:
            counts, wanted = self.examiner.counts, self.sampled.wanted
            made = sum(min(most, counts.visits(*pair)) for pair, most in wanted.items())
            yield Evidence('certificate', self.sampled.target, None, float(made),
                           float(sum(wanted.values())))

    def _pursue(self, chosen: Examination, near: Mapping[int, float], first: bool) -> None:
        """Sample or attempt, whichever seems to lead to a certificate in fewer steps."""
        policy, evidence, certificate, steps = chosen
        limit = self._problem.limit
        self._tests.settle()
        offer = self._tests.offer(policy, steps)
        offers = self._tests.lead_on(offer, tuple(self.known.policies), near)
        short = certificate.bound - certificate.empirical
        factor = short / max(1e-9, limit - certificate.empirical)
        pairs = {pair: evidence.sets.counts.visits(*pair)
                 for pair in most_relevant(certificate.weights, _RELEVANT_PART)}
        samples = sum(visits * (factor - 1) + 1 for visits in pairs.values())
        if pairs and samples * self._sampling.price < _SAMPLES * offers[-1].steps / len(offers):
            for pair, visits in pairs.items():
                more = math.ceil(visits * min(factor, SAMPLE_GROWTH)) + 1 - visits
                self._sampling.want(pair, self.examiner.counts.visits(*pair) + more)
                if first:
                    self._sampling.prefer(pair[0])
            self.sampled = Certification(policy.target, {
                pair: math.ceil(visits * factor) + 1 for pair, visits in pairs.items()}, first)
            return
        for each in offers:
            self._tests.begin(each)
        self.attempts = Attempts(
            offers[-1].policy, ends_outside=True, certify=limit,
            most=longest(policy.horizon, self._problem),
            passed=[each.policy for each in offers[:-1]])
        self._look_again = max(5, int(offer.attempts / 4))

    def _make_known(self, policy: Policy, steps: float, evidence: CertificateEvidence,
                    given: bool) -> None:
        self.known.put(policy, steps)
        self._tests.certified(policy, evidence, given)
        self._failed.by_target.pop(policy.target, None)
        self._planner.forget(policy.target)


def most_relevant(weights: Mapping[Pair, float], part: float) -> list[Pair]:
    """Return the pairs with at least this part of the largest weight."""
    least = part * max(weights.values(), default=0.0)
    return [pair for pair, weight in weights.items() if weight >= least and weight > 0]
