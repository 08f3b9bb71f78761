# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Optimistic planning with the unseen state, against value iteration state by state."""

from __future__ import annotations

import math

from mnm_ros.core.kl_ball import least_mean
from mnm_ros.core.optimistic_planner import OptimisticPlanner
import numpy as np
import pytest
from random_models import RandomModel, TARGET

DELTA = 0.05
COMPARED = 300    # steps; value iteration takes too long to find greater values
TARGETS = pytest.mark.parametrize('target', [None, TARGET])


def least(nexts: dict[float, float], radius: float) -> float:
    """The least mean for values and their weights."""
    values, weights = np.array(list(nexts)), np.array(list(nexts.values()))
    return float(least_mean((weights / weights.sum())[None], values[None], np.array([radius]),
                            np.array([np.nan]))[1][0])


def value_iteration(made: RandomModel, target: int | None) -> float:
    """The least fixed point of docs/disco.md, as far as the values stay below ``COMPARED``."""
    pairs = [(s, a) for s in range(made.known) for a in range(made.actions)]
    rank = made.known + 1
    basis = math.log(2 * rank * (rank - 1) / DELTA)
    saw = {pair for pair in pairs if target in made.counts.next_states(*pair)}
    by = len({state for state, _ in saw})
    budget = basis + (by + 1) * math.log(2) * (by > 0)
    values = np.ones(made.known)
    for _ in range(20_000):
        floor = values.min()

        def through(state: int, action: int, values: np.ndarray = values,
                    floor: float = floor) -> float:
            nexts = made.counts.next_states(state, action)
            visits = sum(nexts.values())
            if not visits:
                return 1.0    # it may lead to the target at once
            whole = basis + math.log(rank - 1) + math.log(2) + math.log1p(visits) / 2
            hit = (state, action) in saw
            base = 0.0 if hit else floor
            weights: dict[float, float] = {}
            for end, count in nexts.items():
                if end == target:
                    ahead = 0.0
                elif end < made.known:
                    ahead = values[end]
                else:
                    ahead = 1 + values[0]
                weights[ahead - base] = weights.get(ahead - base, 0) + count
            mean = base + least(weights, (whole if hit else max(0.0, whole - budget)) / visits)
            return float(1 + mean * (1 if hit else math.exp(-budget / visits)))

        best = np.array([min(through(s, a) for a in range(made.actions))
                         for s in range(made.known)])
        following = np.append(best[:1], np.minimum(best[1:], 1 + best[0]))
        done = np.abs(following - values).max() < 1e-9 * values.max()
        values = following
        if done or values[0] > COMPARED:
            break
    return float(values[0])


@TARGETS
@pytest.mark.parametrize('seed', range(25))
def test_it_agrees_with_value_iteration(seed: int, target: int | None) -> None:
    made = RandomModel(seed, most=2.0, target=target is not None)
    found, reference = OptimisticPlanner(DELTA).plan(made.model, target), value_iteration(
        made, target)
    assert len(found.moves) == len(found.gains) == made.known
    if reference < COMPARED:
        assert found.steps == pytest.approx(reference, rel=1e-4)
    else:
        assert found.steps > COMPARED / 2


@TARGETS
@pytest.mark.parametrize('seed', range(25))
def test_to_rule_out_more_surely_is_to_expect_more(seed: int, target: int | None) -> None:
    made = RandomModel(seed, target=target is not None)
    steps = [OptimisticPlanner(delta).plan(made.model, target).steps
             for delta in (1e-6, 1e-3, 0.01, 0.1, 0.5)]
    assert all(one <= next_ * (1 + 1e-6) for one, next_ in zip(steps, steps[1:]))
    assert steps[0] >= 1


@TARGETS
@pytest.mark.parametrize('seed', range(25))
def test_it_does_not_matter_where_it_begins(seed: int, target: int | None) -> None:
    made, planner = RandomModel(seed, target=target is not None), OptimisticPlanner(DELTA)
    for _ in range(6):
        warm, cold = (each.plan(made.model, target)
                      for each in (planner, OptimisticPlanner(DELTA)))
        assert warm.steps == pytest.approx(cold.steps, rel=1e-5)
        made.sample(2.0, target is not None)
    planner.forget(TARGET)
    fresh = OptimisticPlanner(DELTA).plan(made.model, TARGET)
    assert planner.plan(made.model, TARGET).steps == fresh.steps
