"""Watching one policy for ever."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from mnm_ros.core.evaluation import log_mean_exp


class Detector:
    """Notices that a policy's ``tau`` has risen above ``limit``, at any time.

    For episodes with ``X = len + 1{failed} (1 + m)``, as in ``evaluation``, the capital is the sum
    over start times ``n`` of ``1/(n (n + 1))`` times that of a bet on ``E[X] > m`` begun at ``n``.
    With the weights not spent yet it is, while ``tau <= m``, a nonnegative supermartingale that
    starts at 1, so it ever reaches ``1 / level`` with probability at most ``level`` (Ville). Bets
    begun late are not burdened by a long good past: a policy that stops working is noticed after
    about ``(log(1/level) + 2 log(n)) / 0.93`` failures.

    It also bets the other way, to prove that the policy works since the detector was made.

    horizon: the longest episode, in steps.
    level: the probability with which it ever raises the alarm without reason.
    """

    _AGAINST = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.95])
    _FOR = np.array([0.1, 0.3, 0.6, 0.95])
    _PROOF = math.log(100.0)

    def __init__(self, limit: float, horizon: int, level: float) -> None:
        self._limit = limit
        self._against = self._AGAINST / limit
        self._for = self._FOR / (horizon + 1)
        self._against_logs = np.full(len(self._AGAINST), -math.inf)
        self._for_logs = np.zeros(len(self._FOR))
        self._episodes = 0
        self.threshold = -math.log(level)
        self.evidence = 0.0
        self.proven = False

    @property
    def alarm(self) -> bool:
        """Whether the policy can hardly be within the limit any more."""
        return self.evidence >= self.threshold

    def record(self, length: int, failed: bool) -> None:
        """Bet on one more episode; ``evidence`` is the logarithm of the capital, in nats."""
        self._episodes += 1
        loss = length + failed * (1 + self._limit) - self._limit
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
        detector = cls(limit, horizon, 1.0)
        detector.threshold = state['threshold']
        detector.evidence = state['evidence']
        detector.proven = state['proven']
        detector._episodes = state['episodes']
        detector._against_logs = np.array(state['against'])
        detector._for_logs = np.array(state['for'])
        return detector
