# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from mnm_ros.core import Navigation, Policy, RESET, RunState, StepsToGo
import pytest

HOME, TARGET = 4, 7
EAST, WEST = 0, 1
# From home east; in state 5 east at first, and RESET, which is listed, at step 2.
POLICY = Policy(TARGET, 3, (HOME, 5, TARGET), (
    (EAST, EAST, EAST), (EAST, EAST, EAST), (EAST, RESET, EAST)))


def play(*states: int, policy: Policy = POLICY,
         known: StepsToGo | None = None) -> tuple[Navigation, list[int]]:
    """Let the actions lead to these states; return the actions, with the one that is next."""
    navigation = Navigation(policy, HOME, known)
    actions = []
    for state in states:
        actions.append(navigation.next_action())
        navigation.observe(actions[-1], state)
    return navigation, [*actions, navigation.next_action()]


def test_the_way() -> None:
    navigation, actions = play(HOME, 5, TARGET)
    assert actions[:3] == [RESET, EAST, EAST]
    assert navigation.result == 'reached 7 in 2 steps' and navigation.state is RunState.DONE


def test_home_is_reached_by_reset_alone() -> None:
    navigation, _ = play(HOME, policy=Policy(HOME, 3, (HOME,), ((EAST,),)))
    assert navigation.result == 'reached 4 in 0 steps'


@pytest.mark.parametrize(('states', 'expected', 'steps'), [
    ((HOME, HOME, HOME, HOME), [RESET, EAST, EAST, EAST, RESET], 3),    # the horizon
    ((HOME, HOME, HOME, HOME, HOME), [RESET, EAST, EAST, EAST, RESET, EAST], 4),
    ((HOME, 9), [RESET, EAST, RESET], 1),                               # not listed
    ((HOME, HOME, 5, HOME), [RESET, EAST, EAST, RESET, RESET], 3),      # a RESET that is listed
    ((5,), [RESET, RESET], 0),                                          # missed
    ((HOME, 9, 5, HOME), [RESET, EAST, RESET, RESET, EAST], 3),
    ((HOME, HOME, 5, 5), [RESET, EAST, EAST, RESET, RESET], 3)])
def test_what_is_played_and_counted(
        states: tuple[int, ...], expected: list[int], steps: int) -> None:
    navigation, actions = play(*states)
    assert actions == expected and navigation.steps == steps and navigation.result == ''


def test_misses_in_a_row() -> None:
    assert play(5, 9)[0].homing.misses_in_a_row == 2
    assert play(5, 9, HOME)[0].homing.misses_in_a_row == 0


def test_each_execution_is_told_and_those_that_were_broken_off_as_such() -> None:
    told: list[tuple[int, int, int | None]] = []
    navigation = Navigation(POLICY, HOME)
    navigation.on_execution = lambda *execution: told.append(execution)
    for state in (HOME, HOME, 5):    # RESET is none
        navigation.observe(navigation.next_action(), state)
    assert told == [(HOME, EAST, HOME), (HOME, EAST, 5)]
    navigation.relocate(9)    # between two steps
    assert len(told) == 2 and navigation.next_action() == RESET
    navigation.observe(RESET, HOME)
    navigation.next_action()
    navigation.lose_place()
    assert told[2:] == [(HOME, EAST, None)]
    navigation.observe(navigation.next_action(), HOME)
    navigation.next_action()
    navigation.pause('test')
    assert told[3:] == [(HOME, EAST, None)]


def test_moved_by_hand() -> None:
    navigation, _ = play(HOME, 5)
    navigation.relocate(5)
    assert navigation.next_action() == RESET and navigation.steps == 1
    navigation.observe(RESET, HOME)
    assert navigation.next_action() == EAST and navigation.steps == 2


@pytest.mark.parametrize(('end', 'result'), [
    (lambda way: way.pause('enough'), 'cancelled 7: enough'),
    (lambda way: way.finish('max_steps reached'), 'failed 7: max_steps reached'),
    (lambda way: way.robot_lost('silence'), 'failed 7: silence'),
    (lambda way: way.fail('RESET missed'), 'failed 7: RESET missed')])
def test_the_first_end_is_the_end(end: object, result: str) -> None:
    navigation, _ = play(HOME, 5)
    end(navigation)    # type: ignore[operator]
    navigation.observe(EAST, TARGET)
    assert navigation.result == result


def test_a_reset_that_ends_on_the_target_is_no_further_miss() -> None:
    navigation, _ = play(5, TARGET)
    assert navigation.result == 'reached 7 in 0 steps'
    assert navigation.homing.misses_in_a_row == 1


def test_attempts_are_counted() -> None:
    assert play()[0].attempts == play(9)[0].attempts == 0    # not at home yet
    assert play(HOME, HOME, HOME, HOME)[0].attempts == 1
    assert play(HOME, HOME, HOME, HOME, HOME)[0].attempts == 2


def ways(*ways_: tuple[int, ...]) -> StepsToGo:
    """Return what is known after ways that have visited these states."""
    known = StepsToGo(POLICY)
    for states in ways_:
        play(*states, known=known)
    return known


def test_steps_to_go_are_those_of_the_ways_that_have_arrived() -> None:
    assert ways((HOME, 5)).expected(HOME) is None
    known = ways((HOME, 5, TARGET), (HOME, HOME, 5, TARGET))
    assert known.expected(HOME) == (2 + (3 + 2) / 2) / 2
    assert known.expected(5) == 1 and known.expected(None) is None


def test_steps_to_go_when_an_attempt_has_failed() -> None:
    known = ways((HOME, 9, HOME, 5, TARGET))
    assert known.expected(None) == 3 and known.expected(HOME) == (4 + 2) / 2
    lost = ways((HOME, HOME, HOME, HOME, HOME, 5, TARGET))    # the horizon is over at home
    assert lost.expected(None) == 3 and lost.expected(HOME) == (6 + 5 + 4 + 2) / 4


def test_steps_to_go_as_the_way_says_them() -> None:
    known = ways((HOME, 5, TARGET), (5, HOME, 9, HOME, 5, TARGET))
    assert known.expected(HOME) == (2 + 3) / 2
    for states, expected in (
            ((), 2.5), ((5,), 2.5), ((HOME,), 2.5), ((HOME, 5), 1), ((HOME, 9), 3),
            ((HOME, 9, HOME), 2.5), ((HOME, 5, TARGET), None)):
        assert play(*states, known=known)[0].expected_steps_left == expected, states


def test_late_ways_count_most() -> None:
    slow, quick = (HOME, HOME, 5, TARGET), (HOME, 5, TARGET)
    known = ways(*[slow] * 1000)
    assert known.expected(HOME) == pytest.approx(2.5)
    for _ in range(100):
        play(*quick, known=known)
    assert known.expected(HOME) == pytest.approx(2.0, abs=0.01)
