# SPDX-License-Identifier: Apache-2.0

"""What a robot side says is never to be commanded, whatever a policy plays."""

from __future__ import annotations

from collections.abc import Iterable

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.support import Support
from mnm_ros.robot_description import RobotDescription


class ForbiddenPairs:
    """
    The states with an action that leads nowhere there, as was declared last.

    As for the explorer, a robot side that declares nothing leaves what was declared.
    """

    def __init__(self) -> None:
        self._pairs = frozenset[Pair]()

    def __contains__(self, pair: object) -> bool:
        return pair in self._pairs

    def take(self, description: RobotDescription) -> None:
        """Take what the robot side declares."""
        if description.declaration:
            self._pairs = Support(description.declaration).all_forbidden

    def objection(self, policies: Iterable[Policy]) -> str:
        """Return why none of them may be played on, or nothing."""
        for policy in policies:
            if policy.plays(self._pairs):
                state, action = min(pair for moves in policy.actions
                                    for pair in zip(policy.states, moves) if pair in self)
                return (f'its policy plays action {action} in state {state}, which is never to '
                        'be commanded')
        return ''
