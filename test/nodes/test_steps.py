# SPDX-License-Identifier: Apache-2.0

"""The step protocol between the explorer and a robot that does not always behave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import threading

from explorer_here import ExplorerHere, exploring_here
from node_processes import as_counts, DEADLINE, Peer, read_counts, ScriptedRobot
import pytest
from std_msgs.msg import String
from std_srvs.srv import SetBool
from tiers import strength, thorough

explorer = pytest.fixture(exploring_here)


def quiet(peer: Peer, process: ExplorerHere) -> None:
    """Pause after the current step, so that nothing is under way, and stop."""
    phase = peer.listen(String, 'phase')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data in ('paused', 'done'), 'paused')
    assert process.stop() == 0


def test_robot_absent_then_present(explorer: Callable, peer: Peer) -> None:
    explorer(step_timeout=30.0)
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status and '(no node subscribes to /action)' in status[-1].data,
                  'the reason')
    peer.wait_for(lambda: phase[-1].data == 'waiting_for_robot', 'the phase')
    robot = ScriptedRobot(peer)
    peer.wait_for(lambda: robot.received, 'the first action, without waiting for the timeout')
    assert robot.received[0][1] == -1
    peer.wait_for(lambda: phase[-1].data.startswith('building/'), 'exploration')


def test_lost_actions_and_answers(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                  tmp_path: Path) -> None:
    process = explorer(step_timeout=0.1, step_retries=30, record=str(tmp_path / 'record'))
    for deaf, mute in ((1, 0), (0, 1), (2, 0), (0, 2)):
        before = len(robot.executed)
        robot.deaf, robot.mute = deaf, mute
        peer.wait_for(lambda: len(robot.executed) > before + 20, 'more steps')  # noqa: B023
    quiet(peer, process)
    assert len(robot.received) >= len(robot.executed) + 4
    assert read_counts(tmp_path / 'record') == as_counts(robot.executed[1:])


def test_robot_counts_as_lost_and_is_found_again(explorer: Callable, peer: Peer,
                                                 robot: ScriptedRobot) -> None:
    explorer(step_timeout=0.1, step_retries=1)
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: phase[-1].data.startswith('building/'), 'exploration')
    robot.deaf = 10**6
    # A robot that was only slow counts as lost, too, and gets another command once it answers.
    peer.wait_for(lambda: len({*robot.received[-4:]}) == 1, 'a command without an answer')
    peer.wait_for(lambda: phase[-1].data == 'waiting_for_robot', 'robot lost')
    peer.wait_for(lambda: status[-1].data == 'waiting for the robot: the robot does not answer',
                  'the reason')
    last = robot.received[-1]
    count = len(robot.received)
    peer.wait_for(lambda: len(robot.received) > count + 3, 'still trying')
    assert set(robot.received[count:]) == {last}
    robot.deaf = 0
    peer.wait_for(lambda: phase[-1].data.startswith('building/'), 'exploration again')


def test_a_call_to_go_on_succeeds_while_a_late_answer_is_taken(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    process = explorer(step_timeout=0.1, step_retries=1)
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase[-1].data.startswith('building/'), 'exploration')
    robot.deaf = 10**6
    peer.wait_for(lambda: phase[-1].data == 'waiting_for_robot', 'robot lost')
    assert peer.call(SetBool, 'explore', SetBool.Request(data=False)).success
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    session, gate = process.node._session, threading.Event()
    observe = session.exploration.observe

    def slowly(action: int, state: int) -> None:
        gate.wait(DEADLINE)
        observe(action, state)

    session.exploration.observe = slowly
    robot.answer(robot.received[-1][0])
    peer.wait_for(lambda: session.busy, 'the step')
    response = peer.call(SetBool, 'explore', SetBool.Request(data=True))
    assert (response.success, response.message) == (True, 'exploring') and session.busy
    robot.deaf = 0
    gate.set()
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 5, 'steps')
    assert robot.executed[count][1] == -1


def test_another_robot_begins_with_reset(start: Callable) -> None:
    """A robot that was started anew may be anywhere: what was under way is not repeated."""
    start('explorer', actions=['east', 'west'], step_timeout=0.5)
    for _ in range(strength(2, 3)):
        other = Peer()
        robot = ScriptedRobot(other)
        robot.state = 1
        other.wait_for(lambda: len(robot.executed) > 25, 'steps')    # noqa: B023
        other.close()
        assert robot.executed[0] == (1, -1, 0)


@thorough('protocol/test_clients.py::test_meaning '
          'nodes/test_robot_faults.py::test_trouble_again_and_again')
def test_noise_changes_nothing(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                               tmp_path: Path) -> None:
    def noise(seq: int, state: int) -> None:
        robot.send()
        robot.send(1, 2, 3)
        robot.send(seq)
        robot.send(seq - 1, 2)       # old
        robot.send(seq + 5, 2)       # from nowhere
        robot.send(seq, state)       # the answer comes once more after this

    robot.around = noise
    process = explorer(record=str(tmp_path / 'record'))
    peer.wait_for(lambda: len(robot.executed) > 60, 'steps')
    quiet(peer, process)
    assert read_counts(tmp_path / 'record') == as_counts(robot.executed[1:])
    assert 'state ignored: step message has 0 numbers, expected 2' in process.output


def test_relocation(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                    tmp_path: Path) -> None:
    process = explorer(record=str(tmp_path / 'record'))
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 1
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count, 'an action under way')
    uncounted = len(robot.executed) - 1
    robot.state = 2
    robot.send(-1, 2)
    peer.wait_for(lambda: len(robot.executed) > count + 30, 'more steps')
    quiet(peer, process)
    after = robot.executed[uncounted + 1]
    assert after == (2, -1, 0)
    counted = robot.executed[1:uncounted] + robot.executed[uncounted + 1:]
    assert read_counts(tmp_path / 'record') == as_counts(counted)


def test_pause_and_resume(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                          tmp_path: Path) -> None:
    process = explorer(record=str(tmp_path / 'record'))
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    assert peer.call(SetBool, 'explore', SetBool.Request(data=False)).success
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    peer.wait_for(lambda: status[-1].data.startswith('paused by service explore'),
                  'the reason')
    paused_at = len(robot.received)
    peer.spin(0.3)
    assert len(robot.received) == paused_at
    assert peer.call(SetBool, 'explore', SetBool.Request(data=True)).success
    peer.wait_for(lambda: len(robot.received) > paused_at + 30, 'steps again')
    assert robot.executed[paused_at][1] == -1
    quiet(peer, process)
    counted = robot.executed[1:paused_at] + robot.executed[paused_at + 1:]
    assert read_counts(tmp_path / 'record') == as_counts(counted)


def test_pause_without_robot(explorer: Callable, peer: Peer) -> None:
    explorer()
    phase = peer.listen(String, 'phase')
    for wanted, expected in ((False, 'paused'), (True, 'waiting_for_robot')):
        assert peer.call(SetBool, 'explore', SetBool.Request(data=wanted)).success
        peer.wait_for(lambda: phase[-1].data == expected, expected)    # noqa: B023


def test_limit_of_steps(explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    process = explorer(max_steps=25)
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: phase[-1].data == 'done', 'done')
    peer.wait_for(lambda: status[-1].data == 'done: max_steps reached: 25 steps', 'the reason')
    assert len(robot.executed) == 25
    response = peer.call(SetBool, 'explore', SetBool.Request(data=True))
    assert not response.success and 'exploration is over' in response.message
    assert process.running


def test_limit_of_time(explorer: Callable, peer: Peer) -> None:
    process = explorer(max_duration=0.5, step_timeout=0.1, step_retries=0)
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status[-1].data == 'done: max_duration reached', 'done')
    assert process.running


def test_limit_of_time_while_exploring(explorer: Callable, peer: Peer,
                                       robot: ScriptedRobot) -> None:
    explorer()
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.received) > 1, 'steps')
    assert peer.set_parameter('explorer', 'max_duration', 0.1).successful
    peer.wait_for(lambda: status[-1].data == 'done: max_duration reached', 'done')
    count = len(robot.received)
    peer.spin(0.3)
    assert len(robot.received) == count
