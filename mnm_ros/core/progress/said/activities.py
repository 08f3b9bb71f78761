# SPDX-License-Identifier: Apache-2.0

"""What is being done."""

from __future__ import annotations

from mnm_ros.core.progress.said.value import Nested, Said


class GoingHomeFirst(Said):
    """The first RESET is being executed."""


class Sampling(Said):
    """The known states are sampled."""


class SamplingStates(Said):
    """So many states are sampled; so many executions are lacking."""

    count: int
    lacking: int


class SamplingFor(Said):
    """The way to a state is sampled, to certify its policy."""

    target: int
    lacking: int


class Testing(Said):
    """A policy is tested."""


class TestingPolicy(Said):
    """The policy to this state is tested."""

    target: int


class TestingAttempts(TestingPolicy):
    """The same, with the attempts so far."""

    arrived: int
    played: int


class InStream(Said):
    """The activity of one of several streams."""

    said: Nested
    stream: int
    streams: int


class Rediscovering(Said):
    """The activity of a rediscovery."""

    number: int
    said: Nested


class CheckingPolicy(Said):
    """A policy is attempted."""

    target: int


class CheckingAgainst(CheckingPolicy):
    """The same, with the evidence against the policy, in nats."""

    against: float
    threshold: float


class CheckingProof(CheckingAgainst):
    """The same, with the evidence for the policy, in nats."""

    evidence: float
    enough: float


class InCheckRun(Said):
    """The activity of the rediscovery of a check-run."""

    said: Nested


class CheckRunAttempts(TestingAttempts):
    """A check-run attempts a policy; ``left`` policies are to be attempted."""

    left: int


class Improving(Said):
    """A policy of about ``likely`` steps is improved; none takes less than ``least``."""

    target: int
    likely: float
    least: float
