# SPDX-License-Identifier: Apache-2.0

"""The policies that were heard, and how far each may be trusted."""

from __future__ import annotations

from mnm_ros import messages
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.nodes.common.callbacks import hear
from mnm_ros.nodes.navigating.pose_feedback import TravelTime
from rclpy.node import Node
from std_msgs.msg import Int64, String

_REPEAT = 0.5    # s, after which a policy is asked for again
_WAIT = 5.0      # s, for a policy that was asked for


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
        self._answer: messages.PolicyAnswer | None = None
        self._wanted: int | None = None
        self._ask_at = self._ask_until = 0.0
        hear(node, 'known_states', messages.decode_known_states, self._on_known, messages.LATCHED)
        hear(node, 'policies', messages.PolicySet.from_msg, self._on_policies, messages.LATCHED)
        hear(node, 'provisional_policies', messages.PolicySet.from_msg, self._on_provisional,
             messages.LATCHED)
        hear(node, 'trust', messages.decode_trust, self._on_trust, messages.LATCHED, String)
        hear(node, 'policy', messages.decode_policy, self._on_policy, messages.STEP)
        self._requests = node.create_publisher(Int64, 'policy/request', messages.STEP)

    @property
    def targets(self) -> tuple[int, ...]:
        """Return the states that there are policies for."""
        if self._policies is None:
            return ()
        if not self._policies.policies:    # too many: each is asked for
            return self._known or ()
        return self._policies.targets

    def travel_time(self, target: int) -> TravelTime | None:
        """Return what the explorer says that the way from home takes; None if it does not."""
        told = self._told.get(target)
        if told is None or not (told.expected_steps and told.expected_seconds):
            return None
        return TravelTime(told.expected_seconds, told.expected_seconds / told.expected_steps)

    def refusal(self, target: int | None, least: Trust) -> str:
        """Return why there is no policy for a state that may be trusted enough, or nothing."""
        known = self._is_known(target) or self._is_home(target)
        told = None if target is None else self._told.get(target)
        if known and (told is None or told.trust is not Trust.DOUBTED):
            return ''    # the hypothesis is newer than what was told of it
        if told is None or told.trust is Trust.PROVEN or not (
                known or self._provisional_for(target)):
            if self._policies is not None:
                return 'unknown state'
            return 'no policy for it yet' if self._provisional else 'no policies heard yet'
        if told.trust.rank <= least.rank:
            return ''
        return (f'its policy is {told.trust.value}, expected {least.value} (least_trust): '
                f'{told.why}')

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
        if self._policies.policies:
            return self._policies.policy_for(target)
        answer = self._answer
        if answer and (answer.version, answer.target) == (self._policies.version, target):
            self._wanted = None
            return answer.policy
        if target != self._wanted:
            self._wanted, self._ask_at, self._ask_until = target, now, now + _WAIT
        if now >= self._ask_until:
            self._wanted = None
            raise TimeoutError(f'its policy was not heard within {_WAIT:g} s')
        if now >= self._ask_at:
            self._ask_at = now + _REPEAT
            self._requests.publish(Int64(data=target))
        return None

    def _on_known(self, said: tuple[object, tuple[int, ...]]) -> None:
        _, self._known = said

    def _on_policies(self, policies: messages.PolicySet) -> None:
        self._policies = policies

    def _on_provisional(self, policies: messages.PolicySet) -> None:
        self._provisional = policies

    def _on_trust(self, said: tuple[object, dict[int, PolicyTrust]]) -> None:
        _, self._told = said

    def _on_policy(self, answer: messages.PolicyAnswer) -> None:
        if answer.target == self._wanted and answer.policy:    # others ask, too
            self._answer = answer
