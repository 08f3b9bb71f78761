# SPDX-License-Identifier: Apache-2.0

"""
Ways to a known state from elsewhere than home: where they are no longer than by way of home.

A policy is promised to work from home. Its actions elsewhere serve that alone, and in a state
learnt after it, it executes RESET. So another policy is computed for the way from the present
place, by the counted transitions. It is a guess, with some caution about what has hardly been
tried; ``Navigation`` sees to it that the promise does not depend on it. Most counts of a pair that
has begun to fail are from before, so that such pairs are given, and are taken to stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.history import History
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
import numpy as np

MOST_STATES = 1000
"""With more known states there are no direct ways, as it would take a second to find one."""

_CAUTION = 0.5         # samples
_NEGLIGIBLE = 1e-6     # the same, so that a plan exists
_ELSEWHERE = -2**63    # a state that is not known, where an attempt fails


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


class _CautiousCounts:
    """
    The counts with half a sample more of each pair, of what is not known of it.

    It is shared out among the ends that are declared; else the pair has failed in it.

    :ivar at_home: what follows at home on any action, once that is settled.
    """

    def __init__(self, observed: History, problem: Problem, home: int,
                 failing: Collection[Pair]) -> None:
        self.at_home: Mapping[int, float] | None = None
        self._observed = observed
        self._failing = failing
        self._support = problem.support
        self._home = home

    def next_states(self, state: int, action: int) -> Mapping[int, float]:
        if state == self._home and self.at_home:
            return self.at_home
        if (state, action) in self._failing:
            return {state: 1.0}
        nexts: dict[int, float] = {**self._observed.next_states(state, action)}
        ends = self._support.declared_ends(state, action)
        for end in ends or (_ELSEWHERE,):
            nexts[end] = nexts.get(end, 0) + _CAUTION / max(1, len(ends))
        return nexts


def direct_way(target: int, policies: Sequence[Policy], observed: History,
               problem: Problem, horizon: int,
               failing: Collection[Pair] = ()) -> DirectWay | None:
    """
    Return the direct way to a state.

    None if there are too many states, or it is home, or has never been met.

    :param policies: home first; the way may go through their targets, and one that comes through
        home, or fails, is followed by the policy for the target.
    :param observed: what is known of them.
    :param horizon: steps after which it is abandoned.
    :param failing: pairs that lead nowhere, or seem to, whatever was observed of them before.
    """
    known = tuple(policy.target for policy in policies)
    home, limit = known[0], problem.limit
    if target == home or len(known) > MOST_STATES:
        return None
    counts = _CautiousCounts(observed, problem, home, failing)
    model = EmpiricalModel.of_counts(counts, known, problem.actions, problem.support)
    if not model.hits(target).any():
        return None
    _, from_home = model.smoothed_plan(target, limit, _NEGLIGIBLE)
    for policy in policies:
        if policy.target == target and len(policy.actions) == 1:
            moves = np.array(policy.on(known).actions[0])
            from_home = max(1.0, min(
                limit, model.smoothed_value(moves, target, limit, _NEGLIGIBLE)))
            counts.at_home = {target: 1.0, home: from_home - 1}
            model = EmpiricalModel.of_counts(counts, known, problem.actions, problem.support)
    moves, _ = model.smoothed_plan(target, limit, _NEGLIGIBLE)
    values = model.smoothed_values(moves, target, limit, _NEGLIGIBLE)
    # To try what nothing is known of would take one step more than the limit.
    most = 1 + min(from_home, limit)
    found = {state: (int(move), float(steps)) for state, move, steps in zip(known, moves, values)
             if move != RESET and state not in (home, target) and steps <= most}
    way = Policy(target, horizon, tuple(found), (tuple(move for move, _ in found.values()),))
    return DirectWay(way, {state: steps for state, (_, steps) in found.items()},
                     1 + from_home, limit)
