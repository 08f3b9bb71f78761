# SPDX-License-Identifier: Apache-2.0

"""The model of the counts, and the policies planned with it."""

from __future__ import annotations

from itertools import product
import math

from mnm_ros.core import RESET
import numpy as np
import pytest
from random_models import OUTSIDE, RandomModel, TARGET
from tiers import strength


def value(made: RandomModel, moves: tuple[int, ...], limit: float) -> float:
    """Return the value by the definition: each pair fails with the weight of half a sample."""
    known = made.known
    matrix, costs = np.eye(known), np.ones(known)
    for state, action in enumerate(moves):
        if action == RESET:
            matrix[state, 0] -= 1
            continue
        nexts = made.counts.next_states(state, action)
        total = sum(nexts.values()) + 0.5
        costs[state] += (0.5 + nexts.get(OUTSIDE, 0)) / total * (1 + limit)
        for end, count in nexts.items():
            if end < known:
                matrix[state, end] -= count / total
    return float(np.linalg.solve(matrix, costs)[0])


@pytest.mark.parametrize('seed', range(strength(12, 60)))
def test_the_smoothed_plan_is_the_best_of_all_policies(seed: int) -> None:
    made, limit = RandomModel(seed), 8.0
    moves, found = made.model.smoothed_plan(TARGET, limit)
    # A RESET at home never ends.
    policies = product(*([*range(made.actions)] + [RESET] * (state > 0)
                         for state in range(made.known)))
    assert found == pytest.approx(min(value(made, policy, limit) for policy in policies))
    assert value(made, tuple(moves.tolist()), limit) == pytest.approx(found)
    assert made.model.smoothed_value(moves, TARGET, limit) == pytest.approx(found)
    # Wherever it begins: with a policy for some of the states, or for others than there are.
    guess = made.rng.integers(RESET, made.actions, size=int(made.rng.integers(1, 6)))
    assert made.model.smoothed_plan(TARGET, limit, guess=guess)[1] == pytest.approx(found)


def test_a_policy_that_never_ends_has_no_value() -> None:
    made = RandomModel(0)
    moves = np.full(made.known, RESET)
    assert made.model.smoothed_value(moves, TARGET, 8.0) == math.inf


@pytest.mark.parametrize('seed', range(10))
def test_the_arrays_are_the_counts(seed: int) -> None:
    made = RandomModel(seed)
    model = made.model
    for row in range(made.known * made.actions):
        state, action = divmod(row, made.actions)
        nexts = made.counts.next_states(state, action)
        assert model.visits[row] == sum(nexts.values())
        assert model.tally[row][model.hits(TARGET)[row]].sum() == nexts.get(TARGET, 0)
        outside = model.tally[row][model.columns[row] < 0].sum()
        assert outside == nexts.get(TARGET, 0) + nexts.get(OUTSIDE, 0)
        for column in range(made.known):
            there = (model.columns[row] == column) & (model.tally[row] > 0)
            assert model.tally[row][there].sum() == nexts.get(column, 0)
    assert not model.hits(12345).any()
