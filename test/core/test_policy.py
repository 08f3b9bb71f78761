# SPDX-License-Identifier: Apache-2.0

"""Policies and hypotheses are values."""

import dataclasses
import tracemalloc

from mnm_ros.core import Hypothesis, over_own_targets, Policy, Problem, RESET
import numpy as np
import pytest

STATIONARY = Policy(7, 5, (0, 3), ((1, 2),))


def test_a_stationary_policy_plays_the_same_at_each_step_until_the_horizon() -> None:
    assert [STATIONARY.action(step, 3) for step in range(6)] == [2, 2, 2, 2, 2, RESET]


def test_a_policy_plays_reset_in_states_it_does_not_know() -> None:
    assert STATIONARY.action(0, 99) == RESET
    assert not STATIONARY.covers(99) and STATIONARY.covers(3)


def test_a_policy_may_depend_on_the_step() -> None:
    policy = Policy(7, 2, (0,), ((1,), (0,)))
    assert [policy.action(step, 0) for step in range(3)] == [1, 0, RESET]


def test_a_policy_predicts_as_stable_baselines3_asks_for_it() -> None:
    assert STATIONARY.predict(3) == (2, None)
    assert type(STATIONARY.predict(np.int64(0), deterministic=True)[0]) is int
    several, state = STATIONARY.predict(np.array([0, 3, 99]))
    assert several.tolist() == [1, 2, RESET] and state is None


def test_one_that_depends_on_the_step_is_given_it_back_as_its_state() -> None:
    policy = Policy(7, 3, (0,), ((1,), (0,), (2,)))
    action, state = policy.predict(0)
    played = [action]
    for _ in range(4):
        action, state = policy.predict(0, state)
        played.append(action)
    assert played == [1, 0, 2, RESET, 1]    # RESET leads home, where it begins again
    _, state = policy.predict(np.array([0, 0]))
    actions, state = policy.predict(np.array([0, 0]), state, np.array([True, False]))
    assert actions.tolist() == [1, 0] and state.tolist() == [1, 2]
    assert policy.predict(np.array([0, 5]), state)[0].tolist() == [0, RESET]


def test_confined_to_other_states_it_plays_reset_where_it_knew_nothing() -> None:
    assert STATIONARY.on((3, 8, 0)) == Policy(7, 5, (3, 8, 0), ((2, RESET, 1),))
    assert STATIONARY.on((0, 3)) is STATIONARY


def test_a_policy_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        STATIONARY.target = 8  # type: ignore[misc]


@pytest.mark.parametrize(('arguments', 'text'), [
    ((7, 0, (0,), ((1,),)), 'horizon is 0'),
    ((7, 5, (0,), ((1,), (1,))), '2 rows'),
    ((7, 5, (0, 1), ((1,),)), '1 actions in a row'),
    ((7, 5, (0, 0), ((1, 1),)), 'listed twice'),
])
def test_a_policy_of_the_wrong_shape_is_refused(arguments: tuple, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Policy(*arguments)


def test_a_hypothesis_has_one_policy_for_each_of_its_states() -> None:
    policies = (Policy(0, 5, (0, 7), ((RESET, 1),)), Policy(7, 5, (0, 7), ((1, 0),)))
    hypothesis = Hypothesis(2, 3, 5, policies)
    assert hypothesis.targets == (0, 7)
    assert hypothesis.version == (2, 3)
    assert hypothesis.policy_for(7) is policies[1]
    with pytest.raises(KeyError):
        hypothesis.policy_for(1)


def test_a_hypothesis_of_policies_over_other_states_is_refused() -> None:
    with pytest.raises(ValueError, match='covers'):
        Hypothesis(1, 0, 5, (STATIONARY,))
    with pytest.raises(ValueError, match='horizon'):
        Hypothesis(1, 0, 6, (Policy(0, 5, (0,), ((RESET,),)),))


@pytest.mark.parametrize(('arguments', 'text'), [
    ((0, 4.0, 1.0, 0.1), 'actions is 0'),
    ((2, 0.5, 1.0, 0.1), 'radius is 0.5'),
    ((2, float('inf'), 1.0, 0.1), 'radius is inf'),
    ((2, 1e308, 1.0, 0.1), r'radius is 1e\+308, expected a number in \[1, 1000\]'),
    ((2, 4.0, 1e308, 0.1), r'epsilon is 1e\+308, expected a number in \[0.001, 1000\]'),
    ((2, 4.0, 0.0, 0.1), 'epsilon is 0.0'),
    ((2, 4.0, 1.0, 1.0), 'delta is 1.0'),
    ((2, 4.0, 1.0, float('nan')), 'delta is nan'),
    (('4', 4.0, 1.0, 0.1), "actions is '4', expected an int"),
    ((2.5, 4.0, 1.0, 0.1), 'actions is 2.5, expected an int'),
    ((True, 4.0, 1.0, 0.1), 'actions is True, expected an int'),
    ((2, None, 1.0, 0.1), 'radius is None, expected a number'),
    ((2, 4.0, True, 0.1), 'epsilon is True, expected a number'),
    ((2, 4.0, 1.0, 'x'), "delta is 'x', expected a number"),
    ((2, 4.0, 1.0, 0.1, None), 'support is None, expected a Support'),
])
def test_a_problem_without_sense_is_refused(arguments: tuple, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Problem(*arguments)


def test_policies_over_more_and_more_states_share_what_tells_columns() -> None:
    """A later order must not teach an earlier policy states that it does not know."""
    first = Policy(7, 5, (0, 3), ((1, 2),))
    later = Policy(8, 5, (0, 3, 8), ((1, 2, 0),))
    other = Policy(9, 5, (0, 8, 3), ((1, 2, 0),))
    assert [first.action(0, state) for state in (0, 3, 8)] == [1, 2, RESET]
    assert [later.action(0, state) for state in (0, 3, 8)] == [1, 2, 0]
    assert [other.action(0, state) for state in (0, 3, 8)] == [1, 0, 2]
    assert not first.covers(8) and later.covers(8)
    assert first.on((8, 3)) == Policy(7, 5, (8, 3), ((RESET, 2),))
    assert first.on((0, 3, 8)) == Policy(7, 5, (0, 3, 8), ((1, 2, RESET),))


def test_a_state_listed_twice_is_refused_beside_policies_over_the_same_beginning() -> None:
    policy = Policy(7, 5, (10, 13), ((1, 2),))
    for states in ((10, 13, 10), (10, 13, 14, 14), (10, 10)):
        with pytest.raises(ValueError, match='listed twice'):
            Policy(7, 5, states, ((0,) * len(states),))
    assert not policy.covers(14)


def test_the_policies_of_a_hypothesis_share_what_tells_columns() -> None:
    policies = [Policy(target, 5, (70, 73), ((1, 2),)) for target in (70, 73)]
    assert policies[0]._order is not policies[1]._order
    Hypothesis(1, 0, 5, tuple(policies))
    assert policies[0]._order is policies[1]._order
    assert policies[1].action(0, 73) == 2


def test_policies_take_little_more_memory_than_their_actions() -> None:
    """A map of columns for each policy took 38 bytes and more for each action."""
    count = 400
    known = tuple(range(10**6, 10**6 + count))
    tracemalloc.start()
    try:
        grown = [Policy(state, 50, known[:index + 1], ((0,) * (index + 1),))
                 for index, state in enumerate(known)]
        hypothesis = Hypothesis(1, 0, 50, over_own_targets(grown))
        assert all(policy.covers(known[-1]) for policy in hypothesis.policies)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(hypothesis.policies) == count
    assert taken < 20 * count**2    # 8 for the actions, and 8 for what grew
