# SPDX-License-Identifier: Apache-2.0

"""Every known state of every shipped scenario is reached, and as fast as was promised."""

from __future__ import annotations

from binomial import binomial_tail
import journeys
from mnm_ros.simulation.scenario import shipped
import navigation
import pytest
from tiers import strength, thorough

# Of two explorations both would have to break the promise, of three two.
RADIUS, EPSILON, SEEDS, ATTEMPTS = 4.0, 1.0, strength(2, 3), 200
SMALL = ('trap',)
# As in test_promise: explorations break the promise far less often than one in ten.
RATE, SIGNIFICANCE = 0.01, 1e-3
# So many standard errors lie between no two of some 200 means and their expectations: the normal
# quantile for 1e-6 and some room, as sums of 200 lopsided lengths are not quite normal.
ERRORS = 5.5


@pytest.mark.parametrize('name', [name if name in SMALL else pytest.param(name, marks=thorough(
    'benchmarks/test_navigation_benchmark.py::test_success_and_steps_of_every_known_state'))
    for name in shipped()])
def test_success_and_steps_of_every_known_state(name: str) -> None:
    broken = []
    for seed in range(SEEDS):
        measured = list(navigation.goals(name, seed, ATTEMPTS, RADIUS, EPSILON))
        assert measured
        for goal in measured:
            assert len(goal.steps) == ATTEMPTS, goal
            error = navigation.stdev(goal.steps) / ATTEMPTS ** 0.5
            assert abs(goal.mean - goal.exact) <= ERRORS * error + 1e-9, (
                f'{name}, seed {seed}, goal {goal.target}: mean {goal.mean:.3f} of steps, '
                f'expected {goal.exact:.3f} +- {error:.3f}')
        if navigation.over_limit(measured, (1 + EPSILON) * RADIUS):
            broken.append(seed)
    assert binomial_tail(SEEDS, RATE, len(broken)) > SIGNIFICANCE, f'{name}: seeds {broken}'


def test_a_policy_that_takes_too_long_is_seen() -> None:
    measured = list(navigation.goals('corridor', 0, ATTEMPTS, RADIUS, EPSILON))
    assert not navigation.over_limit(measured, RADIUS)
    slow = [goal.target for goal in navigation.over_limit(measured, 2.0)]
    assert slow == [goal.target for goal in measured if goal.exact > 2.0] != []


def test_the_table(capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip('scipy', reason='scipy is not installed')
    given = ['--scenarios', 'corridor', '--seeds', '1', '--attempts', '50']
    assert navigation.main(given) == 0
    table = capsys.readouterr().out
    assert navigation.main(given) == 0
    assert capsys.readouterr().out == table
    _, row = table.splitlines()
    assert row.split()[0] == 'corridor' and row.split()[3] == '1.0000'


def test_directly_is_quicker_and_no_quicker_than_by_the_truth() -> None:
    known, steps, moves = journeys.measure('two_rooms', 0, 1000)
    assert known == 13
    for measured in (steps, moves):
        assert measured.least - 0.05 < measured.ratio < 0.85, measured
