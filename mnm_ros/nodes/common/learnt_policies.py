# SPDX-License-Identifier: Apache-2.0

"""What the navigator has heard of the policies that the explorer has learnt."""

from __future__ import annotations

from mnm_ros import messages
from mnm_ros.core.model.policy import Policy
from mnm_ros.nodes.common.callbacks import hear
from rclpy.node import Node
from std_msgs.msg import Int64

_REPEAT = 0.5    # s, after which a policy is asked for again
_WAIT = 5.0      # s, for an answer


class LearntPolicies:
    """
    The hypothesis from ``policies``; of one too large for that, each policy when it is needed.

    :param node: that has the topics.
    """

    def __init__(self, node: Node) -> None:
        self._policies: messages.PolicySet | None = None
        self._known: tuple[int, ...] | None = None
        self._answer: messages.PolicyAnswer | None = None
        self._wanted: int | None = None
        self._ask_at = self._ask_until = 0.0
        hear(node, 'known_states', messages.decode_known_states, self._on_known, messages.LATCHED)
        hear(node, 'policies', messages.PolicySet.from_msg, self._on_policies, messages.LATCHED)
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

    def refusal(self, target: int | None) -> str:
        """Return why there is no policy for a state at present, or nothing."""
        if self._policies is None:
            return 'no policies heard yet'
        # The two topics may be heard one after the other: a state has to be in both.
        known = target in self.targets and (self._known is None or target in self._known)
        return '' if known else 'unknown state'

    def policy_for(self, target: int, now: float) -> Policy | None:
        """
        Return the policy for one of the targets; None while it is being asked for.

        :raises TimeoutError: with a sentence, if there was no answer.
        """
        if self._policies is None:
            return None
        if self._policies.policies:
            return self._policies.policy_for(target)
        answer = self._answer
        if answer and (answer.stamp, answer.target) == (self._policies.stamp, target):
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

    def _on_policy(self, answer: messages.PolicyAnswer) -> None:
        if answer.target == self._wanted and answer.policy:    # others ask, too
            self._answer = answer
