# SPDX-License-Identifier: Apache-2.0

"""Where actions may lead, as robot sides declare it."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
from signal import SIGINT

from mnm_ros import messages
from mnm_ros.checkpoint import world_log
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import strength, thorough


def test_the_simulator_declares_its_first_setting_on_request(start: Callable, peer: Peer) -> None:
    heard, setting = peer.listen(String, 'robot_side'), peer.listen(Int64, 'true_setting')
    silent = peer.listen(String, 'silent/robot_side')
    start('cmp_sim', scenario='moving_wall', declare_successors=True)
    start('cmp_sim', '/silent', scenario='moving_wall')
    peer.wait_for(lambda: heard and silent, 'descriptions')
    assert not RobotDescription.from_text(silent[-1].data).declaration
    first = RobotDescription.from_text(heard[-1].data)
    assert first.declaration.successors[0] == ((1, 0), (0,), (5, 0), (0,))
    assert len(first.declaration.successors) == len(first.names)
    response = peer.call(Trigger, 'change', Trigger.Request())
    assert response.success and response.message == (
        'setting 1 is in force: r2c1, r2c3 closed; r1c2, r3c2 open')
    peer.wait_for(lambda: [message.data for message in setting] == [0, 1], 'the other setting')
    peer.wait_for(lambda: len(heard) == 2, 'other walls')
    after = RobotDescription.from_text(heard[-1].data)
    assert after.walls != first.walls and after.declaration == first.declaration != Declaration()


@thorough('nodes/test_declared.py::test_what_was_declared_is_kept_until_it_is_ignored '
          'nodes/test_several_robots.py::'
          'test_what_a_fleet_is_told_by_one_of_its_robots_and_keeps_at_its_end')
def test_an_explorer_relies_on_what_the_simulator_declares(start: Callable, peer: Peer) -> None:
    events = peer.listen(String, 'events', messages.EVENTS)
    known = peer.listen(Int64MultiArray, 'known_states')
    start('cmp_sim', scenario='corridor', declare_successors=True)
    process = start('explorer', radius=2.0)
    peer.wait_for(lambda: known and len(known[-1].data) > 3, 'a hypothesis')
    took = 'the robot side declares the successors of actions in 4 states'
    assert process.output.count(took) == 1
    peer.wait_for(lambda: any(took in said.data for said in events), 'the event')


def test_a_file_comes_before_the_robot_side_and_keeps_it_out(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    """The robot is never taken to the west of state 1, though the simulator declares that."""
    declaration, record = tmp_path / 'declared.yaml', tmp_path / 'counts.json'
    declaration.write_text('successors: {1: [[1, 2], []]}')
    start('cmp_sim', scenario='corridor', declare_successors=True)
    explorer = start('explorer', radius=2.0, declaration=str(declaration), record=str(record),
                     checkpoint_dir=str(tmp_path))
    steps = peer.listen(String, 'activity')
    peer.wait_for(lambda: steps and json.loads(steps[-1].data)['step'] > strength(100, 200),
                  'steps')
    explorer.send(SIGINT)
    assert explorer.wait() == 0
    assert (f'{declaration} declares the successors of actions in 1 state; 1 state-action pair '
            'must never be commanded') in explorer.output
    played = json.loads(record.read_text())['counts']
    assert '0' in played['1'] and '1' not in played['1'] and '1' in played['2']
    kept = world_log.read(tmp_path / f'explorer{world_log.KEPT}')    # for who looks back
    said = RobotDescription.from_text(kept[-1].text)
    assert said.declaration == Declaration({1: ((1, 2), ())}) and said.home == 0


def test_what_was_declared_is_kept_until_it_is_ignored(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    events = peer.listen(String, 'events', messages.EVENTS)
    start('cmp_sim', scenario='corridor', declare_successors=True)
    for ignored, told in (
            (False, 'the robot side declares the successors of actions in 4 states'),
            (True, 'the successors of actions are no longer declared')):
        explorer = start('explorer', actions=['east', 'west'], radius=2.0,
                         checkpoint_dir=str(tmp_path / 'kept'), ignore_declared=ignored)
        peer.wait_for(lambda: told in explorer.output, told)  # noqa: B023
        peer.wait_for(lambda: any(told in said.data for said in events), 'the event')  # noqa: B023
        peer.wait_for(lambda: 'exploring' in explorer.output, 'steps')  # noqa: B023
        explorer.send(SIGINT)
        assert explorer.wait() == 0 and explorer.output.count(told) == 1


def test_a_file_that_is_wrong_is_refused(start: Callable, tmp_path: Path) -> None:
    path = tmp_path / 'declared.yaml'
    path.write_text('successors:\n  1: [[1, 2]]\n')
    explorer = start('explorer', actions=['east', 'west'], declaration=str(path))
    assert explorer.wait() == 1
    assert (f"parameter 'declaration': {path}:2: successors of state 1 has 1 lists, expected 2"
            in explorer.output and 'Traceback' not in explorer.output)
