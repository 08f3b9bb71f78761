# SPDX-License-Identifier: Apache-2.0

"""What follows from a declaration, true or false, of where actions may lead."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
import json
from statistics import mean

from binomial import binomial_tail
from mnm_ros.core import (
    Counts,
    Declaration,
    DeclarationInput,
    Exploration,
    Observation,
    Policy,
    Problem,
    RESET,
    settings,
    Support,
    Trust,
    Update,
    View,
)
from mnm_ros.core.paper.discovery import PerVisitDiscovery
from mnm_ros.core.statistics.certificate import ConfidenceSets
from mnm_ros.simulation.cmp import grid_cmp, GRID_MOVES, support
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import numpy as np
import pytest
from small_worlds import scenario_of
from tiers import strength, thorough

RADIUS = 3.0
GRID = strength(scenario_of(grid_cmp(['S..', '...'], 0.1, tuple(GRID_MOVES))), load('grid_3x3'))
STATES = strength(6, 9)
RUNS = strength(4, 12)
Lists = dict[int, tuple[tuple[int, ...], ...]]


def true_lists(scenario: Scenario) -> Lists:
    """Return where the actions of a scenario lead, in its first setting."""
    return {**support(scenario.settings[0].cmp).successors}


class Run:
    """An exploration of a scenario with a declaration."""

    def __init__(self, lists: Lists, seed: int = 0, base: str = '',
                 chances: Lists | None = None) -> None:
        self.simulator = Simulator(GRID, seed)
        self.problem = Problem(4, RADIUS, 1.0, 0.1, Support(Declaration(lists, chances or {})))
        self.exploration = Exploration(settings(self.problem, overrides={'base': base}), seed)
        self.taken: list[Update] = []

    def step(self) -> int:
        action = self.exploration.next_action()
        self.taken.append(self.exploration.observe(action, self.simulator.step(action)))
        return action

    def until(self, condition: Callable[[], object], most: int = 20_000) -> Run:
        while not condition():
            self.step()
            assert self.exploration.steps < most
        return self

    def until_hypothesis(self) -> Run:
        return self.until(lambda: self.exploration.hypothesis)

    @property
    def right(self) -> bool:
        assert self.exploration.hypothesis is not None
        return judge(self.simulator.cmp, self.exploration.hypothesis, RADIUS, 1.0).ok

    @property
    def widened(self) -> bool:
        """Return whether an end was added to what is declared."""
        return bool(self.exploration.mnm.support._added)

    @property
    def events(self) -> list[str]:
        return [sentence(event.said) for event in self.exploration.events]


def falsified(lists: Lists) -> Lists:
    """Return lists in which no move is said to slip."""
    return {state: tuple(tuple(end for end in ends if end != state) or (state,)
                         for ends in each) for state, each in lists.items()}


@lru_cache(maxsize=None)
def told_the_truth(seed: int) -> Run:
    """Return a run that was told where actions lead, with its first hypothesis."""
    return Run(true_lists(GRID), seed).until_hypothesis()


@thorough(
    'core/test_walking.py::test_it_takes_few_steps_and_seldom_goes_home '
    'study/test_explore.py::test_what_is_declared_saves_steps_and_is_saved')
def test_a_true_declaration_takes_fewer_steps_and_stays_right() -> None:
    wrong, saved = [], []
    for seed in range(RUNS):
        declared = told_the_truth(seed)
        wrong += [] if declared.right else [seed]
        assert not declared.widened
        saved.append(declared.exploration.steps)
    assert binomial_tail(RUNS, 0.1, len(wrong)) > 1e-3, wrong
    plain = [Run({}, seed).until_hypothesis().exploration.steps
             for seed in range(3)]
    assert mean(saved) < 0.75 * mean(plain), (saved, plain)


def test_what_is_false_is_told_and_widened_and_the_rest_stays_right() -> None:
    lists, wrong, told = falsified(true_lists(GRID)), [], 0
    for seed in range(RUNS):
        run = Run(lists, seed).until_hypothesis()
        wrong += [] if run.right else [seed]
        assert run.widened == any('the declaration has' in event for event in run.events)
        told += run.widened
    # With moves that never slip, no more than 18 steps are needed: some runs see no slip.
    assert told >= RUNS / 2
    assert binomial_tail(RUNS, 0.1, len(wrong)) > 1e-3, wrong


@thorough('core/test_support.py::'
          'test_what_is_forbidden_again_and_again_is_neither_commanded_nor_published '
          'core/test_support.py::test_what_is_forbidden_in_the_middle_is_commanded_by_no_policy')
@pytest.mark.parametrize(('base', 'steps'), [
    ('disco', 3000), ('ucb_explore', 3000)])
def test_what_leads_nowhere_is_never_commanded(base: str, steps: int) -> None:
    """State 4, in the middle, must not be left to the east, nor state 1 to the south."""
    kept_out = {(4, 0), (1, 2)}
    lists = {state: tuple(() if (state, action) in kept_out else ends
                          for action, ends in enumerate(each))
             for state, each in true_lists(GRID).items()}
    run = Run(lists, 3, base=base)
    while run.exploration.steps < steps:
        here = run.exploration.last_state
        assert (here, run.step()) not in kept_out
    assert run.exploration.hypothesis is not None
    for told in run.exploration.trust():
        assert not kept_out & {*zip(told.policy.states, told.policy.actions[0])}


@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_what_is_forbidden_in_the_middle_is_commanded_by_no_policy(base: str) -> None:
    """Neither by one that is known already, nor by one that is found later."""
    lists = true_lists(GRID)
    for known in strength((3,), (2, 3, 4)):
        run = Run({}, known, base=base)
        explored = run.exploration
        run.until(lambda explored=explored, known=known: explored.steps % 30 == 0 and sum(
            told.trust is Trust.CERTIFIED for told in explored.trust()) >= known)
        assert explored.hypothesis is None
        kept_out = next(action for told in explored.trust() if told.trust is Trust.CERTIFIED
                        for action in [told.policy.action(0, 0)] if action != RESET)
        explored.declare(Declaration({**lists, 0: tuple(
            () if action == kept_out else ends for action, ends in enumerate(lists[0]))}))
        # Policies that cannot be played are no reason to wait for another stream.
        run.until(lambda explored=explored: explored.hypothesis, explored.steps + 6000)
        for policy in explored.hypothesis.policies:
            assert (0, kept_out) not in zip(policy.states, policy.actions[0])


@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_what_is_forbidden_again_and_again_is_neither_commanded_nor_published(base: str) -> None:
    """Whatever is under way, and whatever was found with what is forbidden now."""
    lists = true_lists(GRID)
    for seed in range(strength(1, 2)):
        run, rng = Run({}, seed, base=base), np.random.default_rng(seed)
        exploration, kept_out = run.exploration, {(-1, 0)}
        for number in range(strength(240, 800)):
            here = exploration.last_state
            assert (here, run.step()) not in kept_out, (seed, number)
            if number % 80 == 79:
                kept_out = {(int(rng.integers(STATES)), int(rng.integers(4))) for _ in range(4)}
                exploration.declare(Declaration({state: tuple(
                    () if (state, action) in kept_out else ends
                    for action, ends in enumerate(each)) for state, each in lists.items()}))
                known = exploration.hypothesis.policies if exploration.hypothesis else ()
                for policy in (*known, *(told.policy for told in exploration.trust(1))):
                    assert not kept_out & {*zip(policy.states, policy.actions[0])}, (seed, number)


def test_a_declaration_while_states_are_sampled_as_printed_holds_nothing_up() -> None:
    support = Support()
    problem = Problem(2, RADIUS, 1.0, 0.1, support)
    discovery = PerVisitDiscovery(problem)
    home = Policy(0, 5, (0,), ((RESET,),))
    discovery.begin((0,), (0,), home)
    discovery.restart()
    assert discovery.action(0) == 1
    support.declare(Declaration({0: ((0,), ())}), Counts())
    assert discovery.action(0) == 0 and not discovery.done()
    support.declare(Declaration({0: ((), ())}), Counts())
    assert discovery.action(0) == RESET and discovery.done()


def test_before_the_first_step_from_home_the_whole_declared_world_has_policies() -> None:
    run = Run(true_lists(GRID))
    run.step()
    view = View()
    told = run.exploration.trust(None, view)
    assert {each.policy.target for each in told} == set(range(STATES))
    assert [each.trust for each in told[1:]] == (STATES - 1) * [Trust.ASSUMED]
    assert len(run.exploration.trust(2, view)) == STATES


def test_a_declaration_in_the_middle_counts_from_then_on() -> None:
    lists = true_lists(GRID)
    run = Run({})
    run.until(lambda: run.exploration.steps > 50)
    taken = run.exploration.declare(Declaration(falsified(lists)))
    assert taken is not None and isinstance(taken.input, DeclarationInput)
    assert run.exploration.declare(Declaration(falsified(lists))) is None
    run.until_hypothesis()
    assert run.right
    assert run.exploration.declare(Declaration(lists)) is not None
    # What only a policy of the hypothesis does is forbidden: it goes, and another is found.
    played = next((state, policy.actions[0][policy.states.index(state)])
                  for policy in run.exploration.hypothesis.policies[1:]
                  for state in (0,) if policy.actions[0][policy.states.index(state)] != RESET)
    run.exploration.declare(Declaration({**lists, 0: tuple(
        () if (0, action) == played else ends for action, ends in enumerate(lists[0]))}))
    for _ in range(strength(200, 2000)):
        here = run.exploration.last_state
        assert (here, run.step()) != played
    with pytest.raises(ValueError, match='state 0 has 1 lists, expected 4'):
        run.exploration.declare(Declaration({0: ((1,),)}))


@pytest.mark.parametrize('after', [pytest.param('building', marks=thorough(
    'core/test_support.py::test_what_is_declared_and_widened_is_part_of_a_resume_point '
    'core/test_resume.py::test_it_takes_the_same_way_from_any_step')), 'checking'])
def test_what_is_declared_and_widened_is_part_of_a_resume_point(after: str) -> None:
    run = Run(falsified(true_lists(GRID)))
    run.until(lambda: run.widened)
    if after == 'checking':
        run.until_hypothesis()
    run.until(lambda: run.exploration.can_snapshot)
    point = json.loads(json.dumps(run.exploration.to_state()))
    again = Exploration(settings(Problem(4, RADIUS, 1.0, 0.1)), 0, point)
    assert again.mnm.pairs._support is again.mnm.support    # which is declared later, too
    for _ in range(strength(50, 1500)):
        action = run.step()
        assert again.next_action() == action
        again.observe(action, run.taken[-1].input.state)
    assert again.trust() == run.exploration.trust()


def test_the_same_inputs_lead_to_the_same_place() -> None:
    run = Run({})
    lists = true_lists(GRID)
    run.until(lambda: run.exploration.steps > 50)
    run.exploration.next_action()
    taken = run.exploration.declare(Declaration(falsified(lists)))
    assert taken is not None
    run.taken.append(taken)
    run.until_hypothesis()
    again = Exploration(settings(Problem(4, RADIUS, 1.0, 0.1)), 0)
    for each in run.taken:
        if isinstance(each.input, Observation):
            assert again.next_action() == each.input.action
        again.take(each.input)
    assert again.hypothesis == run.exploration.hypothesis
    assert again.steps == run.exploration.steps


@thorough('core/test_support.py::test_nonsense_that_is_declared_again_and_again_does_no_harm')
@pytest.mark.parametrize('base', ['disco', 'ucb_explore'])
def test_passages_that_are_declared_and_are_none_hold_nothing_up(base: str) -> None:
    """As behind doors that are closed: action 0 leads nowhere to 50, and there is none behind."""
    lists = {state: ((*east, 50), *others)
             for state, (east, *others) in true_lists(GRID).items()}
    lists.update({50: ((51,),) * 4, 51: ((52,),) * 4})
    assert Run(lists, 0, base=base).until_hypothesis().right


def fuzzed(rng: np.random.Generator) -> Declaration:
    """Return random lists: of any states, some of which there are not, or none; and chances."""
    states = [*range(9), 50, 51]
    lists = {state: tuple(tuple(rng.choice(states, rng.integers(0, 4), replace=False).tolist())
                          for _ in range(4)) for state in states if rng.random() < 0.9}
    if rng.random() < 0.3:    # home, or a state on the way
        lists[int(rng.integers(9))] = ((),) * 4
    chances = {state: tuple(tuple(map(float, rng.permutation(
        [1.0, *[0.0] * (len(ends) - 1)]))) if ends else () for ends in each)
        for state, each in lists.items() if rng.random() < 0.5}
    return Declaration(lists, chances)


@pytest.mark.parametrize('base', [
    pytest.param('disco', marks=thorough(
        shown_by='core/test_support.py::'
        'test_nonsense_that_is_declared_again_and_again_does_no_harm '
        'core/test_support.py::'
        'test_what_is_forbidden_again_and_again_is_neither_commanded_nor_published '
        'core/test_support.py::test_a_declaration_in_the_middle_counts_from_then_on')),
    'ucb_explore'])
def test_nonsense_that_is_declared_again_and_again_does_no_harm(base: str) -> None:
    """What is declared to lead nowhere is not commanded; the truth is found once nothing is."""
    wrong = []
    for seed in range(1, 3):
        rng, run = np.random.default_rng(seed), Run({}, seed, base=base)
        for _ in range(4):
            declared = fuzzed(rng)
            run.exploration.declare(declared)
            for _ in range(60):
                here = run.exploration.last_state
                action = run.step()
                assert here is None or action < 0 or declared.successors.get(
                    here, ((0,),) * 4)[action], (seed, here, action)
            run.exploration.trust(3)
        assert run.exploration.hypothesis is None, seed
        run.exploration.declare(Declaration())
        wrong += [] if run.until_hypothesis().right else [seed]
    assert len(wrong) < 2, wrong    # both with probability 0.01


def test_chances_sharpen_sets_where_they_are_right() -> None:
    """And a set is little wider where they are wrong."""
    radius = []
    for chances in ((0.9, 0.1), (), (0.1, 0.9)):
        declared = Declaration({0: ((1, 0),)}, {0: (chances,)} if chances else {})
        sets = ConfidenceSets(0.1, Support(declared))
        for number in range(40):
            sets.add(0, 0, int(number % 10 > 0))
        radius.append(sets.ball(0, 0)[1])
    assert radius[0] < 0.8 * radius[1] and radius[1] < radius[2] < 1.1 * radius[1], radius


@pytest.mark.parametrize('chances', [(0.1, 0.9), pytest.param((0.9, 0.1), marks=thorough(
    'core/test_support.py::test_chances_sharpen_sets_where_they_are_right '
    'core/test_support.py::test_chances_are_a_bet_that_costs_hardly_any_steps_where_it_is_wrong'
    ))])
def test_chances_are_a_bet_that_costs_hardly_any_steps_where_it_is_wrong(
        chances: tuple[float, float]) -> None:
    lists = true_lists(GRID)
    bets = {state: tuple(tuple(1.0 for _ in ends) if len(ends) == 1 else tuple(
        chances[end == state] for end in ends) if len(ends) == 2 else tuple(
            1 / len(ends) for _ in ends) for ends in each) for state, each in lists.items()}
    number = strength(4, 10)
    with_bet = [Run(lists, seed, chances=bets).until_hypothesis() for seed in range(number)]
    without = [told_the_truth(seed) for seed in range(number)]
    steps, plain = (sum(run.exploration.steps for run in runs) for runs in (with_bet, without))
    # Nearly all is certified by attempts, which do not ask for chances.
    assert steps < 1.1 * plain, (steps, plain)
    wrong = [seed for seed, run in enumerate(with_bet) if not run.right]
    assert binomial_tail(number, 0.1, len(wrong)) > 1e-3, wrong
