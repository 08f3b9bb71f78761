# SPDX-License-Identifier: Apache-2.0

"""How long a rediscovery may take, and when those cut off refute the round."""

from __future__ import annotations

from mnm_ros.core.watch.rediscovery import StepLimit
import pytest


@pytest.mark.parametrize('number', [1, 2, 3, 10, 1000])
@pytest.mark.parametrize('delta', [0.4, 0.01, 1e-6])
def test_the_round_is_refuted_when_chance_explains_it_no_more(delta: float, number: int) -> None:
    """After the least ``k`` in a row with ``d^k <= d / (j (j + 1))``."""
    limit, in_a_row = StepLimit(delta, steps_taken=10, given=0), 1
    while not limit.cut_off(number):
        in_a_row += 1
    least = next(k for k in range(1, 99)
                 if delta ** k <= delta / (number * (number + 1)) * (1 + 1e-9))
    assert in_a_row == limit.in_a_row == limit.cut_offs == least


def test_it_is_the_larger_of_the_bound_and_of_what_the_hypothesis_took_or_what_is_given() -> None:
    limit = StepLimit(0.01, steps_taken=100, given=0)
    limit.set(5000)
    assert limit.steps == 5000
    limit.set(10)
    assert 100 < limit.steps < 1000    # with a margin over the first time
    limit = StepLimit(0.01, steps_taken=100, given=7)
    assert limit.steps == 7
    limit.cut_off(1)
    limit.set(5000)
    assert limit.steps == 7    # what is given stays


def test_a_run_that_took_half_of_it_takes_a_doubling_back_and_goes_no_lower() -> None:
    limit = StepLimit(0.01, 1, 0)
    limit.cut_off(1)
    limit.cut_off(2)
    for took, expected in ((401, 400), (201, 400), (200, 200), (100, 100), (1, 100)):
        limit.finished(took)
        limit.set(100)
        assert limit.steps == expected
    assert limit.cut_offs == 2 and limit.in_a_row == 0
