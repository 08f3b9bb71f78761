# SPDX-License-Identifier: Apache-2.0

"""The interface of the detectors by which the watch checks delete policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class PolicyDetector(Protocol):
    """
    Says at any time whether a policy takes more than the limit, or has proven that it does not.

    For a policy within the limit, the detector ever raises the alarm with probability at most its
    ``delta``. For a policy over the limit, it ever completes a proof with probability at most the
    delta of that proof. ``Detector`` shows how.

    :ivar threshold: the evidence at which the alarm is raised, in nats.
    :ivar evidence: the evidence against the policy so far, in nats.
    :ivar proving: whether a proof was begun, and not withdrawn since.
    :ivar proven: whether this proof is complete.
    :ivar credible: whether the policy may wait while others are doubted.
    """

    threshold: float
    evidence: float
    proving: bool
    proven: bool
    credible: bool

    @property
    def alarm(self) -> bool:
        """Whether the policy is to be deleted."""

    @property
    def lacking(self) -> float:
        """Return the evidence that is still missing for the alarm, in nats."""

    @property
    def proof(self) -> tuple[float, float]:
        """Return the evidence for the policy in its proof, and what a proof needs, in nats."""

    def begin(self) -> None:
        """Record that an attempt begins."""

    def record(self, length: int, failed: bool) -> None:
        """Record an attempt of ``length`` steps, which has arrived unless it has ``failed``."""

    def break_off(self, length: int) -> None:
        """Record an attempt that was broken off after ``length`` steps."""

    def begin_proof(self, delta: float) -> None:
        """Begin a proof that the policy is within the limit, wrong with probability ``delta``."""

    def withdraw_proof(self) -> None:
        """Withdraw the proof: it may be older than a change."""

    def suspect(self) -> None:
        """Record that something indicates a change."""

    def doubt(self) -> None:
        """Discard the proof and all evidence for the policy."""

    def extend(self) -> None:
        """Record that the policy is published over more states now."""

    def to_state(self) -> dict[str, Any]:
        """Return the whole detector as plain data."""


class DetectorFactory(Protocol):
    """Makes detectors. A class with this constructor and ``from_state`` is a factory."""

    def __call__(self, limit: float, horizon: int, delta: float) -> PolicyDetector:
        """Return a detector of a policy with this limit and horizon, in steps."""

    def from_state(self, limit: float, horizon: int, state: Mapping[str, Any]) -> PolicyDetector:
        """Return a detector with the state that ``to_state`` has returned."""
