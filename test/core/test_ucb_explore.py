# SPDX-License-Identifier: Apache-2.0

"""UcbExplore with both presets on CMPs whose answer is known."""

from __future__ import annotations

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.model.policy import Hypothesis, over_own_targets
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.paper.ucb_explore import UcbExplore, UcbPhase
from mnm_ros.core.presets import new_base, settings
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from transitions import MachineError

CORRIDOR, GRID = load('corridor'), load('grid_3x3')

UCB = {'base': 'ucb_explore'}


def finish(base: BaseAlgorithm, simulator: Simulator, limit: int) -> int:
    """Run to the end and return the steps."""
    for step in range(limit):
        if base.finished:
            return step
        action = base.next_action()
        base.observe(action, simulator.step(action))
    raise AssertionError(f'not finished within {limit} steps')


def hypothesis(base: BaseAlgorithm) -> Hypothesis:
    return Hypothesis(1, 0, base.quantum, over_own_targets(base.policies))


def test_paper_on_the_corridor_takes_about_440_000_steps_and_knows_all_states() -> None:
    problem = Problem(2, 3.0, 1.0, 0.1)
    base = new_base(settings(problem, 'paper'), home=0)
    simulator = Simulator(CORRIDOR, seed=0)
    assert 400_000 < finish(base, simulator, 600_000) < 480_000
    assert sorted(policy.target for policy in base.policies) == [0, 1, 2, 3]
    assert judge(simulator.cmp, hypothesis(base), problem.radius, problem.epsilon).ok


@pytest.mark.parametrize(('scenario', 'radius', 'most'), [
    (CORRIDOR, 3.0, 2_500), (GRID, 4.0, 15_000)])
def test_onboard_knows_all_states_within_few_steps(
        scenario: Scenario, radius: float, most: int) -> None:
    problem = Problem(len(scenario.actions), radius, 1.0, 0.1)
    for seed in range(10):
        base = new_base(settings(problem, overrides=UCB), home=0, seed=seed)
        simulator = Simulator(scenario, seed)
        finish(base, simulator, most)
        verdict = judge(simulator.cmp, hypothesis(base), radius, 1.0)
        assert verdict.ok, (seed, verdict)
        assert len(base.policies) == (4 if scenario is CORRIDOR else 9), seed


@pytest.mark.parametrize('radius', [1.0, 1.7, 6.0])
def test_other_radii(radius: float) -> None:
    problem = Problem(4, radius, 0.5, 0.1)
    base = new_base(settings(problem, overrides=UCB), home=0)
    simulator = Simulator(GRID, seed=3)
    finish(base, simulator, 100_000)
    assert judge(simulator.cmp, hypothesis(base), radius, 0.5).ok


def trace(seed: int, moves: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    """Return actions and states of a run; the robot is carried home before some steps."""
    base = new_base(settings(Problem(4, 4.0, 1.0, 0.1), overrides=UCB), home=0, seed=seed)
    simulator = Simulator(GRID, seed)
    steps = []
    for number in range(20_000):
        if base.finished:
            return steps
        if number in moves:
            base.interrupt()
            simulator.state = 8
        action = base.next_action()
        assert base.next_action() == action
        assert number not in moves or action == RESET
        steps.append((action, simulator.step(action)))
        base.observe(*steps[-1])
    raise AssertionError('not finished within 20,000 steps')


def test_the_same_seed_gives_the_same_run_bit_for_bit() -> None:
    assert trace(4) == trace(4)
    assert trace(4) != trace(5)


def test_a_robot_moved_at_any_time_spoils_nothing() -> None:
    moves = tuple(range(0, 4000, 37))
    base = new_base(settings(Problem(4, 4.0, 1.0, 0.1), overrides=UCB), home=0)
    simulator = Simulator(GRID, 1)
    here = None
    observed: dict[tuple[int, int], dict[int, int]] = {}
    for number in range(30_000):
        if base.finished:
            break
        if number in moves:
            base.interrupt()
            here = None
            simulator.state = 8
        action = base.next_action()
        state = simulator.step(action)
        if here is not None and action != RESET:
            tally = observed.setdefault((here, action), {})
            tally[state] = tally.get(state, 0) + 1
        base.observe(action, state)
        here = state
    assert isinstance(base, UcbExplore) and base.finished
    assert base._parts.counts.as_dict() == observed
    assert judge(simulator.cmp, hypothesis(base), 4.0, 1.0).ok


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


def test_a_hopeless_candidate_is_evaluated_and_rejected_without_harm() -> None:
    """State 2 follows from 1 with 0.05 only: out of reach for L = 3, but always in sight."""
    problem = Problem(1, 3.0, 1.0, 0.1)
    for seed in range(5):
        base = new_base(settings(problem, overrides=UCB), home=0, seed=seed)
        rng = np.random.default_rng(seed)
        here = 0
        for _ in range(20_000):
            if base.finished:
                break
            action, draw = base.next_action(), rng.random()
            if action == RESET:
                here = 0
            elif here == 0:
                here = 1
            elif here == 1 and draw < 0.05:
                here = 2
            base.observe(action, here)
        assert base.finished
        assert [policy.target for policy in base.policies] == [0, 1], seed
