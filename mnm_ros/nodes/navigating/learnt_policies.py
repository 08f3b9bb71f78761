# SPDX-License-Identifier: Apache-2.0

"""The policies that were heard, and how far each may be trusted."""

from __future__ import annotations

from mnm_ros import messages
from mnm_ros.core.knowledge.knowledge import Counts, Knowledge
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.said import (
    LittleTrust,
    NoPoliciesHeard,
    NoPolicy,
    NoPolicyYet,
    Reason,
)
from mnm_ros.core.progress.trust import may_follow, PolicyTrust, Trust
from mnm_ros.nodes.navigating.pose_feedback import TravelTime
from mnm_ros.subscriptions import PolicyRequests
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String

POLICY_WAIT = 5.0
"""s, for a policy that was asked for."""


class LearntPolicies:
    """
    The hypothesis from ``policies``; if it is too large, each policy when it is needed.

    What it has not is taken from ``provisional_policies``, as far as ``trust`` allows that.
    """

    def __init__(self, node: Node) -> None:
        self._policies: messages.PolicySet | None = None
        self._known: tuple[int, ...] | None = None
        self._provisional: messages.PolicySet | None = None
        self._told: dict[int, PolicyTrust] = {}
        self._wanted: int | None = None
        self._ask_until = 0.0
        hear, latched = messages.hear, messages.LATCHED
        hear(node, Int64MultiArray, 'known_states', latched, messages.decode_known_states,
             self._on_known)
        hear(node, Int64MultiArray, 'policies', latched, messages.PolicySet.from_msg,
             self._on_policies)
        hear(node, Int64MultiArray, 'provisional_policies', latched, messages.PolicySet.from_msg,
             self._on_provisional)
        hear(node, String, 'trust', latched, messages.decode_trust, self._on_trust)
        self._requests = PolicyRequests(node)

    @property
    def targets(self) -> tuple[int, ...]:
        """Return the states that there are policies for."""
        if self._policies is None:
            return ()
        if not self._policies.policies:    # too many: each is asked for
            return self._known or ()
        return self._policies.targets

    def knowledge(self, counts: Counts) -> Knowledge | None:
        """Return what is known of the hypothesis with these counts; None without one."""
        told = self._policies
        if told is None or not self.targets:
            return None
        return Knowledge(home=self.targets[0], known=self.targets, counts=counts,
                         policies={policy.target: policy for policy in told.policies})

    def travel_time(self, target: int) -> TravelTime | None:
        """Return what the explorer says that the way from home takes; None if it does not."""
        told = self._told.get(target)
        if told is None or not (told.expected_steps and told.expected_seconds):
            return None
        return TravelTime(told.expected_seconds, told.expected_seconds / told.expected_steps)

    def refusal(self, target: int | None, least: Trust) -> Reason:
        """Return why there is no policy for a state that may be trusted enough, or nothing."""
        known = self._is_known(target) or self._is_home(target)
        told = None if target is None else self._told.get(target)
        there = known or self._provisional_for(target) is not None
        if there and may_follow(told, known, least):
            return ''
        if told is None or told.trust is Trust.PROVEN or not there:
            if self._policies is not None:
                return NoPolicy()
            return NoPolicyYet() if self._provisional else NoPoliciesHeard()
        return LittleTrust(told.trust.value, least.value, told.why)

    def _is_known(self, target: int | None) -> bool:
        # The two topics may be heard one after the other: a state has to be in both.
        return target in self.targets and (self._known is None or target in self._known)

    def _is_home(self, target: int | None) -> bool:
        """Return whether RESET leads there, which is proven before there is a hypothesis."""
        policy = self._provisional_for(target)
        return policy is not None and target == policy.states[0]

    def _provisional_for(self, target: int | None) -> Policy | None:
        found = self._provisional.policies if self._provisional else ()
        return next((policy for policy in found if policy.target == target), None)

    def policy_for(self, target: int, now: float) -> Policy | None:
        """
        Return the policy for one of the targets; None while it is being asked for.

        :raises TimeoutError: with a sentence, if there was no answer.
        """
        if self._policies is None or not self._is_known(target):
            return self._provisional_for(target)
        policy = self._requests.policy_to(target, self._policies, self._policies.version, now)
        if policy is not None:
            self._wanted = None
        elif target != self._wanted:
            self._wanted, self._ask_until = target, now + POLICY_WAIT
        elif now >= self._ask_until:
            self._wanted = None
            raise TimeoutError(f'its policy was not heard within {POLICY_WAIT:g} s')
        return policy

    def _on_known(self, said: tuple[object, tuple[int, ...]]) -> None:
        _, self._known = said

    def _on_policies(self, policies: messages.PolicySet) -> None:
        self._policies = policies

    def _on_provisional(self, policies: messages.PolicySet) -> None:
        self._provisional = policies

    def _on_trust(self, said: tuple[object, dict[int, PolicyTrust]]) -> None:
        _, self._told = said
