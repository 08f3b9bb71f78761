# SPDX-License-Identifier: Apache-2.0

"""
Find the policy to a state that takes fewest steps in the model of the counts, and certify it.

``Certifier`` and ``ProvisionalPolicies`` ask for both, and nothing that a run has learnt changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mnm_ros.core.disco.evidence import CertificateEvidence
from mnm_ros.core.disco.rule_out import FAILURE_WEIGHT
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.statistics.certificate import PolicyModel


class Examination(NamedTuple):
    """
    The result of checking a target.

    :ivar evidence: that the certificate rests on.
    :ivar steps: that the policy seems to take by smoothed counts.
    """

    policy: Policy
    evidence: CertificateEvidence
    certificate: PolicyModel
    steps: float


class Examiner:
    """
    Finds policies through the counted transitions, and bounds the steps of policies.

    :param problem: with the limit to certify.
    :param horizon: of every policy.
    :param rows: of the states that are sampled.
    :param evidence: since the beginning of the run.
    :ivar evidence: since the beginning, and perhaps since a renewal.
    :ivar counts: of the run.
    :ivar horizon: the same.
    :ivar closed: pairs that no policy is to play.
    """

    def __init__(self, problem: Problem, horizon: int, rows: TransitionRows,
                 evidence: CertificateEvidence) -> None:
        self._problem = problem
        self.horizon = horizon
        self._rows = rows
        self.evidence = [evidence]
        self.counts = evidence.sets.counts
        self.closed: tuple[Pair, ...] = ()

    @property
    def latest(self) -> CertificateEvidence:
        """Return the latest evidence, that all tests under way are part of."""
        return self.evidence[-1]

    def model(self, states: tuple[int, ...]) -> EmpiricalModel:
        """Return the counts of states, to plan policies through them."""
        return EmpiricalModel.of(self._rows, states).without(self.closed)

    def look(self, target: int, model: EmpiricalModel) -> Examination | None:
        """
        Return the best policy through these states; its bound may be above the limit.

        :returns: None if the policy does not even seem to be within the limit.
        """
        planned = self.best_policy(model, target)
        return None if planned is None else self.examine(*planned)

    def bound(self, policy: Policy) -> float:
        """Return the steps that a policy takes at most by its best certificate."""
        return min(self.certificate(each, policy).bound for each in self.evidence)

    def examine(self, policy: Policy, steps: float) -> Examination:
        """Return a policy, and the steps that it seems to take, with its best certificate."""
        evidence, certificate = min(
            ((each, self.certificate(each, policy)) for each in self.evidence),
            key=lambda found: found[1].bound)
        return Examination(policy, evidence, certificate, steps)

    def lower_bound(self, policy: Policy) -> float:
        """Return steps above the limit only if ``policy`` takes more than the limit for sure."""
        bounds = []
        for evidence in self.evidence:
            model = self.certificate(evidence, policy)
            likely = model.lower_bound(doubt=False)
            bounds.append(model.lower_bound() if likely > self._problem.limit else likely)
        return max(bounds)

    def best_policy(self, model: EmpiricalModel, target: int,
                    guess: Sequence[int] | None = None) -> tuple[Policy, float] | None:
        """Return the policy that seems best and its steps, if these are within the limit."""
        if not model.hits(target).any():
            return None
        moves, steps = model.smoothed_plan(target, self._problem.limit, guess=guess)
        if steps > self._problem.limit:
            # Perhaps only because there was no reason yet to try its pairs more often.
            moves, steps = model.smoothed_plan(target, self._problem.limit, FAILURE_WEIGHT)
            if steps > self._problem.limit:
                return None
        return Policy(target, self.horizon, model.states, (tuple(moves.tolist()),)), steps

    def executed(self, policy: Policy) -> tuple[Pair, ...]:
        """Return the pairs that the policy has been seen to come to."""
        return tuple(pair for pair in policy.may_play(
            policy.states[0], self.counts.next_states) if pair[1] != RESET)

    def certifies(self, policy: Policy) -> bool:
        """Return whether the latest evidence certifies a policy."""
        return self.certificate(self.latest, policy).bound <= self._problem.limit

    def needs_map(self, policy: Policy) -> bool:
        """Return whether the model would not certify a policy if nothing were declared."""
        limit, support = self._problem.limit, self._problem.support
        return bool(support) and all(
            PolicyModel(each.sets, policy, limit).bound > limit for each in self.evidence)

    def certificate(self, evidence: CertificateEvidence, policy: Policy) -> PolicyModel:
        """Return the certificate of a policy by some evidence."""
        return PolicyModel(evidence.sets, policy, self._problem.limit, self._problem.support)

    def steps(self, policy: Policy) -> float:
        """Return the steps that a policy takes if the latest counts are the truth."""
        return self.certificate(self.latest, policy).steps
