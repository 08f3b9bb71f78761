# SPDX-License-Identifier: Apache-2.0

"""What is played is chosen by seconds once these are told; the promise is of steps as before."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

from mnm_ros.core import (
    Counts,
    Exploration,
    Policy,
    Problem,
    RESET,
    settings,
    StepCosts,
    StepTimes,
    Support,
    TimesInput,
    TransitionRows,
)
from mnm_ros.core.components import BASES
from mnm_ros.core.disco.sample import Sampling
from mnm_ros.simulation.cmp import support
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from saved import again
from tiers import strength

HOME, EAST, WEST = 0, 0, 1
TOLD = StepTimes({RESET: 16.0, **dict.fromkeys(range(4), 3.5)}, {(6, RESET): 2.0})


def test_a_pair_takes_what_its_action_does_elsewhere_until_more_is_known() -> None:
    costs = StepCosts()
    assert not costs and costs.of(3, RESET) == costs.of(3, EAST) == 1.0
    costs.learn(StepTimes({EAST: 4.0}))
    assert not costs and costs.of(3, EAST) == 1.0    # nothing is known of RESET
    costs.learn(StepTimes({}, {(3, RESET): 20.0, (4, RESET): 12.0}))
    assert costs and costs.of(3, RESET) == 5.0 and costs.of(7, RESET) == 4.0
    assert costs.of(3, EAST) == costs.of(3, WEST) == 1.0    # as the other moves
    costs.learn(StepTimes({WEST: 12.0}, {(3, RESET): 16.0}))
    assert costs.of(3, RESET) == 2.0 and costs.of(4, RESET) == 1.5 and costs.of(9, EAST) == 0.5
    assert costs.table((3, 9), 2) == [[0.5, 1.5, 2.0], [0.5, 1.5, 1.75]]
    assert again(costs).times == costs.times


@pytest.mark.parametrize('seconds', [0.0, -1.0, float('inf'), float('nan'), 1e6, '4', True])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match='expected seconds above 0'):
        StepTimes({EAST: seconds})
    with pytest.raises(ValueError, match='state 3, action 0'):
        StepTimes({}, {(3, EAST): seconds})


def test_a_way_home_on_foot_is_taken_where_a_reset_takes_longer() -> None:
    costs, counts = StepCosts(), Counts()
    rows = TransitionRows(counts, 2)
    sampling = Sampling(counts, rows, 50, costs)
    for state in range(5):
        sampling.enter(state)
        for action, end in ((EAST, min(4, state + 1)), (WEST, max(0, state - 1))):
            for _ in range(2):
                counts.add(state, action, end)
                rows.add(state, action, end)
        sampling.reopen(state)
    assert not sampling.open
    sampling.want((HOME, WEST), 9)
    assert sampling.action(3) == RESET
    costs.learn(StepTimes({EAST: 4.0, WEST: 4.0, RESET: 20.0}))
    sampling.want((HOME, WEST), 10)
    sampling.declare_anew()
    assert sampling.action(3) == WEST and sampling.way_home(3) == (WEST, 3.0, 3)
    costs.learn(StepTimes({}, {(3, WEST): 60.0, (3, EAST): 60.0}))
    assert sampling.way_home(3)[1] > costs.of(3, RESET)


class Timed:
    """An exploration of two_rooms with its map, where RESET takes 16 s and a move 3.5 s."""

    def __init__(self, seed: int, told: StepTimes | None) -> None:
        self.simulator = Simulator(load('two_rooms'), seed)
        problem = Problem(4, 4.0, 1.0, 0.1, Support(support(self.simulator.cmp)))
        self.exploration = Exploration(settings(problem), seed)
        if told is not None:
            self.exploration.learn_times(told)
        self.seconds = 0.0    # in times of a move
        self._costs = StepCosts(TOLD)

    def step(self) -> tuple[int, int]:
        """Make a step, and return the action and where it has led."""
        here, action = self.exploration.last_state, self.exploration.next_action()
        state = self.simulator.step(action)
        self.seconds += self._costs.of(-1 if here is None else here, action)
        self.exploration.observe(action, state)
        return action, state

    def explore(self) -> Timed:
        """Explore until the first hypothesis."""
        while self.exploration.hypothesis is None:
            self.step()
        return self


def test_the_first_hypothesis_takes_fewer_seconds_and_keeps_the_promise() -> None:
    seeds, part = strength((range(5), 1.1), (range(24), 0.95))    # of 5, the mean varies by 0.1
    by_steps = [Timed(seed, None).explore() for seed in seeds]
    by_seconds = [Timed(seed, TOLD).explore() for seed in seeds]
    for run in by_seconds:
        assert run.exploration.hypothesis is not None
        assert judge(run.simulator.cmp, run.exploration.hypothesis, 4.0, 1.0).ok
    assert mean(run.seconds for run in by_seconds) < part * mean(run.seconds for run in by_steps)


def test_a_change_is_noticed_by_a_robot_that_walks_home() -> None:
    scenario = load(strength('shortcut', 'moving_wall'))
    actions = range(len(scenario.actions))
    simulator = Simulator(scenario, 1)
    exploration = Exploration(settings(Problem(len(actions), 4.0, 1.0, 0.1)), 1)
    exploration.learn_times(replace(
        TOLD, actions={action: TOLD.actions[action] for action in (RESET, *actions)}))

    def step() -> None:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    while exploration.hypothesis is None:
        step()
    first = exploration.hypothesis
    assert judge(simulator.cmp, first, 4.0, 1.0).ok
    simulator.change()
    for _ in range(20_000):
        step()
        if exploration.changes_relearnt:
            break
    assert exploration.changes_relearnt and exploration.hypothesis is not first
    assert judge(simulator.cmp, exploration.hypothesis, 4.0, 1.0).ok


def test_times_that_say_too_little_change_nothing() -> None:
    plain, told = Timed(1, None), Timed(1, StepTimes({EAST: 3.0}))
    for _ in range(strength(120, 600)):
        assert plain.step() == told.step()


def test_what_was_told_is_an_input_and_outlives_a_restart() -> None:
    run, heard = Timed(2, None), []
    for step in range(strength(200, 500)):
        if step == 100:
            update = run.exploration.learn_times(TOLD)
            assert update is not None and isinstance(update.input, TimesInput)
            assert update.input.asked == run.exploration.next_action() or (
                update.input.asked is None)
            heard.append(update)
        run.step()
    assert len(heard) == 1 and run.exploration.learn_times(TOLD) is None    # no news
    while not run.exploration.can_snapshot:
        run.step()
    again = Exploration(
        settings(run.exploration.problem), 2, resume=run.exploration.to_state())
    assert again.problem.costs.times == TOLD
    with pytest.raises(ValueError, match='action'):
        again.learn_times(StepTimes({4: 1.0}))


@pytest.mark.parametrize('slow', [False, True])
def test_of_two_policies_that_are_certified_the_quicker_one_is_taken(slow: bool) -> None:
    """To 1 leads action 0, or action 1 and then action 0 by way of 2."""
    resolved = settings(Problem(2, 4.0, 1.0, 0.1))
    states = (HOME, 1, 2)

    def policy(target: int, at_home: int, at_two: int) -> Policy:
        return Policy(target, resolved.steps_horizon, states, ((at_home, RESET, at_two),))
    costs = StepCosts(StepTimes({RESET: 9.0, 0: 3.0, 1: 3.0}, {(HOME, 0): 30.0} if slow else {}))
    straight = policy(1, 0, 0)
    base = BASES['disco'](
        replace(resolved, problem=replace(resolved.problem, costs=costs)), HOME,
        np.random.default_rng(0),
        (policy(HOME, RESET, RESET), straight, policy(2, 1, RESET)))
    rng = np.random.default_rng(1)
    for state, action, end in ((HOME, 0, 1), (HOME, 1, 2), (2, 0, 1)) * 100:
        base.add_transition(state, action, end if rng.random() < 0.8 else state)
    base.better(straight)
    assert {each.target: each for each in base.policies}[1].action(0, HOME) == slow
