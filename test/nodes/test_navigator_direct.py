# SPDX-License-Identifier: Apache-2.0

"""Goals begin where the robot is, but only while that is certain."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros import messages
from mnm_ros.core.model.direct_way import DirectWay
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.way_answer import to_json, WayAnswer
from navigating import HORIZON, Operator
from node_processes import NodeProcess, Peer, ScriptedRobot
import pytest
from rclpy.publisher import Publisher
from std_msgs.msg import Bool, Int64, Int64MultiArray, String

EAST, WEST, RESET = 0, 1, -1
BY_HOME = [RESET, EAST, EAST]    # to 2


class Explorer:
    """Answers ``way/request``: state 2 is to be reached from 1 by one step, and 1 from 2."""

    def __init__(self, peer: Peer) -> None:
        self.last_order: int | None = 0
        self.silent = False
        self._ways = peer.node.create_publisher(String, 'way', messages.STEP)
        peer.node.create_subscription(Int64, 'way/request', self._answer, messages.STEP)

    def _answer(self, message: Int64) -> None:
        if self.silent:
            return
        target = message.data
        moves = {2: (1, EAST), 1: (2, WEST)}
        here, action = moves.get(target, (9, EAST))
        self._ways.publish(String(data=to_json(WayAnswer(target, self.last_order, DirectWay(
            Policy(target, HORIZON, (here,), ((action,),)), {here: 1.0}, 3.0, 8.0)))))


class Going:
    """A navigator, and a robot that it has sent to state 1 by way of home."""

    def __init__(self, peer: Peer, process: NodeProcess, operator: Operator) -> None:
        self.robot, self.explorer = ScriptedRobot(peer), Explorer(peer)
        self.peer, self.process, self.operator = peer, process, operator
        self.restart()

    def restart(self) -> None:
        """Go to state 1."""
        self.operator.go(1)

    def go(self, target: int) -> list[int]:
        """Go to a state and return the actions."""
        before = len(self.robot.executed)
        assert self.operator.go(target).startswith(f'reached {target} in ')
        return [action for _, action, _ in self.robot.executed[before:]]

    def publisher(self, kind: type, topic: str) -> Publisher:
        publisher = self.peer.node.create_publisher(kind, topic, messages.LATCHED)
        self.peer.wait_for(publisher.get_subscription_count, 'the navigator')
        return publisher


@pytest.fixture
def going(navigator: Callable, peer: Peer, operator: Operator) -> Going:
    return Going(peer, navigator(), operator)


def test_from_where_it_is(going: Going) -> None:
    going.peer.wait_for(lambda: going.go(2) == [EAST] or going.restart(), 'the explorer')
    assert 'on the way to 2 from where it is: about 1.0 steps; by way of home 3.0' in (
        going.process.output)
    assert going.go(2) == [] and 'on the way to 2 it is there' in going.process.output
    assert going.go(1) == [WEST] and going.go(2) == [EAST]
    assert going.go(0) == [RESET] and going.go(2) == [EAST, EAST]
    assert 'on the way to 2 from home, where it is' in going.process.output
    assert going.peer.set_parameter('navigator', 'direct', False).successful
    assert going.go(1) == [RESET, EAST]
    assert 'by way of home, as the parameter direct is false' in going.process.output


def test_by_way_of_home_unless_it_is_certain(going: Going) -> None:
    going.peer.wait_for(lambda: going.go(2) == [EAST] or going.restart(), 'the explorer')

    def goes_home(reason: str) -> None:
        assert going.go(2) == BY_HOME
        assert f'on the way to 2 by way of home, as {reason}' in going.process.output
        assert going.go(1) == [WEST]    # now it is certain again

    going.restart()
    going.explorer.last_order = None
    assert going.go(2) == BY_HOME
    assert 'as the explorer may have an order open' in going.process.output
    going.explorer.last_order, going.explorer.silent = 0, True
    assert going.go(1) == [RESET, EAST]
    assert 'as the explorer has not answered what way there is' in going.process.output
    going.explorer.silent = False

    going.robot.send(-1, 1)
    goes_home('the robot was moved, or led home by the service')

    going.robot.send(5, 1)    # an answer to another node
    goes_home('another node has commanded the robot')
    going.explorer.last_order = 6
    going.robot.send(6, 1)    # to the explorer
    assert going.go(2) == [EAST]
    going.explorer.last_order = 0
    assert going.go(1) == [WEST]

    others = [going.peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
              for _ in range(2)]
    going.peer.wait_for(lambda: going.go(2) == BY_HOME or going.restart(), 'them to be seen')
    assert 'as another node may command the robot' in going.process.output
    for other in others:
        going.peer.node.destroy_publisher(other)
    going.peer.wait_for(lambda: going.go(1) == [WEST] or going.go(2) is None, 'their end')

    stopped = going.publisher(Bool, 'stopped')
    stopped.publish(Bool(data=True))
    going.peer.wait_for(
        lambda: going.operator.go(99).startswith('refused 99: the robot is stopped'), 'a stop')
    stopped.publish(Bool(data=False))
    going.peer.wait_for(lambda: going.operator.go(99) == 'refused 99: unknown state', 'its end')
    goes_home('the robot was stopped')

    def seen() -> bool:
        going.peer.node.create_publisher(Int64MultiArray, 'state', messages.STEP)
        going.operator.go(2)
        return 'as a robot side has joined or left' in going.process.output

    going.peer.wait_for(lambda: seen() or going.restart(), 'another robot side')
