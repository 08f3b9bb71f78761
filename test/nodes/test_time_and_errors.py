# SPDX-License-Identifier: Apache-2.0

"""Slow robots, clocks that jump or stand still, parameters that change, and bugs."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path

from builtin_interfaces.msg import Time
from faulty_robot import as_steps, end, is_right, learns
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_processes import as_counts, Peer, read_counts, ScriptedRobot
import pytest
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough

INJECTED = 'fault: ZeroDivisionError: injected'


def assert_same(recorded: Path, played: Path) -> None:
    """All counts but that of the first RESET, whose beginning the explorer does not know."""
    lost = as_steps(read_counts(played)) - as_steps(read_counts(recorded))
    assert lost == {(0, -1, 0): 1}
    assert not as_steps(read_counts(recorded)) - as_steps(read_counts(played))


def test_a_robot_slower_than_the_timeout(start: Callable, explorer: Callable, peer: Peer,
                                         scenario: str, tmp_path: Path) -> None:
    """Every answer comes after the action was sent again; then the timeout is raised."""
    simulator = start('cmp_sim', scenario=scenario, latency=0.06,
                      record=str(tmp_path / 'simulator'))
    process = explorer(step_timeout=0.02, step_retries=1000, max_steps=strength(20, 60),
                       record=str(tmp_path / 'explorer'))
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase[-1].data == 'done', 'done')
    assert process.stop() == 0 and simulator.stop() == 0
    phases = [message.data for message in phase]
    first = next((i for i, name in enumerate(phases) if '/' in name), 0)
    assert 'waiting_for_robot' not in phases[first + 1:]
    assert_same(tmp_path / 'explorer', tmp_path / 'simulator')


@pytest.mark.parametrize('jumps', [False, pytest.param(True, marks=thorough(
    'nodes/test_time_and_errors.py::test_simulated_time '
    'protocol/test_clients.py::test_simulated_time_is_told_and_real_time_is_waited_for '
    'protocol/test_clients.py::test_a_clock_that_is_set_back_measures_nothing'))],
    ids=['standing_still', 'jumping'])
def test_simulated_time(start: Callable, explorer: Callable, peer: Peer, scenario: str,
                        tmp_path: Path, jumps: bool) -> None:
    """Steps and timeouts go by the steady clock."""
    simulator = start('cmp_sim', scenario=scenario, drop_state=strength(0.1, 0.02),
                      use_sim_time=True, record=str(tmp_path / 'simulator'))
    process = explorer(base=strength('disco', 'ucb_explore'), step_timeout=0.05, use_sim_time=True,
                       delta=strength(0.5, 0.1), record=str(tmp_path / 'explorer'))
    if jumps:
        clock = peer.node.create_publisher(Clock, '/clock', 10)
        times = iter((10, 10**9, 5, 0, 2**31 - 1, 7) * 1000)
        peer.node.create_timer(
            0.02, lambda: clock.publish(Clock(clock=Time(sec=next(times)))))
    assert is_right(learns(peer), tmp_path, Path(scenario).read_text())
    counted = end(peer, process, tmp_path / 'explorer')
    assert simulator.stop() == 0
    assert sum(counted.values()) > strength(60, 300)    # with timeouts among them, see drop_state
    assert_same(tmp_path / 'explorer', tmp_path / 'simulator')


@thorough(shown_by=(
    'protocol/test_clients.py::test_a_new_timeout_holds_for_the_action_under_way '
    'test_parameters.py::test_while_configured '
    'nodes/test_start_and_end.py::test_refused_at_runtime'))
def test_parameters_change_while_it_runs(start: Callable, explorer: Callable, peer: Peer,
                                         scenario: str, tmp_path: Path) -> None:
    simulator = start('cmp_sim', scenario=scenario, record=str(tmp_path / 'simulator'))
    process = explorer(record=str(tmp_path / 'explorer'))
    policies = learns(peer)
    with peer.setter('explorer') as set_explorer, peer.setter('cmp_sim') as set_cmp_sim:
        for i in range(4):
            for set_one, name, value in (
                    (set_explorer, 'step_timeout', 0.05 + 0.01 * i),
                    (set_explorer, 'step_retries', i), (set_explorer, 'reset_retries', i),
                    (set_explorer, 'max_duration', 1e6 + i),
                    (set_cmp_sim, 'drop_state', 0.01 * (i % 2)),
                    (set_cmp_sim, 'jitter', 0.001 * i)):
                assert set_one(name, value).successful
                peer.spin(0.05)    # it explores on like this
            for name, value in (('radius', 5.0), ('seed', i), ('step_timeout', -1.0)):
                assert not set_explorer(name, value).successful
        assert set_cmp_sim('jitter', 0.0).successful
    assert is_right(policies, tmp_path, Path(scenario).read_text())
    end(peer, process, tmp_path / 'explorer')
    assert simulator.stop() == 0
    assert_same(tmp_path / 'explorer', tmp_path / 'simulator')


@thorough(shown_by=(
    'nodes/test_time_and_errors.py::test_an_exception_in_the_core_and_load_leads_out_of_it '
    'nodes/test_lifecycle.py::test_round_trip'))
def test_an_exception_in_the_core(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                  tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, the robot goes home, and the node serves whoever asks."""
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        (str(Path(__file__).parent), os.environ['PYTHONPATH'])))
    process = explorer(base='failing_base:after_200_steps', record=str(tmp_path / 'record'))
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: phase[-1].data == 'fault', 'a fault')
    peer.wait_for(lambda: status[-1].data == INJECTED, 'the reason')
    peer.wait_for(lambda: robot.received[-1][1] == -1 and robot.state == 0, 'the way home')
    commanded = len(robot.executed)
    assert_only_load_leads_on(peer, robot)
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP):
        change(peer, transition)
    counted = as_steps(read_counts(tmp_path / 'record'))
    assert counted == as_steps(as_counts(robot.executed[1:-1]))
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        change(peer, transition)
    peer.wait_for(lambda: len(robot.executed) > commanded + 30, 'it explores anew')
    assert process.stop() == 0
    assert process.output.count('ZeroDivisionError: injected') <= 4


