# SPDX-License-Identifier: Apache-2.0

"""RESET by calling the service ``return_home``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from explorer_here import exploring_here
from hurried import passing_time
from node_processes import as_counts, Peer, read_counts, ScriptedRobot
import pytest
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tiers import thorough

explorer = pytest.fixture(exploring_here)


class HomeServer:
    """Offers ``return_home`` for a scripted robot; reports before or after the response."""

    def __init__(self, peer: Peer, robot: ScriptedRobot, early: bool) -> None:
        self.refusals = 0
        self.silent = 0
        self.calls = 0
        self._robot = robot
        self._early = early
        peer.node.create_service(Trigger, 'return_home', self._serve)

    def _serve(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.calls += 1
        robot = self._robot
        if self.refusals:
            self.refusals -= 1
            response.success, response.message = False, 'the door is closed'
            return response
        if robot.executed[-1:] != [(robot.state, -1, 0)]:
            robot.executed.append((robot.state, -1, 0))
        robot.state = 0
        if self.silent:
            self.silent -= 1
        elif self._early:
            robot.send(-1, 0)
        else:
            self.report_later()
        response.success = True
        return response

    def report_later(self) -> None:
        timer = self._robot.peer.node.create_timer(0.01, lambda: report())

        def report() -> None:
            timer.cancel()
            self._robot.send(-1, 0)


@pytest.mark.parametrize('early', [True, pytest.param(False, marks=thorough(
    'nodes/test_reset_service.py::test_reset_by_service'))])
def test_reset_by_service(explorer: Callable, peer: Peer, robot: ScriptedRobot, early: bool,
                          tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = HomeServer(peer, robot, early)
    # Long enough for a busy machine: a step that is overdue is given up, and not counted.
    process = explorer(
        reset_mode='service', step_timeout=8.0, record=str(tmp_path / 'record'))
    peer.wait_for(lambda: len(robot.executed) > 40 and home.calls > 3, 'steps')
    home.refusals = home.silent = 1
    count, put_forward = len(robot.executed), passing_time(monkeypatch)
    peer.wait_for(lambda: put_forward(0.05) or not home.refusals and not home.silent
                  and len(robot.executed) > count + 20, 'steps after trouble')
    phase = peer.listen(String, 'phase')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert process.stop() == 0
    assert all(action != -1 for _, action in robot.received)
    recorded, executed = read_counts(tmp_path / 'record'), as_counts(robot.executed)
    for state, actions in executed.items():
        for action, following in actions.items():
            if action != '-1':
                assert recorded[state][action] == following


def test_service_absent_then_present(explorer: Callable, peer: Peer,
                                     robot: ScriptedRobot) -> None:
    explorer(reset_mode='service', step_timeout=30.0)
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: phase and status and '(no node offers /return_home)' in status[-1].data,
                  'the reason')
    assert not robot.received and phase[-1].data == 'waiting_for_robot'
    HomeServer(peer, robot, early=False)
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps, without waiting for the timeout')


def test_refusal_is_told(explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    home = HomeServer(peer, robot, early=False)
    explorer(reset_mode='service', step_timeout=0.1, step_retries=0, reset_retries=10**6)
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')
    home.refusals = 10**6
    peer.wait_for(lambda: status[-1].data ==
                  'waiting for the robot: return_home failed: the door is closed', 'the reason')
    home.refusals = 0
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 10, 'steps again')


def test_failing_for_good_is_a_fault_and_an_operator_leads_back(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    home = HomeServer(peer, robot, early=False)
    process = explorer(reset_mode='service', step_timeout=0.1, reset_retries=2,
                       record=str(tmp_path / 'record'))
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')
    home.refusals = 10**6
    peer.wait_for(lambda: phase[-1].data == 'fault', 'a fault')
    peer.wait_for(lambda: status[-1].data == 'fault: return_home failed 3 times in a row: '
                  'the door is closed', 'the reason')
    calls, commands = home.calls, len(robot.received)
    peer.wait_for(lambda: home.calls > calls, 'it is called home still')
    response = peer.call(SetBool, 'explore', SetBool.Request(data=True))
    assert not response.success
    assert 'the service recover leads out of the fault' in response.message
    home.refusals = 0
    peer.spin(0.3)
    assert len(robot.received) == commands
    assert peer.call(Trigger, 'recover').success
    peer.wait_for(lambda: len(robot.received) > commands + 30, 'steps again')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert process.stop() == 0
    recorded, executed = read_counts(tmp_path / 'record'), as_counts(robot.executed)
    assert all(n <= executed[state][action].get(after, 0)
               for state, row in recorded.items() for action, nexts in row.items()
               for after, n in nexts.items())


@thorough('nodes/test_navigator_exploring.py::test_every_known_state_while_exploration_waits '
          'nodes/test_reset_service.py::test_reset_by_service')
def test_simulated_robot(start: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    simulator = start('cmp_sim', scenario=scenario, record=str(tmp_path / 'simulator'))
    process = start('explorer', actions=['east', 'west'], reset_mode='service',
                    max_steps=300, record=str(tmp_path / 'explorer'))
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase[-1].data == 'done', 'done')
    assert process.stop() == 0 and simulator.stop() == 0
    recorded, played = read_counts(tmp_path / 'explorer'), read_counts(tmp_path / 'simulator')
    # The first RESET comes from a state that the explorer does not know, and a call whose response
    # is late on a busy machine is made again, when the robot is at home.
    assert played['0']['-1'].pop('0') > recorded['0']['-1'].pop('0')
    assert recorded == played


def test_an_action_given_up_before_load_is_known_after_it(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    """The robot executes it between the way home and the next action."""
    home = HomeServer(peer, robot, early=False)
    explorer(reset_mode='service', step_timeout=0.2, step_retries=0,
             checkpoint_dir=str(tmp_path / 'kept'))
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: len(robot.executed) > 40, 'steps')
    count, robot.deaf = len(robot.received), 10**6
    peer.wait_for(lambda: len(robot.received) > count, 'an action without an answer')
    peer.wait_for(lambda: phase[-1].data == 'waiting_for_robot', 'given up')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    seq, _ = robot.received[-1]
    assert peer.call(Trigger, 'load').success
    assert peer.set_parameter('explorer', 'step_timeout', 60.0).successful
    count, calls = len(robot.received), home.calls
    peer.call(SetBool, 'explore', SetBool.Request(data=True))
    peer.wait_for(lambda: len(robot.received) > count, 'the first action from home')
    assert home.calls == calls + 1
    robot.send(seq, 1)
    peer.wait_for(lambda: home.calls > calls + 1, 'another way home')
