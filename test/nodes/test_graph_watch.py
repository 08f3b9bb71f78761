# SPDX-License-Identifier: Apache-2.0

"""Robots come and go between two updates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace

from mnm_ros import messages
from mnm_ros.core.progress.said import NoSubscriber
from mnm_ros.nodes.common.graph_watch import Endpoints, GraphWatch, identities
from node_processes import Peer
import pytest
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray


class Robot:
    """The endpoints of a robot side."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._orders = node.create_subscription(Int64MultiArray, 'action', print, messages.STEP)
        self._states = node.create_publisher(Int64MultiArray, 'state', messages.STEP)

    def leave(self) -> None:
        self._node.destroy_subscription(self._orders)
        self._node.destroy_publisher(self._states)


@pytest.fixture
def node(peer: Peer) -> Iterator[Node]:
    node = Node('driver', context=peer.context)
    yield node
    node.destroy_node()


class Graph:
    """Stands in for a node: who publishes a topic, and how often that was looked up."""

    def __init__(self) -> None:
        self.publishers = [1]
        self.looked_up = self.counted = 0
        self.handle = nullcontext()
        self.handle.get_count_publishers = self._count

    def _count(self, topic: str) -> int:
        self.counted += 1
        return len(self.publishers)

    def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        self.looked_up += 1
        return [SimpleNamespace(endpoint_gid=[gid]) for gid in self.publishers]


def test_endpoints_are_looked_up_when_their_number_changes_or_after_a_while() -> None:
    graph = Graph()
    endpoints = Endpoints(graph, '/state', publishers=True)
    assert endpoints.ids(10.0) == {(1,)} and graph.looked_up == 1
    assert all(endpoints.ids(10.0 + tick / 100) == {(1,)} for tick in range(9))
    assert graph.looked_up == 1
    graph.publishers = [1, 2]
    assert endpoints.ids(10.05) == {(1,), (2,)} and endpoints.counted == endpoints.count == 2
    graph.publishers = [1, 3]
    assert endpoints.ids(10.1) == {(1,), (2,)}    # nobody can tell yet
    assert endpoints.ids(10.2) == {(1,), (3,)} and graph.looked_up == 3
    graph.publishers = []
    assert endpoints.ids(10.21) == frozenset()


def test_endpoints_are_counted_once_for_each_moment() -> None:
    graph = Graph()
    endpoints = Endpoints(graph, '/state', publishers=True)
    assert endpoints.ids(10.0) == endpoints.ids(10.0) and graph.counted == 1
    graph.publishers = [1, 2]
    assert endpoints.ids(10.0) == {(1,)} and endpoints.count == 2
    assert endpoints.ids(10.01) == {(1,), (2,)}


def state_publishers(node: Node) -> frozenset[object]:
    return identities(node.get_publishers_info_by_topic('/state'))


def test_who_takes_the_place_of_another_is_new(peer: Peer, node: Node) -> None:
    actions = node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    states = node.create_subscription(Int64MultiArray, 'state', print, messages.STEP)
    watch = GraphWatch(node, actions, states, None)
    assert watch.update() == (False, False) and watch.missing == NoSubscriber('/action')
    robot = Robot(peer.node)
    peer.wait_for(lambda: not watch.missing, 'the robot')
    assert watch.update() == (True, False) and watch.update() == (False, False)
    before = state_publishers(node)
    robot.leave()
    Robot(peer.node)
    peer.wait_for(
        lambda: state_publishers(node) and not before & state_publishers(node), 'the other one')
    # They are as many as before, so that they are looked up only after a moment.
    peer.wait_for(lambda: watch.update() == (True, True), 'a look at who is there')
