# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Attempts to reach the target of a policy from home."""

from __future__ import annotations

from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET


class Episode:
    """
    An attempt under way; it begins at home, before the first action.

    :param policy: what is attempted.
    :param ends_outside: whether the attempt is over (failed) as soon as it leaves the policy's
        states, as a published policy is executed. If not, the RESET played there is one
        of its steps, as in the printed UcbExplore.
    :ivar length: steps so far.
    :ivar over: whether it has ended; failed: whether it has ended without arriving.
    """

    def __init__(self, policy: Policy, ends_outside: bool) -> None:
        self.policy = policy
        self.length = 0
        self.over = False
        self.failed = False
        self._ends_outside = ends_outside

    def action(self, here: int) -> int:
        """Return what the policy plays next in ``here``."""
        return self.policy.action(self.length, here)

    def observe(self, state: int) -> None:
        """Take note of the state after the action: one more step."""
        self.length += 1
        if state == self.policy.target:
            self.over = True
        elif (self.length >= self.policy.horizon
              or self._ends_outside and not self.policy.covers(state)):
            self.over = self.failed = True


class Attempts:
    """
    Makes one attempt after the other with the same policy, each from home.

    Between two attempts the robot goes home; whether it has arrived is judged by ``Homing``,
    so a step that is observed while no attempt is under way has led home.

    :param policy: what is attempted.
    :param ends_outside: as for ``Episode``.
    """

    def __init__(self, policy: Policy, ends_outside: bool) -> None:
        self.policy = policy
        self._ends_outside = ends_outside
        self._episode: Episode | None = None

    @property
    def under_way(self) -> bool:
        """Whether an attempt has begun; if not, the next action is RESET."""
        return self._episode is not None

    def action(self, here: int) -> int:
        """Return the next action in ``here``: RESET unless an attempt is under way."""
        return RESET if self._episode is None else self._episode.action(here)

    def observe(self, state: int) -> Episode | None:
        """Take note of the state after the action; return the attempt that it has ended."""
        episode = self._episode
        if episode is None:
            self._episode = Episode(self.policy, self._ends_outside)
            return None
        episode.observe(state)
        if not episode.over:
            return None
        self._episode = None
        return episode

    def interrupt(self) -> None:
        """Drop the attempt under way: the robot may be anywhere."""
        self._episode = None
