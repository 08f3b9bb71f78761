# SPDX-License-Identifier: Apache-2.0

"""The topics that tell every policy there is, and how far each may be trusted."""

from __future__ import annotations

import time

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import over_own_targets
from mnm_ros.core.progress.trust import to_json, TrustedPolicy
from mnm_ros.nodes.exploring.output.live_topics import Throttle
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String

_PERIOD = 1.0      # s, at least between two messages
_MOST_LOOKS = 8    # certificates worked out each time
_LONG = 0.02       # s, for these: among 1,000 states one may take as long


class TrustTopics:
    """
    ``provisional_policies`` and ``trust``, published together, only while somebody listens.

    :param node: that has the topics.
    :param up_to: states up to which ``provisional_policies`` has policies.
    """

    def __init__(self, node: Node, up_to: int) -> None:
        self._up_to = up_to
        self._policies = node.create_publisher(
            Int64MultiArray, 'provisional_policies', messages.LATCHED)
        self._trust = node.create_publisher(String, 'trust', messages.LATCHED)
        self._pace = Throttle(_PERIOD)
        self._listeners = 0
        self._revision = 0
        self._looks = 1
        self._told: tuple[TrustedPolicy, ...] = ()

    def republish(self) -> None:
        """Publish both again as soon as possible, for those who lost them."""
        self._told = ()
        self._pace.hurry()

    def news(self, exploration: Exploration, now: float) -> None:
        """
        Publish what has changed and is due.

        :param now: time in seconds.
        """
        listeners = sum(publisher.get_subscription_count()
                        for publisher in (self._policies, self._trust))
        if listeners > self._listeners:
            self._pace.hurry()
        self._listeners = listeners
        if listeners and self._pace.due(now):
            self._pace.do(lambda: self._publish(exploration), now)

    def _publish(self, exploration: Exploration) -> None:
        begun = time.monotonic()
        told = exploration.trust(self._looks)
        self._looks = (min(_MOST_LOOKS, self._looks + 1) if time.monotonic() < begun + _LONG
                       else max(1, self._looks // 2))
        if not told or told == self._told:
            return
        self._told = told
        # It grows, also from one start of the node to the next, as the steps are kept.
        self._revision = max(self._revision + 1, exploration.steps)
        version = exploration.round, self._revision
        few = len(told) <= self._up_to
        self._policies.publish(messages.PolicySet(
            *version, told[0].policy.horizon,
            over_own_targets(each.policy for each in told) if few else ()).to_msg())
        self._trust.publish(String(data=to_json(version, told)))
