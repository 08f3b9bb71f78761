# SPDX-License-Identifier: Apache-2.0

"""When a robot side says what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
import json
from pathlib import Path

from mnm_ros.messages import LATCHED
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.common.robot_profile import RobotProfile
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer
import pytest
from std_msgs.msg import String
from tiers import strength


class Painted(RobotSide):
    """Knows its actions late, and has a name for a state."""

    colour = 'red'
    named = 0

    def describe(self) -> RobotDescription:
        return RobotDescription(tuple(self.action_names), names={self.named: self.colour})


@pytest.fixture
def robot(peer: Peer) -> Iterator[Painted]:
    robot = Painted('painted', context=peer.context)
    peer.spin_also(robot)
    yield robot
    robot.destroy_node()


def test_once_it_knows_and_again_when_that_changes(peer: Peer, robot: Painted) -> None:
    heard = peer.listen(String, 'robot_side')
    peer.spin(0.5)
    assert not heard
    robot.action_names = ['up']
    peer.wait_for(lambda: heard, 'a description')
    robot.describe_again()
    peer.spin(0.3)
    assert [RobotDescription.from_text(message.data).actions for message in heard] == [('up',)]
    robot.colour = 'blue'
    robot.describe_again()
    peer.wait_for(lambda: len(heard) == 2, 'another name')
    robot.action_names = ['up', 'down']
    peer.wait_for(lambda: len(heard) == 3, 'other actions')
    assert RobotDescription.from_text(heard[-1].data) == replace(robot.describe(), guarded=True)


def test_a_name_stays_known_where_a_place_is_there_no_more(peer: Peer, robot: Painted) -> None:
    """Issue: a place that had become a wall was told as lost by its number."""
    heard = peer.listen(String, 'robot_side')
    robot.action_names = ['up']
    peer.wait_for(lambda: heard, 'a description')
    robot.named = 1
    robot.describe_again()
    peer.wait_for(lambda: len(heard) == 2, 'another state')
    assert RobotDescription.from_text(heard[-1].data).names == {0: 'red', 1: 'red'}


def test_the_explorer_keeps_names_of_a_robot_side_that_forgets_them(peer: Peer) -> None:
    profile = RobotProfile(peer.node, ('up',), lambda: None, Allowance())
    publisher = peer.node.create_publisher(String, 'robot_side', LATCHED)
    for number in range(2):
        told = RobotDescription(('up',), names={number: f'place {number}'})
        publisher.publish(String(data=told.to_text()))
        peer.wait_for(lambda told=told: told.names.items() <= profile.description.names.items(),
                      'a description')
    kept = {0: 'place 0', 1: 'place 1'}
    assert profile.names.names == profile.description.names == kept
    assert RobotDescription.from_text(profile.text).names == kept


def test_nothing_is_driven_along_a_route_graph_that_has_changed(
        peer: Peer, capfd: pytest.CaptureFixture) -> None:
    before = RobotDescription(('first', 'second'), moves={
        0: ('to 1', 'to 2'), 1: ('to 0',), 2: ('to 0',)}, positions={0: (0, 0), 1: (1, 0)})
    profile = RobotProfile(peer.node, before.actions, lambda: None, Allowance())
    profile.recall(before)
    publisher = peer.node.create_publisher(String, 'robot_side', LATCHED)
    now = replace(before, moves={0: ('to 1', 'to 3'), 1: ('to 0',), 3: ('to 0',)})
    for robot in (before, now, now):
        publisher.publish(String(data=robot.to_text()))
        peer.wait_for(lambda robot=robot: profile.description == robot, 'a description')
        assert bool(profile.mismatch) is (robot is now)
    assert capfd.readouterr().err.count('the robot is not driven: the graph has changed (places '
                                        'gone: 2; new places: 3); start the explorer again') == 1


def test_what_is_wrong_is_not_said(
        peer: Peer, robot: Painted, capfd: pytest.CaptureFixture) -> None:
    heard = peer.listen(String, 'robot_side')
    robot.action_names = ['up', 'up']
    peer.spin(0.5)
    assert not heard
    error = capfd.readouterr().err
    assert error.count('nothing is published on robot_side: actions has "up" twice') == 1
    robot.action_names = ['up', 'down']
    peer.wait_for(lambda: heard, 'a description')


def test_a_simulated_route_graph_declares_its_edges_and_names_its_moves(
        peer: Peer, start: Callable, tmp_path: Path) -> None:
    path = tmp_path / 'two.geojson'
    path.write_text(json.dumps({'features': [
        *({'properties': {'id': place, 'name': f'room {place}'},
           'geometry': {'type': 'Point', 'coordinates': [place, 0]}} for place in (3, 4)),
        *({'properties': {'id': begin, 'startid': begin, 'endid': 7 - begin},
           'geometry': {'type': 'LineString'}} for begin in (3, 4))]}))
    heard = peer.listen(String, 'robot_side')
    start('cmp_sim', scenario=str(path))
    peer.wait_for(lambda: heard, 'a description')
    said = RobotDescription.from_text(heard[-1].data)
    assert said.declaration.successors == {3: ((3, 4),), 4: ((3, 4),)} and said.guarded
    assert (said.action_name(0, 3), said.zones[3], said.home) == ('to room 4', 0.5, 3)


def test_a_radius_for_all_is_found_once_it_is_declared_where_actions_lead(
        peer: Peer, start: Callable) -> None:
    status = peer.listen(String, 'status')
    explorer = start('explorer', radius=0.0)
    silent = start('cmp_sim', scenario='two_rooms', radius=0.0)
    peer.wait_for(lambda: status and 'radius is 0, for all that is declared, and nothing declared '
                  'leads away from home' in status[-1].data, 'the reason')
    silent.stop()
    start('cmp_sim', scenario='two_rooms', radius=0.0, declare_successors=True)
    peer.wait_for(lambda: 'radius 4.6' in explorer.output, 'four steps, and some room')
    phases = peer.listen(String, 'phase')
    begun = strength('building', 'checking')
    peer.wait_for(lambda: phases[-1].data.startswith(begun), 'all of it')
