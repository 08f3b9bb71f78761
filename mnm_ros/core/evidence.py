# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What certificates of a run rest on, from some moment on."""

from __future__ import annotations

import math

from mnm_ros.core.certificate import ConfidenceSets
from mnm_ros.core.counts import Counts
from mnm_ros.core.evaluation import BettingEvaluation, longest
from mnm_ros.core.problem import Problem


class Evidence:
    """
    Transitions and attempts since it was made, and how sure certificates by them are.

    Half of ``delta`` is for certificates by the model, and half for tests, of which number ``i``
    has ``1/(i (i + 1))``.

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
        self._tests = 0

    @property
    def nats(self) -> float:
        """What the next test takes: the logarithm of one over its error probability."""
        return self._log(self._tests + 1)

    def new_test(self) -> BettingEvaluation:
        """Return a test of one more policy."""
        self._tests += 1
        limit = self._problem.limit
        return BettingEvaluation(self._longest, limit, limit, math.exp(-self._log(self._tests)))

    def forget(self, state: int, action: int) -> None:
        """Begin anew with a pair."""
        self.counts.forget(state, action)
        self.sets.forget(state, action)

    def _log(self, number: int) -> float:
        return math.log(number * (number + 1) / self._delta)
