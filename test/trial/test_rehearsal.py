# SPDX-License-Identifier: Apache-2.0

"""The prediction by a simulation of the world as it is declared."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.simulation.cmp import support
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial.probe import Probe
from mnm_ros.trial.rehearsal import declared_cmp, HIGH, LOW, rehearse
import pytest
from tiers import strength

# A move, and one that is never to be commanded; back, and one that stays.
CORRIDOR = Declaration({0: ((1, 0), ()), 1: ((0,), (1,))})


def test_ends_are_as_likely_as_seen() -> None:
    cmp = declared_cmp(2, 0, CORRIDOR, {(0, 0): {1: 17, 0: 3}})
    stayed = (3 + 1) / (20 + 10)
    assert dict(cmp.transitions(0, 0)) == {
        1: pytest.approx((17 + 1 - stayed) / 21), 0: pytest.approx((3 + stayed) / 21)}
    assert cmp.transitions(0, 1) == cmp.transitions(1, 1)[:0] + ((0, 1.0),)
    assert cmp.transitions(1, 0) == ((0, 1.0),) and cmp.transitions(1, 1) == ((1, 1.0),)


def test_chances_weigh_what_is_not_seen() -> None:
    told = Declaration(CORRIDOR.successors, {0: ((0.25, 0.75), ())})
    assert dict(declared_cmp(2, 0, told, {}).transitions(0, 0)) == {1: 0.25, 0: 0.75}


def test_a_world_that_is_declared_in_part_is_not_rehearsed() -> None:
    problem = Problem(2, 2.0, 1.0, 0.1)
    assert rehearse(problem, 0, CORRIDOR, {}) is not None
    assert rehearse(problem, 0, Declaration({0: ((1, 0), ())}), {}) is None
    assert rehearse(problem, 2, CORRIDOR, {}) is None


def test_it_is_given_up_when_it_takes_too_long() -> None:
    assert rehearse(Problem(2, 2.0, 1.0, 0.1), 0, CORRIDOR, {}, patience=0.0) is None


def test_it_takes_about_as_many_steps() -> None:
    """
    The range for 9 of 10 runs is not missed too often.

    It misses all of 3 runs with a probability of at most 0.001, and 4 of 7 with at most 0.0028.
    """
    world, radius = strength(('corridor', 2.0), ('grid_3x3', 4.0))
    scenario, inside = load(world), 0
    actions = len(scenario.actions)
    for seed in range(strength(3, 7)):
        simulator = Simulator(scenario, seed)
        problem, declared = Problem(actions, radius, 1.0, 0.1), support(simulator.cmp)
        probe = Probe(actions, radius, 5, 100, seed)
        while not probe.over:
            probe.observe(simulator.step(probe.next_action()))
        told = rehearse(problem, probe.home, declared, probe.counts)
        assert told is not None
        simulator = Simulator(scenario, seed + 100)
        exploration = Exploration(settings(replace(problem, support=Support(declared))), seed)
        while exploration.hypothesis is None:
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        low, high = told.prediction.low, told.prediction.high
        within = low <= simulator.steps <= high
        if not within:
            print(f'seed {seed}: told {told.prediction}, took {simulator.steps}')
        inside += within
        steps = told.prediction.steps
        assert low <= LOW * steps and high >= HIGH * steps
    assert inside >= strength(1, 4)
