# SPDX-License-Identifier: Apache-2.0

"""What the fitted laws say, whatever their numbers."""

from __future__ import annotations

from dataclasses import replace
import math

from mnm_ros.core import Outlook, Problem
from mnm_ros.core.progress.prediction import (
    factors,
    factors_left,
    LEARNT,
    predict,
    PROBED,
    REMAINING,
    smaller_radius,
)
import pytest

PLAIN = {'states': 8, 'met': 12, 'actions': 4, 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1}
PROBLEM = Problem(actions=4, radius=4.0, epsilon=1.0, delta=0.1)


def steps(**changed: float) -> float:
    return predict(LEARNT, factors(**{**PLAIN, **changed})).steps    # type: ignore[arg-type]


def test_a_law_is_the_product_of_its_powers() -> None:
    """As its text has it."""
    for law in (LEARNT, PROBED):
        given = dict(law.exponents)
        product = math.exp(given.pop('constant')) * math.prod(
            {**PLAIN, 'delta': math.log(10)}[name] ** exponent for name, exponent in given.items())
        assert law.steps(factors(**PLAIN)) == pytest.approx(product)    # type: ignore[arg-type]


def test_the_range_is_about_the_steps() -> None:
    for law in (LEARNT, PROBED):
        found = predict(law, factors(**PLAIN))    # type: ignore[arg-type]
        assert (found.low, found.high) == (law.low * found.steps, law.high * found.steps)
        assert 0.1 * found.steps < found.low < found.steps < found.high < 10 * found.steps


@pytest.mark.parametrize('changed', [
    {'states': 9}, {'actions': 5}, {'radius': 5.0}, {'epsilon': 0.5}, {'delta': 0.01}])
def test_what_is_harder_takes_longer(changed: dict[str, float]) -> None:
    assert steps(**changed) > steps()
    for law in (LEARNT, PROBED):
        harder = factors(**{**PLAIN, **changed})    # type: ignore[arg-type]
        assert law.steps(harder) > law.steps(factors(**PLAIN))    # type: ignore[arg-type]


def test_above_one_epsilon_makes_nothing_easier() -> None:
    assert steps(epsilon=3.0) == steps(epsilon=1.0)


def left(done: int = 1000, **changed: float) -> float:
    outlook = replace(Outlook(states=8, known=3, lacking=50.0, ruled_out=0.5),
                      **changed)    # type: ignore[arg-type]
    return predict(REMAINING, factors_left(outlook, done, PROBLEM)).steps


def test_what_is_left_by_what_a_run_knows_of_itself() -> None:
    assert left(states=9) > left() < left(lacking=60.0)
    assert left(ruled_out=0.6) < left() < left(ruled_out=0.4)
    assert left(ruled_out=1.0) == left(ruled_out=7.0)    # 1 is enough
    # At the very beginning as well, when there is nothing yet.
    assert 0 < left(done=0, states=0) == left(done=1, states=1)
    prior = LEARNT.steps(factors(8, 1, 4, 4.0, 1.0, 0.1))
    assert factors_left(Outlook(8, 3, 50.0, 0.5), 1000, PROBLEM) == {
        'constant': 1.0, 'prior': math.log(prior), 'done': math.log(1000),
        'lacking': math.log(60), 'ruled_out': 0.5}


def test_a_smaller_radius_takes_fewer_steps_the_fewer_states_it_has() -> None:
    plane = smaller_radius(6.0, lambda radius: round(2 * radius ** 2))
    assert plane == pytest.approx((4.0, (32 / 72) ** 1.3))
    line = smaller_radius(6.0, lambda radius: 1 + int(radius))
    assert line == pytest.approx((3.0, (4 / 7) ** 1.3))
    assert smaller_radius(1.0, lambda radius: 4) is None
    assert smaller_radius(4.0, lambda radius: 0) is None
