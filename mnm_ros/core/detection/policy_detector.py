# SPDX-License-Identifier: Apache-2.0

"""The interface of the detectors of policies, by which the watch checks delete one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class PolicyDetector(Protocol):
    """
    Says at any time whether a policy takes more than the limit, or has proven that it does not.

    A policy within the limit must ever raise the alarm with probability at most ``delta`` of the
    detector, and one over it ever complete a proof with that of the proof, see ``Detector``.

    :ivar threshold, evidence: how much has to speak against the policy for an alarm, and how much
        does, in nats.
    :ivar proving, proven: whether a proof was begun and not withdrawn since; whether it is
        complete.
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
        """Return the nats that the alarm lacks."""

    @property
    def proof(self) -> tuple[float, float]:
        """Return what speaks for the policy in its proof, and how much has to, in nats."""

    def begin(self) -> None:
        """Record that an attempt begins."""

    def record(self, length: int, failed: bool) -> None:
        """Record an attempt of so many steps."""

    def break_off(self, length: int) -> None:
        """Record an attempt that was broken off after so many steps."""

    def begin_proof(self, delta: float) -> None:
        """Begin to prove that the policy is within the limit, wrongly with this probability."""

    def withdraw_proof(self) -> None:
        """Take back what was proven: it may be older than a change."""

    def suspect(self) -> None:
        """Record that something indicates a change."""

    def doubt(self) -> None:
        """Start from nothing: no proof, and nothing that speaks for the policy."""

    def extend(self) -> None:
        """Record that the policy is published over more states now."""

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data."""


class DetectorFactory(Protocol):
    """Makes detectors; a class with these two does."""

    def __call__(self, limit: float, horizon: int, delta: float) -> PolicyDetector:
        """Return one for a policy with this limit and horizon, in steps."""

    def from_state(self, limit: float, horizon: int, state: Mapping[str, Any]) -> PolicyDetector:
        """Return one from ``to_state``."""
