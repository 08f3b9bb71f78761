# SPDX-License-Identifier: Apache-2.0

"""Robots that misbehave: the counts are what happened, and the result is right in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
import random

from diagnostic_msgs.msg import DiagnosticArray
from explorer_here import exploring_here
from faulty_robot import as_steps, end, FaultyRobot, is_right, learns, TRUTH
from node_processes import as_counts, Peer
import pytest
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough

BIG = 2**63 - 1

explorer = pytest.fixture(exploring_here)


def state_lost(robot: FaultyRobot, seq: int) -> bool:
    return True


def action_lost(robot: FaultyRobot, seq: int) -> bool:
    robot.deaf = 1
    return robot.behave(seq)


def answered_late(robot: FaultyRobot, seq: int) -> bool:
    """Tell whether it has been sent again and answered by then."""
    state = robot.state
    robot.later(0.12, lambda: robot.send(seq, state))
    return True


def answered_twice(robot: FaultyRobot, seq: int) -> bool:
    robot.behave(seq)
    return robot.behave(seq)


def out_of_order(robot: FaultyRobot, seq: int) -> bool:
    old = robot.answered[-5:]
    random.Random(seq).shuffle(old)
    for answer in (*old, (seq, robot.state), *old):
        robot.send(*answer)
    return True


def for_another_seq(robot: FaultyRobot, seq: int) -> bool:
    for other in (seq - 1, seq + 1, seq + 10**9, 0, -2, BIG):
        robot.send(other, 2)
    return robot.behave(seq)


def malformed(robot: FaultyRobot, seq: int) -> bool:
    robot.send()
    robot.send(seq)
    robot.send(seq, 2, 2)
    robot.send_with_offset(1, seq, 2)
    robot.send_with_offset(2**31, seq, 2)
    return robot.behave(seq)


def moved_by_hand(robot: FaultyRobot, seq: int) -> bool:
    """While an action is under way."""
    robot.state = 2
    robot.send(-1, 2)
    return False


def moved_where_it_never_was(robot: FaultyRobot, seq: int) -> bool:
    robot.send(-1, random.Random(seq).choice((BIG, -BIG - 1, 10**12)))
    return False


def a_reset_misses(robot: FaultyRobot, seq: int) -> bool:
    robot.misses = 3
    return robot.behave(seq)


@pytest.mark.parametrize('trouble', [
    malformed,
    pytest.param(moved_by_hand, marks=thorough('nodes/test_steps.py::test_relocation')),
    *(pytest.param(trouble, marks=thorough(shown_by=(
        'protocol/test_clients.py::test_meaning '
        'protocol/test_clients.py::test_server_executes_once_and_repeats '
        'nodes/test_steps.py::test_lost_actions_and_answers '
        'nodes/test_time_and_errors.py::test_a_robot_slower_than_the_timeout '
        'core/test_exploration.py::test_a_reset_that_misses_home_is_counted_and_tried_again '
        'nodes/test_robot_faults.py::test_trouble_again_and_again'))) for trouble in (
            state_lost, moved_where_it_never_was, a_reset_misses, action_lost, answered_late,
            answered_twice, for_another_seq, out_of_order))])
def test_trouble_again_and_again(trouble: Callable, explorer: Callable, peer: Peer,
                                 tmp_path: Path) -> None:
    robot = FaultyRobot(peer)
    robot.trouble, robot.every = trouble, strength(8, 20)
    # A base that takes many steps meets much trouble.
    process = explorer(base=strength('disco', 'ucb_explore'), delta=strength(0.5, 0.01),
                       step_timeout=0.05, record=str(tmp_path / 'record'))
    policies = learns(peer)
    assert is_right(policies, tmp_path)
    assert robot.troubles >= strength(10, 20)
    counted = end(peer, process, tmp_path / 'record')
    lost = as_steps(as_counts(robot.executed[1:])) - counted
    assert_only_these_are_lost(lost, robot, trouble)
    if trouble is malformed:
        assert 'state ignored: step message has 0 numbers, expected 2' in process.output


def assert_only_these_are_lost(lost: Counter, robot: FaultyRobot, trouble: Callable) -> None:
    if trouble is moved_where_it_never_was:
        # The RESET that follows is counted from where the robot is said to be.
        lost = Counter({step: n for step, n in lost.items() if step[1] != -1})
        robot.uncounted = [step for step in robot.uncounted if step[1] != -1]
    assert lost == Counter(robot.uncounted)


@thorough('nodes/test_robot_faults.py::test_every_action_stuck_for_a_while')
def test_an_action_that_never_does_anything(explorer: Callable, peer: Peer,
                                            tmp_path: Path) -> None:
    robot = FaultyRobot(peer)
    robot.stuck = {1}
    process = explorer(record=str(tmp_path / 'record'))
    policies = learns(peer)
    stuck = TRUTH.replace(', west: {0: 1.0}', '').replace('2: {west: {1: 1.0}}', '2: {}')
    assert is_right(policies, tmp_path, stuck)
    counted = end(peer, process, tmp_path / 'record')
    assert counted == as_steps(as_counts(robot.executed[1:]))


def test_every_action_stuck_for_a_while(explorer: Callable, peer: Peer, tmp_path: Path) -> None:
    """The run goes on, and what the robot can do again is found."""
    robot = FaultyRobot(peer)
    robot.stuck = {0, 1}
    process = explorer(record=str(tmp_path / 'record'))
    policies = learns(peer)
    assert len(policies[-1].layout.dim) == 3 and policies[-1].layout.dim[0].size == 1
    robot.stuck = set()
    peer.wait_for(lambda: policies[-1].layout.dim[0].size == 3, 'three states')
    assert is_right(policies, tmp_path)
    counted = end(peer, process, tmp_path / 'record')
    assert counted == as_steps(as_counts(robot.executed[1:]))


def test_misses_are_told(explorer: Callable, peer: Peer) -> None:
    robot = FaultyRobot(peer)
    explorer()
    peer.wait_for(lambda: robot.executed, 'the first RESET')
    robot.misses = 7
    heard = peer.listen(DiagnosticArray, '/diagnostics', 10)

    def told() -> bool:
        return bool(heard) and 'reset_misses' in (figures := {
            value.key: value.value for value in heard[-1].status[0].values}) and (
                figures['reset_misses'] == '7')

    peer.wait_for(told, '7 misses in the diagnostics')
    assert robot.missed == 7


@thorough(shown_by=(
    'nodes/test_reset_service.py::test_failing_for_good_is_a_fault_and_an_operator_leads_back '
    'nodes/test_several_robots.py::test_a_fault_of_one_robot_is_no_fault_of_the_others '
    'core/test_exploration.py::test_a_reset_that_misses_home_is_counted_and_tried_again'))
def test_reset_fails_for_good_and_an_operator_leads_back(
        explorer: Callable, peer: Peer, tmp_path: Path) -> None:
    robot = FaultyRobot(peer)
    process = explorer(reset_retries=3, record=str(tmp_path / 'record'))
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.executed) > 60, 'steps')
    response = peer.call(Trigger, 'recover')
    assert not response.success and 'there is no fault' in response.message
    uncounted = []
    for _ in range(3):
        robot.misses = 10**6
        peer.wait_for(lambda: phase[-1].data == 'fault', 'a fault')
        peer.wait_for(lambda: status[-1].data == 'fault: RESET led to state 1 instead of home, '
                      'state 0, 4 times in a row', 'the reason')
        commanded = peer.wait_for_rest(lambda: len(robot.received), 'its last command', 0.3)
        assert [action for _, action in robot.received[-5:]] == [-1] * 5
        uncounted.append(robot.executed[-1])    # the command to go home, when it was over
        response = peer.call(SetBool, 'explore', SetBool.Request(data=True))
        assert not response.success
        assert 'the service recover leads out of the fault' in response.message
        assert len(robot.received) == commanded
        robot.misses = 0
        assert peer.call(Trigger, 'recover').success
        peer.wait_for(lambda: '/' in phase[-1].data, 'exploration again')
        assert robot.executed[commanded][1] == -1
        uncounted.append(robot.executed[commanded])    # from wherever
    assert is_right(learns(peer), tmp_path)
    counted = end(peer, process, tmp_path / 'record')
    lost = as_steps(as_counts(robot.executed[1:])) - counted
    assert lost == Counter(uncounted)
