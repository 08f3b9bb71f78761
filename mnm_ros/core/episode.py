"""One attempt to reach the target of a policy from home."""

from __future__ import annotations

from mnm_ros.core.policy import Policy


class Episode:
    """An attempt under way; it begins at home, before the first action.

    ends_outside: whether the attempt is over (failed) as soon as it leaves the policy's
        states, as a published policy is executed. If not, the RESET played there is one of
        its steps, as in the printed UcbExplore.
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
