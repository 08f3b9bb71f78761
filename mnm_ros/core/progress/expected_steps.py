# SPDX-License-Identifier: Apache-2.0

"""How many steps published policies take, if the counts are the truth: for display."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET

Following = Callable[[int, int], Mapping[int, int]]
"""Says how often each next state followed an action in a state."""

_AT_ONCE = 25      # policies worked out at once: each takes up to some milliseconds
_NEGLIGIBLE = 1e-4    # probability


def expected_steps(policy: Policy, home: int, following: Following) -> float | None:
    """
    Return the steps from home with a RESET after each failure; None if nobody can say.

    :param policy: executed as it is published: its attempt has failed outside its states.
    :param following: the counts.
    """
    if policy.target == home:
        return 0.0
    there, arrived, failed, length = {home: 1.0}, 0.0, 0.0, 0.0
    for step in range(policy.horizon):
        length += sum(there.values())
        ahead: dict[int, float] = {}
        for state, chance in there.items():
            action = policy.action(step, state)
            nexts = {home: 1} if action == RESET else following(state, action)
            total = sum(nexts.values())
            if not total:
                return None
            for after, count in nexts.items():
                ahead[after] = ahead.get(after, 0.0) + chance * count / total
        arrived += ahead.pop(policy.target, 0.0)
        for state in [state for state in ahead if not policy.covers(state)]:
            failed += ahead.pop(state)
        there = ahead
        if sum(there.values()) < _NEGLIGIBLE:
            break
    failed += sum(there.values())
    return (length + failed) / arrived if arrived > _NEGLIGIBLE else None


class ExpectedSteps:
    """
    Keeps the expected steps of all policies of a hypothesis.

    Those of many policies take long, so only some are worked out each time: new ones first, then
    those that have waited longest. The counts grow meanwhile, but change little.
    """

    def __init__(self) -> None:
        self._policies: dict[int, Policy] = {}
        self._values: dict[int, float | None] = {}
        self._turns: deque[int] = deque()

    def of(self, hypothesis: Hypothesis | None, following: Following) -> dict[int, float | None]:
        """Return them by target, None where nobody can say, or not yet."""
        if hypothesis is None:
            return {}
        home = hypothesis.policies[0].target
        now = {policy.target: policy for policy in hypothesis.policies}
        new = [target for target, policy in now.items()
               if not (target in self._policies and policy.same_as(self._policies[target]))]
        self._policies = now
        self._turns = deque((*new, *(
            target for target in self._turns if target in now and target not in new)))
        self._values = {target: value for target, value in self._values.items()
                        if target in now and target not in new}
        for _ in range(min(_AT_ONCE, len(self._turns))):
            target = self._turns.popleft()
            self._turns.append(target)
            self._values[target] = expected_steps(now[target], home, following)
        return {target: self._values.get(target) for target in now}
