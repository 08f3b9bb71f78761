# SPDX-License-Identifier: Apache-2.0

"""
The shortest policies to many states at once, where each pair stays or leads to one state.

``WalkingCertificates`` begins a test for each place of a graph. By policy iteration each of them
takes some milliseconds, all of them together hold a step up. Drives need no more than Dijkstra's
algorithm, once for all places: a pair costs the executions that it takes on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mnm_ros.core.disco.rule_out import FAILURE_WEIGHT
from mnm_ros.core.disco.sample import least_costs
from mnm_ros.core.model.counts import Bools, Floats, Indices
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.problem import RESET
import numpy as np

_TIE = 1e-9    # steps


class _Drives(NamedTuple):
    """
    The pairs of a model, as [state, action].

    :ivar ends: that they lead to, if they do not stay.
    :ivar costs: steps until they do so; infinite where they lead nowhere.
    """

    ends: Indices
    costs: Floats


def best_policies(model: EmpiricalModel, targets: Sequence[int],
                  limit: float) -> list[tuple[Indices, float]]:
    """
    Return the best policy for each target, by ``smoothed_plan`` with ``FAILURE_WEIGHT``.

    Where all pairs are drives, the policies play RESET beside their way from home.

    :param targets: among the states of the model, and not home.
    :returns: the action by state of the model, and the value at home.
    """
    drives = _drives(model, limit)
    if drives is None:
        return [model.smoothed_plan(target, limit, FAILURE_WEIGHT) for target in targets]
    places = {state: place for place, state in enumerate(model.states)}
    ends = np.array([places[target] for target in targets], dtype=np.intp)
    moves = np.full((len(targets), len(places)), RESET)
    steps, here = np.zeros(len(targets)), np.zeros(len(targets), dtype=np.intp)
    left = _steps_to(drives, ends)
    steps[np.isinf(left[:, 0])] = np.inf
    while (going := np.flatnonzero((here != ends) & np.isfinite(steps))).size:
        at = here[going]
        ahead = drives.costs[at] + left[going[:, None], drives.ends[at]]
        # Of ways that are equally short the first action is taken, as by ``smoothed_plan``.
        action = (ahead <= ahead.min(axis=1, keepdims=True) + _TIE).argmax(axis=1)
        moves[going, at] = action
        steps[going] += drives.costs[at, action]
        here[going] = drives.ends[at, action]
    return [*zip(moves, steps.tolist())]


def _drives(model: EmpiricalModel, limit: float) -> _Drives | None:
    """Return the pairs of a model if each of them is a drive."""
    own = np.repeat(np.arange(len(model.states)), model.actions)[:, None]
    leads: Bools = (model.tally > 0) & (model.columns != own)
    if (leads.sum(axis=1) > 1).any():
        return None
    rows, slots = np.arange(len(own)), leads.argmax(axis=1)
    ends, often = model.columns[rows, slots], np.where(leads, model.tally, 0.0).sum(axis=1)
    costs = np.full(len(own), np.inf)
    np.divide(model.visits + FAILURE_WEIGHT * (2 + limit), often + FAILURE_WEIGHT, out=costs,
              where=leads.any(axis=1) & (ends >= 0) & ~model.forbidden)
    shape = len(model.states), model.actions
    return _Drives(np.maximum(0, ends).reshape(shape), costs.reshape(shape))


def _steps_to(drives: _Drives, targets: Indices) -> Floats:
    """Return the steps to each target, as [target, state]."""
    origins, actions = np.nonzero(np.isfinite(drives.costs))
    ends, costs = drives.ends[origins, actions], drives.costs[origins, actions]
    order = np.lexsort((costs, ends, origins))
    origins, ends, costs = origins[order], ends[order], costs[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (origins[1:] != origins[:-1]) | (ends[1:] != ends[:-1])
    found: Floats = least_costs(
        len(drives.ends), costs[first], ends[first], origins[first], indices=targets)
    return found
