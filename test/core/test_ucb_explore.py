# SPDX-License-Identifier: Apache-2.0

"""UcbExplore with both presets on CMPs whose answer is known."""

from __future__ import annotations

from base_runs import finish
from mnm_ros.core import new_base, Problem, settings
from mnm_ros.core.paper.ucb_explore import UcbExplore, UcbPhase
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by
import pytest
from tiers import strength, thorough
from transitions import MachineError

CORRIDOR, GRID = load('corridor'), load('grid_3x3')

UCB = {'base': 'ucb_explore'}


@pytest.mark.parametrize(('radius', 'steps', 'targets'), [
    (1.5, 105_000, [0, 1]),
    pytest.param(3.0, 440_000, [0, 1, 2, 3], marks=thorough(
        shown_by='core/test_ucb_explore.py::'
                 'test_paper_on_the_corridor_takes_so_many_steps_and_knows_the_states_within'))])
def test_paper_on_the_corridor_takes_so_many_steps_and_knows_the_states_within(
        radius: float, steps: int, targets: list[int]) -> None:
    problem = Problem(2, radius, 1.0, 0.1)
    base = new_base(settings(problem, 'paper'), home=0)
    simulator = Simulator(CORRIDOR, seed=0)
    assert 0.91 * steps < finish(base, simulator, 600_000) < 1.09 * steps
    assert sorted(policy.target for policy in base.policies) == targets
    assert judge(simulator.cmp, found_by(base), problem.radius, problem.epsilon).ok


@pytest.mark.parametrize(('scenario', 'radius', 'most'), [
    (CORRIDOR, 3.0, 2_500), (GRID, 4.0, 15_000)])
def test_onboard_knows_all_states_within_few_steps(
        scenario: Scenario, radius: float, most: int) -> None:
    problem = Problem(len(scenario.actions), radius, 1.0, 0.1)
    for seed in range(strength(1, 10)):
        base = new_base(settings(problem, overrides=UCB), home=0, seed=seed)
        simulator = Simulator(scenario, seed)
        finish(base, simulator, most)
        verdict = judge(simulator.cmp, found_by(base), radius, 1.0)
        assert verdict.ok, (seed, verdict)
        assert len(base.policies) == (4 if scenario is CORRIDOR else 9), seed


@pytest.mark.parametrize('radius', [1.0, 1.7, 6.0])
def test_other_radii(radius: float) -> None:
    problem = Problem(4, radius, 0.5, 0.1)
    base = new_base(settings(problem, overrides=UCB), home=0)
    simulator = Simulator(GRID, seed=3)
    finish(base, simulator, 100_000)
    assert judge(simulator.cmp, found_by(base), radius, 0.5).ok


def test_the_phases_follow_their_table() -> None:
    base = new_base(settings(Problem(2, 3.0, 1.0, 0.1), overrides=UCB), home=0)
    assert isinstance(base, UcbExplore)
    simulator = Simulator(CORRIDOR, 0)
    phases = [base.state]
    while not base.finished:
        action = base.next_action()
        base.observe(action, simulator.step(action))
        if base.state is not phases[-1]:
            phases.append(base.state)
    assert phases[0] is UcbPhase.DISCOVERY and phases[-1] is UcbPhase.FINISHED
    assert phases.count(UcbPhase.EVALUATION) >= 3
    assert UcbPhase.PLANNING not in phases
    with pytest.raises(MachineError):
        base.trigger('sampled')
    assert base.state is UcbPhase.FINISHED
