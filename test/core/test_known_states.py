# SPDX-License-Identifier: Apache-2.0

"""Which known states are dropped when less is known of where pairs lead."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mnm_ros.core import Policy, Problem, RESET
from mnm_ros.core.disco.known import KnownStates
import pytest

PROBLEM = Problem(2, 4.0, 1.0, 0.1)
STATES = (0, 1, 2)
HOME = Policy(0, 9, STATES, ((RESET,) * 3,))
GIVEN = Policy(4, 9, STATES, ((0, 1, 1),))    # that the run begins with, as with home
TO_ONE = Policy(1, 9, STATES, ((0, RESET, 1),))    # does not come by at 2
TO_TWO = Policy(2, 9, STATES, ((0, 1, RESET),))    # through 1
TO_THREE = Policy(3, 9, STATES, ((1, RESET, RESET),))


def known(*too_slow: int) -> KnownStates:
    """Return the states, where models cannot show that the policies to some are fast enough."""
    examiner: Any = SimpleNamespace(
        evidence=[], bound=lambda policy: PROBLEM.limit + (policy.target in too_slow),
        executed=lambda policy: [*zip(policy.states[:2], policy.actions[0])])
    tests: Any = SimpleNamespace(begun={})
    states = KnownStates(PROBLEM, tests, examiner)
    states.policies.update({0: HOME, 4: GIVEN})
    for policy in (TO_ONE, TO_TWO, TO_THREE):
        states.put(policy, 3.0)
    return states


@pytest.mark.parametrize('attempts', [True, False])
@pytest.mark.parametrize(('too_slow', 'pair', 'left'), [
    ([], (0, 0), [1, 2, 3]), ([1, 4], (0, 0), [3]), ([2], (0, 0), [1, 3]),
    ([1, 2, 3], (0, 1), [1, 2]), ([1, 2, 3], (2, 0), [1, 2, 3])])
def test_a_state_that_the_sets_certify_no_more_is_dropped_with_those_behind_it(
        too_slow: list[int], pair: tuple[int, int], left: list[int], attempts: bool) -> None:
    states = known(*too_slow)
    for target in (1, 2, 3):
        states.by_model[target] = None
    states.check_again([pair], attempts=attempts)
    assert [*states.policies] == [0, 4, *left] and [*states.estimates] == left


@pytest.mark.parametrize(('attempts', 'pair', 'left'), [
    (True, (0, 0), [1, 2, 3]), (False, (0, 0), [3]), (False, (1, 1), [1, 3]),
    (False, (2, 1), [1, 2, 3])])
def test_a_state_that_a_test_certifies_is_dropped_once_its_attempts_say_no_more_what_they_did(
        attempts: bool, pair: tuple[int, int], left: list[int]) -> None:
    states = known(1, 2, 3)
    states.check_again([pair], attempts=attempts)
    assert [*states.policies] == [0, 4, *left]
