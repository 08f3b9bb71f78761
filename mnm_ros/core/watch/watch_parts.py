# SPDX-License-Identifier: Apache-2.0

"""The parts of a watch phase, made anew or from what a checkpoint has of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mnm_ros.core.detection.detector import Detector
from mnm_ros.core.detection.hints import Hints
from mnm_ros.core.detection.pauses import Pauses
from mnm_ros.core.detection.policy_detector import DetectorFactory
from mnm_ros.core.detection.pooled_hint import PooledHint
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.checking_phase import Round
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.statistics.delta_spending import SHARES
from mnm_ros.core.statistics.reach import Reach
from mnm_ros.core.watch.background import BackgroundTask
from mnm_ros.core.watch.blocked import BlockedPairs
from mnm_ros.core.watch.closed import ClosedWays
from mnm_ros.core.watch.patrol import Patrol
from mnm_ros.core.watch.policy_checks import PolicyChecks, Turns
from mnm_ros.core.watch.policy_monitor import PolicyMonitor
from mnm_ros.core.watch.rediscovery import Rediscovery, Relearning

BEGINNING: Mapping[str, Any] = {
    'policies': None, 'transitions': None, 'turns': None, 'limit': None, 'relearning': None,
    'reach': None, 'patrol': None, 'hints': None, 'pooled': None, 'blocked': {}, 'pauses': {},
    'closed': None, 'improve': None, 'rediscoveries': 1}
"""The state of a phase that begins."""


@dataclass(frozen=True)
class WatchParts:
    """
    What a watch phase consists of, each with its part of the round's delta.

    :ivar transitions: the detectors of the pairs.
    :ivar checks: the detectors of the policies, and the attempt under way.
    :ivar hints: the pairs that are suspected, outside of the promise.
    :ivar pooled: the hint that all of them are.
    :ivar relearning: what a change leaves to do.
    :ivar rediscovery: the run of the base under way.
    :ivar reach: which new states are within the radius, and which policies too slow, for sure.
    :ivar pauses: the pairs that are left alone after failures.
    :ivar blocked: the pairs that are known to lead nowhere.
    :ivar closed: those of them that led on until a change was noticed.
    :ivar background: what is done at rest beside all that; None for nothing.
    """

    transitions: TransitionMonitor
    checks: PolicyChecks
    hints: Hints
    pooled: PooledHint
    pauses: Pauses
    relearning: Relearning
    rediscovery: Rediscovery
    reach: Reach
    blocked: BlockedPairs
    closed: ClosedWays
    background: BackgroundTask | None

    @classmethod
    def of(cls, round_: Round, policies: tuple[Policy, ...],
           state: Mapping[str, Any] | None, look_again: float,
           new_detector: DetectorFactory = Detector,
           new_background: Callable[[], BackgroundTask] | None = None) -> WatchParts:
        """Return the parts for these policies, home first, from ``to_state`` or None."""
        problem = round_.problem
        # The delta of the problem is that of the round.
        delta = {kind: part * problem.delta for kind, part in SHARES.items()}
        targets = [policy.target for policy in policies[1:]]
        given: Mapping[str, Any] = state or {
            **BEGINNING, 'renewals': int(round_.log.open), 'blocked': {'noticed': round_.log.open}}
        reach = Reach(problem.radius, delta['reach'])
        if given['reach'] is not None:
            snapshot.put(given['reach'], reach)
        pooled = PooledHint()
        if given['pooled'] is not None:
            snapshot.put(given['pooled'], pooled)
        background = new_background() if new_background else None
        if given.get('improve') is not None:
            snapshot.put(given['improve'], background)
        transitions = round_.transitions or TransitionMonitor(
            delta['transitions'], given['transitions'])
        return cls(
            transitions,
            PolicyChecks(
                PolicyMonitor(problem.limit, policies[0].horizon, delta['deletion'],
                              delta['proofs'], targets, given['policies'], new_detector),
                Turns(targets, given['turns']), Patrol(given.get('patrol')), policies[0]),
            Hints(given.get('hints')),
            pooled,
            Pauses(given.get('pauses')),
            Relearning(given['relearning']),
            Rediscovery(round_, delta['addition'], delta['restart'], given),
            reach,
            BlockedPairs(transitions, problem.support, look_again, delta['blocked'],
                         given.get('blocked')),
            ClosedWays(given.get('closed')),
            background)

    def to_state(self) -> dict[str, Any]:
        """Return all of them as plain data; only just before a rediscovery."""
        checks = self.checks
        return {
            'watched': checks.target,
            'rediscoveries': self.rediscovery.number,
            'renewals': self.rediscovery.renewals,
            'relearning': self.relearning.to_state(),
            'limit': self.rediscovery.limit.to_state(),
            'policies': checks.monitor.to_state(),
            'turns': checks.turns.to_state(),
            'patrol': checks.patrol.to_state(),
            'transitions': self.transitions.to_state(),
            'hints': self.hints.to_state(),
            'pooled': snapshot.take(self.pooled),
            'reach': snapshot.take(self.reach),
            'pauses': self.pauses.to_state(),
            'blocked': self.blocked.to_state(),
            **({'closed': closed} if (closed := self.closed.to_state()) else {}),
            **({'improve': snapshot.take(self.background)}
               if self.background and self.background.wanted else {}),
        }
