# SPDX-License-Identifier: Apache-2.0

"""What an exploration says that it is doing, and that asking it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import random

from mnm_ros.core import Activity, Declaration, Exploration, Policy, Problem, RESET, settings
from mnm_ros.core.knowledge.expected_plays import expected_plays, ExpectedPlays, steps_of
from mnm_ros.core.presets import settings_by_name
from mnm_ros.core.progress.said import Because, InWords
from mnm_ros.core.progress_estimator import steps_until_proven
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength, thorough

TWO_ROOMS, WHEEL = load('two_rooms'), load('broken_wheel')


def explorer(scenario: Scenario = TWO_ROOMS, **options: object) -> Exploration:
    return Exploration(settings_by_name({
        'actions': scenario.actions, 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', **options}))


def steps(exploration: Exploration, count: int, change_at: int = -1,
          scenario: Scenario = TWO_ROOMS) -> Iterator[int]:
    """Make steps and yield the number of each."""
    simulator = Simulator(scenario)
    for step in range(count):
        if step == change_at:
            simulator.change()
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        yield step


def test_a_base_without_an_outlook_has_progress_by_simulation_alone() -> None:
    exploration = Exploration(settings(
        Problem(2, 1.0, 1.0, 0.5), overrides={'base': 'ucb_explore'}))
    exploration.declare(Declaration({0: ((0, 1), (0,)), 1: ((1,), (0, 1))}))
    exploration.robot_answers()
    state, found = 0, set[str]()
    while exploration.hypothesis is None and exploration.steps < 200:
        action = exploration.next_action()
        state = 0 if action == RESET else min(max(state + 1 - 2 * action, 0), 1)
        exploration.observe(action, state)
        progress = exploration.activity().progress if exploration.hypothesis is None else None
        found.update([progress.aim] if progress else [])
    assert found == {'first hypothesis'}


@thorough('core/test_queries.py::test_no_query_has_an_effect')
@pytest.mark.parametrize('options', [
    {}, {'base': 'ucb_explore', 'evaluation': 'monte_carlo', 'accuracy_divisor': 2.0},
    {'checks': 'hoeffding', 'check_window': 1}])
def test_asking_changes_nothing(options: dict) -> None:
    told = []
    for asked in (False, True):
        exploration, rng, played = explorer(
            WHEEL, **{'radius': 4.0, **options}), random.Random(7), []
        for step in steps(exploration, 2500, 1200, WHEEL):
            played.append(exploration.last_state)
            if rng.random() < 0.002:
                exploration.lose_place()
            if asked and step % 7 == 0:
                activity = exploration.activity()
                assert Activity.from_json(activity.to_json()) == activity
                assert activity.said
        told.append((played, exploration.counts, exploration.hypothesis, exploration.events))
    assert told[0] == told[1]


def test_the_story_of_a_change() -> None:
    exploration, heard, known = explorer(), [], {}
    count, change = strength((4100, 1600), (13_000, 7000))
    for step in steps(exploration, count, change):
        if step % 50 == 0:
            heard.append(exploration.activity())
        if step == change - 1:
            before = {tuple(row[:3]) for row in exploration.history.rows()}
            known = dict(exploration.activity().expected_steps)
    aims = [activity.progress.aim for activity in heard if activity.progress]
    assert list(dict.fromkeys(aims)) == ['first hypothesis', 'check', 'relearning']
    assert {activity.doing for activity in heard} == {'sampling', 'testing', 'watching'}
    assert {test.kind for activity in heard for test in activity.tests} >= {
        'policy', 'detector', 'proof', 'rediscovery'}
    for activity in heard:
        if activity.progress:
            low, expected = activity.progress.low, activity.progress.expected
            assert low <= expected <= activity.progress.high
            assert activity.progress.done <= expected
        shares = [test.share for test in activity.tests]
        assert shares == sorted(shares, reverse=True) and len(shares) <= 20
        assert activity.home == 6 and activity.limit == 8.0
    last = heard[-1]
    assert exploration.hypothesis and exploration.changes_relearnt == 1
    assert set(last.expected_steps) == set(exploration.hypothesis.targets)
    assert set(last.lost) == set(known) - set(last.expected_steps) and len(last.lost) > 3
    assert last.expected_steps[6] == 0.0
    assert all(value and 1 <= value <= 8 for state, value in last.expected_steps.items()
               if state != 6)
    # Where the door was, nothing leads any more; all that was ever seen is kept all the same.
    now = {tuple(row[:3]) for row in exploration.history.rows()}
    assert before - now
    assert before <= {(state, action, after) for (state, action), nexts
                      in exploration.counts.items() for after in nexts}
    known = exploration.knowledge(())
    for state in exploration.hypothesis.targets:
        assert {(state, action, after) for action, after, _ in known.successors(state)} == {
            row for row in now if row[0] == state and row[1] != RESET}


def test_what_a_certificate_lacks_is_told() -> None:
    exploration = explorer(load('trap'), epsilon=0.2)
    assert any(test.kind == 'certificate' and 0.1 < test.share < 1 and test.action is None
               for step in steps(exploration, 1000, scenario=load('trap'))
               if step % strength(5, 1) == 0 for test in exploration.activity().tests)


def test_what_speaks_against_a_transition_is_told() -> None:
    exploration, told = explorer(WHEEL), []
    count, change = strength((700, 600), (1600, 1500))
    for step in steps(exploration, count, change, WHEEL):
        if step % strength(5, 1):
            continue
        told += [test for test in exploration.activity().tests if test.kind == 'transition']
        assert not told or step > change
        if any(0.1 < test.share < 1 and test.action is not None for test in told):
            return
    raise AssertionError(told)


def test_the_prediction_comes_closer() -> None:
    exploration, expected = explorer(delta=strength(0.5, 0.1)), []
    for _ in steps(exploration, strength(1500, 4000)):
        progress = exploration.activity().progress if exploration.steps % 20 == 0 else None
        if progress and progress.aim == 'first hypothesis':
            expected.append(progress.expected)
        if exploration.hypothesis:
            break
    first = 20 * len(expected)
    assert strength(500, 1000) < first < 4000
    for share in (0.25, 0.5, 0.75):
        assert 0.4 < expected[int(share * len(expected))] / first < 2.5
    assert 0.9 < expected[-1] / first < 1.7


def test_who_is_paused_does_nothing() -> None:
    exploration = explorer()
    assert exploration.activity() == Activity(
        limit=8.0)
    list(steps(exploration, 100))
    exploration.pause('lunch')
    activity = exploration.activity()
    assert activity.doing == 'idle' and activity.said == Because('paused', InWords('lunch'))
    assert activity.target is activity.action is None
    assert activity.step == 100 and activity.candidates


LINE: Mapping[tuple[int, int], Mapping[int, int]] = {
    (0, 0): {1: 5, 0: 5}, (1, 0): {2: 1}, (2, 0): {0: 1, 9: 3}}


@pytest.mark.parametrize('target, states, actions, horizon, expected', [
    (0, (0, 1), (RESET, RESET), 8, 0.0),
    (1, (0, 1), (0, 0), 60, 2.0),           # half of the tries arrive
    (2, (0, 1, 2), (0, 0, 0), 60, 3.0),
    (1, (0, 1), (0, 0), 1, 3.0),            # and a RESET after each failure
    (2, (0, 2), (0, 0), 8, None),           # it never goes beyond 1, where it gives up
    (2, (0, 1, 2), (0, RESET, 0), 20, None),
    (9, (0, 1, 2), (0, 0, 0), 60, 4 + 4 / 3),
    (7, (0, 1), (3, 0), 8, None)])          # nobody knows what action 3 does
def test_expected_steps(target: int, states: tuple, actions: tuple, horizon: int,
                        expected: float | None) -> None:
    policy = Policy(target, horizon, states, (actions,))
    found = steps_of(expected_plays(
        policy, 0, lambda state, action: LINE.get((state, action), {})))
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-2))


def test_many_policies_are_worked_out_in_turns() -> None:
    targets = tuple(range(60))
    policies = [Policy(target, 4, targets, (tuple(targets),)) for target in targets]

    def following(state: int, action: int) -> Mapping[int, int]:
        return dict.fromkeys(targets, 1)

    kept = ExpectedPlays()
    unknown = [list(kept.of(policies, 0, following).values()).count(None) for _ in range(3)]
    assert unknown == [35, 10, 0]
    assert kept.of((), 0, following) == kept.of(policies, None, following) == {}


def test_a_smaller_radius_is_told_until_the_first_hypothesis() -> None:
    exploration = explorer()
    list(steps(exploration, 600))
    found = exploration.activity().progress
    assert found is not None and 1 <= found.smaller_radius < 4
    assert 0 < found.smaller_expected <= found.expected / 2
    assert Activity.from_json(exploration.activity().to_json()).progress == found


def test_a_failed_attempt_costs_a_reset() -> None:
    plays = expected_plays(Policy(1, 1, (0, 1), ((0, 0),)), 0, lambda *_: LINE[0, 0])
    assert plays == pytest.approx({0: 2.0, RESET: 1.0})    # every second attempt fails


def test_attempts_left() -> None:
    assert steps_until_proven({}, 5, {}, 8.0, 16) == 0
    one = steps_until_proven({1: 5.0}, 5, {1: 2.0}, 8.0, 16)
    assert one == steps_until_proven({1: 5.0}, 5, {1: 2.0}, 8.0, 16) > 0
    assert steps_until_proven({1: 5.0, 2: 5.0}, 5, {1: 2.0, 2: None}, 8.0, 16) > one
    assert steps_until_proven({1: 5.0}, 5, {1: 99.0}, 8.0, 16) > one
