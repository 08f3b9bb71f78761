# SPDX-License-Identifier: Apache-2.0

"""The shortest drives to many states at once are those of policy iteration for each of them."""

from __future__ import annotations

from mnm_ros.core.disco.policy_tests import as_declared
from mnm_ros.core.disco.rule_out import FAILURE_WEIGHT
from mnm_ros.core.disco.walking import best_policies
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.empirical_model import EmpiricalModel
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.support import Support
import numpy as np
import pytest
from tiers import strength

STATES, ACTIONS, LIMIT = 12, 3, 40.0


def executed(rng: np.random.Generator, astray: int = 0) -> EmpiricalModel:
    """Return the counts of random drives, of which some have led elsewhere than declared."""
    ends = rng.integers(STATES, size=(STATES, ACTIONS))
    support = Support(Declaration({state: tuple(
        tuple(dict.fromkeys((int(end), state))) if end != state else () for end in ends[state])
        for state in range(STATES)}))
    counts = Counts()
    for state in range(STATES):
        for action in range(ACTIONS):
            for _ in range(int(rng.integers(0, 6)) if ends[state, action] != state else 0):
                counts.add(state, action, state if rng.random() < 0.3 else int(
                    ends[state, action]))
    for _ in range(astray):
        counts.add(0, int(rng.integers(ACTIONS)), int(rng.integers(1, STATES)))
    return as_declared(EmpiricalModel.of_counts(counts, range(STATES), ACTIONS, support))


@pytest.mark.parametrize('astray', [0, 9])
def test_they_take_as_many_steps_as_by_policy_iteration(astray: int) -> None:
    shorter = 0
    for seed in range(strength(12, 20)):
        model, targets = executed(np.random.default_rng(seed), astray), [*range(1, STATES)]
        for target, (moves, steps) in zip(targets, best_policies(model, targets, LIMIT)):
            _, least = model.smoothed_plan(target, LIMIT, FAILURE_WEIGHT)
            if least > LIMIT:
                assert steps > LIMIT
                continue
            shorter += 1
            assert steps == pytest.approx(least, abs=1e-3)
            on = [state for state in range(STATES) if moves[state] != RESET]
            value = model.smoothed_values(moves, target, LIMIT, FAILURE_WEIGHT)[0]
            assert on[0] == 0 and value == pytest.approx(least, abs=1e-3)
    assert shorter > 100


def test_of_ways_that_are_equally_short_the_first_action_is_taken() -> None:
    support = Support(Declaration({0: ((), (2, 0), (1, 0)), 1: ((3, 1), (), ()),
                                   2: ((), (3, 2), ()), 3: ((), (), ())}))
    model = as_declared(EmpiricalModel.of_counts(Counts(), range(4), 3, support))
    (moves, steps), = best_policies(model, [3], LIMIT)
    assert moves.tolist() == [1, RESET, 1, RESET] and steps == pytest.approx(2.0, abs=1e-3)
