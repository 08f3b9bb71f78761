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

from mnm_ros.core.counts import Counts
from mnm_ros.core.kl_ball import least_mean
from mnm_ros.core.model import Model
from mnm_ros.core.optimistic_planner import OptimisticPlanner
from mnm_ros.core.problem import RESET
from mnm_ros.core.transition_rows import TransitionRows
import numpy as np
import pytest
from random_models import OUTSIDE, RandomModel, TARGET

DELTA = 0.05
COMPARED = 40    # steps; value iteration takes too long to find greater values
MASSES = 60    # on the target that the reference tries
TARGETS = pytest.mark.parametrize('target', [None, TARGET])


def least(nexts: dict[float, float], floor: float, radius: float, masses: np.ndarray) -> float:
    """Return the least mean for values and their weights, over some masses on the target."""
    values, weights = np.array(list(nexts)), np.array(list(nexts.values()))
    rows = len(masses)
    _, means = least_mean(
        np.tile(weights / weights.sum(), (rows, 1)), np.tile(values - floor, (rows, 1)),
        np.maximum(0.0, radius + np.log1p(-masses)), np.full(rows, np.nan))
    return float(((1 - masses) * (floor + means)).min())


def value_iteration(made: RandomModel, target: int | None) -> float:
    """Return the fixed point of the planner, while the values stay below ``COMPARED``."""
    pairs = [(s, a) for s in range(made.known) for a in range(made.actions)]
    rank = made.known + 1
    basis = math.log(4 * rank * (rank - 1) / DELTA)
    saw = {pair for pair in pairs if target in made.counts.next_states(*pair)}
    by = len({state for state, _ in saw})
    budget = basis + (by + 1) * math.log(2) * (by > 0)
    values = np.ones(made.known)

    def through(state: int, action: int, floor: float) -> float:
        nexts = made.counts.next_states(state, action)
        visits = sum(nexts.values())
        if not visits:
            return 1.0    # it may lead to the target at once
        whole = basis + math.log(rank - 1) + math.log(2) + math.log1p(visits) / 2
        weights: dict[float, float] = {}
        for end, count in nexts.items():
            ahead = 0.0 if end == target else (
                values[end] if end < made.known else 1 + values[0])
            weights[ahead] = weights.get(ahead, 0) + count
        if (state, action) in saw:
            return 1 + least(weights, 0.0, whole / visits, np.zeros(1))
        most = -math.expm1(-min(budget, whole) / visits)
        return 1 + least(weights, floor, whole / visits, np.linspace(0.0, most, MASSES))

    for _ in range(4000):
        floor = float(values.min())
        best = np.array([min(through(s, a, floor) for a in range(made.actions))
                         for s in range(made.known)])
        following = np.append(best[:1], np.minimum(best[1:], 1 + best[0]))
        done = np.abs(following - values).max() < 1e-7 * values.max()
        values = following
        if done or values[0] > COMPARED:
            break
    return float(values[0])


@TARGETS
@pytest.mark.parametrize('seed', range(12))
def test_it_agrees_with_value_iteration(seed: int, target: int | None) -> None:
    made = RandomModel(seed, most=2.0, target=target is not None)
    found, reference = OptimisticPlanner(DELTA).plan(made.model, target), value_iteration(
        made, target)
    assert len(found.moves) == len(found.gains) == made.known
    if reference < COMPARED:
        # The reference tries only some masses, so that it may be a little above the minimum.
        assert reference * (1 - 0.01) <= found.steps <= reference * (1 + 1e-4)
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


@pytest.mark.parametrize('seed', range(25))
def test_whoever_is_ruled_out_with_others_at_once_is_ruled_out_alone(seed: int) -> None:
    made = RandomModel(seed, most=2.0)
    planner = OptimisticPlanner(DELTA)
    alone = {target: planner.plan(made.model, target).steps for target in (TARGET, OUTSIDE)}
    together = planner.plan_for_any(made.model, (TARGET, OUTSIDE)).steps
    assert together <= min(alone.values()) * (1 + 1e-6)
    for target in (TARGET, 12345):    # one that nothing leads to as well
        assert planner.plan_for_any(made.model, (target,)).steps == pytest.approx(
            planner.plan(made.model, target).steps)


def test_a_plan_leads_home_from_where_nothing_leads_on_and_says_what_its_pairs_owe() -> None:
    """Home leads to 1, and 1 to the target; 2 leads nowhere, by any action."""
    counts = Counts()
    rows = TransitionRows(counts, 2)
    for state in range(3):
        rows.enter(state)
    for state, action, after in ((0, 0, 1), (0, 1, 2), (1, 0, TARGET), (1, 1, 2), (2, 0, 2),
                                 (2, 1, 2)):
        for _ in range(3000):
            counts.add(state, action, after)
            rows.add(state, action, after)
    outlook = OptimisticPlanner(DELTA).plan(Model.of(rows, range(3)), TARGET)
    assert outlook.moves.tolist() == [0, 0, RESET]
    assert 1.9 < outlook.steps <= 2
    # What the counts say is certain is 2 steps; optimism hopes to skip some of them.
    assert outlook.gains.sum() == pytest.approx(2 - outlook.steps, abs=1e-3)
    assert outlook.gains[2] == 0 and (outlook.gains >= 0).all()


def test_a_state_that_some_have_seen_costs_each_of_them_one_more_bit() -> None:
    """The budget of what nobody saw is that of the module's text, and grows with who saw it."""
    made, planner = RandomModel(3), OptimisticPlanner(DELTA)
    hits = made.model.hits(TARGET)
    rank = made.known + 1
    for seers in range(3):
        bounds = planner._bounds(made.model, hits, seers)
        executed = made.model.visits > 0
        nats = -np.log1p(-bounds.mass[executed]) * made.model.visits[executed]
        bits = 0 if seers == 0 else seers + 1
        assert nats == pytest.approx(
            math.log(4 * rank * (rank - 1) / DELTA) + bits * math.log(2), rel=1e-6)
        whole = bounds.radius[executed] * made.model.visits[executed]
        assert whole == pytest.approx(planner.budget(rank) + math.log(rank - 1) + math.log(2)
                                      + np.log(made.model.visits[executed] + 1) / 2)
        assert bounds.rest[executed] * made.model.visits[executed] == pytest.approx(
            np.maximum(0.0, whole - nats), abs=1e-6)
