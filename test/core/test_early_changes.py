# SPDX-License-Identifier: Apache-2.0

"""A change before the first hypothesis: certificates, what is told, and the streams."""

from __future__ import annotations

from dataclasses import dataclass
import json

from mnm_ros.core import Exploration, Problem, RESET, settings, Trust, View
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.simulation.cmp import Cmp, Outcomes, TableCmp
from mnm_ros.simulation.ground_truth import expected_steps, judge
from mnm_ros.simulation.scenario import load
from mnm_ros.view.sentences import sentence
import numpy as np
import pytest
from tiers import strength, thorough

SEEDS = range(strength(1, 6))
CLOSES = strength(200, 400)    # the step


def chain(closed: bool = False) -> Cmp:
    """Return six places; action 0 leads one on in nine of ten times, and action 1 back."""
    table = {(place, 0): ((place + 1, 0.9), (place, 0.1)) for place in range(5)}
    table |= {(place, 1): ((max(0, place - 1), 1.0),) for place in range(6)}
    return TableCmp(0, 2, table | ({(1, 0): ((1, 1.0),)} if closed else {}))


@dataclass
class ActionUsage:
    """
    An exploration in a world that changes once.

    :ivar at: the step of the change.
    :ivar last_wrong: the last step at which a policy was certified or proven that was over the
        limit, before the first hypothesis.
    """

    exploration: Exploration
    before: Cmp
    after: Cmp
    at: int
    problem: Problem
    rng: np.random.Generator
    last_wrong: int = 0

    def step(self) -> None:
        """Play a step, and look at the certificates now and then."""
        exploration = self.exploration
        cmp = self.before if exploration.steps < self.at else self.after
        action, state = exploration.next_action(), exploration.last_state
        if action == RESET or state is None:
            exploration.observe(action, cmp.start)
        else:
            ends = cmp.transitions(state, action)
            place = self.rng.choice(len(ends), p=[chance for _, chance in ends])
            exploration.observe(action, ends[place][0])
        if exploration.steps % 10 == 0 and exploration.steps > self.at and any(
                told.trust.rank <= Trust.CERTIFIED.rank
                and expected_steps(cmp, told.policy) > self.problem.limit
                for told in exploration.trust()):
            self.last_wrong = exploration.steps


def played(base: str, seed: int, at: int = 400, radius: float = strength(5.0, 8.0)
           ) -> ActionUsage:
    """Return the chain, whose way from place 1 to 2 closes."""
    problem = Problem(2, radius, 1.0, 0.1)
    return ActionUsage(Exploration(settings(problem, overrides={'base': base}), seed), chain(),
                       chain(closed=True), at, problem, np.random.default_rng([seed, 29]))


def until_known(world: ActionUsage, most: int) -> None:
    """Play on until the first hypothesis."""
    while world.exploration.hypothesis is None:
        assert world.exploration.steps < world.at + most
        world.step()


@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_a_way_that_closes_early_is_told_and_no_certificate_goes_on_through_it(base: str) -> None:
    """Issue: it was certified for 24,500 steps more, and the hypothesis came after 24,901."""
    for seed in SEEDS:
        world = played(base, seed, CLOSES)
        until_known(world, 1500)
        exploration = world.exploration
        hypothesis = exploration.hypothesis
        assert hypothesis is not None
        assert judge(world.after, hypothesis, world.problem.radius, world.problem.epsilon).ok, seed
        assert world.last_wrong <= world.at + 150, seed
        change, = (event.change for event in exploration.events if event.change)
        assert (change.state, change.action) == (1, 0) and change.step is not None
        assert abs(change.step - world.at) <= 150, seed
        # What is known rests on nothing from before: it is proven, and the change relearnt.
        assert exploration.changes_noticed == exploration.changes_relearnt == 1
        assert {told.trust for told in exploration.trust()} == {Trust.PROVEN}


@thorough('core/test_early_changes.py::'
          'test_a_way_that_closes_early_is_told_and_no_certificate_goes_on_through_it')
def test_a_door_that_closes_early() -> None:
    """Issue: false trust for 12,633 steps, and the first hypothesis after 13,655."""
    scenario = load('two_rooms')
    problem = Problem(len(scenario.actions), 4.0, 1.0, 0.1)
    for seed in SEEDS[:2]:
        world = ActionUsage(Exploration(settings(problem), seed), *(
            setting.cmp for setting in scenario.settings[:2]), 1000, problem,
            np.random.default_rng([seed, 29]))
        until_known(world, 2000)
        assert world.exploration.hypothesis is not None
        assert judge(world.after, world.exploration.hypothesis, 4.0, 1.0).ok, seed
        assert world.last_wrong <= world.at + 300, seed


