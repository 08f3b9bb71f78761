# SPDX-License-Identifier: Apache-2.0

"""What certificates of a run rest on, from some moment on: see *Renewals* in ``docs/disco.md``."""

from __future__ import annotations

from itertools import count
import math

from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.statistics.certificate import ConfidenceSets
from mnm_ros.core.statistics.evaluation import BettingEvaluation, longest


class CertificateEvidence:
    """
    Transitions and attempts since it was made, and how sure certificates by them are.

    Half of ``delta`` is for certificates by the model, and half for tests: a test in place ``j``
    has ``1/(j (j + 1))`` of it. When its policy has been certified, by it or by the model over the
    same sets, it leaves its place to another one, even if it was given up before. Take the tests
    of policies that are beyond the limit. Until a certificate is wrong none of them leaves its
    place, so that together they have no more than the half; with no greater probability the first
    certificate that is wrong is by one of them.

    Source: Tian & Ramdas 2021, *Online control of the familywise error rate* (online fallback).

    :param problem: with the limit.
    :param horizon: of every policy.
    :param delta: the probability with which any certificate that rests on it is wrong.
    :param counts: of the run, empty yet; its own by default.
    :ivar counts: of the transitions.
    :ivar sets: over the counts.
    """

    def __init__(self, problem: Problem, horizon: int, delta: float,
                 counts: Counts | None = None) -> None:
        self.counts = Counts() if counts is None else counts
        self.sets = ConfidenceSets(delta / 2, self.counts)
        self._problem = problem
        self._longest = longest(horizon, problem)
        self._delta = delta / 2
        self._places: dict[int, BettingEvaluation] = {}

    @property
    def nats(self) -> float:
        """Return what the next test takes: the logarithm of one over its error probability."""
        return self._log(self._free())

    def new_test(self) -> BettingEvaluation:
        """Return a test of one more policy."""
        limit, place = self._problem.limit, self._free()
        test = BettingEvaluation(self._longest, limit, limit, math.exp(-self._log(place)))
        self._places[place] = test
        return test

    def release(self, test: BettingEvaluation) -> None:
        """Give the place of a test away, if it has one: its policy has been certified."""
        self._places = {place: each for place, each in self._places.items() if each is not test}

    def forget(self, state: int, action: int) -> None:
        """Begin anew with a pair."""
        self.counts.forget(state, action)
        self.sets.forget(state, action)

    def _free(self) -> int:
        """Return the first place that no test has."""
        return next(place for place in count(1) if place not in self._places)

    def _log(self, place: int) -> float:
        return math.log(place * (place + 1) / self._delta)
