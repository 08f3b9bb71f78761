# SPDX-License-Identifier: Apache-2.0

"""The topics of the hypothesis: the known states and their policies, which always agree."""

from __future__ import annotations

from collections.abc import Callable
import math

from mnm_ros import messages
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from std_msgs.msg import Int64, Int64MultiArray

Keep = Callable[[], Callable[[float], bool]]
_HYPOTHESIS_PERIOD = 1.0    # s, at least between two: with 1,000 states each has 8 MB


class HypothesisTopics:
    """
    ``known_states`` and ``policies``, which always agree, and ``policy`` on ``policy/request``.

    The newest hypothesis is published once it is kept and the last one is a second old; those that
    come and go in between are left out.

    :param up_to: as ``messages.are_few`` has it.
    :param keep: lets all that a hypothesis rests on be kept; what it returns says, for a time in
        s, whether it may be published: no restart withdraws it then.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard, up_to: int,
                 keep: Keep = lambda: lambda now: True) -> None:
        self._keep = keep
        self._keeping: tuple[Hypothesis, Callable[[float], bool]] | None = None
        self._up_to = up_to
        self._known = node.create_publisher(Int64MultiArray, 'known_states', messages.LATCHED)
        self._policies = node.create_publisher(Int64MultiArray, 'policies', messages.LATCHED)
        self._policy = node.create_publisher(Int64MultiArray, 'policy', messages.STEP)
        node.create_subscription(Int64, 'policy/request', guard.limited(
            'policy/request', guard.while_open(self._on_request)), messages.STEP)
        self._heard: Hypothesis | None = None
        self._waiting: Hypothesis | None = None
        self._published: Hypothesis | None = None
        self._next = -math.inf

    def change(self, hypothesis: Hypothesis | None, now: float) -> None:
        """
        Publish a hypothesis as soon as it may be, if its version is new.

        None is one that has been abandoned: the next one may have a version that was there before.
        """
        before, self._heard = self._heard, hypothesis
        if hypothesis is None:
            self._waiting = self._keeping = None
        elif hypothesis is not before and (before is None or hypothesis.version != before.version):
            self._waiting = hypothesis
            self.publish_due(now)

    def publish_due(self, now: float) -> None:
        """Publish the hypothesis that has waited long enough, if there is one."""
        if self._waiting is None or now < self._next:
            return
        # One that is being kept is not replaced: where others follow sooner than the disk is done,
        # none would ever be. When all ends there is but one left to publish.
        if self._keeping is None or now == math.inf:
            self._keeping = self._waiting, self._keep()
        hypothesis, is_kept = self._keeping
        if not is_kept(now):
            return
        self._published, self._keeping = hypothesis, None
        if hypothesis is self._waiting:
            self._waiting = None
        self._send(hypothesis, now)

    def republish(self, now: float) -> None:
        """Publish again what was published last, for subscribers that lost it."""
        if self._published and now >= self._next:
            self._send(self._published, now)

    def _as_policies(self, hypothesis: Hypothesis) -> messages.PolicySet:
        """
        Return what ``policies`` says: nothing but the version if there are too many.

        The message latched before would otherwise be taken for the present one.
        """
        few = messages.are_few(hypothesis.policies, self._up_to)
        return messages.PolicySet.of(hypothesis) if few else messages.PolicySet(
            hypothesis.round, hypothesis.revision, hypothesis.horizon, ())

    def _send(self, hypothesis: Hypothesis, now: float) -> None:
        self._next = now + _HYPOTHESIS_PERIOD
        self._known.publish(messages.encode_known_states(hypothesis))
        self._policies.publish(self._as_policies(hypothesis).to_msg())

    def _on_request(self, message: Int64) -> None:
        if self._published is not None:
            self._policy.publish(messages.encode_policy(self._published, message.data))
