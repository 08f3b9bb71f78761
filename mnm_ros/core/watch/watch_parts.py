# SPDX-License-Identifier: Apache-2.0

"""The parts of a watch phase."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.core.detection.detector import DetectorFactory
from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.detection.pooled_detector import PooledDetector
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.checking_phase import Round
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.statistics.delta_spending import SHARES
from mnm_ros.core.statistics.reach import Reach
from mnm_ros.core.watch.blocked import BlockedPairs
from mnm_ros.core.watch.patrol import Patrol
from mnm_ros.core.watch.policy_checks import PolicyChecks, Turns
from mnm_ros.core.watch.policy_monitor import PolicyMonitor
from mnm_ros.core.watch.rediscovery import Rediscovery, Relearning


@dataclass
class WatchParts:
    """
    The hypothesis that a watch phase checks, and what it is checked with.

    Each part has its part of the round's delta.

    :ivar round: what the phase is made from.
    :ivar policies: the hypothesis, home first, all over the states that they lead to; another
        tuple after each revision.
    :ivar transitions: the detectors of the pairs.
    :ivar checks: the detectors of the policies, and the attempt under way.
    :ivar pooled_detector: of a change of all moves.
    :ivar pairs: those that fail, are suspected or closed, outside of the promise.
    :ivar relearning: what a change leaves to do.
    :ivar rediscovery: the run of the base under way.
    :ivar reach: which new states are within the radius, and which policies too slow, for sure.
    :ivar blocked: the pairs that are known to lead nowhere.
    """

    round: Round    # noqa: A003
    policies: tuple[Policy, ...]
    transitions: TransitionMonitor
    checks: PolicyChecks
    pooled_detector: PooledDetector
    pairs: PairWatch
    relearning: Relearning
    rediscovery: Rediscovery
    reach: Reach
    blocked: BlockedPairs

    @classmethod
    def of(cls, round_: Round, policies: tuple[Policy, ...], look_again: float,
           new_detector: DetectorFactory) -> WatchParts:
        """Return the parts for these policies, home first."""
        problem = round_.problem
        # The delta of the problem is that of the round.
        delta = {kind: part * problem.delta for kind, part in SHARES.items()}
        targets = [policy.target for policy in policies[1:]]
        transitions = round_.transitions or TransitionMonitor(delta['transitions'])
        return cls(
            round_,
            policies,
            transitions,
            PolicyChecks(
                PolicyMonitor(problem.limit, policies[0].horizon, delta['deletion'],
                              delta['proofs'], targets, new_detector),
                Turns(targets), Patrol(transitions), policies[0]),
            PooledDetector(delta['pooled']),
            round_.pairs or PairWatch(problem.support),
            Relearning(),
            Rediscovery(round_, delta['addition'], delta['restart']),
            Reach(problem.radius, delta['reach']),
            BlockedPairs(transitions, problem.support, look_again, delta['blocked'],
                         round_.log.open))
