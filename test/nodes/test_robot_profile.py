# SPDX-License-Identifier: Apache-2.0

"""A robot side says what it is, and the explorer does not drive another robot than expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import shutil
from typing import Any

from driver_here import driving_here
from explorer_here import ExplorerHere, exploring_here
from hurried import passing_time, watched
from mnm_ros import messages
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer, REST, ScriptedRobot
import pytest
from screen import Screen
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import thorough
from visualization_msgs.msg import MarkerArray

CORRIDOR = RobotDescription(('east', 'west'), 0, 'map', {1: 'middle'}, {
    0: (5.0, 5.0), 1: (6.0, 5.0), 2: (7.0, 5.0)})
WATCHED = 1.5    # s: a robot that is found is driven after 0.5 s

explorer = pytest.fixture(exploring_here)
put_forward = pytest.fixture(passing_time)


def describe(peer: Peer, text: str) -> Callable[[str], None]:
    """Publish what the robot side is; return a function that publishes something else."""
    publisher = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)

    def say(text: str) -> None:
        publisher.publish(String(data=text))
    say(text)
    return say


def described(heard: list[String]) -> RobotDescription | None:
    return RobotDescription.from_text(heard[-1].data) if heard else None


def until_refused(peer: Peer, status: list[String]) -> str:
    return peer.wait_for(
        lambda: status and ('expected the same' in status[-1].data
                            or 'is wrong' in status[-1].data) and status[-1].data, 'a refusal')


@pytest.mark.parametrize('actions', [
    ('west', 'east'), *(pytest.param(actions, marks=thorough(shown_by=(
        'test_robot_description.py::test_the_difference_shows_both_lists '
        'nodes/test_robot_profile.py::test_another_robot_is_not_driven')))
        for actions in (('east', 'west', 'up'), ('east',), ('left', 'right')))])
def test_another_robot_is_not_driven(explorer: Callable, peer: Peer, actions: tuple,
                                     put_forward: Callable[[float], None]) -> None:
    describe(peer, RobotDescription(actions).to_text())
    status, phase = peer.listen(String, 'status'), peer.listen(String, 'phase')
    process = explorer()
    told = until_refused(peer, status)
    robot = ScriptedRobot(peer)    # once it is known what it is, however slow the machine
    assert f'[{", ".join(actions)}]' in told and '[east, west]' in told
    peer.wait_for(lambda: phase[-1].data == 'waiting_for_robot', 'standing by')
    watched(peer, put_forward, WATCHED)
    assert robot.executed == [] and process.running
    assert process.output.count('the robot is not driven: ') == 1


def test_what_cannot_be_read_is_not_trusted(
        explorer: Callable, peer: Peer, put_forward: Callable[[float], None]) -> None:
    describe(peer, '{"actions": ["east", 7]}')
    status = peer.listen(String, 'status')
    explorer()
    assert 'actions[1] is 7, expected' in until_refused(peer, status)
    robot = ScriptedRobot(peer)
    watched(peer, put_forward, WATCHED)
    assert robot.executed == []


def test_exploration_begins_when_the_robot_is_right(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    say = describe(peer, RobotDescription(('west', 'east')).to_text())
    status = peer.listen(String, 'status')
    explorer()
    until_refused(peer, status)
    say(CORRIDOR.to_text())
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')


def test_exploration_stops_when_the_robot_becomes_another_one(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    say = describe(peer, CORRIDOR.to_text())
    status = peer.listen(String, 'status')
    explorer()
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')
    say(RobotDescription(('west', 'east')).to_text())
    until_refused(peer, status)
    done = len(robot.executed)
    peer.spin(0.3)
    assert len(robot.executed) <= done + 1    # what was under way


def test_it_is_forgotten_with_the_robot(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    other = Peer()
    describe(other, RobotDescription(('west', 'east')).to_text())
    status = peer.listen(String, 'status')
    explorer()
    until_refused(peer, status)
    other.close()
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps of a robot without description')


def test_the_one_that_stays_is_heard_again(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    other = Peer()
    describe(peer, CORRIDOR.to_text())
    status = peer.listen(String, 'status')
    explorer()
    peer.wait_for(lambda: robot.executed, 'a step')
    describe(other, RobotDescription(('west', 'east')).to_text())
    until_refused(peer, status)
    done = len(robot.executed)
    other.close()
    peer.wait_for(lambda: len(robot.executed) > done + 10, 'steps of the one that is left')


def test_nothing_is_advised_about_another_robot(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    advice = peer.listen(Int64MultiArray, 'advice')
    status = peer.listen(String, 'status')
    commands = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    say = describe(peer, RobotDescription(('west', 'east')).to_text())
    explorer(advisory=True)
    until_refused(peer, status)
    before = len(advice)
    for seq in range(5, 10):
        commands.publish(messages.encode_step(seq, 0))
        peer.spin(0.1)
    assert robot.executed and len(advice) == before
    say(CORRIDOR.to_text())
    peer.wait_for(lambda: len(advice) > before, 'advice')


def test_states_are_drawn_where_they_are(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, learnt: Any,
        tmp_path: Path) -> None:
    describe(peer, CORRIDOR.to_text())
    robot.pause = REST
    markers = peer.listen(MarkerArray, 'exploration_markers')
    explorer(checkpoint_dir=str(shutil.copytree(learnt.folder, tmp_path / 'kept')))

    def known() -> list[tuple[float, float]]:
        return sorted(Screen(*markers).places('known'))
    peer.wait_for(lambda: known() == [(5, 5), (6, 5), (7, 5)], 'the corridor')
    assert Screen(*markers).frames == {'map'}
    assert 'middle (1)' in Screen(*markers).labels()


def test_without_positions_the_picture_has_a_frame_of_its_own(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    markers = peer.listen(MarkerArray, 'exploration_markers')
    explorer()
    peer.wait_for(lambda: markers, 'a picture')
    assert {marker.header.frame_id for marker in markers[-1].markers} == {'mnm_states'}


def test_a_simulated_grid_says_where_its_cells_and_walls_are(
        start: Callable, peer: Peer) -> None:
    heard = peer.listen(String, 'robot_side')
    start('cmp_sim', scenario='moving_wall')
    first = peer.wait_for(lambda: described(heard), 'a description')
    assert len(first.actions) == 4 and first.home in first.positions and first.walls
    peer.call(Trigger, 'change')
    peer.wait_for(lambda: described(heard).walls != first.walls, 'other walls')
    assert described(heard).actions == first.actions


def test_a_grid_driver_says_where_its_cells_are(
        peer: Peer, capfd: pytest.CaptureFixture[str]) -> None:
    heard = peer.listen(String, 'robot_side')
    robot = driving_here(peer, capfd)()
    peer.wait_for(lambda: heard and described(heard).frame, 'a description with a frame')
    said = described(heard)
    assert said.actions == ('east', 'north', 'west', 'south')
    assert said.home in said.positions and said.names[-2] == 'outside'
    assert robot is not None


def test_a_robot_side_of_ones_own_names_its_actions(start: Callable, peer: Peer) -> None:
    heard = peer.listen(String, 'robot_side')
    start(str(Path(__file__).parents[2] / 'examples' / 'lift.py'))
    peer.wait_for(lambda: heard, 'a description')
    assert described(heard) == RobotDescription(('up', 'down'), guarded=True)


def test_without_the_parameter_the_robot_side_names_the_actions(
        peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        capfd: pytest.CaptureFixture[str]) -> None:
    """Exploration begins when they are known; the remedy is told where nobody names them."""
    status, phase = peer.listen(String, 'status'), peer.listen(String, 'phase')
    given = {'checkpoint_dir': str(tmp_path / 'kept')}
    process = ExplorerHere(peer, capfd, **given)
    peer.wait_for(
        lambda: status and "set the parameter 'actions'" in status[-1].data, 'the remedy')
    assert [message.data for message in phase] == ['waiting_for_robot'] and not robot.executed
    say = describe(peer, '{"actions": [7]}')
    peer.wait_for(lambda: 'actions[0] is 7, expected' in status[-1].data, 'what is wrong')
    say(RobotDescription(('left', 'right'), home=0).to_text())
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    assert {action for _, action, _ in robot.executed} == {-1, 0, 1}
    assert 'actions: [left, right]' in process.output
    assert process.stop() == 0
    process = ExplorerHere(peer, capfd, actions=['left', 'right'], **given)
    peer.wait_for(lambda: 'going on from' in process.output, 'the same exploration')
    assert 'refused' not in process.output and process.stop() == 0


def test_actions_that_are_named_meanwhile(
        peer: Peer, robot: ScriptedRobot, capfd: pytest.CaptureFixture[str]) -> None:
    process = ExplorerHere(peer, capfd)
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status and 'does not name its actions' in status[-1].data, 'waiting')
    assert peer.set_parameter('explorer', 'actions', ['east', 'west']).successful
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    assert 'Traceback' not in process.output
