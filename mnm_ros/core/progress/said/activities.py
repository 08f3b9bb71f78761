# SPDX-License-Identifier: Apache-2.0

"""What is being done."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.core.progress.said.value import Nested, Said


@dataclass(frozen=True)
class GoingHomeFirst(Said):
    """The first RESET is being executed."""


@dataclass(frozen=True)
class Sampling(Said):
    """The known states are sampled."""


@dataclass(frozen=True)
class SamplingStates(Said):
    """So many states are sampled; so many executions are lacking."""

    count: int
    lacking: int


@dataclass(frozen=True)
class SamplingFor(Said):
    """The way to a state is sampled, to certify its policy."""

    target: int
    lacking: int


@dataclass(frozen=True)
class Testing(Said):
    """A policy is tested."""


@dataclass(frozen=True)
class TestingPolicy(Said):
    """The policy to this state is tested."""

    target: int


@dataclass(frozen=True)
class TestingAttempts(TestingPolicy):
    """The same, with the attempts so far."""

    arrived: int
    played: int


@dataclass(frozen=True)
class InStream(Said):
    """The activity of one of several streams."""

    said: Nested
    stream: int
    streams: int


@dataclass(frozen=True)
class Rediscovering(Said):
    """The activity of a rediscovery."""

    number: int
    said: Nested


@dataclass(frozen=True)
class CheckingPolicy(Said):
    """A policy is attempted."""

    target: int


@dataclass(frozen=True)
class CheckingAgainst(CheckingPolicy):
    """The same, with the evidence against the policy, in nats."""

    against: float
    threshold: float


@dataclass(frozen=True)
class CheckingProof(CheckingAgainst):
    """The same, with the evidence for the policy, in nats."""

    evidence: float
    enough: float


@dataclass(frozen=True)
class InCheckRun(Said):
    """The activity of the rediscovery of a check-run."""

    said: Nested


@dataclass(frozen=True)
class CheckRunAttempts(TestingAttempts):
    """A check-run attempts a policy; ``left`` policies are to be attempted."""

    left: int


@dataclass(frozen=True)
class Improving(Said):
    """A policy of about ``likely`` steps is improved; none takes less than ``least``."""

    target: int
    likely: float
    least: float
