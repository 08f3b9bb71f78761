# SPDX-License-Identifier: Apache-2.0

"""The explorer as a managed node, managed from another process."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from mnm_ros import messages
from node_processes import Peer, ScriptedRobot
from std_msgs.msg import Header, String


def change(peer: Peer, transition: int) -> bool:
    request = ChangeState.Request(transition=Transition(id=transition))
    return peer.call(ChangeState, 'explorer/change_state', request).success


def label(peer: Peer) -> str:
    return peer.call(GetState, 'explorer/get_state').current_state.label


def test_round_trip(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    """The calls of nav2's lifecycle manager are among these; the heart beats in each state."""
    process = explorer(autostart=False, checkpoint_dir=str(tmp_path))
    assert label(peer) == 'unconfigured'
    beats = peer.listen(Header, 'heartbeat', messages.HEARTBEAT)
    peer.wait_for(lambda: len(beats) > 1, 'a heart that beats')
    assert beats[-1].frame_id == '/explorer' and beats[-1].stamp.sec > 0
    assert not change(peer, Transition.TRANSITION_ACTIVATE)    # impossible, and harmless
    assert peer.set_parameter('explorer', 'radius', 3.0).successful
    assert change(peer, Transition.TRANSITION_CONFIGURE)
    assert not peer.set_parameter('explorer', 'radius', 4.0).successful
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase[-1].data == 'waiting_for_robot', 'a phase')
    assert not robot.received
    assert change(peer, Transition.TRANSITION_ACTIVATE)
    peer.wait_for(lambda: len(robot.executed) > 20, 'steps')
    assert change(peer, Transition.TRANSITION_DEACTIVATE)
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    count = peer.wait_for_rest(lambda: len(robot.received), 'no more commands', 0.4)
    assert change(peer, Transition.TRANSITION_ACTIVATE)
    peer.wait_for(lambda: len(robot.executed) > count + 20, 'steps again')
    assert robot.executed[count][1] == -1
    assert change(peer, Transition.TRANSITION_DEACTIVATE)
    assert change(peer, Transition.TRANSITION_CLEANUP)
    assert label(peer) == 'unconfigured'
    assert peer.set_parameter('explorer', 'radius', 4.0).successful
    phase.clear()
    assert change(peer, Transition.TRANSITION_CONFIGURE)
    peer.wait_for(lambda: [message.data for message in phase] == ['waiting_for_robot'],
                  'a fresh exploration')
    assert change(peer, Transition.TRANSITION_ACTIVATE)
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 20, 'steps of a fresh exploration')
    for transition, state in (
            (Transition.TRANSITION_DEACTIVATE, 'inactive'),
            (Transition.TRANSITION_CLEANUP, 'unconfigured'),
            (Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, 'finalized')):
        assert change(peer, transition) and label(peer) == state
    assert not change(peer, Transition.TRANSITION_CONFIGURE)
    beats.clear()
    peer.wait_for(lambda: beats, 'a heart that beats')
    assert process.stop() == 0
    assert 'Traceback' not in process.output
    assert list(tmp_path.glob('explorer.*.sqlite'))


def test_configure_fails_on_a_bad_parameter_and_not_on_missing_actions(
        start: Callable, peer: Peer) -> None:
    process = start('explorer', autostart=False, advisory=True)
    status = peer.listen(String, 'status')
    assert change(peer, Transition.TRANSITION_CONFIGURE)
    peer.wait_for(
        lambda: status and (
            f'no robot side runs in ROS domain {os.environ["ROS_DOMAIN_ID"]}: no node names the '
            'actions of the robot on /robot_side') in status[-1].data, 'the reason')
    assert change(peer, Transition.TRANSITION_CLEANUP)
    assert peer.set_parameter('explorer', 'actions', ['east', 'west']).successful
    assert peer.set_parameter('explorer', 'reset_mode', 'service').successful
    assert not change(peer, Transition.TRANSITION_CONFIGURE)
    assert label(peer) == 'unconfigured'
    assert "parameter 'advisory' is True with 'reset_mode' 'service'" in process.output
    assert peer.set_parameter('explorer', 'reset_mode', 'action').successful
    assert change(peer, Transition.TRANSITION_CONFIGURE)
    assert change(peer, Transition.TRANSITION_INACTIVE_SHUTDOWN)
    assert label(peer) == 'finalized'
    assert process.running


def test_nav2_cannot_manage_what_starts_by_itself(explorer: Callable, peer: Peer) -> None:
    explorer()
    peer.wait_for(lambda: label(peer) == 'active', 'that it is active')
    assert not change(peer, Transition.TRANSITION_CONFIGURE) and label(peer) == 'active'
