"""Whoever sends the navigator to its goals."""

from __future__ import annotations

from node_processes import Peer
from std_msgs.msg import Int64, String

from mnm_ros import wire


class Operator:
    """Publishes goals and hears what comes of them."""

    def __init__(self, peer: Peer) -> None:
        self.results: list[str] = []
        self._peer = peer
        self._goals = peer.node.create_publisher(Int64, 'goal', 10)
        peer.node.create_subscription(
            String, 'goal_result', lambda message: self.results.append(message.data),
            wire.LATCHED)

    def send(self, goal: int) -> None:
        self._goals.publish(Int64(data=goal))

    def result(self) -> str:
        """Wait for a result and take it."""
        self._peer.wait_for(lambda: self.results, 'a result')
        return self.results.pop(0)

    def go(self, goal: int) -> str:
        self.send(goal)
        return self.result()

    def wait_for_subscription(self) -> None:
        self._peer.wait_for(self._goals.get_subscription_count, 'the navigator')

    def wait_for_navigator(self) -> None:
        """Wait until the policies have been heard."""
        self.wait_for_subscription()
        self._peer.wait_for(
            lambda: self.go(99) == 'refused 99: unknown state', 'policies to be heard')
