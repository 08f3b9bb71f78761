# SPDX-License-Identifier: Apache-2.0

"""What each base algorithm of the package does in its own way."""

from __future__ import annotations

from pathlib import Path

from base_runs import finish
from mnm_ros.core import BaseAlgorithm, new_base, Problem, RESET, settings
from mnm_ros.core.components import BASES
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES, TableCmp
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by
import pytest
from small_worlds import scenario_of
from tiers import strength, thorough

GRID = strength(scenario_of(grid_cmp(['S..', '...'], 0.1, tuple(GRID_MOVES))), load('grid_3x3'))
LAST = strength(5, 8)    # state of the grid
RADIUS = strength(2.0, 4.0)
pytestmark = pytest.mark.parametrize('name', BASES)


def base_of(name: str, problem: Problem, seed: int) -> BaseAlgorithm:
    return new_base(settings(problem, overrides={'base': name}), 0, seed)


def trace(name: str, seed: int, moves: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    """Return actions and states of a run; the robot is carried off before some steps."""
    base = base_of(name, Problem(4, RADIUS, 1.0, 0.1), seed)
    simulator = Simulator(GRID, seed)
    steps = []
    for number in range(30_000):
        if base.finished:
            assert judge(simulator.cmp, found_by(base), RADIUS, 1.0).ok
            return steps
        if number in moves:
            base.interrupt()
            simulator.state = LAST
        action = base.next_action()
        assert base.next_action() == action
        assert number not in moves or action == RESET
        steps.append((action, simulator.step(action)))
        base.observe(*steps[-1])
    raise AssertionError('not finished within 30,000 steps')


@thorough('core/test_support.py::test_the_same_inputs_lead_to_the_same_place')
def test_the_same_seed_gives_the_same_run_bit_for_bit(name: str) -> None:
    first = trace(name, 4)
    assert first == trace(name, 4)
    assert first != trace(name, 5)


def test_a_robot_moved_at_any_time_spoils_nothing(name: str) -> None:
    trace(name, 1, tuple(range(0, 4000, 37)))


def test_a_state_that_is_out_of_reach_is_ruled_out(name: str) -> None:
    """State 2 follows from 1 with 0.05 only, but is always in sight."""
    cmp = TableCmp(0, 1, {(0, 0): ((1, 1.0),), (1, 0): ((2, 0.05), (1, 0.95))})
    scenario = Scenario('hopeless', ('on',), 0, (Setting(cmp, None),), Path())
    for seed in range(strength(2, 5)):
        base = base_of(name, Problem(1, 3.0, 1.0, 0.1), seed)
        finish(base, Simulator(scenario, seed), 5_000 if name == 'disco' else 20_000)
        assert [policy.target for policy in base.policies] == [0, 1], seed
