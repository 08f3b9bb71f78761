# SPDX-License-Identifier: Apache-2.0

"""State discovery of the printed UcbExplore."""

from __future__ import annotations

from collections.abc import Sequence
import math

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.paper.discovery import Discovery


class PerVisitDiscovery(Discovery):
    """
    State discovery as printed.

    Each action is executed ``ceil(L log(8 A L |K|^2 / delta))`` times in the new state, each time
    on a new way from home, which is restarted after ``horizon`` steps without arrival.

    Source: Lim & Auer 2012, section 3.1.
    """

    learns_everywhere = False

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._remaining: list[int] = []
        self._attempt = 0

    def quota(self, known: int) -> int:
        """Return how often each action is executed in the state that makes ``|K|`` ``known``."""
        problem = self._problem
        return math.ceil(problem.radius * math.log(
            8 * problem.all_actions * problem.radius * known ** 2 / problem.delta))

    def begin(self, known: Sequence[int], states: Sequence[int], policy: Policy) -> None:
        """Give the last state, the only new one, its full quota."""
        quota = self.quota(len(known))
        self._remaining = [a for a in range(self._problem.actions) for _ in range(quota)]
        self._policy = policy
        self._go_home = True

    def pending(self, known: Sequence[int]) -> tuple[int, ...]:
        """Return nothing: each state is sampled once and for all when it becomes known."""
        return ()

    def done(self) -> bool:
        """Return whether the quota is used up."""
        return not self._remaining

    def action(self, here: int) -> int:
        """Return RESET, then the actions of the policy, then the one to sample."""
        if self._go_home:
            return RESET
        if here == self._policy.target:
            return self._remaining[-1]
        return self._policy.action(self._attempt, here)

    def restart(self) -> None:
        """Begin the way to the sample anew, at home."""
        self._go_home = False
        self._attempt = 0

    def observe(self, here: int, action: int, state: int) -> None:
        """Go home after a sample, and where the horizon is over without arrival."""
        if self._go_home:
            self.restart()
        elif here == self._policy.target:
            self._remaining.pop()
            self._go_home = True
        else:
            self._attempt += 1
            self._go_home = (self._attempt >= self._policy.horizon
                             and state != self._policy.target)
