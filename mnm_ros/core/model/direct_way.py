# SPDX-License-Identifier: Apache-2.0

"""
Ways to a known state from elsewhere than home: where they are no longer than by way of home.

A policy is promised to work from home. What it plays elsewhere serves that alone, and in a state
learnt after it, it plays RESET. So another one is worked out for the way from a given place, by
the counts. It is a guess, with some caution about what has hardly been tried; ``Navigation`` sees
to it that the promise does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnm_ros.core.model.counts import Observed
from mnm_ros.core.model.empirical_model import EmpiricalModel, TransitionRows
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET

MOST_STATES = 1000
"""With more known states there are no direct ways, as it would take a second to find one."""


@dataclass(frozen=True)
class DirectWay:
    """
    How to reach a state without going home first.

    :ivar policy: over the states from which that is no longer than by way of home.
    :ivar expected_steps: from each of these, on its own and after it has failed.
    :ivar by_home: the same by way of home, with the RESET.
    :ivar limit: expected steps that the published policy takes from home at most.
    """

    policy: Policy
    expected_steps: Mapping[int, float]
    by_home: float
    limit: float


def direct_way(target: int, known: Sequence[int], observed: Observed, problem: Problem,
               horizon: int) -> DirectWay | None:
    """
    Return the direct way to a state; None if there are too many states, or it is home.

    :param known: the states that it may go through, home first.
    :param observed: what is known of them.
    :param horizon: steps after which it is given up.
    """
    if target == known[0] or len(known) > MOST_STATES:
        return None
    rows = TransitionRows(observed, problem.actions, problem.successors)
    for state in known:
        rows.enter(state)
    model = EmpiricalModel.of(rows, known)
    moves, from_home = model.smoothed_plan(target, problem.limit)
    values = model.smoothed_values(moves, target, problem.limit)
    found = {state: (int(move), float(steps)) for state, move, steps in zip(known, moves, values)
             if move != RESET and state not in (known[0], target) and steps <= 1 + from_home}
    policy = Policy(target, horizon, tuple(found), (tuple(move for move, _ in found.values()),))
    return DirectWay(policy, {state: steps for state, (_, steps) in found.items()},
                     1 + from_home, problem.limit)
