# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Watching one policy for any length of time."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from mnm_ros.core.arrays import Floats
from mnm_ros.core.evaluation import log_mean_exp
import numpy as np


class Detector:
    """
    Notices at any time that the ``tau`` of a policy has risen above ``limit``.

    For episodes with ``X = len + 1{failed} (1 + m)``, as in ``evaluation``, the capital is the
    sum over start times ``n`` of ``1/(n (n + 1))`` times that of a bet on ``E[X] > m`` begun at
    ``n``. With the weights not spent yet it is a nonnegative supermartingale while ``tau <= m``
    and starts at 1, so it ever reaches ``1 / delta`` with probability at most ``delta`` (Ville).
    A long good past costs the bets begun late nothing: a policy that stops working is noticed
    after about ``(log(1/delta) + 2 log(n)) / 0.93`` failures.

    It also bets the other way, to prove that the policy has worked since the detector was made.

    :param limit: ``m``, in steps.
    :param horizon: the longest episode, in steps.
    :param delta: the probability with which it ever raises the alarm without reason.
    :ivar threshold: ``log(1 / delta)``, in nats.
    :ivar evidence: the logarithm of the capital, in nats.
    :ivar proven: whether the bet the other way has made a hundred of one.
    """

    _AGAINST = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.95])
    _FOR = np.array([0.1, 0.3, 0.6, 0.95])
    _PROOF = math.log(100.0)

    def __init__(self, limit: float, horizon: int, delta: float) -> None:
        self._limit = limit
        self._against = self._AGAINST / limit
        self._for = self._FOR / (horizon + 1)
        self._against_logs: Floats = np.full(len(self._AGAINST), -math.inf)
        self._for_logs = np.zeros(len(self._FOR))
        self._episodes = 0
        self.threshold = -math.log(delta)
        self.evidence = 0.0
        self.proven = False

    @property
    def alarm(self) -> bool:
        """Whether the policy can hardly be within the limit any more."""
        return self.evidence >= self.threshold

    def record(self, length: int, failed: bool) -> None:
        """Bet on one more episode of ``length`` steps."""
        self._episodes += 1
        loss = length + failed * (1 + self._limit) - self._limit
        # The bet begun with this episode joins in with its weight before the outcome counts.
        begun = -math.log(self._episodes * (self._episodes + 1))
        self._against_logs = np.logaddexp(self._against_logs, begun)
        self._against_logs += np.log1p(self._against * loss)
        self._for_logs += np.log1p(-self._for * loss)
        self.evidence = log_mean_exp(self._against_logs)
        self.proven = self.proven or log_mean_exp(self._for_logs) >= self._PROOF

    def to_state(self) -> dict[str, Any]:
        """Return all of it but the limits as plain data."""
        return {'threshold': self.threshold, 'evidence': self.evidence, 'proven': self.proven,
                'episodes': self._episodes, 'against': self._against_logs.tolist(),
                'for': self._for_logs.tolist()}

    @classmethod
    def from_state(cls, limit: float, horizon: int, state: Mapping[str, Any]) -> Detector:
        """Return the detector that ``to_state`` was called on."""
        detector = cls(limit, horizon, delta=1.0)
        detector.threshold = state['threshold']
        detector.evidence = state['evidence']
        detector.proven = state['proven']
        detector._episodes = state['episodes']
        detector._against_logs = np.array(state['against'])
        detector._for_logs = np.array(state['for'])
        return detector
