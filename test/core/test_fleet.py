# SPDX-License-Identifier: Apache-2.0

"""Several robots explore one world: what is right, what it takes, and what may go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
import math

from binomial import binomial_tail
from mnm_ros.core import Declaration, Exploration, Fleet, Problem, RESET, RunState, settings
from mnm_ros.core.fleet.fleet import SamplePool
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from robots import Manner, Robots
from small_worlds import closing_row
from tiers import strength, thorough

RADIUS, EPSILON, DELTA = 4.0, 1.0, strength(0.5, 0.1)
PAIR = (0, 0)


class World:
    """A scenario, several robots in it, and what explores it by them."""

    def __init__(self, scenario: Scenario, robots: int, seed: int = 0,
                 manners: Sequence[Manner] = (), **options: str) -> None:
        actions = len(scenario.actions)
        problem = Problem(actions, RADIUS, EPSILON, DELTA)
        self.exploration = Exploration(settings(problem, overrides=options), seed)
        self.fleet = Fleet(self.exploration, seed)
        self.simulators = [Simulator(scenario, 1000 * seed + i) for i in range(robots)]
        self.robots = Robots(self.fleet, self.simulators, manners, seed)
        self._judged, self._right = (None, None), False

    def go_on(self, done: Callable[[], bool], limit: int = 200_000) -> None:
        for _ in range(limit):
            if done():
                return
            self.robots.step()
        raise AssertionError(f'not done after {limit} steps: {self.exploration.status}')

    def explore(self) -> World:
        self.go_on(lambda: self.exploration.hypothesis is not None)
        return self

    @property
    def right(self) -> bool:
        judged = self.simulators[0].cmp, self.exploration.hypothesis
        if judged != self._judged:
            self._judged, self._right = judged, judge(*judged, RADIUS, EPSILON).ok
        return self._right

    def change(self) -> None:
        for simulator in self.simulators:
            simulator.change()


def alone(scenario: Scenario, seed: int) -> int:
    """Return the steps to the first hypothesis of one robot without a fleet."""
    problem = Problem(len(scenario.actions), RADIUS, EPSILON, DELTA)
    exploration, simulator = Exploration(settings(problem), seed), Simulator(scenario, seed)
    while exploration.hypothesis is None:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    return exploration.steps


def still(name: str) -> Scenario:
    """Return a scenario that changes by ``change`` alone; a short one by the name ``row``."""
    scenario = closing_row() if name == 'row' else load(name)
    return replace(scenario, settings=tuple(
        replace(setting, until=None) for setting in scenario.settings))


@lru_cache(maxsize=None)
def explored(name: str, robots: int, seed: int, base: str) -> World:
    """Return a world with its first hypothesis, for tests that do not go on from there."""
    return World(still(name), robots, seed, base=base).explore()


_FIRST = 'core/test_fleet.py::test_the_first_hypothesis_is_right_and_every_step_is_counted_once'


@pytest.mark.parametrize(('name', 'robots'), [
    ('corridor', 8), *(
        pytest.param(name, robots, marks=thorough(_FIRST)) for name, robots in (
            ('corridor', 1), ('corridor', 3), ('trap', 3), ('two_rooms', 3),
            ('endless_corridor', 3)))])
def test_the_first_hypothesis_is_right_and_every_step_is_counted_once(
        name: str, robots: int) -> None:
    world = explored(name, robots, 0, '')
    assert world.right
    for number, member in world.robots.members.items():
        simulator = world.simulators[number]
        made = {pair: dict(nexts) for pair, nexts in member.counts.as_dict().items()}
        played = {pair: dict(nexts) for pair, nexts in simulator.counts.items()}
        # Nobody knows where the first RESET began, and the last step is under way.
        assert sum(sum(nexts.values()) for nexts in played.values()) - sum(
            sum(nexts.values()) for nexts in made.values()) in (1, 2)
        assert all(count <= played[pair][after]
                   for pair, nexts in made.items() for after, count in nexts.items())


@pytest.mark.parametrize(('base', 'robots'), [('', 8), pytest.param(
    'ucb_explore', 4, marks=thorough('core/test_fleet.py::test_what_is_learnt_was_executed'))])
def test_what_is_learnt_was_executed(base: str, robots: int) -> None:
    """No outcome counts twice, and none that no robot has seen."""
    world = explored('corridor', robots, 0, base)
    for (state, action), nexts in world.exploration.counts.items():
        for after, count in nexts.items():
            played = sum(simulator.counts.get((state, action), {}).get(after, 0)
                         for simulator in world.simulators)
            assert action == RESET or count <= played, (state, action, after)


@pytest.mark.parametrize(('name', 'times'), [('corridor', 4), pytest.param(
    'two_rooms', 6, marks=thorough(
        'core/test_fleet.py::test_eight_robots_are_several_times_as_fast'))])
def test_eight_robots_are_several_times_as_fast(name: str, times: int) -> None:
    seeds = range(strength(1, 2))
    worlds = [explored(name, 8, seed, '') for seed in seeds]
    assert all(world.right for world in worlds)
    rounds = [world.robots.now for world in worlds]
    assert times * sum(rounds) < sum(alone(still(name), seed) for seed in seeds), rounds


@thorough('core/test_fleet.py::test_the_door_on_the_way_to_what_is_wanted_closes')
@pytest.mark.parametrize(('scenario', 'robots', 'quiet'), [
    pytest.param(closing_row(2), 2, 90, id='row'),
    *(pytest.param(still(name), 4, 1500, id=name) for name in ('shortcut', 'broken_wheel'))])
def test_a_change_is_noticed_and_relearnt(
        scenario: Scenario, robots: int, quiet: int) -> None:
    world = World(scenario, robots).explore()
    exploration = world.exploration
    world.go_on(lambda: exploration.steps > quiet)
    assert exploration.changes_noticed == 0
    world.change()
    world.go_on(lambda: exploration.changes_relearnt == 1)
    assert world.right


def test_no_robot_does_what_is_declared_to_lead_nowhere() -> None:
    """Neither one that has nothing to do, nor one that had begun to go there before."""
    exploration = Exploration(settings(Problem(4, RADIUS, EPSILON, DELTA)))
    fleet = Fleet(exploration)
    assignments = fleet.assignments
    assignments.home = 0
    for action, after in ((0, 1), (1, 0), (2, 3), (3, 0)):
        fleet._begin((0, action), 'r')
        assignments.ended((0, action), after)
    assignments.want({(1, 2): [0]}, 1)
    assert fleet._choose('r', 0)[0] == 0    # the way to what is wanted
    assignments.want({(0, 0): [0, 1], (3, 1): [2]}, 1)
    exploration.declare(Declaration({0: ((), (0,), (0, 3), (0,))}))
    assert fleet._choose('r', 0)[0] == 2    # to the other that is wanted
    assert not assignments.wanted((0, 0))
    assignments.want({(1, 2): [0]}, 1)
    assert 0 not in [fleet._choose('r', 0)[0] for _ in range(8)]
    exploration.declare(Declaration({0: ((), (), (), ())}))
    assert fleet._choose('r', 0) == (RESET, None)


@thorough(
    'core/test_fleet_sceptic.py::test_no_robot_waits_for_an_answer_that_may_never_come '
    'core/test_fleet.py::test_outcomes_come_in_the_order_in_which_executions_began')
def test_robots_that_are_slow_silent_moved_or_late_change_nothing_but_the_speed() -> None:
    dies = 100.0
    manners = (Manner(), Manner(duration=lambda state, action, after: 7.0, patience=20.0),
               Manner(dies=dies), Manner(moved=0.05), Manner(joins=150.0), Manner(
                   duration=lambda state, action, after: math.inf if (state + after) % 3 else 1.0))
    world = World(still('grid_3x3'), len(manners), manners=manners).explore()
    assert world.right
    silent = world.robots.members[2]
    assert silent.state is RunState.WAITING_FOR_ROBOT and silent.steps < dies + 1
    assert all(member.steps for member in world.robots.members.values())


@thorough('nodes/test_several_robots.py::test_a_fault_of_one_robot_is_no_fault_of_the_others')
def test_a_robot_in_fault_or_without_a_way_home_leaves_the_others_alone() -> None:
    world = World(still('two_rooms'), 3)
    world.go_on(lambda: world.fleet.steps > 100)
    broken = world.robots.members[1]
    broken.next_action()
    broken.fail('as a test')
    assert broken.next_action() == RESET and world.fleet.robots == 2
    world.explore()
    assert world.right and broken.homing.home == world.fleet.assignments.home


def test_outcomes_come_in_the_order_in_which_executions_began() -> None:
    """A slow outcome is not overtaken by quick ones, or it would be seen too rarely."""
    pool = SamplePool()
    slow, quick, lost = (pool.begin(PAIR) for _ in range(3))
    quick.settle(1)
    assert pool.take(PAIR) is None and pool.outcomes() == {PAIR: []}
    lost.settle(None)
    slow.settle(0)
    slow.settle(5)    # only the first word counts
    assert pool.outcomes() == {PAIR: [0, 1, None]}
    assert [pool.take(PAIR) for _ in range(4)] == [slow, quick, lost, None]
    assert pool.take((1, 0)) is None and pool.waiting(PAIR) == 0


def test_what_takes_long_is_seen_as_often_as_it_happens() -> None:
    """Of the first 40 outcomes of a fair pair, however long one of them takes."""
    seen = trials = 0
    rng = np.random.default_rng(5)
    for _ in range(20):
        pool, due = SamplePool(), []
        taken: list[int] = []
        now = 0
        while len(taken) < 40:
            now += 1
            for time, ticket, state in [entry for entry in due if entry[0] <= now]:
                ticket.settle(state)
                due.remove((time, ticket, state))
            state = int(rng.random() < 0.5)
            due.append((now + (20 if state else 1), pool.begin(PAIR), state))
            while (ticket := pool.take(PAIR)) is not None and len(taken) < 40:
                assert ticket.state is not None
                taken.append(ticket.state)
        seen, trials = seen + sum(taken), trials + 40
    assert binomial_tail(trials, 0.5, seen) > 1e-4 and binomial_tail(
        trials, 0.5, trials - seen) > 1e-4, seen


def test_the_door_on_the_way_to_what_is_wanted_closes() -> None:
    """What nobody can execute any more does not hold the exploration up."""
    scenario, begun = strength((closing_row(2), 30), (still('two_rooms'), 200))
    world = World(scenario, 2)
    world.go_on(lambda: world.exploration.steps > begun)
    assert world.exploration.hypothesis is None
    world.change()
    world.explore()
    world.go_on(lambda: world.right, limit=400_000)