def star(closed: bool = False) -> Cmp:
    """Return four arms at home: action 0 begins one of two places, the others begin five each."""
    table: dict[tuple[int, int], Outcomes] = {}
    place = 0
    for arm, places in enumerate((2, 5, 5, 5)):
        here = 0
        for _ in range(places):
            place += 1
            table[here, 0 if here else arm] = ((place, 0.9), (here, 0.1))
            table[place, 1] = ((here, 1.0),)
            here = place
    return TableCmp(0, 4, table | ({(0, 0): ((0, 1.0),)} if closed else {}))


@thorough('core/test_certificate_watch.py::'
          'test_a_move_that_fails_is_tried_again_until_the_alarm')
def test_a_short_arm_that_closes_early() -> None:
    """Its move had arrived twelve times, and was certified for 630 steps more."""
    for seed in SEEDS[:3]:
        for at in (400, 500):
            problem = Problem(4, 6.0, 1.0, 0.1)
            world = ActionUsage(Exploration(settings(problem), seed), star(), star(closed=True),
                                at, problem, np.random.default_rng([seed, 31]))
            while world.exploration.steps < at + 1_000:
                world.step()
            assert at < world.last_wrong <= at + 300, (seed, at)


def test_what_was_certified_through_the_pair_is_doubted_and_all_else_is_not() -> None:
    world, view = played('disco', 0, 1_000), View()
    before: set[int] = set()
    while not {1, 2, 3} <= before:
        for _ in range(10):
            world.step()
        before = {told.policy.target for told in world.exploration.trust(None, view)
                  if told.trust is Trust.CERTIFIED}
    world.at = world.exploration.steps    # the way closes now
    while not world.exploration.changes_noticed:
        world.step()
    told = {told.policy.target: told for told in world.exploration.trust(None, view)}
    assert told[1].trust is Trust.CERTIFIED
    assert {told[place].trust for place in before - {1}} == {Trust.DOUBTED}
    assert all('certified' in sentence(told[place].said) for place in before - {1})
    assert world.exploration.activity().progress is not None
    mnm = world.exploration.understudy()
    building = mnm.phase if mnm is not None else None
    assert isinstance(building, BuildingPhase)
    assert len(building.streams) == len({*building.learning} - {*building.streams}) == 1


@pytest.mark.parametrize('base', [pytest.param('disco', marks=thorough(
    'core/test_early_changes.py::test_it_goes_on_from_disk_as_it_would_have '
    'core/test_resume.py::test_it_takes_the_same_way_from_any_step')), 'ucb_explore'])
def test_it_goes_on_from_disk_as_it_would_have(base: str) -> None:
    """From the notice of the change, and from a little later."""
    world, others = played(base, 1, CLOSES), list[Exploration]()
    exploration = world.exploration

    def go_on(steps: int) -> None:
        for _ in range(steps):
            action = exploration.next_action()
            assert [other.next_action() for other in others] == [action] * len(others)
            world.step()
            assert exploration.last_state is not None
            for other in others:
                other.observe(action, exploration.last_state)

    while not exploration.changes_noticed:
        world.step()
    for steps in (40, 560):
        assert exploration.can_snapshot
        others.append(Exploration(settings(world.problem, overrides={'base': base}), 1,
                                  json.loads(json.dumps(exploration.to_state()))))
        for each in (exploration, *others):
            each.lose_place()
        certified, *same = ({told.policy.target for told in each.trust()
                             if told.trust is Trust.CERTIFIED}
                            for each in (exploration, *others))
        assert all(each == certified for each in same)
        go_on(steps)
    assert all(other.hypothesis == exploration.hypothesis is not None for other in others)


@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_without_a_change_hardly_any_certificate_is_dropped(base: str) -> None:
    """The sets hold at all times at once: what they say once, they hardly ever take back."""
    told = doubted = 0
    for seed in SEEDS:
        world = played(base, seed, at=10**6, radius=strength(5.0, 8.0))
        while world.exploration.hypothesis is None:
            world.step()
            if world.exploration.steps % 10 == 0:
                kinds = [each.trust for each in world.exploration.trust()]
                told += kinds.count(Trust.CERTIFIED)
                doubted += kinds.count(Trust.DOUBTED)
        assert not world.exploration.changes_noticed
    assert told > strength(50, 100) and doubted <= 0.02 * told


def test_a_way_that_closes_after_it_has_led_on_once_does_not_hold_up_the_first_hypothesis(
        ) -> None:
    """What is left to sample behind it is not near any more."""
    moves = {(0, 0): 1, (0, 1): 2, (1, 0): 0, (1, 1): 0, (2, 0): 0, (2, 1): 0}
    exploration = Exploration(settings(Problem(2, 3.0, 1.0, 0.5)), 0)
    while exploration.hypothesis is None:
        action, here = exploration.next_action(), exploration.last_state
        end = 0 if action == RESET or here is None else moves[here, action]
        if end == 1:
            moves[0, 0] = 0
        exploration.observe(action, end)
        assert exploration.steps < 300
    assert exploration.hypothesis.targets == (0, 2)
