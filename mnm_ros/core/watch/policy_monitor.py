# SPDX-License-Identifier: Apache-2.0

"""The detectors of the policies: what speaks against each, and what it has proven."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import math
from typing import Any

from mnm_ros.core.detection.detector import Detector, DetectorFactory, PolicyDetector
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.said import CheckingAgainst, CheckingPolicy, CheckingProof, Said
from mnm_ros.core.statistics.delta_spending import share

_LEAST_MARGIN = 0.01    # steps over the limit or below it, where there are hardly any


class PolicyMonitor:
    """
    The detectors of the policies, which share two budgets of error.

    Each detector has its ``share`` of ``deletion``, and each proof of ``proofs``. Whatever comes
    and goes, the chance that any policy within the limit ever raises the alarm is at most
    ``deletion``, and that any over the limit proves the contrary is at most ``proofs``. A proof
    begins with an attempt and gets its number then, so that those withdrawn before cost nothing.

    :param limit: ``m``, in steps.
    :param horizon: of the policies.
    :param deletion, proofs: the two budgets.
    :param targets: of the policies.
    :param new_detector: makes a detector.
    :ivar detectors: by target.
    """

    left_to_fresh = ('_new',)

    def __init__(self, limit: float, horizon: int, deletion: float, proofs: float,
                 targets: Iterable[int], new_detector: DetectorFactory = Detector) -> None:
        self._new = new_detector
        self._limit = limit
        self._horizon = horizon
        self._deletion = deletion
        self._proofs = proofs
        self._made = self._begun = 0
        self._modelled: dict[int, Policy] = {}    # proven by a model since the last change
        self.detectors: dict[int, PolicyDetector] = {
            target: self._new_detector() for target in targets}

    def foreign_detectors(self) -> list[Any]:
        """Return what detectors of other packages hold, as these say it."""
        return [[target, detector.to_state()] for target, detector in self.detectors.items()
                if not snapshot.covers(detector)]

    def restore_detectors(self, foreign: Iterable[Any]) -> None:
        """Make the detectors of other packages again, from ``foreign_detectors``."""
        for target, detector in foreign:
            self.detectors[target] = self._new.from_state(self._limit, self._horizon, detector)

    def prove(self, policy: Policy) -> None:
        """Record that a model has proven since the last change that a policy works."""
        self._modelled[policy.target] = policy

    def doubtful(self, targets: Iterable[int]) -> bool:
        """Whether hardly anything speaks for one of these policies since it was doubted."""
        return not all(self.detectors[target].credible for target in targets)

    @property
    def unproven_targets(self) -> dict[int, float]:
        """Return the targets without a proof since the last change, and the nats each lacks."""
        first = -math.log(self._proofs * share(self._begun + 1))
        return {target: detector.proof[1] - detector.proof[0] if detector.proving else first
                for target, detector in self.detectors.items()
                if not detector.proven and target not in self._modelled}

    def attempts_lacking(self, likely: Mapping[int, float]) -> dict[int, float]:
        """
        Return how many attempts each policy without a proof seems to lack to a verdict.

        Evidence grows with the square of what lies between the mean of ``X`` and the limit. One
        verdict after the other comes sooner than all of them in the end.

        :param likely: that mean, by target.
        """
        return {target: min(lacking, self.detectors[target].lacking)
                / (_LEAST_MARGIN + abs(likely.get(target, 0.0) - self._limit)) ** 2
                for target, lacking in self.unproven_targets.items()}

    @property
    def most_evidence(self) -> tuple[float, float, int]:
        """Return the largest evidence against a policy, its threshold, and the policy's target."""
        return max(((detector.evidence, detector.threshold, target)
                    for target, detector in self.detectors.items()), default=(0.0, 0.0, 0))

    @property
    def tests(self) -> Iterator[Evidence]:
        """Yield the evidence against each policy, and for those that have something to prove."""
        for target, detector in self.detectors.items():
            yield Evidence(
                'detector', target, None, max(0.0, detector.evidence), detector.threshold)
            if detector.proving and not detector.proven:
                yield Evidence('proof', target, None, *detector.proof)

    def said(self, target: int) -> Said:
        """Return what an attempt with the policy for a target is made for."""
        if target not in self.detectors:
            return CheckingPolicy(target)
        detector = self.detectors[target]
        against = target, max(0.0, detector.evidence), detector.threshold
        return (CheckingProof(*against, *detector.proof)
                if detector.proving and not detector.proven else CheckingAgainst(*against))

    def figures(self) -> Mapping[str, str | int | float]:
        """Return the figures of ``CheckingPhase.figures``: there is no window."""
        evidence, threshold, target = self.most_evidence
        return {'check_window': 0,
                'failures': f'{evidence:.1f} nats against the policy for state {target}',
                'failure_threshold': round(threshold, 1)}

    def change(self, before: Iterable[Policy], now: Iterable[Policy], doubted: bool) -> None:
        """
        Monitor the policies ``now``; each keeps its detector unless it has changed.

        :param before: those monitored so far.
        :param now: those to monitor.
        :param doubted: whether new ones are doubted.
        """
        old, detectors = {policy.target: policy for policy in before}, {}
        for policy in now:
            target = policy.target
            if target in old and policy.same_as(old[target]):
                detectors[target] = self.detectors[target]
                if policy.states != old[target].states:
                    detectors[target].extend()
            else:
                detectors[target] = self._new_detector()
                if doubted:
                    detectors[target].doubt()
        self.detectors = detectors
        self._modelled = {
            policy.target: policy for policy in now
            if (shown := self._modelled.get(policy.target)) is not None
            and policy.same_as(shown) and policy.states == shown.states}

    def notice(self) -> None:
        """Record a change: no policy may profit from its past."""
        for detector in self.detectors.values():
            detector.suspect()
            detector.withdraw_proof()
        self._modelled = {}

    def doubt(self, targets: Iterable[int]) -> None:
        """Let the policies for ``targets`` show soon that they still work."""
        for target in targets:
            self.detectors[target].doubt()
            self._modelled.pop(target, None)

    def begin(self, target: int, *, proving: bool) -> None:
        """Begin an attempt, and a proof if the policy has to prove that it works and does not."""
        detector = self.detectors[target]
        detector.begin()
        if proving and not detector.proving:
            self._begun += 1
            detector.begin_proof(self._proofs * share(self._begun))

    def record(self, target: int, length: int, failed: bool) -> bool:
        """
        Record how the attempt has ended; return whether it raises the alarm.

        :param target: of the policy.
        :param length: of the attempt.
        :param failed: whether it did not arrive.
        """
        detector = self.detectors[target]
        detector.record(length, failed)
        return detector.alarm

    def _new_detector(self) -> PolicyDetector:
        self._made += 1
        return self._new(
            self._limit, self._horizon, self._deletion * share(self._made))
