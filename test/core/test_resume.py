# SPDX-License-Identifier: Apache-2.0

"""An exploration goes on from its plain data as if nothing had happened."""

from __future__ import annotations

import json
import random

from mnm_ros.core import Exploration, Observation, Problem, settings
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength, thorough

BROKEN_WHEEL = load('broken_wheel')
SETTINGS = settings(Problem(len(BROKEN_WHEEL.actions), strength(2.0, 4.0), 1.0, 0.1))


def fingerprint(exploration: Exploration) -> tuple[object, ...]:
    """Return all that an observer can tell."""
    return (exploration.next_action(), exploration.phase, exploration.status,
            exploration.hypothesis, exploration.candidates, exploration.counts,
            sorted(exploration.diagnostics().items()))


@thorough('core/test_resume.py::test_it_takes_the_same_way_from_any_step')
def test_from_each_resume_point_it_takes_the_same_way_again() -> None:
    """Over building, checking and a change, with actions and revisions compared at each step."""
    exploration, simulator = Exploration(SETTINGS, seed=3), Simulator(BROKEN_WHEEL, seed=3)
    exploration.robot_answers()
    followers: list[Exploration] = []
    points = 0
    for step in range(6_000):
        if step == 2_500:
            simulator.change()
        if step % 200 == 50:
            points += 1
            follower = Exploration(
                SETTINGS, seed=3, resume=json.loads(json.dumps(exploration.to_state())))
            follower.robot_answers()
            assert fingerprint(follower) == fingerprint(exploration)
            followers = [*followers[-1:], follower]
        action = exploration.next_action()
        state = simulator.step(action)
        for each in (exploration, *followers):
            each.observe(action, state)
        for follower in followers:
            assert follower.next_action() == exploration.next_action()
            assert follower.hypothesis == exploration.hypothesis
    assert points >= 3 and exploration.changes_noticed == 1
    for follower in followers:
        assert fingerprint(follower) == fingerprint(exploration)


SPLIT = {'optimism': 'split_samples', 'discovery': 'per_visit'}
OWN = {'streams': 'printed', 'stream_data': 'own'}
_SAME_WAY = ('core/test_resume.py::test_it_takes_the_same_way_from_any_step '
             'core/test_work.py::test_a_replay_and_a_resume_point_lead_to_the_same_place')


@pytest.mark.parametrize(('base', 'steps', 'others'), [
    ('disco', strength(640, 4000), {}), ('ucb_explore', strength(450, 1500), {**SPLIT, **OWN}), *(
        pytest.param('ucb_explore', *each, marks=thorough(_SAME_WAY))
        for each in ((6000, {}), (1500, SPLIT), (1500, OWN)))],
    ids=['disco', 'printed', 'ucb_explore', 'split_samples', 'own_data'])
def test_it_takes_the_same_way_from_any_step(
        base: str, steps: int, others: dict[str, str]) -> None:
    """In the middle of building, of rediscoveries and attempts, with plans that are kept."""
    rng = random.Random(7)
    asked = settings(SETTINGS.problem, overrides={'base': base, **others})
    exploration, simulator = Exploration(asked, seed=3), Simulator(BROKEN_WHEEL, seed=3)
    exploration.robot_answers()
    followers: list[Exploration] = []
    phases = set()
    points = sorted(rng.sample(range(2, steps), strength(5, 24)))
    for step in range(steps):
        if step == steps // 2:
            simulator.change()
        if step in points:
            phases.add(exploration.phase)
            if rng.random() < 0.5:
                exploration.next_action()    # a step is open, or not
            follower = Exploration(
                asked, seed=3, resume=json.loads(json.dumps(exploration.to_state())))
            follower.robot_answers()
            assert fingerprint(follower) == fingerprint(exploration)
            followers = [*followers[-strength(1, 2):], follower]
        if step % strength(500, 1000) == strength(499, 999):
            for each in (exploration, *followers):
                each.lose_place()
        action = exploration.next_action()
        state = simulator.step(action)
        for follower in followers:
            assert follower.next_action() == action, f'at step {step}'
            follower.observe(action, state)
        exploration.observe(action, state)
    assert len(phases) >= 2 and (base != 'disco' or exploration.changes_noticed == 1)
    for follower in followers:
        assert fingerprint(follower) == fingerprint(exploration)


@thorough(
    'checkpoint/test_transition_log.py::'
    'test_the_transition_log_replays_from_the_beginning_bit_for_bit '
    'core/test_exploration.py::test_inputs_are_told_with_the_step_that_was_broken_off')
def test_a_log_of_inputs_leads_to_the_same_exploration_if_steps_were_broken_off() -> None:
    """
    The place is lost, or the robot moved, with an order open or between two orders.

    A step that was asked for and is never observed counts as lost, so that it matters.
    """
    exploration, simulator = Exploration(SETTINGS, seed=3), Simulator(BROKEN_WHEEL, seed=3)
    follower, inputs = Exploration(SETTINGS, seed=3), []
    exploration.listeners.append(lambda taken: inputs.append(taken.input))
    for step in range(1200):
        if step % 31 == 30:
            exploration.next_action()
        if step % 31 == 30 or step % 47 == 46:
            exploration.lose_place()
        if step % 61 == 60:
            exploration.relocate(simulator.state)
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    for made in inputs:
        if isinstance(made, Observation):
            assert follower.next_action() == made.action
        follower.take(made)
    follower.robot_answers()
    assert fingerprint(follower) == fingerprint(exploration)
