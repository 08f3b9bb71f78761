# SPDX-License-Identifier: Apache-2.0

"""
Monitoring one policy for any length of time: the interface, and the detector of the package.

By such detectors the watch checks delete policies (``policy_monitor``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
import math
from typing import Any, Protocol

from mnm_ros.core.model.counts import Floats
from mnm_ros.core.statistics.delta_spending import share
from mnm_ros.core.statistics.evaluation import log_mean_exp
import numpy as np

_KEPT = {
    'threshold': 'threshold', 'evidence': 'evidence', 'episodes': '_episodes',
    'notices': '_notices', 'waiting': '_waiting', 'left': '_left', 'proven': 'proven',
    'credible': 'credible', 'credit': '_credit', 'shown': '_shown'}
"""Attributes by their names in a checkpoint."""


class PolicyDetector(Protocol):
    """
    Says at any time whether a policy takes more than the limit, or has proven that it does not.

    For a policy within the limit, the detector ever raises the alarm with probability at most its
    ``delta``. For a policy over the limit, it ever completes a proof with probability at most the
    delta of that proof. ``Detector`` shows how.

    :ivar threshold: the evidence at which the alarm is raised, in nats.
    :ivar evidence: the evidence against the policy so far, in nats.
    :ivar proving: whether a proof was begun, and not withdrawn since.
    :ivar proven: whether this proof is complete.
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
        """Return the evidence that is still missing for the alarm, in nats."""

    @property
    def proof(self) -> tuple[float, float]:
        """Return the evidence for the policy in its proof, and what a proof needs, in nats."""

    def begin(self) -> None:
        """Record that an attempt begins."""

    def record(self, length: int, failed: bool) -> None:
        """Record an attempt of ``length`` steps, which has arrived unless it has ``failed``."""

    def break_off(self, length: int) -> None:
        """Record an attempt that was broken off after ``length`` steps."""

    def begin_proof(self, delta: float) -> None:
        """Begin a proof that the policy is within the limit, wrong with probability ``delta``."""

    def withdraw_proof(self) -> None:
        """Withdraw the proof: it may be older than a change."""

    def suspect(self) -> None:
        """Record that something indicates a change."""

    def doubt(self) -> None:
        """Discard the proof and all evidence for the policy."""

    def extend(self) -> None:
        """Record that the policy is published over more states now."""

    def to_state(self) -> dict[str, Any]:
        """Return the whole detector as plain data."""


class DetectorFactory(Protocol):
    """Makes detectors. A class with this constructor and ``from_state`` is a factory."""

    def __call__(self, limit: float, horizon: int, delta: float) -> PolicyDetector:
        """Return a detector of a policy with this limit and horizon, in steps."""

    def from_state(self, limit: float, horizon: int, state: Mapping[str, Any]) -> PolicyDetector:
        """Return a detector with the state that ``to_state`` has returned."""


