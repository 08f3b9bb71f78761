# SPDX-License-Identifier: Apache-2.0

"""What ``Disco`` is doing, in figures and sentences for people; it only reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mnm_ros.core.disco.sampling import Sampling
from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Doing, Evidence
from mnm_ros.core.statistics.evaluation import Evaluation

Tests = Mapping[int, tuple[Policy, Evaluation]]
"""The tests under way by target."""


@dataclass(frozen=True)
class Certifying:
    """
    What is sampled for a certificate.

    :ivar target: of the policy to be certified; None if there is none.
    :ivar wanted: the executions of each pair that it seems to take.
    """

    target: int | None = None
    wanted: Mapping[Pair, int] = field(default_factory=dict)

    def evidence(self, counts: Counts) -> Evidence | None:
        """Return the executions so far and those that it seems to take."""
        if self.target is None:
            return None
        made = sum(min(wanted, counts.visits(*pair)) for pair, wanted in self.wanted.items())
        return Evidence('certificate', self.target, None, float(made),
                        float(sum(self.wanted.values())))


def testing_now(target: int, tests: Tests) -> Doing:
    """Return that the policy to ``target`` makes attempts."""
    sentence = f'testing the policy to {target}'
    if target in tests:
        _, test = tests[target]
        sentence += f': {test.arrived} of {test.played} attempts reached it'
    return Doing('testing', sentence, target, None, tuple(_evidence(tests)))


def sampling_now(here: int | None, sampling: Sampling, tests: Tests,
                 certificate: Evidence | None) -> Doing:
    """Return what is sampled, and for what."""
    begun = (*_evidence(tests), *((certificate,) if certificate else ()))
    target, action = sampling.heading(here) or (None, None)
    lacking = sampling.executions_lacking
    if certificate is not None:
        sentence = f'sampling on the way to {certificate.state}, to certify its policy'
    else:
        count = len(sampling.sampled)
        sentence = f'sampling {count} state{"s" if count > 1 else ""}'
    sentence += f': {lacking:,} execution{"s" * (lacking != 1)} to go'
    return Doing('sampling', sentence, target, action, begun)


def _evidence(tests: Tests) -> Iterator[Evidence]:
    for target, (_, test) in tests.items():
        yield Evidence('policy', target, None, *test.evidence)
