# SPDX-License-Identifier: Apache-2.0

"""Without an explorer, goals begin where the robot is, but only while that is certain."""

from __future__ import annotations

from in_process import navigating_here
from mnm_ros import messages
from navigating import Operator
from node_processes import Peer, ScriptedRobot
import pytest
from std_msgs.msg import Bool, Int64MultiArray

EAST, RESET = 0, -1
BY_HOME = [RESET, EAST, EAST]    # to 2


class Going:
    """A navigator, and a robot that it has sent home."""

    def __init__(self, peer: Peer, operator: Operator) -> None:
        self.robot, self.peer, self.operator = ScriptedRobot(peer), peer, operator
        self.go(0)

    def go(self, target: int) -> list[int]:
        """Go to a state and return the actions."""
        before = len(self.robot.executed)
        assert self.operator.go(target).startswith(f'reached {target} in ')
        return [action for _, action, _ in self.robot.executed[before:]]


@pytest.fixture
def going(peer: Peer, operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Going:
    navigating_here(peer, operator, monkeypatch)()
    return Going(peer, operator)


def test_from_where_it_is(going: Going) -> None:
    assert going.go(2) == [EAST, EAST] and going.go(2) == []
    assert going.go(1) == [RESET, EAST]    # no other way is known
    assert going.go(0) == [RESET] and going.go(1) == [EAST]
    assert going.go(0) == [RESET]
    assert going.peer.set_parameter('navigator', 'direct', False).successful
    assert going.go(1) == [RESET, EAST]


@pytest.mark.parametrize('seq', [-1, 5], ids=['moved', 'of another node'])
def test_by_way_of_home_if_another_state_was_heard(going: Going, seq: int) -> None:
    going.robot.send(seq, 0)
    assert going.go(2) == BY_HOME
    assert going.go(0) == [RESET] and going.go(2) == [EAST, EAST]    # it is certain again


def test_by_way_of_home_while_another_node_may_command_the_robot(going: Going) -> None:
    other = going.peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    going.peer.wait_for(lambda: going.go(2) == BY_HOME or going.go(0) is None, 'it to be seen')
    going.peer.node.destroy_publisher(other)
    going.go(0)
    going.peer.wait_for(
        lambda: going.go(2) == [EAST, EAST] or going.go(0) is None, 'its end')


def test_by_way_of_home_after_a_stop(going: Going) -> None:
    stopped = going.peer.node.create_publisher(Bool, 'stopped', messages.LATCHED)
    going.peer.wait_for(stopped.get_subscription_count, 'the navigator')
    stopped.publish(Bool(data=True))
    going.peer.wait_for(
        lambda: going.operator.go(99).startswith('refused 99: the robot is stopped'), 'a stop')
    stopped.publish(Bool(data=False))
    going.peer.wait_for(
        lambda: going.operator.go(99) == 'refused 99: no policy leads there', 'its end')
    assert going.go(2) == BY_HOME


def test_by_way_of_home_when_another_robot_side_has_joined(going: Going) -> None:
    def seen() -> bool:
        going.peer.node.create_publisher(Int64MultiArray, 'state', messages.STEP)
        return going.go(2) == BY_HOME

    going.peer.wait_for(lambda: seen() or going.go(0) is None, 'another robot side')
