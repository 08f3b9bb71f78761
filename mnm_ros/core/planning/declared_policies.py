# SPDX-License-Identifier: Apache-2.0

"""Policies by what is declared alone, before anything was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
import numpy as np

MOST_STATES = 200
"""So many states of the declared world get policies, those with the fewest moves from home."""

_NO_FAILURES = 1e-6    # weight of a failure, where chances are taken as they are


class DeclaredPolicy(NamedTuple):
    """A policy, and the steps that it takes if all ends of a pair are equally likely."""

    policy: Policy
    steps: float


class DeclaredPolicies:
    """
    The policies through the declared world, by its chances where they are declared, too.

    Nothing is promised of them. Where no chances are declared, all ends of a pair are taken to be
    equally likely.

    They can be pickled, and hold nothing of the exploration.
    """

    def __init__(self) -> None:
        self._changes = -1
        self._found: dict[int, DeclaredPolicy] = {}
        self._left: list[int] = []

    def look(self, problem: Problem, home: int, horizon: int, at_most: int | None = None,
             ) -> Sequence[DeclaredPolicy]:
        """
        Return the policies so far.

        :param problem: with the support.
        :param home: where they begin.
        :param horizon: of the policies; what seems to take longer has none.
        :param at_most: so many more are worked out; None for all.
        """
        if problem.support.changes != self._changes:
            self._changes = problem.support.changes
            self._found = {}
            self._left = _reached(problem, home)[:0:-1]
        most = len(self._left) if at_most is None else min(at_most, len(self._left))
        model = _as_declared(problem, _reached(problem, home)) if most else None
        while model and most:
            target, most = self._left.pop(), most - 1
            moves, steps = model.smoothed_plan(target, horizon, _NO_FAILURES)
            if steps <= horizon:
                self._found[target] = DeclaredPolicy(Policy(
                    target, horizon, model.states, (tuple(moves.tolist()),)), steps)
        return [*self._found.values()]


def _reached(problem: Problem, home: int) -> list[int]:
    """Return the states that declared moves lead to, home and near ones first."""
    states, met = [home], {home}
    for state in states:
        for action in range(problem.actions):
            for end in problem.support.ends(state, action) or ():
                if end not in met and len(met) < MOST_STATES:
                    met.add(end)
                    states.append(end)
    return states


def _as_declared(problem: Problem, states: Sequence[int]) -> EmpiricalModel:
    """Return the model in which each pair was executed once, and led to all of its ends."""
    support = problem.support
    model = EmpiricalModel.of_counts(Counts(), states, problem.actions, support)
    tally = model.filled / np.maximum(1, model.filled.sum(axis=1))[:, None]
    for row in range(len(tally)):
        chances = support.chances(*model.pair(row))
        if chances and model.closed[row]:    # they say nothing of ends that were added
            by_place = {model.place_of[state]: chance for state, chance in chances.items()}
            tally[row] = [by_place.get(place, 0.0) for place in model.places[row].tolist()]
            tally[row] *= model.filled[row]
    return replace(model, tally=tally)
