"""Attempts to reach the target of a policy from home."""

from __future__ import annotations

from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET


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


class Attempts:
    """One attempt after the other with the same policy, each from home.

    ends_outside: as for ``Episode``.
    """

    def __init__(self, home: int, policy: Policy, ends_outside: bool) -> None:
        self.policy = policy
        self._home = home
        self._ends_outside = ends_outside
        self._episode: Episode | None = None

    @property
    def under_way(self) -> bool:
        """Whether an attempt has begun; if not, the way home is next."""
        return self._episode is not None

    def action(self, here: int) -> int:
        """Return the next action in ``here``: RESET until the robot is at home."""
        return RESET if self._episode is None else self._episode.action(here)

    def observe(self, state: int) -> Episode | None:
        """Take note of the state after the action; return the attempt that is over by it."""
        episode = self._episode
        if episode is None:
            if state == self._home:
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