def test_an_exception_in_the_core_and_load_leads_out_of_it(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, the robot goes home, and the node serves whoever asks."""
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        (str(Path(__file__).parent), os.environ['PYTHONPATH'])))
    process = explorer(base='failing_base:once', checkpoint_dir=str(tmp_path / 'kept'),
                       record=str(tmp_path / 'record'))
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: phase[-1].data == 'fault', 'a fault')
    peer.wait_for(lambda: status[-1].data == INJECTED, 'the reason')
    peer.wait_for(lambda: robot.executed[-1][1] == -1 and robot.state == 0, 'the way home')
    assert_only_load_leads_on(peer, robot)
    response = peer.call(Trigger, 'load')
    assert response.success, response.message
    assert peer.call(SetBool, 'explore', SetBool.Request(data=True)).success
    policies = learns(peer)
    assert is_right(policies, tmp_path)
    counted = end(peer, process, tmp_path / 'record')
    happened = as_steps(as_counts(robot.executed[1:]))
    # The step that broke it, the command to go home, and the RESET from wherever.
    lost = [*(happened - counted).elements()]
    assert not counted - happened and len(lost) == 3, lost


def assert_only_load_leads_on(peer: Peer, robot: ScriptedRobot) -> None:
    commanded = len(robot.executed)
    for kind, name, request in ((Trigger, 'recover', None),
                                (SetBool, 'explore', SetBool.Request(data=True))):
        response = peer.call(kind, name, request)
        assert not response.success
        assert response.message == (f'{INJECTED}; load the saved state, or clean the node up and '
                                    'configure it again')
    assert len(robot.executed) == commanded


def change(peer: Peer, transition: int) -> None:
    request = ChangeState.Request(transition=Transition(id=transition))
    assert peer.call(ChangeState, 'explorer/change_state', request).success
