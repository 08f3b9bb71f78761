# SPDX-License-Identifier: Apache-2.0

"""Whoever sends the navigator to its goals, and the robot and the policies that it needs."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.policy import Policy
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer, ScriptedRobot
from rclpy.action import ActionClient
from rclpy.publisher import Publisher
from std_msgs.msg import Int64, Int64MultiArray, String

EAST, WEST = 0, 1
TARGETS = (0, 1, 2)
PLACES = RobotDescription(
    ('east', 'west'), frame='map', names={2: 'bench', 5: 'attic'},
    positions={0: (0.0, 0.0), 1: (1.0, 0.0), 2: (2.0, 0.0), 5: (3.0, 0.0), 6: (2.0, 0.0)})
HORIZON = 3
_REST = 0.25    # s
KNOWN = messages.PolicySet(1, 0, HORIZON, tuple(
    Policy(target, HORIZON, TARGETS, (tuple(EAST if state < target else WEST
                                            for state in TARGETS),))
    for target in TARGETS))


class Operator:
    """Publishes goals and hears what comes of them."""

    def __init__(self, peer: Peer) -> None:
        self.results: list[str] = []
        self._peer = peer
        self._refused = False
        self._goals = peer.node.create_publisher(Int64, 'goal', 10)
        peer.node.create_subscription(
            String, 'goal_result', lambda message: self.results.append(message.data),
            messages.LATCHED)

    def send(self, goal: int) -> None:
        self._goals.publish(Int64(data=goal))

    def result(self) -> str:
        """Wait for a result and take it."""
        self._peer.wait_for(lambda: self.results, 'a result')
        return self.results.pop(0)

    def go(self, goal: int) -> str:
        """Send a goal and return its result; after a refusal with a rest, which ends a flood."""
        if self._refused:
            self._peer.spin(_REST)
        self.send(goal)
        result = self.result()
        self._refused = result.startswith('refused')
        return result

    def wait_for_subscription(self) -> None:
        self._peer.wait_for(self._goals.get_subscription_count, 'the navigator')

    def wait_for_navigator(self) -> None:
        """Wait until the policies have been heard."""
        self.wait_for_subscription()
        self._peer.wait_for(
            lambda: self.go(99) == 'refused 99: no policy leads there', 'policies to be heard')


class HeldRobot(ScriptedRobot):
    """Answers when the test says so, as long as it is ``holding``."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.holding = True
        self.held: list[int] = []

    def answer(self, seq: int) -> None:
        if self.holding:
            self.held.append(seq)
        else:
            super().answer(seq)

    def release(self) -> None:
        self.peer.wait_for(lambda: self.held, 'an action')
        self.release_if_held()

    def wait_until_held(self) -> None:
        """Wait for a command, and until what is said of it has been heard."""
        self.peer.wait_for(lambda: self.held, 'an action')
        self.peer.spin(0.3)

    def release_if_held(self) -> None:
        if self.held:
            super().answer(self.held.pop(0))


def publish(peer: Peer, policies: messages.PolicySet) -> None:
    for topic, message in (('known_states', messages.encode_known_states(policies)),
                           ('policies', policies.to_msg())):
        peer.node.create_publisher(Int64MultiArray, topic, messages.LATCHED).publish(message)


def describe(peer: Peer) -> Publisher:
    """Say which actions there are, and return what publishes more about them."""
    publisher = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    publisher.publish(String(data=RobotDescription(('east', 'west')).to_text()))
    return publisher


def declare(peer: Peer, *forbidden: tuple[int, int], publisher: Publisher | None = None) -> None:
    """Say that some actions lead nowhere, and the others where they do in the corridor."""
    lists = {state: tuple(() if (state, action) in forbidden else (end,)
                          for action, end in enumerate((min(state + 1, 2), max(state - 1, 0))))
             for state in range(3)}
    publisher = publisher or peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    publisher.publish(String(data=RobotDescription(
        ('east', 'west'), declaration=Declaration(lists)).to_text()))
    peer.wait_for(publisher.get_subscription_count, 'the navigator')


class Commander:
    """Sends poses as ``nav2_simple_commander`` does, from a process without a robot side."""

    def __init__(self, robots: Peer) -> None:
        from nav2_msgs.action import NavigateToPose
        self.kind, self.peer, self._robots = NavigateToPose, Peer(name='commander'), robots
        self.client = ActionClient(self.peer.node, NavigateToPose, 'navigate_to_pose')
        self.feedback: list[Any] = []
        self.heard_at: list[float] = []

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        def spun() -> Any:
            self._robots.spin(0.0)
            self._robots.spin_once(0.0)
            return condition()
        return self.peer.wait_for(spun, what)

    def send(self, x: float, y: float = 0.0, frame: str = 'map', tree: str = '') -> Any:
        """Send a goal and return its handle, and the future of its result."""
        self.wait_for(self.client.server_is_ready, 'the action')
        goal = self.kind.Goal()
        goal.pose.header.frame_id, goal.behavior_tree = frame, tree
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        sent = self.client.send_goal_async(
            goal, lambda message: self.feedback.append(message.feedback)
            or self.heard_at.append(time.monotonic()))
        self.wait_for(sent.done, 'whether it is accepted')
        handle = sent.result()
        return handle, handle.get_result_async() if handle.accepted else None

    def end(self, result: Any) -> tuple[int, int | None, str]:
        """Return how a goal has ended: status, code and text, which Humble has not."""
        self.wait_for(result.done, 'the result')
        found = result.result()
        return (found.status, getattr(found.result, 'error_code', None),
                getattr(found.result, 'error_msg', ''))

    def go(self, *where: Any) -> tuple[int, int | None, str]:
        return self.end(self.send(*where)[1])
