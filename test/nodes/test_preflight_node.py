# SPDX-License-Identifier: Apache-2.0

"""The command to run before a trial, against real robot sides."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import re

from mnm_ros import messages
from mnm_ros.simulation.diff_drive import Body, driver_parameters
from mnm_ros.simulation.world import load
from node_processes import Peer, ScriptedRobot
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String
from tiers import strength

LIFT = str(Path(__file__).resolve().parents[2] / 'examples' / 'lift.py')


@pytest.fixture
def robot_side(start: Callable, peer: Peer) -> Callable[..., None]:
    """Start a robot side, and wait for it: preflight looks for one for 5 s only."""
    def start_robot_side(module: str, **parameters: object) -> None:
        start(module, **parameters)
        peer.wait_for(lambda: peer.node.count_subscribers('action'), 'the robot side')
    return start_robot_side


def test_a_lift_passes(start: Callable, robot_side: Callable[..., None]) -> None:
    robot_side(LIFT, seconds_per_floor=0.02)
    preflight = start('preflight', actions=['up', 'down'])
    assert preflight.wait() == 0, preflight.output
    lines = preflight.output.splitlines()
    assert [line[:6] for line in lines[:5]] == ['ok    '] * 5
    assert 'led to state 0 ' in lines[1]
    assert lines[4] == 'ok      alone        nobody else commands it'
    assert lines[5].startswith('a step takes 0.0')
    assert lines[6].startswith('5 states met, 5 of them within 4 steps')
    assert lines[7].startswith('first hypothesis predicted after about ')


def test_a_step_is_told_in_simulated_time(
        start: Callable, robot_side: Callable[..., None]) -> None:
    """Half a metre takes more than a second of the robot, however fast it is simulated."""
    # Time enough for the first messages on clock to be heard on a busy machine.
    start('diff_drive_sim', world='one_room', real_time_factor=20.0, tick=strength(0.2, 0.05))
    slow = Body(max_speed=0.25)    # as a robot that rolls on takes half a metre at full speed
    robot_side('grid_driver', **driver_parameters(load('one_room'), slow))
    preflight = start('preflight', use_sim_time=True, resets=2, steps=6, step_timeout=15.0)
    assert preflight.wait() == 0, preflight.output
    # RESET at home, and moves against a wall, take less.
    took = [float(each) for each in re.findall(r' (?:east|north|west|south) ([0-9.]+) s',
                                               preflight.output)]
    assert 1.0 < max(took) < 20.0, preflight.output


def test_an_absent_robot_and_one_that_does_not_name_its_actions(
        start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """Both are waited for. If no parameter names the actions, the robot side can."""
    absent = start('preflight', namespace='/nowhere', actions=['up', 'down'])
    preflight = start('preflight', resets=2, steps=20)
    text = peer.wait_for(lambda: not preflight.running and preflight.output, 'the end')
    assert 'does not name its actions on robot_side' in text and preflight.wait() == 1
    assert absent.wait() == 1
    assert absent.output.startswith('FAILED  robot side   no node subscribes /nowhere/action')
    assert (f'in ROS domain {os.environ["ROS_DOMAIN_ID"]}; start the robot side there first'
            in ' '.join(absent.output.split()))
    publisher = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    publisher.publish(String(
        data='{"actions": ["left", "right"], "successors": {"0": [[1], []]}}'))
    preflight = start('preflight', resets=2, steps=20)
    text = peer.wait_for(lambda: not preflight.running and preflight.output, 'the end')
    assert 'ok      actions' in text and 'FAILED' not in text and preflight.wait() == 0
    assert 'ok      declaration  every step has ended where it is declared to' in text
    assert {action for _, action, _ in robot.executed} == {-1, 0, 1}
    assert (0, 1) not in {(state, action) for state, action, _ in robot.executed}


def test_an_action_without_answer_is_named(
        start: Callable, robot_side: Callable[..., None]) -> None:
    robot_side(LIFT, seconds_per_floor=0.01)
    preflight = start('preflight', actions=['up', 'down', 'sideways'], step_timeout=0.2)
    assert preflight.wait() == 1
    assert 'FAILED  actions      sideways was not answered within 0.' in preflight.output


def test_a_robot_that_is_commanded_already(
        start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    start('explorer', actions=['east', 'west'])
    peer.wait_for(lambda: robot.received, 'exploration')
    preflight = start('preflight', actions=['east', 'west'])
    peer.wait_for(lambda: not preflight.running, 'the verdict')
    assert preflight.wait() == 1
    assert 'FAILED  alone        another node publishes /action' in preflight.output


def test_a_robot_that_answers_a_node_that_is_not_found(
        start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """Issue: on a busy machine, it was said that nobody else commands it."""
    robot.around = lambda seq, state: robot.send(77, state)
    preflight = start('preflight', actions=['east', 'west'], resets=2, steps=2)
    peer.wait_for(lambda: not preflight.running, 'the verdict')
    assert preflight.wait() == 1
    assert 'FAILED  alone        somebody else publishes /action: a node that' in preflight.output


def test_an_explorer_that_is_about_to_command_it(
        start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """It publishes action only later; so does one that stands by."""
    peer.node.create_publisher(Int64, 'action/driver', messages.LATCHED)
    preflight = start('preflight', actions=['east', 'west'])
    peer.wait_for(lambda: not preflight.running, 'the verdict')
    assert preflight.wait() == 1 and not robot.received
    assert 'FAILED  alone        another node publishes /action/driver: ' in preflight.output


def test_a_node_that_is_found_at_the_end(
        start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    given = {'actions': ['east', 'west'], 'resets': 2, 'steps': 2}
    preflight = start('preflight', **given)
    peer.wait_for(lambda: not preflight.running, 'the verdict')
    assert preflight.wait() == 0, preflight.output
    again = start('preflight', **given)
    commands = 2 * len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) == commands, 'the last command')
    peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: not again.running, 'the verdict')
    assert again.wait() == 1
    assert 'FAILED  alone        another node publishes /action: ' in again.output
    assert 'nobody else commands' not in again.output


def test_two_robot_sides(start: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    start(LIFT)
    peer.wait_for(lambda: peer.node.count_publishers('state') == 2, 'both')
    preflight = start('preflight', actions=['up', 'down'])
    peer.wait_for(lambda: not preflight.running, 'the verdict')
    assert preflight.wait() == 1
    assert 'FAILED  robot side   2 robot sides at once: ' in preflight.output


def test_interrupted(start: Callable, peer: Peer) -> None:
    preflight = start('preflight', actions=['up'])
    peer.wait_for(lambda: ('preflight', '/') in peer.node.get_node_names_and_namespaces(),
                  'the node')
    assert preflight.stop() == 1
    assert 'Traceback' not in preflight.output
