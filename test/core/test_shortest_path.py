# SPDX-License-Identifier: Apache-2.0

"""Dense and sparse equations of stochastic shortest paths."""

from __future__ import annotations

from mnm_ros.core import Equations
from mnm_ros.core.model import empirical_model
import numpy as np
import pytest


@pytest.mark.parametrize('seed', range(20))
def test_dense_and_sparse_equations_agree_with_the_power_series(
        seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    origins, ends = rng.integers(0, n, 40), rng.integers(0, n, 40)    # some more than once
    masses = rng.random(40)
    masses *= 0.9 / np.bincount(origins, masses, n).max()
    costs = rng.uniform(1, 3, n)
    moves = np.zeros((n, n))
    np.add.at(moves, (origins, ends), masses)
    powers = np.eye(n)
    for _ in range(400):
        powers = np.eye(n) + moves @ powers
    for dense in (150, 0):
        monkeypatch.setattr(empirical_model, '_MOST_DENSE_STATES', dense)
        equations = Equations(n, origins, ends, masses)
        assert equations.values(costs) == pytest.approx(powers @ costs)
        assert equations.visits(n - 1) == pytest.approx(powers[n - 1])


@pytest.mark.parametrize('dense', [150, 0])
def test_a_path_that_never_ends_has_no_solution(
        dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empirical_model, '_MOST_DENSE_STATES', dense)
    both = np.array([0, 1])
    with pytest.raises(np.linalg.LinAlgError):
        Equations(2, both, both[::-1].copy(), np.ones(2)).values(np.ones(2))
