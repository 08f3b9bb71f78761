# SPDX-License-Identifier: Apache-2.0

"""Lossy, slow and repetitive simulated robots: the explorer still counts what happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mnm_ros.messages import PolicySet
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from node_processes import Peer, read_counts
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import thorough


@pytest.mark.parametrize('faults', [
    pytest.param({}, marks=thorough('nodes/test_flat.py::test_two_robots_side_by_side')),
    {'drop_action': 0.01, 'drop_state': 0.01, 'duplicate_state': 0.01, 'jitter': 0.005},
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
    """Every 50th answer is later than the patience of the explorer."""
    explorer(step_timeout=0.5, step_retries=1, max_steps=120)
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase, 'a phase')
    start('cmp_sim', scenario=scenario, stall_every=50, stall_for=1.5)
    peer.wait_for(lambda: phase[-1].data == 'done', 'done')
    phases = [message.data for message in phase]
    started = next(i for i, name in enumerate(phases) if name.startswith('building'))
    assert 'waiting_for_robot' in phases[started:]


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
