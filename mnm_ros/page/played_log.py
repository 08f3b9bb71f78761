# SPDX-License-Identifier: Apache-2.0

"""The telemetry of a transition log that is replayed, in place of what is heard."""

from __future__ import annotations

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.messages import PolicySet
from mnm_ros.view.telemetry import Telemetry
from std_msgs.msg import Int64MultiArray

_MOST = 300    # policies, up to which all are kept with each scene


class PlayedLog:
    """
    The latest scene.

    :ivar heard, policies: as of ``Subscriptions``.
    :ivar refused: why no more scenes come, or ''.
    """

    def __init__(self) -> None:
        self.heard = Telemetry()
        self.policies: Int64MultiArray | None = None
        self.refused = ''
        self._hypothesis: Hypothesis | None = None

    def take(self, heard: Telemetry, hypothesis: Hypothesis | None) -> None:
        """Show a scene."""
        if hypothesis is not self._hypothesis:
            few = hypothesis is not None and len(hypothesis.policies) <= _MOST
            self.policies = PolicySet.of(hypothesis).to_msg() if hypothesis and few else None
        self._hypothesis, self.heard = hypothesis, heard

    def policy_to(self, state: int) -> Policy | None:
        """Return the policy to a known state."""
        found = self._hypothesis
        return found.policy_for(state) if found and state in found.targets else None
