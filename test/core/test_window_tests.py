# SPDX-License-Identifier: Apache-2.0

"""The tests of the printed checking phase against values computed by hand."""

import math

from mnm_ros.core import new_base, Problem, settings
from mnm_ros.core.components import empirical_step_bound
from mnm_ros.core.paper.window_phase import HoeffdingTests
from mnm_ros.core.statistics.delta_spending import round_delta
import pytest

# 3 * 0.1 / (4 pi^2) = 0.3 / 39.478418 and a quarter of it.
DELTA_1 = 0.007599088773175335
DELTA_2 = 0.0018997721932938337


def test_delta_r_as_printed() -> None:
    assert round_delta(0.1, 1) == pytest.approx(DELTA_1, rel=1e-12)
    assert round_delta(0.1, 2) == pytest.approx(DELTA_2, rel=1e-12)
    assert sum(round_delta(0.1, r) for r in range(1, 10_000)) < 0.1 / 8


@pytest.mark.parametrize(('problem', 'known', 'window', 'alpha', 'steps'), [
    # |K| A L / (eps delta_1) = 9 * 5 * 4 / 0.0075991 = 23687.05; its logarithm 10.0726838, cubed
    # 1021.964; alpha = sqrt(4.879727 / 2043.928). log(225 * 23687.05) = 15.4887842, cubed
    # 3715.84; W = 48661 * 9 * 5 * 64 * 3715.84.
    (Problem(4, 4.0, 1.0, DELTA_1), 9, 1022, 0.0488612937, 520_745_473_161),
    # 4 * 3 * 3 / (0.5 * 0.00189977) = 37899.28; logarithm 10.5426874, cubed 1171.8013.
    # W = 48661 * 4 * 3 * 27 / 0.125 * log(225 * 37899.28)^3.
    (Problem(2, 3.0, 0.5, DELTA_2), 4, 1172, 0.0517075476, 512_643_822_722),
])
def test_n_r_alpha_r_and_w_r_as_printed(problem: Problem, known: int, window: int, alpha: float,
                                        steps: int) -> None:
    tests = HoeffdingTests(problem, known)
    assert tests.window == window
    assert tests.alpha == pytest.approx(alpha, rel=1e-8)
    base = new_base(settings(problem, 'paper'), home=0)
    assert base.step_bound(known) == pytest.approx(steps, rel=1e-12)


def test_c1_and_c2_can_be_overridden() -> None:
    problem = Problem(4, 4.0, 1.0, DELTA_1)
    base = new_base(settings(problem, 'paper', {'c1': 2.0, 'c2': 1.0}), home=0)
    assert base.step_bound(9) == math.ceil(2 * 9 * 5 * 64 * math.log(180 / DELTA_1) ** 3)


@pytest.mark.parametrize(('epsilon', 'known', 'steps'), [
    (1.0, 9, 3 * 9 * 5 * 16 * math.log(3 * 9 * 10 / 0.1)),
    (2.0, 1, 3 * 1 * 5 * 16 * math.log(3 * 1 * 2 / 0.1)),
    (0.5, 4, 3 * 4 * 5 * 16 * math.log(3 * 4 * 5 / 0.1) / 0.5)])
def test_the_allowance_of_a_rediscovery_is_as_documented(
        epsilon: float, known: int, steps: float) -> None:
    """``c1 |K| A L^2 log(3 |K| (|K| + 1) / d) / min(epsilon, 1)``, of all actions with RESET."""
    allowed = empirical_step_bound(settings(Problem(4, 4.0, epsilon, 0.1), 'onboard'), known)
    assert allowed == math.ceil(steps)


def test_the_printed_refutation_falls_exactly_when_its_inequality_holds() -> None:
    tests = HoeffdingTests(Problem(4, 4.0, 1.0, DELTA_1), 9)
    # (0.0488612937 + 0.0075990888) * 1022 = 57.7: 57 failures are not enough, 58 are.
    assert not tests.refutes(57, 1022)
    assert tests.refutes(58, 1022)


def test_the_sound_addition_test_allows_as_many_misses_as_the_others_allow_failures() -> None:
    tests = HoeffdingTests(Problem(4, 4.0, 1.0, DELTA_1), 9)
    assert tests.adds(1022 - 57, 1022)
    assert not tests.adds(1022 - 58, 1022)


def test_the_printed_addition_test_never_adds_with_its_own_window() -> None:
    tests = HoeffdingTests(Problem(4, 4.0, 1.0, DELTA_1), 9, printed_addition=True)
    assert not any(tests.adds(seen, 1022) for seen in range(1023))


def test_the_printed_addition_test_can_hold_where_alpha_is_below_delta() -> None:
    # delta = 0.99, |K| A L = 4000: alpha = sqrt(0.01005 / (2 * 8.304^3)) = 0.00296.
    tests = HoeffdingTests(Problem(9, 4.0, 1.0, 0.99), 100, printed_addition=True)
    assert tests.alpha < 0.003
    assert tests.adds(2, 100)       # 0.99 - 0.98 = 0.01 > alpha
    assert not tests.adds(1, 100)   # 0.99 - 0.99 = 0


def test_a_window_of_ones_own() -> None:
    tests = HoeffdingTests(Problem(4, 4.0, 1.0, DELTA_1), 9, window=20)
    assert tests.window == 20
    assert not tests.refutes(1, 20)  # 0.05 < 0.0565
    assert tests.refutes(2, 20)


def test_a_huge_epsilon_is_no_reason_to_fail() -> None:
    tests = HoeffdingTests(Problem(1, 1.0, 300.0, DELTA_1), 1)
    assert tests.window == 1 and tests.alpha > 1
