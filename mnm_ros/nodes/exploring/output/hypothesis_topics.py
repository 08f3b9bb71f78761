# SPDX-License-Identifier: Apache-2.0

"""The topics that tell what has been learnt: all policies at once, or one that is asked for."""

from __future__ import annotations

import math

from mnm_ros import messages
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from rclpy.node import Node
from std_msgs.msg import Int64, Int64MultiArray

_PERIOD = 1.0    # s, at least between two hypotheses: with 1,000 states each has 8 MB


class HypothesisTopics:
    """
    ``known_states`` and ``policies``, which always agree, and ``policy`` on ``policy/request``.

    The newest hypothesis is published at once, or as soon as the last one is a second old; those
    that come and go in between are left out.

    :param node: that has the topics.
    :param guard: of their callbacks.
    :param up_to: known states up to which ``policies`` has policies.
    """

    def __init__(self, node: Node, guard: CallbackGuard, up_to: int) -> None:
        self._node = node
        self._up_to = up_to
        self._known = node.create_publisher(Int64MultiArray, 'known_states', messages.LATCHED)
        self._policies = node.create_publisher(Int64MultiArray, 'policies', messages.LATCHED)
        self._policy = node.create_publisher(Int64MultiArray, 'policy', messages.STEP)
        self._requests = node.create_subscription(
            Int64, 'policy/request', guard.while_open(self._on_request), messages.STEP)
        self._heard: Hypothesis | None = None
        self._waiting: Hypothesis | None = None
        self._published: Hypothesis | None = None
        self._next = -math.inf

    def destroy(self) -> None:
        """Remove the topics; whoever listens still hears of the last hypothesis."""
        self.publish_due(math.inf)
        self._node.destroy_subscription(self._requests)
        for publisher in (self._known, self._policies, self._policy):
            self._node.destroy_publisher(publisher)

    def change(self, hypothesis: Hypothesis | None, now: float) -> None:
        """
        Publish a hypothesis as soon as it may be, if its stamp is new.

        None is one that has been given up: the next one may have a stamp that was there before.
        """
        before, self._heard = self._heard, hypothesis
        if hypothesis is None:
            self._waiting = None
        elif hypothesis is not before and (before is None or hypothesis.stamp != before.stamp):
            self._waiting = hypothesis
            self.publish_due(now)

    def publish_due(self, now: float) -> None:
        """Publish the hypothesis that has waited long enough, if there is one."""
        if self._waiting is None or now < self._next:
            return
        self._published, self._waiting = self._waiting, None
        self._send(self._published, now)

    def republish(self, now: float) -> None:
        """Publish again what was published last, for those who lost it."""
        if self._published and now >= self._next:
            self._send(self._published, now)

    def _as_policies(self, hypothesis: Hypothesis) -> messages.PolicySet:
        """
        Return what ``policies`` says: nothing but the stamp if there are too many.

        The message latched before would otherwise be taken for the present one.
        """
        few = len(hypothesis.policies) <= self._up_to
        return messages.PolicySet.of(hypothesis) if few else messages.PolicySet(
            hypothesis.round, hypothesis.revision, hypothesis.horizon, ())

    def _send(self, hypothesis: Hypothesis, now: float) -> None:
        self._next = now + _PERIOD
        self._known.publish(messages.encode_known_states(hypothesis))
        self._policies.publish(self._as_policies(hypothesis).to_msg())

    def _on_request(self, message: Int64) -> None:
        if self._published is not None:
            self._policy.publish(messages.encode_policy(self._published, message.data))
