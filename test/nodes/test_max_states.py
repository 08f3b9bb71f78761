# SPDX-License-Identifier: Apache-2.0

"""A robot side that names a new state at every step does not make the explorer grow for ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from faulty_robot import as_steps
from node_processes import NodeProcess, Peer, read_counts, ScriptedRobot
import pytest
from rcl_interfaces.msg import SetParametersResult
from std_msgs.msg import String
from std_srvs.srv import SetBool
from tiers import strength, thorough

LIMIT = strength(20, 50)


class InconsistentRobot(ScriptedRobot):
    """Numbers its states anew: every action but RESET leads to a state that was never seen."""

    met = 0

    def move(self, action: int) -> int:
        if action == -1:
            return 0
        self.met += 1
        return self.met


@pytest.fixture
def inconsistent(peer: Peer) -> InconsistentRobot:
    return InconsistentRobot(peer)


def resume(peer: Peer) -> SetBool.Response:
    return peer.call(SetBool, 'explore', SetBool.Request(data=True))


def raise_limit(peer: Peer, limit: int) -> SetParametersResult:
    return peer.set_parameter('explorer', 'max_states', limit)


def test_it_pauses_with_the_reason_and_goes_on_when_the_limit_is_raised(
        explorer: Callable[..., NodeProcess], peer: Peer, inconsistent: InconsistentRobot,
        tmp_path: Path) -> None:
    status = peer.listen(String, 'status')
    phase = peer.listen(String, 'phase')

    def pause(limit: int) -> str:
        peer.wait_for(lambda: status[-1].data.startswith(f'paused: {limit + 1} states met'),
                      f'a pause beyond {limit} states')
        peer.wait_for(lambda: phase[-1].data == 'paused', 'the phase')
        return status[-1].data

    process = explorer(max_states=LIMIT, record=str(tmp_path / 'record'))
    peer.wait_for(lambda: status, 'a status')
    reason = pause(LIMIT)
    for hint in (f'max_states: {LIMIT};', 'raise', 'radius', 'robot side number states'):
        assert hint in reason
    assert inconsistent.met == LIMIT    # and the home state
    assert sum(message.data.startswith('paused') for message in status) == 1    # none before
    steps = len(inconsistent.executed)

    refused = resume(peer)
    assert not refused.success and 'max_states' in refused.message
    assert len(inconsistent.executed) == steps    # not even a RESET

    assert raise_limit(peer, 2 * LIMIT).successful
    assert resume(peer).success
    pause(2 * LIMIT)
    assert inconsistent.met == 2 * LIMIT

    assert raise_limit(peer, 0).successful and resume(peer).success
    peer.wait_for(lambda: inconsistent.met > 4 * LIMIT, 'exploration without a limit')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'a pause')
    peer.spin(0.2)
    assert process.stop() == 0, process.output
    counted = as_steps(read_counts(tmp_path / 'record'))
    played = inconsistent.counts()
    assert {state for _, _, state in counted} == set(range(inconsistent.met + 1))    # none is lost
    assert not counted - as_steps(played)


@thorough(shown_by=(
    'core/test_exploration.py::'
    'test_states_met_and_what_follows_them_are_told_after_a_resumption_too '
    'nodes/test_max_states.py::'
    'test_it_pauses_with_the_reason_and_goes_on_when_the_limit_is_raised'))
def test_the_limit_holds_after_a_restart(
        explorer: Callable[..., NodeProcess], peer: Peer, inconsistent: InconsistentRobot,
        tmp_path: Path) -> None:
    status = peer.listen(String, 'status')
    for _ in range(2):
        process = explorer(max_states=LIMIT, checkpoint_dir=str(tmp_path / 'kept'))
        peer.wait_for(lambda: status and f'paused: {LIMIT + 1} states met' in status[-1].data,
                      'a pause')
        status.clear()
        assert process.stop() == 0, process.output
    assert inconsistent.met == LIMIT
