# SPDX-License-Identifier: Apache-2.0

"""Answers of nodes to calls and requests, as far as pages and the event log show them."""

from __future__ import annotations

from mnm_ros.core.progress.said.value import Nested, Said, States


class Refused(Said):
    """A call was refused, and why."""

    said: Nested


class NoGoalUnderWay(Said):
    """The navigator has no goal that it could cancel."""


class CallsTooOften(Said):
    """More than ``each`` calls a second have come, or they take too large a share of the time."""

    each: float
    share: float
    wait: float


class ExplorationOver(Said):
    """The exploration has ended, and how."""

    said: Nested


class NoImprovement(Said):
    """No policy is improved any more, as was asked for."""


class PoliciesToImprove(Said):
    """The explorer improves the policies to ``states`` from now on."""

    states: States


class ManyPoliciesToImprove(Said):
    """The same of ``more`` states besides."""

    states: States
    more: int


class PolicyRefused(Said):
    """The policy to a state is not improved, and why."""

    state: int
    said: Nested


class PoliciesRefused(Said):
    """The same of ``more`` states besides."""

    state: int
    more: int
    said: Nested


class SomeRefused(Said):
    """Some policies are improved, others are not."""

    taken: Nested
    refused: Nested


class ChecksNotImproving(Said):
    """The option ``checks`` has a value with which no policy is improved."""

    checks: str
