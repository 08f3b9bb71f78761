# SPDX-License-Identifier: Apache-2.0

"""Watching the policies of a hypothesis: a detector for each, and what each has proven."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
from typing import Any

from mnm_ros.core.detection.detector import Detector
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.statistics.delta_spending import share


class PolicyWatch:
    """
    The detectors of the policies, which share two budgets of error.

    Each detector has its ``share`` of ``deletion``, and each proof of ``proofs``. Whatever comes
    and goes, the chance that any policy within the limit ever raises the alarm is at most
    ``deletion``, and that any over the limit proves the contrary is at most ``proofs``. A proof
    begins with an attempt and gets its number then, so that those withdrawn before cost nothing.

    :param limit: ``m``, in steps.
    :param horizon: of the policies.
    :param deletion, proofs: the two budgets.
    :param targets: of the policies to watch.
    :param state: from ``to_state``, to go on from there.
    :ivar detectors: by target.
    """

    def __init__(self, limit: float, horizon: int, deletion: float, proofs: float,
                 targets: Iterable[int], state: Mapping[str, Any] | None = None) -> None:
        self._limit = limit
        self._horizon = horizon
        self._deletion = deletion
        self._proofs = proofs
        self._made = self._begun = 0
        if state is None:
            self.detectors = {target: self._new_detector() for target in targets}
        else:
            self._made, self._begun = state['made'], state['begun']
            self.detectors = {
                int(target): Detector.from_state(limit, horizon, detector)
                for target, detector in state['detectors'].items()}

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {'made': self._made, 'begun': self._begun,
                'detectors': {str(target): detector.to_state()
                              for target, detector in self.detectors.items()}}

    @property
    def unproven(self) -> bool:
        """Whether some policy has not shown since the last change that it works."""
        return not all(detector.proven for detector in self.detectors.values())

    @property
    def doubtful(self) -> bool:
        """Whether hardly anything speaks for some policy since it was doubted."""
        return not all(detector.credible for detector in self.detectors.values())

    @property
    def unproven_targets(self) -> dict[int, float]:
        """Return the targets without a proof, and how much each still lacks, in nats."""
        first = -math.log(self._proofs * share(self._begun + 1))
        return {target: detector.proof[1] - detector.proof[0] if detector.proving else first
                for target, detector in self.detectors.items() if not detector.proven}

    @property
    def most_evidence(self) -> tuple[float, float, int]:
        """Return the largest evidence against a policy, its threshold, and the policy's target."""
        return max(((detector.evidence, detector.threshold, target)
                    for target, detector in self.detectors.items()), default=(0.0, 0.0, 0))

    def change(self, before: Iterable[Policy], now: Iterable[Policy], doubted: bool) -> None:
        """
        Watch the policies ``now``; each keeps its detector unless it has changed.

        :param before: those watched so far.
        :param now: those to watch.
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

    def notice(self) -> None:
        """Take note of a change: no policy may profit from its past."""
        for detector in self.detectors.values():
            detector.suspect()
            detector.withdraw_proof()

    def doubt(self, targets: Iterable[int]) -> None:
        """Let the policies for ``targets`` show soon that they still work."""
        for target in targets:
            self.detectors[target].doubt()

    def begin(self, target: int, *, proving: bool) -> None:
        """Begin an attempt, and a proof if the policy has to prove that it works and does not."""
        detector = self.detectors[target]
        detector.begin()
        if proving and not detector.proving:
            self._begun += 1
            detector.begin_proof(self._proofs * share(self._begun))

    def record(self, target: int, length: int, failed: bool) -> bool:
        """
        Take note of how the attempt has ended; return whether it raises the alarm.

        :param target: of the policy.
        :param length: of the attempt.
        :param failed: whether it did not arrive.
        """
        detector = self.detectors[target]
        detector.record(length, failed)
        return detector.alarm

    def _new_detector(self) -> Detector:
        self._made += 1
        return Detector(
            self._limit, self._horizon, self._deletion * share(self._made))