class Detector:
    """
    Notices at any time that the ``tau`` of a policy has risen above ``limit``.

    For episodes with ``X = len + 1{failed} (1 + m)``, as in ``evaluation``, the capital is the sum
    of bets on ``E[X] > m`` begun at different times: with episode ``n``, with half of its
    ``share`` as the weight, and at notice ``k`` of a change, with ``1/(2 k (k + 1))``. With the
    weights not spent yet it is a nonnegative supermartingale while ``tau <= m`` and starts at 1,
    so it ever reaches ``1 / delta`` with probability at most ``delta`` (Ville). A long good past
    costs the bets begun late nothing: a policy that stops working is noticed after about
    ``(log(1/delta) + 3 + 1.5 log(n)) / 0.93`` failures, sooner if something else has shown the
    change.

    It also bets the other way, to prove that the policy has worked since the proof was begun.
    An episode that was broken off counts as the best that it could have become for the alarm, and
    as the worst for the proof, see ``evaluation``. What a notice of a change makes begin, begins
    with the next episode (``begin``): the one under way may be what has shown the change.

    A policy that comes to be published over more states has another ``tau``, see ``Episode``.
    It is within the limit if ``E[X] <= m`` where an episode that leaves the states counts as
    failed after the whole horizon. So a proof in which none has left holds for what is published
    then, too, and stands; any other one is withdrawn (``extend``).

    :param limit: ``m``, in steps.
    :param horizon: the longest episode, in steps.
    :param delta: the probability with which it ever raises the alarm without reason.
    :ivar threshold: ``log(1 / delta)``, in nats.
    :ivar evidence: the logarithm of the capital, in nats.
    :ivar proving: whether a proof was begun, and not withdrawn since.
    :ivar proven: whether the proof is complete.
    :ivar credible: whether the policy was never doubted, or the bets of the proofs have made a
        hundred of one since then, withdrawn or not: enough to turn to other things first.
    """

    _AGAINST = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.95])
    _FOR = np.array([0.1, 0.3, 0.6, 0.95])
    _CREDIBLE = math.log(100.0)

    def __init__(self, limit: float, horizon: int, delta: float) -> None:
        self._limit = limit
        self._horizon = horizon
        self._against_logs: Floats = np.full(len(self._AGAINST), -math.inf)
        self._episodes = 0
        self._notices = 0
        self.threshold = -math.log(delta)
        self.evidence = 0.0
        self._waiting = 0.0    # weight of bets that begin with the next episode
        self._left = False     # whether the proof rests on an episode that left the states
        self._credit = self._shown = 0.0
        self.credible = True
        self.withdraw_proof()

    @property
    def alarm(self) -> bool:
        """Whether the policy can hardly be within the limit any more."""
        return self.evidence >= self.threshold

    @property
    def lacking(self) -> float:
        """Return the nats that the alarm lacks."""
        return self.threshold - self.evidence

    @property
    def proof(self) -> tuple[float, float]:
        """Return what speaks for the policy in its proof, and how much has to, in nats."""
        return (max(0.0, self._shown), self._proof) if self.proving else (0.0, 0.0)

    def suspect(self) -> None:
        """Begin a bet with a large weight with the next episode: something indicates a change."""
        self._notices += 1
        self._waiting += 1 / (self._notices * (self._notices + 1))

    def doubt(self) -> None:
        """Start from nothing: no proof, and nothing that speaks for the policy."""
        self.withdraw_proof()
        self._credit = 0.0
        self.credible = False

    def withdraw_proof(self) -> None:
        """Take back what the policy has proven, as its episodes may be older than a change."""
        self._credit += self._shown
        self._shown = 0.0
        self._for_logs = np.zeros(len(self._FOR))
        self._proof = math.inf
        self.proving = False
        self.proven = False

    def extend(self) -> None:
        """Record that the policy is published over more states from now on."""
        if self._left:
            self.withdraw_proof()

    def begin(self) -> None:
        """Begin an episode, and the bets that have waited for it."""
        if self._waiting:
            self._begin_bet(self._waiting)
            self._waiting = 0.0

    def begin_proof(self, delta: float) -> None:
        """
        Prove by the episodes begun from now on that the policy works, wrongly with ``delta``.

        While ``E[X] >= m``, the capital of the bets on ``E[X] < m`` is a supermartingale, too.
        """
        self._proof = -math.log(delta)
        self.proving = True
        self._left = False

    def record(self, length: int, failed: bool) -> None:
        """Bet on one more episode of ``length`` steps."""
        loss = length + failed * (1 + self._limit) - self._limit
        if failed and length < self._horizon and not self.proven:
            self._left = True
        self._bet(loss, loss)

    def break_off(self, length: int) -> None:
        """Bet on an episode that was broken off after ``length`` steps."""
        self._bet(length - self._limit, self._horizon + 1)

    def _bet(self, least: float, most: float) -> None:
        """Bet on an episode whose ``X`` exceeds the limit by ``least`` to ``most``."""
        self._episodes += 1
        # The bet begun with this episode joins in with its weight before the outcome counts.
        self._begin_bet(share(self._episodes))
        self._against_logs += _log_gains_against(self._limit, least)
        self.evidence = log_mean_exp(self._against_logs)
        if self.proving:
            self._for_logs += _log_gains_for(self._horizon, most)
            self._shown = log_mean_exp(self._for_logs)
            self.proven = self.proven or self._shown >= self._proof
            self.credible = self.credible or self._credit + self._shown >= self._CREDIBLE

    def _begin_bet(self, weight: float) -> None:
        np.logaddexp(self._against_logs, math.log(weight / 2), out=self._against_logs)

    def to_state(self) -> dict[str, Any]:
        """Return all of it but the limits as plain data."""
        return {**{name: getattr(self, attribute) for name, attribute in _KEPT.items()},
                'against': self._against_logs.tolist(), 'for': self._for_logs.tolist(),
                'proof': self._proof if self.proving else None}

    @classmethod
    def from_state(cls, limit: float, horizon: int, state: Mapping[str, Any]) -> Detector:
        """Return the detector that ``to_state`` was called on."""
        detector = cls(limit, horizon, delta=1.0)
        for name, attribute in _KEPT.items():
            setattr(detector, attribute, state[name])
        detector._against_logs = np.array(state['against'])
        detector._for_logs = np.array(state['for'])
        if state['proof'] is not None:
            detector._proof, detector.proving = state['proof'], True
        return detector


@lru_cache(maxsize=1000)    # there are few lengths of attempts
def _log_gains_against(limit: float, loss: float) -> Floats:
    """Return what an attempt adds to the log of each bet against the policy."""
    return np.log1p(Detector._AGAINST / limit * loss)


@lru_cache(maxsize=1000)
def _log_gains_for(horizon: int, loss: float) -> Floats:
    """Return what an attempt adds to the log of each bet for the policy."""
    return np.log1p(-(Detector._FOR / (horizon + 1)) * loss)
