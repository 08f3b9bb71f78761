# SPDX-License-Identifier: Apache-2.0

"""When a robot side says what it is."""

from __future__ import annotations

from collections.abc import Iterator

from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer
import pytest
from std_msgs.msg import String


class Painted(RobotSide):
    """Knows its actions late, and has a name for a state."""

    colour = 'red'

    def describe(self) -> RobotDescription:
        return RobotDescription(tuple(self.action_names), names={0: self.colour})


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
    assert RobotDescription.from_text(heard[-1].data) == robot.describe()


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
