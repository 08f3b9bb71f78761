# SPDX-License-Identifier: Apache-2.0

"""Disco, the second base algorithm: it ends, keeps the promise and works inside MNM."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from base_runs import finish
from binomial import binomial_tail
from mnm_ros.core import (
    BaseAlgorithm,
    Declaration,
    EmpiricalModel,
    new_base,
    OptimisticPlanner,
    Policy,
    Problem,
    RESET,
    settings,
    Support,
)
from mnm_ros.core.components import BASES
from mnm_ros.core.disco.disco import Disco, DiscoPhase
from mnm_ros.core.presets import new_mnm, TRIES, Value
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES, Outcomes, support, TableCmp
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by
import numpy as np
import pytest
from small_worlds import scenario_of
from tiers import strength, thorough
from transitions import MachineError

DELTA = 0.1
# By chance a true promise fails its test once in a thousand.
SIGNIFICANCE = 1e-3
GRID = strength(scenario_of(grid_cmp(['S..', '...'], 0.1, tuple(GRID_MOVES))), load('grid_3x3'))
STATES = strength(6, 9)
CORRIDOR = load('corridor')


def disco(problem: Problem, home: int = 0, seed: int = 0, preset: str = 'onboard',
          **options: Value) -> BaseAlgorithm:
    return new_base(settings(problem, preset, {'base': 'disco', **options}), home, seed)


def random_scenario(rng: np.random.Generator, sure: bool) -> Scenario:
    """Return five states or more in random order, with loops, traps and rare outcomes."""
    states, actions = int(rng.integers(5, strength(6, 13))), int(rng.integers(2, 4))
    table: dict[tuple[int, int], Outcomes] = {}
    for state in range(states):
        for action in range(actions):
            after = rng.choice(states, size=1 if sure else rng.integers(1, 4), replace=False)
            chances = rng.dirichlet(np.full(len(after), 0.5))
            table[state, action] = tuple(
                (int(s), float(p)) for s, p in zip(after, chances) if p > 0)
    cmp = TableCmp(0, actions, table)
    return Scenario('random', tuple(map(str, range(actions))), 0, (Setting(cmp, None),), Path())


_ENDS = 'core/test_disco.py::test_it_ends_on_random_cmps_and_keeps_the_promise'
_FINDS = 'core/test_disco.py::test_mnm_finds_a_hypothesis_with_it'


@pytest.mark.parametrize(('radius', 'epsilon', 'sure'), [
    (strength(2.5, 4.0), 1.0, False), (2.5, 0.5, True),
    *(pytest.param(*case, marks=thorough(_ENDS)) for case in (
        (1.0, 1.0, False), (1.0, 1.0, True), (2.5, 0.5, False), (4.0, 1.0, True),
        (3.0, 3.0, False), (3.0, 3.0, True)))])
def test_it_ends_on_random_cmps_and_keeps_the_promise(
        radius: float, epsilon: float, sure: bool) -> None:
    runs, broken = 4, []
    for seed in range(runs):
        scenario = random_scenario(np.random.default_rng(seed), sure)
        simulator = Simulator(scenario, seed)
        base = disco(Problem(len(scenario.actions), radius, epsilon, DELTA), seed=seed)
        finish(base, simulator, 200_000)
        if not judge(simulator.cmp, found_by(base), radius, epsilon).ok:
            broken.append(seed)
    assert binomial_tail(runs, DELTA, len(broken)) > SIGNIFICANCE, broken


@pytest.mark.parametrize(('radius', 'mapped'), [(4.0, False), (4.0, True), (1.2, False)])
def test_ruling_out_begins_again_once_when_all_that_is_near_was_tried(
        radius: float, mapped: bool) -> None:
    """
    Not where it is declared what may be missing, and nothing counts from before.

    It is said whether any state was met that is not near.
    """
    given: list[tuple[int, ...]] = []
    simulator = Simulator(GRID, 1)
    problem = Problem(4, radius, 1.0, DELTA, Support(support(simulator.cmp) if mapped else None))
    base = disco(problem)
    assert isinstance(base, Disco)
    planner = base.replaceable[0]
    assert isinstance(planner, OptimisticPlanner)
    give = planner.give

    def noted(states: Collection[int], others: bool) -> None:
        given.append(tuple(states))
        assert others == (radius < 4.0)
        counts = base.certifier.evidence[0].sets.counts
        assert all(counts.visits(state, action) for state in states for action in range(4))
        give(states, others)
        assert not EmpiricalModel.for_ruling_out(base._rows, states).visits.any()
    planner.give = noted    # type: ignore[method-assign]
    finish(base, simulator, 20_000)
    assert len(given) == (not mapped)
    assert all((sorted(states) == [*range(STATES)]) == (radius == 4.0) for states in given)
    assert judge(simulator.cmp, found_by(base), radius, 1.0).ok


def test_it_learns_from_what_it_witnesses() -> None:
    """
    All that another run did is worth as much as if it had been its own doing.

    But for attempts with policies of its own: those of the other one are no test of them.
    """
    problem = Problem(4, 4.0, 1.0, DELTA)
    driver, listener = disco(problem), disco(problem)
    simulator, here = Simulator(GRID, 2), GRID.start
    action = driver.next_action()
    driver.observe(action, simulator.step(action))
    while not driver.finished:
        action = driver.next_action()
        state = simulator.step(action)
        driver.observe(action, state)
        if action != RESET:
            listener.add_transition(here, action, state)
        here = state
    alone = finish(disco(problem), Simulator(GRID, 3), 20_000)
    simulator, steps, attempts = Simulator(GRID, 3), 0, 0
    while not listener.finished:
        steps, attempts = steps + 1, attempts + listener.evaluating
        assert steps < alone / 2
        action = listener.next_action()
        listener.observe(action, simulator.step(action))
    assert steps - attempts < alone / 4
    assert judge(simulator.cmp, found_by(listener), 4.0, 1.0).ok


def test_it_starts_from_policies_that_are_known_already() -> None:
    problem = Problem(4, 4.0, 1.0, DELTA)
    first = disco(problem)
    finish(first, Simulator(GRID, 0), 20_000)
    again = BASES['disco'](settings(problem), 0, np.random.default_rng(0), first.policies)
    assert isinstance(first, Disco) and isinstance(again, Disco)
    assert again.policies == first.policies
    finish(again, Simulator(GRID, 1), 20_000)
    assert judge(GRID.settings[0].cmp, found_by(again), 4.0, 1.0).ok
    assert not again.estimates and set(first.estimates) == {
        policy.target for policy in first.policies[1:]}


def test_the_phases_follow_their_table() -> None:
    base = disco(Problem(2, 3.0, 1.0, DELTA))
    assert isinstance(base, Disco)
    simulator = Simulator(CORRIDOR, 0)
    phases = set()
    while not base.finished:
        phases.add(base.state)
        action = base.next_action()
        base.observe(action, simulator.step(action))
    assert phases == {DiscoPhase.SAMPLING, DiscoPhase.EVALUATION}, (
        'planning happens between two steps')
    with pytest.raises(MachineError):
        base.trigger('sampled')
    assert base.state is DiscoPhase.FINISHED


@pytest.mark.parametrize('name', ['trap', *(
    pytest.param(name, marks=thorough(_FINDS)) for name in ('grid_3x3', 'endless_corridor'))])
def test_mnm_finds_a_hypothesis_with_it(name: str) -> None:
    scenario = load(name)
    simulator = Simulator(scenario, 0)
    problem = Problem(len(scenario.actions), 4.0, 1.0, DELTA)
    machine = new_mnm(settings(problem, 'onboard', {'base': 'disco'}))
    while machine.hypothesis is None and simulator.steps < 60_000:
        action = machine.next_action()
        machine.observe(action, simulator.step(action))
    assert machine.hypothesis is not None
    assert judge(simulator.cmp, machine.hypothesis, 4.0, 1.0).ok
    found = machine.hypothesis
    for _ in range(strength(300, 5_000)):
        action = machine.next_action()
        machine.observe(action, simulator.step(action))
    assert machine.round == 1 and machine.hypothesis is not None
    assert set(machine.hypothesis.targets) >= set(found.targets)


@pytest.mark.parametrize(('preset', 'options'), [
    ('onboard', {'evaluation': 'monte_carlo', 'checks': 'hoeffding', 'stream_data': 'own'}),
    ('paper', {'optimism': 'kl'}), pytest.param(
        'paper', {'optimism': 'kl', 'accuracy_divisor': 2.0},
        marks=thorough('core/test_disco.py::test_it_runs_with_the_other_parts'))])
def test_it_runs_with_the_other_parts(preset: str, options: dict[str, Value]) -> None:
    base = disco(Problem(2, 3.0, 1.0, DELTA), preset=preset, **options)
    simulator = Simulator(CORRIDOR, 0)
    finish(base, simulator, 20_000)
    assert judge(simulator.cmp, found_by(base), 3.0, 1.0).ok


FAN: dict[tuple[int, int], Outcomes] = {
    (0, 0): tuple((state, 0.25) for state in (1, 2, 3, 4)),
    **{(state, 0): ((9, 0.5), (0, 0.5)) for state in (1, 2, 3, 4)}}
LEAVING: dict[tuple[int, int], Outcomes] = {
    (0, 0): ((1, 0.15), *((state, 0.85 / 20) for state in range(2, 22)))}


@pytest.mark.parametrize(('table', 'radius', 'epsilon', 'most'), [
    pytest.param(FAN, 4.0, 0.5, 20_000, id='many ways, none of which is short'),
    pytest.param(LEAVING, 12.5, 0.1, 250_000, id='most attempts leave', marks=thorough(
        'core/test_disco.py::test_it_ends_where_states_are_hard_to_certify')),
    pytest.param({(0, 0): ((1, 2 / 3), (0, 1 / 3))}, 1.5, 0.1, 20_000, id='a coin'),
    pytest.param({(0, 0): ((1, 0.4), (2, 0.4), (0, 0.2))}, 2.5, 0.5, 20_000, id='two goals',
                 marks=thorough('core/test_disco.py::test_it_ends_where_states_are_hard_to_certify'))])
def test_it_ends_where_states_are_hard_to_certify(
        table: dict[tuple[int, int], Outcomes], radius: float, epsilon: float, most: int) -> None:
    scenario = Scenario('hard', ('on',), 0, (Setting(TableCmp(0, 1, table), None),), Path())
    for seed in range(strength(1, 2)):
        base = disco(Problem(1, radius, epsilon, DELTA), seed=seed)
        simulator = Simulator(scenario, seed)
        finish(base, simulator, most)
        assert judge(simulator.cmp, found_by(base), radius, epsilon).ok, seed


def corridor(chance: float) -> Scenario:
    """Return a corridor of three states whose moves succeed with a chance."""
    cmp = TableCmp(0, 2, {
        (state, action): ((max(0, min(2, state + step)), chance), (state, 1 - chance))
        for state in range(3) for action, step in enumerate((1, -1))})
    return Scenario('corridor', ('east', 'west'), 0, (Setting(cmp, None),), Path())


def certified(renewed: float, chance: float, seed: int, limit: int) -> int:
    """Return after how many steps a rediscovery with hardly any delta has certified state 1."""
    simulator = Simulator(corridor(chance), seed)
    home = Policy(0, 12, (0,), ((RESET,),))
    base = BASES['disco'](settings(Problem(2, 4.0, 1.0, 1e-12)), 0, np.random.default_rng(0),
                          (home,))
    base.observe(base.next_action(), simulator.step(RESET))
    if renewed:
        base.restart_confidence(renewed)
    for step in range(limit):
        if len(base.policies) > 1:
            return step
        if base.finished:
            break
        action = base.next_action()
        base.observe(action, simulator.step(action))
    return limit


def test_what_was_renewed_certifies_by_its_own_delta() -> None:
    late, renewed = (certified(delta, 0.9, 0, 2000) for delta in (0.0, 0.05))
    assert renewed < 0.7 * late < 2000


def test_what_was_renewed_is_wrong_with_no_more_than_its_delta() -> None:
    """State 1 takes more than 1 / 0.12 steps, and the limit is 8."""
    runs, delta = strength(6, 12), 0.3
    wrong = sum(certified(delta, 0.12, seed, 250) < 250 for seed in range(runs))
    assert binomial_tail(runs, delta, wrong) > SIGNIFICANCE, wrong


LOOPS = {
    (0, 0): ((1, 1.0),), (0, 1): ((0, 1.0),), (1, 0): ((2, 1.0),), (1, 1): ((0, 1.0),),
    (2, 0): ((5, 1.0),), (2, 1): ((2, 1.0),), (3, 0): ((4, 1.0),), (3, 1): ((3, 1.0),),
    (4, 0): ((4, 1.0),), (4, 1): ((0, 1.0),), (5, 0): ((5, 1.0),), (5, 1): ((0, 1.0),)}


@pytest.mark.parametrize('pair', [(1, 0), (0, 1)], ids=['on a way', 'on no way'])
def test_a_base_alone_finds_the_ends_that_are_not_declared(pair: tuple[int, int]) -> None:
    """States 3 and 4 are behind an end of chance 0.3; nobody beside the base refutes the map."""
    (declared, _), = LOOPS[pair]
    table = {**LOOPS, pair: ((declared, 0.7), (3, 0.3))}
    scenario = Scenario('loops', ('go', 'turn'), 0, (Setting(TableCmp(0, 2, table), None),),
                        Path())
    given = Support(Declaration({state: tuple(
        tuple(end for end, _ in LOOPS[state, action]) for action in range(2))
        for state in range(6)}))
    runs, missed = strength(4, 100), 0
    for seed in range(runs):
        base = disco(Problem(2, 12.0, 1.0, DELTA, given), seed=seed)
        finish(base, Simulator(scenario, seed), 20_000)
        missed += {policy.target for policy in base.policies} != set(range(6))
    # It misses the end with 0.7 ** 13, and is wrong with delta besides.
    assert binomial_tail(runs, DELTA + 0.7 ** TRIES, missed) > SIGNIFICANCE
    assert given.ends(*pair) == (declared,)    # each run has refuted it for itself


def test_a_base_that_is_told_of_steps_refutes_by_them() -> None:
    lists = {0: ((1,), (0,)), 1: ((0,), (1,))}
    for tell in ('add_transition', 'load_transitions'):
        problem = Problem(2, 4.0, 1.0, DELTA, Support(Declaration(lists)))
        base = BASES['disco'](settings(problem), 0, np.random.default_rng(0))
        if tell == 'add_transition':
            base.add_transition(0, 0, 7)
        else:
            base.load_transitions([(0, 0, 7)])
        assert problem.support.ends(0, 0) is None and problem.support.ends(0, 1) == (0,)
