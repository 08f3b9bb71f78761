# SPDX-License-Identifier: Apache-2.0

"""The most likely way to a state by its policy."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import groupby
import math

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.export.learnt import Learnt, Transition


def route(learnt: Learnt, policy: Policy) -> tuple[Transition, ...] | None:
    """
    Return the transitions by which the policy arrives with the greatest probability.

    What fails and may be tried again is not among them. None if it was never seen to arrive.
    """
    if learnt.home is None:
        return None
    stationary = len(policy.actions) == 1
    queue: list[tuple[float, int, int, tuple[Transition, ...]]] = [(0.0, 0, learnt.home, ())]
    done: set[tuple[int, int]] = set()
    while queue:    # the way of Dijkstra, as probabilities are multiplied
        cost, step, state, legs = heappop(queue)
        if state == policy.target:
            return legs
        place = state, 0 if stationary else step
        action = policy.action(step, state)
        if place in done or action == RESET:
            continue
        done.add(place)
        for leg in learnt.after(state, action):
            heappush(queue, (
                cost - math.log(leg.probability), step + 1, leg.following, (*legs, leg)))
    return None


def in_words(learnt: Learnt, legs: tuple[Transition, ...]) -> str:
    """Return the actions of a route, as in ``2 east, south``."""
    names = [learnt.description.action_name(leg.action) for leg in legs]
    runs = [(name, len(list(same))) for name, same in groupby(names)]
    return ', '.join(name if times == 1 else f'{times} {name}' for name, times in runs)
