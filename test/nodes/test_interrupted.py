# SPDX-License-Identifier: Apache-2.0

"""A robot side that dies, an operator who cannot decide, and a second explorer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
import random
import signal

from faulty_robot import as_steps, is_right, learns, Step
from logged_robot import played, start_logged
from mnm_ros import messages
from mnm_ros.nodes.common.allowance import PROBE, TOO_MANY
from mnm_ros.view.sentences import sentence
from node_processes import arguments, NodeProcess, Peer, read_counts
import pytest
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import strength, thorough

KILLS = strength(2, 5)
PAUSES = strength(15, 100)
OTHER = 'waiting for the robot: another explorer, which started earlier, commands the robot'


def moves(steps: Counter[Step]) -> Counter[Step]:
    """All but RESET, whose beginning the explorer does not always know."""
    return Counter({step: n for step, n in steps.items() if step[1] != -1})


def resets(steps: Counter[Step]) -> int:
    return sum(steps.values()) - sum(moves(steps).values())


def truth(scenario: str) -> str:
    return Path(scenario).read_text()


def paused(peer: Peer, phase: list[String], wanted: bool = True) -> None:
    peer.call(SetBool, 'explore', SetBool.Request(data=not wanted))
    peer.wait_for(lambda: (phase[-1].data == 'paused') is wanted, f'paused is {wanted}')


@thorough(shown_by=(
    'nodes/test_two_robots.py::test_a_second_one_is_started '
    'protocol/test_single_robot_guard.py::test_one_that_was_killed_is_replaced '
    'protocol/test_robots_at_random.py::test_no_step_mixes_up_two_robots'))
def test_the_robot_side_is_killed_again_and_again(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    rng = random.Random(0)
    log = tmp_path / 'log'
    # A robot that is started anew on a busy machine takes a while to be found.
    process = explorer(step_timeout=1.0, record=str(tmp_path / 'explorer'))
    phase = peer.listen(String, 'phase')

    def wait_for_steps() -> None:
        """One robot that has not heard a single command, as discovery fails at times, may go."""
        nonlocal robot
        before = log.stat().st_size
        try:
            peer.wait_for(lambda: log.stat().st_size > before + 100, 'steps')
        except AssertionError:
            if deaf or log.stat().st_size > before:
                raise
            deaf.append(robot.pid)
            print(f'robot side {robot.pid} has heard nothing for 30 s:', process.output)
            robot.stop(signal.SIGKILL)
            robot = start_logged(start, log, scenario, 100)
            peer.wait_for(lambda: log.stat().st_size > before + 100, 'steps')

    robot, deaf = start_logged(start, log, scenario), []
    for kill in range(1, KILLS + 1):
        wait_for_steps()
        peer.spin(rng.uniform(0.0, 0.1))
        robot.stop(signal.SIGKILL)
        robot = start_logged(start, log, scenario, kill)
    wait_for_steps()
    assert is_right(learns(peer), tmp_path, truth(scenario))
    paused(peer, phase)
    assert process.stop() == 0
    robot.kill()
    made = played(log)
    counted = as_steps(read_counts(tmp_path / 'explorer'))
    assert not moves(counted) - moves(made)
    assert sum((moves(made) - moves(counted)).values()) <= KILLS    # those under way
    # For each kill: one under way, one sent again, and one to find out which robot is alive.
    assert resets(made) - 3 * KILLS - 1 <= resets(counted) <= resets(made)


@thorough(shown_by=(
    'core/test_exploration.py::test_paused_and_resumed_it_begins_with_a_reset_and_loses_nothing '
    'nodes/test_steps.py::test_pause_and_resume'))
def test_paused_and_resumed_again_and_again(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    rng = random.Random(0)
    simulator = start('cmp_sim', scenario=scenario,
                      record=str(tmp_path / 'simulator'))
    process = explorer(record=str(tmp_path / 'explorer'))
    phase = peer.listen(String, 'phase')
    client = peer.node.create_client(SetBool, 'explore')
    peer.wait_for(lambda: phase and '/' in phase[-1].data, 'exploration')
    for i in range(2 * PAUSES):
        while True:
            future = client.call_async(SetBool.Request(data=bool(i % 2)))
            peer.wait_for(future.done, 'a response')
            if sentence(TOO_MANY) not in future.result().message:
                break
            peer.spin(PROBE)
        assert future.result().success
        peer.spin(rng.uniform(0.0, 0.02))
    assert is_right(learns(peer), tmp_path, truth(scenario))
    paused(peer, phase)
    assert process.stop() == 0 and simulator.stop() == 0
    counted = as_steps(read_counts(tmp_path / 'explorer'))
    played = as_steps(read_counts(tmp_path / 'simulator'))
    assert moves(counted) == moves(played)
    assert resets(played) - PAUSES - 1 <= resets(counted) <= resets(played) - 1


@thorough(shown_by=(
    'nodes/test_what_is_told.py::test_one_that_stands_by_finds_the_robot '
    'nodes/test_arbitration.py::test_only_the_first_one_commands'))
@pytest.mark.parametrize('service', [False, True], ids=['action', 'service'])
def test_a_second_explorer_leaves_the_robot_alone(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path,
        service: bool) -> None:
    """Also if it lives elsewhere and comes to the robot by remapping."""
    mode = {'reset_mode': 'service' if service else 'action'}
    simulator = start('cmp_sim', scenario=scenario,
                      record=str(tmp_path / 'simulator'))
    process = explorer(record=str(tmp_path / 'first'), **mode)
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase and '/' in phase[-1].data, 'exploration')
    given = arguments(
        {'actions': ['east', 'west'], 'record': str(tmp_path / 'second'), **mode}, '/elsewhere')
    given += [part for name in ('action', 'state', 'return_home')
              for part in ('-r', f'{name}:=/{name}')]
    second = NodeProcess('explorer', tmp_path / 'second.txt', given)
    their_phase = peer.listen(String, '/elsewhere/phase')
    their_status = peer.listen(String, '/elsewhere/status')
    peer.wait_for(lambda: their_status[-1].data.startswith(OTHER), 'the reason')
    assert is_right(learns(peer), tmp_path, truth(scenario))
    paused(peer, phase)
    peer.spin(0.3)
    assert {message.data for message in their_phase} == {'waiting_for_robot'}, second.output
    assert process.stop() == 0
    peer.wait_for(lambda: their_phase and '/' in their_phase[-1].data,
                  'the second takes over')
    peer.call(SetBool, '/elsewhere/explore', SetBool.Request(data=False))
    peer.wait_for(lambda: their_phase[-1].data == 'paused', 'paused')
    assert second.stop() == 0 and simulator.stop() == 0
    counted = as_steps(read_counts(tmp_path / 'first')) + as_steps(
        read_counts(tmp_path / 'second'))
    played = as_steps(read_counts(tmp_path / 'simulator'))
    assert not moves(counted) - moves(played)
    # A robot that is called home twice reports twice, as one that was moved.
    assert sum((moves(played) - moves(counted)).values()) <= (6 if service else 0)
    assert resets(counted) <= resets(played) - 2


@thorough('nodes/test_arbitration.py::test_only_the_first_one_commands '
          'nodes/test_what_is_told.py::test_one_that_stands_by_finds_the_robot')
def test_two_explorers_that_start_together(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    """One of them gives way, whichever it is, and no step of the other is counted wrongly."""
    names = ('/a', '/b')
    remapped = [part for name in ('action', 'state') for part in ('-r', f'{name}:=/{name}')]
    processes = [
        NodeProcess('explorer', tmp_path / f'output{name[1]}', arguments(
            {'actions': ['east', 'west'], 'record': str(tmp_path / name[1])}, name) + remapped)
        for name in names]
    simulator = start('cmp_sim', scenario=scenario,
                      record=str(tmp_path / 'simulator'))
    phases = [peer.listen(String, f'{name}/phase') for name in names]
    statuses = [peer.listen(String, f'{name}/status') for name in names]
    yields = peer.wait_for(
        lambda: [bool(status) and status[-1].data.startswith(OTHER) for status in statuses] if any(
            status and status[-1].data.startswith(OTHER) for status in statuses) else None,
        'one of them gives way')
    assert sum(yields) == 1
    driver = yields.index(False)
    peer.wait_for(lambda: phases[driver] and '/' in phases[driver][-1].data,
                  'the other one explores')
    peer.spin(0.5)
    peer.call(SetBool, f'{names[driver]}/explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phases[driver][-1].data == 'paused', 'paused')
    assert [process.stop() for process in processes[::1 if driver else -1]] == [0, 0]
    assert simulator.stop() == 0
    played = as_steps(read_counts(tmp_path / 'simulator'))
    counted = as_steps(read_counts(tmp_path / names[driver][1]))
    assert not moves(counted) - moves(played)


def test_a_program_that_commands_without_asking(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    """A robot side obeys both; the explorer keeps off, and learns from the robot side alone."""
    simulator = start('cmp_sim', scenario=scenario, commander_timeout=0.0,
                      record=str(tmp_path / 'simulator'))
    radius = strength(1.5, 4.0)
    process = explorer(delta=strength(0.5, 0.1), radius=radius,
                       record=str(tmp_path / 'explorer'))
    phase = peer.listen(String, 'phase')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: phase and '/' in phase[-1].data, 'exploration')
    publisher = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: publisher.get_subscription_count(), 'the robot')

    def command(number: int) -> None:
        publisher.publish(messages.encode_step(number, number % 2))
        peer.spin(0.02)

    reason = String(data='waiting for the robot: another node publishes /action')
    before = 0    # commands between which the explorer had its own
    while status[-1:] != [reason]:
        command(before)
        before += 1
        assert before < 1000, status
    for number in range(before, before + 20):
        command(number)
    assert is_right(
        learns(peer, 'a hypothesis after all'), tmp_path, truth(scenario), radius)
    paused(peer, phase)
    assert process.stop() == 0 and simulator.stop() == 0
    counted = as_steps(read_counts(tmp_path / 'explorer'))
    played = as_steps(read_counts(tmp_path / 'simulator'))
    assert not moves(counted) - moves(played)
    missed = sum((moves(played) - moves(counted)).values())
    assert missed <= before + 1, before    # and one under way
