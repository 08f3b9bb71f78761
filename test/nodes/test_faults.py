# SPDX-License-Identifier: Apache-2.0

"""Lossy, slow and repetitive simulated robots: the explorer still counts what happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import time

from mnm_ros import messages
from mnm_ros.core.model.problem import RESET
from mnm_ros.messages import PolicySet
from mnm_ros.nodes.cmp_sim import CmpSim
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from node_processes import Peer, read_counts
import pytest
from rclpy.parameter import Parameter
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import thorough


@thorough(shown_by=(
    'nodes/test_flat.py::test_two_robots_side_by_side '
    'nodes/test_faults.py::test_faults_change_nothing_of_what_the_robot_does '
    'nodes/test_steps.py::test_lost_actions_and_answers '
    'nodes/test_time_and_errors.py::test_simulated_time '
    'protocol/test_clients.py::test_meaning'))
@pytest.mark.parametrize('faults', [
    {}, {'drop_action': 0.01, 'drop_state': 0.01, 'duplicate_state': 0.01, 'jitter': 0.005},
], ids=['none', 'all'])
def test_counts_and_result(start: Callable, explorer: Callable, peer: Peer, tmp_path: Path,
                           scenario: str, faults: dict[str, float]) -> None:
    simulator = start('cmp_sim', scenario=scenario, record=str(tmp_path / 'simulator'), **faults)
    process = explorer(step_timeout=0.03, record=str(tmp_path / 'explorer'))
    policies = peer.listen(Int64MultiArray, 'policies')
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: policies, 'a hypothesis')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert judge(load(scenario).settings[0].cmp, PolicySet.from_msg(policies[-1]), 4.0, 1.0).ok
    assert process.stop() == 0 and simulator.stop() == 0
    recorded, played = read_counts(tmp_path / 'explorer'), read_counts(tmp_path / 'simulator')
    played['0']['-1']['0'] -= 1    # the explorer does not know where the first RESET began
    assert recorded == played


def test_stall(start: Callable, explorer: Callable, peer: Peer, scenario: str,
               tmp_path: Path) -> None:
    """Every 10th answer is later than the patience of the explorer."""
    explorer(step_timeout=0.2, step_retries=1, max_steps=15)
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase, 'a phase')
    start('cmp_sim', scenario=scenario, stall_every=10, stall_for=1.5)
    peer.wait_for(lambda: phase[-1].data == 'done', 'done')
    phases = [message.data for message in phase]
    started = next(i for i, name in enumerate(phases) if name.startswith('building'))
    assert 'waiting_for_robot' in phases[started:]


def test_faults_change_nothing_of_what_the_robot_does(peer: Peer, scenario: str) -> None:
    """The same commands lead through the same states, with the same seed."""
    commands = [RESET, *(number // 3 % 2 for number in range(60))]
    publisher = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    played, answers = [], []
    for faults in ({}, {'drop_action': 0.1, 'drop_state': 0.1, 'duplicate_state': 0.5}):
        node = CmpSim(context=peer.context, parameter_overrides=[
            Parameter(name, value=value) for name, value in {
                'scenario': scenario, 'seed': 3, 'commander_timeout': 0.0, **faults}.items()])
        peer.spin_also(node)
        sent = answered = 0
        done: dict[int, int] = {}

        def hear(message: Int64MultiArray) -> None:
            nonlocal answered
            seq, state = message.data
            answered += 1
            done[seq] = state    # noqa: B023

        heard = peer.node.create_subscription(Int64MultiArray, 'state', hear, messages.STEP)
        peer.wait_for(publisher.get_subscription_count, 'the robot')
        for seq, action in enumerate(commands, 1):
            again = 0.0

            def is_answered() -> bool:
                nonlocal again, sent
                if seq not in done and time.monotonic() >= again:    # noqa: B023
                    again = time.monotonic() + 0.05
                    sent += 1
                    publisher.publish(messages.encode_step(seq, action))    # noqa: B023
                return seq in done    # noqa: B023
            peer.wait_for(is_answered, 'an answer')
        played.append(done)
        answers.append((sent, answered))
        peer.node.destroy_subscription(heard)
        node.destroy_node()
        peer.wait_for(lambda: not publisher.get_subscription_count(), 'the end of the robot')
    assert played[0] == played[1]
    assert answers[1][0] > len(commands) < answers[1][1]    # there were such faults


@thorough('nodes/test_faults.py::test_faults_change_nothing_of_what_the_robot_does '
          'nodes/test_time_and_errors.py::test_simulated_time')
def test_faults_do_not_change_the_dynamics(start: Callable, explorer: Callable, peer: Peer,
                                           scenario: str, tmp_path: Path) -> None:
    phase = peer.listen(String, 'phase')
    steps = peer.listen(Int64, 'exploration_steps')
    played = []
    for name, faults in (('a', {}), ('b', {'drop_state': 0.1, 'duplicate_state': 0.5})):
        simulator = start(
            'cmp_sim', scenario=scenario, seed=3, record=str(tmp_path / name), **faults)
        process = explorer(base='ucb_explore', step_timeout=0.02, max_steps=200)
        phase.clear()
        steps.clear()
        peer.wait_for(lambda: phase[-1].data == 'done', 'done')
        peer.wait_for(lambda: steps[-1].data == 200, 'the count of exploration steps')
        assert process.stop() == 0 and simulator.stop() == 0
        assert '200 steps, 200 exploration steps' in simulator.output
        played.append(read_counts(tmp_path / name))
    assert played[0] == played[1]
