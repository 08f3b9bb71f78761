# SPDX-License-Identifier: Apache-2.0

"""The least mean in a Kullback-Leibler ball, against a search through the whole ball."""

from __future__ import annotations

from mnm_ros.core.statistics import kl_ball
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np
import pytest
from tiers import strength

COLD = np.array([np.nan])


def bound(p: list[float], v: list[float], radius: float, tilt: np.ndarray = COLD) -> float:
    return float(least_mean(np.array([p]), np.array([v]), np.array([radius]), tilt.copy())[1][0])


def searched(p: list[float], v: list[float], radius: float) -> float:
    """
    Try each mass on the first of two states, with as little on the second as the ball allows.

    What is left over goes where the value is 0.
    """
    first = np.exp(np.linspace(np.log(1e-9), 0, 400_001)[:-1])
    room = radius - p[0] * np.log(p[0] / first)
    second = p[1] * np.exp(np.minimum(700.0, -room / p[1]))
    inside = first + second <= 1
    return float((first * v[0] + second * v[1])[inside].min())


@pytest.mark.parametrize('seed', range(strength(4, 60)))
def test_it_is_the_minimum_and_never_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1.0, 1.0]).tolist()
    v = (10 ** rng.uniform(-2, 3, 2) * (rng.random(2) < 0.9)).tolist()
    radius = float(10 ** rng.uniform(-3, 0.7))
    found = bound(p, v, radius)
    least = min(searched(p, v, radius), searched(p[::-1], v[::-1], radius))
    # Each distribution that was tried is in the ball: none of them may be below the bound.
    assert found <= least * (1 + 1e-12)
    assert found == pytest.approx(least, rel=2e-4, abs=1e-9)


@pytest.mark.parametrize('seed', range(30))
def test_it_does_not_matter_where_it_begins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, v = rng.dirichlet(np.ones(4)).tolist(), rng.uniform(0, 9, 4).tolist()
    radius = float(10 ** rng.uniform(-3, 0.5))
    cold = bound(p, v, radius)
    for start in (-20.0, 0.0, 20.0):
        assert bound(p, v, radius, np.array([start])) == pytest.approx(cold, rel=1e-6, abs=1e-9)


def test_a_few_newton_steps_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a cold start; bisections alone would take some twenty."""
    cases = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        cases.append((rng.dirichlet(np.ones(4)).tolist(), rng.uniform(0.5, 9, 4).tolist(),
                      float(10 ** rng.uniform(-3, -0.5))))
    exact = [bound(*case) for case in cases]
    monkeypatch.setattr(kl_ball, '_MOST_NEWTON_STEPS', 8)
    assert [bound(*case) for case in cases] == pytest.approx(exact, abs=1e-9)


def test_rows_that_have_ended_wait_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    fractions, values = rng.dirichlet(np.ones(4), 400), rng.uniform(0.5, 9, (400, 4))
    radius, tilts = 10 ** rng.uniform(-4.0, -0.5, 400), np.full(400, np.nan)
    least_mean(fractions, values, radius, tilts)
    ended = tilts.copy()
    monkeypatch.setattr(kl_ball, '_MOST_NEWTON_STEPS', 3)
    least_mean(fractions, values, radius, tilts)
    assert np.isfinite(ended).sum() > 300
    assert tilts == pytest.approx(ended, abs=1e-6, nan_ok=True)


def test_where_a_call_ended_is_kept_for_rows_that_need_it() -> None:
    fractions, values = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[1.0, 2.0], [1.0, 0.0]])
    tilt = np.full(2, np.nan)
    least_mean(fractions, values, np.array([0.01, 0.5]), tilt)
    assert np.isfinite(tilt[0]) and np.isnan(tilt[1])    # in the second some mass is left over


def test_a_row_does_not_depend_on_how_many_there_are() -> None:
    rng = np.random.default_rng(1)
    fractions, values = rng.dirichlet(np.ones(4), 40), rng.uniform(0.0, 9.0, (40, 4))
    values[:10, 0] = 0.0
    radius, tilts = 10 ** rng.uniform(-4.0, 0.5, 40), np.full(40, np.nan)
    plausible, bounds = least_mean(fractions, values, radius, tilts)
    assert np.isfinite(tilts).sum() > kl_ball._FEW_ROWS    # those are solved together
    for row in range(40):
        alone, least = least_mean(fractions[[row]], values[[row]], radius[[row]], COLD.copy())
        assert alone[0] == pytest.approx(plausible[row], rel=1e-6)
        assert least[0] == pytest.approx(bounds[row], rel=1e-9)


def test_the_ends_of_the_range() -> None:
    assert bound([0.0, 0.0], [3.0, 4.0], np.nan) == 0    # without samples anything may follow
    assert bound([1.0, 0.0], [0.0, 7.0], 0.3) == 0
    assert bound([0.5, 0.5], [2.0, 4.0], 0.0) == 3       # a ball without room
    assert bound([1.0, 0.0], [2.0, 7.0], 0.3) == pytest.approx(2 * np.exp(-0.3))


@pytest.mark.parametrize('share, value, radius', [
    (0.0014536868973060826, 6.344242282207188, 0.27911652101538),
    (1.7299515557925138e-06, 138.90392884407493, 2.7703958882186887),
    (8.458774610172879e-07, 376.351000099925, 14.425961141165342)])
def test_rounding_makes_no_steps_negative(share: float, value: float, radius: float) -> None:
    """Where hardly anything is left of the bound, it is the difference of two equal numbers."""
    assert bound([share, 1 - share], [value, 0.0], radius) >= 0


def test_each_row_is_what_it_is_alone() -> None:
    """Without samples, sure, tight and with mass left over, in one call."""
    rows = [([0.0, 0.0], [3.0, 4.0], 0.2), ([1.0, 0.0], [0.0, 7.0], 0.3),
            ([0.5, 0.5], [2.0, 4.0], 0.0), ([0.5, 0.5], [2.0, 4.0], 0.05),
            ([1.0, 0.0], [2.0, 7.0], 0.3), ([0.2, 0.8], [0.0, 4.0], 0.1)]
    fractions, values, radius = (np.array(column) for column in zip(*rows))
    plausible, bounds = least_mean(fractions, values, radius, np.full(len(rows), np.nan))
    for row, (p, v, r) in enumerate(rows):
        alone, least = least_mean(
            np.array([p]), np.array([v]), np.array([r]), np.full(1, np.nan))
        assert plausible[row] == pytest.approx(alone[0])
        assert bounds[row] == pytest.approx(least[0])
        mass = plausible[row].sum()
        assert 0 <= mass <= 1 + 1e-9 and (mass > 0) == any(p)
        # It is the mean of what comes with it; what lacks is where the value is 0.
        assert bounds[row] == pytest.approx((plausible[row] * v).sum(), abs=1e-6)
