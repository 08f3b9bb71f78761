# SPDX-License-Identifier: Apache-2.0

"""Estimate from the counts how often policies play each action, and their expected steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET

Plays = Mapping[int, float]
"""How often a policy plays each action, RESET included, from home until it has arrived."""

Following = Callable[[int, int], Mapping[int, float]]
"""Says how often each next state followed an action in a state, or how likely it is."""

MOST_AT_ONCE = 25    # policies worked out at once: each takes up to some milliseconds
_NEGLIGIBLE = 1e-4    # probability


def steps_of(plays: Plays | None) -> float | None:
    """Return the expected steps, each of which plays one action; None if unknown."""
    return None if plays is None else sum(plays.values())


def expected_plays(policy: Policy, home: int, following: Following,
                   negligible: float = _NEGLIGIBLE) -> Plays | None:
    """
    Return the expected plays from home with a RESET after each failure; None if unknown.

    :param policy: executed as it is published: its attempt has failed outside its states.
    :param following: the counts, or the truth.
    :param negligible: the probability of what is left out; 0 for the exact result.
    """
    if policy.target == home:
        return {}
    there, arrived, failed = {home: 1.0}, 0.0, 0.0
    plays: dict[int, float] = {}    # of one attempt
    for step in range(policy.horizon):
        ahead: dict[int, float] = {}
        for state, chance in there.items():
            action = policy.action(step, state)
            plays[action] = plays.get(action, 0.0) + chance
            nexts: Mapping[int, float] = {home: 1} if action == RESET else following(state, action)
            total = sum(nexts.values())
            if not total:
                return None
            for after, count in nexts.items():
                ahead[after] = ahead.get(after, 0.0) + chance * count / total
        arrived += ahead.pop(policy.target, 0.0)
        for state in [state for state in ahead if not policy.covers(state)]:
            failed += ahead.pop(state)
        there = ahead
        if sum(there.values()) <= negligible:
            break
    plays[RESET] = plays.get(RESET, 0.0) + failed + sum(there.values())
    if arrived <= negligible:
        return None
    return {action: times / arrived for action, times in plays.items() if times > 0}


class ExpectedPlays:
    """
    Keeps the expected plays of several policies.

    Those of many policies take long, so only some are worked out each time: new ones first, then
    those that have waited longest. The counts grow meanwhile, but change little.
    """

    def __init__(self) -> None:
        self._policies: dict[int, Policy] = {}
        self._values: dict[int, Plays | None] = {}
        self._turns: deque[int] = deque()

    def of(self, policies: Iterable[Policy], home: int | None, following: Following,
           at_most: int | None = MOST_AT_ONCE) -> dict[int, Plays | None]:
        """
        Return them by target, None where they are not known, or not yet.

        :param at_most: so many are computed again; None for all.
        """
        if home is None:
            return {}
        now = {policy.target: policy for policy in policies}
        new = [target for target, policy in now.items()
               if not (target in self._policies and policy.same_as(self._policies[target]))]
        self._policies = now
        self._turns = deque((*new, *(
            target for target in self._turns if target in now and target not in new)))
        self._values = {target: value for target, value in self._values.items()
                        if target in now and target not in new}
        for _ in range(len(now) if at_most is None else min(at_most, len(now))):
            target = self._turns.popleft()
            self._turns.append(target)
            self._values[target] = expected_plays(now[target], home, following)
        return {target: self._values.get(target) for target in now}
