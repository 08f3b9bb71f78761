# SPDX-License-Identifier: Apache-2.0

"""
Tests that decide from the episodes of one policy whether it is good enough.

With ``m`` the limit on expected steps and an episode of length ``len``, put
``X = len + 1{failed} (1 + m)``. A policy that is restarted with a RESET after each failure has
``tau = E[len] + P(failed) (1 + tau)``, hence ``tau <= m`` exactly when ``E[X] <= m``.

An episode that was broken off would have had some ``X`` if it had gone on. It counts as the
largest possible one where a policy is accepted, and as the least possible one where a policy is
found wanting. Capital that is a supermartingale with the true ``X`` has then gained no more than
with it, for whatever reason the episode was broken off.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
import math

from mnm_ros.core.model.counts import Floats
from mnm_ros.core.model.problem import Problem
import numpy as np


class Decision(Enum):
    """The result of an evaluation so far."""

    UNDECIDED = 'undecided'
    GOOD = 'good'
    BAD = 'bad'


class Evaluation(ABC):
    """
    The evaluation of one policy: episodes are recorded until there is a decision.

    :ivar ends_outside: whether an episode is over when it leaves the policy's states.
    :ivar continues: whether it may go on if a new round chooses the same policy for the same
        target.
    :ivar played: episodes so far, those that were broken off included; arrived: those of them
        that have arrived.
    """

    ends_outside: bool
    continues: bool

    def __init__(self) -> None:
        self.played = self.arrived = 0
        self._lengths = 0
        self._failures = 0

    def record(self, length: int, failed: bool) -> Decision:
        """Record an episode of ``length`` steps and return the decision so far."""
        self.played += 1
        self._lengths += length
        self._failures += failed
        self.arrived += not failed
        return self._judge(length, failed)

    def break_off(self, length: int, horizon: int) -> None:
        """
        Record an episode that was broken off after ``length`` steps.

        ``horizon`` is the most that it could have come to count, failed. What follows from it is
        returned with the next one that is recorded. Unless overridden, it counts as the worst that
        it could have become.
        """
        self.record(horizon, True)

    @property
    def mean_steps(self) -> float:
        """Return the plain estimate of ``tau`` from the episodes that were recorded."""
        failed, arrived = self._failures, self.arrived
        return (self._lengths + failed) / arrived if arrived else math.inf

    @property
    def evidence(self) -> tuple[float, float]:
        """Return what speaks for the policy so far, and how much has to; 0 if unknown."""
        return 0.0, 0.0

    @abstractmethod
    def _judge(self, length: int, failed: bool) -> Decision:
        """Return the decision after one more episode."""


class BettingEvaluation(Evaluation):
    """
    An anytime-valid test of the bounded mean, by betting.

    The capital ``sum over b of w_b prod_j (1 + b (m - X_j))`` is a supermartingale while
    ``E[X] > m``, so it ever reaches ``1 / delta`` with probability at most ``delta`` (Ville):
    reaching it certifies ``tau <= accept``. Half of it is bet as boldly as can be, which is best
    where attempts hardly ever fail. The mirrored capital, with equal weights, rejects: it reaches
    ``1 / delta`` with probability at most ``delta`` if ``tau <= reject``.

    :param horizon: the longest episode, in steps that count.
    :param accept, reject: the limits on expected steps of the two tests.
    :param delta: error probability of each of the two tests.
    :param most: episodes after which an evaluation still undecided ends as good, as nothing speaks
        against the policy; 0 for never. Only for checks of what was certified before.

    Source: Waudby-Smith & Ramdas 2024, *Estimating means of bounded random variables by
    betting*.
    """

    ends_outside = True
    continues = True
    _FRACTIONS = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
    _WEIGHTS = np.array([0.05, 0.05, 0.05, 0.06, 0.07, 0.08, 0.14, 0.5])    # w_b

    def __init__(self, horizon: int, accept: float, reject: float, delta: float,
                 most: int = 0) -> None:
        super().__init__()
        self._accept = accept
        self._reject = reject
        self._threshold = -math.log(delta)
        # X lies in [0, horizon + 1 + m]: these are the largest bets that never go bankrupt.
        self._accept_bets = self._FRACTIONS / (horizon + 1)
        self._reject_bets = self._FRACTIONS / reject
        self._accept_log = np.log(len(self._FRACTIONS) * self._WEIGHTS)
        self._reject_log = np.zeros(len(self._FRACTIONS))
        self._most = most

    @property
    def evidence(self) -> tuple[float, float]:
        """Return the logarithm of the capital, and from where on it certifies, in nats."""
        return max(0.0, self._threshold - self.lacking), self._threshold

    @property
    def lacking(self) -> float:
        """Return the nats that lack until it certifies."""
        return self._threshold - log_mean_exp(self._accept_log)

    def require(self, nats: float) -> None:
        """Let it decide from so much evidence on, which the past may choose."""
        self._threshold = nats

    def break_off(self, length: int, horizon: int) -> None:
        """Count it as the worst in the bet for the policy, as the best in the one against it."""
        self.played += 1
        self._bet_for(horizon, True)
        self._bet_against(length, False)

    def _bet_for(self, length: int, failed: bool) -> None:
        gain = self._accept - (length + failed * (1 + self._accept))
        self._accept_log += np.log1p(self._accept_bets * gain)

    def _bet_against(self, length: int, failed: bool) -> None:
        loss = length + failed * (1 + self._reject) - self._reject
        self._reject_log += np.log1p(self._reject_bets * loss)

    def _judge(self, length: int, failed: bool) -> Decision:
        """Bet on one more episode, for and against the policy."""
        self._bet_for(length, failed)
        self._bet_against(length, failed)
        if self.lacking <= 0:
            return Decision.GOOD
        if log_mean_exp(self._reject_log) >= self._threshold:
            return Decision.BAD
        return Decision.GOOD if 0 < self._most <= self.played else Decision.UNDECIDED


def longest(horizon: int, problem: Problem) -> int:
    """
    Return the most steps that may count for an attempt that certifies a new policy.

    A failed attempt counts up to ``m`` steps more if it has left the policy's states; with room
    for those that leave within ``L`` steps, policies that often do so can pass. For ``epsilon <=
    1`` it is the horizon of the presets.
    """
    return max(horizon, math.ceil(problem.limit + problem.radius))


def log_mean_exp(logs: Floats) -> float:
    """Return the logarithm of a mean from logarithms."""
    # The same as logs.max() and .mean(), which take longer than all else with few bets.
    top = np.maximum.reduce(logs)
    return float(top + math.log(np.add.reduce(np.exp(logs - top)) / len(logs)))
